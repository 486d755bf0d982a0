"""The proof: both stores are read from beginning to end, and every kind of thing has the same number and digest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from b24migrate.pipeline.moving.carrying import due_at, moved_registers
from b24migrate.pipeline.moving.words import Line, Side, Sum, Teller, size, stretches
from b24migrate.ports import Clock, Register
from b24migrate.records import Json, Status, Table


def compare(origin: Side, to: Side, tables: Sequence[Table], clock: Clock, teller: Teller) -> Iterator[Line]:
    for table in tables:
        counted = counts(origin, table) == counts(to, table)
        yield line(table.name, sum_of_table(origin, table, teller), sum_of_table(to, table, teller), counted)
    for register in moved_registers():
        yield line(register.name, sum_of_register(origin, register), sum_of_register(to, register))
    now = clock.now()
    for what, sum_of in (("counters", counters), ("jobs", jobs), ("dead letters", letters)):
        yield line(what, sum_of(origin, now), sum_of(to, now))


def line(what: str, wanted: Sum, found: Sum, counted: bool = True) -> Line:
    if wanted.rows != found.rows:
        note = f"{wanted.rows:,} rows there, {found.rows:,} here"
    elif wanted != found:
        note = "the contents differ"
    else:
        note = "" if counted else "the counts by status differ"
    return Line(what, found.rows, found.digest, not note, note)


def counts(side: Side, table: Table) -> tuple[dict[Status, int], int]:
    return side.store.counts(table), side.store.pulled_pending(table)


def sum_of_table(side: Side, table: Table, teller: Teller) -> Sum:
    total, found = size(side.store, table), Sum()
    for stretch in stretches(side.store, table):
        for row in stretch:
            found.add(row)
        teller.progress("Comparing", table.name, found.rows, total)
    return found


def sum_of_register(side: Side, register: Register) -> Sum:
    """Versions may differ: they count the writes of one store."""
    return summed({"": [row.partition, row.key], **row.values} for row in side.store.all_rows(register))


def counters(side: Side, _: datetime) -> Sum:
    counted = side.store.counters().items()
    return summed({"name": name, "value": float(value)} for name, value in counted if value)


def jobs(side: Side, now: datetime) -> Sum:
    waiting = [(one.job, due_at(one, now)) for one in side.queue.jobs()]
    return summed(
        {"id": job.id, "attempts": job.attempts, "failures": job.failures, "due": due and due.timestamp()}
        for job, due in waiting
    )


def letters(side: Side, _: datetime) -> Sum:
    return summed(
        {"id": job.id, "attempts": job.attempts, "failures": job.failures, "code": code, "reason": reason, "at": at}
        for job, code, reason, at in side.queue.dead()
    )


def summed(rows: Iterator[Mapping[str, Json]]) -> Sum:
    found = Sum()
    for row in rows:
        found.add(row)
    return found
