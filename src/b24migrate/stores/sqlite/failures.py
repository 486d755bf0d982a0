"""Maps SQLite's errors to ours, with messages for the operator."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, Halted, MigrationError


class Failure(NamedTuple):
    """The error and message for one of SQLite's result codes."""

    code: str
    message: str  # the key of a message about the place
    hint: str
    kind: type[MigrationError] = Halted

    @staticmethod
    def of(error: sqlite3.Error) -> Failure | None:
        return _FAILURES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)


def _after(what: str) -> str:
    return say("store.saved_do", do=say(f"store.do.{what}"))


LOCKED = Failure("STORE_LOCKED", "store.locked", _after("close"))
_READ_ONLY = Failure("STORE_READ_ONLY", "store.read_only", _after("write"))
_FOREIGN = Failure("STORE_FOREIGN", "", "", BadConfiguration)
# https://www.sqlite.org/rescode.html
_FAILURES = {
    sqlite3.SQLITE_FULL: Failure("STORE_FULL", "store.full", _after("space")),
    sqlite3.SQLITE_IOERR: Failure("STORE_IO", "store.io", _after("disk_space")),
    sqlite3.SQLITE_NOMEM: Failure("STORE_MEMORY", "store.no_memory", _after("memory")),
    sqlite3.SQLITE_CORRUPT: Failure("STORE_DAMAGED", "store.damaged", say("store.damaged_fix")),
    sqlite3.SQLITE_CANTOPEN: Failure("STORE_UNREACHABLE", "store.unopened", say("store.unopened_fix")),
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
    return failure.kind(say(failure.message, place=place), code=failure.code, hint=failure.hint)


def foreign(place: str) -> BadConfiguration:
    return BadConfiguration(
        say("store.foreign", place=place),
        code="STORE_FOREIGN",
        hint=say("store.foreign_fix"),
    )
