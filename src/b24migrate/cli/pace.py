"""How far each stream is, how fast it goes and how long it will take: read from a status, remembered over time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from b24migrate.model.records import Json

WINDOW_S = 20.0
SHORTEST_S = 0.5


class Lane(NamedTuple):
    """One stream in one phase."""

    stream: str
    phase: str
    state: str
    done: int
    total: int | None
    rate: float | None = None
    left_s: float | None = None


def lanes(status: Mapping[str, Json]) -> list[Lane]:
    """A lane for each stream whose entity is at work, or has been."""
    found: list[Lane] = []
    for entity in status["entities"].values():
        phase, state = at(entity["phases"])
        if state == "pending":
            continue
        for name, counts in entity["streams"].items():
            found.append(Lane(name, phase, state, *_progress(phase, counts)))
    return found


def at(phases: Mapping[str, str]) -> tuple[str, str]:
    """The phase an entity is in: the one that runs or stopped, else the last that ended. What it has none of, such as
    custom fields, is skipped at once and says nothing."""
    for phase, state in phases.items():
        if state in ("running", "failed", "blocked"):
            return phase, state
    ended = [(phase, state) for phase, state in phases.items() if state != "pending"]
    begun = any(state != "skipped" for _, state in ended) or len(ended) == len(phases)
    return ended[-1] if ended and begun else ("", "pending")


def _progress(phase: str, counts: Mapping[str, int | None]) -> tuple[int, int | None]:
    retrieved = counts["retrieved"] or 0
    if phase in ("set", "verify"):
        return (counts["import_ok"] or 0) + (counts["import_err"] or 0), retrieved - (counts["excluded"] or 0)
    reported = counts["reported"]
    return retrieved, max(reported, retrieved) if reported is not None else None


class Pace:
    """Remembers the last seconds of every lane."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], deque[tuple[float, int]]] = {}

    def of(self, status: Mapping[str, Json], now_s: float) -> list[Lane]:
        return [self._timed(lane, now_s) for lane in lanes(status)]

    def _timed(self, lane: Lane, now_s: float) -> Lane:
        if lane.state != "running":
            return lane
        seen = self._seen.setdefault((lane.stream, lane.phase), deque())
        seen.append((now_s, lane.done))
        while now_s - seen[0][0] > WINDOW_S:
            seen.popleft()
        began_s, began = seen[0]
        if now_s - began_s < SHORTEST_S or lane.done <= began:
            return lane
        rate = (lane.done - began) / (now_s - began_s)
        left_s = (lane.total - lane.done) / rate if lane.total is not None else None
        return lane._replace(rate=rate, left_s=left_s)


def brief(phase: str) -> str:
    """For a column: `custom-fields-get` → `fields-get`."""
    return phase.removeprefix("custom-")


def number(value: int) -> str:
    return f"{value:,}".replace(",", " ")


def amount(lane: Lane) -> str:
    return number(lane.done) if lane.total is None else f"{number(lane.done)}/{number(lane.total)}"


def speed(lane: Lane) -> str:
    return "" if lane.rate is None else f"{number(round(lane.rate))}/s" if lane.rate >= 10 else f"{lane.rate:.1f}/s"


def left(lane: Lane) -> str:
    return "" if lane.left_s is None else clock_time(lane.left_s)


def clock_time(spent_s: float) -> str:
    minutes, seconds = divmod(round(spent_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
