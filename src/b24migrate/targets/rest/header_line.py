"""The line before a text that says when it was written and under which number: also how it is found again."""

from __future__ import annotations

import re
from datetime import UTC

from b24migrate.model.records import Json
from b24migrate.targets.rest import values

SIGN = "№"  # a box makes a tag of what begins with a hash
_HEAD = re.compile(rf"\[B\](?:[^\n]* )?({SIGN}[\w:]+)\[/B\](?:\n|$)")
_MARKUP = str.maketrans("[]", "()")


def format_number(key: str) -> str:
    return f"{SIGN}{key.rpartition(':')[2]}"


def add_header(key: str, date: Json, text: Json, author: str = "") -> str:
    """In one line, whatever people are called: otherwise it would not be known again."""
    when = values.parse_time(date)
    name = " ".join(author.translate(_MARKUP).split())
    parts = (name, f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if when else "", format_number(key))
    return f"[B]{' · '.join(part for part in parts if part)}[/B]\n{text or ''}".rstrip()


def header_number(text: Json) -> str:
    """The number in the line before a text; empty where there is none."""
    found = _HEAD.match(str(text or "").replace("\r\n", "\n"))
    return found[1] if found else ""
