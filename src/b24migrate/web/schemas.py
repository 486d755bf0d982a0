"""What the API answers, as values: the read models' own shapes and what goes with them. OpenAPI is made from these."""

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
    """The front page. `sentence` is the verdict in words, `progress_sentence` how far it is and what that rests on;
    `can` says which actions make sense now: start, pause, resume, retry, analyze, cutover (and
    a delta run)."""

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
    """So many records of a stream (or parts of a mini-task, then `stream` is empty) failed alike."""

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
    """What failed with one code. `waits`: it is retried automatically. `first`: the records to fix first."""

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
    """What a code means. `like`: the code of the page, if it describes a family of codes."""

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
    """`next` asks for what follows, null at the end; a page may have fewer than asked for, even none, and yet a `next`.
    `total` is null where it is not known without reading all of them (when only one fate is asked for)."""

    total: int | None
    findings: tuple[FindingView, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class FidelityView:
    """`list` is null when the target was never asked, and has no lines when it keeps everything; its `hash` is what
    accepts it. Of the differences that verify found, `foreseen` were expected; `spared`: expected, not found."""

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
    """Whether one can be made, by what a look tells; writing it (`b24migrate certificate`) counts every id. `refused`
    says why not."""

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
    """How many records; of which nothing can be decided (not in conflict, or sent already); how many conflicts of all
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
