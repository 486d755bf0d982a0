"""Jobs that join the others, each once, in the same transaction as whatever happens beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from b24migrate.messages import say
from b24migrate.model.errors import Halted
from b24migrate.model.records import Job
from b24migrate.ports import Clock
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.blobs import Blobs
from b24migrate.stores.azure.jobs import AT_ONCE, Ages, Entry, entry, text
from b24migrate.stores.azure.jobtable import JobTable
from b24migrate.stores.azure.limits import OPERATIONS, TRANSACTION_BYTES
from b24migrate.stores.azure.messages import WORK, Message, Post, order
from b24migrate.stores.azure.transactions import Operation, packed

# What happens beside the jobs. It is asked before every trial, whether it has to look again; None = it must not be.
Beside = Callable[[bool], Sequence[Operation] | None]
AGAIN = 20  # so often others may be faster before something must be wrong
_BESIDE_BYTES = 1024 * 1024  # a row of a job or a letter is at most so large


class Additions:
    def __init__(self, account: Account, table: JobTable, ages: Ages, clock: Clock) -> None:
        self._account = account
        self._table = table
        self._ages = ages
        self._clock = clock
        self._blobs = Blobs(account)
        self.post = Post(account, WORK)

    def entries(self, jobs: Sequence[Job], visible_at: datetime | None = None) -> list[Entry]:
        """Sends their messages. That comes first, so that a row knows its message from the beginning: a message without
        a job is harmless, and goes when somebody receives it."""
        now = self._clock.now()
        hidden_s = (visible_at - now).total_seconds() if visible_at else 0.0
        at = text(visible_at) if visible_at else AT_ONCE
        heard_at = text(max(visible_at, now) if visible_at else now)
        ages = [self._ages.next() for _ in jobs]

        def made(numbered: tuple[Job, str]) -> Entry:
            job, age = numbered
            message = self.post.send(order(job.id), hidden_s=hidden_s)
            return entry(job, age, message, self._blobs, visible_at=at, message_at=heard_at)

        return self._account.side_by_side(made, zip(jobs, ages, strict=True))

    def parcels(self, entries: Sequence[Entry], *, beside: int) -> Iterator[list[Entry]]:
        """As few transactions as can be, if so many operations are beside each."""
        yield from packed(entries, Entry.size, (OPERATIONS - beside) // 2, TRANSACTION_BYTES - _BESIDE_BYTES)

    def commit(self, entries: list[Entry], beside: Beside) -> bool:
        """Adds those that are not there yet, and does what is beside them, in one transaction. False when what is
        beside them must not be: then nothing is added."""
        for trial in range(AGAIN):
            others = beside(trial > 0)
            if others is None:
                self._take_back(entries)
                return False
            operations = [operation for one in entries for operation in one.creation()] + list(others)
            if not operations or self._table.submit(operations) is not None:
                return True
            entries = self._missing(entries)
        raise Halted(
            say("store.contradiction", place=self._account.place),
            code="STORE_REFUSED",
            hint=say("store.contradiction_fix"),
        )

    def hidden(self, job_id: str, message: Message | None, seconds: float) -> Message:
        """The job's message, or a new one where that is gone, out of sight for so long."""
        kept = self.post.hide(message, seconds) if message else None
        return kept or self.post.send(order(job_id), hidden_s=seconds)

    def _missing(self, entries: list[Entry]) -> list[Entry]:
        """Those that are not there. One that is there with our age was added by us: the answer was lost."""
        if not entries:
            return []
        ages = self._table.ages([one.job.id for one in entries])
        self._unsend([one for one in entries if ages.get(one.job.id, one.age) != one.age])
        return [one for one in entries if one.job.id not in ages]

    def _take_back(self, entries: list[Entry]) -> None:
        ages = self._table.ages([one.job.id for one in entries])
        self._unsend([one for one in entries if ages.get(one.job.id) != one.age])

    def _unsend(self, entries: list[Entry]) -> None:
        self._account.side_by_side(self.post.delete, [one.message for one in entries])
