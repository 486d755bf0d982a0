"""Why something is not kept, where rules of several streams say the same."""

from __future__ import annotations

TODAY = "The box takes the time of the move; no method sets another."
QUOTED = (
    "Every message is quoted: a line before it says who wrote it, when, and under which number. What is beyond 20,000"
    " characters then is cut."
)
PICTURE = "The picture arrives as a copy with a number of its own."
