"""The line before a text that says when it was written and under which number: also how it is found again."""

from __future__ import annotations

import re

from b24migrate.records import Json
from b24migrate.target.rest import spelling

_HEAD = re.compile(r"\[B\](?:[^\n]* )?(#[\w:]+)\[/B\](?:\n|$)")


def number_of(key: str) -> str:
    return f"#{key.rpartition(':')[2]}"


def headed(key: str, date: Json, text: Json, author: str = "") -> str:
    when = spelling.moment(date)
    parts = (author, f"{when:%Y-%m-%d %H:%M} UTC" if when else "", number_of(key))
    return f"[B]{' · '.join(part for part in parts if part)}[/B]\n{text or ''}".rstrip()


def numbered(text: Json) -> str:
    """The number in the line before a text; empty where there is none."""
    found = _HEAD.match(str(text or ""))
    return found[1] if found else ""
