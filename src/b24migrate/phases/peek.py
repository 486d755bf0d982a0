"""Looking at a few fields of a payload without decoding the rest."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from b24migrate.records import Json
from b24migrate.streams import Stream


def wanted(stream: Stream) -> tuple[str, ...]:
    return tuple(sorted({name for name in (stream.stamp, stream.natural, *stream.peek) if name}))


@lru_cache(maxsize=128)
def decoder(names: tuple[str, ...]) -> tuple[msgspec.json.Decoder[Any], tuple[tuple[str, str], ...]]:
    """A decoder that skips every other field. Source names need not be Python names, hence the renaming."""
    renamed = tuple((f"f{at}", name) for at, name in enumerate(names))
    kind = msgspec.defstruct(
        "Peeked", [(attribute, Any, None) for attribute, _ in renamed], rename=dict(renamed), gc=False
    )
    return msgspec.json.Decoder(kind), renamed


def peek(names: tuple[str, ...], payload: bytes) -> dict[str, Json]:
    decode, renamed = decoder(names)
    found = decode.decode(payload)
    return {name: getattr(found, attribute) for attribute, name in renamed}
