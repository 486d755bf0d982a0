"""set: records are sent without a linked record that the source does not show. It may appear later: the webhook's owner
got more rights, or an answer was wrong. Then the records that link to it are sent again.

The register `Deletions` holds the names of such records. When one of them is sent, that is noted there too, and the
second pass looks at the records that went without a link and have its number in their payload.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from b24migrate.engine.phases.compose import ComposedRecord
from b24migrate.engine.phases.context import WALKED_AT_ONCE, Follow, RunContext
from b24migrate.engine.phases.missed import ARRIVED, MISSED, numbers_in, seek_missed
from b24migrate.engine.phases.references import MISSING
from b24migrate.engine.phases.stage import mark_for_second_pass
from b24migrate.model.fields import Kind
from b24migrate.model.records import Job, Record, Span, Status, order_key
from b24migrate.model.streams import Entity, Stream
from b24migrate.ports import DELETIONS, RegisterRow

AWAITED = "awaited"
AT_ONCE = 500
LOST = frozenset({"references_dropped", "placeholders", "texts_unresolved"})


def note_awaited(context: RunContext, stream: Stream, composed: Iterable[ComposedRecord]) -> None:
    """Before they fail: those that cannot go without a record. It may have come to the source since its stream was
    read, so that a later pass reads it."""
    rows = [
        RegisterRow(f"{AWAITED}:{stream.name}:{one.record.row_key}", {"Reason": ":".join(one.awaits)})
        for one in composed
        if one.problem and one.awaits and not one.again
    ]
    if rows:
        context.store.write(DELETIONS, rows)


def seed_renewal(context: RunContext, scope: str, stream: Stream) -> list[Job]:
    waiting = context.store.some_rows(DELETIONS, f"{AWAITED}:{stream.name}:", "", 1)
    return [Job(scope, "renew", {"stream": stream.name, "after": ""})] if waiting else []


def renew(context: RunContext, job: Job) -> Follow:
    """Failed records are sent once more when what they cannot go without is on the target."""
    stream, after = context.streams[job.args["stream"]], str(job.args["after"])
    prefix = f"{AWAITED}:{stream.name}:"
    while rows := context.store.some_rows(DELETIONS, prefix, after, AT_ONCE):
        awaited: dict[str, dict[str, str]] = {}
        for row in rows:
            name, _, source_id = str(row.values["Reason"]).partition(":")
            awaited.setdefault(name, {})[row.key] = source_id
        there = {name: context.memory.links.target_ids(name, set(ids.values())) for name, ids in awaited.items()}
        found = [key for name, ids in awaited.items() for key, source_id in ids.items() if source_id in there[name]]
        context.store.renew(stream.table, code=MISSING, row_keys=[key.removeprefix(prefix) for key in found])
        context.store.discard(DELETIONS, found)
        after = rows[-1].key
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": after})]
    return []


def seed_freed(context: RunContext, scope: str, stream: Stream) -> list[Job]:
    code = stream.natural.code if stream.natural else ""
    failed = context.store.one_failed(stream.table, Status.IMPORT_ERR, code) if code else None
    return [Job(scope, "renew-freed", {"stream": stream.name})] if failed else []


def renew_freed(context: RunContext, job: Job) -> Follow:
    """Failed records are sent once more if another record had their unique value on the target: it may have got another
    one since, such as a user whose address passed to a colleague."""
    stream = context.streams[job.args["stream"]]
    code = stream.natural.code if stream.natural else ""
    failed = context.store.failed(stream.table, AT_ONCE, code=code)
    own = [one for one in failed if one.natural and context.store.holder(stream.table, one.natural) == one.row_key]
    keys = [one.row_key for one in own if one.status is Status.IMPORT_ERR and not one.deleted_utc]
    context.store.renew(stream.table, code=code, row_keys=keys)
    return []


def find_arrived(context: RunContext, stream: str) -> Iterator[list[str]]:
    """The names of those that are on the target, some at a time."""
    prefix, after = f"{ARRIVED}:{stream}:", ""
    while rows := context.store.some_rows(DELETIONS, prefix, after, AT_ONCE):
        if found := context.memory.links.target_ids(stream, [row.key.removeprefix(prefix) for row in rows]):
            yield list(found)
        after = rows[-1].key


def arrived_streams(context: RunContext) -> list[str]:
    names: list[str] = []
    after = ""
    while rows := context.store.some_rows(DELETIONS, f"{ARRIVED}:", after, 1):
        names.append(rows[0].key.split(":")[1])
        after = f"{ARRIVED}:{names[-1]};"  # behind all of its rows
    return names


def find_linked(context: RunContext, stream: Stream) -> list[str]:
    """The streams of which something arrived that it may link to: texts and custom fields link to records of any."""
    linked = {name for spec in stream.refs for name in spec.streams}
    to_any = bool(stream.custom.prefixes) or any(one.kind in (Kind.RICH, Kind.TREE) for one in stream.fields)
    return [name for name in arrived_streams(context) if to_any or name in linked]


def seed(context: RunContext, scope: str, stream: Stream) -> list[Job]:
    """A job if anything arrived that records of the stream may name."""
    seek_missed(context)
    arrived = any(keys for name in find_linked(context, stream) for keys in find_arrived(context, name))
    return [Job(scope, "find-holders", {"stream": stream.name, "after": ""})] if arrived else []


def find_holders(context: RunContext, job: Job) -> Follow:
    stream, after = context.streams[job.args["stream"]], str(job.args["after"])
    arrived = (key for name in find_linked(context, stream) for keys in find_arrived(context, name) for key in keys)
    numbers = frozenset(key.rpartition(":")[2].encode() for key in arrived)
    while records := context.store.records(stream.table, Span(after), WALKED_AT_ONCE):
        ends = [order_key(one.row_key) for one in records if may_name(one, numbers)]
        mark_for_second_pass(context, stream, ends)
        after = order_key(records[-1].row_key)
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": after})]
    return []


def may_name(record: Record, numbers: frozenset[bytes]) -> bool:
    """It was sent without a link, and has one of these numbers. One that the source does not show now may come back."""
    if record.status is not Status.IMPORT_OK or LOST.isdisjoint(record.losses):
        return False
    return not numbers.isdisjoint(numbers_in(record))


def forget_arrived(context: RunContext, job: Job) -> Follow:
    """After the second pass, for the streams whose holders were all looked at."""
    entities = [one for one in context.entities if one.name in job.args["entities"]]
    left = [one for one in context.entities if one not in entities and is_staged(context, one)]
    waiting = {name for one in left for stream in one.streams for name in find_linked(context, stream)}
    done = {name for one in entities for stream in one.streams for name in find_linked(context, stream)}
    for name in sorted(done - waiting):
        for keys in find_arrived(context, name):
            context.store.discard(DELETIONS, [f"{kind}:{name}:{key}" for key in keys for kind in (MISSED, ARRIVED)])
            context.memory.missed.forget((name, key) for key in keys)
    return []


def is_staged(context: RunContext, entity: Entity) -> bool:
    return any(sum(context.store.counts(stream.table).values()) for stream in entity.streams)
