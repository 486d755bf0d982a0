"""Pull-through: with a test limit, what the first records refer to beyond it is read too, and marked."""

from __future__ import annotations

from b24migrate.phases import values
from b24migrate.phases.read import stage
from b24migrate.phases.work import Follow, Work, seen
from b24migrate.ports import ENTITIES_STATE
from b24migrate.records import Job, Record, Span, order_key
from b24migrate.streams import Seen, Stream

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
        one = seen(record)
        for field in stream.refs:
            if field.when is not None and not field.when(one):
                continue
            value = field.take(one) if field.take else one.payload.get(field.name)
            ids = {source_id for source_id in values.references(value) if source_id not in field.keep}
            wanted.setdefault(field.to, set()).update(ids)
    return {
        name: missing
        for name, ids in wanted.items()
        if name in work.streams
        and work.streams[name].fetch is not None
        and (missing := ids - work.store.known(work.streams[name].table, sorted(ids)))
    }


def _fetch(work: Work, stream: Stream, ids: set[str]) -> int:
    """What the source does not have either stays missing, and the reference's policy decides."""
    if stream.fetch is None:
        return 0
    rows = stream.fetch(work.source, [Seen(source_id, {}, {}) for source_id in sorted(ids)], work.lookup)
    return stage(work, stream, list(rows.values()), pass_no=pass_of(work, stream), pulled=True)


def pass_of(work: Work, stream: Stream) -> int:
    """The number of the entity's latest pass over the source."""
    row = work.store.read(ENTITIES_STATE, work.owner[stream.name].name)
    return int(((row.values.get("Counts") if row else None) or {}).get("pass", 0))
