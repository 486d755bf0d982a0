"""Dead letters: rows beside the jobs, so that a job is either open or dead; and messages in `dlq` that tell of them."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.model.records import DeadLetter, Job
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.blobs import Blobs
from b24migrate.stores.azure.jobs import PARTITION, Ages, Row, letter_entity, letter_key
from b24migrate.stores.azure.jobtable import JobTable
from b24migrate.stores.azure.messages import DLQ, Message, Post, obituary
from b24migrate.stores.azure.transactions import Operation, delete, upsert


class DeadLetters:
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
        message = self._tell(obituary(job.id, job.scope, code, reason), older.message if older else None)
        return upsert(letter_entity(DeadLetter(job, code, reason, died_at), age, message, self._blobs))

    def still_there(self, rows: Sequence[Row]) -> list[Row]:
        found = self._account.side_by_side(self._table.get, [row.key for row in rows])
        return [row for row in found if row]

    def removal(self, row: Row) -> Operation:
        return delete(PARTITION, row.key)

    def forget(self, rows: Sequence[Row]) -> None:
        """The messages of letters that are gone."""
        self._account.side_by_side(self._post.delete, [row.message for row in rows])

    def _tell(self, content: str, older: Message | None) -> Message:
        rewritten = self._post.hide(older, 0, content) if older else None
        return rewritten or self._post.send(content)
