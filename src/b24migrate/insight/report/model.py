"""The values of a report; the templates word them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from b24migrate.engine.plan import Run
from b24migrate.engine.state import ENDED
from b24migrate.insight.causes import Group
from b24migrate.insight.certificate.write import NEEDED
from b24migrate.insight.fidelity import Fidelity
from b24migrate.insight.forecast import Compared, Survey
from b24migrate.insight.last_pass import LastPass
from b24migrate.insight.status.model import Point, StreamStatus

FIRST = 200  # rows
EXAMPLES = 3  # of each group
MOST_GROUPS = 300
EXCERPT = 300  # characters
LONGEST_PART = 500  # of a group
OTHERS = ("…",)
Cell = str | int | float | None
GroupKey = tuple[str, ...]


class Standing(StrEnum):
    """The one thing to say first."""

    NO_RUN = "no_run"
    RUNNING = "running"
    PAUSED = "paused"
    BLOCKED = "blocked"  # by a gate, before its end
    STOPPED = "stopped"  # by an error, before its end
    PARTLY = "partly"  # the requested part is done
    TRY_OUT = "try_out"  # only the first few records of each kind
    FINDINGS = "findings"  # complete, with issues
    DONE = "done"

    @property
    def finished(self) -> bool:
        return self in (Standing.DONE, Standing.FINDINGS)


@dataclass(frozen=True, slots=True)
class StreamFacts(StreamStatus):
    """The status of a record type, and what only the report shows of it."""

    entity: str
    places: int  # that keep IDs of the source
    losses: Mapping[str, int]

    @property
    def known(self) -> int:
        """All that is known to exist: each is in one of the parts."""
        return self.imported + self.failed + self.excluded + self.impossible + self.waiting + self.retrying


@dataclass(frozen=True, slots=True)
class PhaseFacts:
    entity: str
    phase: str
    state: str
    started: str
    finished: str
    seconds: float | None  # None: it has not started
    message: str


@dataclass(frozen=True, slots=True)
class EntityFacts:
    name: str
    concerned: bool  # wanted, in the plan, or worked on before
    verified: bool
    phases: tuple[PhaseFacts, ...]
    streams: tuple[StreamFacts, ...]
    notes: tuple[str, ...]

    @property
    def missing(self) -> tuple[PhaseFacts, ...]:
        """The steps without which it is not whole."""
        return tuple(one for one in self.phases if one.phase in NEEDED and one.state not in ENDED)

    @property
    def seconds(self) -> float:
        """Of its steps; they may have waited for others in between."""
        return sum(one.seconds or 0.0 for one in self.phases)


@dataclass(frozen=True, slots=True)
class Totals:
    """Over all streams; files are not among them."""

    source: int  # the reported number, or the read one if the source gives no total
    read: int
    imported: int
    verified: int
    failed: int
    waiting: int
    excluded: int
    deleted: int
    impossible: int
    drift: int  # without signs: records too many do not make up for records too few
    findings: int
    undecided: int  # conflicts


@dataclass(slots=True)
class FileFacts:
    """Grows while the files are walked through."""

    known: int = 0
    imported: int = 0
    failed: int = 0
    waiting: int = 0
    too_large: int = 0
    bytes_imported: int = 0
    bytes_failed: int = 0  # of those whose size is known
    by_entity: dict[str, list[int]] = field(default_factory=dict)  # known, imported, failed, bytes on the target


@dataclass(frozen=True, slots=True)
class Proof:
    """The certificate's root hash, or why there is none."""

    root: str = ""
    classes: Mapping[str, int] = field(default_factory=dict)  # how many ids are in each, files included
    code: str = ""
    message: str = ""

    @property
    def ids(self) -> int:
        return sum(self.classes.values())


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts from the store; long lists come row by row."""

    at: str
    standing: Standing
    run: Run | None
    runs: tuple[Run, ...]  # the earliest first
    entities: tuple[EntityFacts, ...]
    totals: Totals
    files_failed: int
    causes: tuple[Group, ...]
    waits: tuple[tuple[str, float], ...]  # seconds for the limit of a method, the longest first
    survey: Survey | None
    compared: tuple[Compared, ...]
    history: tuple[Point, ...]
    proof: Proof
    fidelity: Fidelity | None = None  # the fidelity list; None: the target was never queried
    last_pass: LastPass | None = None

    @property
    def concerned(self) -> tuple[EntityFacts, ...]:
        return tuple(one for one in self.entities if one.concerned)

    @property
    def streams(self) -> tuple[StreamFacts, ...]:
        return tuple(stream for entity in self.concerned for stream in entity.streams)

    @property
    def phases(self) -> tuple[PhaseFacts, ...]:
        return tuple(phase for entity in self.concerned for phase in entity.phases)

    @property
    def took_s(self) -> float | None:
        """From the start of the earliest phase to the end of the last; None if none has started."""
        begun = [one.started for one in self.phases if one.started]
        ended = [one.finished or self.at for one in self.phases if one.started]
        if not begun:
            return None
        return (max(map(datetime.fromisoformat, ended)) - min(map(datetime.fromisoformat, begun))).total_seconds()


# ---------------------------------------------------------------- the summary of a long list


class Excerpt(NamedTuple):
    """The beginning of a text that is too long to be shown."""

    text: str
    length: int


@dataclass(slots=True)
class Tally:
    count: int = 0
    first: list[list[Cell | Excerpt]] = field(default_factory=list)
    groups: Counter[GroupKey] = field(default_factory=Counter)
    examples: dict[GroupKey, list[str]] = field(default_factory=dict)

    def add(self, cells: Sequence[Cell], group: GroupKey, example: str = "") -> None:
        self.count += 1
        group = tuple(part[:LONGEST_PART] for part in group)
        if len(self.first) < FIRST:
            self.first.append([excerpt(one) if isinstance(one, str) else one for one in cells])
        if group not in self.groups and len(self.groups) >= MOST_GROUPS:
            group = OTHERS
        self.groups[group] += 1
        known = self.examples.setdefault(group, [])
        if example and len(known) < EXAMPLES:
            known.append(example[:EXCERPT])

    def count_group(self, *group: str) -> int:
        """The number of rows in the groups with this prefix."""
        return sum(count for one, count in self.groups.items() if one[: len(group)] == group)

    def most(self) -> list[tuple[GroupKey, int]]:
        """The largest first; among equals by name, so that the same list always gives the same."""
        return sorted(self.groups.items(), key=lambda one: (-one[1], one[0]))


def excerpt(text: str) -> str | Excerpt:
    return text if len(text) <= EXCERPT else Excerpt(text[:EXCERPT], len(text))
