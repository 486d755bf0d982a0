"""How long a freeze would last now, by what the rehearsal took.

A freeze is a delta run for the changes since the rehearsal, a second one that finds nothing, and the certificate. The
rehearsal did the same three: its first delta run had the changes since the pass before, the second one nearly none. The
difference between the two, divided by the changes, is the time that a change takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from b24migrate.engine.phases.cutover_state import REHEARSAL, CutoverState, DeltaCost
from b24migrate.messages import say

HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class StreamForecast:
    """`seconds`: its share of the freeze. `why`: why it is read whole; "" if only changes are read."""

    stream: str
    seconds: float
    changes: float
    why: str


@dataclass(frozen=True, slots=True)
class FreezeForecast:
    """For a freeze that begins `elapsed_s` after the rehearsal. `waits_s`: of the delta that finds nothing, for limits
    of the portal. `basis`: sentences."""

    elapsed_s: float
    total_s: float
    delta_s: float
    quiet_s: float
    certificate_s: float
    changes: float
    per_hour: float
    waits_s: float
    streams: tuple[StreamForecast, ...]
    basis: tuple[str, ...]


def forecast_freeze(state: CutoverState, now: datetime, elapsed_s: float | None = None) -> FreezeForecast | None:
    """None before a rehearsal. `elapsed_s`: another time than until now."""
    rehearsal = state.step(REHEARSAL)
    if not rehearsal.ended or len(state.costs) < 2:
        return None
    first, second = state.costs
    if elapsed_s is None:
        elapsed_s = max(0.0, (now - datetime.fromisoformat(rehearsal.ended)).total_seconds())
    rates = {name: count / first.since_s for name, count in first.found.items()} if first.since_s > 0 else {}
    expected = {name: rate * elapsed_s for name, rate in rates.items()}
    changes = sum(expected.values())
    each_s = cost_of_change(first, second)
    quiet_s = max(0.0, second.seconds - each_s * second.changes)
    delta_s = quiet_s + each_s * changes
    total_s = delta_s + quiet_s + state.certificate_s
    return FreezeForecast(
        elapsed_s,
        total_s,
        delta_s,
        quiet_s,
        state.certificate_s,
        changes,
        sum(rates.values()) * HOUR_S,
        waits(second),
        by_stream(first, second, expected, delta_s + quiet_s),
        basis(first, second),
    )


def cost_of_change(first: DeltaCost, second: DeltaCost) -> float:
    """In seconds. Unknown after an interrupted rehearsal, and if both runs found the same number."""
    more = first.changes - second.changes
    if more <= 0 or first.resumed or second.resumed:
        return 0.0
    return max(0.0, first.seconds - second.seconds) / more


def waits(cost: DeltaCost) -> float:
    """Jobs run side by side and wait at the same time: the part of the run that their waits are of their time."""
    spent_s = max(sum(cost.spent_s.values()), cost.waited_s)
    return cost.seconds * cost.waited_s / spent_s if spent_s else 0.0


def by_stream(
    first: DeltaCost, second: DeltaCost, expected: Mapping[str, float], seconds: float
) -> tuple[StreamForecast, ...]:
    """Jobs run side by side: the seconds of the freeze are shared out by how long the jobs of each record type took.
    The longest first."""
    weights = {name: 2 * spent for name, spent in second.spent_s.items()}
    for name, changes in expected.items():
        more = first.found[name] - second.found.get(name, 0)
        longer_s = first.spent_s.get(name, 0.0) - second.spent_s.get(name, 0.0)
        weights[name] = weights.get(name, 0.0) + (max(0.0, longer_s) / more * changes if more > 0 else 0.0)
    total = sum(weights.values()) or 1.0
    found = [
        StreamForecast(name, seconds * weight / total, expected.get(name, 0.0), second.whole.get(name, ""))
        for name, weight in weights.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.seconds, one.stream)))


def basis(first: DeltaCost, second: DeltaCost) -> tuple[str, ...]:
    sentences = [say("cutover.basis.measured"), say("cutover.basis.people_out")]
    if first.resumed or second.resumed:
        sentences.append(say("cutover.basis.interrupted"))
    if first.whole.keys() != second.whole.keys():
        sentences.append(say("cutover.basis.other_streams"))
    return tuple(sentences)
