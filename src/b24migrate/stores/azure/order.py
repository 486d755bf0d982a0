"""The order of ids, which the service does not know: its RowKeys are texts, where `10` comes before `9`.

All keys of a table are kept in segments, rows `!keys:<time>:<any>` beside the records, each with up to some thousand
order keys, and in the shards, where they wait to become one. A segment never changes; small ones are merged into large
ones now and then, in one transaction. Keys are only ever added, and a reader that finds one twice takes it once.

A reader of pages must not miss a key while keys move: they move from shards to segments to later
segments, which is the direction of reading.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from secrets import token_hex
from threading import Lock
from typing import Any, NamedTuple

from b24migrate.model.records import Span, Table
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.shards import (
    SHARD,
    Added,
    Tally,
    packed_keys,
    properties_of,
    row_beside,
    rows_beside,
    unpacked_keys,
    unpacked_numbers,
    written_beside,
)
from b24migrate.stores.azure.transactions import Operation, create, delete

SEGMENT = "!keys:"
AFTER_SEGMENTS = "!keys;"
LARGEST = 20_000  # keys in a segment
LARGEST_BYTES = 400_000  # before they are compressed
_MANY = 64  # small ones, before some are merged
_MERGED_BYTES = 1_500_000  # at once: a transaction holds them, and so does memory
_MERGED = 80  # at once: a transaction holds these and the few that replace them
_KEPT = 200_000  # keys in memory
_DIRECTORY = [
    *("PartitionKey", "RowKey", "Timestamp", "First", "Last", "Count", "Bytes", "Naturals", "Token"),
    *properties_of("Numbers"),
    *properties_of("Recent"),
]
_LAST = "\U0010ffff"  # after every order key


class Segment(NamedTuple):
    row_key: str
    first: str
    last: str
    length: int
    size: int
    naturals: int

    @property
    def is_small(self) -> bool:
        return self.length < LARGEST // 2 and self.size < LARGEST_BYTES // 2


class Look(NamedTuple):
    """A table at one moment."""

    numbers: Tally
    segments: list[Segment]  # in order of `first`
    recent: Added


class Gone(Exception):
    """Another process merged the segment into another one."""


class Order:
    def __init__(self, account: Account) -> None:
        self._account = account
        self._lock = Lock()
        self._read: OrderedDict[tuple[str, str], Added] = OrderedDict()

    def keys(self, table: Table, span: Span, look: Look | None = None) -> Iterator[Sequence[str]]:
        """All order keys of the span, in order, one part at a time; only as much is read as is needed."""
        after = span.lo
        while True:
            try:
                for stretch in self._stretches(table, look or self.look(table), after, span.hi or _LAST):
                    yield stretch
                    after = stretch[-1]
                return
            except Gone:
                look = None

    def look(self, table: Table) -> Look:
        rows = rows_beside(self._account, table, AFTER_SEGMENTS, _DIRECTORY)
        counted = [row for row in rows if not row["RowKey"].startswith(SEGMENT)]
        segments = sorted((_segment(row) for row in rows[len(counted) :]), key=lambda one: one.first)
        recent = Added.of(unpacked_keys("Recent", row) for row in counted if row["RowKey"].startswith(SHARD))
        look = Look(Tally().plus(*map(unpacked_numbers, counted)), segments, recent)
        return look if sum(one.is_small for one in segments) < _MANY else self._tidied(table, look)

    def holders(self, table: Table, mark: str) -> list[str]:
        """The order keys that hold or held a natural key, by its mark; in order."""
        while True:
            try:
                look = self.look(table)
                parts = [self._load(table, one) for one in look.segments if one.naturals]
                return sorted({one for part in (*parts, look.recent) for one in _holders(part.naturals, mark)})
            except Gone:
                continue

    def _stretches(self, table: Table, look: Look, after: str, last: str) -> Iterator[Sequence[str]]:
        """Emits what lies before the next segment, then takes that in: only what overlaps is merged."""
        held: Sequence[str] = _between(look.recent.keys, after, last)
        for segment in look.segments:
            if segment.last <= after or segment.first > last:
                continue
            cut = bisect_left(held, segment.first)
            if cut:
                yield held[:cut]
            keys = _between(self._load(table, segment).keys, after, last)
            rest = held[cut:]
            held = sorted({*rest, *keys}) if rest else keys
        if held:
            yield held

    def _load(self, table: Table, segment: Segment) -> Added:
        name = (table.name, segment.row_key)
        with self._lock:
            if name in self._read:
                self._read.move_to_end(name)
                return self._read[name]
        found = row_beside(self._account, table, segment.row_key)
        if found is None:
            raise Gone
        added = unpacked_keys("Keys", found)
        with self._lock:
            self._read[name] = added
            while len(self._read) > 1 and sum(len(one.keys) + len(one.naturals) for one in self._read.values()) > _KEPT:
                self._read.popitem(last=False)
        return added

    def _tidied(self, table: Table, look: Look) -> Look:
        """Merges some of the small segments. If another process does the same, one of both fails without effect."""
        small = _together([one for one in look.segments if one.is_small])
        try:
            parts = self._account.side_by_side(lambda one: self._load(table, one), small)
        except Gone:
            return look
        made = segments_of(table, Added.of(parts), after=max(one.row_key for one in small))
        operations = [*made, *(delete(table.partition, one.row_key) for one in small)]
        if not written_beside(self._account, table, operations):
            return look
        kept = set(look.segments) - set(small)
        merged = [_segment(row) for _, row, _ in made]
        return look._replace(segments=sorted((*kept, *merged), key=lambda one: one.first))


def segments_of(table: Table, added: Added, *, after: str = "") -> list[Operation]:
    """Rows that hold these keys, each later than the row `after`."""
    stamp = max(time.time_ns() // 1000, int(after.removeprefix(SEGMENT).partition(":")[0] or 0) + 1)
    made = []
    for part in _divided(added):
        row = {
            "PartitionKey": table.partition,
            "RowKey": f"{SEGMENT}{stamp:017d}:{token_hex(4)}",
            "First": part.keys[0],
            "Last": part.keys[-1],
            "Count": len(part.keys),
            "Bytes": part.size,
            "Naturals": len(part.naturals),
            **packed_keys("Keys", part),
        }
        made.append(create(row))
    return made


def row_key_of(order_key: str) -> str:
    """The ID that `records.order_key` was made from: each part has one letter before it."""
    return ":".join(part[1:] for part in order_key.split(":"))


def shape(order_key: str) -> str:
    """Among ids of one shape, if they are numbers, texts are in the order of ids."""
    return ":".join(part[0] for part in order_key.split(":")) if ":" in order_key else order_key[0]


def is_numeric(its_shape: str) -> bool:
    return "~" not in its_shape


def _divided(added: Added) -> Iterator[Added]:
    """In pieces that a row can hold. A natural key stays with the key that holds it, if that is there at all."""
    by_holder: dict[str, list[str]] = {}
    for one in added.naturals:
        by_holder.setdefault(holder_of(one), []).append(one)
    keys = added.keys or tuple(sorted(by_holder))
    piece: list[str] = []
    size = 0
    for key in keys:
        its_size = len(key) + sum(map(len, by_holder.get(key, ()))) + 16
        if piece and (len(piece) >= LARGEST or size + its_size > LARGEST_BYTES):
            yield _piece(piece, by_holder)
            piece, size = [], 0
        piece.append(key)
        size += its_size
    if piece:
        yield _piece(piece, by_holder)


def _piece(keys: Iterable[str], by_holder: dict[str, list[str]]) -> Added:
    names = tuple(keys)
    return Added(names, tuple(sorted(one for key in names for one in by_holder.get(key, ()))))


def holder_of(natural: str) -> str:
    return natural.partition(" ")[2]


def _holders(naturals: Sequence[str], mark: str) -> list[str]:
    start = bisect_left(naturals, mark + " ")
    end = bisect_right(naturals, mark + " " + _LAST)
    return [holder_of(one) for one in naturals[start:end]]


def _between(keys: Sequence[str], after: str, last: str) -> Sequence[str]:
    return keys[bisect_right(keys, after) : bisect_right(keys, last)]


def _segment(row: Any) -> Segment:
    return Segment(row["RowKey"], row["First"], row["Last"], row["Count"], row["Bytes"], row["Naturals"])


def _together(segments: Sequence[Segment]) -> Sequence[Segment]:
    """As many of the first as are merged at once."""
    sizes = list(accumulate(one.size for one in segments))
    return segments[: min(_MERGED, bisect_right(sizes, _MERGED_BYTES))]
