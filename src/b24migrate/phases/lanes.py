"""Lanes: consecutive stretches of a table that are worked through side by side, each in order.

A lane's job takes the next few pending records behind `at`, and is followed by itself further on. What cannot be
settled yet (a retry that is not due, a record that waits for its parent) stays behind for the lane's next round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from b24migrate.phases.work import Follow, Later, Work
from b24migrate.records import Job, Json, Record, Span, Status, order_key
from b24migrate.streams import Stream

LANES_PER_WORKER = 2
LONGEST_BATCHES = 40


def seed(
    work: Work, scope: str, kind: str, stream: Stream, *, pending: bool = True, every: int = 0, **args: Json
) -> list[Job]:
    """One job for each lane of the stream's table; none when nothing is pending."""
    size = every or length(work, stream, pending=pending)
    cuts = work.store.cuts(stream.table, Span(), size, whole_parents=stream.ordered, pending=pending)
    return [Job(scope, kind, {"stream": stream.name, "lo": cut.lo, "hi": cut.hi, **args}) for cut in cuts]


def length(work: Work, stream: Stream, *, pending: bool) -> int:
    """Full batches, so few that there are some lanes for every worker."""
    counts = work.store.counts(stream.table)
    records = sum(counts[status] for status in ((Status.NEW, Status.ERROR_RETRY) if pending else Status))
    batch = work.batch_size(stream)
    batches = math.ceil(records / batch / (LANES_PER_WORKER * work.options.workers))
    return batch * max(1, min(batches, LONGEST_BATCHES))


def shared(work: Work, job: Job) -> list[Job]:
    """The lane; or the shorter ones that it is divided into when some worker would be left without one."""
    if work.queue.open(job.scope) > work.options.workers:
        return [job]
    stream = work.streams[job.args["stream"]]
    size = length(work, stream, pending=True)
    cuts = work.store.cuts(stream.table, ahead_of(job), size, whole_parents=stream.ordered, pending=True)
    if len(cuts) < 2:
        return [job]
    args = {name: value for name, value in job.args.items() if name not in ("at", "moved")}
    others = [Job(job.scope, job.kind, {**args, "lo": cut.lo, "hi": cut.hi}) for cut in cuts[1:]]
    return [Job(job.scope, job.kind, {**job.args, "hi": cuts[0].hi}), *others]


def span_of(job: Job) -> Span:
    return Span(job.args["lo"], job.args["hi"])


def ahead_of(job: Job) -> Span:
    return Span(job.args.get("at") or job.args["lo"], job.args["hi"])


def behind(job: Job) -> Span | None:
    """What this round has looked at already; None at its beginning."""
    return Span(job.args["lo"], job.args["at"]) if job.args.get("at") else None


def further(job: Job, last: Record, moved: bool) -> list[Job]:
    """The same lane behind the last record that was looked at."""
    args = {**job.args, "at": order_key(last.row_key), "moved": bool(job.args.get("moved")) or moved}
    return [Job(job.scope, job.kind, args)]


def at_the_end(work: Work, job: Job, left: Callable[[Span], Sequence[Record]]) -> Follow:
    """The end of a round: another one when a retry will be due, or when this one moved and something is left."""
    stream = work.streams[job.args["stream"]]
    lane = span_of(job)
    args = {name: value for name, value in job.args.items() if name not in ("at", "moved")}
    again = Job(job.scope, job.kind, {**args, "round": int(job.args.get("round", 0)) + 1})
    waiting = work.store.waiting(stream.table, lane, now=work.clock.now())
    if waiting:
        return [Later(again, min(due for _, due in waiting))]
    if job.args.get("moved") and left(lane):
        return [again]
    return []
