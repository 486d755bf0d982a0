"""The registers, small tables of named columns, and the counters."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from b24migrate.messages import plain
from b24migrate.model.records import Json
from b24migrate.ports import ENTITIES_STATE, RUNS, Register, RegisterRow
from b24migrate.stores.sqlite.database import Database
from b24migrate.stores.sqlite.sql import beginning, chunks, execute_many, marks

_SELECT = 'SELECT PartitionKey, RowKey, Version, Kinds, {columns} FROM "{table}" WHERE '
_INSERT = 'INSERT INTO "{table}" (PartitionKey, RowKey, Kinds, {columns}) VALUES (?, ?, ?, {marks}) ON CONFLICT '
_WRITE = """
INSERT INTO "{table}" (PartitionKey, RowKey, Kinds, {columns}) VALUES {rows}
ON CONFLICT (PartitionKey, RowKey) DO UPDATE SET Version = Version + 1, Kinds = excluded.Kinds, {settings}
"""
_UPDATE = 'UPDATE "{table}" SET Version = Version + 1, Kinds = ?, {settings} WHERE {where}'
_NEXT = "(PartitionKey, RowKey) > (?, ?) ORDER BY PartitionKey, RowKey LIMIT 2000"
_AFTER = "PartitionKey = ? AND RowKey >= ? AND RowKey <= ? AND RowKey > ? ORDER BY RowKey LIMIT ?"
_COUNT = 'SELECT count(*) FROM "{table}" WHERE {where}'
_TOTAL = 'SELECT sum("{column}") FROM "{table}" WHERE {where}'
_ANY = 'SELECT EXISTS (SELECT 1 FROM "{table}" WHERE {where})'
_ERASE = 'DELETE FROM "{table}" WHERE {where}'
_ADD = """
INSERT INTO Counters (Name, Value) VALUES (?, ?) ON CONFLICT (Name) DO UPDATE SET Value = Value + excluded.Value
"""
_SET = "INSERT INTO Counters (Name, Value) VALUES (?, ?)"
_INT64 = 1 << 63
_PLAIN = frozenset({str, float, type(None)})  # distinguished by their columns
_OFTEN = (ENTITIES_STATE.name, RUNS.name)  # few rows, read at every step of the plan


class RegisterMethods:
    database: Database
    _decoded: dict[tuple[str, str, str], tuple[tuple[Any, ...], RegisterRow]]  # by name, partition and key

    def read(self, register: Register, key: str, *, partition: str | None = None) -> RegisterRow | None:
        where = register.partition if partition is None else partition
        sql = _select(register) + "PartitionKey = ? AND RowKey = ?"
        with self.database.reading() as connection:
            row = connection.execute(sql, (where, key)).fetchone()
        return self._row(register, row) if row else None

    def _row(self, register: Register, row: tuple[Any, ...]) -> RegisterRow:
        """Rows that are read often are decoded once, until they change."""
        if register.name not in _OFTEN:
            return _row(register, row)
        place = (register.name, row[0], row[1])
        known = self._decoded.get(place)
        if known is None or known[0] != row:
            known = self._decoded[place] = row, _row(register, row)
        return known[1]

    def rows(self, register: Register, prefix: str = "", *, partition: str | None = None) -> list[RegisterRow]:
        where, values = _range(register, prefix, partition)
        with self.database.reading() as connection:
            found = connection.execute(f"{_select(register)} {where} ORDER BY RowKey, PartitionKey", values).fetchall()
        return [self._row(register, row) for row in found]

    def rows_of(self, register: Register, keys: Collection[str]) -> dict[str, RegisterRow]:
        found: dict[str, RegisterRow] = {}
        with self.database.reading() as connection:
            for chunk in chunks(list(keys)):
                query = f"{_select(register)} PartitionKey = ? AND RowKey IN ({marks(len(chunk))})"
                rows = (_row(register, row) for row in connection.execute(query, (register.partition, *chunk)))
                found.update((row.key, row) for row in rows)
        return found

    def all_rows(self, register: Register) -> Iterator[RegisterRow]:
        """No connection is held while the caller works."""
        query, after = _select(register) + _NEXT, ("", "")
        while True:
            with self.database.reading() as connection:
                found = connection.execute(query, after).fetchall()
            if not found:
                return
            yield from (_row(register, row) for row in found)
            after = found[-1][0], found[-1][1]

    def some_rows(self, register: Register, prefix: str, after: str, limit: int) -> list[RegisterRow]:
        first, last = beginning(prefix)
        sql = f"{_select(register)} {_AFTER}"
        values = (register.partition, max(first, after), last, after, limit)
        with self.database.reading() as connection:
            found = connection.execute(sql, values).fetchall()
        return [_row(register, row) for row in found]

    def count(self, register: Register, prefix: str) -> int:
        where, values = _range(register, prefix, None)
        with self.database.reading() as connection:
            found = connection.execute(_COUNT.format(table=register.name, where=where), values).fetchone()
        return int(found[0])

    def total(self, register: Register, prefix: str, column: str) -> float | None:
        where, values = _range(register, prefix, None)
        sql = _TOTAL.format(table=register.name, column=column, where=where)
        with self.database.reading() as connection:
            found: float | None = connection.execute(sql, values).fetchone()[0]
        return found

    def write(self, register: Register, rows: Sequence[RegisterRow]) -> None:
        values = [_values(register, row) for row in rows]
        with self.database.writing() as connection:
            execute_many(connection, _write(register), values)

    def swap(self, register: Register, row: RegisterRow) -> bool:
        partition, key, *values = _values(register, row)
        if row.version == 0:
            with self.database.writing() as connection:
                return connection.execute(_insert(register) + "DO NOTHING", (partition, key, *values)).rowcount == 1
        with self.database.writing() as connection:
            return connection.execute(_update(register), (*values, partition, key, row.version)).rowcount == 1

    def erase(self, register: Register, prefix: str, *, partition: str | None = None) -> None:
        where, values = _range(register, prefix, partition)
        with (
            self.database.reading() as connection
        ):  # most registers have nothing to erase, and a write is alone on the store
            if not connection.execute(_ANY.format(table=register.name, where=where), values).fetchone()[0]:
                return
        with self.database.writing() as connection:
            connection.execute(_ERASE.format(table=register.name, where=where), values)

    def discard(self, register: Register, keys: Collection[str]) -> None:
        with self.database.writing() as connection:
            for chunk in chunks(list(keys)):
                where = f"PartitionKey = ? AND RowKey IN ({marks(len(chunk))})"
                connection.execute(_ERASE.format(table=register.name, where=where), (register.partition, *chunk))

    def add(self, counters: Mapping[str, float]) -> None:
        with self.database.writing() as connection:
            add_counters(connection, counters)

    def counters(self, prefix: str = "") -> dict[str, float]:
        sql = "SELECT Name, Value FROM Counters WHERE Name >= ? AND Name <= ? ORDER BY Name"
        with self.database.reading() as connection:
            return dict(connection.execute(sql, beginning(prefix)).fetchall())

    def set_counters(self, counters: Mapping[str, float]) -> None:
        with self.database.writing() as connection:
            connection.execute("DELETE FROM Counters")
            connection.executemany(_SET, [(name, value) for name, value in counters.items() if value])


def add_counters(connection: sqlite3.Connection, counters: Mapping[str, float]) -> None:
    connection.executemany(_ADD, [(name, value) for name, value in counters.items() if value])


@cache
def _columns(register: Register) -> str:
    return ", ".join(f'"{column}"' for column in register.kept)


@cache
def _select(register: Register) -> str:
    return _SELECT.format(table=register.name, columns=_columns(register))


@cache
def _insert(register: Register) -> str:
    return _INSERT.format(table=register.name, columns=_columns(register), marks=marks(len(register.kept))) + (
        "(PartitionKey, RowKey) "
    )


@cache
def _write(register: Register) -> str:
    settings = ", ".join(f'"{column}" = excluded."{column}"' for column in register.kept)
    return _WRITE.format(table=register.name, columns=_columns(register), rows="{rows}", settings=settings)


@cache
def _update(register: Register) -> str:
    settings = ", ".join(f'"{column}" = ?' for column in register.kept)
    where = "PartitionKey = ? AND RowKey = ? AND Version = ?"
    return _UPDATE.format(table=register.name, settings=settings, where=where)


def _range(register: Register, prefix: str, partition: str | None) -> tuple[str, tuple[str, ...]]:
    """A register without a partition of its own is queried as a whole, unless one is named."""
    where = register.partition if partition is None else partition
    if not where and partition is None:
        return "RowKey >= ? AND RowKey <= ?", beginning(prefix)
    return "PartitionKey = ? AND RowKey >= ? AND RowKey <= ?", (where, *beginning(prefix))


def _values(register: Register, row: RegisterRow) -> tuple[Any, ...]:
    if strange := row.values.keys() - register.columns:
        raise ValueError(f"{register.name} has no column {', '.join(sorted(strange))}")
    kinds = {name: kind for name, value in row.values.items() if type(value) not in _PLAIN and (kind := _kind(value))}
    packed = register.packed(row.values)
    values = [_written(packed.get(column), kinds.get(column)) for column in register.kept]
    return row.partition or register.partition, row.key, _json(kinds) if kinds else None, *values


def _kind(value: Json) -> str:
    """The type that the column itself does not show when it is read back."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "" if -_INT64 <= value < _INT64 else "json"
    return "" if value is None or isinstance(value, str | float) else "json"


def _written(value: Json, kind: str | None) -> Any:
    return _json(value) if kind == "json" else value


def _json(value: Json) -> str:
    return msgspec.json.encode(value, enc_hook=plain).decode()


def _row(register: Register, row: tuple[Any, ...]) -> RegisterRow:
    partition, key, version, kinds, *values = row
    found: dict[str, Json] = dict(zip(register.kept, values, strict=True))
    for column, kind in msgspec.json.decode(kinds).items() if kinds else ():
        found[column] = bool(found[column]) if kind == "bool" else msgspec.json.decode(found[column])
    return RegisterRow(key, register.unpacked(found), version, partition)
