"""A record as an entity, and back.

Nothing is written for what is null, zero or false. `Shape` and `Content` (a digest of payload and extras) are ours:
by the first a stretch of ids is found, by the second a record is compared without being read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from azure.data.tables import EdmType, EntityProperty

from b24migrate.messages import unpack
from b24migrate.model.records import COLUMNS, LONGEST_ERROR, Json, Record, Status, Table, decode_losses, order_key
from b24migrate.stores.azure.keys import row_key
from b24migrate.stores.azure.limits import TEXT_UNITS, units
from b24migrate.stores.azure.order import shape
from b24migrate.stores.azure.properties import Entity, Overflow, content_name
from b24migrate.stores.azure.shards import Face

_CONTENT = ("Payload", "Extras")
# A merge cannot take a property away: these are emptied instead. What really is empty gets a space.
_EMPTIED = frozenset(
    {"LastErrorCode", "LastError", "LastErrorAtUtc", "RetryAfterUtc", "TargetId", "ImportedAtUtc", "Losses"}
    | {"LastErrorMessage", "DeletedUtc"}
)
_NUMBERS = ("Attempts", "Revision")
_FROM_THE_BEGINNING: Entity = {"Attempts": 0, "Revision": 0, "PulledThrough": False}
_ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_INT32 = 1 << 31
_OURS = ("PartitionKey", "RowKey", "Timestamp", "Key")
# Without what a record consists of.
SMALL = (*_OURS, "Shape", "Content", "Blobs", *(name for name in COLUMNS if name not in (*_CONTENT, "RowKey")))
WITH_EXTRAS = (*SMALL, "Extras")
WHOLE = (*WITH_EXTRAS, "Payload")
KEYS_ONLY = _OURS


# ---------------------------------------------------------------- writing


def entity_of(table: Table, columns: Mapping[str, Json]) -> tuple[Entity, list[bytes]]:
    """Of a whole row, and what must be put into blobs before it is written."""
    key = columns["RowKey"]
    made: Entity = {"PartitionKey": table.partition, "RowKey": row_key(key), "Shape": shape(order_key(key))}
    if made["RowKey"] != key:
        made["Key"] = key
    made |= _FROM_THE_BEGINNING  # people and programs look for these columns in every row
    for name, value in columns.items():
        if value is not None and name not in ("RowKey", *_CONTENT):
            made[name] = written(name, value)
    if made["Status"] == Status.ERROR_RETRY:
        made.setdefault("RetryAfterUtc", "")  # a query compares it, and a missing property never matches
    made["Content"] = content_digest(columns["Payload"], columns["Extras"])
    large = []
    for name in _CONTENT:
        if (content := columns[name]) is not None:
            text = _as_text(content)
            made[name] = content_name(content) if text is None else text
            if text is None:
                large.append(content)
                made["Blobs"] = f"{made['Blobs']},{name}" if "Blobs" in made else name
    return made, large


def written(name: str, value: Json) -> Any:
    if name in _EMPTIED:
        return emptied(value)
    if isinstance(value, int) and not isinstance(value, bool) and not -_INT32 <= value < _INT32:
        return EntityProperty(value, EdmType.INT64)
    return value


def emptied(text: str | None) -> str:
    """Null is empty, and what is empty, or looks like it, is one space longer."""
    if text is None:
        return ""
    return text + " " if not text.strip(" ") else text[:LONGEST_ERROR]


def content_digest(payload: bytes, extras: bytes | None) -> str:
    digest = hashlib.sha256(b"%d " % len(payload))
    digest.update(payload)
    if extras is not None:
        digest.update(b" " + extras)
    return digest.hexdigest()[:32]


def _as_text(content: bytes) -> str | None:
    """None when no property can hold it."""
    if len(content) > 3 * TEXT_UNITS:
        return None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return None if _ODD.search(text) or (len(text) > TEXT_UNITS // 2 and units(text) > TEXT_UNITS) else text


def time_text(moment: datetime) -> str:
    """ISO 8601, UTC, microseconds, `Z`: sorts as time does."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# ---------------------------------------------------------------- reading


def key_of(found: Mapping[str, Any]) -> str:
    key = found.get("Key")  # null if selected and missing; Azurite omits it
    return str(found["RowKey"] if key is None else key)


def face_of(found: Mapping[str, Any]) -> Face:
    return Face(found["Status"], bool(found.get("PulledThrough")), value_of(found, "LastErrorCode"))


def value_of(found: Mapping[str, Any], name: str) -> Any:
    """Of any column but the content."""
    value = found.get(name)
    if name in _NUMBERS or name == "PulledThrough":
        value = value or (False if name == "PulledThrough" else 0)
    if name in _EMPTIED and value is not None:
        return None if not value else (value[:-1] if not value.strip(" ") else value)
    return value.value if isinstance(value, EntityProperty) else value


def extras_of(found: Mapping[str, Any], expected: bytes | None, overflow: Overflow) -> bytes | None:
    """The expected contents are not fetched: the name of a blob identifies its content."""
    if "Extras" not in (found.get("Blobs") or "").split(","):
        return _content(found, "Extras", {})
    name = found["Extras"]
    return expected if expected is not None and content_name(expected) == name else overflow.get(name)


def payload_of(found: Mapping[str, Any], overflow: Overflow) -> bytes:
    if "Payload" in (found.get("Blobs") or "").split(","):
        return overflow.get(found["Payload"])
    return _content(found, "Payload", {}) or b""


def rows_of(found: Iterable[Mapping[str, Any]], contents: Mapping[str, bytes]) -> list[dict[str, Json]]:
    return [
        {name: _content(one, name, contents) if name in _CONTENT else value_of(one, name) for name in COLUMNS}
        | {"RowKey": key_of(one)}
        for one in found
    ]


def record_of(found: Mapping[str, Any], contents: Mapping[str, bytes]) -> Record:
    return Record(
        key_of(found),
        _STATUSES[found["Status"]],
        _content(found, "Payload", contents) or b"",
        value_of(found, "PayloadHash"),
        _content(found, "Extras", contents),
        value_of(found, "Attempts"),
        value_of(found, "LastErrorCode"),
        unpack(value_of(found, "LastError"), value_of(found, "LastErrorMessage")),
        value_of(found, "RetryAfterUtc"),
        value_of(found, "TargetId"),
        value_of(found, "PulledThrough"),
        value_of(found, "NaturalKey"),
        value_of(found, "Revision"),
        decode_losses(value_of(found, "Losses")),
        value_of(found, "DeletedUtc"),
        value_of(found, "Pass"),
    )


def contents_of(
    found: Iterable[Mapping[str, Any]],
    overflow: Overflow,
    many: Callable[[Callable[[str], bytes], list[str]], list[bytes]],
) -> dict[str, bytes]:
    """The values in blobs, by name."""
    names = sorted({one[name] for one in found if one.get("Blobs") for name in one["Blobs"].split(",")})
    return dict(zip(names, many(overflow.get, names), strict=True))


def _content(found: Mapping[str, Any], name: str, contents: Mapping[str, bytes]) -> bytes | None:
    text = found.get(name)
    if text is None:
        return None
    blobs = found.get("Blobs")
    return contents[text] if blobs and name in blobs.split(",") else str(text).encode()


_STATUSES = {status.value: status for status in Status}
