"""Lanes: consecutive stretches of a table that are worked through side by side, each in order.

A lane's job takes the next few pending records behind `at`, and is followed by itself further on. What cannot be
settled yet (a retry that is not due, a record that waits for its parent) stays behind for the lane's next round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from b24migrate.phases.work import Follow, Later, Work
from b24migrate.records import Job, Json, Record, Span, order_key
from b24migrate.streams import Stream

LANE_RECORDS = 2_000


def seed(
    work: Work, scope: str, kind: str, stream: Stream, *, pending: bool = True, every: int = LANE_RECORDS, **args: Json
) -> list[Job]:
    """One job for each lane of the stream's table; none when nothing is pending."""
    cuts = work.store.cuts(stream.table, Span(), every, whole_parents=stream.ordered, pending=pending)
    return [Job(scope, kind, {"stream": stream.name, "lo": cut.lo, "hi": cut.hi, **args}) for cut in cuts]


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
