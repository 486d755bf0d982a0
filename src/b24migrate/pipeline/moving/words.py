"""The nouns of a move, and how it is told."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from b24migrate.ports import Clock, Files, Queue, Store
from b24migrate.records import Json, Span, Table, canonical, order_key

EVERY_S = 2.0
MOST_ROWS = 1000
ABOUT_BYTES = 8 << 20  # of payload in one stretch, whatever the size of its rows


class Side(NamedTuple):
    """One store, and the address that a person would write for it."""

    address: str
    store: Store
    queue: Queue
    files: Files


class Line(NamedTuple):
    """One kind of thing that was moved. `digest` is of what arrived."""

    what: str
    rows: int
    digest: str
    equal: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    origin: str
    to: str
    lines: tuple[Line, ...]

    @property
    def equal(self) -> bool:
        return all(line.equal for line in self.lines)

    @property
    def rows(self) -> int:
        return sum(line.rows for line in self.lines)


class Sum:
    """A digest over many rows whatever their order: the sum of their SHA-256. Nulls are as good as absent."""

    def __init__(self) -> None:
        self.rows = 0
        self._total = 0

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Json]]) -> Sum:
        found = cls()
        for row in rows:
            found.add(row)
        return found

    def add(self, row: Mapping[str, Json]) -> None:
        said = canonical({name: value for name, value in row.items() if value is not None})
        self._total = (self._total + int.from_bytes(hashlib.sha256(said).digest())) % (1 << 256)
        self.rows += 1

    @property
    def digest(self) -> str:
        return f"{self._total:064x}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sum) and (self.rows, self.digest) == (other.rows, other.digest)

    __hash__ = None  # type: ignore[assignment]


class Teller:
    """Says how far it is, now and then."""

    def __init__(self, say: Callable[[str], None], clock: Clock) -> None:
        self._say = say
        self._clock = clock
        self._due_s = clock.monotonic() + EVERY_S

    def done(self, verb: str, what: str, rows: int) -> None:
        self._say(f"{verb} {what}: {rows:,}")

    def progress(self, verb: str, what: str, rows: int, total: int | None = None) -> None:
        if self._clock.monotonic() >= self._due_s:
            self._say(f"{verb} {what}: {rows:,}" + ("" if total is None else f" of {max(rows, total):,}"))
            self._due_s = self._clock.monotonic() + EVERY_S


def stretches(store: Store, table: Table) -> Iterator[list[Mapping[str, Json]]]:
    """All rows of a table in order; as many at once as fit into little memory, judged by those before them."""
    lo, limit = "", MOST_ROWS // 10
    while rows := store.export(table, Span(lo), limit):
        yield rows
        lo = order_key(rows[-1]["RowKey"])
        mean = sum(len(row["Payload"]) + len(row["Extras"] or b"") for row in rows) // len(rows) + 1
        limit = max(1, min(MOST_ROWS, ABOUT_BYTES // mean))


def size(store: Store, table: Table) -> int:
    return sum(store.counts(table).values())
