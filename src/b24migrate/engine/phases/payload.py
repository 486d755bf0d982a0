"""Looking at a few fields of payloads without decoding the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import msgspec

from b24migrate.model.records import Json, digest
from b24migrate.model.streams import Stream

Payload: TypeAlias = Mapping[str, Json]


class Columns(NamedTuple):
    """What was seen of some payloads, by column: a million of them are looked at."""

    stamps: Sequence[Json]
    naturals: Sequence[Json]
    shown: Sequence[Payload | None]  # what rules and files look at; None where there is nothing for them
    whole: Sequence[Payload] = ()  # where it takes all of them


def decode_columns(stream: Stream, payloads: Sequence[bytes]) -> Columns:
    """Only at what staging needs, where that is little: decoding whole payloads would be most of the work."""
    curious = stream.exclude is not None or stream.files is not None
    if stream.hashed or stream.view or (curious and not stream.peek):
        return _decode_whole(stream, payloads)
    return _peeking_decoder(stream.stamp, stream.natural, stream.peek)(payloads)


def payload_hash(stream: Stream, payload: Payload) -> str:
    lasting = dict(payload if stream.lasting is None else stream.lasting(payload))
    for name in stream.volatile:
        lasting.pop(name, None)
    return digest(lasting)


def _decode_whole(stream: Stream, payloads: Sequence[bytes]) -> Columns:
    whole: Sequence[Payload] = list(map(_decode, payloads))
    if stream.view:
        whole = list(map(stream.view, whole))
    return Columns(
        [one.get(stream.stamp) for one in whole] if stream.stamp else _empty_column(whole),
        [one.get(stream.natural) for one in whole] if stream.natural else _empty_column(whole),
        [None if stream.peek and one.keys().isdisjoint(stream.peek) else one for one in whole],
        whole,
    )


def _empty_column(whole: Sequence[Payload]) -> Sequence[Json]:
    return [None] * len(whole)


_decode: Callable[[bytes], dict[str, Json]] = msgspec.json.Decoder(dict[str, Any]).decode


@lru_cache(maxsize=128)
def _peeking_decoder(stamp: str, natural: str, peek: tuple[str, ...]) -> Callable[[Sequence[bytes]], Columns]:
    """A decoder that skips every other field. A field that is absent and one that is null are the same to it."""
    wanted = filter(None, dict.fromkeys((stamp, natural, *peek)))
    slots = {name: f"f{place}" for place, name in enumerate(wanted)}
    names = {slot: name for name, slot in slots.items()}
    shape = msgspec.defstruct("Few", [(slot, Any, None) for slot in names], rename=names.get, gc=False)
    decode = msgspec.json.Decoder(shape).decode
    column: dict[str, Callable[[Any], Json]] = {name: attrgetter(slot) for name, slot in slots.items()}
    column[""] = lambda _: None
    nothing = (None,) * len(peek)

    def glance(payloads: Sequence[bytes]) -> Columns:
        found = list(map(decode, payloads))
        peeked = zip(*(map(column[name], found) for name in peek), strict=True) if peek else [nothing] * len(found)
        shown = [None if values == nothing else dict(zip(peek, values, strict=True)) for values in peeked]
        return Columns(list(map(column[stamp], found)), list(map(column[natural], found)), shown)

    return glance
