"""The status of a migration as values: what `status`, the dashboard, the report, the functions and the metrics show.
The words are added where it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from b24migrate.engine.state import PhaseState
from b24migrate.insight.cutover import CutoverBrief
from b24migrate.messages import plain
from b24migrate.model.records import Json


class Verdict(StrEnum):
    """The state of the migration in one word."""

    NO_RUN = "no_run"
    BEGINNING = "beginning"
    RUNNING = "running"
    LIMITED = "limited"  # runs, and waits for a limit of a portal
    OUTAGE = "outage"  # a portal does not answer and is probed
    STILL = "still"  # no progress for a while: possibly no worker runs
    PAUSED = "paused"
    STOPPED = "stopped"  # by an error; the same command continues
    BLOCKED = "blocked"  # a prerequisite is not met
    DONE = "done"
    FINDINGS = "findings"  # completed with issues


@dataclass(frozen=True, slots=True)
class Now:
    verdict: Verdict
    since: str = ""  # UTC
    busy: tuple[str, ...] = ()  # steps that run
    stuck: tuple[str, ...] = ()  # steps that failed or are blocked
    waits_for: tuple[str, ...] = ()  # methods whose limit is reached; in an outage the portal
    message: str = ""  # how the run ended or why it stopped; in an outage the portal's last answer
    next_at: str = ""  # in an outage: the next probe, UTC
    stops_at: str = ""  # in an outage: when the run stops, UTC
    spent_s: float = 0.0  # from the start of the run to now or to its end


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
    delta: bool = False  # its get reads only what may have changed


@dataclass(frozen=True, slots=True)
class Progress:
    """`share` of the work, 0 to 1. `left_s` is None while it is unknown. `done` of `total` steps: each record is read,
    then imported. `total_basis`: source (the portal's own totals), forecast, unknown. `left_basis`: pace (of the last
    `window_s`), forecast, unknown."""

    share: float
    done: int
    total: int | None
    total_basis: str
    left_s: float | None
    left_basis: str
    window_s: float
    records: int | None = None  # to migrate
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
class StreamStatus:
    """The numbers of one record type."""

    name: str
    source: int | None  # the total that the portal reports
    read: int
    staged: int
    imported: int
    failed: int
    retrying: int
    excluded: int  # by a rule, or deleted at the source and not on the target
    deleted: int  # at the source; the other numbers count them too
    impossible: int
    verified: int  # found equal on the target
    findings: int
    drift: int
    conflicts: int  # changed on both sides since they were sent
    undecided: int  # conflicts that a person has to decide

    @property
    def waiting(self) -> int:
        """Read, and not sent yet."""
        return self.staged - self.imported - self.failed - self.retrying

    def to_json(self) -> dict[str, Json]:
        """As `status --json` promises it."""
        return {
            "reported": self.source,
            "retrieved": self.read,
            "new": self.waiting,
            "import_ok": self.imported,
            "import_err": self.failed,
            "error_retry": self.retrying,
            "excluded": self.excluded,
            "deleted": self.deleted,
            "conflicts": self.conflicts,
            "impossible": self.impossible,
            "mismatch": self.findings,
        }


@dataclass(frozen=True, slots=True)
class EntityStatus:
    """An entity in `status --json` and in the metrics."""

    name: str
    verified: bool
    phases: dict[str, PhaseState]
    streams: dict[str, StreamStatus]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        return {
            "verified": self.verified,
            "phases": {name: phase.state for name, phase in self.phases.items()},
            "streams": {name: stream.to_json() for name, stream in self.streams.items()},
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The content of `status --json`."""

    run: str
    entities: dict[str, EntityStatus] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)  # portals that redirect, and where to
    cutover: CutoverBrief | None = None  # once it has started

    def to_json(self) -> dict[str, Json]:
        more: dict[str, Json] = {"moved": dict(self.moved)} if self.moved else {}
        more |= {"cutover": self.cutover.to_json()} if self.cutover else {}
        return {"run": self.run, "entities": {name: one.to_json() for name, one in self.entities.items()}, **more}


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
    streams: tuple[StreamStatus, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesView:
    known: int
    fetched: int | None
    imported: int
    failed: int


@dataclass(frozen=True, slots=True)
class Wait:
    """For the limit of a method. `now`: the run waits for it at this moment."""

    method: str
    seconds: float
    now: bool


@dataclass(frozen=True, slots=True)
class Gate:
    """Why a step cannot start: a prerequisite, or other entities that come first."""

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
    undecided: int  # conflicts that a person has to decide
    dead_letters: int  # failed jobs
    workers: int | None  # jobs that are held at this moment
    forecast_s: float | None  # for the whole migration

    def to_json(self) -> dict[str, Json]:
        made: dict[str, Json] = msgspec.to_builtins(self, enc_hook=plain)
        return made


@dataclass(frozen=True, slots=True)
class Point:
    """One moment of the chart. The numbers grow over all runs. `waited_s`: for limits."""

    at: str
    read: int
    imported: int
    verified: int
    failed: int
    waited_s: float

    def to_json(self) -> Mapping[str, Json]:
        made: Mapping[str, Json] = msgspec.to_builtins(self, enc_hook=plain)
        return made
