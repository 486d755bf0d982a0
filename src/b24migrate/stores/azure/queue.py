"""The queue: jobs are rows of a table, and each has a message in the Storage Queue `work`.

The rows decide. A worker takes jobs from the table; a function is called with a message and takes the job it names. A
lost, late or doubled message changes nothing but when a function wakes; `tend` finds what was lost.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Lock

from b24migrate.model.records import DeadLetter, Job, Json
from b24migrate.ports import BROKEN_JOB, DELIVERIES, POISON, POISON_REASON, Clock, Lease, Waiting
from b24migrate.stores.azure.account import Account, Blobs
from b24migrate.stores.azure.jobs import (
    AT_ONCE,
    FREE,
    JOB,
    NO_MESSAGE,
    Ages,
    Row,
    age_of,
    text,
    token_of,
)
from b24migrate.stores.azure.jobtable import AGAIN, Additions, DeadLetters, JobTable
from b24migrate.stores.azure.limits import OPERATIONS
from b24migrate.stores.azure.messages import Post
from b24migrate.stores.azure.repair import Repair
from b24migrate.stores.azure.transactions import Operation

_JOBS = OPERATIONS // 2  # a job is two rows


def clear_jobs(account: Account, table: JobTable, post: Post, scope: str, now: str) -> None:
    """Jobs that no worker holds at this moment."""

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


LOOK = 8  # visible jobs that one question brings
MANY = 20  # that follow: worth a look whether the lease is lost before they are all made
OVERTAKEN_S = 1.0  # a message is sent before its row is written, and may be received before


class AzureQueue:
    glance_s = 0.5

    def __init__(self, account: Account, clock: Clock) -> None:
        self._account = account
        self._clock = clock
        self._ages = Ages(clock)
        self._table = JobTable(account)
        self._blobs = Blobs(account)
        self._letters = DeadLetters(account, self._table, self._ages)
        self._additions = Additions(account, self._table, self._ages, clock)
        self._post = self._additions.post
        self._repair = Repair(account, self._table, self._additions)
        self._held: dict[str, Row] = {}  # by token, as last seen
        self._claiming = Lock()
        self._look = 0  # the number of the last look
        self._candidates: list[Row] = []  # the rest of its rows

    def put(self, jobs: Sequence[Job], *, visible_at: datetime | None = None) -> None:
        entries = self._additions.entries(_once(jobs), visible_at)
        for parcel in self._additions.parcels(entries, beside=0):
            self._additions.commit(parcel, lambda _: [])

    # ------------------------------------------------------------ taking

    def claim(self, owner: str, *, now: datetime, lease_s: float) -> Lease | None:
        last_look = self._look
        with self._claiming:
            while candidates := self._visible(last_look, now):
                # The oldest first. If another worker was faster, it is probably at the next one now.
                row = candidates.pop(0)
                while (lease := self._give(row, owner, now, lease_s)) is None and candidates:
                    row = candidates.pop(random.randrange(len(candidates)))
                if lease:
                    return lease
                last_look = self._look
        return None

    def take(self, job_id: str, owner: str, *, now: datetime, lease_s: float) -> Lease | None:
        row = self._table.named(job_id)
        if row is None:
            self._clock.sleep(OVERTAKEN_S)
            row = self._table.named(job_id)
        while row and row.visible_at <= text(now):
            # The caller received the message and deletes it; our receipt is outdated.
            lease = self._give(row, owner, now, lease_s, NO_MESSAGE)
            if lease:
                return lease
            row = self._table.named(job_id)
        return None

    def _visible(self, last_look: int, now: datetime) -> list[Row]:
        """A thread uses the answer to any query that started after its request, even one of another thread."""
        if self._look <= last_look:
            self._look += 1
            self._candidates = self._table.visible(text(now), LOOK)
        return self._candidates

    def _give(
        self, row: Row, owner: str, now: datetime, lease_s: float, more: Mapping[str, Json] | None = None
    ) -> Lease | None:
        """None if another worker was faster, or the job is not available any more."""
        self._ages.met(row.age)
        job = row.job(self._blobs)
        if job.is_damaged or row.deliveries >= DELIVERIES:
            why = BROKEN_JOB if job.is_damaged else (POISON, POISON_REASON)
            self._bury(job, lambda fresh: self._unchanged(row, fresh), *why, now)
            return None
        token = token_of(row.age)
        until = text(now + timedelta(seconds=lease_s))
        taken = {"Owner": owner, "Token": token, "VisibleAt": until, "Deliveries": row.deliveries + 1, **(more or {})}
        given = self._table.change(row, taken)
        if given is None:  # perhaps by us: the answer may have been lost
            given = self._table.get(row.key)
            if given is None or given.token != token:
                return None
        self._held[token] = given
        return Lease(job, token)

    # ------------------------------------------------------------ holding, and letting go

    def renew(self, lease: Lease, *, now: datetime, lease_s: float) -> bool:
        row = self._mine(lease)
        message = self._post.hide(row.message, lease_s) if row and row.message else None
        until = text(now + timedelta(seconds=lease_s))
        columns = {**message.columns(), "MessageAt": until} if message else NO_MESSAGE
        return self._change(lease, {"VisibleAt": until, **columns})

    def finish(self, lease: Lease, follow: Sequence[Job]) -> None:
        """The job goes in the transaction that adds what follows; if that needs several, in the last one. Every one of
        them fails if the lease is lost."""
        jobs = _once(follow)
        row = self._mine(lease, fresh=len(jobs) > MANY)
        if row is None:
            return
        message = row.message
        entries = self._additions.entries(jobs)
        itself = [one for one in entries if one.job.id == lease.job.id]
        others = [one for one in entries if one.job.id != lease.job.id]

        def guard(fresh: bool) -> list[Operation] | None:
            row = self._mine(lease, fresh=fresh)
            return None if row is None else [row.touch()]

        def removal(fresh: bool) -> list[Operation] | None:
            row = self._mine(lease, fresh=fresh)
            if row is None:
                return None
            gone, mark = row.removal()
            return [*itself[0].succession(), gone] if itself else [mark, gone]

        *parcels, last = list(self._additions.parcels(others, beside=4)) or [[]]
        for parcel in parcels:
            if not self._additions.commit(parcel, guard):
                return
            self._held.pop(lease.token, None)  # its etag is another one now
        if self._additions.commit(last, removal):
            self._post.delete(message)
        self._held.pop(lease.token, None)

    def park(self, lease: Lease, *, until: datetime, job: Job | None = None) -> None:
        row = self._mine(lease)
        if row is None:
            return
        counts = job or lease.job
        wait_s = (until - self._clock.now()).total_seconds()
        message = self._additions.hidden(lease.job.id, row.message, wait_s)
        self._change(
            lease,
            {
                **FREE,
                "VisibleAt": text(until),
                "Attempts": counts.attempts,
                "Failures": counts.failures,
                **message.columns(),
                "MessageAt": text(until),
            },
        )
        self._held.pop(lease.token, None)

    def bury(self, lease: Lease, *, code: str, reason: str, now: datetime) -> None:
        if self._mine(lease):
            self._bury(lease.job, lambda fresh: self._mine(lease, fresh=fresh), code, reason, now)
        self._held.pop(lease.token, None)

    def release(self, owner_prefix: str, alive: Callable[[str], bool]) -> int:
        dead = [row for row in self._table.owned(owner_prefix) if not alive(row.owner)]
        freed = {**FREE, "VisibleAt": AT_ONCE}
        return sum(self._table.change(row, freed) is not None for row in dead)

    def _mine(self, lease: Lease, *, fresh: bool = False) -> Row | None:
        """The row of a leased job; None when the lease is lost."""
        row = None if fresh else self._held.get(lease.token)
        row = row or self._table.get(JOB + age_of(lease.token))
        if row is None or row.token != lease.token:
            self._held.pop(lease.token, None)
            return None
        self._held[lease.token] = row
        return row

    def _change(self, lease: Lease, values: Mapping[str, Json]) -> bool:
        """False when the lease is lost."""
        for trial in range(AGAIN):
            row = self._mine(lease, fresh=trial > 0)
            if row is None:
                return False
            changed = self._table.change(row, values)
            if changed:
                self._held[lease.token] = changed
                return True
        return False

    def _unchanged(self, row: Row, fresh: bool) -> Row | None:
        """The row if no other worker got the job since."""
        now = self._table.get(row.key) if fresh else row
        return now if now and now.token == row.token else None

    def _bury(self, job: Job, row_of: Callable[[bool], Row | None], code: str, reason: str, now: datetime) -> None:
        letter = self._letters.writing(job, code, reason, text(now))
        buried: list[Row] = []

        def moving(fresh: bool) -> list[Operation] | None:
            row = row_of(fresh)
            buried[:] = [row] if row else []
            return [letter, *reversed(row.removal())] if row else None

        if self._additions.commit([], moving):
            self._post.delete(buried[0].message)

    # ------------------------------------------------------------ dead letters

    def letter(self, job: Job, *, code: str, reason: str, now: datetime) -> None:
        letter = self._letters.writing(job, code, reason, text(now))
        self._additions.commit([], lambda _: [letter])

    def dead(self, scope: str = "") -> list[DeadLetter]:
        return self._letters.all(scope)

    def dead_count(self, *, parts: bool = False) -> int:
        return len(self.dead_parts()) if parts else self._table.count_letters()

    def dead_parts(self, scope: str = "") -> list[DeadLetter]:
        return [letter for letter in self._letters.all(scope) if "record" not in letter.job.args]

    # ------------------------------------------------------------ questions

    def open(self, scope: str) -> int:
        return self._table.count(scope)

    def jobs(self) -> list[Waiting]:
        return [Waiting(row.job(self._blobs), _moment(row.visible_at), bool(row.token)) for row in self._table.jobs()]

    def held(self, *, now: datetime) -> int:
        return self._table.held(text(now))

    def next_visible(self) -> datetime | None:
        """Nearly always there is one or none; only otherwise all rows are read."""
        now = self._clock.now()
        if self._table.visible(text(now), 1):
            return now
        first = self._table.first_visible_at()
        return None if first is None else _moment(first) or now

    # ------------------------------------------------------------ keeping order

    def drop(self, scope: str) -> None:
        clear_jobs(self._account, self._table, self._post, scope, text(self._clock.now()))
        clear_letters(self._table, self._letters, scope)

    def tend(self, *, now: datetime) -> int:
        return self._repair.tend(now)


def _once(jobs: Sequence[Job]) -> list[Job]:
    unique: dict[str, Job] = {}
    for job in jobs:
        unique.setdefault(job.id, job)
    return list(unique.values())


def _moment(at: str) -> datetime | None:
    return None if at == AT_ONCE else datetime.fromisoformat(at)
