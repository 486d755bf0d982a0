"""The answers of the API as values: the read models and additions. OpenAPI is made from these."""

from __future__ import annotations

from dataclasses import dataclass

from b24migrate.insight.fidelity import Fidelity
from b24migrate.insight.forecast import Survey
from b24migrate.insight.last_pass import LastPass
from b24migrate.insight.status.model import Overview, Point
from b24migrate.web.actions import LastAction
from b24migrate.web.responses import Problem


@dataclass(frozen=True, slots=True)
class Front(Overview):
    """The front page. `sentence` is the verdict in words, `progress_sentence` the progress with its basis; `can` lists
    the actions that make sense now: start, pause, resume, retry, analyze, cutover (and a delta run)."""

    sentence: str
    progress_sentence: str
    can: tuple[str, ...]
    last_action: LastAction | None


@dataclass(frozen=True, slots=True)
class History:
    """Oldest first."""

    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class PassView:
    """`last` is null before the first run, and for a run that does not read."""

    last: LastPass | None


@dataclass(frozen=True, slots=True)
class ErrorPlace:
    """The number of records of a stream (or jobs of a mini-task, then `stream` is empty) that failed with the same
    error."""

    place: str
    count: int
    status: str
    example: str
    message: str
    stream: str


@dataclass(frozen=True, slots=True)
class ErrorStart:
    """A failed record, and how many records failed only because it did."""

    stream: str
    id: str
    code: str
    message: str
    records: int


@dataclass(frozen=True, slots=True)
class ErrorGroup:
    """All failures with one code. `waits`: they are retried automatically. `first`: the records to fix first."""

    code: str
    title: str
    count: int
    waits: bool
    cause: str
    fixes: tuple[str, ...]
    page: str
    places: tuple[ErrorPlace, ...]
    first: tuple[ErrorStart, ...] = ()


@dataclass(frozen=True, slots=True)
class Letter:
    """A part of the work that was given up; no record."""

    task: str
    code: str
    reason: str
    at: str
    job: str


@dataclass(frozen=True, slots=True)
class Errors:
    """The most frequent first. Of the dead letters the first ones; `dead_letters_in_all` counts them."""

    groups: tuple[ErrorGroup, ...]
    dead_letters: tuple[Letter, ...]
    dead_letters_in_all: int


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """The meaning of a code. `like`: the code of the page, if it describes a family of codes."""

    code: str
    like: str
    title: str
    cause: str
    fix: str
    again: str
    page: str


@dataclass(frozen=True, slots=True)
class FindingView:
    stream: str
    fate: str
    source_id: str
    field: str
    expected: str
    actual: str
    note: str


@dataclass(frozen=True, slots=True)
class Findings:
    """`next` is the cursor of the next page, null at the end; a page may have fewer rows than requested, even none, and
    still a `next`. `total` is null if only one fate is requested, because it is not counted."""

    total: int | None
    findings: tuple[FindingView, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class FidelityView:
    """`list` is null if the target was never queried, and has no lines if it keeps everything; its `hash` is used to
    accept it. `foreseen`: expected differences that verify found; `spared`: expected, not found."""

    list: Fidelity | None
    foreseen: int
    spared: int


@dataclass(frozen=True, slots=True)
class ComparedView:
    """A forecast and the actual time. `error`: 0.1 means that the forecast was 10 % too long."""

    entity: str
    phase: str
    foretold_s: float
    took_s: float
    error: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """`running`: one is being made."""

    survey: Survey | None
    compared: tuple[ComparedView, ...]
    running: bool


@dataclass(frozen=True, slots=True)
class CertificateStream:
    stream: str
    reported: int | None
    retrieved: int
    imported: int
    failed: int
    excluded: int
    impossible: int
    deleted: int


@dataclass(frozen=True, slots=True)
class Certificate:
    """Whether a certificate can be made, by a quick check; writing it (`b24migrate certificate`) counts every ID.
    `refused` is the reason why not."""

    ready: bool
    run: str
    streams: tuple[CertificateStream, ...]
    refused: Problem | None


@dataclass(frozen=True, slots=True)
class ConflictRecord:
    stream: str
    source_id: str


@dataclass(frozen=True, slots=True)
class ConflictsDecided:
    """How many records; of which nothing can be decided (not in conflict, sent already, or changed
    after the table was exported); how many conflicts of all
    record types are still undecided."""

    message: str
    decided: int
    not_decided: tuple[ConflictRecord, ...]
    undecided: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """It has started; the front page shows the progress."""

    message: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """The cookie is set."""

    message: str
