"""The fidelity list as values: for the terminal, the pages and the report alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from b24migrate.model.fidelity import Keeping, Rule
from b24migrate.model.records import digest

WORST_FIRST = (Keeping.LOST, Keeping.APPROXIMATED, Keeping.TRANSFORMED)


class Basis(StrEnum):
    """What a number of records rests on."""

    COUNTED = "counted"  # every record was read and looked at
    SO_FAR = "so_far"  # so were those that are read by now
    AT_MOST = "at_most"  # so many there are in all
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Line:
    """What is not kept of a field; an empty field is the record as a whole."""

    entity: str
    stream: str
    field: str
    keeping: str
    reason: str
    records: int | None
    basis: Basis
    accepted: bool


@dataclass(frozen=True, slots=True)
class Accepted:
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class Fidelity:
    """What is not in the list is kept. `needs_acceptance`: something in it was accepted by nobody yet. `accepted`: who
    last accepted something of it. `now`: the target has just said so; else it did at `asked_at`."""

    hash: str
    lines: tuple[Line, ...]
    needs_acceptance: bool
    accepted: Accepted | None
    asked_at: str = ""
    now: bool = False

    @property
    def all_kept(self) -> bool:
        return not self.lines

    @property
    def amounts(self) -> tuple[tuple[Keeping, int], ...]:
        return count_amounts(self.lines)


def count_amounts(said: Iterable[Rule | Line]) -> tuple[tuple[Keeping, int], ...]:
    """How many fields are kept how badly, the worst first."""
    counted = Counter(keeping for keeping, *_ in {(str(one.keeping), one.stream, one.field) for one in said})
    return tuple((keeping, counted[keeping]) for keeping in WORST_FIRST if counted[keeping])


def hash_rules(rules: Iterable[Rule]) -> str:
    return digest(sorted(rule.digest for rule in rules))
