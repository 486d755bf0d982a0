"""Rows next to the records, in their partition: numbers in shards, and the keys that were added last.

A shard, `!count:<id>`, belongs to one writer at a time and is written in the same transaction as the records that it
counts; so the numbers are right after any crash. `!count` holds what was added up from shards that are gone.
Keys are order keys. A shard keeps the newest until they are worth a segment of their own (see `order`).
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, NamedTuple

from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from b24migrate.model.records import Status, Table
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.failures import CONFLICTS, error_code, translated
from b24migrate.stores.azure.properties import Entity
from b24migrate.stores.azure.transactions import Operation, create, replace

BASE = "!count"
SHARD = "!count:"
AFTER_SHARDS = "!count;"
_PARTS = 12
_TEXT_PART, _BINARY_PART = 30_000, 60_000
_CODES = 300  # error codes that are counted separately; with more, callers must read the records
_CODE_LENGTH = 100
_RECORDS, _PULLED, _COUNTER, _ERROR, _UNCOUNTED = "r:", "p:", "c:", "e:", "m:"
_OPEN = (Status.NEW, Status.ERROR_RETRY)


class Face(NamedTuple):
    """The counted values of a record."""

    status: str
    pulled: bool = False
    code: str | None = None


class Tally(dict[str, float]):
    """Numbers by name: records by status, of these the pulled-through, errors by code, and counters."""

    def enter(self, face: Face, count: int = 1) -> Tally:
        self._add(_RECORDS + face.status, count)
        if face.pulled:
            self._add(_PULLED + face.status, count)
        if face.code is not None and face.status != Status.IMPORT_OK:
            self._add(f"{_ERROR}{face.status}:{face.code}", count)
        return self

    def leave(self, face: Face) -> Tally:
        return self.enter(face, -1)

    def count(self, name: str, value: float) -> Tally:
        if value:
            self._add(_COUNTER + name, value)
        return self

    def _add(self, name: str, value: float) -> None:
        self[name] = self.get(name, 0) + value

    def plus(self, *others: Mapping[str, float]) -> Tally:
        total = Tally(self)
        codes = sum(name.startswith(_ERROR) for name in self)
        for other in others:
            for name, value in other.items():
                if name.startswith(_ERROR) and name not in total:
                    codes += 1
                    if codes > _CODES or len(name) > _CODE_LENGTH:
                        total._add(_UNCOUNTED, 1)
                        continue
                total._add(name, value)
        return total

    # ------------------------------------------------------------ its numbers

    def counts(self) -> dict[Status, int]:
        return {status: int(self.get(_RECORDS + status, 0)) for status in Status}

    def pulled_pending(self) -> int:
        return sum(int(self.get(_PULLED + status, 0)) for status in _OPEN)

    def pending(self) -> int:
        return sum(int(self.get(_RECORDS + status, 0)) for status in _OPEN)

    def total(self) -> int:
        return sum(self.counts().values())

    def counters(self, prefix: str) -> dict[str, float]:
        start = _COUNTER + prefix
        return {name.removeprefix(_COUNTER): value for name, value in self.items() if value and name.startswith(start)}

    def errors(self) -> dict[tuple[str, str], int] | None:
        """None if there are too many codes to count them separately."""
        if self.get(_UNCOUNTED):
            return None
        parted = ((name.split(":", 2), int(value)) for name, value in self.items() if name.startswith(_ERROR))
        return {(status, code): value for (_, status, code), value in parted if value}


class Added(NamedTuple):
    """Order keys, and natural keys (a digest each) with the order key that holds them; sorted, each once."""

    keys: tuple[str, ...] = ()
    naturals: tuple[str, ...] = ()

    @classmethod
    def of(cls, some: Iterable[Added]) -> Added:
        parts = list(some)
        keys = {key for part in parts for key in part.keys}
        return cls(tuple(sorted(keys)), tuple(sorted({one for part in parts for one in part.naturals})))

    @property
    def size(self) -> int:
        return sum(map(len, self.keys)) + sum(map(len, self.naturals)) + 8 * (len(self.keys) + len(self.naturals))


NOTHING = Added()


def natural_mark(natural: str) -> str:
    return hashlib.sha256(natural.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def packed_keys(name: str, added: Added) -> Entity:
    """As properties of that name."""
    if not added.keys and not added.naturals:
        return {}
    raw = zlib.compress(json.dumps(added).encode(), 6)
    return {f"{name}{part}": raw[start : start + _BINARY_PART] for part, start in _parts(len(raw), _BINARY_PART)}


def unpacked_keys(name: str, found: Mapping[str, Any]) -> Added:
    raw = b"".join(found.get(f"{name}{part}") or b"" for part in range(_PARTS))
    if not raw:
        return NOTHING
    keys, naturals = json.loads(zlib.decompress(raw))
    return Added(tuple(keys), tuple(naturals))


def properties_of(name: str) -> list[str]:
    return [f"{name}{part}" for part in range(_PARTS)]


@dataclass(frozen=True)
class Shard:
    """`etag` is empty before the first write. The token identifies the write."""

    name: str = field(default_factory=lambda: token_hex(6))
    numbers: Tally = field(default_factory=Tally)
    recent: Added = NOTHING
    token: str = ""
    etag: str = ""

    def after(self, tally: Mapping[str, float], recent: Added) -> Shard:
        return Shard(self.name, self.numbers.plus(tally), recent, token_hex(6), self.etag)

    def operation(self, table: Table) -> Operation:
        made = {
            "PartitionKey": table.partition,
            "RowKey": SHARD + self.name,
            "Token": self.token,
            **packed_numbers(self.numbers),
            **packed_keys("Recent", self.recent),
        }
        return replace(made, self.etag) if self.etag else create(made)

    @classmethod
    def read(cls, found: Any) -> Shard:
        name = found["RowKey"].removeprefix(SHARD)
        recent = unpacked_keys("Recent", found)
        return cls(name, unpacked_numbers(found), recent, found["Token"], found.metadata["etag"])


def packed_numbers(numbers: Tally) -> Entity:
    text = json.dumps({name: value for name, value in numbers.items() if value})
    return {f"Numbers{part}": text[start : start + _TEXT_PART] for part, start in _parts(len(text), _TEXT_PART)}


def unpacked_numbers(found: Mapping[str, Any]) -> Tally:
    return Tally(json.loads("".join(found.get(name) or "" for name in properties_of("Numbers")) or "{}"))


def _parts(length: int, size: int) -> Sequence[tuple[int, int]]:
    starts = range(0, length, size)
    if len(starts) > _PARTS:
        raise ValueError(f"{length} do not fit into {_PARTS} properties")
    return list(enumerate(starts))


# ------------------------------------------------------------ reading and writing them


def rows_beside(account: Account, table: Table, end: str, select: list[str] | None) -> list[Any]:
    """From the base up to the key `end`. The shards among them are as of one moment: what is added up from one to
    another is neither missing nor there twice. Nor is what moved on from shards to segments missing."""
    condition = f"PartitionKey eq '{table.partition}' and RowKey ge '{BASE}' and RowKey lt '{end}'"
    with translated(account.place):
        while True:
            answer = account.table(table.name).query_entities(condition, select=select).by_page()
            pages = [rows for page in answer if (rows := list(page))]
            # One page is of one moment. Several are, if nothing was added up meanwhile.
            if _is_past_shards(pages) or _etags(pages[0]) == _etags([row_beside(account, table, BASE)]):
                return [row for page in pages for row in page]


def row_beside(account: Account, table: Table, key: str) -> Any:
    with translated(account.place):
        try:
            return account.table(table.name).get_entity(table.partition, key)
        except ResourceNotFoundError as error:
            if error_code(error) == "TableNotFound":
                raise
            return None


def written_beside(account: Account, table: Table, operations: Sequence[Operation]) -> bool:
    """False if another process was faster."""
    with translated(account.place):
        try:
            account.submit(table.name, operations)
        except HttpResponseError as error:
            if error_code(error) not in CONFLICTS:
                raise
            return False
    return True


def _is_past_shards(pages: list[list[Any]]) -> bool:
    return len(pages) < 2 or str(pages[0][-1]["RowKey"]) >= AFTER_SHARDS


def _etags(rows: Iterable[Any]) -> list[str]:
    return [row.metadata["etag"] for row in rows if row and row["RowKey"] == BASE]
