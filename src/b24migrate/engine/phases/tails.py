"""get: reads the newest children of a parent again, where a delta pass need not read all of them (`Tail`).

The register States keeps what a parent said when its children were read: its newest child, their number, and the pass
that last read all of them. A delta pass asks the parents whose values differ now, and those whose newest child is so
young that it may be edited. If the number grew by less than the new children that were read, some were deleted, and
`missing_children` looks for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from string import ascii_letters
from typing import NamedTuple

import msgspec

from b24migrate.engine.phases.context import RunContext, walk_deleted, walk_rows
from b24migrate.engine.phases.delta import KEYS_AT_ONCE, NOW, complete_pass
from b24migrate.engine.phases.payload import decode_payloads, payload_hash
from b24migrate.model.readings import PerParent, Tail
from b24migrate.model.records import Json, Record, Row, Span, Status, has_new_extras, order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import CHANGES, PASSES, STATES, RegisterRow

DAY_S = 86_400
FAILED = (Status.IMPORT_ERR, Status.ERROR_RETRY)
LOST = "lost"  # of CHANGES: parents that may have lost children, with the results of the walk
SETTLED = "settled"  # of CHANGES: the values of a parent, to be kept as soon as its lost children are marked
ABOVE_ALL = 2**53  # above every id


class Told(NamedTuple):
    """The parent's values about its children. `whole`: the pass that last read all of them."""

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
    """Of the parents whose children need not all be read: where the walk begins, and where it may end (`Progress`). A
    pass that read all of them and was cut off may not have marked those that are deleted."""
    if reading.tail is None:
        return {}
    since = begin_of_window(context, stream, reading.tail)
    known, complete = read_states(context, stream, parents), complete_pass(context, stream)
    return {key: [0, 0, -1, 0, one.last, since] for key, one in known.items() if one.last and one.whole <= complete}


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


class Walked(NamedTuple):
    """The IDs of a walk from the newest down to the lowest."""

    lowest: int = ABOVE_ALL
    shown: frozenset[int] = frozenset()


def close(
    context: RunContext,
    stream: Stream,
    reading: PerParent,
    ended: Mapping[str, SourceRecord],
    *,
    partly: Mapping[str, Walked],
    which: int,
    pass_no: int,
) -> list[str]:
    """Notes the values of the parents whose children were read; for those read `partly` also whether they may have lost
    children. Returns those without a number, whose children must all be read."""
    tail = reading.tail
    if tail is None or context.options.test_limit:
        return []
    known = read_states(context, stream, [one for one in ended if one in partly])
    now = {key: Told.by(tail, one, known[key].whole if key in known else pass_no) for key, one in ended.items()}
    doubtful = [
        key for key, before in known.items() if not agrees(context, stream, f"{key}:{reading.mark}", (before, now[key]))
    ]
    uncounted = [one for one in doubtful if known[one].number is None or now[one].number is None]
    lost = [
        RegisterRow(
            f"{LOST}:{stream.name}:{which}:{one}",
            {"Fields": [partly[one].lowest, *find_unshown(context, stream, f"{one}:{reading.mark}", partly[one])]},
        )
        for one in doubtful
        if one not in uncounted
    ]
    if lost:
        context.store.write(CHANGES, lost)
    moved = {key: one for key, one in now.items() if key not in doubtful and one != known.get(key)}
    write_states(context, stream, moved)
    return uncounted


def agrees(context: RunContext, stream: Stream, prefix: str, told: tuple[Told, Told]) -> bool:
    """Whether as many children came as there are more now than before, and the newest one did not go."""
    before, now = told
    if before.is_like(now):
        return True
    if before.number is None or now.number is None or now.last < before.last:
        return False
    span = Span(*(order_key(f"{prefix}{one.last}") for one in told))
    return now.number - before.number == len(known_ids(context, stream, span))


def find_unshown(context: RunContext, stream: Stream, prefix: str, walked: Walked) -> list[int]:
    """Of the known ones in the part that was walked through."""
    span = Span(order_key(f"{prefix}{walked.lowest - 1}"), order_key(f"{prefix}{ABOVE_ALL}"))
    return [one for one in known_ids(context, stream, span) if one not in walked.shown]


def known_ids(context: RunContext, stream: Stream, span: Span) -> list[int]:
    """Of the children of a span that are staged and not deleted, in order. They have a mark before the number, or
    none."""
    deleted = {one.row_key for one in walk_deleted(context, stream.table, span)}
    return [number_of(one) for one in _keys(context, stream, span) if one not in deleted]


def number_of(row_key: str) -> int:
    return int(row_key.rpartition(":")[2].lstrip(ascii_letters))


def settle(context: RunContext, stream: Stream) -> None:
    """When the lost children are marked."""
    prefix = f"{SETTLED}:{stream.name}:"
    rows = walk_rows(context, CHANGES, prefix)
    write_states(context, stream, {row.key.removeprefix(prefix): Told(*row.values["Fields"]) for row in rows})


def _keys(context: RunContext, stream: Stream, span: Span) -> Iterator[str]:
    while keys := context.store.keys(stream.table, span, KEYS_AT_ONCE):
        yield from keys
        span = span._replace(lo=order_key(keys[-1]))


def read_whole(context: RunContext, stream: Stream, parents: Collection[str], pass_no: int) -> set[str]:
    """Of these parents those of which this pass has read all children."""
    return {key for key, one in read_states(context, stream, parents).items() if one.whole == pass_no}
