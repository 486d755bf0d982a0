"""By what people know a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from b24migrate.insight.lookup.model import LONGEST_TITLE, cut
from b24migrate.model.records import Json
from b24migrate.model.streams import SourceRecord, Stream


def title_of(stream: Stream, one: SourceRecord) -> str:
    """Whole; a message is its own title."""
    return _joined(one.payload.get(name) for name in stream.title)


def glance(stream: Stream, payload: bytes) -> str:
    """The same, without decoding the rest: a million of them are looked at."""
    return _joined(_few(stream.title)(payload))


def _joined(parts: Iterable[Json]) -> str:
    return " ".join([str(part) for part in parts if part and isinstance(part, str | int)])


@lru_cache(maxsize=128)
def _few(names: tuple[str, ...]) -> Callable[[bytes], tuple[Any, ...]]:
    """A decoder that skips every other field."""
    slots = [f"f{place}" for place in range(len(names))]
    renamed = dict(zip(slots, names, strict=True))
    shape = msgspec.defstruct("Few", [(slot, Any, None) for slot in slots], rename=renamed.get, gc=False)
    decode = msgspec.json.Decoder(shape).decode
    values = attrgetter(*slots, "__class__")  # always a tuple: of one alone it would be the value itself
    return lambda payload: values(decode(payload))[:-1]


def short_title(stream: Stream, one: SourceRecord) -> str:
    return cut(" ".join(title_of(stream, one)[: 4 * LONGEST_TITLE].split()), LONGEST_TITLE)


def emails_of(stream: Stream, one: SourceRecord) -> tuple[str, ...]:
    return tuple(cut(address, LONGEST_TITLE) for address in stream.emails(one) if address)
