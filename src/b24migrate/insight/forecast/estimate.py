"""From stages to hours: the migration is played as it is foretold, and again as it might be, for the range."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from b24migrate.insight.forecast.course import (
    LATENCY,
    OWN,
    SOURCE,
    TARGET,
    Begins,
    Course,
    Crew,
    Limits,
    Op,
    Stage,
    Took,
    covered_s,
    length_s,
)
from b24migrate.insight.forecast.model import EntityForecast, Forecast, WhatIf
from b24migrate.insight.forecast.simulate import DEFAULT_CREW, FRESH, play
from b24migrate.messages import say

ENTERPRISE = Limits(5.0, 250.0)  # bitrix24-rest-1 §A5
NIGHT_HOURS = 9  # from 22 to 7
WORLDS = 24  # that are played for the range
PLAYED_SHORT = 3_000
# Relative standard errors of what no sample tells.
MODEL_ERROR = 0.04
LATENCY_ERROR = 0.15
OWN_ERROR = 0.25
MEASURED_BOX_ERROR = 0.25
SIGMAS = 2.0


@dataclass(frozen=True, slots=True)
class Situation:
    """Under what a migration is played."""

    limits: Limits
    crew: Crew = DEFAULT_CREW
    begins: Begins = FRESH

    def play(self, courses: Sequence[Course], *, most: int = 0) -> dict[str, Took]:
        more = {"most": most} if most else {}
        return play(courses, self.limits, self.crew, self.begins, **more)


def forecast(
    courses: Sequence[Course],
    situation: Situation,
    *,
    slower_s: Mapping[str, float],
    own_error: float = OWN_ERROR,
    basis: Sequence[str] = (),
    talk: Collection[str] = (),
) -> Forecast:
    """`slower_s`: by entity, by how much a call to the target may last longer than assumed; 0 where it is measured.
    `own_error`: relative standard error of what our own computing takes."""
    took = situation.play(courses)
    total_s = length_s(took)
    ranges = Ranges(courses, situation, slower_s, own_error)
    waits: Counter[tuple[str, str]] = Counter()
    for one in took.values():
        waits.update(one.waits)
    by, method = limit_of(waits)
    low_s, high_s = ranges.of_all(total_s)
    return Forecast(
        tuple(told(course, took[course.entity], ranges) for course in courses),
        total_s,
        low_s,
        high_s,
        by,
        method,
        what_ifs(courses, situation, total_s, talk),
        tuple(basis),
        get_s=get_of_all_s(took),
    )


def get_of_all_s(took: Mapping[str, Took]) -> float:
    """How long at least one entity is being read."""
    parts = [part for one in took.values() for part in one.parts if part.stage.phase == "get"]
    return covered_s((part.began_s, part.ended_s) for part in parts)


def told(course: Course, took: Took, ranges: Ranges) -> EntityForecast:
    get_s, fetch_s = took.phase_s("get", files=False), took.phase_s("get", files=True)
    upload_s, set_s = took.phase_s("set", files=True), took.phase_s("set", files=False)
    fields_s = took.phase_s("custom-fields-get", files=False) + took.phase_s("custom-fields-set", files=False)
    by, method = limit_of(took.waits)
    made = EntityForecast(
        course.entity,
        get_s,
        fetch_s,
        upload_s,
        set_s,
        0.0,
        0.0,
        by,
        method,
        fields_s=fields_s,
        late_s=took.phase_s("late", files=False),
        verify_s=took.phase_s("verify", files=False),
    )
    low_s, high_s = ranges.of_entity(course.entity, made.total_s)
    return replace(made, low_s=low_s, high_s=high_s)


def limit_of(waits: Mapping[tuple[str, str], float]) -> tuple[str, str]:
    """What is waited for most, and the method of it that is waited for most."""
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
    """The same migration in worlds where what was assumed or sampled is otherwise, as far as that is likely."""

    def __init__(
        self, courses: Sequence[Course], situation: Situation, slower_s: Mapping[str, float], own_error: float
    ) -> None:
        chance = random.Random(1)
        worlds = [World.drawn(chance, own_error) for _ in range(WORLDS)]
        self._plain = situation.play(courses, most=PLAYED_SHORT)
        self._played = [
            (world, situation.play([world.changed(one, slower_s, chance) for one in courses], most=PLAYED_SHORT))
            for world in worlds
        ]

    def of_all(self, seconds: float) -> tuple[float, float]:
        plain_s = length_s(self._plain)
        return _range(seconds, plain_s, [length_s(took) * world.model for world, took in self._played])

    def of_entity(self, name: str, seconds: float) -> tuple[float, float]:
        plain_s = _worked_s(self._plain[name])
        return _range(seconds, plain_s, [_worked_s(took[name]) * world.model for world, took in self._played])


def _worked_s(took: Took) -> float:
    return sum(part.seconds for part in took.parts)


def _range(seconds: float, plain_s: float, played_s: Sequence[float]) -> tuple[float, float]:
    """Two deviations to either side, each by the worlds on its side: a slow box makes it longer, and none shorter."""
    if plain_s <= 0:
        return seconds, seconds
    parts = [one / plain_s for one in played_s]
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
    slow_box: float  # how much of the slowness that is possible, from 0 to 1

    @classmethod
    def drawn(cls, chance: random.Random, own_error: float) -> World:
        def around(error: float) -> float:
            return chance.lognormvariate(0.0, error)

        return cls(
            model=around(MODEL_ERROR),
            latency=around(LATENCY_ERROR),
            own=around(own_error),
            box=around(MEASURED_BOX_ERROR),
            slow_box=chance.random() ** 2,
        )

    def changed(self, course: Course, slower_s: Mapping[str, float], chance: random.Random) -> Course:
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
        return length_s(situation.play([one for one in changed if one.stages]))

    now = situation.limits
    unlimited = not now.per_second
    rate, bucket = max(ENTERPRISE.per_second, now.per_second), max(ENTERPRISE.bucket, now.bucket)
    enterprise = now if unlimited else replace(now, per_second=rate, bucket=bucket)
    return (
        WhatIf(
            "enterprise",
            # Who changes the plan does not begin at once: what the analysis used up is forgotten by then.
            length_s(replace(situation, limits=enterprise, begins=FRESH).play(courses)),
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
