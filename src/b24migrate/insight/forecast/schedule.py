"""The stages of a migration, and their duration by their bounds.

A stage can go no faster than its longest lane. Stages that run at the same time share what is limited: the requests
that the portal lets through, the open calls, the workers, this computer. If they need more of it than there is, all of
them slow down equally. A method without execution time stops its stages until the portal forgets the oldest minute. An
entity starts when the entities that it refers to are imported, and its second pass when all are.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from b24migrate.insight.forecast.meter import Billed
from b24migrate.model.streams import LATE
from b24migrate.ports.quota import Bucket

SOURCE, TARGET, OWN = "source", "target", "own"
# the limit that is waited for
REQUESTS, EXECUTION, LATENCY, BOX, HERE = "requests", "execution time", "latency", "the target", "this computer"
CAUSES = {SOURCE: LATENCY, TARGET: BOX, OWN: HERE, REQUESTS: REQUESTS}
THREADS = "threads"
REPEATED = 0.03  # of the requests, by jobs that were parked halfway: as measured in whole runs
WINDOW_MINUTES = 10  # of execution time
STARTS_AT_S = 30.0  # somewhere inside a minute of the portal's clock
WAKING_S = 0.1  # until a worker takes a job that is due
LEAST = 1e-9
SHORTEST_S, SHORTEST_STEP_S = 1e-3, 1e-6
DONE = 1e-7
MOST_LANES = 24

Waits = defaultdict[tuple[str, str], float]  # reason and method -> seconds


# ---------------------------------------------------------------- the work. Stored with a forecast: field names stay


@dataclass(frozen=True, slots=True)
class Limits:
    per_second: float = 2.0  # 0: none
    bucket: float = 50.0
    operating_s: float = 480.0  # 0: none


@dataclass(frozen=True, slots=True)
class Used:
    """The used part of the limits at the start, because the analysis has just used them."""

    level: float = 0.0  # of the bucket
    spent_s: tuple[tuple[Billed, float], ...] = ()  # execution time in the last ten minutes


@dataclass(frozen=True, slots=True)
class Op:
    """The work that a job does `count` times in sequence."""

    where: str
    count: float
    each_s: float  # the duration of one
    method: str = ""  # the one to name
    counted: bool = True  # by the bucket of requests
    seconds_of: tuple[tuple[Billed, float], ...] = ()  # execution time of one


@dataclass(frozen=True, slots=True)
class Stage:
    """Jobs in lanes that run side by side; the jobs of one lane follow one another."""

    name: str
    phase: str
    lanes: tuple[float, ...] = ()  # the number of jobs of each
    ops: tuple[Op, ...] = ()  # of each job
    files: bool = False
    uncertain: float = 0.0  # relative standard error of the number of jobs, by the sample

    def times(self, factor: float) -> Stage:
        return replace(self, lanes=tuple(one * factor for one in self.lanes))

    @property
    def jobs(self) -> float:
        return sum(self.lanes)


@dataclass(frozen=True, slots=True)
class Course:
    """The stages of one entity in order, and the entities that it waits for."""

    entity: str
    needs: frozenset[str]
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class Workers:
    """The number of open calls and of jobs at a time, and the time to start a stage."""

    workers: int = 4
    threads: int = 5
    stage_s: float = 0.0


DEFAULT_WORKERS = Workers()
NOTHING_USED = Used()


# ---------------------------------------------------------------- its times


@dataclass(frozen=True, slots=True)
class Part:
    """The start and the end of a stage."""

    stage: Stage
    began_s: float
    ended_s: float

    @property
    def seconds(self) -> float:
        return self.ended_s - self.began_s


@dataclass(slots=True)
class Timing:
    """The times of one entity. `waits`: how long its jobs wait, by reason and method, added up."""

    began_s: float = 0.0
    ended_s: float = 0.0
    parts: list[Part] = field(default_factory=list)
    waits: Waits = field(default_factory=lambda: defaultdict(float))

    def phase_s(self, *phases: str, files: bool | None = None) -> float:
        """From the start to the end of the phases; with `files` only the stages that do or do not move files."""
        mine = [one for one in self.parts if one.stage.phase in phases]
        if files is None:
            return max((one.ended_s for one in mine), default=0.0) - min((one.began_s for one in mine), default=0.0)
        return sum(one.seconds for one in mine if one.stage.files is files)


def length_s(times: Mapping[str, Timing]) -> float:
    return max((one.ended_s for one in times.values()), default=0.0)


def covered_s(spans: Iterable[tuple[float, float]]) -> float:
    """How long at least one of them lasts."""
    total = reached = 0.0
    for began, ended in sorted(spans):
        total += max(0.0, ended - max(began, reached))
        reached = max(reached, ended)
    return total


def even_lanes(jobs: float, lanes: float) -> tuple[float, ...]:
    """The jobs in lanes of equal length; never more lanes than can matter."""
    count = max(1, min(MOST_LANES, round(lanes)))
    return (jobs / count,) * count if jobs > 0 else ()


def schedule(
    courses: Sequence[Course], limits: Limits, workers: Workers = DEFAULT_WORKERS, used: Used = NOTHING_USED
) -> dict[str, Timing]:
    """The times of every entity."""
    return _Schedule(courses, limits, workers, used).finish()


class _Execution:
    """The execution time of each method in ten minutes of the portal's clock."""

    def __init__(self, limit_s: float, used: Used) -> None:
        self._limit_s = limit_s
        self._spent: dict[Billed, deque[tuple[int, float]]] = {}
        self._total: defaultdict[Billed, float] = defaultdict(float)
        for key, seconds in used.spent_s:
            self._add(key, _minute(0.0), seconds)

    def left_s(self, key: Billed, now: float) -> float:
        spent = self._spent.get(key)
        while spent and spent[0][0] <= _minute(now) - WINDOW_MINUTES:
            self._total[key] -= spent.popleft()[1]
        return self._limit_s - self._total[key] if spent else self._limit_s

    def back_at(self, key: Billed) -> float:
        """When the portal forgets the oldest minute."""
        return (self._spent[key][0][0] + WINDOW_MINUTES) * 60 - STARTS_AT_S + WAKING_S

    def spend(self, key: Billed, start: float, end: float, rate: float) -> None:
        """Evenly from start to end; only the last ten minutes matter."""
        for minute in range(max(_minute(start), _minute(end) - WINDOW_MINUTES), _minute(end) + 1):
            began = max(start, minute * 60 - STARTS_AT_S)
            self._add(key, minute, rate * (min(end, (minute + 1) * 60 - STARTS_AT_S) - began))

    def _add(self, key: Billed, minute: int, seconds: float) -> None:
        spent = self._spent.setdefault(key, deque())
        self._total[key] = self._total[key] + seconds if spent else seconds
        before = spent.pop()[1] if spent and spent[-1][0] == minute else 0.0
        spent.append((minute, before + seconds))


def _minute(now: float) -> int:
    return int((now + STARTS_AT_S + 1e-6) // 60)


@dataclass(eq=False, slots=True)
class _Running:
    """A stage that has started, and what the whole of it needs."""

    entity: str
    stage: Stage
    began_s: float
    left: float = 1.0  # of it, down to 0
    shortest_s: float = 0.0  # the time to start it; then with its longest lane
    needs: defaultdict[str, float] = field(
        default_factory=lambda: defaultdict(float)
    )  # of what is shared: seconds, or requests
    spends: defaultdict[Billed, float] = field(default_factory=lambda: defaultdict(float))  # execution time
    methods: dict[str, str] = field(default_factory=dict)  # the one that needs most of what is shared
    speed: float = 0.0  # in parts of the whole a second
    slowed_by: str = ""
    without: Billed | None = None  # the method that has no execution time left

    def __post_init__(self) -> None:
        self.needs[OWN] = self.shortest_s
        jobs, most = self.stage.jobs, defaultdict[str, float](float)
        for op in self.stage.ops:
            count, needs = op.count * jobs, {op.where: op.each_s * op.count * jobs}
            if op.where == SOURCE and op.counted:
                needs[REQUESTS] = count * (1 + REPEATED)
            for thing, need in needs.items():
                self.needs[thing] += need
                if need >= most[thing]:
                    self.methods[thing], most[thing] = op.method, need
            for key, seconds in op.seconds_of:
                self.spends[key] += seconds * count
        job_s = sum(op.each_s * op.count for op in self.stage.ops)
        self.needs[THREADS] = job_s * jobs
        self.shortest_s = max(SHORTEST_S, self.shortest_s + job_s * max(self.stage.lanes, default=0.0))

    def advance(self, step_s: float, waits: Waits) -> None:
        lanes = max(1, len(self.stage.lanes))
        if self.without:
            waits[EXECUTION, self.without[1]] += step_s * lanes
            return
        if self.slowed_by == REQUESTS:
            waits[REQUESTS, self.methods[REQUESTS]] += step_s * lanes
        done = self.speed * step_s
        self.left -= done
        for where in (SOURCE, TARGET, OWN):
            if self.needs[where]:
                waits[CAUSES[where], self.methods.get(where, "")] += self.needs[where] * done


class _Schedule:
    def __init__(self, courses: Sequence[Course], limits: Limits, workers: Workers, used: Used) -> None:
        self._courses = {course.entity: course for course in courses}
        self._limits, self._workers = limits, workers
        self._brim = Bucket(limits.per_second, limits.bucket).brim
        self._room = self._brim - used.level  # requests that the bucket takes at once
        self._execution = _Execution(limits.operating_s, used)
        self._now = 0.0
        self._running: list[_Running] = []
        self._imported: set[str] = set()
        self._late: list[tuple[str, int]] = []  # entities that wait for all others before their second pass
        self._times: dict[str, Timing] = {}

    def finish(self) -> dict[str, Timing]:
        self._start_entities()
        while self._running:
            self._advance()
        return self._times

    # ------------------------------------------------------------ entities

    def _start_entities(self) -> None:
        for name, course in self._courses.items():
            waits = any(need in self._courses and need not in self._imported for need in course.needs)
            if name not in self._times and not waits:
                self._times[name] = Timing(self._now)
                self._enter(name, 0)

    def _enter(self, entity: str, place: int) -> None:
        stages = self._courses[entity].stages
        phase = stages[place].phase if place < len(stages) else ""
        if entity not in self._imported and phase in ("", LATE, "verify"):
            self._imported.add(entity)
            self._start_entities()
        if not phase:
            self._times[entity].ended_s = self._now
        elif phase == LATE and len(self._imported) < len(self._courses):
            self._late.append((entity, place))
            return
        else:
            self._running.append(_Running(entity, stages[place], self._now, shortest_s=self._workers.stage_s))
        if len(self._imported) == len(self._courses):
            waiting, self._late = self._late, []
            for one in waiting:
                self._enter(*one)

    # ------------------------------------------------------------ time

    def _advance(self) -> None:
        """To the next moment at which a stage ends or a limit changes."""
        for one in self._running:
            one.without = self._exhausted(one)
        free = [one for one in self._running if not one.without]
        self._set_speeds(free)
        step_s = min(
            [
                *(one.left / one.speed for one in free),
                *(self._execution.back_at(one.without) - self._now for one in self._running if one.without),
            ]
        )
        spends: defaultdict[Billed, float] = defaultdict(float)
        for one in free:
            for key, seconds in one.spends.items():
                spends[key] += seconds * one.speed
        if self._limits.operating_s:
            lasts = (self._execution.left_s(key, self._now) / rate for key, rate in spends.items() if rate > 0)
            step_s = min([step_s, *lasts])
        filling = sum(one.needs[REQUESTS] * one.speed for one in free) - self._limits.per_second
        if self._limits.per_second and filling > LEAST and self._room > LEAST:
            step_s = min(step_s, self._room / filling)
        step_s = max(step_s, SHORTEST_STEP_S)
        for key, rate in spends.items():
            self._execution.spend(key, self._now, self._now + step_s, rate)
        self._room = min(self._brim, max(0.0, self._room - filling * step_s))
        self._now += step_s
        for one in self._running:
            one.advance(step_s, self._times[one.entity].waits)
        ended = [one for one in self._running if one.left <= DONE]
        self._running = [one for one in self._running if one.left > DONE]
        for one in ended:
            parts = self._times[one.entity].parts
            parts.append(Part(one.stage, one.began_s, self._now))
            self._enter(one.entity, len(parts))

    def _exhausted(self, one: _Running) -> Billed | None:
        if not self._limits.operating_s:
            return None
        return next((key for key in one.spends if self._execution.left_s(key, self._now) <= 1e-6), None)

    def _set_speeds(self, free: Sequence[_Running]) -> None:
        """Each as fast as its longest lane; then what is short slows its users, the shortest first."""
        calls = float(self._workers.workers)
        capacity = {SOURCE: calls, TARGET: calls, THREADS: float(self._workers.threads), OWN: 1.0}
        if self._limits.per_second and self._room <= LEAST:
            capacity[REQUESTS] = self._limits.per_second
        for one in free:
            one.speed, one.slowed_by = 1 / one.shortest_s, ""
        while capacity:
            loads = {
                thing: sum(one.needs[thing] * one.speed for one in free) / most for thing, most in capacity.items()
            }
            shortest = max(loads, key=loads.__getitem__)
            if loads[shortest] <= 1 + LEAST:
                return
            del capacity[shortest]
            for one in free:
                if one.needs[shortest]:
                    one.speed, one.slowed_by = one.speed / loads[shortest], shortest
