"""The box's records in memory: rows, the keys they were imported under, and a way to take everything back."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from b24sim.imports.kinds import Address, Fields
from b24sim.imports.stream import Stream

ID_STRIDE = 1_000_000
ID_START = 4_001
"""Ids start far from any source's and far from one another, so that a reference nobody mapped finds nothing."""


@dataclass(frozen=True)
class Row:
    """A record of the box. `own`: it was there before any import. `edited`: a user changed it after its import."""

    fields: Fields
    refers: frozenset[Address] = frozenset()
    own: bool = False
    edited: bool = False


@dataclass(frozen=True)
class Link:
    """An idempotency key and the record it stands for. `adopted`: the record was there, the import only linked it."""

    key: str
    stream: str
    target_id: str
    digest: str
    adopted: bool
    imported_at: datetime
    created_count: int = 1
    updated_count: int = 0


class Store:
    """Every change goes through `put_row` and `put_link`, which keep the indexes and can be undone."""

    def __init__(self, streams: Iterable[Stream], root_department: str):
        self.root_department = root_department
        self._indexes = {stream.name: stream.indexes for stream in streams}
        names = [*self._indexes, "files"]
        self._rows: dict[str, dict[str, Row]] = {name: {} for name in names}
        self._next = {name: (place + 1) * ID_STRIDE + ID_START for place, name in enumerate(names)}
        self._links: dict[str, Link] = {}
        self._order: dict[str, list[tuple[int, str]]] = {name: [] for name in names}
        self._keys: defaultdict[Address, set[str]] = defaultdict(set)
        self._referrers: defaultdict[Address, set[Address]] = defaultdict(set)
        self._found: defaultdict[tuple[object, ...], set[str]] = defaultdict(set)
        self._undo: list[Callable[[], None]] | None = None

    # reading

    def get(self, stream: str, target_id: str) -> Fields | None:
        row = self._rows.get(stream, {}).get(target_id)
        return None if row is None else row.fields

    def row(self, stream: str, target_id: str) -> Row:
        return self._rows[stream][target_id]

    def rows(self, stream: str) -> Mapping[str, Row]:
        return self._rows[stream]

    def ids(self, stream: str) -> Iterable[str]:
        return self._rows[stream]

    def link(self, key: str) -> Link | None:
        return self._links.get(key)

    def find(self, stream: str, names: tuple[str, ...], values: tuple[object, ...]) -> str | None:
        """The record whose fields `names` (one of the stream's indexes) have these values; the oldest of several."""
        found = self._found.get((stream, names, *map(_folded, names, values)))
        return min(found, key=int) if found else None

    def referrers(self, address: Address) -> set[Address]:
        return self._referrers.get(address, set()) - {address}

    def keys_of(self, address: Address) -> set[str]:
        return self._keys.get(address, set())

    def count(self, stream: str) -> int:
        return len(self._order[stream])

    def links(self, stream: str, after: tuple[int, str] | None = None) -> Iterator[Link]:
        """The stream's links in the order of their ids as numbers, those past `after` only."""
        order = self._order[stream]
        start = 0 if after is None else bisect_left(order, (after[0], after[1] + "\0"))
        for place in range(start, len(order)):
            yield self._links[order[place][1]]

    # writing

    def new_id(self, stream: str) -> str:
        number = self._next[stream]
        while str(number) in self._rows[stream]:
            number += 1
        self._set_next(stream, number + 1)
        return str(number)

    def put_row(self, stream: str, target_id: str, row: Row | None) -> None:
        """Sets the record, or removes it with None."""
        rows = self._rows[stream]
        before = rows.get(target_id)
        self._remember(lambda: self.put_row(stream, target_id, before))
        if before is not None:
            self._forget_places(stream, target_id, before)
        if row is None:
            rows.pop(target_id, None)
        else:
            rows[target_id] = row
            self._add_places(stream, target_id, row)

    def put_link(self, key: str, link: Link | None) -> None:
        """Sets what the key stands for, or forgets it with None."""
        before = self._links.pop(key, None)
        self._remember(lambda: self.put_link(key, before))
        if before is not None:
            order = self._order[before.stream]
            del order[bisect_left(order, (int(before.target_id), key))]
            self._keys[before.stream, before.target_id].discard(key)
        if link is not None:
            self._links[key] = link
            insort(self._order[link.stream], (int(link.target_id), key))
            self._keys[link.stream, link.target_id].add(key)

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Everything written inside is taken back at the end."""
        undo = self._undo = []
        try:
            yield
        finally:
            self._undo = None
            for take_back in reversed(undo):
                take_back()

    def _remember(self, take_back: Callable[[], None]) -> None:
        if self._undo is not None:
            self._undo.append(take_back)

    def _set_next(self, stream: str, number: int) -> None:
        before = self._next[stream]
        self._remember(lambda: self._set_next(stream, before))
        self._next[stream] = number

    def _add_places(self, stream: str, target_id: str, row: Row) -> None:
        for place in self._places(stream, row.fields):
            self._found[place].add(target_id)
        for address in row.refers:
            self._referrers[address].add((stream, target_id))

    def _forget_places(self, stream: str, target_id: str, row: Row) -> None:
        for place in self._places(stream, row.fields):
            self._found[place].discard(target_id)
        for address in row.refers:
            self._referrers[address].discard((stream, target_id))

    def _places(self, stream: str, fields: Fields) -> Iterator[tuple[object, ...]]:
        for names in self._indexes.get(stream, ()):
            values = [_folded(name, fields.get(name)) for name in names]
            if None not in values:
                yield (stream, names, *values)


def _folded(name: str, value: object) -> object:
    """E-mail addresses are compared without case; everything else as it is."""
    return value.strip().casefold() if name == "EMAIL" and isinstance(value, str) else value
