"""The nouns of a move, and how it is told."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from b24migrate.model.records import Json, Table, canonical
from b24migrate.ports import Files, Queue, Store


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


def size(store: Store, table: Table) -> int:
    return sum(store.counts(table).values())
