"""The box that records are imported into, and what both ways of writing share."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import msgspec

from b24migrate.bitrix.client import Portal
from b24migrate.bitrix.source import BitrixSource
from b24migrate.model.errors import GateUnmet, Permanent
from b24migrate.model.records import Json
from b24migrate.model.streams import CustomFields


def existing_fields(portal: Portal, custom: CustomFields) -> dict[str, str] | None:
    """By the methods of the box. None if the webhook has only the scope `import`, and for custom types, whose IDs
    differ."""
    if custom.types:
        return None
    try:
        found = custom.read(BitrixSource(portal), lambda _: ())
    except (Permanent, GateUnmet, msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError):
        return None
    return {str(field["FIELD_NAME"]): str(field.get("USER_TYPE_ID") or "") for field in found}


def ask(portal: Portal, method: str) -> Json:
    """By a method of the box. None if the webhook has only the scope `import`."""
    try:
        result = portal.call(method, {}).result
        return msgspec.json.decode(result if isinstance(result, msgspec.Raw) else b"null")
    except (Permanent, GateUnmet, msgspec.DecodeError):
        return None


def count_fitting(sizes: Iterable[int], most: int, frame: int = 0) -> int:
    """How many of the first fit into a call of `most` bytes; 0 if the first alone is too large."""
    whole = itertools.accumulate(sizes, initial=frame)
    return max(0, sum(1 for size in whole if size <= most) - 1)
