"""How a box spells values, and how the wire does: both ways, one small function for each kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, time
from typing import NamedTuple

from b24migrate.model.records import Args, Json

NOTHING: tuple[Json, ...] = (None, "", False, [], {})
FALSE: tuple[Json, ...] = ("N", "n", "0", 0, "", "false", False, None)
SIGN = "№"  # a box turns a word that begins with a hash into a tag
_HEAD = re.compile(rf"\[B\](?:[^\n]* )?({SIGN}[\w:]+)\[/B\](?:\n|$)")
_MARKUP = str.maketrans("[]", "()")


def unchanged(value: Json) -> Json:
    return value


def text(value: Json) -> str | None:
    return None if value is None or value is False else str(value)


def yes_or_no(value: Json) -> str:
    """`Y` or `N`, as most methods want a flag."""
    return "Y" if value else "N"


def flag(value: Json) -> bool:
    return value not in FALSE


def optional_id(value: Json) -> str | None:
    return None if value in NOTHING or str(value) == "0" else str(value)


def ids(value: Json) -> list[str]:
    """Of a list in any of PHP's spellings."""
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    return [found for found in map(optional_id, members) if found is not None]


def id_or_none(value: Json) -> Json:
    """A box expects 0 for no reference."""
    return value if value not in NOTHING else 0


def parse_time(value: Json) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def utc(value: Json) -> str | None:
    """A time as the wire has it."""
    found = parse_time(value)
    return None if found is None else f"{found.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"


def day(value: Json) -> str | None:
    """A day without a time: portals send it as midnight, of their own zone or of UTC."""
    if isinstance(value, str) and len(value) == 10 and value[4] == "-":
        return value
    found = parse_time(value)
    if found is None:
        return None
    local = found.replace(tzinfo=None)
    return (local if local.time() == time() else found.astimezone(UTC)).date().isoformat()


def number(value: Json) -> float | None:
    return None if value is None or value == "" or value is False else float(value)


def whole(value: Json) -> int | None:
    return None if value is None or value == "" or value is False else int(float(value))


class Column(NamedTuple):
    """A field of the wire: what the box calls it, and how its value goes there and comes back."""

    wire: str
    native: str
    out: Callable[[Json], Json] = unchanged
    back: Callable[[Json], Json] = text


def columns(
    pairs: Iterable[tuple[str, str]], out: Callable[[Json], Json], back: Callable[[Json], Json]
) -> list[Column]:
    return [Column(wire, native, out, back) for wire, native in pairs]


def encode_columns(known: Iterable[Column], fields: Args) -> dict[str, Json]:
    """The sent values of the given fields."""
    return {one.native: one.out(fields[one.wire]) for one in known if one.wire in fields}


def decode_columns(known: Iterable[Column], row: Args) -> dict[str, Json]:
    """The box's values under the names of the wire; missing ones are empty."""
    return {one.wire: one.back(row.get(one.native)) for one in known}


def format_number(key: str) -> str:
    return f"{SIGN}{key.rpartition(':')[2]}"


def add_header(key: str, date: Json, text: Json, author: str = "") -> str:
    """The header is one line, whatever the author's name: otherwise it would not be found again."""
    when = parse_time(date)
    name = " ".join(author.translate(_MARKUP).split())
    parts = (name, f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if when else "", format_number(key))
    return f"[B]{' · '.join(part for part in parts if part)}[/B]\n{text or ''}".rstrip()


def header_number(text: Json) -> str:
    """The number in the header line of a text; empty without a header."""
    found = _HEAD.match(str(text or "").replace("\r\n", "\n"))
    return found[1] if found else ""
