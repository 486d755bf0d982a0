"""The table of jobs: reads, conditional changes, new jobs with their messages, and dead letters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from azure.core.exceptions import HttpResponseError, ResourceModifiedError, ResourceNotFoundError, ServiceResponseError
from azure.data.tables import UpdateMode

from b24migrate.messages import say
from b24migrate.model.errors import Halted
from b24migrate.model.records import DeadLetter, Job, Json
from b24migrate.ports import Clock
from b24migrate.stores.azure.account import Account, Blobs
from b24migrate.stores.azure.failures import translated
from b24migrate.stores.azure.jobs import (
    AT_ONCE,
    DEAD,
    ID,
    JOB,
    PARTITION,
    TABLE,
    Ages,
    Entry,
    Row,
    entry,
    id_key,
    letter_entity,
    letter_key,
    text,
)
from b24migrate.stores.azure.keys import prefix_range
from b24migrate.stores.azure.limits import OPERATIONS, TRANSACTION_BYTES
from b24migrate.stores.azure.messages import DLQ, WORK, Message, Post, dead_letter_text, order
from b24migrate.stores.azure.transactions import Operation, delete, if_unchanged, packed, upsert

_WITHIN = "PartitionKey eq @partition and RowKey ge @first and RowKey lt @last"
_GONE_OR_CHANGED = (404, 409, 412)
# The operations beside the jobs. It is called before every attempt, with whether it must read again; None = they must
# not happen.
Beside = Callable[[bool], Sequence[Operation] | None]
AGAIN = 20  # attempts, in which other workers may be faster
_BESIDE_BYTES = 1024 * 1024  # a row of a job or a letter is at most so large


class JobTable:
    def __init__(self, account: Account) -> None:
        self._account = account
        self._table = account.table(TABLE)

    # ------------------------------------------------------------ questions

    def visible(self, now: str, most: int) -> list[Row]:
        """The oldest first, whole."""
        return list(islice(self._rows(JOB, "VisibleAt le @now", {"now": now}, most), most))

    def jobs(self, scope: str = "") -> list[Row]:
        """The oldest first, whole."""
        return list(self._rows(JOB, "Scope eq @scope" if scope else "", {"scope": scope}))

    def owned(self, prefix: str) -> list[Row]:
        """Jobs held, or not given back, by an owner with this prefix."""
        found = self._rows(JOB, "Owner gt '' and Owner ge @prefix", {"prefix": prefix})
        return [row for row in found if row.owner.startswith(prefix)]

    def unheard(self, now: str, since: str, most: int) -> list[Row]:
        """Visible ones without a message, or with one that should have been received long since."""
        named = {"now": now, "since": since}
        found = self._rows(JOB, "VisibleAt le @now and MessageAt le @since", named, most)
        return list(islice(found, most))

    def first_visible_at(self) -> str | None:
        return min((row.visible_at for row in self._rows(JOB, select=("RowKey", "VisibleAt"))), default=None)

    def letters(self, scope: str = "") -> list[Row]:
        beginning, condition = (f"{DEAD}{scope}:", "Scope eq @scope") if scope else (DEAD, "")
        return sorted(self._rows(beginning, condition, {"scope": scope}), key=lambda row: str(row.values["Age"]))

    def count_letters(self) -> int:
        return sum(1 for _ in self._rows(DEAD, select=("RowKey",)))

    def held(self, now: str) -> int:
        return sum(1 for _ in self._rows(JOB, "Token gt '' and VisibleAt gt @now", {"now": now}, select=("RowKey",)))

    def count(self, scope: str) -> int:
        """How many jobs a scope has: never 0 while there is one, or what followed it.

        The ids of a scope lie side by side, so what is missing from all of them is missing from a single answer, which
        shows the partition at one moment; and at every moment either a job is there or what follows it. Only an answer
        that came in pieces shows several moments: then a 0 proves nothing, and the question is asked again.
        """
        while True:
            counted, pieces = 0, 0
            for page in self._pages(f"{ID}{scope}:", "Scope eq @scope", {"scope": scope}, select=("RowKey",)):
                counted += sum(1 for _ in page)
                pieces += 1
            if counted or pieces <= 1:
                return counted

    def ids(self, most: int) -> set[str]:
        """The keys under which ids are kept, `most` of them."""
        return {row.key for row in islice(self._rows(ID, most=most, select=("RowKey",)), most)}

    def named(self, job_id: str) -> Row | None:
        mark = self.get(id_key(job_id))
        return self.get(JOB + str(mark.values["Age"])) if mark else None

    def ages(self, job_ids: Collection[str]) -> dict[str, str]:
        """Of those that are there."""
        found = zip(job_ids, self._account.side_by_side(self.get, map(id_key, job_ids)), strict=True)
        return {job_id: str(mark.values["Age"]) for job_id, mark in found if mark}

    def get(self, key: str) -> Row | None:
        with translated(self._account.place):
            try:
                found = self._table.get_entity(PARTITION, key)
            except ResourceNotFoundError:
                return None
        return _row(found)

    # ------------------------------------------------------------ changes

    def change(self, row: Row, values: Mapping[str, Json]) -> Row | None:
        """Changes only these columns. None if the row changed, or if this change succeeded before and its answer was
        lost: the caller reads the row to find out."""
        part = {"PartitionKey": PARTITION, "RowKey": row.key, **values}
        with translated(self._account.place):
            try:
                done = self._table.update_entity(part, mode=UpdateMode.MERGE, **if_unchanged(row.etag))
            except (ResourceModifiedError, ResourceNotFoundError, ServiceResponseError):
                return None
        return row.with_values(values, str(done["etag"]))

    def submit(self, operations: Sequence[Operation]) -> list[str] | None:
        """All or nothing; the new etags. None if something has changed, or the answer was lost."""
        with translated(self._account.place):
            try:
                done = self._account.submit(TABLE, operations)
            except ServiceResponseError:
                return None
            except HttpResponseError as error:
                if error.status_code not in _GONE_OR_CHANGED:
                    raise
                return None
        return [str(one.get("etag", "")) for one in done]

    # ------------------------------------------------------------ queries

    def _rows(
        self,
        beginning: str,
        condition: str = "",
        named: Mapping[str, Any] | None = None,
        most: int | None = None,
        select: Sequence[str] | None = None,
    ) -> Iterator[Row]:
        for page in self._pages(beginning, condition, named, most, select):
            yield from map(_row, page)

    def _pages(
        self,
        beginning: str,
        condition: str = "",
        named: Mapping[str, Any] | None = None,
        most: int | None = None,
        select: Sequence[str] | None = None,
    ) -> Iterator[Any]:
        first, last = prefix_range(beginning)
        within = {"partition": PARTITION, "first": first, "last": last, **(named or {})}
        with translated(self._account.place):
            yield from self._table.query_entities(
                f"{_WITHIN} and {condition}" if condition else _WITHIN,
                parameters=within,
                results_per_page=most,
                select=list(select) if select else None,
            ).by_page()


def _row(found: Any) -> Row:
    return Row(found, str(found.metadata.get("etag", "")))


class Additions:
    """Adds jobs, each once, in one transaction with the operations that belong to them."""

    def __init__(self, account: Account, table: JobTable, ages: Ages, clock: Clock) -> None:
        self._account = account
        self._table = table
        self._ages = ages
        self._clock = clock
        self._blobs = Blobs(account)
        self.post = Post(account, WORK)

    def entries(self, jobs: Sequence[Job], visible_at: datetime | None = None) -> list[Entry]:
        """Sends their messages first, so that a row knows its message from the start. A message without a job is
        harmless and is deleted when it is received."""
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
        """In as few transactions as possible, each with the operations `beside`."""
        yield from packed(entries, Entry.size, (OPERATIONS - beside) // 2, TRANSACTION_BYTES - _BESIDE_BYTES)

    def commit(self, entries: list[Entry], beside: Beside) -> bool:
        """Adds the missing jobs together with the operations beside them, in one transaction. False if those operations
        must not happen: then nothing is added."""
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


class DeadLetters:
    """Rows of the same table, so that a job is either open or dead; and messages in `dlq` for monitoring."""

    def __init__(self, account: Account, table: JobTable, ages: Ages) -> None:
        self._account = account
        self._table = table
        self._ages = ages
        self._blobs = Blobs(account)
        self._post = Post(account, DLQ)

    def all(self, scope: str) -> list[DeadLetter]:
        return [row.letter(self._blobs) for row in self._table.letters(scope)]

    def writing(self, job: Job, code: str, reason: str, died_at: str) -> Operation:
        """Tells of it, and gives the operation that keeps it: in place of an older letter about the same job."""
        older = self._table.get(letter_key(job.id))
        age = str(older.values["Age"]) if older else self._ages.next()
        message = self._send_message(
            dead_letter_text(job.id, job.scope, code, reason), older.message if older else None
        )
        return upsert(letter_entity(DeadLetter(job, code, reason, died_at), age, message, self._blobs))

    def removal(self, row: Row) -> Operation:
        return delete(PARTITION, row.key)

    def forget(self, rows: Sequence[Row]) -> None:
        """The messages of letters that are gone."""
        self._account.side_by_side(self._post.delete, [row.message for row in rows])

    def _send_message(self, content: str, older: Message | None) -> Message:
        rewritten = self._post.hide(older, 0, content) if older else None
        return rewritten or self._post.send(content)
