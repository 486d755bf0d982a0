"""set: the names of records that others were sent without. They are in the register `Deletions`; when one of them is
about to be on the target, that is noted too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from uuid import uuid4

from b24migrate.engine.phases.context import RunContext
from b24migrate.model.records import Record
from b24migrate.model.streams import Stream
from b24migrate.ports import DELETIONS, PASSES, RegisterRow

MISSED, ARRIVED = "missed", "arrived"
AT_ONCE = 500
NUMBER = re.compile(rb"\d+")
SOUGHT = "sought"  # the row that exists from the first second pass on


def note_missed(context: RunContext, named: Iterable[tuple[str, str]]) -> None:
    """Before the records that lack these are sent. Some may have been sent by another thread since they were sought."""
    new = context.memory.missed.find_new(named)
    if new:
        context.store.write(DELETIONS, [RegisterRow(f"{MISSED}:{stream}:{key}", {}) for stream, key in new])
        context.memory.missed.add(new)
        _note_arrived(context, new)


def _note_arrived(context: RunContext, named: Iterable[tuple[str, str]]) -> None:
    """Those of them that are on the target."""
    wanted: dict[str, list[str]] = {}
    for stream, key in named:
        wanted.setdefault(stream, []).append(key)
    there = [(one, key) for one, keys in wanted.items() for key in context.memory.links.target_ids(one, keys)]
    if there:
        context.store.write(DELETIONS, [RegisterRow(f"{ARRIVED}:{stream}:{key}", {}) for stream, key in there])


def seek_missed(context: RunContext) -> None:
    """From now on. Before the first second pass nobody looked: an earlier version had another way."""
    if _is_sought(context):
        return
    after = ""
    while rows := context.store.some_rows(DELETIONS, f"{MISSED}:", after, AT_ONCE):
        after = rows[-1].key
        _note_arrived(context, (_named(row.key) for row in rows))
    context.store.write(DELETIONS, [RegisterRow(SOUGHT, {})])


def _named(key: str) -> tuple[str, str]:
    _, stream, source_id = key.split(":", 2)
    return stream, source_id


def note_arriving(context: RunContext, stream: Stream, records: Sequence[Record]) -> None:
    """Before they are on the target: those of them that others were sent without."""
    if not records or not _is_sought(context):
        return
    names = [(one.natural or "") if stream.by_natural else one.row_key for one in records]
    missed = context.store.rows_of(DELETIONS, [f"{MISSED}:{stream.name}:{name}" for name in names])
    arriving = [RegisterRow(f"{ARRIVED}:{key.removeprefix(MISSED + ':')}", {}) for key in missed]
    if arriving:
        context.store.write(DELETIONS, arriving)


def numbers_in(record: Record) -> Sequence[bytes]:
    """By which the holders of a record that arrives are found."""
    return NUMBER.findall(record.payload + (record.extras or b""))


def note_unlinked(context: RunContext, stream: Stream) -> None:
    """Before links to records of the stream go or become others: the second pass and verify look at all records again
    that may have one."""
    streams = [one for entity in context.entities for one in entity.streams]
    holders = [one for one in streams if any(stream.name in ref.streams for ref in one.refs)]
    context.store.discard(PASSES, [covered_key(one) for one in holders])
    context.store.write(PASSES, [RegisterRow(unlinked_key(one), {"Basis": uuid4().hex}) for one in holders])


def covered_key(stream: Stream) -> str:
    """Of the row that exists if verify has looked at the links of all its records, and none was removed since."""
    return f"covered:{stream.name}"


def unlinked_key(stream: Stream) -> str:
    """Of the row that is another one after each time that links which the stream may have were removed."""
    return f"unlinked:{stream.name}"


def _is_sought(context: RunContext) -> bool:
    return context.memory.missed.is_sought(lambda: bool(context.store.rows_of(DELETIONS, [SOUGHT])))
