"""The real queues of a store in Azurite, as the host of the functions uses them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from azure.core.exceptions import ResourceNotFoundError
from azure.storage.queue import QueueClient, QueueMessage
from tests.engine.world import World
from tests.functions.conftest import opening
from tests.functions.host import Host, Letter

from b24migrate.stores.azure.account import Account, Address

AT_ONCE = 8  # `batchSize` in host.json
HIDDEN_S = 600


class AzureMailbox:
    def __init__(self, account: Account) -> None:
        self.work = account.queue("work")
        self.dlq = account.queue("dlq")
        self._poison = account.queue("work-poison")
        self._poison.create_queue()

    def receive(self) -> list[Letter]:
        return _received(self.work)

    def delete(self, letter: Letter) -> None:
        self.work.delete_message(letter.id, letter.receipt)

    def give_back(self, letter: Letter) -> None:
        self.work.update_message(letter.id, letter.receipt, visibility_timeout=0)

    def poison(self, letter: Letter) -> None:
        self._poison.send_message(letter.body.decode())
        self.delete(letter)

    def poisoned(self) -> list[Letter]:
        letters = _received(self._poison)
        for letter in letters:
            self._poison.delete_message(letter.id, letter.receipt)
        return letters


def _received(queue: QueueClient) -> list[Letter]:
    try:
        found = list(queue.receive_messages(max_messages=AT_ONCE, visibility_timeout=HIDDEN_S))
    except ResourceNotFoundError:
        return []
    return [_letter(one) for one in found]


def _letter(message: QueueMessage) -> Letter:
    body = str(message.content).encode()
    return Letter(body, int(message.dequeue_count or 1), str(message.id), str(message.pop_receipt))


@contextmanager
def on_azure(made: World, url: str, **options: float) -> Iterator[Host]:
    made.settings["store"] = {"url": url}
    account = Account(Address.parse(url))
    with closing(account), made.app() as own:  # opened once, so that its queues are there
        mailbox = AzureMailbox(account)
        with Host(opening(made), own.context.store, mailbox, made.clock, **options) as host:  # type: ignore[arg-type]
            yield host
