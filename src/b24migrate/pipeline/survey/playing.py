"""Plays a migration against the limits of a portal, request by request, on paper: how long will it take?

The two limits as they are documented: a bucket of requests that drains steadily, and for every webhook and method so
much execution time in ten minutes of the portal's clock. What is asked is known from a sample; whoever sends as soon
as he may is done first, and our client does.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from b24migrate.pipeline.survey.metering import Billed

WINDOW_MINUTES = 10
MOST_PLAYED = 40_000  # requests; a longer migration is played in small and scaled up
BEGINS_AT_S = 30.0  # somewhere inside a minute
REQUESTS = "requests"
LATENCY = "latency"


@dataclass(frozen=True, slots=True)
class Limits:
    per_second: float = 2.0  # 0: none
    bucket: float = 50.0
    operating_s: float = 480.0  # 0: none


@dataclass(frozen=True, slots=True)
class Stage:
    """What is done before the next begins: requests to the source, or so many seconds elsewhere."""

    name: str
    phase: str
    requests: float = 0.0
    seconds_of: Mapping[Billed, float] = field(default_factory=dict)  # execution time in all
    request_s: float = 0.0  # how long one is under way
    at_once: int = 1
    seconds: float = 0.0
    uncertain: float = 0.0  # relative error of what is asked, as far as a sample tells
    files: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """The stages of one entity, and whom it waits for."""

    entity: str
    needs: frozenset[str]
    stages: tuple[Stage, ...]


@dataclass(slots=True)
class Took:
    """How long an entity took, by stage, and what it waited for meanwhile."""

    began_s: float = 0.0
    ended_s: float = 0.0
    stages: list[tuple[Stage, float]] = field(default_factory=list)
    waits: dict[str, float] = field(default_factory=dict)


def play(courses: Sequence[Course], limits: Limits) -> dict[str, Took]:
    """Every entity's time. What does not wait for one another goes on side by side and shares the limits."""
    requests = sum(stage.requests for course in courses for stage in course.stages)
    scale = max(1.0, requests / MOST_PLAYED)
    took = _Play(courses, limits, scale).to_the_end()
    return took if scale == 1 else {name: _scaled(one, scale) for name, one in took.items()}


def length_s(took: Mapping[str, Took]) -> float:
    return max((one.ended_s for one in took.values()), default=0.0)


class _Play:
    def __init__(self, courses: Iterable[Course], limits: Limits, scale: float) -> None:
        self._courses = {course.entity: course for course in courses}
        self._scale = scale
        self._limits = limits
        self._level, self._level_at = 0.0, 0.0
        self._spent: dict[Billed, deque[tuple[float, float]]] = {}
        self._took: dict[str, Took] = {}
        self._at: dict[str, tuple[int, float, float]] = {}  # entity -> stage, requests left, when the stage began
        self._due: list[tuple[float, int, str]] = []
        self._turn = 0

    def to_the_end(self) -> dict[str, Took]:
        self._begin_what_may(0.0)
        while self._due:
            now, _, entity = heapq.heappop(self._due)
            self._step(entity, now)
        return self._took

    def _begin_what_may(self, now: float) -> None:
        for name, course in self._courses.items():
            waits = any(need in self._courses and need not in self._ended for need in course.needs)
            if name not in self._took and not waits:
                self._took[name] = Took(now)
                self._enter(name, 0, now)

    @property
    def _ended(self) -> set[str]:
        return {name for name, took in self._took.items() if took.ended_s or not self._courses[name].stages}

    def _enter(self, entity: str, place: int, now: float) -> None:
        course = self._courses[entity]
        if place == len(course.stages):
            self._took[entity].ended_s = now or 1e-9
            self._begin_what_may(now)
            return
        stage = course.stages[place]
        self._at[entity] = (place, stage.requests / self._scale, now)
        self._come_back(entity, now)

    def _come_back(self, entity: str, at: float) -> None:
        self._turn += 1
        heapq.heappush(self._due, (at, self._turn, entity))

    def _step(self, entity: str, now: float) -> None:
        """One request of the entity's stage, when it may be sent; otherwise when it may."""
        place, left, began = self._at[entity]
        stage, took = self._courses[entity].stages[place], self._took[entity]
        if left <= 1e-9:
            least = began + stage.seconds / self._scale
            if now < least:
                self._come_back(entity, least)
                return
            took.stages.append((stage, now - began))
            self._enter(entity, place + 1, now)
            return
        wait_s, why = self._wait(stage, now)
        if wait_s > 0:
            took.waits[why] = took.waits.get(why, 0.0) + wait_s
            self._come_back(entity, now + wait_s)
            return
        sent = self._send(stage, min(1.0, left), now)
        self._at[entity] = (place, left - sent, began)
        gap_s = stage.request_s / max(1, stage.at_once)
        took.waits[LATENCY] = took.waits.get(LATENCY, 0.0) + gap_s
        self._come_back(entity, now + gap_s)

    def _wait(self, stage: Stage, now: float) -> tuple[float, str]:
        limits = self._limits
        if limits.operating_s:
            for key in stage.seconds_of:
                spent = self._fresh(key, now)
                if sum(seconds for _, seconds in spent) >= limits.operating_s - 1e-6:
                    freed = (spent[0][0] + WINDOW_MINUTES) * 60 - BEGINS_AT_S
                    return max(1e-3, freed - now), key[1]
        if limits.per_second:
            over = self._drained(now) + 1 - limits.bucket
            if over > 1e-9:
                return over / limits.per_second, REQUESTS
        return 0.0, ""

    def _send(self, stage: Stage, part: float, now: float) -> float:
        """How much of a request was done: what exceeds a method's execution time is refused, and asked again."""
        share = {key: seconds / stage.requests for key, seconds in stage.seconds_of.items() if stage.requests}
        if self._limits.operating_s:
            for key, seconds in share.items():
                room = self._limits.operating_s - sum(spent for _, spent in self._fresh(key, now))
                if seconds * part > room:
                    part = max(room / seconds, 1e-6)
        for key, seconds in share.items():
            self._add(key, now, seconds * part)
        self._level, self._level_at = self._drained(now) + 1, now
        return part

    def _drained(self, now: float) -> float:
        return max(0.0, self._level - (now - self._level_at) * self._limits.per_second)

    def _fresh(self, key: Billed, now: float) -> deque[tuple[float, float]]:
        spent = self._spent.setdefault(key, deque())
        while spent and spent[0][0] <= (now + BEGINS_AT_S + 1e-6) // 60 - WINDOW_MINUTES:
            spent.popleft()
        return spent

    def _add(self, key: Billed, now: float, seconds: float) -> None:
        spent, minute = self._fresh(key, now), (now + BEGINS_AT_S + 1e-6) // 60
        if spent and spent[-1][0] == minute:
            spent[-1] = (minute, spent[-1][1] + seconds)
        else:
            spent.append((minute, seconds))


def _scaled(took: Took, scale: float) -> Took:
    return Took(
        took.began_s * scale,
        took.ended_s * scale,
        [(stage, seconds * scale) for stage, seconds in took.stages],
        {name: seconds * scale for name, seconds in took.waits.items()},
    )
