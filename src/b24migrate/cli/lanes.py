"""The progress of each stream, for bars and lines on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from b24migrate.insight.status.progress import RateMeter
from b24migrate.messages.measures import duration
from b24migrate.messages.terminal import number, words
from b24migrate.model.records import Json


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
    """A lane for each stream whose entity has started. Of a delta run (`delta`) it is not known how much it reads or
    compares, and it sends only what it found."""
    progress = _delta_progress if status.get("delta") else _progress
    found: list[Lane] = []
    for entity in status["entities"].values():
        phase, state = current_phase(entity["phases"])
        if state == "pending":
            continue
        for name, counts in entity["streams"].items():
            found.append(Lane(name, phase, state, *progress(phase, counts)))
    return found


def current_phase(phases: Mapping[str, str]) -> tuple[str, str]:
    """The phase that runs or stopped, else the last that ended. A skipped phase, such as the custom fields of an entity
    without any, does not count."""
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


def _delta_progress(phase: str, counts: Mapping[str, int | None]) -> tuple[int, int | None]:
    """The records that wait to be sent: found so far, or still to go."""
    waiting = (counts["new"] or 0) + (counts["error_retry"] or 0)
    return (0, waiting) if phase == "set" else (waiting if phase == "get" else 0, None)


class LaneReader:
    """Makes the lanes of one status after the other, with their rates. The number of records to send is known when a
    delta run starts to send: the most that were pending."""

    def __init__(self) -> None:
        self._meters: dict[tuple[str, str], RateMeter] = {}
        self._most: dict[str, int] = {}

    def read(self, status: Mapping[str, Json], now_s: float) -> list[Lane]:
        found = lanes(status)
        if status.get("delta"):
            found = [self._against_most(lane) for lane in found]
        return [self._with_rate(lane, now_s) if lane.state == "running" else lane for lane in found]

    def _against_most(self, lane: Lane) -> Lane:
        waiting = lane.total if lane.total is not None else lane.done
        most = self._most[lane.stream] = max(waiting, self._most.get(lane.stream, 0))
        return lane if lane.total is None else lane._replace(done=most - waiting, total=most)

    def _with_rate(self, lane: Lane, now_s: float) -> Lane:
        rate = self._meters.setdefault((lane.stream, lane.phase), RateMeter()).add(lane.done, now_s)
        left_s = (lane.total - lane.done) / rate if rate is not None and lane.total is not None else None
        return lane._replace(rate=rate, left_s=left_s)


def brief(phase: str) -> str:
    """For a column: `custom-fields-get` → `fields-get`."""
    return phase.removeprefix("custom-")


def amount(lane: Lane) -> str:
    """Nothing where nothing is known."""
    if not lane.done and lane.total is None:
        return ""
    return number(lane.done) if lane.total is None else f"{number(lane.done)}/{number(lane.total)}"


def speed(lane: Lane) -> str:
    return "" if lane.rate is None else f"{number(round(lane.rate))}/s" if lane.rate >= 10 else f"{lane.rate:.1f}/s"


def left(lane: Lane) -> str:
    return "" if lane.left_s is None else duration(words(), lane.left_s)
