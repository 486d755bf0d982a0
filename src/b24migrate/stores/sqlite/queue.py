"""The queue: jobs in the same file as the records they work on."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from b24migrate.messages import pack, unpack
from b24migrate.model.records import DeadLetter, Job, canonical, decode_job
from b24migrate.ports import BROKEN_JOB, DELIVERIES, POISON, POISON_REASON, Lease, Waiting
from b24migrate.stores.sqlite.database import Database
from b24migrate.stores.sqlite.sql import beginning, moment, text

_PUT = """
INSERT INTO Jobs (Id, Scope, Kind, Args, Attempts, Failures, VisibleAt) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (Id) DO NOTHING
"""
_ANY_VISIBLE = """
SELECT EXISTS (SELECT 1 FROM Jobs WHERE VisibleAt IS NULL) OR EXISTS (SELECT 1 FROM Jobs WHERE VisibleAt <= ?)
"""
# Jobs whose time has come join those that can be taken, once each: so the oldest is the first entry of an index,
# however many are parked. A lease that ended keeps its token until a worker takes the job: it may still be renewed.
_WAKE = "UPDATE Jobs SET VisibleAt = NULL WHERE VisibleAt <= ?"
_OLDEST = "SELECT Seq, Token FROM Jobs WHERE VisibleAt IS NULL ORDER BY Seq LIMIT 1"
_NAMED = "SELECT Seq, Token FROM Jobs WHERE VisibleAt IS NULL AND Id = ?"
_CLAIM = """
UPDATE Jobs SET Owner = ?, Token = ?, LeaseUntil = ?, VisibleAt = ? WHERE Seq = ?
RETURNING Scope, Kind, Args, Attempts, Failures
"""
_POISON = "DELETE FROM Jobs WHERE Seq = ? RETURNING Scope, Kind, Args, Attempts, Failures"
_RENEW = "UPDATE Jobs SET LeaseUntil = ?, VisibleAt = ? WHERE Id = ? AND Token = ?"
_PARK = """
UPDATE Jobs SET Owner = NULL, Token = NULL, LeaseUntil = NULL, VisibleAt = ?, Attempts = ?, Failures = ?
WHERE Id = ? AND Token = ?
"""
_REMOVE = "DELETE FROM Jobs WHERE Id = ? AND Token = ?"
_BURY = """
INSERT INTO DeadLetters (Id, Scope, Kind, Args, Attempts, Failures, Code, Reason, DiedAt, ReasonMessage)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (Id) DO UPDATE SET Attempts = excluded.Attempts, Failures = excluded.Failures, Code = excluded.Code,
    Reason = excluded.Reason, DiedAt = excluded.DiedAt, ReasonMessage = excluded.ReasonMessage
"""
_DEAD = """
SELECT Scope, Kind, Args, Attempts, Failures, Code, Reason, DiedAt, ReasonMessage FROM DeadLetters
WHERE ? IN ('', Scope) ORDER BY Seq
"""
# The plus keeps the planner from walking all of them because they lie in order.
_DEAD_PARTS = """
SELECT Scope, Kind, Args, Attempts, Failures, Code, Reason, DiedAt, ReasonMessage FROM DeadLetters
WHERE json_type(Args, '$.record') IS NULL AND Scope {which} ? ORDER BY +Seq
"""
_COUNT_DEAD = "SELECT count(*) FROM DeadLetters"
_COUNT_PARTS = "SELECT count(*) FROM DeadLetters WHERE json_type(Args, '$.record') IS NULL"
_HELD = "SELECT count(*) FROM Jobs INDEXED BY JobsOwned WHERE Owner IS NOT NULL AND VisibleAt > ?"
_JOBS = "SELECT Scope, Kind, Args, Attempts, Failures, VisibleAt, Token IS NOT NULL FROM Jobs ORDER BY Seq"
_ANY_OF_SCOPE = """
SELECT EXISTS (SELECT 1 FROM Jobs WHERE Scope = ?) OR EXISTS (SELECT 1 FROM DeadLetters WHERE Scope = ?)
"""
_RELEASE = """
UPDATE Jobs SET Owner = NULL, Token = NULL, LeaseUntil = NULL, VisibleAt = NULL WHERE Seq = ? AND Token = ?
"""


class SqliteQueue:
    glance_s = 0.1

    def __init__(self, database: Database) -> None:
        self._database = database
        self._claiming = Lock()

    def put(self, jobs: Sequence[Job], *, visible_at: datetime | None = None) -> None:
        if not jobs:
            return
        with self._database.writing() as connection:
            _put(connection, jobs, visible_at)

    def claim(self, owner: str, *, now: datetime, lease_s: float) -> Lease | None:
        with (
            self._claiming
        ):  # news wake all workers at once: who comes too late for a job finds none, and writes nothing
            with self._database.reading() as connection:  # an idle one asks often: it must not take the write lock
                if not connection.execute(_ANY_VISIBLE, (text(now),)).fetchone()[0]:
                    return None
            return self._give(_OLDEST, (), owner, now, lease_s)

    def take(self, job_id: str, owner: str, *, now: datetime, lease_s: float) -> Lease | None:
        return self._give(_NAMED, (job_id,), owner, now, lease_s)

    def _give(self, which: str, named: tuple[str, ...], owner: str, now: datetime, lease_s: float) -> Lease | None:
        until = text(now + timedelta(seconds=lease_s))
        with self._database.writing() as connection:
            connection.execute(_WAKE, (text(now),))
            while found := connection.execute(which, named).fetchone():
                seq, last = found
                if _deliveries(last) < DELIVERIES:
                    token = f"{_deliveries(last) + 1}.{secrets.token_hex(12)}"
                    (row,) = connection.execute(_CLAIM, (owner, token, until, until, seq)).fetchall()
                    job = decode_job(*row)
                    if not job.is_damaged:
                        return Lease(job, token)
                (row,) = connection.execute(_POISON, (seq,)).fetchall()
                job = decode_job(*row)
                code, reason = BROKEN_JOB if job.is_damaged else (POISON, POISON_REASON)
                connection.execute(_BURY, (*_row(job), code, reason, text(now), pack(reason)))
        return None

    def renew(self, lease: Lease, *, now: datetime, lease_s: float) -> bool:
        until = text(now + timedelta(seconds=lease_s))
        with self._database.writing() as connection:
            return connection.execute(_RENEW, (until, until, lease.job.id, lease.token)).rowcount == 1

    def finish(self, lease: Lease, follow: Sequence[Job]) -> None:
        """One transaction, so the job goes first: what follows may be the same job again."""
        with self._database.writing() as connection:
            if connection.execute(_REMOVE, (lease.job.id, lease.token)).rowcount:
                _put(connection, follow)

    def park(self, lease: Lease, *, until: datetime, job: Job | None = None) -> None:
        counts = job or lease.job
        with self._database.writing() as connection:
            connection.execute(_PARK, (text(until), counts.attempts, counts.failures, lease.job.id, lease.token))

    def bury(self, lease: Lease, *, code: str, reason: str, now: datetime) -> None:
        with self._database.writing() as connection:
            if connection.execute(_REMOVE, (lease.job.id, lease.token)).rowcount:
                connection.execute(_BURY, (*_row(lease.job), code, reason, text(now), pack(reason)))

    def letter(self, job: Job, *, code: str, reason: str, now: datetime) -> None:
        with self._database.writing() as connection:
            connection.execute(_BURY, (*_row(job), code, reason, text(now), pack(reason)))

    def open(self, scope: str) -> int:
        with self._database.reading() as connection:
            row = connection.execute("SELECT Open FROM Scopes WHERE Scope = ?", (scope,)).fetchone()
        return int(row[0]) if row else 0

    def jobs(self) -> list[Waiting]:
        with self._database.reading() as connection:
            rows = connection.execute(_JOBS).fetchall()
        return [Waiting(decode_job(*row), moment(at) if at else None, bool(held)) for *row, at, held in rows]

    def held(self, *, now: datetime) -> int:
        with self._database.reading() as connection:
            (count,) = connection.execute(_HELD, (text(now),)).fetchone()
        return int(count)

    def next_visible(self) -> datetime | None:
        with self._database.reading() as connection:
            row = connection.execute("SELECT VisibleAt FROM Jobs ORDER BY VisibleAt LIMIT 1").fetchone()
        if row is None:
            return None
        return moment(row[0]) if row[0] else self._database.clock.now()

    def drop(self, scope: str) -> None:
        with (
            self._database.reading() as connection
        ):  # a run starts with empty scopes, and a write is alone on the store
            if not connection.execute(_ANY_OF_SCOPE, (scope, scope)).fetchone()[0]:
                return
        now = text(self._database.clock.now())
        with self._database.writing() as connection:
            connection.execute("DELETE FROM Jobs WHERE Scope = ? AND (Token IS NULL OR LeaseUntil <= ?)", (scope, now))
            connection.execute("DELETE FROM DeadLetters WHERE Scope = ?", (scope,))

    def dead(self, scope: str = "") -> list[DeadLetter]:
        with self._database.reading() as connection:
            rows = connection.execute(_DEAD, (scope,)).fetchall()
        return [_letter(row) for row in rows]

    def dead_count(self, *, parts: bool = False) -> int:
        with self._database.reading() as connection:
            (count,) = connection.execute(_COUNT_PARTS if parts else _COUNT_DEAD).fetchone()
        return int(count)

    def dead_parts(self, scope: str = "") -> list[DeadLetter]:
        query = _DEAD_PARTS.format(which="=" if scope else ">=")
        with self._database.reading() as connection:
            rows = connection.execute(query, (scope,)).fetchall()
        return [_letter(row) for row in rows]

    def release(self, owner_prefix: str, alive: Callable[[str], bool]) -> int:
        sql = "SELECT Seq, Token, Owner FROM Jobs WHERE Owner >= ? AND Owner <= ?"
        with self._database.writing() as connection:
            rows = connection.execute(sql, beginning(owner_prefix)).fetchall()
            dead = [(seq, token) for seq, token, owner in rows if not alive(owner)]
            connection.executemany(_RELEASE, dead)
        return len(dead)

    def tend(self, *, now: datetime) -> int:  # noqa: ARG002 (there are no messages that could be lost)
        return 0


def _letter(row: tuple[Any, ...]) -> DeadLetter:
    code, reason, died_at, packed = row[5:]
    return DeadLetter(decode_job(*row[:5]), code, unpack(reason, packed), died_at)


def _deliveries(token: str | None) -> int:
    """How often in a row a job was taken and not given back, by the token of its last lease."""
    number, found, _ = (token or "").partition(".")
    return int(number) if found else int(token is not None)


def _put(connection: sqlite3.Connection, jobs: Sequence[Job], visible_at: datetime | None = None) -> None:
    at = text(visible_at) if visible_at else None
    connection.executemany(_PUT, [(*_row(job), at) for job in jobs])


def _row(job: Job) -> tuple[Any, ...]:
    return job.id, job.scope, job.kind, canonical(job.args).decode(), job.attempts, job.failures
