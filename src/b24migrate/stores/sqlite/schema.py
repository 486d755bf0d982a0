"""Makes a file a store of ours, adds tables it does not have yet, and refuses what is not ours."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.model.records import MIGRATION_VERSION, Table
from b24migrate.ports import ID_MAP, MESSAGES, REGISTERS, Register
from b24migrate.stores.sqlite.failures import foreign

APPLICATION_ID = 0x4232344D  # "B24M"
VERSION = 1
_FILES = "Files"  # its records describe files: people may ask for their names and sizes
# columns that the first stores do not have
_LATER = ("Losses", "LastErrorMessage", "DeletedUtc")
_LATER_LETTERS = "ReasonMessage"

_NEWER = """
SELECT one.name, its.name FROM sqlite_master AS one JOIN pragma_table_info(one.name) AS its
WHERE one.type = 'table'
    AND its.name IN ('Losses', 'LastErrorMessage', 'DeletedUtc', 'ReasonMessage', 'Messages', 'Sent')
"""


def complete(connection: sqlite3.Connection, tables: Sequence[Table], place: str) -> bool:
    """Whether nothing has to be created. Raises BadConfiguration for what is not ours, before anything is changed."""
    present = table_names(connection)  # first: a process that makes it right now sets the rest in the same transaction
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not present and not application:
        return False
    if application != APPLICATION_ID:
        raise foreign(place)
    if version != VERSION:
        raise BadConfiguration(
            say("store.version", place=place, version=version, own=VERSION),
            code="STORE_VERSION",
            hint=say("store.version_fix"),
        )
    wanted = {table.name for table in tables} | {register.name for register in REGISTERS}
    return wanted <= present and not list(_missing(connection, tables))


def prepare(connection: sqlite3.Connection, tables: Sequence[Table], place: str) -> None:
    """Creates what is missing. Called inside a write transaction, so two processes never create it twice."""
    if complete(connection, tables, place):
        return
    present = table_names(connection)
    if not present:
        _run(connection, _part("store"))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    for register in REGISTERS:
        if register.name not in present:
            _run(connection, _register(register))
    for table in tables:
        if table.name not in present:
            _run(connection, _records(table))
            present.add(table.name)
    for name, column in list(_missing(connection, tables)):
        connection.execute(f'ALTER TABLE "{name}" ADD COLUMN {column} TEXT')


def table_names(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _missing(connection: sqlite3.Connection, tables: Sequence[Table]) -> Iterator[tuple[str, str]]:
    """Table and column, where an earlier version made the table without it."""
    there = set(connection.execute(_NEWER))
    later = [(table.name, column) for table in tables for column in _LATER]
    later += [(register.name, MESSAGES) for register in REGISTERS if register.messages]
    later.append((ID_MAP.name, "Sent"))
    return (one for one in (*later, ("DeadLetters", _LATER_LETTERS)) if one not in there)


def _records(table: Table) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", table.name):
        raise ValueError(f"{table.name!r} cannot be the name of a table")
    partition = "'" + table.partition.replace("'", "''") + "'"
    text = _part("records") + (_part("files") if table.name == _FILES else "")
    return text.format(table=table.name, partition=partition, version=MIGRATION_VERSION)


def _register(register: Register) -> str:
    columns = ",\n    ".join(f'"{column}"' for column in register.kept)
    return _part("register").format(table=register.name, columns=columns)


@cache
def _part(name: str) -> str:
    text = files(__package__).joinpath("schema.sql").read_text("utf-8")
    return re.split(rf"^-- \[{name}\]\n", text, flags=re.MULTILINE)[1].split("\n-- [")[0]


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Statement by statement: `executescript` would commit the transaction we are in."""
    for statement in _statements(script):
        connection.execute(statement)


def _statements(script: str) -> Iterator[str]:
    gathered = ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if line.rstrip().endswith(";") and sqlite3.complete_statement(gathered):
            yield gathered
            gathered = ""
