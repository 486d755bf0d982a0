"""Stores in Azurite that are emptied and used again. A new one takes forty requests, and hundreds of tests need an
empty one. Parts that an account never used are still empty: each of its clients is created at the first use."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from azure.core.exceptions import HttpResponseError
from tests import azurite

from b24migrate.stores.azure import CONTAINERS, INFO, QUEUES
from b24migrate.stores.azure.account import Account, Address

_empty: list[str] = []  # addresses, of this process


def empty_store() -> str:
    return _empty.pop() if _empty else azurite.url()


def give_back(url: str, accounts: Iterable[Account]) -> None:
    """Empties it. A store that cannot be emptied is not used again."""
    prefix, service = Address.parse(url).prefix, _service()
    used = {name for account in accounts for name in account._tables} - {INFO}
    with_blobs = any("blob_service" in vars(account) for account in accounts)
    try:
        for name in used:
            service.table(prefix + name).delete_table()
            service.table(prefix + name).create_table()
        for name in QUEUES if "Jobs" in used else ():
            service.queue(f"{prefix.lower()}-{name}").clear_messages()
        for name in CONTAINERS if with_blobs else ():
            container = service.container(f"{prefix.lower()}-{name}")
            for blob in container.list_blob_names():
                container.delete_blob(blob)
    except HttpResponseError:
        return
    _empty.append(url)


@cache
def _service() -> Account:
    """Of this process, as long as it lives."""
    azurite.start()
    return Account(Address("azurite", ""))
