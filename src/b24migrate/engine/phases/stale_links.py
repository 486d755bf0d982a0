"""get: reads records again that named a record which is deleted now.

A portal removes a deleted company or contact from the records that named it, and changes no date of theirs. So a delta
pass that found one deleted walks the staged records of the streams that may name it (`Field.undated`) and reads those
that do by id. A full pass does the same with those that it had read before: the deletion may have come in between.
"""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.engine.phases.context import WALKED_AT_ONCE, Follow, RunContext, decode_readable
from b24migrate.engine.phases.count_ranges import READ_AT_ONCE, read_again
from b24migrate.engine.phases.moved import find_gone
from b24migrate.engine.phases.pull_through import current_pass, links_of_field
from b24migrate.messages import say
from b24migrate.model.records import Job, Span, Status, order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.model.values import OddValue


def seed(context: RunContext, scope: str, stream: Stream, named_by: Sequence[Stream]) -> list[Job]:
    if not named_by or not find_gone(context, stream):
        return []
    args = {"of": stream.name, "after": ""}
    return [Job(scope, "refer", {**args, "stream": one.name}) for one in named_by]


def refer(context: RunContext, job: Job) -> Follow:
    stream, of = context.streams[job.args["stream"]], context.streams[job.args["of"]]
    gone, after = find_gone(context, of), str(job.args["after"])
    found: list[str] = []
    while True:
        records = context.store.records(stream.table, Span(after), WALKED_AT_ONCE)
        alive = decode_readable([one for one in records if not one.deleted_utc], stream)
        found += [one.id for one in alive if names_any(stream, of, one, gone)]
        if len(found) >= READ_AT_ONCE:
            read_again(context, stream, found, current_pass(context, stream))
            found = []
        after = order_key(records[-1].row_key) if len(records) == WALKED_AT_ONCE else ""
        if not after or context.time_is_up():
            break
    read_again(context, stream, found, current_pass(context, stream))
    if not after:
        note_unsent(context, stream)
    return [Job(job.scope, job.kind, {**job.args, "after": after})] if after else []


def note_unsent(context: RunContext, stream: Stream) -> None:
    """A run without their entity leaves them to the next one."""
    entity = context.owner[stream.name].name
    if entity not in context.options.planned and (waiting := context.store.counts(stream.table)[Status.NEW]):
        context.note(entity, say("note.unsent", stream=stream.name, count=waiting, entity=entity.replace("_", "-")))


def names_any(stream: Stream, of: Stream, one: SourceRecord, ids: set[str]) -> bool:
    """Whether the record links to one of the IDs. A record that cannot be parsed has no links; its error is reported
    when it is sent."""
    try:
        return any(
            name == of.name and source_id in ids
            for field in stream.fields
            if field.undated and of.name in field.streams
            for name, source_id in links_of_field(field, one)
        )
    except (OddValue, ValueError, TypeError, AttributeError, KeyError):
        return False
