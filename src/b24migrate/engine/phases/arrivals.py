"""set: records are sent without a linked record that the source does not show. It may appear later: the webhook's owner
got more rights, or an answer was wrong. Then the records that link to it are sent again.

The register `Deletions` holds the names of such records. When one of them is on the target, the second pass
looks at the records that were sent without a link and have its number in their payload.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from b24migrate.engine.phases.context import WALKED_AT_ONCE, Follow, RunContext
from b24migrate.engine.phases.removal import NUMBER
from b24migrate.engine.phases.stage import mark_for_second_pass
from b24migrate.model.records import Job, Record, Span, Status, order_key
from b24migrate.model.streams import Entity, Stream
from b24migrate.ports import DELETIONS, RegisterRow

MISSED = "missed"
AT_ONCE = 500
LOST = frozenset({"references_dropped", "placeholders"})


def note_missed(context: RunContext, named: Iterable[tuple[str, str]]) -> None:
    """Before the records that lack these are sent."""
    new = context.memory.missed.find_new(named)
    if new:
        context.store.write(DELETIONS, [RegisterRow(f"{MISSED}:{stream}:{key}", {}) for stream, key in new])
        context.memory.missed.add(new)


def find_arrived(context: RunContext, stream: str) -> Iterator[list[str]]:
    """The names of those that are on the target, some at a time."""
    prefix, after = f"{MISSED}:{stream}:", ""
    while rows := context.store.some_rows(DELETIONS, prefix, after, AT_ONCE):
        if found := context.memory.links.target_ids(stream, [row.key.removeprefix(prefix) for row in rows]):
            yield list(found)
        after = rows[-1].key


def named_streams(stream: Stream) -> list[str]:
    return sorted({name for spec in stream.refs for name in spec.streams})


def has_missed(context: RunContext) -> bool:
    return bool(context.store.some_rows(DELETIONS, f"{MISSED}:", "", 1))


def seed(context: RunContext, scope: str, stream: Stream) -> list[Job]:
    """A job if anything arrived that records of the stream may name."""
    if not has_missed(context):
        return []
    arrived = any(keys for name in named_streams(stream) for keys in find_arrived(context, name))
    return [Job(scope, "find-holders", {"stream": stream.name, "after": ""})] if arrived else []


def find_holders(context: RunContext, job: Job) -> Follow:
    stream, after = context.streams[job.args["stream"]], str(job.args["after"])
    arrived = (key for name in named_streams(stream) for keys in find_arrived(context, name) for key in keys)
    numbers = frozenset(key.rpartition(":")[2].encode() for key in arrived)
    while records := context.store.records(stream.table, Span(after), WALKED_AT_ONCE):
        ends = [order_key(one.row_key) for one in records if may_name(one, numbers)]
        mark_for_second_pass(context, stream, ends)
        after = order_key(records[-1].row_key)
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": after})]
    return []


def may_name(record: Record, numbers: frozenset[bytes]) -> bool:
    """It was sent without a link, and has one of these numbers in its payload or extras."""
    if record.status is not Status.IMPORT_OK or record.deleted_utc or LOST.isdisjoint(record.losses):
        return False
    return not numbers.isdisjoint(NUMBER.findall(record.payload + (record.extras or b"")))


def forget_arrived(context: RunContext, job: Job) -> Follow:
    """After the second pass, for the streams whose holders were all looked at."""
    entities = [one for one in context.entities if one.name in job.args["entities"]]
    left = [one for one in context.entities if one not in entities and is_staged(context, one)]
    waiting = {name for one in left for stream in one.streams for name in named_streams(stream)}
    for name in sorted(
        {name for one in entities for stream in one.streams for name in named_streams(stream)} - waiting
    ):
        for keys in find_arrived(context, name):
            context.store.discard(DELETIONS, [f"{MISSED}:{name}:{key}" for key in keys])
    return []


def is_staged(context: RunContext, entity: Entity) -> bool:
    return any(sum(context.store.counts(stream.table).values()) for stream in entity.streams)
