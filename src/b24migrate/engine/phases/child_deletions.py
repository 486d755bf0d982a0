"""get: finds deleted children in a delta pass, which reads the lists of some parents only.

It looks for staged children of these parents that their lists did not show. The lists are read again, to an end that
is proven; what is still not there is deleted. Children of a deleted parent are deleted with it.
"""

from __future__ import annotations

from collections.abc import Iterator

from b24migrate.engine.phases import deletions, tails
from b24migrate.engine.phases.context import Follow, RunContext, walk
from b24migrate.engine.phases.deletions import LOOKED_AT, Family
from b24migrate.engine.phases.moved import next_parents
from b24migrate.engine.phases.parent_lanes import children_of
from b24migrate.engine.phases.stage import checkpoint_row
from b24migrate.model.readings import PerParent
from b24migrate.model.records import Job, Record, order_key
from b24migrate.model.streams import Stream
from b24migrate.ports import CHECKPOINTS

PARENTS_AT_ONCE = 500


def seed(context: RunContext, scope: str, kind: str, stream: Stream, pass_no: int) -> list[Job]:
    """A job for each of the stream's readings."""
    if stream.deletions.unprovable:
        return []
    more = [which for which, reading in enumerate(stream.more, 1) if context.suits(reading)]
    args = {"stream": stream.name, "pass": pass_no, "after": ""}
    return [Job(scope, kind, {**args, "which": which}) for which in (0, *more)]


def seek(context: RunContext, job: Job) -> Follow:
    stream, pass_no = context.streams[job.args["stream"]], int(job.args["pass"])
    parents, onward = _next_parents(context, job, stream)
    for one in parents:
        if one.deleted_utc:
            _mark_children(context, job, stream, one)
    unshown = [
        one for one in find_unshown(context, job, stream, parents) if deletions.is_parent_shown(context, stream, one)
    ]
    if deletions.is_reread(context, stream):
        return [*deletions.reread_jobs(context, job, stream, unshown), *onward]
    for start in range(0, len(unshown), deletions.ASKED):
        some = [one.record for one in unshown[start : start + deletions.ASKED]]
        deletions.ask_all(context, stream, some, pass_no)
    return onward


def judge(context: RunContext, job: Job) -> Follow:
    """After the lists were read again: what is still not there is deleted."""
    stream, pass_no = context.streams[job.args["stream"]], int(job.args["pass"])
    parents, onward = _next_parents(context, job, stream)
    by_state: dict[str, list[Record]] = {}
    for one in find_unshown(context, job, stream, parents):
        shown = deletions.is_parent_shown(context, stream, one)
        if one.parent and shown and deletions.lists_of(context, stream, one):
            by_state.setdefault(deletions.judge_one(context, stream, one.parent, pass_no), []).append(one.record)
    deletions.write_judged(context, stream, by_state)
    return [] if deletions.is_too_many(context, stream, pass_no) else onward


def _next_parents(context: RunContext, job: Job, stream: Stream) -> tuple[list[Record], list[Job]]:
    after = str(job.args["after"])
    parents, after = next_parents(context, stream, _reading(context, job, stream), after, PARENTS_AT_ONCE)
    return parents, [Job(job.scope, job.kind, {**job.args, "after": after})] if after else []


def _reading(context: RunContext, job: Job, stream: Stream) -> PerParent:
    reading = context.reading(stream, int(job.args["which"]))
    assert isinstance(reading, PerParent)  # noqa: S101 (what a delta of children is chosen for)
    return reading


def find_unshown(context: RunContext, job: Job, stream: Stream, parents: list[Record]) -> Iterator[Family]:
    """Children that this pass did not show, of parents that are there."""
    reading, pass_no = _reading(context, job, stream), int(job.args["pass"])
    keys = [parent.row_key for parent in parents]
    whole = tails.read_whole(context, stream, keys, pass_no) if reading.tail else set(keys)
    for parent in parents:
        if not parent.deleted_utc and parent.row_key in whole:
            span = children_of(reading, parent.row_key)
            while records := context.store.by_pass(stream.table, span, LOOKED_AT, pass_no=pass_no, shown=False):
                yield from (Family(one, parent) for one in records)
                span = span._replace(lo=order_key(records[-1].row_key))


def _mark_children(context: RunContext, job: Job, stream: Stream, parent: Record) -> None:
    span = children_of(_reading(context, job, stream), parent.row_key)
    left = [one.row_key for one in walk(context, stream.table, span) if not one.deleted_utc]
    deletions.mark_records(context, stream, left)
    key = f"{stream.name}:{parent.row_key}"
    if context.store.read(CHECKPOINTS, key) is not None:
        context.store.write(CHECKPOINTS, [checkpoint_row(key, job.args["pass"], 0, 0)])
