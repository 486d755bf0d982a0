"""The last forecast beside what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from b24migrate.engine import plan
from b24migrate.engine.conductor import add_late
from b24migrate.engine.plan import Run
from b24migrate.engine.state import DONE, AllStates, EntityState, PhaseState
from b24migrate.insight.forecast.course import Course, Took, covered_s, length_s
from b24migrate.insight.forecast.estimate import Situation, get_of_all_s
from b24migrate.insight.forecast.model import Compared, Survey
from b24migrate.messages import plain
from b24migrate.ports import ANALYSIS, RegisterRow, Store

KEY = "survey"
PLAYED = "survey.courses"
ALL = ""  # the entity of what is compared for all of them together
PHASES = ("custom-fields-get", "custom-fields-set", "get", "set", "verify")
RUN = "run"


@dataclass(frozen=True, slots=True)
class Played:
    """What a forecast was made from: enough to play a part of it."""

    courses: tuple[Course, ...]
    situation: Situation
    after: str = ""  # the run that there was before

    def of(self, run: Run, elapsed_s: float) -> dict[str, Took]:
        """The run that there was, with its entities and phases only. The bucket has drained since the analysis."""
        phases = add_late(run.plan.phases)
        courses = [
            replace(one, stages=tuple(stage for stage in one.stages if stage.phase in phases))
            for one in self.courses
            if one.entity in run.plan.entities
        ]
        situation, begins = self.situation, self.situation.begins
        level = max(0.0, begins.level - elapsed_s * situation.limits.per_second)
        return replace(situation, begins=replace(begins, level=level)).play(courses)


def remember(store: Store, survey: Survey, played: Played) -> None:
    rows = [
        RegisterRow(KEY, {"Data": survey.to_json()}),
        RegisterRow(PLAYED, {"Data": msgspec.to_builtins(played, enc_hook=plain)}),
    ]
    store.write(ANALYSIS, rows)


def last(store: Store) -> Survey | None:
    """The analysis that was made last."""
    row = store.read(ANALYSIS, KEY)
    return None if row is None else Survey.from_json(row.values["Data"])


def compared(store: Store) -> list[Compared]:
    """The last forecast beside the phases that are done since; then of all entities together their reading, and the
    whole run, once that is at its end. What was run may be less than what was foretold: then that part counts."""
    made, run = last(store), plan.current(store)
    row = store.read(ANALYSIS, PLAYED)
    played = None if row is None else msgspec.convert(row.values["Data"], Played)
    if made is None or played is None or run is None or run.plan.test_limit or run.id == played.after:
        return []
    foretold = played.of(run, max(0.0, _between(made.at, run.started)))
    states = AllStates(store)
    states.look()
    mine = {name: states.read(name) for name in foretold}
    found = [one for name, took in foretold.items() for one in _phases(took, mine[name])]
    return [*found, *_of_all(foretold, mine, run)]


def _phases(took: Took, state: EntityState) -> Iterable[Compared]:
    """A run begins its phases anew, so what is done was done by it."""
    for phase in PHASES:
        seconds = phase_s(state.phase(phase))
        if seconds is not None:
            yield Compared(state.name, phase, took.phase_s(phase), seconds)


def _of_all(foretold: Mapping[str, Took], states: Mapping[str, EntityState], run: Run) -> Iterable[Compared]:
    if run.state != plan.ENDED or not run.finished:
        return
    read = [state.phase("get") for state in states.values() if state.phase("get").state == DONE]
    if len(read) == len(states) and "get" in run.plan.phases:
        spans = [(_seconds(one.started), _seconds(one.finished)) for one in read]
        yield Compared(ALL, "get", get_of_all_s(foretold), covered_s(spans))
    yield Compared(ALL, RUN, length_s(foretold), _between(run.started, run.finished))


def whole_run(store: Store) -> Compared | None:
    """How near the forecast of the whole run was; None while there is nothing to compare."""
    return next((one for one in compared(store) if one.entity == ALL and one.phase == RUN), None)


def phase_s(phase: PhaseState) -> float | None:
    if phase.state != DONE or not phase.started or not phase.finished:
        return None
    return _between(phase.started, phase.finished)


def _between(one: str, other: str) -> float:
    return _seconds(other) - _seconds(one)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


__all__ = ["ALL", "Played", "compared", "last", "phase_s", "remember", "whole_run"]
