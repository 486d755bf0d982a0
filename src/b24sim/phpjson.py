"""JSON as PHP writes it: ASCII only, hexed tags and quotes, and maps that turn into lists.

Rows are kept encoded, so a page is a join of bytes. `Rows` and `Parts` carry such bytes inside a value
without losing the structure that batch references walk through.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

_HEXED = {"<": "\\u003C", ">": "\\u003E", "&": "\\u0026", "'": "\\u0027", "/": "\\/"}
_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), check_circular=False).encode


class Rows(list[bytes]):
    """A JSON list whose members are encoded already."""


class Parts(dict[str, Any]):
    """A JSON object some of whose values are encoded already; empty, it is `[]`, as PHP has it."""


def encode(value: Any) -> bytes:
    """The value as a portal would send it. `bytes` are taken as JSON already."""
    if isinstance(value, (bytes, Rows, Parts)):
        chunks: list[bytes] = []
        put(chunks, value)
        return b"".join(chunks)
    return _hexed(_dumps(value)).encode()


def put(chunks: list[bytes], value: Any) -> None:
    """Append the value in pieces, so that a large answer is copied only once, when the pieces are joined."""
    if isinstance(value, bytes):
        chunks.append(value)
    elif isinstance(value, Rows):
        chunks.append(b"[")
        for row in value:
            chunks += (row, b",")
        _close(chunks, b"]")
    elif isinstance(value, Parts) and value:
        chunks.append(b"{")
        for key, item in value.items():
            chunks += (_text(key), b":")
            put(chunks, item)
            chunks.append(b",")
        _close(chunks, b"}")
    else:
        chunks.append(b"[]" if isinstance(value, Parts) else encode(value))


def _close(chunks: list[bytes], bracket: bytes) -> None:
    if chunks[-1] == b",":
        chunks.pop()
    chunks.append(bracket)


def encode_all(values: Iterable[Any]) -> Rows:
    return Rows(encode(value) for value in values)


def php_array(entries: Mapping[str, Any]) -> Rows | Parts:
    """A PHP array: keys 0..n-1 in order make a list, nothing makes `[]`, anything else an object."""
    if all(key == str(place) for place, key in enumerate(entries)):
        return encode_all(entries.values())
    return Parts(entries)


def decode(data: bytes) -> Any:
    return msgspec.json.decode(data)


@lru_cache(maxsize=4096)
def _text(key: str) -> bytes:
    return _hexed(_dumps(key)).encode()


def _hexed(text: str) -> str:
    """Replaced one kind after the other: a large answer has a million of them."""
    if '\\"' in text:  # not the half of an escaped backslash before the quote that ends a string
        text = "\\\\".join(part.replace('\\"', "\\u0022") for part in text.split("\\\\"))
    for char, code in _HEXED.items():
        text = text.replace(char, code)
    return text
