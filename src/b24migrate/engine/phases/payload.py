"""Payloads as they are staged: decoded, and hashed so that a change is noticed when they are read again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, TypeAlias

import msgspec

from b24migrate.messages import plain
from b24migrate.model.fields import ABSENT, EMPTIED, Kind
from b24migrate.model.records import Json, Record, Renew, Staged, has_new_extras, in_order
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream

Payload: TypeAlias = Mapping[str, Json]
PayloadHash: TypeAlias = Callable[[str, Payload], str]

PARTIAL_HASH = "partial"  # of a record that was read in part: the hash of the whole one differs from it
_EMPTY: tuple[Json, ...] = (None, "", [], {}, False)


def decode_payloads(stream: Stream, payloads: Sequence[bytes]) -> Sequence[Payload]:
    """Under the names of the stream's fields. Of a stream without fields it matters only that a record is there."""
    if not stream.fields:
        return [{}] * len(payloads)
    whole: Sequence[Payload] = list(map(_decode, payloads))
    return list(map(stream.view, whole)) if stream.view else whole


_decode: Callable[[bytes], dict[str, Json]] = msgspec.json.Decoder(dict[str, Any]).decode


def payload_hash(stream: Stream) -> PayloadHash | None:
    """The hash that shows a changed payload: a record with another hash is sent again. None: nothing of it is sent."""
    if not stream.fields:
        return None
    return _hash_payload(stream) if stream.changes.whole_payload else _hash_sent(stream)


# As `digest` does, for millions of records.
_encode = msgspec.json.Encoder(order="sorted", enc_hook=plain).encode


def _hash_payload(stream: Stream) -> PayloadHash:
    lasting, volatile = stream.changes.lasting, tuple(stream.changes.volatile)

    def hash_one(_: str, payload: Payload) -> str:
        counted = dict(payload if lasting is None else lasting(payload))
        for name in volatile:
            counted.pop(name, None)
        return sha256(_encode(counted)).hexdigest()

    return hash_one


def _hash_sent(stream: Stream) -> PayloadHash:
    """The sent part of the payload, with the source's values. Data of other methods is compared separately."""
    wanted = [
        (spec.name, spec.take, spec.kind is Kind.REFS)
        for spec in stream.fields
        if not spec.beside and spec.name not in stream.changes.volatile
    ]
    named = frozenset(spec.name for spec in stream.fields)
    prefixes = (*(stream.rest.prefixes if stream.rest else ()), *stream.custom.prefixes)

    def sent_values(one: SourceRecord) -> dict[str, Json]:
        sent: dict[str, Json] = {}
        for name, take, several in wanted:
            value = one.payload.get(name, ABSENT) if take is None else take(one)
            if value is not ABSENT:
                sent[name] = in_order(value) if several else value
        if prefixes:
            others = (name for name in one.payload if name not in named and name.startswith(prefixes))
            sent.update((name, one.payload[name]) for name in others)
        if stream.files is not None:
            versions = {ref.key: ref.version for ref in stream.files(one) if ref.version}
            sent |= {"": versions} if versions else {}
        return sent

    def hash_one(row_key: str, payload: Payload) -> str:
        try:
            counted: Payload = sent_values(SourceRecord(row_key, payload, {}))
        except Exception:  # noqa: BLE001 (an odd value: sending it will say so)
            counted = payload
        return sha256(_encode(counted)).hexdigest()

    return hash_one


# ---------------------------------------------------------------- read again


def renew(stream: Stream) -> Renew:
    """How a store finds out whether a record that it has is another now, with what it must say of its former self."""
    hash_one = payload_hash(stream)

    def renew_one(old: Staged, new: Staged) -> Staged | None:
        if not is_other(stream, hash_one, old, new) and not has_new_extras(new.extras, old.extras):
            return None
        return _with_emptied(stream, old, new)

    return renew_one


def is_other(stream: Stream, hash_one: PayloadHash | None, old: Staged | Record, new: Staged) -> bool:
    """A record of an earlier version has no hash, or one by other rules: that of its payload by ours decides."""
    if old.payload_hash == new.payload_hash:
        return False
    if hash_one is None or PARTIAL_HASH in (old.payload_hash, new.payload_hash):
        return True
    try:
        (payload,) = decode_payloads(stream, [old.payload])
        return hash_one(old.row_key, payload) != new.payload_hash
    except Exception:  # noqa: BLE001 (what was staged makes no sense)
        return old.payload != new.payload


def _with_emptied(stream: Stream, old: Staged, new: Staged) -> Staged:
    """With the names of fields that were filled and are empty now: of some fields only filled ones are sent."""
    try:
        before, now = decode_payloads(stream, [old.payload, new.payload])
        named = _extras(old).get(EMPTIED, ())
    except Exception:  # noqa: BLE001 (what was staged makes no sense)
        return new
    filled = {*named, *(name for name, value in before.items() if value not in _EMPTY)}
    emptied = {name for name in filled if (stream.changes.omits_empty or name in now) and now.get(name) in _EMPTY}
    if not emptied:
        return new
    return new._replace(extras=msgspec.json.encode({**_extras(new), EMPTIED: sorted(emptied)}, enc_hook=plain))


def _extras(one: Staged) -> Mapping[str, Json]:
    return msgspec.json.decode(one.extras) if one.extras else {}
