"""Records of one kind, made when they are first looked at and kept as JSON ready to send."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from b24sim.phpjson import encode

Row = dict[str, Any]
# Prefix of keys that a filter may use but that no answer shows.
HIDDEN = "_"


class Table:
    """Rows by integer id. `version` moves with every change, so that derived values can be kept up to date."""

    def __init__(self, ids: Iterable[int], make: Callable[[int], Row], keep: int = 200_000):
        self.ids = sorted(ids)
        self._highest = self.ids[-1] if self.ids else 0
        self.version = 0
        self._no_order: tuple[int, list[int]] = (-1, [])
        self._an_order: tuple[int, str, Sequence[int]] = (-1, "", [])
        self._make = make
        self._keep = keep
        self._rows: dict[int, Row] = {}
        self._encoded: dict[int, bytes] = {}
        self._own: dict[int, Row] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, number: int) -> bool:
        place = bisect_left(self.ids, number)
        return place < len(self.ids) and self.ids[place] == number

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids)

    def row(self, number: int) -> Row:
        """The row with its hidden keys; not to be changed in place."""
        row = self._own.get(number) or self._rows.get(number)
        if row is None:
            row = self._make(number)
            if len(self._rows) < self._keep:
                self._rows[number] = row
        return row

    def encoded(self, number: int) -> bytes:
        data = self._encoded.get(number)
        if data is None:
            data = encode(shown(self.row(number)))
            if len(self._encoded) < self._keep:
                self._encoded[number] = data
        return data

    def in_no_order(self, ids: Sequence[int]) -> Sequence[int]:
        """Some order, the same every time, as clients that turn pages without asking for one are used to. That of the
        whole table is remembered: every page of it is asked for."""
        if len(ids) < len(self.ids):
            return sorted(ids, key=by_chance)
        version, order = self._no_order
        if version != self.version:
            order = sorted(ids, key=by_chance)
            self._no_order = (self.version, order)
        return order

    def in_order(self, order: str, sort: Callable[[], Sequence[int]]) -> Sequence[int]:
        """The whole table in an order, which is remembered: every page of it is asked for."""
        version, known, ids = self._an_order
        if (version, known) != (self.version, order):
            ids = sort()
            self._an_order = (self.version, order, ids)
        return ids

    def put(self, number: int, row: Row) -> None:
        """Add or replace a row."""
        if number not in self:
            insort(self.ids, number)
            self._highest = max(self._highest, number)
        self._own[number] = row
        self._encoded.pop(number, None)
        self.version += 1

    def remove(self, number: int) -> None:
        if number in self:
            self.ids.remove(number)
            self._own.pop(number, None)
            self._rows.pop(number, None)
            self._encoded.pop(number, None)
            self.version += 1

    def forget_encodings(self) -> None:
        self._encoded.clear()
        self._rows.clear()

    def next_id(self) -> int:
        """Never one that a deleted row had."""
        return self._highest + 1

    def changed(self, number: int) -> Row:
        """The row if it was added or changed after the beginning, otherwise nothing: making one takes a while."""
        return self._own.get(number, {})


def by_chance(number: int) -> int:
    return number * 2_654_435_761 & 0xFFFF_FFFF


def shown(row: Row) -> Row:
    return {key: value for key, value in row.items() if not key.startswith(HIDDEN)}
