"""get: reads the newest children of a parent again, where a delta pass need not read all of them (`Tail`).

When the children of a parent were read, what it told of them then is kept (register States): its newest child, their
number, and the pass that last read all of them. A delta pass asks the parents that tell something else now, and those
whose newest child is so young that it may be edited. As many new children must have been read as the number grew:
otherwise some were deleted, and all of the parent's are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.delta import KEYS_AT_ONCE, NOW
from b24migrate.engine.phases.payload import decode_payloads, payload_hash
from b24migrate.model.records import Json, Record, Row, Span, Status, has_new_extras, order_key
from b24migrate.model.streams import PerParent, SourceRecord, Stream, Tail
from b24migrate.ports import PASSES, STATES, RegisterRow

DAY_S = 86_400
FAILED = (Status.IMPORT_ERR, Status.ERROR_RETRY)


class Told(NamedTuple):
    """What a parent told of its children. `whole`: the pass that last read all of them."""

    last: int
    number: int | None
    whole: int = 0

    @classmethod
    def by(cls, tail: Tail, parent: SourceRecord, whole: int = 0) -> Told:
        last, count = (str(parent.payload.get(name) or 0) for name in (tail.last, tail.count))
        told = parent.payload.get(tail.count) is not None and count.isdecimal()
        return cls(int(last) if last.isdecimal() else 0, int(count) if told else None, whole)

    def is_like(self, other: Told) -> bool:
        return self[:2] == other[:2]


def read_states(context: RunContext, stream: Stream, parents: Collection[str]) -> dict[str, Told]:
    rows = context.store.rows_of(STATES, [f"{stream.name}:{one}" for one in parents])
    return {key.removeprefix(f"{stream.name}:"): Told(*row.values["State"]) for key, row in rows.items()}


def write_states(context: RunContext, stream: Stream, states: Mapping[str, Told]) -> None:
    rows = [RegisterRow(f"{stream.name}:{key}", {"State": list(one)}) for key, one in states.items()]
    if rows:
        context.store.write(STATES, rows)


# ---------------------------------------------------------------- the parents that are asked


def find_moved(context: RunContext, stream: Stream, reading: PerParent, parents: Sequence[SourceRecord]) -> set[str]:
    """Those that tell something else than when their children were last read, and those with young children."""
    if reading.tail is None:
        return set()
    known = read_states(context, stream, [one.id for one in parents])
    now = {one.id: Told.by(reading.tail, one) for one in parents}
    moved = {key for key, one in now.items() if key not in known or not one.is_like(known[key])}
    newest = {f"{key}:{reading.mark}{one.last}": key for key, one in now.items() if key not in moved and one.last}
    since = begin_of_window(context, stream, reading.tail)
    staged = context.store.get(stream.table, list(newest))
    older = {newest[key] for key, one in staged.items() if reading.tail.is_older(one.payload, since)}
    return moved | (set(newest.values()) - older)


def begin_of_window(context: RunContext, stream: Stream, tail: Tail) -> int:
    """In seconds. The same however often a job of the pass is done."""
    row = context.store.read(PASSES, f"{NOW}:{stream.name}")
    now = datetime.fromisoformat(row.values["MarkUtc"]) if row else context.clock.now()
    return int(now.timestamp() - tail.days * DAY_S)


def partial_cursors(
    context: RunContext, stream: Stream, reading: PerParent, parents: Sequence[str]
) -> dict[str, list[Json]]:
    """Of the parents whose children need not all be read: where the walk begins, and where it may end (`Progress`)."""
    if reading.tail is None:
        return {}
    since = begin_of_window(context, stream, reading.tail)
    known = read_states(context, stream, parents)
    return {key: [0, 0, -1, 0, one.last, since] for key, one in known.items() if one.last}


# ---------------------------------------------------------------- what a walk brought


def without_same(context: RunContext, stream: Stream, rows: Sequence[Row], parents: Collection[str]) -> list[Row]:
    """Of the children of these parents only those that are new or others than before: the rest counts as seen."""
    keys = [row.source_id for row in rows if row.source_id.rpartition(":")[0] in parents]
    known = context.store.get(stream.table, keys) if keys else {}
    return [row for row in rows if row.source_id not in known or is_other_row(stream, row, known[row.source_id])]


def is_other_row(stream: Stream, row: Row, staged: Record) -> bool:
    hash_one = payload_hash(stream)
    if staged.deleted_utc or staged.status in FAILED or hash_one is None:
        return True
    try:
        same = hash_one(row.source_id, *decode_payloads(stream, [row.payload])) == staged.payload_hash
    except msgspec.DecodeError:
        return True
    return not same or has_new_extras(msgspec.json.encode(row.extras) if row.extras else None, staged.extras)


# ---------------------------------------------------------------- the end of a walk


def close(
    context: RunContext,
    stream: Stream,
    reading: PerParent,
    ended: Mapping[str, SourceRecord],
    *,
    partly: Collection[str],
    pass_no: int,
) -> list[str]:
    """Notes what the parents told whose children are read. Returns those of which all children have to be read: of the
    ones that were read `partly`, those whose number does not agree."""
    tail = reading.tail
    if tail is None or context.options.test_limit:
        return []
    known = read_states(context, stream, [one for one in ended if one in partly])
    now = {key: Told.by(tail, one, known[key].whole if key in known else pass_no) for key, one in ended.items()}
    doubtful = [
        key for key, before in known.items() if not agrees(context, stream, f"{key}:{reading.mark}", (before, now[key]))
    ]
    moved = {key: one for key, one in now.items() if key not in doubtful and one != known.get(key)}
    write_states(context, stream, moved)
    return doubtful


def agrees(context: RunContext, stream: Stream, prefix: str, told: tuple[Told, Told]) -> bool:
    """Whether as many children came as there are more now than before, and the newest one did not go."""
    before, now = told
    if before.is_like(now):
        return True
    if before.number is None or now.number is None or now.last < before.last:
        return False
    span = Span(*(order_key(f"{prefix}{one.last}") for one in told))
    return now.number - before.number == count_known(context, stream, span)


def count_known(context: RunContext, stream: Stream, span: Span) -> int:
    """How many children of a span are staged and not deleted."""
    return sum(1 for _ in _keys(context, stream, span)) - sum(1 for _ in _deleted(context, stream, span))


def _keys(context: RunContext, stream: Stream, span: Span) -> Iterator[str]:
    while keys := context.store.keys(stream.table, span, KEYS_AT_ONCE):
        yield from keys
        span = span._replace(lo=order_key(keys[-1]))


def _deleted(context: RunContext, stream: Stream, span: Span) -> Iterator[str]:
    while records := context.store.deleted(stream.table, span, 500):
        yield from (one.row_key for one in records)
        span = span._replace(lo=order_key(records[-1].row_key))


def read_whole(context: RunContext, stream: Stream, parents: Collection[str], pass_no: int) -> set[str]:
    """Of these parents those of which this pass has read all children."""
    return {key for key, one in read_states(context, stream, parents).items() if one.whole == pass_no}
