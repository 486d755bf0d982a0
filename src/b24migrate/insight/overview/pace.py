"""How fast it goes, and how long the rest will take: by what the last minutes have shown, or as it was foretold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from b24migrate.insight.overview.facts import Facts
from b24migrate.insight.overview.history import WINDOW_S, Moment
from b24migrate.insight.overview.model import Speed

PACE, FORECAST, UNKNOWN = "pace", "forecast", "unknown"
ENOUGH_S, ENOUGH_PART = 60.0, 0.01  # for a pace: so long, and so much of the whole; or
LITTLE_S, MUCH_PART = 5.0, 0.05  # not long, but much
GAP_STEPS, GAP_S = 3.0, 30.0
LONGEST_S = 366 * 86400.0  # what would take longer is no answer
SPEED_S, TOO_SHORT_S = 60.0, 2.0
NONE = Speed(0.0, 0.0, 0.0, 0.0)


def gap_s(step_s: float) -> float:
    """A longer one in the history says that nobody was at work."""
    return GAP_STEPS * step_s + GAP_S


class Left(NamedTuple):
    seconds: float | None
    basis: str
    window_s: float = 0.0


def left(facts: Facts, units: float, of: float | None, basis: str, recent: Sequence[Moment]) -> Left:
    """`units` of `of` are done; `recent` is of this run."""
    if of is None or of <= 0:
        return Left(None, UNKNOWN)
    rest = max(0.0, of - units)
    now = facts.at if facts.run is None or facts.run.under_way or not recent else recent[-1].at
    spent_s, grown = at_work([one for one in recent if one.basis == basis], now, units)
    enough = (spent_s >= ENOUGH_S and grown >= ENOUGH_PART * of) or (spent_s >= LITTLE_S and grown >= MUCH_PART * of)
    if rest and grown > 0 and (enough or spent_s >= WINDOW_S / 2) and rest / grown * spent_s <= LONGEST_S:
        return Left(rest / grown * spent_s, PACE, spent_s)
    if facts.forecast is not None and rest:
        return Left(facts.forecast.total_s * rest / of, FORECAST)
    return Left(None, UNKNOWN)


def at_work(recent: Sequence[Moment], now: datetime, units: float) -> tuple[float, float]:
    """The seconds of the last window in which somebody was at work, and by how much the units grew in them."""
    spent_s = grown = 0.0
    ends = [(one.at, one.units, one.step_s) for one in recent] + [(now, units, 0.0)]
    for (began, before, step_s), (ended, after, _) in pairwise(ends):
        took_s = (ended - began).total_seconds()
        within = (now - began).total_seconds() <= WINDOW_S + step_s
        if within and 0 < took_s <= gap_s(step_s):
            spent_s += took_s
            grown += max(0.0, after - before)
    return spent_s, grown


def speed(recent: Sequence[Moment], now: Moment) -> Speed:
    """Of the last minute, or somewhat more where moments are further apart."""
    aged = [((now.at - one.at).total_seconds(), one) for one in recent]
    first = next((place for place in reversed(range(len(aged))) if aged[place][0] >= SPEED_S), 0)
    if not aged or not TOO_SHORT_S <= aged[first][0] <= SPEED_S + 2 * gap_s(aged[first][1].step_s):
        return NONE
    window_s = aged[first][0]
    way = [one.point for one in (*recent[first:], now)]

    def rate(numbers: Sequence[int]) -> float:
        return sum(max(0, after - before) for before, after in pairwise(numbers)) / window_s

    return Speed(
        rate([one.read for one in way]),
        rate([one.imported for one in way]),
        rate([one.verified for one in way]),
        window_s,
    )
