"""Answers that are nearly JSON: bytes that are no UTF-8, and halves of characters. One such letter in one name would
otherwise keep a whole page of other people's records from being read."""

from __future__ import annotations

import re

# A pair of halves is one character and stays; so does an escaped backslash, whatever follows it.
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\."
)
_HALF = len(rb"\ud83d")
_UNKNOWN = rb"\ufffd"


def legible(body: bytes) -> bytes:
    """The same bytes where they are UTF-8. Others become the mark for an unknown character."""
    if body.isascii():
        return body
    try:
        body.decode()
    except UnicodeDecodeError:
        return body.decode(errors="replace").encode()
    return body


def without_halves(body: bytes) -> bytes:
    """With the mark for an unknown character in the place of every half of one."""
    return _ESCAPES.sub(lambda found: _UNKNOWN if len(found[0]) == _HALF else found[0], body)
