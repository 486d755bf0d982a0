"""Why something is not kept, where rules of several streams say the same."""

from __future__ import annotations

TODAY = "The box takes the time of the move; no method sets another."
QUOTED = "Every message is quoted: a line before it says who wrote it, when, and under which number."
CUT = "The box cuts a message at 20,000 characters. The line before it counts."
OLD = "The box changes a message for three days only. It stays as it was imported first."
UNEDITED = "unedited"  # what messages are marked with that the box did not change any more
LONGEST = 20_000  # characters of a message (kernel im_messenger.php, MESSAGE_LIMIT)
LINE = 120  # characters of the line before it, at most
PICTURE = "The picture arrives as a copy with a number of its own."
