"""get: reads parents again if new children show that they changed (`Tail.shows_change`).

A delta pass that lists all parents does not ask for all details of each parent that has new children: only of those
whose new children show a change, and of those whose new children it did not see.
"""

from __future__ import annotations

from collections.abc import Callable

from b24migrate.engine.phases.context import WALKED_AT_ONCE, Follow, RunContext, decode_readable
from b24migrate.engine.phases.delta import complete_pass, this_pass
from b24migrate.engine.phases.moved import find_moved_by
from b24migrate.engine.phases.parent_lanes import children_of
from b24migrate.engine.phases.pull_through import current_pass
from b24migrate.engine.phases.stage import stage
from b24migrate.model.readings import Gather, PerParent
from b24migrate.model.records import Job, Span, order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream

PARENTS = 500  # of a job


def seed(context: RunContext, scope: str, stream: Stream, which: int) -> list[Job]:
    reading = context.reading(stream, which)
    if not isinstance(reading, PerParent) or not (reading.tail and reading.tail.shows_change) or context.options.deep:
        return []
    of = context.streams[reading.of]
    if not this_pass(context, of, current_pass(context, of)).listed:
        return []
    keys = sorted(set(find_moved_by(context, of, {reading.tail.last})))
    parts = (keys[start : start + PARENTS] for start in range(0, len(keys), PARENTS))
    return [Job(scope, "read-parents", {"stream": stream.name, "which": which, "ids": some}) for some in parts]


def read_parents(context: RunContext, job: Job) -> Follow:
    stream = context.streams[job.args["stream"]]
    reading = context.reading(stream, int(job.args["which"]))
    assert isinstance(reading, PerParent)  # noqa: S101 (what `seed` looked at)
    of = context.streams[reading.of]
    parents = context.lookup(reading.of, job.args["ids"])
    shows_change = reading.tail.shows_change if reading.tail else None
    assert shows_change is not None  # noqa: S101 (likewise)
    stale = [
        parents[key]
        for key in job.args["ids"]
        if key in parents and is_stale(context, stream, children_of(reading, key), shows_change)
    ]
    listing = context.reading(of)
    if stale and isinstance(listing, Gather) and listing.fetch:
        rows = listing.fetch(context.source, stale, context.known(of))
        stage(context, of, list(rows.values()), pass_no=current_pass(context, of))
    return []


def is_stale(context: RunContext, stream: Stream, span: Span, shows_change: Callable[[SourceRecord], bool]) -> bool:
    """By the children that are new since the last complete pass; without any it is unknown."""
    since = complete_pass(context, stream) + 1
    seen = False
    while records := context.store.by_pass(stream.table, span, WALKED_AT_ONCE, pass_no=since, shown=True):
        some, seen = decode_readable(records, stream), True
        if len(some) < len(records) or any(map(shows_change, some)):
            return True
        span = span._replace(lo=order_key(records[-1].row_key))
    return not seen
