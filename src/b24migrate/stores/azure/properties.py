"""Columns as an entity's properties, and back. What no property can hold goes to a blob, named by its content.

Absent = null. `Json` lists the columns that hold JSON, `Blobs` those whose property is the name of a blob. `Key` is the
id itself when the RowKey had to be written otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
from azure.data.tables import EdmType, EntityProperty

from b24migrate.messages import Message, plain, say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Json
from b24migrate.stores.azure.keys import row_key
from b24migrate.stores.azure.limits import ENTITY_BYTES, TEXT_UNITS, units

KEYS = ("PartitionKey", "RowKey")
MARKS = ("Json", "Blobs", "Key")
_INT32, _INT64 = 1 << 31, 1 << 63
_ROOM = 8 * 1024  # left for the marks and for what the service adds
_PER_OPERATION = 1024  # the headers of one operation in a transaction

Entity = dict[str, Any]


class Overflow(Protocol):
    """The storage of large values."""

    def put(self, content: bytes) -> str:
        """The name it can be had by. The same content has the same name, so putting it twice is harmless."""
        ...

    def get(self, name: str) -> bytes: ...


def entity(partition: str, key: str, columns: Mapping[str, Json], overflow: Overflow) -> Entity:
    """`key` is the id as it is. Columns that are None are omitted."""
    made: Entity = {"PartitionKey": partition, "RowKey": row_key(key)}
    written, decoded = {}, []
    if made["RowKey"] != key:
        made["Key"] = _written(key)
        decoded += ["Key"] if _needs_json(key) else []
        if _too_large(made["Key"]):
            raise Permanent(say("store.long_id", count=len(key), id=key[:40]), code="ID_TOO_LONG")
    for name, value in columns.items():
        if value is not None:
            written[name] = _written(value)
            if _needs_json(value):
                decoded.append(name)
    if decoded:
        made["Json"] = ",".join(decoded)
    return made | _fitted(made, written, overflow)


def columns(found: Mapping[str, Any], overflow: Overflow) -> dict[str, Json]:
    """The columns of an entity as they were given; without the keys."""
    values = {name: value for name, value in found.items() if name not in KEYS and name not in MARKS}
    for name in _listed(found, "Blobs"):
        text = overflow.get(values[name])
        values[name] = text.decode("utf-8", "surrogatepass")
    for name, value in values.items():
        if isinstance(value, EntityProperty):  # an INT64
            values[name] = value.value
    for name in _listed(found, "Json"):
        if name in values:
            values[name] = _from_json(values[name])
    return values


def key_of(found: Mapping[str, Any]) -> str:
    key = found.get("Key")
    if key is None:  # a selected column that does not exist is returned as null
        return str(found["RowKey"])
    return str(_from_json(key) if "Key" in _listed(found, "Json") else key)


def kept_bytes(made: Mapping[str, Any]) -> int:
    """The size of an entity; the service allows a megabyte."""
    return 4 + sum(_kept(name, value) for name, value in made.items())


def sent_bytes(made: Mapping[str, Any]) -> int:
    """The size of an operation with this entity in a transaction of at most four megabytes; never too low."""
    address = sum(3 * len(made[key].encode()) for key in KEYS)
    return _PER_OPERATION + address + sum(2 * len(name) + 48 + _sent(value) for name, value in made.items())


def _fitted(made: Mapping[str, Any], written: dict[str, Any], overflow: Overflow) -> Entity:
    large = [name for name, value in written.items() if _too_large(value)]
    moved = []
    by_size = sorted(written, key=lambda name: _kept(name, written[name]))
    size = kept_bytes({**made, **written})
    while large or size > ENTITY_BYTES - _ROOM:
        name = large.pop() if large else next(one for one in reversed(by_size) if one not in moved)
        size -= _kept(name, written[name])
        written[name] = overflow.put(_bytes(written[name]))
        size += _kept(name, written[name])
        moved.append(name)
    return {**written, "Blobs": ",".join(moved)} if moved else written


def _written(value: Json) -> Any:
    if _needs_json(value):
        return _as_json(value)
    if isinstance(value, Message):
        return str(value)
    return EntityProperty(value, EdmType.INT64) if type(value) is int and not -_INT32 <= value < _INT32 else value


def _needs_json(value: Json) -> bool:
    if isinstance(value, str):
        return not _is_whole(value)
    if isinstance(value, bool | float):
        return False
    return not isinstance(value, int) or not -_INT64 <= value < _INT64


def _is_whole(text: str) -> bool:
    """Half a surrogate pair is not UTF-8; the service would put another character in its place."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _as_json(value: Json) -> str:
    try:
        return msgspec.json.encode(value, enc_hook=plain).decode()
    except UnicodeEncodeError:
        return json.dumps(value)


def _from_json(text: str) -> Json:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return json.loads(text)


def _too_large(value: Any) -> bool:
    return isinstance(value, str) and len(value) > TEXT_UNITS // 2 and units(value) > TEXT_UNITS


def _kept(name: str, value: Any) -> int:
    return 8 + 2 * len(name) + (4 + 2 * units(value) if isinstance(value, str) else 8)


def _sent(value: Any) -> int:
    if not isinstance(value, str):
        return 32
    # Non-ASCII characters travel as \uXXXX; measured exactly only where it may matter.
    return len(json.dumps(value)) if len(value) > 256 else 12 * len(value) + 2


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


def _listed(found: Mapping[str, Any], mark: str) -> list[str]:
    return str(found[mark]).split(",") if found.get(mark) else []


def content_name(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
