"""Staging: a page of records goes in, and a page that went in before changes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from operator import itemgetter
from typing import Any, NamedTuple

from b24migrate.model.records import (
    Renew,
    Staged,
    Staging,
    Status,
    Table,
    deleted_counter,
    has_new_extras,
    order_keys,
    renew_by_hash,
)
from b24migrate.stores.sqlite.database import Database
from b24migrate.stores.sqlite.registers import add_counters
from b24migrate.stores.sqlite.sql import SIZES, Tally, chunks, marks, sql

_LAST = 'SELECT coalesce(max(rowid), 0) FROM "{table}"'
# Values that all rows share are bound once; a column that none of them fills is omitted, since every null costs time.
_INSERT = """
INSERT INTO "{table}" (RunId, Pass, {columns}) VALUES {rows} ON CONFLICT (Ord) DO NOTHING
"""
_ALWAYS = ("Ord", "RowKey", "Payload")
_SOMETIMES = (
    "PayloadHash",
    "SourceOriginal",
    "SourceUtc",
    "OriginalOffsetMin",
    "Extras",
    "PulledThrough",
    "NaturalKey",
)
# These may be bound as bytes, and are cast then: decoding them to a str and back costs more than writing them.
_BYTES = frozenset({"Payload", "Extras"})
_PAYLOAD = _ALWAYS.index("Payload")
_ROW_KEY, _PULLED = itemgetter(0), itemgetter(7)
_FAILED = (Status.IMPORT_ERR, Status.ERROR_RETRY)
_KNOWN = """
SELECT Ord, Status, PayloadHash, PulledThrough, Pass, DeletedUtc,
    CASE WHEN ? OR Status IN ('IMPORT_ERR', 'ERROR_RETRY') THEN CAST(Payload AS BLOB) END, CAST(Extras AS BLOB)
FROM "{table}" WHERE rowid <= ? AND Ord IN ({marks})
"""
_REPLACE = """
UPDATE "{table}" SET Payload = CAST(? AS TEXT), PayloadHash = coalesce(?, PayloadHash), SourceOriginal = ?,
    SourceUtc = ?, OriginalOffsetMin = ?, Extras = CAST(? AS TEXT), NaturalKey = ?, RunId = ? {also}
WHERE Ord = ?
"""
_ANEW = """
, Status = 'NEW', Revision = Revision + 1, Attempts = 0, LastErrorCode = NULL, LastError = NULL, LastErrorAtUtc = NULL,
LastErrorMessage = NULL, RetryAfterUtc = NULL
"""
_RETURN = """
UPDATE "{table}" SET DeletedUtc = NULL, Status = CASE Status WHEN 'DELETED' THEN 'NEW' ELSE Status END WHERE Ord = ?
"""
_PAYLOADS = 'SELECT Ord, CAST(Payload AS BLOB) FROM "{table}" WHERE Ord IN ({marks})'
_REHASH = 'UPDATE "{table}" SET PayloadHash = ? WHERE Ord = ?'
_TOUCH = 'UPDATE "{table}" SET PulledThrough = ?, Pass = ? WHERE Ord = ?'


class _Known(NamedTuple):
    """The columns of a known record that staging needs."""

    status: str
    payload_hash: str | None
    pulled: bool
    pass_no: int
    deleted: str | None
    payload: bytes | None
    extras: bytes | None


class _Visit(NamedTuple):
    """One page on its way into one table."""

    connection: sqlite3.Connection
    table: Table
    run: str
    pass_no: int
    renew: Renew
    refresh: bool


class _Page(NamedTuple):
    """Records by column; without the columns that none of them fills."""

    records: Sequence[Staged]
    keys: list[str]
    names: tuple[str, ...]
    columns: list[Sequence[Any]]

    @classmethod
    def of(cls, records: Sequence[Staged]) -> _Page:
        row_keys, payloads, *others = zip(*records, strict=True)
        filled = {name: values for name, values in zip(_SOMETIMES, others, strict=True) if not _nothing(values)}
        keys = order_keys(row_keys)
        return cls(records, keys, (*_ALWAYS, *filled), [keys, row_keys, payloads, *filled.values()])

    def bound(self, start: int, size: int) -> list[Any]:
        """The values of many rows in the form of a statement: one row after another."""
        width = len(self.columns)
        values: list[Any] = [None] * (width * size)
        for place, column in enumerate(self.columns):
            part = column[start : start + size]
            values[place::width] = _quickly(part) if place == _PAYLOAD else part
        return values


class StageMethods:
    database: Database

    def stage(
        self,
        table: Table,
        records: Sequence[Staged],
        *,
        run: str,
        pass_no: int,
        renew: Renew = renew_by_hash,
        refresh: bool = False,
    ) -> Staging:
        total = Staging()
        for part in _without_repeats(records):
            page = _Page.of(part)
            with self.database.writing() as connection:
                total = _sum(total, _write(_Visit(connection, table, run, pass_no, renew, refresh), page))
        return total


def _write(visit: _Visit, page: _Page) -> Staging:
    connection, table, records = visit.connection, visit.table, page.records
    tally = Tally(table.name)
    (last,) = connection.execute(sql(_LAST, table)).fetchone()
    added = _insert(visit, page)
    if added == len(records):  # the usual case: a page of new records
        tally.add(Status.NEW, added, sum(map(_PULLED, records)))
        done = Staging(added=added, seen=added)
    else:
        done = _meet_again(visit, page, _known(visit, page, last), tally)
    tally.write(connection)
    add_counters(connection, {f"seen:{table.name}:{visit.pass_no}": done.seen})
    return done


def _insert(visit: _Visit, page: _Page) -> int:
    """Returns how many were not there yet."""
    done = added = 0
    for size in SIZES:
        statement = _insertion(visit.table, page.names, size)
        while len(page.keys) - done >= size:
            values = [visit.run, visit.pass_no, *page.bound(done, size)]
            added += visit.connection.execute(statement, values).rowcount
            done += size
    return added


def _quickly(payloads: Sequence[bytes]) -> list[bytes | str]:
    """Most portals write ASCII only, and such a text is bound faster than bytes are."""
    return [payload.decode() if payload.isascii() else payload for payload in payloads]


def _nothing(values: Sequence[Any]) -> bool:
    """Whether all are None or False. Zero counts as a value, although it equals False."""
    return values.count(None) == len(values) or all(value is None or value is False for value in values)


@lru_cache(maxsize=1024)
def _insertion(table: Table, columns: tuple[str, ...], size: int) -> str:
    mark, rows = count(3), []  # the run and the pass are the first two
    for _ in range(size):
        marks = [f"CAST(?{next(mark)} AS TEXT)" if name in _BYTES else f"?{next(mark)}" for name in columns]
        rows.append(f"(?1, ?2, {', '.join(marks)})")
    return _INSERT.format(table=table.name, columns=", ".join(columns), rows=", ".join(rows))


def _known(visit: _Visit, page: _Page, last: int) -> dict[str, _Known]:
    """Those of the records that were there before: new ones have a rowid above the `last` one."""
    wanted = visit.refresh or any(record.payload_hash is None for record in page.records)
    found: dict[str, _Known] = {}
    for chunk in chunks(page.keys):
        query = sql(_KNOWN, visit.table, marks=marks(len(chunk)))
        for key, status, digest, pulled, *rest in visit.connection.execute(query, (wanted, last, *chunk)):
            found[key] = _Known(status, digest, bool(pulled), *rest)
    return found


def _find_changes(visit: _Visit, page: _Page, known: dict[str, _Known]) -> dict[str, Staged | None]:
    """Those that may be others than the ones that are there: as they are to be written, or None if only the hash is
    another. Few are, so only of these the payload is read."""
    doubtful = {
        key: record
        for key, record in zip(page.keys, page.records, strict=True)
        if record.payload_hash
        and (old := known.get(key))
        and (old.payload_hash != record.payload_hash or has_new_extras(record.extras, old.extras))
    }
    changes: dict[str, Staged | None] = {}
    for chunk in chunks(list(doubtful)):
        query = sql(_PAYLOADS, visit.table, marks=marks(len(chunk)))
        for key, payload in visit.connection.execute(query, chunk):
            record, old = doubtful[key], known[key]
            staged = Staged(record.row_key, payload, old.payload_hash, extras=old.extras)
            changes[key] = visit.renew(staged, record)
    return changes


def _meet_again(visit: _Visit, page: _Page, known: dict[str, _Known], tally: Tally) -> Staging:
    connection, table, run, pass_no, _, refresh = visit
    anew, replaced, rehashed, touched, returned = [], [], [], [], []
    first_times = 0
    changes = _find_changes(visit, page, known)
    for key, record in zip(page.keys, page.records, strict=True):
        old = known.get(key)
        if old is None:
            tally.add(Status.NEW, 1, record.pulled_through)
            continue
        status, pulled = old.status, old.pulled and record.pulled_through
        if old.deleted:
            returned.append((key,))
            status = Status.NEW if status == Status.DELETED else status
        if record.payload_hash:
            other = changes.get(key)
            if other is not None:
                anew.append(_content(other, run, key))
                status = Status.NEW
            elif (refresh or status in _FAILED) and old.payload != record.payload:  # the new data may be right
                replaced.append(_content(record._replace(extras=old.extras or record.extras), run, key))
            elif old.payload_hash != record.payload_hash:
                rehashed.append((record.payload_hash, key))
        elif status == Status.IMPORT_OK:
            if has_new_extras(record.extras, old.extras):
                anew.append(_content(record, run, key))
                status = Status.NEW
        elif (old.payload, old.extras) != (record.payload, record.extras):
            replaced.append(_content(record, run, key))
        first_times += old.pass_no < pass_no
        if pulled != old.pulled or old.pass_no < pass_no:
            touched.append((pulled, max(pass_no, old.pass_no), key))
        tally.move(old.status, old.pulled, status, pulled)
    connection.executemany(sql(_RETURN, table), returned)
    add_counters(connection, {deleted_counter(table): -len(returned)})
    connection.executemany(sql(_REPLACE, table, also=_ANEW), anew)
    connection.executemany(sql(_REPLACE, table, also=""), replaced)
    connection.executemany(sql(_REHASH, table), rehashed)
    connection.executemany(sql(_TOUCH, table), touched)
    added, changed = len(page.records) - len(known), len(anew) + len(replaced)
    return Staging(added, changed, len(known) - changed, first_times + added)


def _content(record: Staged, run: str, key: str) -> tuple[Any, ...]:
    return (*record[1:7], record.natural, run, key)


def _without_repeats(records: Sequence[Staged]) -> list[Sequence[Staged]]:
    """Pages may overlap: a record that is there twice is staged once after the other."""
    if len(set(map(_ROW_KEY, records))) == len(records):
        return [records] if records else []
    parts: list[dict[str, Staged]] = [{}]
    for record in records:
        if record.row_key in parts[-1]:
            parts.append({})
        parts[-1][record.row_key] = record
    return [list(part.values()) for part in parts]


def _sum(one: Staging, other: Staging) -> Staging:
    return Staging(*(a + b for a, b in zip(one, other, strict=True)))
