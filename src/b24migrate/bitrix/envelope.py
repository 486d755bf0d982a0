"""The shapes of an answer. Results stay raw JSON: most of them are stored as they came."""

from __future__ import annotations

import math
from typing import Generic, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from b24migrate.model.prepared import prepared

# PHP nests no answer deeper than 512 levels (the default depth of json_encode); deeper ones are not read at all.
UNREADABLE = (msgspec.DecodeError, RecursionError)
PhpMap: TypeAlias = dict[str, Raw] | list[Raw]  # PHP writes an empty map as `[]`
# Any result, taken apart as far as a list of records needs it
Part: TypeAlias = list[Raw] | dict[str, Raw] | str | int | float | bool | None
One = TypeVar("One", Raw, Part)
_LARGEST = (1 << 31) - 1  # IDs of the portal's tables are INT of MySQL: there are never more rows
_LATEST_S = 4_102_444_800.0  # the year 2100
_LONGEST_S = 86_400.0


@prepared
class Head(msgspec.Struct):
    """The keys that any answer may have; raw, because their types vary."""

    error: Raw | UnsetType = UNSET
    error_description: Raw | UnsetType = UNSET
    retry_after: Raw | UnsetType = UNSET
    time: Raw | UnsetType = UNSET


class Envelope(Head):
    result: Raw | UnsetType = UNSET
    total: Raw | UnsetType = UNSET
    next: Raw | UnsetType = UNSET


class BatchParts(msgspec.Struct, Generic[One]):
    result: dict[str, One] | list[Raw] = {}
    result_error: PhpMap = {}
    result_total: PhpMap = {}
    result_next: PhpMap = {}
    result_time: PhpMap = {}


class BatchEnvelope(Head, Generic[One]):
    """Read in one go: a batch of 50 pages is megabytes, and every further pass over it costs."""

    result: BatchParts[One] | list[Raw] | UnsetType | None = UNSET


Shape = TypeVar("Shape", Envelope, BatchEnvelope[Raw], BatchEnvelope[Part])
for _shape in (Envelope, BatchEnvelope[Raw], BatchEnvelope[Part]):
    prepared(_shape)


@prepared
class Times(msgspec.Struct):
    """`operating` is absent on a box without the limiter; numbers come as integers, floats and strings."""

    start: float = 0.0
    finish: float = 0.0
    duration: float = 0.0  # recent portals round `start` to whole seconds, so it cannot be computed
    operating: float | None = None
    operating_reset_at: float | None = None


def times(raw: Raw | UnsetType) -> Times:
    """Impossible values count as missing."""
    try:
        values = Times() if raw is UNSET else msgspec.json.decode(raw, type=Times, strict=False)
    except UNREADABLE:
        return Times()
    return Times(
        _in_range(values.start, _LATEST_S) or 0.0,
        _in_range(values.finish, _LATEST_S) or 0.0,
        _in_range(values.duration, _LONGEST_S) or 0.0,
        _in_range(values.operating, _LONGEST_S),
        _in_range(values.operating_reset_at, _LATEST_S),
    )


def _in_range(value: float | None, most: float) -> float | None:
    return value if value is not None and 0.0 <= value <= most else None


def whole(raw: Raw | UnsetType | None) -> int | None:
    """`total` or `next`, when it is a number that a portal can count to."""
    if raw is None or raw is UNSET:
        return None
    try:
        value = msgspec.json.decode(raw, type=int, strict=False)
    except UNREADABLE:
        return None
    return value if abs(value) <= _LARGEST else None


def number(raw: Raw | UnsetType) -> float | None:
    try:
        value = None if raw is UNSET else msgspec.json.decode(raw, type=float, strict=False)
    except UNREADABLE:
        return None
    return value if value is not None and math.isfinite(value) else None


def as_map(part: dict[str, One] | list[Raw]) -> dict[str, One]:
    """Our keys are never numbers, so a list can only be the empty map."""
    return part if isinstance(part, dict) else {}


def decode_part(raw: Raw | bytes) -> Part:
    part: Part = msgspec.json.decode(raw, type=Part)
    return part
