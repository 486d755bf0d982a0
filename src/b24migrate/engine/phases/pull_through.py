"""Pull-through: with a test limit, what the first records refer to beyond it is read too, and marked."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from b24migrate.engine.phases.bug import unexpected
from b24migrate.engine.phases.context import Follow, RunContext, decode_payload, decode_readable
from b24migrate.engine.phases.enrichment import enrich_rows
from b24migrate.engine.phases.read_children import GENTLY_AFTER
from b24migrate.engine.phases.stage import stage
from b24migrate.model import values
from b24migrate.model.errors import MigrationError, Permanent, Transient
from b24migrate.model.fields import ABSENT, Field, Kind, Unresolved
from b24migrate.model.readings import Each, Listing, PerParent
from b24migrate.model.records import Job, Json, Record, Row, Span, Status, order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import ENTITIES_STATE

LOOKED_AT = 200


def pull(context: RunContext, job: Job) -> Follow:
    """Walks a limited stream; what it misses is fetched and staged, and then walked in its turn."""
    stream = context.streams[job.args["stream"]]
    records = context.store.records(stream.table, Span(job.args["after"]), LOOKED_AT)
    gently = job.failures >= GENTLY_AFTER
    wanted = _missing_links(context, stream, records)
    pulled = {name: _fetch(context, context.streams[name], ids, gently=gently) for name, ids in wanted.items()}
    jobs = [_walk(job, name) for name, count in pulled.items() if count]
    if len(records) == LOOKED_AT:
        jobs.append(Job(job.scope, "pull", {**job.args, "after": order_key(records[-1].row_key)}))
    return jobs


def _walk(job: Job, stream: str) -> Job:
    """From the beginning again: what was pulled may lie anywhere, and what it refers to may be missing too."""
    return Job(job.scope, "pull", {"stream": stream, "after": "", "round": int(job.args.get("round", 0)) + 1})


def _missing_links(context: RunContext, stream: Stream, records: list[Record]) -> dict[str, set[str]]:
    wanted: dict[str, set[str]] = {}
    for one in decode_readable(records, stream):
        for name, source_id in _links_of_record(context, stream, one):
            wanted.setdefault(name, set()).add(source_id)
    return {name: missing for name, ids in wanted.items() if (missing := _not_staged(context, name, ids))}


def _links_of_record(context: RunContext, stream: Stream, one: SourceRecord) -> list[tuple[str, str]]:
    """Errors of a record are reported when it is sent. Here it only has no references."""
    try:
        return [
            found
            for field in stream.refs
            if field.when is None or field.when(one)
            for found in links_of_field(field, one)
        ]
    except values.OddValue:
        return []
    except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
        unexpected(context, bug, context.owner[stream.name].name, f"{stream.name} {one.id}")
        return []


def _not_staged(context: RunContext, name: str, ids: set[str]) -> set[str]:
    stream = context.streams.get(name)
    if stream is None or stream.fetch is None or _is_left_out(context, name):
        return set()
    if stream.by_natural:
        return {one for one in ids if context.store.holder(stream.table, one) is None}
    return ids - context.store.known(stream.table, sorted(ids))


def _is_left_out(context: RunContext, stream: str) -> bool:
    owner = context.owner.get(stream)
    return owner is not None and owner.optional and owner.name not in context.options.planned


class LinkRecorder:
    """Resolves every ID to itself and collects the requested ones."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, stream: str, source_id: str) -> str:
        self.asked.append((stream.partition(".")[0], source_id))
        return source_id

    def field(self, code: str) -> str | None:
        return code

    def missed(self, what: str) -> None:
        pass


def links_of_field(field: Field, one: SourceRecord) -> list[tuple[str, str]]:
    """The records that a field names: stream and id."""
    value = field.take(one) if field.take else one.payload.get(field.name)
    if value is ABSENT:
        return []
    if field.to:
        return [(field.to, source_id) for source_id in values.references(value) if source_id not in field.keep]
    if field.kind is Kind.ROWS:
        keyed = [
            (stream, values.reference(row.get(key))) for row in as_list(value) for key, stream in field.inside.items()
        ]
        return [(stream, source_id) for stream, source_id in keyed if source_id is not None]
    heard = LinkRecorder()
    parts = value.items() if isinstance(value, dict) and field.kind is Kind.FAMILY else as_list(value)
    for part in parts if field.code is not None else ():
        with suppress(Unresolved):  # of a type that no entity has
            field.code(one, part, heard)  # type: ignore[misc]
    return heard.asked


def as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _fetch(
    context: RunContext,
    stream: Stream,
    ids: set[str],
    *,
    gently: bool = False,
    needed: frozenset[str] = frozenset(),
) -> int:
    """Records that the source does not have either stay missing, and the reference's policy decides."""
    if stream.fetch is None:
        return 0
    rows = stream.fetch(
        context.source, [SourceRecord(source_id, {}, {}) for source_id in sorted(ids)], context.known(stream)
    )
    whole = complete_rows(context, stream, list(rows.values()), gently=gently)
    return stage(context, stream, whole, pass_no=current_pass(context, stream), pulled=True, needed=needed)


def complete_rows(context: RunContext, stream: Stream, rows: list[Row], *, gently: bool = False) -> list[Row]:
    """With what other methods say about them, as when the stream is read."""
    reading = context.reading(stream)
    if isinstance(reading, Listing | PerParent):
        return enrich_rows(context, stream, reading, rows, gently=gently)
    if not isinstance(reading, Each):
        return rows
    done: list[Row] = []
    for prefix in sorted({row.source_id.partition(":")[0] for row in rows}):
        mine = [
            row._replace(source_id=row.source_id.partition(":")[2])
            for row in rows
            if row.source_id.startswith(f"{prefix}:")
        ]
        of = context.streams[reading.of]
        parent = (context.store.holder(of.table, prefix) if of.by_natural else prefix) or ""
        known = context.lookup(reading.of, [parent])
        if parent in known:
            mine = enrich_rows(context, stream, reading.listing(known[parent]), mine, gently=gently)
        done += [row._replace(source_id=f"{prefix}:{row.source_id}") for row in mine]
    return done


def pull_records(
    context: RunContext, stream: Stream, ids: set[str], *, needed: frozenset[str] = frozenset()
) -> tuple[list[Record], dict[str, MigrationError]]:
    """Fetches and stages records that were not there when their stream was read; returns those that wait to be sent,
    and why some could not be fetched. `needed`: no rule leaves these out."""
    failed = _pull(context, stream, ids, needed)
    found = context.store.get(stream.table, sorted(ids))
    missing = ids - found.keys() - failed.keys()
    context.memory.gone.add(stream.name, missing)
    context.memory.gone.add(f"{stream.name}!", missing & needed)
    waiting = [record for record in found.values() if record.status in (Status.NEW, Status.ERROR_RETRY)]
    return waiting, {one: error for one, error in failed.items() if one not in found}


def _pull(context: RunContext, stream: Stream, ids: set[str], needed: frozenset[str]) -> dict[str, MigrationError]:
    """Returns those that failed. They are requested together first; then each failed one alone, so that it does not
    fail others."""
    try:
        _fetch(context, stream, ids, gently=True, needed=needed)
    except (Permanent, Transient) as error:
        if isinstance(error, Transient) and not error.own:
            raise
        failure: MigrationError = error
    except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
        failure = unexpected(
            context, bug, context.owner[stream.name].name, f"{stream.name} {', '.join(sorted(ids)[:3])}"
        )
    else:
        return {}
    if len(ids) == 1:
        return dict.fromkeys(ids, failure)
    return {key: error for one in sorted(ids) for key, error in _pull(context, stream, {one}, needed).items()}


def pull_new_records(context: RunContext, named: Iterable[tuple[str, str]]) -> None:
    """Remembers which of the records, by stream and id, the source does not have. Several lanes may miss the same ones
    at the same time: they are requested once."""
    wanted: dict[str, set[str]] = {}
    for name, source_id in named:
        wanted.setdefault(name, set()).add(source_id)
    for name, missed in wanted.items():
        stream = context.streams[name]
        with context.memory.asking:
            ids = {one for one in missed if not context.memory.gone.knows(name, one)}
            if stream.fetch is None or not ids:
                continue
            asked = [SourceRecord(source_id, {}, {}) for source_id in sorted(ids)]
            with suppress(Permanent):  # a portal without the method shows nothing
                rows = stream.fetch(context.source, asked, context.known(stream))
                there = {source_id for source_id, row in rows.items() if not is_excluded(stream, row)}
                context.memory.gone.add(name, ids - there)


def is_excluded(stream: Stream, row: Row) -> bool:
    """Records excluded by a rule will never be on the target: no link waits for them."""
    if stream.exclude is None:
        return False
    return (
        stream.exclude(SourceRecord(row.source_id, decode_payload(stream, row.payload), row.extras or {})) is not None
    )


def current_pass(context: RunContext, stream: Stream) -> int:
    """The number of the entity's latest pass over the source."""
    row = context.store.read(ENTITIES_STATE, context.owner[stream.name].name)
    return int(((row.values.get("Counts") if row else None) or {}).get("pass", 0))
