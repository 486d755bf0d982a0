"""get: notes the results of a delta pass when the reading of an entity ends, before anything of it is sent.

After the freeze it also notes the users who wrote. A record counts as written after the freeze if its own time is
later, or if the pass before started after the freeze: then every found record was written since, even if the portal
shows no time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from b24migrate.engine.phases.context import WALKED_AT_ONCE, RunContext, decode_readable
from b24migrate.engine.phases.cutover_state import end_quiet, read_cutover
from b24migrate.engine.phases.delta import MARK, count_changes
from b24migrate.model import values
from b24migrate.model.records import Json, Span, Status, order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Entity, Stream
from b24migrate.ports import DELTAS, PASSES, RegisterRow, Store

UNKNOWN = ""  # the user, where the portal does not show who it was
FILES = "files"
RUNS_KEPT = 40


class Writer(NamedTuple):
    """How many records a user wrote after the freeze, and the time of the last one; "" where it is not known."""

    user: str
    records: int
    last: str


class Found(NamedTuple):
    """The records of one type that a delta run found."""

    stream: str
    changed: int
    deleted: int
    writers: tuple[Writer, ...]

    @property
    def total(self) -> int:
        return self.changed + self.deleted


def note_found(context: RunContext, entity: Entity) -> None:
    """Repeated after a kill it notes the same."""
    if not context.options.delta:
        end_quiet(context.store, context.run)
        return
    since = read_cutover(context.store).watched_since
    now = values.utc_text(context.clock.now())
    rows = [describe_stream(context, stream, since, now) for stream in entity.streams]
    rows += [describe_aid(context, aid, now) for aid in entity.aids]
    rows.append(describe_files(context, now))
    context.store.write(DELTAS, rows)
    if any(_decode(row).total for row in rows):
        end_quiet(context.store, context.run)


def describe_stream(context: RunContext, stream: Stream, since: str, now: str) -> RegisterRow:
    changed, deleted = count_changes(context, stream)
    writers = list_writers(context, stream, since, deleted) if since and changed + deleted else []
    return found_row(
        context, stream.name, now, Changed=changed, Deleted=deleted, Writers=[list(one) for one in writers]
    )


def describe_aid(context: RunContext, aid: Stream, now: str) -> RegisterRow:
    """It is never sent, so all of it is NEW: what counts is how many there were after the run before."""
    staged = sum(context.store.counts(aid.table).values())
    earlier = [row for row in context.store.rows(DELTAS) if row.key.rpartition(":")[2] == aid.name]
    before = [row for row in earlier if row.key != f"{context.run}:{aid.name}"]
    known = int(max(before, key=lambda row: str(row.values["AtUtc"])).values["Staged"] or 0) if before else staged
    return found_row(context, aid.name, now, Changed=max(0, staged - known), Deleted=0, Staged=staged)


def describe_files(context: RunContext, now: str) -> RegisterRow:
    """They belong to several entities, and some may be sent already: the most that waited counts."""
    counts = context.store.counts(context.streams[FILES].table)
    before = context.store.read(DELTAS, f"{context.run}:{FILES}")
    waiting = counts[Status.NEW] + counts[Status.ERROR_RETRY]
    return found_row(
        context, FILES, now, Changed=max(waiting, int(before.values["Changed"]) if before else 0), Deleted=0
    )


def found_row(context: RunContext, name: str, now: str, **columns: Json) -> RegisterRow:
    return RegisterRow(f"{context.run}:{name}", {"AtUtc": now, **columns})


def list_writers(context: RunContext, stream: Stream, since: str, deleted: int) -> list[Writer]:
    """The busiest first."""
    began = datetime.fromisoformat(since)
    certain = previous_mark(context.store, stream) >= began
    found: dict[str, Writer] = {}
    for record in waiting_records(context, stream):
        user, at = last_writer(context, stream, record)
        if not certain and (at is None or at < began):
            continue
        if at is None or at < began:  # that user wrote it before: another one may have changed it since
            user, shown = user if at is None else UNKNOWN, ""
        else:
            shown = values.utc_text(at)
        before = found.get(user, Writer(user, 0, ""))
        found[user] = Writer(user, before.records + 1, max(before.last, shown))
    if deleted and certain:
        before = found.get(UNKNOWN, Writer(UNKNOWN, 0, ""))
        found[UNKNOWN] = before._replace(records=before.records + deleted)
    return sorted(found.values(), key=lambda one: (-one.records, one.user))


def previous_mark(store: Store, stream: Stream) -> datetime:
    """The start of the pass before this one, because the marks are written when the whole run is read."""
    row = store.read(PASSES, f"{MARK}:{stream.name}")
    return datetime.fromisoformat(row.values["MarkUtc"] if row else "0001-01-01T00:00:00+00:00")


def waiting_records(context: RunContext, stream: Stream) -> Iterator[SourceRecord]:
    span = Span()
    while moments := context.store.moments(stream.table, span, WALKED_AT_ONCE):
        keys = [key for key, _ in moments]
        yield from decode_readable(context.store.get(stream.table, keys).values(), stream)
        span = Span(order_key(keys[-1]))


def last_writer(context: RunContext, stream: Stream, record: SourceRecord) -> tuple[str, datetime | None]:
    """By the latest of its times."""
    user, latest = UNKNOWN, None
    for one in stream.written:
        written = values.moment(record.payload.get(one.at), context.options.timezone)
        if written is None or (latest is not None and written.utc < latest):
            continue
        by = record.payload.get(one.by) if isinstance(one.by, str) else one.by(record)
        user, latest = str(by or UNKNOWN) if isinstance(by, str | int) else UNKNOWN, written.utc
    return user, latest


# ---------------------------------------------------------------- what was noted


def read_found(store: Store, run: str) -> list[Found]:
    """In order of name."""
    return [_decode(row) for row in store.rows(DELTAS, f"{run}:")]


def _decode(row: RegisterRow) -> Found:
    columns: Mapping[str, Json] = row.values
    writers = tuple(Writer(str(user), int(count), str(last)) for user, count, last in columns.get("Writers") or ())
    return Found(row.key.rpartition(":")[2], int(columns["Changed"] or 0), int(columns["Deleted"] or 0), writers)


def forget_old_runs(store: Store) -> None:
    """The ID of a run starts with its time."""
    runs = sorted({row.key.rpartition(":")[0] for row in store.rows(DELTAS)})
    for run in runs[:-RUNS_KEPT]:
        store.erase(DELTAS, f"{run}:")
