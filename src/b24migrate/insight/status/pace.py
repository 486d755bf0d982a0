"""How fast the work goes, and how long the rest takes: by the last minutes, else by the forecast."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from b24migrate.insight.status.facts import Facts
from b24migrate.insight.status.history import WINDOW_S, Moment
from b24migrate.insight.status.model import Speed

PACE, FORECAST, UNKNOWN = "pace", "forecast", "unknown"
ENOUGH_S, ENOUGH_PART = 60.0, 0.01  # a pace needs this time and this part of the whole; or
LITTLE_S, MUCH_PART = 5.0, 0.05  # less time and a larger part
GAP_STEPS, GAP_S = 3.0, 30.0
LONGEST_S = 366 * 86400.0  # a longer time is no answer
SPEED_S, TOO_SHORT_S = 60.0, 2.0
NO_SPEED = Speed(0.0, 0.0, 0.0, 0.0)
BAR_WINDOW_S, BAR_SHORTEST_S = 20.0, 0.5


def gap_s(step_s: float) -> float:
    """A longer gap in the history means that no worker ran."""
    return GAP_STEPS * step_s + GAP_S


class TimeLeft(NamedTuple):
    seconds: float | None
    basis: str
    window_s: float = 0.0


def time_left(facts: Facts, units: float, total: float | None, basis: str, recent: Sequence[Moment]) -> TimeLeft:
    """`units` of `total` are done; `recent` is of this run."""
    if total is None or total <= 0:
        return TimeLeft(None, UNKNOWN)
    rest = max(0.0, total - units)
    now = facts.at if facts.run is None or facts.run.under_way or not recent else recent[-1].at
    spent_s, grown = working_time([one for one in recent if one.basis == basis], now, units)
    enough = (spent_s >= ENOUGH_S and grown >= ENOUGH_PART * total) or (
        spent_s >= LITTLE_S and grown >= MUCH_PART * total
    )
    if rest and grown > 0 and (enough or spent_s >= WINDOW_S / 2) and rest / grown * spent_s <= LONGEST_S:
        return TimeLeft(rest / grown * spent_s, PACE, spent_s)
    if facts.forecast is not None and rest:
        return TimeLeft(facts.forecast.total_s * rest / total, FORECAST)
    return TimeLeft(None, UNKNOWN)


def working_time(recent: Sequence[Moment], now: datetime, units: float) -> tuple[float, float]:
    """The seconds of the last window in which workers ran, and by how much the units grew in them."""
    spent_s = grown = 0.0
    ends = [(one.at, one.units, one.step_s) for one in recent] + [(now, units, 0.0)]
    for (began, before, step_s), (ended, after, _) in pairwise(ends):
        took_s = (ended - began).total_seconds()
        within = (now - began).total_seconds() <= WINDOW_S + step_s
        if within and 0 < took_s <= gap_s(step_s):
            spent_s += took_s
            grown += max(0.0, after - before)
    return spent_s, grown


def measure_speed(recent: Sequence[Moment], now: Moment) -> Speed:
    """Of the last minute; a little more if the moments are further apart."""
    aged = [((now.at - one.at).total_seconds(), one) for one in recent]
    first = next((place for place in reversed(range(len(aged))) if aged[place][0] >= SPEED_S), 0)
    if not aged or not TOO_SHORT_S <= aged[first][0] <= SPEED_S + 2 * gap_s(aged[first][1].step_s):
        return NO_SPEED
    window_s = aged[first][0]
    points = [one.point for one in (*recent[first:], now)]

    def rate(numbers: Sequence[int]) -> float:
        return sum(max(0, after - before) for before, after in pairwise(numbers)) / window_s

    return Speed(
        rate([one.read for one in points]),
        rate([one.imported for one in points]),
        rate([one.verified for one in points]),
        window_s,
    )


class RateMeter:
    """The rate of one count that is read again and again, over the last seconds."""

    def __init__(self) -> None:
        self._read: deque[tuple[float, int]] = deque()

    def add(self, count: int, now_s: float) -> float | None:
        """A second; None while there is too little to tell."""
        self._read.append((now_s, count))
        while now_s - self._read[0][0] > BAR_WINDOW_S:
            self._read.popleft()
        began_s, before = self._read[0]
        return (count - before) / (now_s - began_s) if now_s - began_s >= BAR_SHORTEST_S and count > before else None
