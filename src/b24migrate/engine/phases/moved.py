"""get: which records moved since the last complete pass, so that a delta pass reads the children of these only.

Before a record is staged, the fields that readings of children name (`Again.fields`) are compared with what is staged.
The changes are kept by pass until a later pass is complete: a pass that is cut off has staged the new values already.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from b24migrate.engine.phases import tails
from b24migrate.engine.phases.context import WALKED_AT_ONCE, RunContext, decode_readable, decode_record, walk_rows
from b24migrate.engine.phases.delta import complete_pass
from b24migrate.model.readings import Listing, PerParent
from b24migrate.model.records import Json, Record, Span, Staged, order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import CHANGES, RegisterRow

MOVED, GONE = "moved", "gone"
ANYTHING = "*"  # in place of names: the record is new, back or deleted
_NOTHING = (None, "", 0, "0", False)


def watched_fields(context: RunContext, stream: Stream) -> frozenset[str]:
    """Fields of which the latest value is kept, whether or not they count as a change: a sweep compares them, or the
    children are read again when they move."""
    swept = [one.sweep.fields for one in stream.read if isinstance(one, Listing) and one.sweep]
    return frozenset(name for names in (*swept, _named_by_children(context, stream)) for name in names)


def _named_by_children(context: RunContext, stream: Stream) -> frozenset[str]:
    readings = [
        one
        for child in context.owner[stream.name].streams
        for one in (*child.read, *child.more)
        if isinstance(one, PerParent) and one.of == stream.name and one.again
    ]
    return frozenset(name for one in readings if one.again for name in one.again.fields)


# ---------------------------------------------------------------- noting


def note_moved(context: RunContext, stream: Stream, staged: Sequence[Staged], pass_no: int) -> None:
    """Before they are staged. A full pass notes nothing: it reads all children."""
    names = _named_by_children(context, stream) if context.options.delta and staged else ()
    if not names:
        return
    before = context.store.get(stream.table, [one.row_key for one in staged])
    found = {one.row_key: _moved_names(stream, names, before.get(one.row_key), one) for one in staged}
    _note(context, stream, {key: moved for key, moved in found.items() if moved}, pass_no)


def note_anew(context: RunContext, stream: Stream, row_keys: Iterable[str], pass_no: int) -> None:
    """Of records that are new or deleted."""
    if context.options.delta and _named_by_children(context, stream):
        _note(context, stream, {key: {ANYTHING} for key in row_keys}, pass_no)


def note_for_next_pass(context: RunContext, stream: Stream, row_keys: Iterable[str], pass_no: int) -> None:
    """Of records whose children have to be read once more."""
    _note(context, stream, {key: {ANYTHING} for key in row_keys}, pass_no + 1)


def note_deleted(context: RunContext, stream: Stream, row_keys: Sequence[str], pass_no: int) -> None:
    """Before they are marked: what belongs to them, or names them, is looked at."""
    note_anew(context, stream, row_keys, pass_no)
    if find_referring(context, stream):
        context.store.write(CHANGES, [RegisterRow(f"{GONE}:{stream.name}:{pass_no}:{key}", {}) for key in row_keys])


def find_referring(context: RunContext, stream: Stream) -> list[Stream]:
    """The streams whose records lose their link to a deleted one without a date."""
    return [
        one
        for one in context.streams.values()
        if one.fetch and any(spec.undated and stream.name in spec.streams for spec in one.fields)
    ]


def find_gone(context: RunContext, stream: Stream) -> set[str]:
    """Those of its records that were found deleted since its last complete pass."""
    complete = complete_pass(context, stream)
    return {key for number, key, _ in _noted(context, GONE, stream.name) if number > complete}


def _noted(context: RunContext, what: str, stream: str) -> Iterator[tuple[int, str, RegisterRow]]:
    """Pass, id and row."""
    prefix = f"{what}:{stream}:"
    for row in walk_rows(context, CHANGES, prefix):
        number, _, key = row.key.removeprefix(prefix).partition(":")
        yield int(number), key, row


def _note(context: RunContext, stream: Stream, moved: dict[str, set[str]], pass_no: int) -> None:
    keys = {f"{MOVED}:{stream.name}:{pass_no}:{key}": names for key, names in moved.items()}
    known = context.store.rows_of(CHANGES, list(keys)) if keys else {}
    rows = [
        RegisterRow(key, {"Fields": sorted(names | set(known[key].values["Fields"] if key in known else ()))})
        for key, names in keys.items()
    ]
    if rows:
        context.store.write(CHANGES, rows)


def _moved_names(stream: Stream, names: Iterable[str], old: Record | None, new: Staged) -> set[str]:
    if old is None or old.deleted_utc:
        return {ANYTHING}
    try:
        before = decode_record(old, stream)
        now = decode_record(old._replace(payload=new.payload, extras=new.extras), stream)
    except msgspec.DecodeError:
        return {ANYTHING}
    return {name for name in names if is_other_value(_value(before, name), _value(now, name))}


def _value(one: SourceRecord, name: str) -> Json:
    return one.payload.get(name, one.extras.get(name))


def is_other_value(one: Json, other: Json) -> bool:
    """Times are compared as instants: a portal may write the same one with another offset."""
    if one == other or (one in _NOTHING and other in _NOTHING):
        return False
    try:
        return datetime.fromisoformat(str(one)) != datetime.fromisoformat(str(other))
    except ValueError:
        return str(one) != str(other)


def forget_moved(context: RunContext, stream: Stream) -> None:
    """Forgets the notes that the last complete pass has taken into account."""
    complete = complete_pass(context, stream)
    for what in (MOVED, GONE):
        for number in sorted({number for number, *_ in _noted(context, what, stream.name) if number <= complete}):
            context.store.erase(CHANGES, f"{what}:{stream.name}:{number}:")


# ---------------------------------------------------------------- the parents that are asked


def next_parents(
    context: RunContext, stream: Stream, reading: PerParent, after: str, limit: int
) -> tuple[list[Record], str]:
    """The next parents whose children a delta pass reads, deleted ones too, and where to go on ("": nowhere)."""
    of = context.streams[reading.of]
    moved = set(find_moved(context, stream, reading))
    deep = context.options.deep
    if deep or reading.tail:
        records = context.store.records(of.table, Span(after), limit)
        end = order_key(records[-1].row_key) if len(records) == limit else ""
        there = [one for one in records if not one.deleted_utc]
        for start in range(0, len(there), WALKED_AT_ONCE):  # decoded, a record is many times as large
            some = decode_readable(there[start : start + WALKED_AT_ONCE], of)
            moved |= tails.find_moved(context, stream, reading, some)
        return [one for one in records if one.row_key in moved or (deep and _is_deep(reading, of, one))], end
    keys = sorted((key for key in moved if order_key(key) > after), key=order_key)[: limit + 1]
    found = context.store.get(of.table, keys[:limit])
    return [found[key] for key in keys[:limit] if key in found], order_key(keys[limit - 1]) if len(keys) > limit else ""


def find_moved(context: RunContext, stream: Stream, reading: PerParent) -> Iterator[str]:
    wanted = {ANYTHING, *(reading.again.fields if reading.again else ())}
    return _find_noted(context, reading.of, wanted, complete_pass(context, stream))


def find_moved_by(context: RunContext, stream: Stream, names: Collection[str]) -> Iterator[str]:
    """Its records of which one of these fields moved since its last complete pass; not those that are new."""
    return _find_noted(context, stream.name, names, complete_pass(context, stream))


def _find_noted(context: RunContext, name: str, wanted: Collection[str], complete: int) -> Iterator[str]:
    for number, key, row in _noted(context, MOVED, name):
        if number > complete and not set(wanted).isdisjoint(row.values["Fields"]):
            yield key


def _is_deep(reading: PerParent, of: Stream, record: Record) -> bool:
    try:
        return reading.again is not None and not record.deleted_utc and reading.again.deep(decode_record(record, of))
    except (msgspec.DecodeError, ValueError, TypeError, AttributeError):
        return True
