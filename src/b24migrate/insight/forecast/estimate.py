"""From the schedule of a migration to its forecast: hours, ranges, what-ifs; and afterwards how near it was."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from b24migrate.engine import plan
from b24migrate.engine.conductor import add_late
from b24migrate.engine.plan import Run
from b24migrate.engine.state import DONE, AllStates, EntityState, PhaseState
from b24migrate.insight.forecast.model import Compared, EntityForecast, Forecast, Survey, WhatIf
from b24migrate.insight.forecast.schedule import (
    DEFAULT_WORKERS,
    LATENCY,
    NOTHING_USED,
    OWN,
    SOURCE,
    TARGET,
    Course,
    Limits,
    Op,
    Stage,
    Timing,
    Used,
    Workers,
    covered_s,
    length_s,
    schedule,
)
from b24migrate.messages import plain, say
from b24migrate.model.prepared import prepared
from b24migrate.ports import ANALYSIS, RegisterRow, Store

ENTERPRISE = Limits(5.0, 250.0)  # bitrix24-rest-1 §A5
NIGHT_HOURS = 9  # from 22 to 7
WORLDS = 24  # that are tried for the range
# Relative standard errors of what no sample shows.
MODEL_ERROR = 0.04
LATENCY_ERROR = 0.15
OWN_ERROR = 0.25
MEASURED_BOX_ERROR = 0.25
SIGMAS = 2.0
KEY = "survey"
COURSES = "survey.courses"
ALL = ""  # the entity of a comparison of all together
PHASES = ("custom-fields-get", "custom-fields-set", "get", "set", "verify")
RUN = "run"


@dataclass(frozen=True, slots=True)
class Situation:
    """The limits and the workers of a migration. Stored with a forecast: field names stay."""

    limits: Limits
    crew: Workers = DEFAULT_WORKERS
    begins: Used = NOTHING_USED

    def schedule(self, courses: Sequence[Course]) -> dict[str, Timing]:
        return schedule(courses, self.limits, self.crew, self.begins)


def forecast(
    courses: Sequence[Course],
    situation: Situation,
    *,
    slower_s: Mapping[str, float],
    own_error: float = OWN_ERROR,
    basis: Sequence[str] = (),
    talk: Collection[str] = (),
) -> Forecast:
    """`slower_s`: by entity, how much longer than assumed a call to the target may take. `own_error`: relative standard
    error of the time that this computer needs."""
    times = situation.schedule(courses)
    total_s = length_s(times)
    ranges = Ranges(courses, situation, slower_s, own_error)
    waits: Counter[tuple[str, str]] = Counter()
    for one in times.values():
        waits.update(one.waits)
    by, method = main_limit(waits)
    low_s, high_s = ranges.for_all(total_s)
    return Forecast(
        tuple(entity_forecast(times[course.entity], course.entity, ranges) for course in courses),
        total_s,
        low_s,
        high_s,
        by,
        method,
        what_ifs(courses, situation, total_s, talk),
        tuple(basis),
        get_s=reading_s(times),
    )


def reading_s(times: Mapping[str, Timing]) -> float:
    """How long at least one entity is being read."""
    parts = [part for one in times.values() for part in one.parts if part.stage.phase == "get"]
    return covered_s((part.began_s, part.ended_s) for part in parts)


def entity_forecast(times: Timing, entity: str, ranges: Ranges) -> EntityForecast:
    get_s, fetch_s = times.phase_s("get", files=False), times.phase_s("get", files=True)
    upload_s, set_s = times.phase_s("set", files=True), times.phase_s("set", files=False)
    fields_s = times.phase_s("custom-fields-get", files=False) + times.phase_s("custom-fields-set", files=False)
    by, method = main_limit(times.waits)
    made = EntityForecast(
        entity,
        get_s,
        fetch_s,
        upload_s,
        set_s,
        0.0,
        0.0,
        by,
        method,
        fields_s=fields_s,
        late_s=times.phase_s("late", files=False),
        verify_s=times.phase_s("verify", files=False),
    )
    low_s, high_s = ranges.for_entity(entity, made.total_s)
    return replace(made, low_s=low_s, high_s=high_s)


def main_limit(waits: Mapping[tuple[str, str], float]) -> tuple[str, str]:
    """The reason that is waited for longest, and its method."""
    by: Counter[str] = Counter()
    for (why, _), seconds in waits.items():
        by[why] += seconds  # type: ignore[assignment]
    if not by:
        return LATENCY, ""
    why = max(by, key=by.__getitem__)
    methods = {method: seconds for (one, method), seconds in waits.items() if one == why}
    return why, max(methods, key=methods.__getitem__)


# ---------------------------------------------------------------- ranges


class Ranges:
    """The same migration with other values for what was assumed or sampled, as far as they are likely."""

    def __init__(
        self, courses: Sequence[Course], situation: Situation, slower_s: Mapping[str, float], own_error: float
    ) -> None:
        chance = random.Random(1)
        worlds = [World.draw(chance, own_error) for _ in range(WORLDS)]
        self._plain = situation.schedule(courses)
        self._tried = [
            (world, situation.schedule([world.change(one, slower_s, chance) for one in courses])) for world in worlds
        ]

    def for_all(self, seconds: float) -> tuple[float, float]:
        plain_s = length_s(self._plain)
        return _range(seconds, plain_s, [length_s(times) * world.model for world, times in self._tried])

    def for_entity(self, name: str, seconds: float) -> tuple[float, float]:
        plain_s = _worked_s(self._plain[name])
        return _range(seconds, plain_s, [_worked_s(times[name]) * world.model for world, times in self._tried])


def _worked_s(times: Timing) -> float:
    return sum(part.seconds for part in times.parts)


def _range(seconds: float, plain_s: float, tried_s: Sequence[float]) -> tuple[float, float]:
    """Two deviations to either side, each by the worlds on its side: a slow box can only make it longer."""
    if plain_s <= 0:
        return seconds, seconds
    parts = [one / plain_s for one in tried_s]
    below = [1 - one for one in parts if one < 1]
    above = [one - 1 for one in parts if one >= 1]
    low, high = (SIGMAS * (sum(one**2 for one in side) / len(side)) ** 0.5 if side else 0.0 for side in (below, above))
    return seconds * max(0.0, 1 - max(low, MODEL_ERROR)), seconds * (1 + max(high, MODEL_ERROR))


@dataclass(frozen=True, slots=True)
class World:
    model: float  # factors
    latency: float
    own: float
    box: float
    slow_box: float  # from 0 to 1

    @classmethod
    def draw(cls, chance: random.Random, own_error: float) -> World:
        def around(error: float) -> float:
            return chance.lognormvariate(0.0, error)

        return cls(
            model=around(MODEL_ERROR),
            latency=around(LATENCY_ERROR),
            own=around(own_error),
            box=around(MEASURED_BOX_ERROR),
            slow_box=chance.random() ** 2,
        )

    def change(self, course: Course, slower_s: Mapping[str, float], chance: random.Random) -> Course:
        slower = slower_s.get(course.entity, 0.0) * self.slow_box
        stages = [
            replace(stage, ops=tuple(self._op(op, slower) for op in stage.ops)).times(
                max(0.05, chance.gauss(1.0, stage.uncertain))
            )
            for stage in course.stages
        ]
        return replace(course, stages=tuple(stages))

    def _op(self, op: Op, slower_s: float) -> Op:
        batch = slower_s if op.method.endswith(".batch") else 0.0
        factors = {SOURCE: self.latency, TARGET: self.box, OWN: self.own}
        return replace(op, each_s=op.each_s * factors[op.where] + batch)


# ---------------------------------------------------------------- what if


def what_ifs(
    courses: Sequence[Course], situation: Situation, total_s: float, talk: Collection[str]
) -> tuple[WhatIf, ...]:
    def without(keep: Callable[[Course, Stage], bool]) -> float:
        changed = [replace(one, stages=tuple(stage for stage in one.stages if keep(one, stage))) for one in courses]
        return length_s(situation.schedule([one for one in changed if one.stages]))

    now = situation.limits
    unlimited = not now.per_second
    rate, bucket = max(ENTERPRISE.per_second, now.per_second), max(ENTERPRISE.bucket, now.bucket)
    enterprise = now if unlimited else replace(now, per_second=rate, bucket=bucket)
    return (
        WhatIf(
            "enterprise",
            # A change of the plan takes a while: the portal forgets what the analysis used up.
            length_s(replace(situation, limits=enterprise, begins=NOTHING_USED).schedule(courses)),
            say("forecast.enterprise", per_second=enterprise.per_second, bucket=enterprise.bucket),
        ),
        WhatIf("night_only", nights_s(total_s), say("forecast.nights")),
        WhatIf("without_files", without(lambda _, stage: not stage.files)),
        WhatIf("without_chats", without(lambda one, _: one.entity not in talk)),
    )


def nights_s(total_s: float) -> float:
    """From the first evening to the last morning."""
    nights, rest = divmod(total_s / 3600, NIGHT_HOURS)
    if nights and not rest:
        nights, rest = nights - 1, NIGHT_HOURS
    return (nights * 24 + rest) * 3600


# ---------------------------------------------------------------- afterwards


@prepared
@dataclass(frozen=True, slots=True)
class Basis:
    """The data behind a forecast, sufficient to forecast a part of it. Stored: field names stay."""

    courses: tuple[Course, ...]
    situation: Situation
    after: str = ""  # the run before the forecast

    def for_run(self, run: Run, elapsed_s: float) -> dict[str, Timing]:
        """Only the entities and phases of the run. The bucket has drained since the analysis."""
        phases = add_late(run.plan.phases)
        courses = [
            replace(one, stages=tuple(stage for stage in one.stages if stage.phase in phases))
            for one in self.courses
            if one.entity in run.plan.entities
        ]
        situation, begins = self.situation, self.situation.begins
        level = max(0.0, begins.level - elapsed_s * situation.limits.per_second)
        return replace(situation, begins=replace(begins, level=level)).schedule(courses)


def remember(store: Store, survey: Survey, basis: Basis) -> None:
    rows = [
        RegisterRow(KEY, {"Data": survey.to_json()}),
        RegisterRow(COURSES, {"Data": msgspec.to_builtins(basis, enc_hook=plain)}),
    ]
    store.write(ANALYSIS, rows)


def load_last(store: Store) -> Survey | None:
    """The last analysis."""
    row = store.read(ANALYSIS, KEY)
    return None if row is None else Survey.from_json(row.values["Data"])


def compare_forecast(store: Store) -> list[Compared]:
    """The last forecast next to the phases that are done since; after the end of the run also the reading of all
    entities and the whole run. A run of fewer entities or phases is compared with that part of the forecast."""
    made, run = load_last(store), plan.current(store)
    row = store.read(ANALYSIS, COURSES)
    basis = None if row is None else msgspec.convert(row.values["Data"], Basis)
    if made is None or basis is None or run is None or run.plan.test_limit or run.id == basis.after:
        return []
    times = basis.for_run(run, max(0.0, _between(made.at, run.started)))
    states = AllStates(store)
    states.look()
    mine = {name: states.read(name) for name in times}
    found = [one for name, timing in times.items() for one in _compare_phases(timing, mine[name])]
    return [*found, *_compare_all(times, mine, run)]


def _compare_phases(times: Timing, state: EntityState) -> Iterable[Compared]:
    """A run resets its phases, so the done ones are its own."""
    for phase in PHASES:
        seconds = _phase_s(state.phase(phase))
        if seconds is not None:
            yield Compared(state.name, phase, times.phase_s(phase), seconds)


def _compare_all(times: Mapping[str, Timing], states: Mapping[str, EntityState], run: Run) -> Iterable[Compared]:
    if run.state != plan.ENDED or not run.finished:
        return
    read = [state.phase("get") for state in states.values() if state.phase("get").state == DONE]
    if len(read) == len(states) and "get" in run.plan.phases:
        spans = [(_seconds(one.started), _seconds(one.finished)) for one in read]
        yield Compared(ALL, "get", reading_s(times), covered_s(spans))
    yield Compared(ALL, RUN, length_s(times), _between(run.started, run.finished))


def whole_run(store: Store) -> Compared | None:
    """The comparison of the whole run; None while there is nothing to compare."""
    return next((one for one in compare_forecast(store) if one.entity == ALL and one.phase == RUN), None)


def _phase_s(phase: PhaseState) -> float | None:
    if phase.state != DONE or not phase.started or not phase.finished:
        return None
    return _between(phase.started, phase.finished)


def _between(one: str, other: str) -> float:
    return _seconds(other) - _seconds(one)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
