"""Why something is not kept, where rules of several streams say the same."""

from __future__ import annotations

from b24migrate.messages import say

TODAY = say("reason.rest_today")
QUOTED = say("reason.rest_quoted")
CUT = say("reason.rest_cut")
OLD = say("reason.rest_old_message")
UNEDITED = "unedited"  # what messages are marked with that the box did not change any more
LONGEST = 20_000  # characters of a message (kernel im_messenger.php, MESSAGE_LIMIT)
LINE = 120  # characters of the line before it, at most
PICTURE = say("reason.rest_picture")
