"""Reads the store of a migration directly, not through the product."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

Cell = tuple[str, str]


class Peek(Protocol):
    @property
    def pace_s(self) -> float:
        """The pause between two reads."""
        ...

    def running(self) -> list[Cell]:
        """The running phases; empty if the store cannot be read at this moment."""
        ...

    def files_failed(self) -> int: ...


class SqlitePeek:
    pace_s = 0.004

    def __init__(self, path: Path) -> None:
        self._path = path

    def running(self) -> list[Cell]:
        if not self._path.exists():
            return []
        with contextlib.suppress(sqlite3.Error), contextlib.closing(self._open()) as connection:
            return _running(dict(connection.execute("SELECT RowKey, Phases FROM EntitiesState").fetchall()))
        return []

    def files_failed(self) -> int:
        with contextlib.closing(self._open()) as connection:
            found = connection.execute("SELECT COUNT(*) FROM Files WHERE Status = 'IMPORT_ERR'").fetchone()
        return int(found[0])

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self._path}?mode=ro", uri=True, timeout=0.2)


class AzuritePeek:
    pace_s = 0.05

    def __init__(self, account: Any) -> None:
        self._states = account.table("EntitiesState")
        self._files = account.table("Files")

    @classmethod
    @contextlib.contextmanager
    def at(cls, url: str) -> Iterator[AzuritePeek]:
        from b24migrate.stores.azure.account import Account, Address

        with contextlib.closing(Account(Address.parse(url))) as account:
            yield cls(account)

    def running(self) -> list[Cell]:
        from azure.core.exceptions import HttpResponseError

        with contextlib.suppress(HttpResponseError):  # the table is not there yet
            rows = self._states.list_entities(select=["RowKey", "Phases"])
            return _running({row["RowKey"]: row.get("Phases") for row in rows})
        return []

    def files_failed(self) -> int:
        wanted = "PartitionKey eq 'files' and Status eq 'IMPORT_ERR'"
        return sum(1 for _ in self._files.query_entities(wanted, select=["RowKey"]))


def _running(phases: dict[str, str | None]) -> list[Cell]:
    return [
        (entity, phase)
        for entity, columns in phases.items()
        for phase, state in json.loads(columns or "{}").items()
        if state.get("state") == "running"
    ]
