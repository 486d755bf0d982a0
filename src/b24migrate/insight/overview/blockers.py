"""What the work waits for: limits, a portal that does not answer, gates, and entities that come first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from b24migrate.engine import gates, plan
from b24migrate.engine.conductor import with_late
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.state import BLOCKED, ENDED, PENDING
from b24migrate.insight.overview.facts import Facts
from b24migrate.insight.overview.history import Moment
from b24migrate.insight.overview.model import Gate, Wait
from b24migrate.model.streams import LATE, Entity

JUST_NOW_S = 15.0
LONGEST_REST_S = 660.0
PROBE_LATE_S = 45.0  # whoever asks the portal is a little late; or he is gone, and says nothing any more


class Outage(NamedTuple):
    portal: str
    since: str
    next_at: str
    stops_at: str
    reason: str


def waits(facts: Facts, recent: Sequence[Moment]) -> tuple[Wait, ...]:
    """The longest first."""
    told = facts.waited_s
    now = resting(facts) | growing(told, recent, facts.at)
    found = [Wait(method, seconds, method in now) for method, seconds in told.items()]
    found += [Wait(method, 0.0, True) for method in sorted(now - told.keys())]
    return tuple(sorted(found, key=lambda one: (not one.now, -one.seconds)))


def resting(facts: Facts) -> set[str]:
    """Methods whose execution time is used up, as all processes know."""
    found: set[str] = set()
    for row in facts.quotas:
        now = max(facts.at.timestamp(), float(row.values["AtS"] or 0.0))  # its times are of the fastest clock
        rests: Mapping[str, float] = row.values["Rests"] or {}
        found |= {key.rpartition(" ")[2] for key, until in rests.items() if until > now}
    return found


def growing(told: Mapping[str, float], recent: Sequence[Moment], now: datetime) -> set[str]:
    """Methods that were waited for just now; or for so long that the wait is not over yet."""
    found: set[str] = set()
    last = [*recent, None]
    for before, after in zip(recent, last[1:], strict=False):
        seen_s = (now - (after.at if after else now)).total_seconds()
        for method, seconds in (after.waits if after else told).items():
            grown = seconds - before.waits.get(method, 0.0)
            if grown > 0 and seen_s <= max(JUST_NOW_S, min(grown, LONGEST_REST_S)):
                found.add(method)
    return found


def outages(facts: Facts) -> list[Outage]:
    """Of portals that are still asked again and again."""
    found = [
        Outage(row.key, *(row.values[name] or "" for name in ("SinceUtc", "NextUtc", "StopsUtc", "Reason")))
        for row in facts.outages
    ]
    late = timedelta(seconds=PROBE_LATE_S)
    return [one for one in found if one.next_at and facts.at <= datetime.fromisoformat(one.next_at) + late]


def closed(context: RunContext, facts: Facts) -> tuple[Gate, ...]:
    """Mini-tasks of the plan that cannot begin yet, and what they wait for."""
    run = facts.run
    if run is None or run.state == plan.ENDED:
        return ()
    found = (_gate(context, facts, run.plan, entity) for entity in facts.planned)
    return tuple(one for one in found if one is not None)


def _gate(context: RunContext, facts: Facts, wanted: plan.Plan, entity: Entity) -> Gate | None:
    state = facts.state(entity)
    phase = next((one for one in with_late(wanted.phases) if state.phase(one).state not in ENDED), "")
    if not phase:
        return None
    shown = ("verify" if "verify" in wanted.phases else "set") if phase == LATE else phase
    about = state.phase(phase)
    if about.state == BLOCKED:
        return Gate(entity.task(shown), (), about.message, entity.name, shown)
    others = list(gates.waits_for(context, wanted, facts.seen.states, entity, phase)) if about.state == PENDING else []
    names = tuple(one.name for one in others)
    return Gate(entity.task(shown), names, "", entity.name, shown) if names else None
