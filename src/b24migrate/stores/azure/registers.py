"""The registers, small tables of named columns, and the counters.

A row's `Version` is a time, made to grow with all that this process writes and reads. `Tokens` are of the last swaps:
when the answer to one was lost on the way, its token tells whether it arrived, even if others have swapped since.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from secrets import token_hex
from threading import Lock
from typing import Any

from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from b24migrate.messages import say
from b24migrate.model.errors import Halted
from b24migrate.model.records import Json
from b24migrate.ports import Register, RegisterRow
from b24migrate.stores.azure.account import Account, Blobs
from b24migrate.stores.azure.counters import Counters
from b24migrate.stores.azure.failures import CONFLICTS, error_code, translated
from b24migrate.stores.azure.keys import prefix_range, row_key
from b24migrate.stores.azure.properties import MARKS, Entity, columns, entity, key_of
from b24migrate.stores.azure.transactions import Operation, create, delete, parcels, replace, upsert

_OURS = ("PartitionKey", "RowKey", *MARKS)
_REMEMBERED = 40  # swaps of a row
_ROUNDS = 50


class Versions:
    """Numbers that grow, also past those of other machines that were seen here, whatever the clocks say."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = Lock()

    def next(self) -> int:
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1000)
            return self._last

    def saw(self, version: int) -> None:
        with self._lock:
            self._last = max(self._last, version)


class RegisterMethods:
    account: Account
    blobs: Blobs
    versions: Versions
    own_counters: Counters
    tallied: Callable[[str], dict[str, float]]  # the counters that are kept with the records they count

    # ------------------------------------------------------------ reading

    def read(self, register: Register, key: str, *, partition: str | None = None) -> RegisterRow | None:
        found = self._found(register, register.partition if partition is None else partition, key)
        return self._row(register, found) if found else None

    def rows(self, register: Register, prefix: str = "", *, partition: str | None = None) -> list[RegisterRow]:
        found = self._range(register, prefix, partition)
        return sorted((self._row(register, one) for one in found), key=lambda row: (row.key, row.partition))

    def all_rows(self, register: Register) -> Iterator[RegisterRow]:
        with translated(self.account.place):
            found = iter(self.account.table(register.name).list_entities())
        while one := self._next(found):
            yield self._row(register, one)

    def some_rows(self, register: Register, prefix: str, after: str, limit: int) -> list[RegisterRow]:
        found = self._range(register, prefix, None, after=after, at_once=limit)
        return [self._row(register, one) for one in islice(found, limit)]

    def count(self, register: Register, prefix: str) -> int:
        return sum(1 for _ in self._range(register, prefix, None, select=_OURS))

    def total(self, register: Register, prefix: str, column: str) -> float | None:
        found = self._range(register, prefix, None, select=(*_OURS, column))
        values = [value for one in found if (value := columns(one, self.blobs).get(column)) is not None]
        return sum(values) if values else None

    # ------------------------------------------------------------ writing

    def write(self, register: Register, rows: Sequence[RegisterRow]) -> None:
        made = {(row.partition or register.partition, row.key): row for row in rows}
        self._in_transactions(register, [upsert(self._entity(register, row)) for row in made.values()])

    def swap(self, register: Register, row: RegisterRow) -> bool:
        token = token_hex(4)
        partition = row.partition or register.partition
        found = self._found(register, partition, row.key) if row.version else None
        if row.version and (not found or _version(found) != row.version):
            return False
        tokens = [*_tokens(found), token][-_REMEMBERED:]
        made = self._entity(register, row, Tokens=",".join(tokens))
        with translated(self.account.place):
            try:
                operation = replace(made, found.metadata["etag"]) if found else create(made)
                self.account.submit(register.name, [operation])
                return True
            except HttpResponseError as error:
                if error_code(error) not in CONFLICTS:
                    raise
        return token in _tokens(self._found(register, partition, row.key))

    def erase(self, register: Register, prefix: str, *, partition: str | None = None) -> None:
        self._erase(register, lambda: self._range(register, prefix, partition, select=_OURS))

    def discard(self, register: Register, keys: Collection[str]) -> None:
        self._erase(register, lambda: filter(None, [self._found(register, register.partition, key) for key in keys]))

    def _erase(self, register: Register, find: Callable[[], Iterable[Any]]) -> None:
        """Repeated while others add rows, but not forever."""
        for _ in range(_ROUNDS):
            found = list(find())
            if not found:
                return
            self._in_transactions(register, [delete(one["PartitionKey"], one["RowKey"]) for one in found])
        raise Halted(
            say("store.undeleted", table=register.name, place=self.account.place),
            code="STORE_REFUSED",
            hint=say("store.undeleted_fix"),
        )

    # ------------------------------------------------------------ counters

    def add(self, counters: Mapping[str, float]) -> None:
        self.own_counters.add(counters)

    def counters(self, prefix: str = "") -> dict[str, float]:
        own, tallied = self.own_counters.read(prefix), self.tallied(prefix)
        return {name: own.get(name, 0) + tallied.get(name, 0) for name in sorted(own.keys() | tallied.keys())}

    def set_counters(self, counters: Mapping[str, float]) -> None:
        """The tallies keep their values, which are subtracted."""
        tallied = self.tallied("")
        names = counters.keys() | tallied.keys()
        self.own_counters.write({name: counters.get(name, 0) - tallied.get(name, 0) for name in names})

    # ------------------------------------------------------------ entities

    def _found(self, register: Register, partition: str, key: str) -> Any:
        with translated(self.account.place):
            try:
                return self.account.table(register.name).get_entity(row_key(partition), row_key(key))
            except ResourceNotFoundError as error:
                if error_code(error) == "TableNotFound":
                    raise
                return None

    def _range(
        self,
        register: Register,
        prefix: str,
        partition: str | None,
        *,
        select: Collection[str] | None = None,
        after: str = "",
        at_once: int = 1000,
    ) -> Iterator[Any]:
        """A register without a partition of its own is queried as a whole, unless one is named."""
        where = register.partition if partition is None else partition
        terms, values = [], {}
        if where or partition is not None:
            terms, values = ["PartitionKey eq @partition"], {"partition": row_key(where)}
        if prefix:
            values["first"], values["end"] = prefix_range(prefix)
            terms += ["RowKey ge @first", "RowKey lt @end"]
        if after:
            values["after"] = row_key(after)
            terms.append("RowKey gt @after")
        with translated(self.account.place):
            found = iter(
                self.account.table(register.name).query_entities(
                    " and ".join(terms),
                    parameters=values,
                    select=list(select) if select else None,
                    results_per_page=min(at_once, 1000),
                )
            )
        while one := self._next(found):
            if key_of(one).startswith(prefix):  # long prefixes are compared in part
                yield one

    def _next(self, found: Iterator[Any]) -> Any:
        with translated(self.account.place):
            return next(found, None)

    def _in_transactions(self, register: Register, operations: Iterable[Operation]) -> None:
        """Side by side: they are of different rows."""
        by_partition = groupby(sorted(operations, key=_partition), key=_partition)
        todo = [parcel for _, some in by_partition for parcel in parcels(some)]
        self.account.side_by_side(lambda parcel: self._send(register, parcel), todo)

    def _send(self, register: Register, parcel: list[Operation]) -> None:
        with translated(self.account.place):
            try:
                self.account.submit(register.name, parcel)
            except HttpResponseError as error:
                if parcel[0][0] != "delete" or error_code(error) not in CONFLICTS:
                    raise
                # Another process erases as well: the next call sees what is left.

    def _entity(self, register: Register, row: RegisterRow, **more: str) -> Entity:
        if strange := row.values.keys() - register.columns:
            raise ValueError(f"{register.name} has no column {', '.join(sorted(strange))}")
        partition = row.partition or register.partition
        place = row_key(partition)
        kept = {"Partition": partition} if place != partition else {}
        return entity(
            place, row.key, {**register.packed(row.values), **kept, **more, "Version": self.versions.next()}, self.blobs
        )

    def _row(self, register: Register, found: Any) -> RegisterRow:
        values = columns(found, self.blobs)
        version = _version(found)
        self.versions.saw(version)
        named: dict[str, Json] = {column: values.get(column) for column in register.kept}
        return RegisterRow(
            key_of(found), register.unpacked(named), version, values.get("Partition", found["PartitionKey"])
        )


def _tokens(found: Any) -> list[str]:
    return str(found["Tokens"]).split(",") if found and found.get("Tokens") else []


def _version(found: Any) -> int:
    return int(found["Version"].value)


def _partition(operation: Operation) -> str:
    return str(operation[1]["PartitionKey"])
