"""Removes what a mini-task left waiting."""

from __future__ import annotations

from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.deadletters import DeadLetters
from b24migrate.stores.azure.job_insert import AGAIN
from b24migrate.stores.azure.jobs import Row
from b24migrate.stores.azure.jobtable import JobTable
from b24migrate.stores.azure.limits import OPERATIONS
from b24migrate.stores.azure.messages import Post

_JOBS = OPERATIONS // 2  # a job is two rows


def clear_jobs(account: Account, table: JobTable, post: Post, scope: str, now: str) -> None:
    """Those that nobody works on at this moment."""

    def clear(rows: list[Row]) -> None:
        if table.submit([operation for row in rows for operation in row.removal()]) is not None:
            account.side_by_side(post.delete, [row.message for row in rows])
        elif len(rows) > 1:  # one of them changed: the others can go
            for row in rows:
                clear([row])

    for _ in range(AGAIN):
        waiting = [row for row in table.jobs(scope) if not row.token or row.visible_at <= now]
        if not waiting:
            return
        for at in range(0, len(waiting), _JOBS):
            clear(waiting[at : at + _JOBS])


def clear_letters(table: JobTable, letters: DeadLetters, scope: str) -> None:
    for _ in range(AGAIN):
        rows = table.letters(scope)
        if not rows:
            return
        for at in range(0, len(rows), OPERATIONS):
            parcel = rows[at : at + OPERATIONS]
            if table.submit([letters.removal(row) for row in parcel]) is not None:
                letters.forget(parcel)
