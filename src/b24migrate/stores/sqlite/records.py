"""Reading staged records back: in order of id, by status, by key."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec

from b24migrate.model.records import Record, Span, Status, Table, end_between_families, order_key
from b24migrate.stores.sqlite.database import Database
from b24migrate.stores.sqlite.sql import (
    FAILED,
    IMPORTED,
    PENDING,
    bounds,
    chunks,
    marks,
    moment,
    record,
    sql,
    text,
)

_RECORDS = 'SELECT {record} FROM "{table}" WHERE Ord > ? AND Ord <= ? ORDER BY Ord LIMIT ?'
_KEYS = 'SELECT RowKey FROM "{table}" WHERE Ord > ? AND Ord <= ? ORDER BY Ord LIMIT ?'
# INDEXED BY: the planner must not take the index of all keys and walk past a million imported records.
_PENDING = """
SELECT {record} FROM "{table}" INDEXED BY "{table}Pending"
WHERE {pending} AND Ord > ? AND Ord <= ? AND (Status = 'NEW' OR RetryAfterUtc IS NULL OR RetryAfterUtc <= ?) {also}
ORDER BY Ord LIMIT ?
"""
_NOT_HELD = """
AND substr(Ord, 1, length(rtrim(Ord, replace(Ord, ':', ''))) - 1) NOT IN (SELECT value FROM json_each(?))
"""
_WAITING = """
SELECT RowKey, RetryAfterUtc FROM "{table}" INDEXED BY "{table}Failed"
WHERE {failed} AND Status = 'ERROR_RETRY' AND RetryAfterUtc > ? AND Ord > ? AND Ord <= ? ORDER BY Ord
"""
_MOMENTS = """
SELECT RowKey, coalesce(SourceUtc, '') FROM "{table}" INDEXED BY "{table}Pending"
WHERE {pending} AND Ord > ? AND Ord <= ? {also} ORDER BY Ord LIMIT ?
"""
_GET = 'SELECT {record} FROM "{table}" WHERE Ord IN ({marks})'
_KNOWN = 'SELECT Ord FROM "{table}" WHERE Ord IN ({marks})'
_FAILED = """
SELECT {record} FROM "{table}" INDEXED BY "{table}Failed" WHERE {failed} {also} ORDER BY Ord LIMIT ?
"""
_EXAMPLE = """
SELECT {record} FROM "{table}" INDEXED BY "{table}Errors"
WHERE LastErrorCode IS NOT NULL AND Status <> 'IMPORT_OK' AND Status = ? AND LastErrorCode = ? LIMIT 1
"""
_ERRORS = """
SELECT Status, LastErrorCode, count(*) FROM "{table}" INDEXED BY "{table}Errors"
WHERE LastErrorCode IS NOT NULL AND Status <> 'IMPORT_OK' GROUP BY Status, LastErrorCode
"""
_NTH = 'SELECT Ord FROM "{table}" INDEXED BY "{index}" WHERE {within} AND Ord > ? ORDER BY Ord LIMIT 1 OFFSET ?'
# Made when it is first needed: records come in by id, and an index in the order of e-mails would be rewritten all over
# with every page of them.
_NATURAL = """
CREATE INDEX IF NOT EXISTS "{table}Natural" ON "{table}" (NaturalKey, Ord) WHERE NaturalKey IS NOT NULL
"""
_HOLDER = 'SELECT RowKey FROM "{table}" WHERE NaturalKey = ? ORDER BY Ord LIMIT 1'
_SHOWN = 'SELECT {record} FROM "{table}" WHERE Ord > ? AND Ord <= ? AND {where} ORDER BY Ord LIMIT ?'
# Made when it is first needed: most stores have no such record.
_DELETED_INDEX = 'CREATE INDEX IF NOT EXISTS "{table}Deleted" ON "{table}" (Ord) WHERE DeletedUtc IS NOT NULL'
_DELETED = """
SELECT {record} FROM "{table}" INDEXED BY "{table}Deleted"
WHERE DeletedUtc IS NOT NULL AND Ord > ? AND Ord <= ? ORDER BY Ord LIMIT ?
"""
_COUNTS = "SELECT Status, Records, PulledThrough FROM Tallies WHERE TableName = ?"
_STEP = 'SELECT Ord FROM "{table}" {index} WHERE {within} Ord > ? AND Ord <= ? ORDER BY Ord LIMIT 1 OFFSET ?'


class RecordMethods:
    database: Database

    def records(self, table: Table, span: Span, limit: int) -> list[Record]:
        with self.database.reading() as connection:
            return list(map(record, connection.execute(sql(_RECORDS, table), (*bounds(span), limit))))

    def pending(
        self, table: Table, span: Span, limit: int, *, now: datetime, hold: Collection[str] = (), pulled: bool = False
    ) -> list[Record]:
        held = [msgspec.json.encode([order_key(parent) for parent in hold]).decode()] if hold else []
        also = ("AND PulledThrough = 1 " if pulled else "") + (_NOT_HELD if held else "")
        query = sql(_PENDING, table, also=also)
        with self.database.reading() as connection:
            return list(map(record, connection.execute(query, (*bounds(span), text(now), *held, limit))))

    def keys(self, table: Table, span: Span, limit: int) -> list[str]:
        with self.database.reading() as connection:
            return [key for (key,) in connection.execute(sql(_KEYS, table), (*bounds(span), limit))]

    def by_pass(self, table: Table, span: Span, limit: int, *, pass_no: int, shown: bool) -> list[Record]:
        where = "Pass >= ?" if shown else "Pass < ? AND DeletedUtc IS NULL"
        with self.database.reading() as connection:
            query = sql(_SHOWN, table, where=where)
            return list(map(record, connection.execute(query, (*bounds(span), pass_no, limit))))

    def deleted(self, table: Table, span: Span, limit: int) -> list[Record]:
        self._index_deleted(table)
        with self.database.reading() as connection:
            return list(map(record, connection.execute(sql(_DELETED, table), (*bounds(span), limit))))

    def _index_deleted(self, table: Table) -> None:
        self.database.once(f"{table.name}Deleted", sql(_DELETED_INDEX, table))

    def waiting(self, table: Table, span: Span, *, now: datetime) -> list[tuple[str, datetime]]:
        with self.database.reading() as connection:
            rows = connection.execute(sql(_WAITING, table), (text(now), *bounds(span)))
            return [(key, moment(due)) for key, due in rows]

    def moments(self, table: Table, span: Span, limit: int, *, pulled: bool = False) -> list[tuple[str, str]]:
        query = sql(_MOMENTS, table, also="AND PulledThrough = 1" if pulled else "")
        with self.database.reading() as connection:
            return connection.execute(query, (*bounds(span), limit)).fetchall()

    def get(self, table: Table, row_keys: Sequence[str]) -> dict[str, Record]:
        found: dict[str, Record] = {}
        with self.database.reading() as connection:
            for chunk in chunks(row_keys):
                query = sql(_GET, table, marks=marks(len(chunk)))
                found.update((row[0], record(row)) for row in connection.execute(query, list(map(order_key, chunk))))
        return found

    def known(self, table: Table, row_keys: Sequence[str]) -> set[str]:
        by_order = {order_key(key): key for key in row_keys}
        found: set[str] = set()
        with self.database.reading() as connection:
            for chunk in chunks(list(by_order)):
                query = sql(_KNOWN, table, marks=marks(len(chunk)))
                found.update(by_order[key] for (key,) in connection.execute(query, chunk))
        return found

    def sample(self, table: Table, count: int, *, seed: int, status: Status) -> list[Record]:
        """Chooses places in the order of ids, then walks the index to them: no payload is read but the chosen."""
        size = self.counts(table)[status]
        if status is Status.DELETED:
            self._index_deleted(table)
        places = sorted(random.Random(seed).sample(range(size), min(count, size)))
        index, within = _INDEXES[status]
        query = sql(_NTH, table, index=table.name + index, within=f"{within} AND Status = '{status}'")
        chosen: list[str] = []
        with self.database.reading() as connection:
            at, key = -1, ""
            for place in places:
                row = connection.execute(query, (key, place - at - 1)).fetchone()
                if row is None:  # another process changed statuses meanwhile
                    break
                at, key = place, row[0]
                chosen.append(key)
            found: list[Record] = []
            for chunk in chunks(chosen):
                found += map(record, connection.execute(sql(_GET, table, marks=marks(len(chunk))), chunk))
        return sorted(found, key=lambda one: order_key(one.row_key))

    def failed(self, table: Table, limit: int, *, code: str = "") -> list[Record]:
        query = sql(_FAILED, table, also="AND LastErrorCode = ?" if code else "")
        with self.database.reading() as connection:
            return list(map(record, connection.execute(query, (*([code] if code else []), limit))))

    def error_counts(self, table: Table) -> dict[tuple[str, str], int]:
        with self.database.reading() as connection:
            rows = connection.execute(sql(_ERRORS, table))
            return {(status, code): count for status, code, count in rows}

    def one_failed(self, table: Table, status: Status, code: str) -> Record | None:
        with self.database.reading() as connection:
            row = connection.execute(sql(_EXAMPLE, table), (status, code)).fetchone()
        return record(row) if row else None

    def holder(self, table: Table, natural: str) -> str | None:
        self.database.once(f"{table.name}Natural", sql(_NATURAL, table))
        with self.database.reading() as connection:
            row = connection.execute(sql(_HOLDER, table), (natural,)).fetchone()
        return row[0] if row else None

    def counts(self, table: Table) -> dict[Status, int]:
        with self.database.reading() as connection:
            rows = connection.execute(_COUNTS, (table.name,)).fetchall()
        return dict.fromkeys(Status, 0) | {Status(status): records for status, records, _ in rows}

    def pulled_pending(self, table: Table) -> int:
        with self.database.reading() as connection:
            rows = connection.execute(_COUNTS, (table.name,)).fetchall()
        return sum(pulled for status, _, pulled in rows if status in (Status.NEW, Status.ERROR_RETRY))

    def cuts(self, table: Table, span: Span, every: int, *, whole_parents: bool, pending: bool) -> list[Span]:
        """Walks the index alone. The outer ends are the span's own, so nothing falls between two cuts."""
        index, within = (f'INDEXED BY "{table.name}Pending"', f"{PENDING} AND") if pending else ("", "")
        query = sql(_STEP, table, index=index, within=within)
        lo, hi = bounds(span)
        ends: list[str] = []
        with self.database.reading() as connection:
            while row := connection.execute(query, (lo, hi, every - 1)).fetchone():
                if whole_parents:
                    (first,) = connection.execute(query, (lo, hi, 0)).fetchone()
                    lo = end_between_families(first, row[0])
                else:
                    lo = row[0]
                ends.append(lo)
            rest = connection.execute(query, (lo, hi, 0)).fetchone()
        if not rest:
            ends = ends[:-1]
            if not ends and lo == span.lo:
                return []
        return [Span(a, b) for a, b in zip([span.lo, *ends], [*ends, span.hi], strict=True)]


_INDEXES = {
    Status.NEW: ("Pending", PENDING),
    Status.ERROR_RETRY: ("Failed", FAILED),
    Status.IMPORT_ERR: ("Failed", FAILED),
    Status.IMPORT_OK: ("Imported", IMPORTED),
    Status.DELETED: ("Deleted", "DeletedUtc IS NOT NULL"),
}
