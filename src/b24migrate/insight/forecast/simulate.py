"""Plays a migration on paper: its jobs, who may do how many at a time, and the limits of the portal. How long?

As the real one does it: jobs wait in one queue for a free hand; a request waits for its place in the bucket with the
hand that holds it while that is short, and otherwise the job is put aside; calls under way are as many as there are
workers; our own computing is done one after the other. An entity begins when those that it refers to are imported, and
its second pass when all are.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from b24migrate.insight.forecast.course import (
    BOX,
    EXECUTION,
    HERE,
    LATENCY,
    OWN,
    REQUESTS,
    SOURCE,
    TARGET,
    Begins,
    Course,
    Crew,
    Limits,
    Op,
    Part,
    Stage,
    Took,
)
from b24migrate.insight.forecast.meter import Billed
from b24migrate.model.streams import LATE
from b24migrate.ports.quota import PATIENCE_S, Bucket

WINDOW_MINUTES = 10
MOST_PLAYED = 20_000  # steps; of a longer migration several are played as one
STEPS_OF_WINDOW = 20  # of execution time. If there are too many, a part is played, and its times are multiplied
BEGINS_AT_S = 30.0  # somewhere inside a minute
ASKED_AGAIN = 0.03  # of the requests, by jobs that were put aside in their middle: as seen in whole runs
WAKING_S = 0.1  # until somebody looks at a job whose time has come
LEAST = 1e-9
DEFAULT_CREW = Crew()
FRESH = Begins()


def play(
    courses: Sequence[Course],
    limits: Limits,
    crew: Crew = DEFAULT_CREW,
    begins: Begins = FRESH,
    *,
    most: int = MOST_PLAYED,
) -> dict[str, Took]:
    """Every entity's time."""
    longer = max(1.0, STEPS_OF_WINDOW * _windows(courses, limits) / most)
    if longer > 1:
        courses = [replace(one, stages=tuple(stage.times(1 / longer) for stage in one.stages)) for one in courses]
    steps = sum(stage.played for course in courses for stage in course.stages)
    took = _Play(courses, limits, crew, begins, max(1, math.ceil(steps / most))).to_the_end()
    return {name: one.times(longer) for name, one in took.items()} if longer > 1 else took


def _windows(courses: Sequence[Course], limits: Limits) -> float:
    """How often the execution time of ten minutes is used up."""
    ops = ((stage.jobs * op.count, op) for course in courses for stage in course.stages for op in stage.ops)
    seconds = sum(count * each for count, op in ops for _, each in op.seconds_of)
    return seconds / limits.operating_s if limits.operating_s else 0.0


@dataclass(slots=True)
class _Stage:
    """One that has begun."""

    stage: Stage
    entity: str
    began_s: float
    open: int = 0


@dataclass(slots=True)
class _Lane:
    """Jobs in a row. `together`: so many of them are played as one."""

    of: _Stage
    left: float
    together: float = 1.0
    at: int = 0  # which op
    todo: list[float] = field(default_factory=list)  # of each op, in this job

    def begin(self, grain: int) -> None:
        self.together = min(float(grain), self.left)
        self.at = 0
        self.todo = [op.count * self.together for op in self.of.stage.ops]


class _Execution:
    """The execution time of each method, in ten minutes of the portal's clock."""

    def __init__(self, limit_s: float, begins: Begins) -> None:
        self.limit_s = limit_s
        self._spent: dict[Billed, deque[tuple[float, float]]] = {}
        for key, seconds in begins.spent_s:
            self.add(key, 0.0, seconds)

    def left_s(self, key: Billed, now: float) -> float:
        return self.limit_s - sum(seconds for _, seconds in self._fresh(key, now))

    def wait_s(self, key: Billed, now: float) -> float:
        """Until the oldest minute is forgotten, when all is used up."""
        if self.left_s(key, now) > LEAST:
            return 0.0
        return max(1e-3, (self._spent[key][0][0] + WINDOW_MINUTES) * 60 - BEGINS_AT_S - now)

    def add(self, key: Billed, now: float, seconds: float) -> None:
        spent, minute = self._fresh(key, now), _minute(now)
        if spent and spent[-1][0] == minute:
            spent[-1] = (minute, spent[-1][1] + seconds)
        else:
            spent.append((minute, seconds))

    def _fresh(self, key: Billed, now: float) -> deque[tuple[float, float]]:
        spent = self._spent.setdefault(key, deque())
        while spent and spent[0][0] <= _minute(now) - WINDOW_MINUTES:
            spent.popleft()
        return spent


def _minute(now: float) -> float:
    return (now + BEGINS_AT_S + 1e-6) // 60


class _Play:
    def __init__(self, courses: Sequence[Course], limits: Limits, crew: Crew, begins: Begins, grain: int) -> None:
        self._courses = {course.entity: course for course in courses}
        self._crew, self._grain = crew, grain
        self._per_second, self._brim = limits.per_second, Bucket(limits.per_second, limits.bucket).brim
        self._level, self._level_at = begins.level, 0.0
        self._execution = _Execution(limits.operating_s, begins)
        self._now = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._turn = 0
        self._hands = crew.hands
        self._queue: deque[_Lane] = deque()
        self._slots = {SOURCE: crew.workers, TARGET: crew.workers}
        self._for_slot: dict[str, deque[Callable[[], None]]] = {SOURCE: deque(), TARGET: deque()}
        self._busy_until = 0.0  # this computer
        self._imported: set[str] = set()
        self._before_late: list[tuple[str, int]] = []  # who waits there for all the others
        self._took: dict[str, Took] = {}

    def to_the_end(self) -> dict[str, Took]:
        self._begin_what_may()
        while self._events:
            self._now, _, happens = heapq.heappop(self._events)
            happens()
        return self._took

    def _at(self, when: float, happens: Callable[[], None]) -> None:
        self._turn += 1
        heapq.heappush(self._events, (max(when, self._now), self._turn, happens))

    # ------------------------------------------------------------ entities and stages

    def _begin_what_may(self) -> None:
        for name, course in self._courses.items():
            waits = any(need in self._courses and need not in self._imported for need in course.needs)
            if name not in self._took and not waits:
                self._took[name] = Took(self._now)
                self._enter(name, 0)

    def _enter(self, entity: str, place: int) -> None:
        stages = self._courses[entity].stages
        phase = stages[place].phase if place < len(stages) else ""
        if entity not in self._imported and phase in ("", LATE, "verify"):
            self._imported.add(entity)
            self._at(self._now, self._begin_what_may)
            if len(self._imported) == len(self._courses):
                for waiting in self._before_late:
                    self._at(self._now, lambda one=waiting: self._enter(*one))  # type: ignore[misc]
        if not phase:
            self._took[entity].ended_s = self._now
            return
        if phase == LATE and len(self._imported) < len(self._courses):
            self._before_late.append((entity, place))
            return
        begun = _Stage(stages[place], entity, self._now, sum(1 for jobs in stages[place].lanes if jobs > LEAST))
        self._compute(self._crew.stage_s, lambda: self._seed(begun, place))

    def _seed(self, begun: _Stage, place: int) -> None:
        if not begun.open:
            self._end_stage(begun, place)
            return
        for jobs in begun.stage.lanes:
            if jobs > LEAST:
                self._queue.append(_Lane(begun, jobs))
        self._hand_out()

    def _end_stage(self, begun: _Stage, place: int) -> None:
        self._took[begun.entity].parts.append(Part(begun.stage, begun.began_s, self._now))
        self._enter(begun.entity, place + 1)

    # ------------------------------------------------------------ jobs

    def _hand_out(self) -> None:
        while self._hands and self._queue:
            lane = self._queue.popleft()
            self._hands -= 1
            if not lane.todo:
                lane.begin(self._grain)
            self._go_on(lane)

    def _go_on(self, lane: _Lane) -> None:
        ops = lane.of.stage.ops
        while lane.at < len(ops) and lane.todo[lane.at] <= LEAST:
            lane.at += 1
        if lane.at == len(ops):
            self._done(lane)
            return
        op = ops[lane.at]
        if op.where == OWN:
            seconds = op.each_s * lane.todo[lane.at]
            lane.todo[lane.at] = 0.0
            self._waited(lane, HERE, "", seconds)
            self._compute(seconds, lambda: self._go_on(lane))
        elif op.where == TARGET:
            self._call(lane, op, BOX)
        else:
            self._ask(lane, op)

    def _done(self, lane: _Lane) -> None:
        self._hands += 1
        lane.left -= lane.together
        lane.todo = []
        if lane.left > LEAST:
            self._queue.append(lane)
        else:
            begun = lane.of
            begun.open -= 1
            if not begun.open:
                place = len(self._took[begun.entity].parts)
                self._at(self._now, lambda: self._end_stage(begun, place))
        self._hand_out()

    def _compute(self, seconds: float, then: Callable[[], None]) -> None:
        self._busy_until = max(self._busy_until, self._now) + seconds
        self._at(self._busy_until, then)

    def _waited(self, lane: _Lane, why: str, method: str, seconds: float) -> None:
        waits = self._took[lane.of.entity].waits
        waits[why, method] = waits.get((why, method), 0.0) + seconds

    # ------------------------------------------------------------ calls

    def _ask(self, lane: _Lane, op: Op) -> None:
        """A request to the source, as soon as the limits allow."""
        for key, _ in op.seconds_of if self._execution.limit_s else ():
            wait_s = self._execution.wait_s(key, self._now)
            if wait_s > 0:
                self._waited(lane, EXECUTION, key[1], wait_s)
                self._put_aside(lane, wait_s)
                return
        if not op.counted or not self._per_second:
            self._call(lane, op, LATENCY)
            return
        chunk = self._chunk(lane)
        level = max(0.0, self._level - (self._now - self._level_at) * self._per_second)
        wait_s = (level + min(chunk, self._brim) - self._brim) / self._per_second
        if wait_s > 0:
            self._waited(lane, REQUESTS, op.method, wait_s)
        if wait_s > PATIENCE_S * self._grain:
            self._put_aside(lane, wait_s)
            return
        self._level, self._level_at = level + chunk * (1 + ASKED_AGAIN), self._now
        self._at(self._now + max(0.0, wait_s), lambda: self._call(lane, op, LATENCY))

    def _chunk(self, lane: _Lane) -> float:
        return min(float(self._grain), lane.todo[lane.at])

    def _put_aside(self, lane: _Lane, wait_s: float) -> None:
        """The hand is free for another job."""

        def back() -> None:
            self._queue.appendleft(lane)
            self._hand_out()

        self._at(self._now + wait_s + WAKING_S, back)
        self._hands += 1
        self._hand_out()

    def _call(self, lane: _Lane, op: Op, why: str) -> None:
        """When one of those under way has been answered."""
        if not self._slots[op.where]:
            self._for_slot[op.where].append(lambda: self._call(lane, op, why))
            return
        self._slots[op.where] -= 1
        chunk = self._answered(op, self._chunk(lane))
        lane.todo[lane.at] -= chunk
        self._waited(lane, why, op.method, op.each_s * chunk)
        self._at(self._now + op.each_s * chunk, lambda: self._returned(lane, op))

    def _answered(self, op: Op, chunk: float) -> float:
        """How much of it: what exceeds a method's execution time is refused, and asked for again."""
        if self._execution.limit_s:
            for key, seconds in op.seconds_of:
                left_s = self._execution.left_s(key, self._now)
                if seconds * chunk > left_s:
                    chunk = max(left_s / seconds, 1e-6)
            for key, seconds in op.seconds_of:
                self._execution.add(key, self._now, seconds * chunk)
        return chunk

    def _returned(self, lane: _Lane, op: Op) -> None:
        self._slots[op.where] += 1
        if self._for_slot[op.where]:
            self._for_slot[op.where].popleft()()
        self._go_on(lane)
