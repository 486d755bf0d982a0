"""Makes what a store consists of when it is opened for the first time, or when a newer program wants more tables."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.failures import error_code, translated
from b24migrate.stores.azure.properties import Entity
from b24migrate.stores.azure.transactions import create, replace

VERSION = 1
INFO = "StoreInfo"
QUEUES = ("work", "dlq")
CONTAINERS = ("files", "payloads")
_KEY = {"PartitionKey": "store", "RowKey": "info"}


def prepare(account: Account, tables: Collection[str]) -> None:
    """One request when everything is there. The row that says so is written last, so whoever dies on the way is
    followed by somebody who makes the rest; making a thing twice is harmless."""
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
    """False when somebody else wrote it meanwhile."""
    row: Entity = {**_KEY, "Version": VERSION, "Tables": ",".join(sorted(tables))}
    with translated(account.place):
        try:
            account.submit(INFO, [replace(row, found.metadata["etag"]) if found else create(row)])
        except HttpResponseError as error:
            if error_code(error) not in ("EntityAlreadyExists", "UpdateConditionNotSatisfied"):
                raise
            return False
    return True
