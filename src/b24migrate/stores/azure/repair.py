"""Repairs lost messages and removes foreign ones, a few at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from b24migrate.messages import say
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.jobs import AT_ONCE, PARTITION, TENDED, Row, id_key, text
from b24migrate.stores.azure.jobtable import Additions, JobTable
from b24migrate.stores.azure.messages import DLQ, Message, Post, dead_letter_text, order, ordered
from b24migrate.stores.azure.transactions import create, replace

EVERY_S = 15.0  # once is enough, however many processes call
OVERDUE_S = 300.0
JOBS_AT_MOST = 50
SILENT_AT_MOST = 500  # during a pause functions take all messages off, and when it is over they are missed
IDS_AT_MOST = 1000
ASIDE_S = 5.0  # received messages are hidden for so long
# A message may be a moment older than its job: it is an orphan only when it is received again without one.
DELIVERIES_OF_ORPHANS, DELIVERIES_OF_STRANGERS = 2, 3
STRANGER = "NOT_A_JOB"


class Repair:
    def __init__(self, account: Account, table: JobTable, additions: Additions) -> None:
        self._account = account
        self._table = table
        self._additions = additions
        self._post = additions.post
        self._dlq = Post(account, DLQ)

    def tend(self, now: datetime) -> int:
        """The number of repairs."""
        return self._call_again(now) + self._sort() if self._is_time(now) else 0

    def _is_time(self, now: datetime) -> bool:
        before = self._table.get(TENDED)
        mine = {"PartitionKey": PARTITION, "RowKey": TENDED, "At": text(now)}
        if before is None:
            return self._table.submit([create(mine)]) is not None
        if text(now - timedelta(seconds=EVERY_S)) < str(before.values["At"]) <= text(now):
            return False
        return self._table.submit([replace(mine, before.etag)]) is not None

    # ------------------------------------------------------------ jobs without a message

    def _call_again(self, now: datetime) -> int:
        unheard = self._table.unheard(text(now), AT_ONCE, SILENT_AT_MOST)
        if not unheard:
            unheard = self._table.unheard(text(now), text(now - timedelta(seconds=OVERDUE_S)), JOBS_AT_MOST)
        return sum(self._account.side_by_side(lambda row: self._call(row, now), unheard))

    def _call(self, row: Row, now: datetime) -> bool:
        """Whether it needed a new message; one that still waits to be received is good for another while."""
        message = self._additions.hidden(row.id, row.message, 0)
        if self._table.change(row, {**message.columns(), "MessageAt": text(now)}) is None:
            self._post.delete(message)  # a worker has taken the job without the message
            return False
        return row.message is None or row.message.id != message.id

    # ------------------------------------------------------------ messages without a job

    def _sort(self) -> int:
        """Receiving counts as a delivery, peeking does not: so the first ones are peeked at before."""
        peeked = self._post.peek()
        known = self._table.ids(IDS_AT_MOST) if peeked else set()
        if all(self._has_job(one, known) for one in peeked):
            return 0
        return sum(self._account.side_by_side(self._judge, self._post.receive(ASIDE_S)))

    def _has_job(self, message: Any, known: set[str]) -> bool:
        job_id = ordered(message.content)
        return job_id is not None and (id_key(job_id) in known or self._table.get(id_key(job_id)) is not None)

    def _judge(self, message: Any) -> bool:
        """Whether it had to go."""
        received = Message(message.id, message.pop_receipt)
        job_id = ordered(message.content)
        if job_id is None:
            if message.dequeue_count < DELIVERIES_OF_STRANGERS:
                return False
            self._dlq.send(dead_letter_text("", "", STRANGER, say("store.stranger", text=message.content)))
        elif row := self._table.named(job_id):
            if row.message and row.message.id == received.id:
                self._give_back(row, received)
                return False
        elif message.dequeue_count < DELIVERIES_OF_ORPHANS:
            return False
        self._post.delete(received)
        return True

    def _give_back(self, row: Row, received: Message) -> None:
        """As a new message: this one has one more delivery, and the host treats a message with too many deliveries as
        poison."""
        message = self._post.send(order(row.id))
        known = self._table.change(row, message.columns())
        self._post.delete(received if known else message)
