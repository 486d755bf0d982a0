"""Settling: what became of records on the target, their links, and giving failed ones another chance."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from b24migrate.messages import pack
from b24migrate.model.records import (
    Link,
    Settled,
    Status,
    Table,
    compare_losses,
    decode_losses,
    deleted_counter,
    encode_losses,
    order_key,
)
from b24migrate.ports import ID_MAP
from b24migrate.stores.sqlite.database import Database
from b24migrate.stores.sqlite.registers import add_counters
from b24migrate.stores.sqlite.sql import (
    ONE_BY_ONE,
    SIZES,
    Tally,
    beginning,
    chunks,
    execute_many,
    marks,
    same_form,
    sql,
    text,
)

_LINK = """
INSERT INTO IdMap (PartitionKey, RowKey, TargetId, Digest, ImportedAtUtc, Origin, Sent) VALUES {rows}
ON CONFLICT (PartitionKey, RowKey) DO UPDATE SET TargetId = excluded.TargetId, Digest = excluded.Digest,
    ImportedAtUtc = excluded.ImportedAtUtc, Origin = excluded.Origin, Sent = excluded.Sent,
    Version = Version + 1, Kinds = NULL
"""
_LINKS = "SELECT RowKey, TargetId, Digest, Origin, Sent FROM IdMap WHERE PartitionKey = ? AND RowKey IN ({marks})"
_NEXT_LINKS = """
SELECT RowKey, TargetId, Digest, Origin, Sent FROM IdMap
WHERE PartitionKey = ? AND RowKey > ? AND RowKey <= ? ORDER BY RowKey LIMIT 2000
"""
_BEFORE = 'SELECT Ord, Status, Attempts, PulledThrough, Losses FROM "{table}" WHERE Ord IN ({marks})'
_SETTLE = """
UPDATE "{table}" SET Status = column2, Attempts = column3, LastErrorCode = column4, LastError = column5,
    LastErrorAtUtc = column6, RetryAfterUtc = column7, TargetId = coalesce(column8, TargetId),
    ImportedAtUtc = coalesce(ImportedAtUtc, column9),
    Losses = CASE column2 WHEN 'IMPORT_OK' THEN column10 ELSE Losses END, LastErrorMessage = column11
FROM (VALUES {rows}) WHERE Ord = column1
"""
_FAILED_NEXT = """
SELECT Ord, Status, Attempts, PulledThrough, Losses FROM "{table}" INDEXED BY "{table}Failed"
WHERE {failed} {also} AND Ord > ? ORDER BY Ord LIMIT 2000
"""
_FAILED_AMONG = """
SELECT Ord, Status, Attempts, PulledThrough, Losses FROM "{table}" WHERE {failed} {also} AND Ord IN ({marks})
"""
_RENEW = """
UPDATE "{table}" SET Status = 'NEW', Attempts = 0, LastErrorCode = NULL, LastError = NULL, LastErrorAtUtc = NULL,
    LastErrorMessage = NULL, RetryAfterUtc = NULL
WHERE Ord = ?
"""
_AMONG = """
SELECT Ord, Status, Attempts, PulledThrough, Losses, DeletedUtc FROM "{table}"
WHERE (Status NOT IN ('NEW', 'DELETED') OR TargetId IS NOT NULL OR ImportedAtUtc IS NOT NULL) AND Ord IN ({marks})
"""
_MARK = """
UPDATE "{table}" SET DeletedUtc = ?, Status = ?, Attempts = 0, LastErrorCode = NULL, LastError = NULL,
    LastErrorAtUtc = NULL, LastErrorMessage = NULL, RetryAfterUtc = NULL
WHERE Ord = ?
"""
_UNMARKED = """
SELECT Ord, Status, Attempts, PulledThrough, Losses FROM "{table}" WHERE DeletedUtc IS NULL AND Ord IN ({marks})
"""
_TAKE_BACK = """
UPDATE "{table}" SET Status = CASE WHEN DeletedUtc IS NULL THEN 'NEW' ELSE 'DELETED' END, Attempts = 0,
    LastErrorCode = NULL, LastError = NULL, LastErrorAtUtc = NULL,
    LastErrorMessage = NULL, RetryAfterUtc = NULL, TargetId = NULL, ImportedAtUtc = NULL, Losses = NULL
WHERE Ord = ?
"""
_LOSE = 'UPDATE "{table}" SET Losses = ? WHERE Ord = ?'
_UNLINK = "DELETE FROM IdMap WHERE PartitionKey = ? AND RowKey IN ({marks})"


class _Before(NamedTuple):
    key: str
    status: str
    attempts: int
    pulled: int
    losses: str | None
    deleted: str | None = None


class SettleMethods:
    database: Database

    def settle(self, stream: str, table: Table, outcomes: Sequence[Settled], *, now: datetime) -> None:
        if not outcomes:
            return
        at = text(now)
        keys = [order_key(outcome.row_key) for outcome in outcomes]
        rows = [_settled(key, outcome, at) for key, outcome in zip(keys, outcomes, strict=True)]
        # If a record occurs twice, the last entry counts.
        sizes = SIZES if len(set(keys)) == len(keys) else ONE_BY_ONE
        with self.database.writing() as connection:
            _write_links(connection, stream, [one.link for one in outcomes if one.link], at)
            before = _before(connection, table, keys)
            execute_many(connection, sql(_SETTLE, table, rows="{rows}"), rows, sizes=sizes)
            tally, counters = _counted(stream, table, before, zip(keys, outcomes, strict=True))
            tally.write(connection)
            add_counters(connection, counters)

    def renew(self, table: Table, *, code: str = "", row_keys: Sequence[str] | None = None) -> int:
        """In small transactions: a million records do not make one of a gigabyte."""
        also, codes = ("AND LastErrorCode = ?", [code]) if code else ("", [])
        renewed = 0
        if row_keys is not None:
            for chunk in chunks(list(map(order_key, row_keys))):
                query = sql(_FAILED_AMONG, table, also=also, marks=marks(len(chunk)))
                renewed += len(self._renew(table, query, (*codes, *chunk), _RENEW))
            return renewed
        query, last = sql(_FAILED_NEXT, table, also=also), ""
        while found := self._renew(table, query, (*codes, last), _RENEW):
            renewed += len(found)
            last = found[-1].key
        return renewed

    def take_back(self, stream: str, table: Table, row_keys: Sequence[str]) -> int:
        taken = 0
        for chunk in chunks(list(map(order_key, row_keys))):
            query = sql(_AMONG, table, marks=marks(len(chunk)))
            taken += len(self._renew(table, query, tuple(chunk), _TAKE_BACK, loser=stream))
        return taken

    def mark_deleted(self, table: Table, row_keys: Sequence[str], *, there: Collection[str], now: datetime) -> int:
        on_target, marked = set(map(order_key, there)), 0
        for chunk in chunks(list(map(order_key, row_keys))):
            tally = Tally(table.name)
            with self.database.writing() as connection:
                query = sql(_UNMARKED, table, marks=marks(len(chunk)))
                found = [_Before(*row) for row in connection.execute(query, chunk)]
                after = {old.key: Status.IMPORT_OK if old.key in on_target else Status.DELETED for old in found}
                for old in found:
                    tally.move(old.status, bool(old.pulled), after[old.key], bool(old.pulled))
                values = [(text(now), status.value, key) for key, status in after.items()]
                connection.executemany(sql(_MARK, table), values)
                tally.write(connection)
                add_counters(connection, {deleted_counter(table): len(found)})
            marked += len(found)
        return marked

    def lose(self, stream: str, table: Table, losses: Mapping[str, Mapping[str, int]]) -> None:
        wanted = {order_key(row_key): lost for row_key, lost in losses.items()}
        counters = Counter[str]()
        with self.database.writing() as connection:
            before = _before(connection, table, list(wanted))
            for key, old in before.items():
                counters.update(_named(stream, compare_losses(decode_losses(old.losses), wanted[key])))
            connection.executemany(sql(_LOSE, table), [(encode_losses(wanted[key]), key) for key in before])
            add_counters(connection, counters)

    def unlink(self, stream: str, source_ids: Collection[str]) -> None:
        with self.database.writing() as connection:
            for chunk in chunks([f"{stream}:{source_id}" for source_id in source_ids]):
                connection.execute(_UNLINK.format(marks=marks(len(chunk))), (ID_MAP.partition, *chunk))

    def _renew(self, table: Table, query: str, values: tuple[str, ...], how: str, *, loser: str = "") -> list[_Before]:
        """With the stream that `loser` names nothing counts as lost any more."""
        tally, lost = Tally(table.name), Counter[str]()
        with self.database.writing() as connection:
            found = [_Before(*row) for row in connection.execute(query, values)]
            for old in found:
                after = Status.DELETED if old.deleted else Status.NEW
                tally.move(old.status, bool(old.pulled), after, bool(old.pulled))
                if loser:
                    lost.update(_named(loser, compare_losses(decode_losses(old.losses), {})))
            connection.executemany(sql(how, table), [(old.key,) for old in found])
            tally.write(connection)
            add_counters(connection, lost)
        return found

    def links(self, stream: str, source_ids: Collection[str]) -> dict[str, Link]:
        found: dict[str, Link] = {}
        with self.database.reading() as connection:
            for chunk in chunks([f"{stream}:{source_id}" for source_id in source_ids]):
                rows = connection.execute(_LINKS.format(marks=marks(len(chunk))), (ID_MAP.partition, *chunk))
                found.update((link.source_id, link) for link in (_link(stream, *row) for row in rows))
        return found

    def link(self, stream: str, links: Sequence[Link], *, now: datetime) -> None:
        with self.database.writing() as connection:
            _write_links(connection, stream, links, text(now))

    def all_links(self, stream: str) -> Iterator[Link]:
        """A stretch at a time: no connection is held while the caller works."""
        key, last = beginning(f"{stream}:")
        while True:
            with self.database.reading() as connection:
                rows = connection.execute(_NEXT_LINKS, (ID_MAP.partition, key, last)).fetchall()
            if not rows:
                return
            yield from (_link(stream, *row) for row in rows)
            key = rows[-1][0]


def _write_links(connection: sqlite3.Connection, stream: str, links: Sequence[Link], at: str) -> None:
    rows = [
        (ID_MAP.partition, f"{stream}:{one.source_id}", one.target_id, one.digest, at, one.origin, one.sent or None)
        for one in links
    ]
    execute_many(connection, _LINK, rows)


def _link(stream: str, key: str, *columns: str | None) -> Link:
    return Link(key.removeprefix(f"{stream}:"), *(one or "" for one in columns))


def _before(connection: sqlite3.Connection, table: Table, keys: Sequence[str]) -> dict[str, _Before]:
    found: dict[str, _Before] = {}
    for chunk in chunks(keys):
        rows = connection.execute(sql(_BEFORE, table, marks=marks(len(chunk))), chunk)
        found.update((row[0], _Before(*row)) for row in rows)
    return found


def _settled(key: str, outcome: Settled, at: str) -> tuple[str | int | None, ...]:
    failed = bool(outcome.error_code or outcome.error)
    return (
        key,
        outcome.status.value,
        outcome.attempts,
        (outcome.error_code or "") if failed else None,
        outcome.error,
        at if failed else None,
        same_form(outcome.retry_after_utc),
        outcome.link.target_id if outcome.link else None,
        at if outcome.status is Status.IMPORT_OK else None,
        encode_losses(outcome.losses),
        pack(outcome.error),
    )


def _counted(
    stream: str, table: Table, before: dict[str, _Before], outcomes: Iterable[tuple[str, Settled]]
) -> tuple[Tally, Counter[str]]:
    moves, counters = Counter[tuple[str, int, str]](), Counter[str]()
    for key, outcome in outcomes:
        old = before.get(key)
        if old is None:
            continue
        moves[old.status, old.pulled, outcome.status] += 1
        counters[f"retries:{stream}"] += max(0, outcome.attempts - max(1, old.attempts))
        kept = old.losses
        if outcome.status is Status.IMPORT_OK and (kept or outcome.losses):
            counters.update(_named(stream, compare_losses(decode_losses(kept), outcome.losses)))
            kept = encode_losses(outcome.losses)
        before[key] = _Before(key, outcome.status, outcome.attempts, old.pulled, kept)
    tally = Tally(table.name)
    for (status, pulled, to), count in moves.items():
        tally.add(status, -count, -count * pulled)
        tally.add(to, count, count * pulled)
    return tally, counters


def _named(stream: str, losses: Mapping[str, int]) -> dict[str, int]:
    return {f"{name}:{stream}": count for name, count in losses.items()}
