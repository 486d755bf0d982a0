"""Looking at a few fields of a payload without decoding the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias, TypedDict

import msgspec

from b24migrate.records import Json
from b24migrate.streams import Stream

Look: TypeAlias = Callable[[bytes], dict[str, Json]]


def looker(stream: Stream) -> Look:
    """Only what staging looks at, where that is little: decoding whole rows would be most of the work."""
    if stream.hashed or (stream.exclude is not None and not stream.peek):
        return _whole
    return _only(tuple(sorted({name for name in (stream.stamp, stream.natural, *stream.peek) if name})))


_whole: Look = msgspec.json.Decoder(dict[str, Any]).decode


@lru_cache(maxsize=128)
def _only(names: tuple[str, ...]) -> Look:
    """A decoder that skips every other field."""
    kind = TypedDict("kind", dict.fromkeys(names, Any), total=False)  # type: ignore[misc]
    look: Any = msgspec.json.Decoder(kind).decode
    return look  # type: ignore[no-any-return]
