"""Lanes: consecutive ranges of a table that are processed in parallel, each in order.

A lane's job takes the next pending records behind `at`; the next job of the lane continues behind them. Records that
cannot be sent yet (a retry that is not due, a record that waits for its parent) wait for the next round of the lane.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from b24migrate.engine.phases.context import Follow, Later, RunContext
from b24migrate.model.records import Job, Json, Record, Span, Status, order_key
from b24migrate.model.streams import Stream

LANES_PER_WORKER = 2
LONGEST = 2_000


def thread_count(workers: int) -> int:
    """How many jobs are done at a time: one more than calls, to prepare the next while they are under way."""
    return workers + 1


def seed(
    context: RunContext, scope: str, kind: str, stream: Stream, *, pending: bool = True, every: int = 0, **args: Json
) -> list[Job]:
    """One job for each lane of the stream's table; none when nothing is pending."""
    spans = lane_spans(context, stream, every or lane_length(context, stream, pending=pending), pending=pending)
    return [Job(scope, kind, {"stream": stream.name, "lo": span.lo, "hi": span.hi, **args}) for span in spans]


def lane_spans(context: RunContext, stream: Stream, size: int, *, pending: bool) -> list[Span]:
    return context.store.cuts(stream.table, Span(), size, whole_parents=stream.ordered, pending=pending)


def lane_length(context: RunContext, stream: Stream, *, pending: bool) -> int:
    """So many records that there are some lanes for every worker, and none is long."""
    counts = context.store.counts(stream.table)
    records = count_pending(counts) if pending else sum(counts.values())
    return min(LONGEST, share_of(context, stream, records, LANES_PER_WORKER * context.options.workers))


def length_for_each_worker(context: RunContext, stream: Stream) -> int:
    """A lane for every hand and one more, whose parts are shared (`share_rest`) when another is done."""
    return share_of(
        context, stream, count_pending(context.store.counts(stream.table)), thread_count(context.options.workers) + 1
    )


def share_rest(context: RunContext, job: Job) -> list[Job]:
    """The lane; or the shorter ones that it is divided into when some hand would be left without one."""
    stream = context.streams[job.args["stream"]]
    if context.queue.open(job.scope) > thread_count(context.options.workers):
        return [job]
    size = share_of(
        context, stream, count_pending(context.store.counts(stream.table)), LANES_PER_WORKER * context.options.workers
    )
    cuts = context.store.cuts(stream.table, rest_of_lane(job), size, whole_parents=stream.ordered, pending=True)
    if len(cuts) < 2:
        return [job]
    args = {name: value for name, value in job.args.items() if name not in ("at", "moved")}
    others = [Job(job.scope, job.kind, {**args, "lo": cut.lo, "hi": cut.hi}) for cut in cuts[1:]]
    return [Job(job.scope, job.kind, {**job.args, "hi": cuts[0].hi}), *others]


def share_of(context: RunContext, stream: Stream, records: int, parts: int) -> int:
    """In full batches."""
    batch = context.batch_size(stream)
    return batch * max(1, math.ceil(records / batch / parts))


def count_pending(counts: Mapping[Status, int]) -> int:
    return counts[Status.NEW] + counts[Status.ERROR_RETRY]


def lane_span(job: Job) -> Span:
    return Span(job.args["lo"], job.args["hi"])


def rest_of_lane(job: Job) -> Span:
    return Span(job.args.get("at") or job.args["lo"], job.args["hi"])


def span_behind(job: Job) -> Span | None:
    """The records that this round has checked; None at its start."""
    return Span(job.args["lo"], job.args["at"]) if job.args.get("at") else None


def next_lane_job(job: Job, last: Record) -> list[Job]:
    """The same lane behind the last record that was looked at."""
    return [Job(job.scope, job.kind, {**job.args, "at": order_key(last.row_key)})]


def next_round_job(job: Job, last: Record, moved: bool) -> list[Job]:
    """The same, of a lane that is gone through in rounds as long as something moves."""
    args = {**job.args, "at": order_key(last.row_key), "moved": bool(job.args.get("moved")) or moved}
    return [Job(job.scope, job.kind, args)]


def repeat_lane(job: Job) -> list[Job]:
    """The same lane at the same position: its first record is started but not done."""
    return [Job(job.scope, job.kind, {**job.args, "parts": int(job.args.get("parts", 0)) + 1, "moved": True})]


def finish_round(context: RunContext, job: Job, left: Callable[[Span], Sequence[Record]]) -> Follow:
    """The end of a round: another one when a retry will be due, or when this one moved and something is left."""
    stream = context.streams[job.args["stream"]]
    lane = lane_span(job)
    args = {name: value for name, value in job.args.items() if name not in ("at", "moved")}
    again = Job(job.scope, job.kind, {**args, "round": int(job.args.get("round", 0)) + 1})
    retries = context.store.waiting(stream.table, lane, now=context.clock.now())
    if retries:
        return [Later(again, min(due for _, due in retries))]
    if job.args.get("moved") and left(lane):
        return [again]
    return []
