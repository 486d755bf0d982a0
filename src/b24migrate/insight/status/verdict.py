"""The state of the migration in one word, and what the work waits for: limits, an outage, prerequisites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from b24migrate.engine import gates, plan
from b24migrate.engine.conductor import add_late
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import Run
from b24migrate.engine.state import BLOCKED, ENDED, PENDING, RUNNING, STUCK
from b24migrate.insight.status.facts import Facts
from b24migrate.insight.status.history import Moment
from b24migrate.insight.status.model import EntityView, Gate, Now, Verdict, Wait
from b24migrate.model.streams import LATE, Entity
from b24migrate.model.values import utc_text

CLEAN, GATE = 0, 3
STANDSTILL_S = 120.0
STANDS_S = 10.0  # after this time without progress a limit is the verdict
JUST_NOW_S = 15.0
LONGEST_REST_S = 660.0
PROBE_LATE_S = 45.0  # a probe that is later than this comes from a process that no longer runs


class Standstill(NamedTuple):
    """The time of the last progress and of the next due job, read only if needed."""

    since: datetime
    next_due: Callable[[], datetime | None]

    def is_odd(self, facts: Facts) -> bool:
        """A job is due and no worker takes it."""
        if facts.held or (facts.at - self.since).total_seconds() < STANDSTILL_S:
            return False
        due = self.next_due()
        return due is None or due <= facts.at + timedelta(seconds=1)


def find_verdict(
    facts: Facts,
    entities: Sequence[EntityView],
    waits: Sequence[Wait],
    outages: Sequence[Outage],
    standstill: Standstill,
) -> Now:
    run = facts.run
    if run is None:
        return Now(Verdict.NO_RUN)
    busy, stuck = (_steps(entities, states) for states in ((RUNNING,), tuple(STUCK)))
    spent_s = _spent_s(run, facts.at)
    ended = _end_verdict(run)
    if ended is not None:
        return Now(ended, run.finished or _utc(standstill.since), (), stuck, message=run.message, spent_s=spent_s)
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
    since = _utc(standstill.since)
    if waits_for and (facts.at - standstill.since).total_seconds() >= STANDS_S:
        return Now(Verdict.LIMITED, since, busy, stuck, waits_for, spent_s=spent_s)
    if standstill.is_odd(facts):
        return Now(Verdict.STILL, since, busy, stuck, waits_for, spent_s=spent_s)
    return Now(Verdict.RUNNING, run.started, busy, stuck, waits_for, spent_s=spent_s)


def _utc(when: datetime) -> str:
    return utc_text(when.replace(microsecond=0))


def _end_verdict(run: Run) -> Verdict | None:
    if run.state == plan.PAUSED:
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


def _steps(entities: Sequence[EntityView], states: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        f"{entity.name.replace('_', '-')}-{phase.name}"
        for entity in entities
        for phase in entity.phases
        if entity.planned and phase.state in states
    )


# ---------------------------------------------------------------- what the work waits for


class Outage(NamedTuple):
    portal: str
    since: str
    next_at: str
    stops_at: str
    reason: str


def list_waits(facts: Facts, recent: Sequence[Moment]) -> tuple[Wait, ...]:
    """The longest first."""
    waited = facts.waited_s
    now = resting_methods(facts) | growing_waits(waited, recent, facts.at)
    found = [Wait(method, seconds, method in now) for method, seconds in waited.items()]
    found += [Wait(method, 0.0, True) for method in sorted(now - waited.keys())]
    return tuple(sorted(found, key=lambda one: (not one.now, -one.seconds)))


def resting_methods(facts: Facts) -> set[str]:
    """Methods whose execution time is used up."""
    found: set[str] = set()
    for row in facts.quotas:
        now = max(facts.at.timestamp(), float(row.values["AtS"] or 0.0))  # its times are of the fastest clock
        rests: Mapping[str, float] = row.values["Rests"] or {}
        found |= {key.rpartition(" ")[2] for key, until in rests.items() if until > now}
    return found


def growing_waits(waited: Mapping[str, float], recent: Sequence[Moment], now: datetime) -> set[str]:
    """Methods that were waited for just now, or for so long that the wait is not over yet."""
    found: set[str] = set()
    last = [*recent, None]
    for before, after in zip(recent, last[1:], strict=False):
        age_s = (now - (after.at if after else now)).total_seconds()
        for method, seconds in (after.waits if after else waited).items():
            grown = seconds - before.waits.get(method, 0.0)
            if grown > 0 and age_s <= max(JUST_NOW_S, min(grown, LONGEST_REST_S)):
                found.add(method)
    return found


def open_outages(facts: Facts) -> list[Outage]:
    """Of portals that are still probed."""
    found = [
        Outage(row.key, *(row.values[name] or "" for name in ("SinceUtc", "NextUtc", "StopsUtc", "Reason")))
        for row in facts.outages
    ]
    late = timedelta(seconds=PROBE_LATE_S)
    return [one for one in found if one.next_at and facts.at <= datetime.fromisoformat(one.next_at) + late]


def list_gates(context: RunContext, facts: Facts) -> tuple[Gate, ...]:
    """Steps of the plan that cannot start yet, and what they wait for."""
    run = facts.run
    if run is None or run.state == plan.ENDED:
        return ()
    found = (_gate(context, facts, run.plan, entity) for entity in facts.planned)
    return tuple(one for one in found if one is not None)


def _gate(context: RunContext, facts: Facts, wanted: plan.Plan, entity: Entity) -> Gate | None:
    state = facts.state(entity)
    phase = next((one for one in add_late(wanted.phases) if state.phase(one).state not in ENDED), "")
    if not phase:
        return None
    shown = ("verify" if "verify" in wanted.phases else "set") if phase == LATE else phase
    about = state.phase(phase)
    if about.state == BLOCKED:
        return Gate(entity.task(shown), (), about.message, entity.name, shown)
    others = list(gates.find_awaited(context, wanted, facts.states, entity, phase)) if about.state == PENDING else []
    names = tuple(one.name for one in others)
    return Gate(entity.task(shown), names, "", entity.name, shown) if names else None
