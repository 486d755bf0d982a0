"""One store in Azurite behind a line that may lose answers, and what its rows must say at any time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from tests import azurite
from tests.stores.azure_reuse import empty_store, give_back
from tests.stores.lossy_proxy import Life, Line, lossy
from tests.stores.samples import (
    EVERYTHING,
    GROUPS,
    TABLES,
    Time,
    keys,
    row,
)

from b24migrate.model.records import Staged, Status, order_key
from b24migrate.ports import REGISTERS
from b24migrate.stores.azure import OWN_TABLES, AzureStore, prepare
from b24migrate.stores.azure.account import Account, Address

NAMES = [*(table.name for table in TABLES), *(register.name for register in REGISTERS), *OWN_TABLES]


class Place(NamedTuple):
    """One store in Azurite, behind a line that counts requests and may lose answers."""

    url: str
    environ: dict[str, str]
    line: Line
    life: Life
    opened: ExitStack
    accounts: list[Account]

    def store(self) -> AzureStore:
        """As another process would open it."""
        account = Account(Address.parse(self.url), self.environ)
        self.accounts.append(account)
        prepare(account, NAMES)
        store = AzureStore(account, TABLES, Time())
        self.opened.callback(store.close)
        return store

    @contextmanager
    def asking(self, most: int, least: int = 0) -> Iterator[None]:
        before = self.line.asked.total()
        yield
        assert least <= self.line.asked.total() - before <= most


@contextmanager
def a_place() -> Iterator[Place]:
    url, ports, life = empty_store(), azurite.start(), Life()
    accounts: list[Account] = []
    with ExitStack() as stack:
        stack.callback(give_back, url, accounts)
        line, port = stack.enter_context(lossy(ports["Table"], life))
        opened = stack.enter_context(ExitStack())
        yield Place(url, {**os.environ, "AZURITE_TABLE_PORT": str(port)}, line, life, opened, accounts)
        life.left = None


def rows_of(store: AzureStore) -> list[Any]:
    """As they lie there."""
    return list(store.account.table("Groups").list_entities())


def audit(store: AzureStore) -> Counter[str]:
    """Every number is what the rows say, every row is found in order. Returns how many have each status."""
    rows = [one for one in rows_of(store) if not one["RowKey"].startswith("!")]
    counted = Counter(one["Status"] for one in rows)
    assert store.counts(GROUPS) == {status: counted[status] for status in Status}
    pulled = [one for one in rows if one.get("PulledThrough") and one["Status"] in ("NEW", "ERROR_RETRY")]
    assert store.pulled_pending(GROUPS) == len(pulled)
    errors = Counter(
        (one["Status"], one["LastErrorCode"])
        for one in rows
        if one.get("LastErrorCode") and one["Status"] != "IMPORT_OK"
    )
    assert store.error_counts(GROUPS) == errors
    counts = Counter(f"seen:Groups:{one['Pass']}" for one in rows)
    assert all(store.counters("seen:")[name] >= count for name, count in counts.items())
    found = keys(store.records(GROUPS, EVERYTHING, len(rows) + 10))
    assert found == sorted((one.get("Key", one["RowKey"]) for one in rows), key=order_key)
    sent = [one.get("Key", one["RowKey"]) for one in rows if one["Status"] == "IMPORT_OK"]
    assert store.links("groups", sent).keys() >= {one for one in sent if not one.startswith("unlinked")}
    return counted


def segments(store: AzureStore) -> list[Any]:
    return [one for one in rows_of(store) if one["RowKey"].startswith("!keys")]


def shards(store: AzureStore) -> list[Any]:
    return [one for one in rows_of(store) if one["RowKey"].startswith("!count:")]


def page(first: int, count: int, **more: Any) -> list[Staged]:
    return [row(number, "x" * 300, **more) for number in range(first, first + count)]
