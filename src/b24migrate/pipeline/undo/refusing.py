"""When nothing may be taken back: while somebody imports, and from a box that was not imported into."""

from __future__ import annotations

from datetime import datetime

from b24migrate.errors import BadConfiguration, Halted
from b24migrate.phases.work import Work
from b24migrate.pipeline import hold, plan
from b24migrate.pipeline.plan import Run
from b24migrate.pipeline.targets import targets


def refuse_busy(work: Work) -> None:
    """Raises Halted while a run is under way, or somebody still works on one that is not."""
    run, now = plan.current(work.store), work.clock.now()
    if run is not None and (run.under_way or _begins(run, now)):
        raise Halted(
            f"The run {run.id} is under way: nothing is taken back while somebody imports.",
            code="UNDO_BUSY",
            hint="Let it end, or `b24migrate pause` and wait until `run` has ended; then run the same command again.",
        )
    if held := work.queue.held(now=now):
        raise Halted(
            f"{held} jobs are still being worked on: nothing is taken back meanwhile.",
            code="UNDO_BUSY",
            hint="Those of a killed process come free after 90 seconds. Wait, then run the same command again.",
        )


def _begins(run: Run, now: datetime) -> bool:
    if run.state != plan.BEGINNING or not run.started:
        return run.state == plan.BEGINNING
    return (now - datetime.fromisoformat(run.started)).total_seconds() < plan.BEGINNING_S


def refuse_other_target(work: Work) -> None:
    """Raises BadConfiguration: a box that never got anything knows no record, and all would count as deleted."""
    known, now = targets(work.store), work.options.target_url
    if known and known != [now]:
        several = " It knows only what was imported into it, and the rest would count as deleted."
        raise BadConfiguration(
            f"This store was imported into {' and '.join(known)}, and the configured target is {now}."
            + several * (now in known),
            code="UNDO_OTHER_TARGET",
            hint="Set target.webhook to that box. If it is the same box under another address, add --same-box.",
        )


def refuse_strange_box(work: Work, records: int) -> None:
    """Raises BadConfiguration: behind the same address there may be another box by now. What a killed undo left is
    rightly not there any more."""
    if records and hold.unsettled(work.store) is None:
        raise BadConfiguration(
            f"The box at {work.options.target_url} knows none of the {records} records that were imported into it.",
            code="UNDO_OTHER_TARGET",
            hint="Is it another box? If it was emptied or set up anew, and nothing of them is left, add --same-box.",
        )
