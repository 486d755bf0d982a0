"""The one thing to say first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from b24migrate.engine import plan
from b24migrate.engine.plan import Run
from b24migrate.engine.state import RUNNING, STUCK
from b24migrate.insight.overview.blockers import Outage
from b24migrate.insight.overview.facts import Facts
from b24migrate.insight.overview.model import EntityView, Now, Verdict, Wait

PAUSED = "paused"
CLEAN, GATE = 0, 3
STILL_S = 120.0
STANDS_S = 10.0  # so long nothing has moved, and a limit is waited for: then that is what to say


class Still(NamedTuple):
    """Since when nothing has moved, and when the next job can be taken: asked only when it matters."""

    since: datetime
    next_due: Callable[[], datetime | None]

    def is_odd(self, facts: Facts) -> bool:
        """Nobody works although somebody could: a job that waits for its time is no standstill."""
        if facts.held or (facts.at - self.since).total_seconds() < STILL_S:
            return False
        due = self.next_due()
        return due is None or due <= facts.at + timedelta(seconds=1)  # what can be taken at once is due now


def now(
    facts: Facts, entities: Sequence[EntityView], waits: Sequence[Wait], outages: Sequence[Outage], still: Still
) -> Now:
    run = facts.run
    if run is None:
        return Now(Verdict.NO_RUN)
    busy, stuck = (_tasks(entities, states) for states in ((RUNNING,), tuple(STUCK)))
    spent_s = _spent_s(run, facts.at)
    told = _ended(run)
    if told is not None:
        return Now(told, run.finished or _text(still.since), (), stuck, message=run.message, spent_s=spent_s)
    if run.state == plan.BEGINNING:
        begins = Verdict.BEGINNING if spent_s < plan.BEGINNING_S else Verdict.STILL
        return Now(begins, run.started, spent_s=spent_s)
    if outages:
        one = outages[0]
        portals = tuple(other.portal for other in outages)
        return Now(
            Verdict.OUTAGE, one.since, busy, stuck, portals, one.reason, one.next_at, one.stops_at, spent_s=spent_s
        )
    waits_for = tuple(one.method for one in waits if one.now)
    since = _text(still.since)
    if waits_for and (facts.at - still.since).total_seconds() >= STANDS_S:
        return Now(Verdict.LIMITED, since, busy, stuck, waits_for, spent_s=spent_s)
    if still.is_odd(facts):
        return Now(Verdict.STILL, since, busy, stuck, waits_for, spent_s=spent_s)
    return Now(Verdict.RUNNING, run.started, busy, stuck, waits_for, spent_s=spent_s)


def _text(when: datetime) -> str:
    return f"{when:%Y-%m-%dT%H:%M:%SZ}"


def _ended(run: Run) -> Verdict | None:
    if run.state == PAUSED:
        return Verdict.PAUSED
    if run.state == plan.ENDED:
        return Verdict.DONE if run.exit_code == CLEAN else Verdict.FINDINGS
    if run.exit_code is not None:
        return Verdict.BLOCKED if run.exit_code == GATE else Verdict.STOPPED
    return None


def _spent_s(run: Run, now: datetime) -> float:
    if not run.started:
        return 0.0
    end = datetime.fromisoformat(run.finished) if run.finished else now
    return max(0.0, (end - datetime.fromisoformat(run.started)).total_seconds())


def _tasks(entities: Sequence[EntityView], states: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        f"{entity.name.replace('_', '-')}-{phase.name}"
        for entity in entities
        for phase in entity.phases
        if entity.planned and phase.state in states
    )
