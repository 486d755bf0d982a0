"""Shared by the contract tests: the backends, a clock that moves only on request, and short names for sample rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.stores.azure_reuse import empty_store, give_back

from b24migrate.model.records import Link, Settled, Span, Staged, Staging, Status, Table, digest
from b24migrate.ports import Clock, Store
from b24migrate.stores import Opened, open_store
from b24migrate.stores.azure import AzureStore

GROUPS = Table("Groups", "groups")
MESSAGES = Table("ChatMessages", "chat_messages")
FILES = Table("Files", "files")
TABLES = (GROUPS, MESSAGES, FILES)
EVERYTHING = Span()
NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)

Open = Callable[[Path, Clock], Opened]
BACKENDS: Mapping[str, Open] = {
    "sqlite-memory": lambda _, clock: open_store("sqlite://:memory:", TABLES, clock),
    "sqlite-file": lambda folder, clock: open_store("sqlite:///store.db", TABLES, clock, base=folder),
    "azure": lambda _, clock: _open_azure(clock),
}


def _open_azure(clock: Clock) -> Opened:
    """Emptied when it is closed."""
    url = empty_store()
    opened = open_store(url, TABLES, clock)
    assert isinstance(opened.store, AzureStore)
    opened.store.account.closing.callback(give_back, url, [opened.store.account])
    return opened


class Time:
    """Moves only when told, or slept on."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.passed_s)

    def monotonic(self) -> float:
        return self.passed_s

    def sleep(self, seconds: float) -> None:
        self.passed_s += seconds


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def row(key: str | int, text: str = "a", **more: Any) -> Staged:
    return Staged(str(key), f'{{"ID": "{key}",  "NAME": "{text}"}}'.encode(), **more)


def hashed(key: str | int, text: str = "a", **more: Any) -> Staged:
    return row(key, text, payload_hash=digest(text), **more)


def stage(store: Store, *records: Staged, table: Table = GROUPS, pass_no: int = 1) -> Staging:
    return store.stage(table, records, run="run-1", pass_no=pass_no)


def settle(store: Store, *outcomes: Settled, table: Table = GROUPS, now: datetime = NOON) -> None:
    store.settle("groups", table, outcomes, now=now)


def imported(key: str | int, attempts: int = 1, **more: Any) -> Settled:
    return Settled(str(key), Status.IMPORT_OK, attempts, link=Link(str(key), f"t{key}", "d"), **more)


def failed(key: str | int, code: str = "BAD", attempts: int = 1, **more: Any) -> Settled:
    return Settled(str(key), Status.IMPORT_ERR, attempts, code, f"{code} happened", **more)


def retried(key: str | int, due: datetime, attempts: int = 1, code: str = "SLOW") -> Settled:
    return Settled(str(key), Status.ERROR_RETRY, attempts, code, "later", due.isoformat())


def keys(found: Any) -> list[str]:
    return [one.row_key for one in found]
