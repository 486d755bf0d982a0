"""The distributed store: Tables, Queues and Blobs of one storage account, or Azurite on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing

from b24migrate.model.records import Json, Table
from b24migrate.ports import REGISTERS, Clock
from b24migrate.stores.azure.account import Account, Address
from b24migrate.stores.azure.blobs import Blobs
from b24migrate.stores.azure.copy import MovingRoom
from b24migrate.stores.azure.counters import Counters
from b24migrate.stores.azure.counts import Tallies
from b24migrate.stores.azure.files import BlobFiles
from b24migrate.stores.azure.find import Finder
from b24migrate.stores.azure.order import Order
from b24migrate.stores.azure.queue import AzureQueue
from b24migrate.stores.azure.records import RecordRoom
from b24migrate.stores.azure.registers import RegisterRoom, Versions
from b24migrate.stores.azure.settle import SettlingRoom
from b24migrate.stores.azure.setup import VERSION, is_prepared, prepare
from b24migrate.stores.azure.stage import StagingRoom

__all__ = ["AzureQueue", "AzureStore", "BlobFiles", "exists", "open_azure"]

OWN_TABLES = ("Counters", "Jobs")


class AzureStore(StagingRoom, RecordRoom, SettlingRoom, MovingRoom, RegisterRoom):
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
            "bytes": None,  # the service tells it once a day at best
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
    account = Account(Address.of(url))
    try:
        names = [*(table.name for table in tables), *(register.name for register in REGISTERS), *OWN_TABLES]
        prepare(account, names)
        return AzureStore(account, tables, clock), AzureQueue(account, clock), BlobFiles(account)
    except BaseException:
        account.close()
        raise


def exists(url: str) -> bool:
    """Whether somebody made a store there. Nothing is made."""
    account = Account(Address.of(url))
    with closing(account):
        return is_prepared(account)
