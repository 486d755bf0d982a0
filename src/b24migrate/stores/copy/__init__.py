"""Copies a store with all its data into another one, of any kind, and verifies the copy.

Every write is an upsert, and the order is: mark the copy as begun, carry, compare, mark it as done. So a copy that was
interrupted at any point is begun again, which changes nothing that had arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from b24migrate.messages import pack, say
from b24migrate.model.errors import BadConfiguration, Halted
from b24migrate.model.records import Job, Json, Status, Table
from b24migrate.model.values import utc_text
from b24migrate.ports import (
    ANALYSIS,
    COPIES,
    OUTAGES,
    QUOTA,
    REGISTERS,
    RUNS,
    TOKENS,
    Clock,
    Register,
    RegisterRow,
    Store,
)
from b24migrate.ports.walk import Progress, walk_table
from b24migrate.stores.copy.rows import Line, Moved, Side, Sum, carry, carry_files, due_at, moved_registers, size

__all__ = ["Line", "Moved", "Side", "move", "refuse_half", "refuse_unready"]

MARK = "copy"
BEGUN, DONE = "begun", "done"
IDLE = (ANALYSIS, QUOTA, OUTAGES, COPIES, TOKENS)  # results of a check of the portals do not count as data


def move(
    origin: Side, to: Side, tables: Sequence[Table], *, files: Table, clock: Clock, say: Callable[[str], None]
) -> Moved:
    """`origin` is only read. Raises BadConfiguration or Halted when it may not begin, before anything is written."""
    tables = tuple(dict.fromkeys(tables))
    reporter = Progress(say, clock)
    begin(origin, to, tables, clock)
    carry(origin, to, tables, clock, reporter)
    of_files = carry_files(origin, to, files, reporter)
    moved = Moved(origin.address, to.address, (*compare(origin, to, tables, clock, reporter), of_files))
    if moved.equal:
        finish(to, clock)
    return moved


# ---------------------------------------------------------------- the mark of a copy, and when it may not begin


def refuse_unready(origin: Side, to_address: str, clock: Clock) -> None:
    """Raises BadConfiguration or Halted when this store cannot be copied there now."""
    if origin.address == to_address:
        raise itself(to_address)
    refuse_half(origin.store, origin.address)
    refuse_busy(origin, clock.now())


def begin(origin: Side, to: Side, tables: Sequence[Table], clock: Clock) -> None:
    """Raises BadConfiguration or Halted, having written nothing, or leaves a mark."""
    refuse_unready(origin, to.address, clock)
    if origin.store.describe()["place"] == to.store.describe()["place"]:
        raise itself(to.address)
    refuse_busy(to, clock.now())
    identity = identity_of(origin)
    mark = to.store.read(COPIES, MARK)
    if mark is not None:
        refuse_other(mark, origin, identity, to)
    elif not empty(to, tables):
        raise BadConfiguration(
            say("copy.not_empty", address=to.address),
            code="COPY_NOT_EMPTY",
            hint=say("copy.new_place"),
        )
    values = {"Origin": origin.address, "Identity": identity, "State": BEGUN, "StartedAtUtc": utc_text(clock.now())}
    to.store.write(COPIES, [RegisterRow(MARK, values)])


def finish(to: Side, clock: Clock) -> None:
    mark = to.store.read(COPIES, MARK)
    values = mark.values if mark else {}
    done = {**values, "State": DONE, "FinishedAtUtc": utc_text(clock.now())}
    to.store.write(COPIES, [RegisterRow(MARK, done)])


def refuse_half(store: Store, address: str) -> None:
    """Raises BadConfiguration for a copy that was interrupted: work on it would go without the rest."""
    mark = store.read(COPIES, MARK)
    if mark is not None and mark.values["State"] != DONE:
        raise BadConfiguration(
            say("copy.half", address=address, origin=mark.values["Origin"]),
            code="COPY_HALF",
            hint=say("copy.half_fix", origin=mark.values["Origin"], address=address),
        )


def refuse_other(mark: RegisterRow, origin: Side, identity: str, to: Side) -> None:
    """Goes on only where a copy of the very same store was interrupted."""
    before = mark.values
    if before["Identity"] != identity:
        raise BadConfiguration(
            say("copy.other", address=to.address, origin=before["Origin"]),
            code="COPY_OTHER",
            hint=say("copy.new_place"),
        )
    if before["State"] == DONE:
        raise BadConfiguration(
            say("copy.done", address=to.address, origin=origin.address, when=before["FinishedAtUtc"]),
            code="COPY_DONE",
            hint=say("copy.done_fix"),
        )


def refuse_busy(side: Side, now: datetime) -> None:
    ends = [one.visible_at for one in side.queue.jobs() if one.held and one.visible_at and one.visible_at > now]
    if ends:
        raise Halted(
            say("copy.busy", address=side.address, count=len(ends)),
            code="COPY_BUSY",
            hint=say("copy.busy_fix", at=f"{max(ends):%H:%M:%S}"),
        )


def itself(address: str) -> BadConfiguration:
    return BadConfiguration(say("copy.same", address=address), code="COPY_SAME", hint=say("copy.same_fix"))


def identity_of(side: Side) -> str:
    """Another store at the same address is another one: its first run has another name."""
    runs = (row.values.get("RunId") for row in side.store.all_rows(RUNS))
    return f"{side.address} {min((str(run) for run in runs if run), default='')}".rstrip()


def empty(side: Side, tables: Sequence[Table]) -> bool:
    kept = [register for register in REGISTERS if register not in IDLE]
    return not (
        side.queue.jobs()
        or side.queue.dead()
        or any(side.store.count(register, "") for register in kept)
        or any(size(side.store, table) for table in tables)
    )


# ---------------------------------------------------------------- the proof: both stores are read from beginning to end


class Reader(NamedTuple):
    """One side that is read from beginning to end."""

    side: Side
    verb: str
    reporter: Progress
    now: datetime

    def table(self, table: Table) -> Sum:
        total, found = size(self.side.store, table), Sum()
        for stretch in walk_table(self.side.store, table):
            for row in stretch:
                found.add(row)
            self.reporter.progress(self.verb, table.name, found.rows, total)
        return found

    def counts(self, table: Table) -> tuple[dict[Status, int], int]:
        return self.side.store.counts(table), self.side.store.pulled_pending(table)

    def register(self, register: Register) -> Sum:
        """Versions may differ: they count the writes of one store."""
        found = Sum()
        for row in self.side.store.all_rows(register):
            found.add({"": [row.partition, row.key], **register.packed(row.values)})
            self.reporter.progress(self.verb, register.name, found.rows)
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


def compare(origin: Side, to: Side, tables: Sequence[Table], clock: Clock, reporter: Progress) -> Iterator[Line]:
    now = clock.now()
    there, here = Reader(origin, "Reading", reporter, now), Reader(to, "Reading back", reporter, now)
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
