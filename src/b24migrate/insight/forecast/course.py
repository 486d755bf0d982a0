"""What a migration does, as values that can be played on paper: entities, their phases, and the jobs of each stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from b24migrate.insight.forecast.meter import Billed

SOURCE, TARGET, OWN = "source", "target", "own"
# what is waited for
REQUESTS, EXECUTION, LATENCY, BOX, HERE = "requests", "execution time", "latency", "the target", "this computer"


@dataclass(frozen=True, slots=True)
class Limits:
    per_second: float = 2.0  # 0: none
    bucket: float = 50.0
    operating_s: float = 480.0  # 0: none


@dataclass(frozen=True, slots=True)
class Begins:
    """What is used up of the limits when the migration begins: an analysis has just been made."""

    level: float = 0.0  # of the bucket
    spent_s: tuple[tuple[Billed, float], ...] = ()  # execution time in the last ten minutes


@dataclass(frozen=True, slots=True)
class Op:
    """What a job does so many times, one after the other."""

    where: str
    count: float
    each_s: float  # how long one is under way
    method: str = ""  # the one to name
    counted: bool = True  # by the bucket of requests
    seconds_of: tuple[tuple[Billed, float], ...] = ()  # execution time of one


@dataclass(frozen=True, slots=True)
class Stage:
    """Jobs in lanes that go on side by side; those of one lane come one after another."""

    name: str
    phase: str
    lanes: tuple[float, ...] = ()  # how many jobs each has
    ops: tuple[Op, ...] = ()  # of each job
    files: bool = False
    uncertain: float = 0.0  # relative standard error of the number of jobs, as far as a sample tells

    def times(self, factor: float) -> Stage:
        return replace(self, lanes=tuple(one * factor for one in self.lanes))

    @property
    def jobs(self) -> float:
        return sum(self.lanes)

    @property
    def played(self) -> float:
        """How many steps it takes to play it."""
        return self.jobs * sum(max(1.0, op.count) if op.where != OWN else 1.0 for op in self.ops)


@dataclass(frozen=True, slots=True)
class Course:
    """The stages of one entity in order, and whom it waits for."""

    entity: str
    needs: frozenset[str]
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class Crew:
    """Who works: so many jobs and calls at a time, and what beginning a stage takes."""

    workers: int = 4
    hands: int = 5
    stage_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Part:
    """A stage that was played: when it began and ended."""

    stage: Stage
    began_s: float
    ended_s: float

    @property
    def seconds(self) -> float:
        return self.ended_s - self.began_s


@dataclass(slots=True)
class Took:
    """How an entity fared. `waits`: how long its jobs waited for what, by reason and method, added up."""

    began_s: float = 0.0
    ended_s: float = 0.0
    parts: list[Part] = field(default_factory=list)
    waits: dict[tuple[str, str], float] = field(default_factory=dict)

    def times(self, factor: float) -> Took:
        """Of a migration that is so many times as long."""
        parts = [Part(one.stage.times(factor), one.began_s * factor, one.ended_s * factor) for one in self.parts]
        waits = {why: seconds * factor for why, seconds in self.waits.items()}
        return Took(self.began_s * factor, self.ended_s * factor, parts, waits)

    def phase_s(self, *phases: str, files: bool | None = None) -> float:
        """From the first to the last moment of the phases; with `files`, so much of it as went to files, or did not."""
        mine = [one for one in self.parts if one.stage.phase in phases]
        if files is None:
            return max((one.ended_s for one in mine), default=0.0) - min((one.began_s for one in mine), default=0.0)
        return sum(one.seconds for one in mine if one.stage.files is files)


def length_s(took: Mapping[str, Took]) -> float:
    return max((one.ended_s for one in took.values()), default=0.0)


def covered_s(spans: Iterable[tuple[float, float]]) -> float:
    """How long at least one of them lasted."""
    total = reached = 0.0
    for began, ended in sorted(spans):
        total += max(0.0, ended - max(began, reached))
        reached = max(reached, ended)
    return total


def even_lanes(jobs: float, lanes: float) -> tuple[float, ...]:
    """So many jobs in lanes of equal length; more lanes than anybody could work on at once are told as a few."""
    count = max(1, min(MOST_LANES, round(lanes)))
    return (jobs / count,) * count if jobs > 0 else ()


MOST_LANES = 24
