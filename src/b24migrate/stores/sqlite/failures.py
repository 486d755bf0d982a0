"""What SQLite's errors mean to the operator, and which of ours they become."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from b24migrate.errors import BadConfiguration, Halted, MigrationError


class Failure(NamedTuple):
    """What one of SQLite's result codes means to the operator."""

    code: str
    message: str
    hint: str
    kind: type[MigrationError] = Halted

    @staticmethod
    def of(error: sqlite3.Error) -> Failure | None:
        return _FAILURES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)


_AGAIN = "Nothing is lost: {}, then run the same command again."
LOCKED = Failure(
    "STORE_LOCKED",
    "The store {place} was locked by another program for too long.",
    _AGAIN.format("close whatever holds it (a database browser, a backup)"),
)
_READ_ONLY = Failure(
    "STORE_READ_ONLY",
    "The store {place} cannot be written: the file, its folder or the disk is read-only.",
    _AGAIN.format("allow writing to the file and its folder"),
)
_FOREIGN = Failure("STORE_FOREIGN", "", "", BadConfiguration)
# https://www.sqlite.org/rescode.html
_FAILURES = {
    sqlite3.SQLITE_FULL: Failure(
        "STORE_FULL", "The disk with the store {place} is full.", _AGAIN.format("free some space")
    ),
    sqlite3.SQLITE_IOERR: Failure(
        "STORE_IO",
        "The disk with the store {place} does not read or write.",
        _AGAIN.format("check the disk and its space"),
    ),
    sqlite3.SQLITE_NOMEM: Failure(
        "STORE_MEMORY", "There is not enough memory to work with the store {place}.", _AGAIN.format("free some memory")
    ),
    sqlite3.SQLITE_CORRUPT: Failure(
        "STORE_DAMAGED",
        "The store {place} is damaged.",
        "Put back a copy of it, or set store.url to a new file and run again: what is imported is not imported twice.",
    ),
    sqlite3.SQLITE_CANTOPEN: Failure(
        "STORE_UNREACHABLE",
        "The store {place} cannot be opened.",
        "Check that its folder exists and may be written, then run the same command again.",
    ),
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_PROTOCOL: LOCKED,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_NOTADB: _FOREIGN,
}


def translate(error: sqlite3.Error, place: str) -> MigrationError | None:
    """Ours for what can happen to a good program; None for a mistake in this one."""
    failure = Failure.of(error)
    if failure is None:
        return None
    if failure is _FOREIGN:
        return foreign(place)
    return failure.kind(failure.message.format(place=place), code=failure.code, hint=failure.hint)


def foreign(place: str) -> BadConfiguration:
    return BadConfiguration(
        f"{place} is not a b24migrate store.",
        code="STORE_FOREIGN",
        hint="Set store.url to a new file, or to the store of an earlier run.",
    )
