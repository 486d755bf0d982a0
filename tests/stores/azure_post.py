"""The queue of one store in Azurite, behind lines that may lose answers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any, NamedTuple

from tests import azurite
from tests.stores.lossy_proxy import Life, Line, lossy
from tests.stores.samples import Time

from b24migrate.stores.azure import prepare
from b24migrate.stores.azure.account import Account, Address
from b24migrate.stores.azure.queue import AzureQueue


class Place(NamedTuple):
    """One store in Azurite, behind lines that may lose answers."""

    url: str
    environ: dict[str, str]
    clock: Time
    tables: Line
    messages: Line
    life: Life
    opened: ExitStack

    def queue(self) -> AzureQueue:
        """As another process would open it."""
        return AzureQueue(self.account(), self.clock)

    def account(self) -> Account:
        account = self.opened.enter_context(closing(Account(Address.parse(self.url), self.environ)))
        prepare(account, ["Jobs"])
        return account

    def in_sight(self, name: str = "work") -> list[Any]:
        return [json.loads(one.content) for one in self.account().queue(name).peek_messages(32)]

    def how_many(self, name: str = "work") -> int:
        """Those out of sight too."""
        return int(self.account().queue(name).get_queue_properties().approximate_message_count or 0)

    def deliver(self, name: str = "work") -> list[Any]:
        """To a client that gives up at once."""
        queue = self.account().queue(name)
        received = list(queue.receive_messages(messages_per_page=32, max_messages=32, visibility_timeout=600))
        for one in received:
            queue.update_message(one, visibility_timeout=0)
        return received


@contextmanager
def a_place(clock: Time) -> Iterator[Place]:
    url = azurite.url()
    ports = azurite.start()
    life = Life()
    with ExitStack() as opened:
        tables, table_port = opened.enter_context(lossy(ports["Table"], life))
        messages, queue_port = opened.enter_context(lossy(ports["Queue"], life))
        environ = {**os.environ, "AZURITE_TABLE_PORT": str(table_port), "AZURITE_QUEUE_PORT": str(queue_port)}
        yield Place(url, environ, clock, tables, messages, life, opened)
