"""What somebody sees who looks at a migration: the front page of the dashboard, `status --watch` and the report's
first page alike. Values only; whoever shows them finds the words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from b24migrate.messages import plain
from b24migrate.model.records import Json


class Verdict(StrEnum):
    """The one thing to say first."""

    NO_RUN = "no_run"
    BEGINNING = "beginning"
    RUNNING = "running"
    LIMITED = "limited"  # runs, and waits for a limit of a portal
    OUTAGE = "outage"  # a portal does not answer; it is asked again and again
    STILL = "still"  # nothing has moved for a while: maybe nobody works on it
    PAUSED = "paused"
    STOPPED = "stopped"  # before its end, by an error; the same command goes on
    BLOCKED = "blocked"  # before its end, by a gate
    DONE = "done"
    FINDINGS = "findings"  # at its end, with something to look at


@dataclass(frozen=True, slots=True)
class Now:
    verdict: Verdict
    since: str = ""  # UTC
    busy: tuple[str, ...] = ()  # mini-tasks that run
    stuck: tuple[str, ...] = ()  # that failed or are blocked
    waits_for: tuple[str, ...] = ()  # methods whose limit is waited for; of an outage: the portal
    message: str = ""  # how the run ended, or why it stopped; of an outage: what the portal's last answer was
    next_at: str = ""  # of an outage: when the portal is asked again, UTC
    stops_at: str = ""  # and when the run stops by itself
    spent_s: float = 0.0  # since the run began, or until it ended


@dataclass(frozen=True, slots=True)
class RunFacts:
    id: str
    state: str
    started: str
    finished: str
    exit_code: int | None
    entities: tuple[str, ...]
    phases: tuple[str, ...]
    test_limit: int


@dataclass(frozen=True, slots=True)
class Progress:
    """`share` of the work, 0 to 1; `left_s` None while nobody can say. `done` of `total` steps: each record is read,
    then imported. The bases say what they rest on:
    `total_basis`: source (the portals' own totals), forecast (of the analysis), unknown (so far only what was found);
    `left_basis`: pace (of the last `window_s`), forecast, unknown."""

    share: float
    done: int
    total: int | None
    total_basis: str
    left_s: float | None
    left_basis: str
    window_s: float
    records: int | None = None  # how many there are to be moved
    read: int = 0
    imported: int = 0


@dataclass(frozen=True, slots=True)
class Speed:
    """Records a second over the last `window_s`."""

    read: float
    imported: float
    verified: float
    window_s: float


@dataclass(frozen=True, slots=True)
class StreamView:
    name: str
    source: int | None  # what the portal says it has
    read: int
    staged: int
    imported: int
    failed: int
    retrying: int
    excluded: int
    impossible: int
    verified: int  # found equal on the target
    findings: int
    drift: int


@dataclass(frozen=True, slots=True)
class PhaseView:
    name: str
    state: str
    started: str = ""
    finished: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class EntityView:
    name: str
    planned: bool
    verified: bool
    phases: tuple[PhaseView, ...]
    streams: tuple[StreamView, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesView:
    known: int
    fetched: int | None  # None where the store cannot say cheaply
    imported: int
    failed: int


@dataclass(frozen=True, slots=True)
class Wait:
    """For the limit of a method. `now`: it grew since the last look."""

    method: str
    seconds: float
    now: bool


@dataclass(frozen=True, slots=True)
class Gate:
    """What keeps a mini-task from starting: a gate that is closed, or other entities that must come first."""

    task: str
    waits_for: tuple[str, ...]  # entities
    message: str = ""
    entity: str = ""
    phase: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    at: str
    now: Now
    run: RunFacts | None
    progress: Progress
    speed: Speed
    entities: tuple[EntityView, ...]
    files: FilesView
    waits: tuple[Wait, ...]
    gates: tuple[Gate, ...]
    failed: int  # records and files
    retrying: int
    findings: int
    dead_letters: int  # parts of the work that are no records
    workers: int | None  # jobs that somebody holds at this moment
    forecast_s: float | None  # what the analysis foretold for everything

    def to_json(self) -> dict[str, Json]:
        made: dict[str, Json] = msgspec.to_builtins(self, enc_hook=plain)
        return made


@dataclass(frozen=True, slots=True)
class Point:
    """One moment of the chart; the numbers grow, over all runs. `waited_s`: for limits."""

    at: str
    read: int
    imported: int
    verified: int
    failed: int
    waited_s: float

    def to_json(self) -> Mapping[str, Json]:
        made: Mapping[str, Json] = msgspec.to_builtins(self, enc_hook=plain)
        return made
