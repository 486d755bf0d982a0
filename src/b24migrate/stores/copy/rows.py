"""Carries rows, registers, counters and jobs. Doing it again changes nothing but what has changed meanwhile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

import msgspec

from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Json, Status, Table, canonical
from b24migrate.ports import COPIES, REGISTERS, Clock, Files, Queue, Register, RegisterRow, Store, Waiting
from b24migrate.ports.walk import Progress, walk_table

ROWS = 2000  # of a register at once


def carry(origin: Side, to: Side, tables: Sequence[Table], clock: Clock, reporter: Progress) -> None:
    for table in tables:
        carry_table(origin, to, table, reporter)
    for register in moved_registers():
        carry_register(origin, to, register, reporter)
    to.store.set_counters(origin.store.counters())
    carry_jobs(origin, to, clock.now())


def moved_registers() -> list[Register]:
    """All but the marks of copies, which describe the store that they are in."""
    return [register for register in REGISTERS if register is not COPIES]


def carry_table(origin: Side, to: Side, table: Table, reporter: Progress) -> None:
    total, rows = size(origin.store, table), 0
    for stretch in walk_table(origin.store, table):
        to.store.restore(table, stretch)
        rows += len(stretch)
        reporter.progress("Copying", table.name, rows, total)
    if rows:
        reporter.done("Copied", table.name, rows)


def carry_register(origin: Side, to: Side, register: Register, reporter: Progress) -> None:
    rows = _write(origin, to, register, reporter)
    if to.store.count(register, "") != rows:  # an earlier try brought what the origin has no longer
        to.store.erase(register, "")
        _write(origin, to, register, reporter)
    if rows:
        reporter.done("Copied", register.name, rows)


def _write(origin: Side, to: Side, register: Register, reporter: Progress) -> int:
    rows = 0
    for some in in_parts(origin.store.all_rows(register)):
        to.store.write(register, some)
        rows += len(some)
        reporter.progress("Copying", register.name, rows)
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
    """Deletes the jobs of an earlier attempt first: the origin may have finished them since."""
    left = {one.job.scope for one in to.queue.jobs()} | {one.job.scope for one in to.queue.dead()}
    for scope in sorted(left):
        to.queue.drop(scope)
    for due, some in groupby(origin.queue.jobs(), lambda one: due_at(one, now)):
        to.queue.put([one.job for one in some], visible_at=due)
    for letter in origin.queue.dead():
        died_at = datetime.fromisoformat(letter.died_at)
        to.queue.letter(letter.job, code=letter.code, reason=letter.reason, now=died_at)


def due_at(one: Waiting, now: datetime) -> datetime | None:
    """When a job can be taken; None: now, also if its time is past or its worker is gone."""
    return one.visible_at if one.visible_at and one.visible_at > now else None


WHAT = "bytes of files"
AT_ONCE = 8
CHUNK = 1 << 20
NAMED = 3  # examples in a note


class Fetched(NamedTuple):
    """A downloaded file. Once it is on the target its bytes are not needed."""

    key: str
    sha256: str
    needed: bool


def carry_files(origin: Side, to: Side, table: Table, reporter: Progress) -> Line:
    total, wanted, found = size(origin.store, table), Sum(), Sum()
    wrong: list[str] = []
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="files") as pool:
        for some in fetched(origin, table):
            arrived = pool.map(lambda one: carry_one(origin.files, to.files, one), some)
            for one, sha256 in zip(some, arrived, strict=True):
                if sha256 is None and not one.needed:
                    continue
                wanted.add({"key": one.key, "sha256": one.sha256})
                if sha256 is not None:
                    found.add({"key": one.key, "sha256": sha256})
                wrong += [one.key] * (sha256 != one.sha256)
            reporter.progress("Copying", WHAT, wanted.rows, total)
    if wanted.rows:
        reporter.done("Copied", WHAT, found.rows)
    examples = say("copy.missing", address=origin.address, names=[*wrong[:NAMED], *["…"] * (len(wrong) > NAMED)])
    return Line(WHAT, found.rows, found.digest, wanted == found, examples if wrong else "")


def fetched(side: Side, table: Table) -> Iterator[list[Fetched]]:
    for stretch in walk_table(side.store, table):
        files = []
        for row in stretch:
            payload: dict[str, Json] = msgspec.json.decode(row["Payload"])
            if payload.get("sha256"):
                key = payload.get("location") or row["RowKey"]
                files.append(Fetched(key, payload["sha256"], row["Status"] != Status.IMPORT_OK))
        yield files


def carry_one(origin: Files, to: Files, one: Fetched) -> str | None:
    """The digest of the file at the new place; None if there is none. An existing file stays."""
    if to.size(one.key) is not None and (sha256 := read_back(to, one.key)) == one.sha256:
        return sha256
    try:
        with origin.open(one.key) as content, to.writer(one.key) as out:
            digest = hashlib.sha256()
            while chunk := content.read(CHUNK):
                digest.update(chunk)
                out.write(chunk)
            if digest.hexdigest() != one.sha256:
                raise Permanent(say("copy.damaged", key=one.key), code="FILE_DAMAGED")
    except Permanent:
        return None
    return read_back(to, one.key)


def read_back(files: Files, key: str) -> str:
    digest = hashlib.sha256()
    with files.open(key) as content:
        while chunk := content.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


class Side(NamedTuple):
    """One store, and the address that a person would write for it."""

    address: str
    store: Store
    queue: Queue
    files: Files


class Line(NamedTuple):
    """One kind of rows that was copied. `digest` is of the copy."""

    what: str
    rows: int
    digest: str
    equal: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    origin: str
    to: str
    lines: tuple[Line, ...]

    @property
    def equal(self) -> bool:
        return all(line.equal for line in self.lines)

    @property
    def rows(self) -> int:
        return sum(line.rows for line in self.lines)


class Sum:
    """A digest over many rows whatever their order: the sum of their SHA-256. Nulls are as good as absent."""

    def __init__(self) -> None:
        self.rows = 0
        self._total = 0

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Json]]) -> Sum:
        found = cls()
        for row in rows:
            found.add(row)
        return found

    def add(self, row: Mapping[str, Json]) -> None:
        text = canonical({name: value for name, value in row.items() if value is not None})
        self._total = (self._total + int.from_bytes(hashlib.sha256(text).digest())) % (1 << 256)
        self.rows += 1

    @property
    def digest(self) -> str:
        return f"{self._total:064x}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sum) and (self.rows, self.digest) == (other.rows, other.digest)

    __hash__ = None  # type: ignore[assignment]


def size(store: Store, table: Table) -> int:
    return sum(store.counts(table).values())
