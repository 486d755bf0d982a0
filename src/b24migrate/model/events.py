"""Events as frozen values. Log, metrics, progress and dashboard are observers: plain callables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from b24migrate.model.records import Job


@dataclass(frozen=True, slots=True)
class Event:
    pass


@dataclass(frozen=True, slots=True)
class PhaseChanged(Event):
    entity: str
    phase: str
    state: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Extracted(Event):
    """A page was staged."""

    entity: str
    stream: str
    records: int
    latency_ms: float


@dataclass(frozen=True, slots=True)
class Sent(Event):
    """An import call was answered and its outcomes are written."""

    entity: str
    stream: str
    ok: int
    failed: int
    retried: int
    latency_ms: float


@dataclass(frozen=True, slots=True)
class RecordFailed(Event):
    entity: str
    stream: str
    source_id: str
    status: str
    attempt: int
    error_code: str
    error: str


@dataclass(frozen=True, slots=True)
class FileMoved(Event):
    """A file was fetched or uploaded, or could not be."""

    entity: str
    key: str
    op: str  # fetched, uploaded, failed
    bytes: int = 0
    error_code: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class JobDone(Event):
    """A worker has finished with a job, whatever came of it. `stream`: "" where it belongs to none."""

    scope: str
    stream: str
    seconds: float


@dataclass(frozen=True, slots=True)
class JobFailed(Event):
    job: Job
    what: str  # retried, parked, buried
    error_code: str
    error: str
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Waited(Event):
    """The work waits for a limit of a portal."""

    portal: str
    method: str
    seconds: float


@dataclass(frozen=True, slots=True)
class PortalDown(Event):
    """It does not answer. The next request is in `next_s`; after `stops_s` the run ends."""

    portal: str
    since_s: float
    error: str
    next_s: float = 0.0
    stops_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PortalBack(Event):
    """It answers again."""

    portal: str


@dataclass(frozen=True, slots=True)
class PortalMoved(Event):
    """It redirects from one host to another. Requests go there from now on."""

    portal: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Noted(Event):
    """A message for the user: an alarm, a gate, a missing capability."""

    level: str  # info, warning, error
    message: str
    entity: str = ""
    extra: tuple[tuple[str, str], ...] = field(default=())


Observer: TypeAlias = Callable[[Event], None]


def tell(observers: tuple[Observer, ...], event: Event) -> None:
    for observer in observers:
        observer(event)
