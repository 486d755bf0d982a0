"""When an undo is refused: while a run imports, and on a box that was not imported into."""

from __future__ import annotations

from datetime import datetime

from b24migrate.engine import plan, undo_lock
from b24migrate.engine.boxes import target_origins
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import Run
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, Halted


def refuse_busy(context: RunContext) -> None:
    """Raises Halted while a run is running, or a worker still works on one that has ended."""
    run, now = plan.current(context.store), context.clock.now()
    if run is not None and (run.under_way or _is_beginning(run, now)):
        raise Halted(
            say("undo.run_running", id=run.id),
            code="UNDO_BUSY",
            hint=say("undo.run_running_fix"),
        )
    if held := context.queue.held(now=now):
        raise Halted(
            say("undo.jobs_running", held=held),
            code="UNDO_BUSY",
            hint=say("undo.jobs_running_fix"),
        )


def _is_beginning(run: Run, now: datetime) -> bool:
    if run.state != plan.BEGINNING or not run.started:
        return run.state == plan.BEGINNING
    return (now - datetime.fromisoformat(run.started)).total_seconds() < plan.BEGINNING_S


def refuse_other_target(context: RunContext) -> None:
    """Raises BadConfiguration for a box without any imported record: all would count as deleted."""
    known, now = target_origins(context.store), context.options.target_url
    if known and known != [now]:
        key = "undo.other_target_some" if now in known else "undo.other_target"
        raise BadConfiguration(
            say(key, names=list(known), now=now),
            code="UNDO_OTHER_TARGET",
            hint=say("undo.other_target_fix"),
        )


def refuse_strange_box(context: RunContext, records: int) -> None:
    """Raises BadConfiguration: behind the same address there may be another box by now. Records that a killed
    undo deleted are expected to be missing."""
    if records and undo_lock.find_unsettled(context.store) is None:
        raise BadConfiguration(
            say("undo.strange_box", url=context.options.target_url, records=records),
            code="UNDO_OTHER_TARGET",
            hint=say("undo.strange_box_fix"),
        )
