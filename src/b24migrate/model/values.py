"""Values in the form of the wire (booleans, numbers, times in UTC, days), from any spelling of a portal."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from b24migrate.model.records import Args, Json

LONGEST_ID = 18  # digits: larger numbers than any database counts with
LARGEST = 2.0**63  # of whole numbers: no portal keeps larger ones
FALSE = frozenset({"N", "n", "0", "", "false", "False", "FALSE"})
NOTHING = frozenset({"", "0"})
PORTAL_FORMATS = ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y", "%m/%d/%Y %H:%M:%S")


class Moment(NamedTuple):
    """A time as received, in UTC, and the offset it was given in."""

    original: str
    utc: datetime
    offset_min: int


# as received, in UTC, the offset it was given in
Stamp: TypeAlias = tuple[str | None, str | None, int | None]
NO_TIME: Stamp = (None, None, None)


class OddValue(ValueError):
    """A value of another type than any spelling of it has: an object where a number belongs. It may name the field."""


def scalar(value: Json) -> Json:
    """PHP writes an empty list for many a value that is not set; anything in it belongs to another field."""
    if isinstance(value, (dict, list)):
        if value:
            raise OddValue
        return None
    return value


def flag(value: Json) -> bool | None:
    """`Y`/`N`, `1`/`0` and real booleans all occur."""
    value = scalar(value)
    if value is None:
        return None
    return value not in FALSE if isinstance(value, str) else bool(value)


def whole(value: Json) -> int | None:
    found = number(value)
    if found is not None and abs(found) > LARGEST:
        raise OddValue
    return None if found is None else int(found)


def number(value: Json) -> float | None:
    value = scalar(value)
    if is_unset(value):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        raise OddValue from None
    if not math.isfinite(found):
        raise OddValue
    return found


def is_unset(value: Json) -> bool:
    """Zero is a number, although Python takes it for false."""
    return value is None or value is False or value == ""


def text(value: Json) -> str | None:
    value = scalar(value)
    return None if value is None or value is False else str(value)


def reference(value: Json) -> str | None:
    """An id as text; None for every spelling of no id."""
    value = scalar(value)
    if value is None or isinstance(value, bool):
        return None
    return None if str(value) in NOTHING else str(value)


def file_name(value: Json) -> str:
    """Empty if it is not a name: the link or the download may have one. A name of digits may be a number."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def unescape_html(text: str) -> str:
    """As it is where it names a character by a number that Python refuses to read: one of thousands of digits."""
    try:
        return html.unescape(text)
    except ValueError:
        return text


def references(value: Json) -> list[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        value = [value]
    return [one for one in map(reference, value) if one is not None]


def is_number(text: str, longest: int = LONGEST_ID) -> bool:
    """An id. Python reads other scripts' digits, and refuses to read thousands of them. No portal writes `07`: a record
    with this id would be another one than 7."""
    return text.isascii() and text.isdecimal() and len(text) <= longest and (text[0] != "0" or text == "0")


def are_numbers(ids: Sequence[str]) -> bool:
    """Of many ids that are all as usual: one check of all of them. False says nothing about any of them."""
    together = "".join(ids)
    usual = together.isascii() and together.isdecimal() and min(ids) >= "1"
    return usual and len(max(ids, key=len)) <= LONGEST_ID


def is_odd_id(text: str) -> bool:
    """A number in a spelling that no portal has for an id (`7.0`, ` 7`, `+7`, `-7`, `07`), or characters that nobody
    sees. The record would be kept beside the one with the plain id."""
    if not text.isprintable():
        return True
    try:
        float(text)
    except ValueError:
        return False
    return not is_number(text)


def members(value: Json) -> list[Json]:
    """Of a list; PHP writes one with gaps as a map, and none in many ways."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list):
        return value
    if is_unset(value):
        return []
    raise OddValue


def objects(value: Json) -> list[Args]:
    """The members of a list, which are objects."""
    found = members(value)
    if not all(isinstance(one, dict) for one in found):
        raise OddValue
    return found


def by_number(source_id: str) -> tuple[int, str]:
    return (int(source_id) if is_number(source_id) else 0, source_id)


def moment(value: Json, timezone: ZoneInfo) -> Moment | None:
    """None when unset (`""`, `null`, `false`, `{}` all occur) or unreadable; without an offset in the source's zone."""
    if not isinstance(value, str) or not value:
        return None
    parsed = _parse(value)
    if parsed is None:
        return None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=timezone)
    offset = parsed.utcoffset()
    try:
        return Moment(value, parsed.astimezone(UTC), int(offset.total_seconds() // 60) if offset else 0)
    except OverflowError:  # in UTC it would be before the first year, or after the last
        return None


def stamp(value: Json, timezone: ZoneInfo) -> Stamp:
    """The parts of a time that a record keeps."""
    return _stamp(value, timezone) if isinstance(value, str) else NO_TIME


@lru_cache(maxsize=4096)  # days repeat, and so do the times of a batch that is read, sent and compared
def _stamp(value: str, timezone: ZoneInfo) -> Stamp:
    parsed = _parse(value)
    if parsed is None:
        return NO_TIME
    offset = parsed.utcoffset() if parsed.tzinfo else parsed.replace(tzinfo=timezone).utcoffset()
    offset = offset or timedelta()
    try:
        utc = parsed.replace(tzinfo=None) - offset
    except OverflowError:
        return NO_TIME
    return value, f"{utc.isoformat()}Z", offset.days * 1440 + offset.seconds // 60


def _parse(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        pass
    for known in PORTAL_FORMATS:
        try:
            return datetime.strptime(value, known)  # noqa: DTZ007 (the caller adds the source's zone)
        except ValueError:
            continue
    return None


def utc_text(when: datetime) -> str:
    """`2024-03-01T09:00:00Z`, with a fraction only where there is one."""
    return when.astimezone(UTC).isoformat().replace("+00:00", "Z")


def day(value: Json, timezone: ZoneInfo) -> str | None:
    """A day without a time. Portals send it as midnight, of their own zone or of UTC (03:00 in Moscow)."""
    if isinstance(value, str) and len(value) == 10 and value[4] == "-":
        return value
    when = moment(value, timezone)
    if when is None:
        return None
    local = when.utc + timedelta(minutes=when.offset_min)
    return (local if local.time() == time() else when.utc).date().isoformat()
