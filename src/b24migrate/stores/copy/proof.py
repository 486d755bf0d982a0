"""The proof: both stores are read from beginning to end, and every kind of thing has the same number and digest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from b24migrate.messages import pack, say
from b24migrate.model.records import Job, Json, Status, Table
from b24migrate.ports import Clock, Register
from b24migrate.ports.walk import Progress, walk_table
from b24migrate.stores.copy.model import Line, Side, Sum, size
from b24migrate.stores.copy.rows import due_at, moved_registers


class Reader(NamedTuple):
    """One side that is read from beginning to end."""

    side: Side
    verb: str
    teller: Progress
    now: datetime

    def table(self, table: Table) -> Sum:
        total, found = size(self.side.store, table), Sum()
        for stretch in walk_table(self.side.store, table):
            for row in stretch:
                found.add(row)
            self.teller.progress(self.verb, table.name, found.rows, total)
        return found

    def counts(self, table: Table) -> tuple[dict[Status, int], int]:
        return self.side.store.counts(table), self.side.store.pulled_pending(table)

    def register(self, register: Register) -> Sum:
        """Versions may differ: they count the writes of one store."""
        found = Sum()
        for row in self.side.store.all_rows(register):
            found.add({"": [row.partition, row.key], **register.packed(row.values)})
            self.teller.progress(self.verb, register.name, found.rows)
        return found

    def counters(self) -> Sum:
        counted = self.side.store.counters().items()
        return Sum.of({"name": name, "value": float(value)} for name, value in counted if value)

    def jobs(self) -> Sum:
        due = [(one.job, due_at(one, self.now)) for one in self.side.queue.jobs()]
        return Sum.of({**_job(job), "due": at and at.timestamp()} for job, at in due)

    def letters(self) -> Sum:
        dead = self.side.queue.dead()
        return Sum.of(
            {**_job(job), "code": code, "reason": reason, "message": pack(reason), "at": at}
            for job, code, reason, at in dead
        )


def compare(origin: Side, to: Side, tables: Sequence[Table], clock: Clock, teller: Progress) -> Iterator[Line]:
    now = clock.now()
    there, here = Reader(origin, "Reading", teller, now), Reader(to, "Reading back", teller, now)
    for table in tables:
        counted = there.counts(table) == here.counts(table)
        yield line(table.name, there.table(table), here.table(table), counted)
    for register in moved_registers():
        yield line(register.name, there.register(register), here.register(register))
    yield line("counters", there.counters(), here.counters())
    yield line("jobs", there.jobs(), here.jobs())
    yield line("dead letters", there.letters(), here.letters())


def line(what: str, wanted: Sum, found: Sum, counted: bool = True) -> Line:
    if wanted.rows != found.rows:
        note: str = say("copy.rows", there=wanted.rows, here=found.rows)
    elif wanted != found:
        note = say("copy.differ")
    else:
        note = "" if counted else say("copy.counts_differ")
    return Line(what, found.rows, found.digest, not note, note)


def _job(job: Job) -> dict[str, Json]:
    return {"id": job.id, "attempts": job.attempts, "failures": job.failures}
