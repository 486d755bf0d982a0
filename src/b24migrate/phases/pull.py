"""Pull-through: with a test limit, what the first records refer to beyond it is read too, and marked."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from b24migrate.errors import Permanent
from b24migrate.phases import values
from b24migrate.phases.read import enriched, stage
from b24migrate.phases.work import Follow, Work, seen, viewed
from b24migrate.ports import ENTITIES_STATE
from b24migrate.records import Job, Json, Page, Record, Row, Span, Status, order_key
from b24migrate.streams import ABSENT, Each, Field, Kind, Listing, Seen, Stream

LOOKED_AT = 200


def pull(work: Work, job: Job) -> Follow:
    """Walks a limited stream; what it misses is fetched and staged, and then walked in its turn."""
    stream = work.streams[job.args["stream"]]
    records = work.store.records(stream.table, Span(job.args["after"]), LOOKED_AT)
    pulled = {name: _fetch(work, work.streams[name], ids) for name, ids in _wanted(work, stream, records).items()}
    jobs = [_walk(job, name) for name, count in pulled.items() if count]
    if len(records) == LOOKED_AT:
        jobs.append(Job(job.scope, "pull", {**job.args, "after": order_key(records[-1].row_key)}))
    return jobs


def _walk(job: Job, stream: str) -> Job:
    """From the beginning again: what was pulled may lie anywhere, and what it refers to may be missing too."""
    return Job(job.scope, "pull", {"stream": stream, "after": "", "round": int(job.args.get("round", 0)) + 1})


def _wanted(work: Work, stream: Stream, records: list[Record]) -> dict[str, set[str]]:
    wanted: dict[str, set[str]] = {}
    for record in records:
        one = seen(record, stream)
        for field in stream.refs:
            if field.when is not None and not field.when(one):
                continue
            for name, source_id in named(field, one):
                wanted.setdefault(name, set()).add(source_id)
    return {name: missing for name, ids in wanted.items() if (missing := _missing(work, name, ids))}


def _missing(work: Work, name: str, ids: set[str]) -> set[str]:
    stream = work.streams.get(name)
    if stream is None or stream.fetch is None:
        return set()
    if stream.by_natural:
        return {one for one in ids if work.store.holder(stream.table, one) is None}
    return ids - work.store.known(stream.table, sorted(ids))


class Overheard:
    """Resolves every id to itself and remembers which were asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, stream: str, source_id: str) -> str:
        self.asked.append((stream.partition(".")[0], source_id))
        return source_id

    def field(self, code: str) -> str | None:
        return code

    def missed(self, what: str) -> None:
        pass


def named(field: Field, one: Seen) -> list[tuple[str, str]]:
    """The records that a field names: stream and id."""
    value = field.take(one) if field.take else one.payload.get(field.name)
    if value is ABSENT:
        return []
    if field.to:
        return [(field.to, source_id) for source_id in values.references(value) if source_id not in field.keep]
    heard = Overheard()
    parts = value.items() if isinstance(value, dict) and field.kind is Kind.FAMILY else listed(value)
    for part in parts if field.code is not None else ():
        field.code(one, part, heard)  # type: ignore[misc]
    return heard.asked


def listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _fetch(work: Work, stream: Stream, ids: set[str]) -> int:
    """What the source does not have either stays missing, and the reference's policy decides."""
    if stream.fetch is None:
        return 0
    rows = stream.fetch(work.source, [Seen(source_id, {}, {}) for source_id in sorted(ids)], work.known(stream))
    return stage(work, stream, completed(work, stream, list(rows.values())), pass_no=pass_of(work, stream), pulled=True)


def completed(work: Work, stream: Stream, rows: list[Row]) -> list[Row]:
    """With what other methods say about them, as when the stream is read."""
    reading = work.reading(stream)
    if isinstance(reading, Listing):
        return enriched(work, stream, reading, Page(rows=rows)).rows
    if not isinstance(reading, Each):
        return rows
    done: list[Row] = []
    for prefix in sorted({row.source_id.partition(":")[0] for row in rows}):
        mine = [
            row._replace(source_id=row.source_id.partition(":")[2])
            for row in rows
            if row.source_id.startswith(f"{prefix}:")
        ]
        of = work.streams[reading.of]
        parent = (work.store.holder(of.table, prefix) if of.by_natural else prefix) or ""
        known = work.lookup(reading.of, [parent])
        if parent in known:
            mine = enriched(work, stream, reading.listing(known[parent]), Page(rows=mine)).rows
        done += [row._replace(source_id=f"{prefix}:{row.source_id}") for row in mine]
    return done


def bring(work: Work, stream: Stream, ids: set[str]) -> list[Record]:
    """Fetches and stages records that were not there when their stream was read; returns those that wait to be sent."""
    _fetch(work, stream, ids)
    found = work.store.get(stream.table, sorted(ids))
    work.gone.add(stream.name, ids - found.keys())
    return [record for record in found.values() if record.status in (Status.NEW, Status.ERROR_RETRY)]


def look_for(work: Work, named: Iterable[tuple[str, str]]) -> None:
    """Remembers which of the records, by stream and id, the source does not have."""
    wanted: dict[str, set[str]] = {}
    for name, source_id in named:
        wanted.setdefault(name, set()).add(source_id)
    for name, ids in wanted.items():
        stream = work.streams[name]
        if stream.fetch is not None:
            asked = [Seen(source_id, {}, {}) for source_id in sorted(ids)]
            with suppress(Permanent):  # a portal without the method tells nothing
                rows = stream.fetch(work.source, asked, work.known(stream))
                there = {source_id for source_id, row in rows.items() if not is_excluded(stream, row)}
                work.gone.add(name, ids - there)


def is_excluded(stream: Stream, row: Row) -> bool:
    """Records excluded by a rule will never be on the target: no link waits for them."""
    if stream.exclude is None:
        return False
    return stream.exclude(Seen(row.source_id, viewed(stream, row.payload), row.extras or {})) is not None


def pass_of(work: Work, stream: Stream) -> int:
    """The number of the entity's latest pass over the source."""
    row = work.store.read(ENTITIES_STATE, work.owner[stream.name].name)
    return int(((row.values.get("Counts") if row else None) or {}).get("pass", 0))
