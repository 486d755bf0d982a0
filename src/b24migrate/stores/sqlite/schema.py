"""Makes a file a store of ours, adds tables it does not have yet, and refuses what is not ours."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from b24migrate.errors import BadConfiguration
from b24migrate.ports import REGISTERS, Register
from b24migrate.records import MIGRATION_VERSION, Table
from b24migrate.stores.sqlite.failures import foreign

APPLICATION_ID = 0x4232344D  # "B24M"
VERSION = 1
_FILES = "Files"  # its records describe files: people may ask for their names and sizes
_LATER = "Losses"  # a column that the first stores do not have

_NEWER = """
SELECT one.name FROM sqlite_master AS one JOIN pragma_table_info(one.name) AS its
WHERE one.type = 'table' AND its.name = ?
"""


def complete(connection: sqlite3.Connection, tables: Sequence[Table], place: str) -> bool:
    """Whether nothing has to be created. Raises BadConfiguration for what is not ours, before anything is changed."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    present = table_names(connection)
    if not present and not application:
        return False
    if application != APPLICATION_ID:
        raise foreign(place)
    if version != VERSION:
        raise BadConfiguration(
            f"The store {place} has version {version}, and this program works with version {VERSION}.",
            code="STORE_VERSION",
            hint="Use the program that wrote it, or set store.url to a new file.",
        )
    wanted = {table.name for table in tables} | {register.name for register in REGISTERS}
    return wanted <= present and not _older(connection, tables)


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
    for name in _older(connection, tables):
        connection.execute(f'ALTER TABLE "{name}" ADD COLUMN {_LATER} TEXT')


def table_names(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _older(connection: sqlite3.Connection, tables: Sequence[Table]) -> list[str]:
    """The record tables that were made before they had all columns."""
    newer = {name for (name,) in connection.execute(_NEWER, (_LATER,))}
    return [one.name for one in tables if one.name not in newer]


def _records(table: Table) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", table.name):
        raise ValueError(f"{table.name!r} cannot be the name of a table")
    partition = "'" + table.partition.replace("'", "''") + "'"
    text = _part("records") + (_part("files") if table.name == _FILES else "")
    return text.format(table=table.name, partition=partition, version=MIGRATION_VERSION)


def _register(register: Register) -> str:
    columns = ",\n    ".join(f'"{column}"' for column in register.columns)
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
