"""The distributed store: Tables, Queues and Blobs of one storage account, or Azurite on this machine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.model.records import Json, Span, Table
from b24migrate.ports import REGISTERS, Clock
from b24migrate.stores.azure.account import Account, Address, Blobs
from b24migrate.stores.azure.changes import ChangeMethods, Plan
from b24migrate.stores.azure.counters import Counters
from b24migrate.stores.azure.counts import Tallies
from b24migrate.stores.azure.failures import error_code, translated
from b24migrate.stores.azure.files import BlobFiles
from b24migrate.stores.azure.find import EVERY, Finder
from b24migrate.stores.azure.order import Order
from b24migrate.stores.azure.properties import Entity
from b24migrate.stores.azure.queue import AzureQueue
from b24migrate.stores.azure.records import RecordMethods
from b24migrate.stores.azure.registers import RegisterMethods, Versions
from b24migrate.stores.azure.rows import contents_of, entity_of, face_of, rows_of
from b24migrate.stores.azure.settle import SettleMethods
from b24migrate.stores.azure.shards import Face, Tally
from b24migrate.stores.azure.stage import StageMethods, added
from b24migrate.stores.azure.transactions import create, replace

Row = Mapping[str, Json]


class CopyMethods(ChangeMethods):
    def export(self, table: Table, span: Span, limit: int) -> list[Row]:
        keys = self.order.keys(table, span)
        found = list(islice(self.finder.matching(table, keys, EVERY, None, first=max(1, limit)), limit))
        return list(rows_of(found, contents_of(found, self.blobs, self.account.side_by_side)))

    def restore(self, table: Table, rows: Sequence[Row]) -> None:
        by_key = {row["RowKey"]: row for row in rows}

        def plan(key: str, old: Any) -> Plan[str]:
            return _restored(table, by_key[key], old)

        # Usually the rows do not exist yet. If one does, the first transaction fails, and the rows are read.
        for _ in self._change(table, list(by_key), str, plan, {}):
            pass


def _restored(table: Table, row: Row, old: Any) -> Plan[str]:
    made, large = entity_of(table, row)
    tally = Tally().leave(face_of(old)) if old else Tally()
    tally.enter(Face(row["Status"], bool(row["PulledThrough"]), row["LastErrorCode"]))
    operation = replace(made, old.metadata["etag"]) if old else create(made)
    return Plan(row["RowKey"], operation, tally, added(row["RowKey"], row["NaturalKey"]), large)


VERSION = 1
INFO = "StoreInfo"
QUEUES = ("work", "dlq")
CONTAINERS = ("files", "payloads")
_KEY = {"PartitionKey": "store", "RowKey": "info"}


def prepare(account: Account, tables: Collection[str]) -> None:
    """One request if everything exists. Its mark is written last, so after a killed process the next one creates the
    rest; creating twice is harmless."""
    while True:
        found = _info(account)
        made = set(str(found["Tables"]).split(",")) if found else set()
        missing = set(tables) - made
        if not missing:
            return
        _make(account, missing, anew=not found)
        if _write(account, found, made | missing):
            return


def is_prepared(account: Account) -> bool:
    return _info(account) is not None


def _info(account: Account) -> Any:
    with translated(account.place):
        try:
            found = account.table(INFO).get_entity(_KEY["PartitionKey"], _KEY["RowKey"])
        except ResourceNotFoundError:
            return None
    if found["Version"] != VERSION:
        raise BadConfiguration(
            say("store.version", place=account.place, version=found["Version"], own=VERSION),
            code="STORE_VERSION",
            hint=say("store.version_azure_fix", place=account.place),
        )
    return found


def _make(account: Account, tables: Collection[str], *, anew: bool) -> None:
    account.make_tables([*sorted(tables), INFO] if anew else sorted(tables))
    if anew:
        account.side_by_side(account.make_queue, QUEUES)
        account.side_by_side(account.make_container, CONTAINERS)


def _write(account: Account, found: Any, tables: Collection[str]) -> bool:
    """False if another process wrote it meanwhile."""
    row: Entity = {**_KEY, "Version": VERSION, "Tables": ",".join(sorted(tables))}
    with translated(account.place):
        try:
            account.submit(INFO, [replace(row, found.metadata["etag"]) if found else create(row)])
        except HttpResponseError as error:
            if error_code(error) not in ("EntityAlreadyExists", "UpdateConditionNotSatisfied"):
                raise
            return False
    return True


__all__ = ["AzureQueue", "AzureStore", "BlobFiles", "exists", "open_azure"]

OWN_TABLES = ("Counters", "Jobs")


class AzureStore(StageMethods, RecordMethods, SettleMethods, CopyMethods, RegisterMethods):
    def __init__(self, account: Account, tables: Sequence[Table], clock: Clock) -> None:
        self.account = account
        self.tables = tables
        self.blobs = Blobs(account)
        self.clock = clock
        self.versions = Versions()
        self.own_counters = Counters(account, self.blobs)
        self.tallies = Tallies(account)
        self.order = Order(account)
        self.finder = Finder(account)
        self.familiar = set()

    def describe(self) -> Mapping[str, Json]:
        return {
            "kind": "azure",
            "place": self.account.place,
            "version": VERSION,
            "bytes": None,  # the service reports it at most once a day
            "free_bytes": None,
        }

    def close(self) -> None:
        if self.account.closed:
            return
        try:
            self.tallies.close()
            self.own_counters.close()
        finally:
            self.account.close()


def open_azure(url: str, tables: Sequence[Table], clock: Clock) -> tuple[AzureStore, AzureQueue, BlobFiles]:
    account = Account(Address.parse(url))
    try:
        names = [*(table.name for table in tables), *(register.name for register in REGISTERS), *OWN_TABLES]
        prepare(account, names)
        return AzureStore(account, tables, clock), AzureQueue(account, clock), BlobFiles(account)
    except BaseException:
        account.close()
        raise


def exists(url: str) -> bool:
    """Whether a store exists there. Creates nothing."""
    account = Account(Address.parse(url))
    with closing(account):
        return is_prepared(account)
