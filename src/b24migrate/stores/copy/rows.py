"""Carries rows, registers, counters and jobs. Doing it again changes nothing but what has changed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from b24migrate.model.records import Table
from b24migrate.ports import COPIES, REGISTERS, Clock, Register, RegisterRow, Waiting
from b24migrate.ports.walk import Progress, walk_table
from b24migrate.stores.copy.model import Side, size

ROWS = 2000  # of a register at once


def carry(origin: Side, to: Side, tables: Sequence[Table], clock: Clock, teller: Progress) -> None:
    for table in tables:
        carry_table(origin, to, table, teller)
    for register in moved_registers():
        carry_register(origin, to, register, teller)
    to.store.set_counters(origin.store.counters())
    carry_jobs(origin, to, clock.now())


def moved_registers() -> list[Register]:
    """All but the marks of copies, which speak of the store that they are in."""
    return [register for register in REGISTERS if register is not COPIES]


def carry_table(origin: Side, to: Side, table: Table, teller: Progress) -> None:
    total, rows = size(origin.store, table), 0
    for stretch in walk_table(origin.store, table):
        to.store.restore(table, stretch)
        rows += len(stretch)
        teller.progress("Copying", table.name, rows, total)
    if rows:
        teller.done("Copied", table.name, rows)


def carry_register(origin: Side, to: Side, register: Register, teller: Progress) -> None:
    rows = _write(origin, to, register, teller)
    if to.store.count(register, "") != rows:  # an earlier try brought what the origin has no longer
        to.store.erase(register, "")
        _write(origin, to, register, teller)
    if rows:
        teller.done("Copied", register.name, rows)


def _write(origin: Side, to: Side, register: Register, teller: Progress) -> int:
    rows = 0
    for some in in_parts(origin.store.all_rows(register)):
        to.store.write(register, some)
        rows += len(some)
        teller.progress("Copying", register.name, rows)
    return rows


def in_parts(rows: Iterator[RegisterRow]) -> Iterator[list[RegisterRow]]:
    part: list[RegisterRow] = []
    for row in rows:
        part.append(row)
        if len(part) == ROWS:
            yield part
            part = []
    if part:
        yield part


def carry_jobs(origin: Side, to: Side, now: datetime) -> None:
    """What an earlier try brought goes first: the origin may have finished it since."""
    left = {one.job.scope for one in to.queue.jobs()} | {one.job.scope for one in to.queue.dead()}
    for scope in sorted(left):
        to.queue.drop(scope)
    for due, some in groupby(origin.queue.jobs(), lambda one: due_at(one, now)):
        to.queue.put([one.job for one in some], visible_at=due)
    for letter in origin.queue.dead():
        died_at = datetime.fromisoformat(letter.died_at)
        to.queue.letter(letter.job, code=letter.code, reason=letter.reason, now=died_at)


def due_at(one: Waiting, now: datetime) -> datetime | None:
    """When a job can be taken; None: now, as one whose time is past or whose worker is gone."""
    return one.visible_at if one.visible_at and one.visible_at > now else None
