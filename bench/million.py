"""A store in the middle of a large migration, written at once: `python -m bench.million FILE [RECORDS]`.

Deals and tasks are imported and verified, messages are being imported; a little of everything has failed, and every
register has as many rows as such a migration leaves.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

from b24migrate.clock import SystemClock
from b24migrate.engine import plan
from b24migrate.engine.state import DONE, RUNNING, PhaseState, States
from b24migrate.entities import FILES, Catalog, catalog
from b24migrate.insight.status import history
from b24migrate.insight.status.model import Point
from b24migrate.model import values
from b24migrate.model.records import Job, Link, Settled, Staged, Status, order_key
from b24migrate.model.streams import PHASES, Stream
from b24migrate.ports import (
    CHECKPOINTS,
    COMPARED,
    FINDINGS,
    INVENTORY,
    PAGE_LOG,
    SET_ASIDE,
    UNRESOLVED,
    Clock,
    Register,
    RegisterRow,
)
from b24migrate.stores import Opened, open_store

T = TypeVar("T")

MILLION = 1_000_000
PAYLOAD_BYTES = 1_000
IN_A_PAGE = 2_500  # what one request brings
IN_A_CHAT = 250
CODES = ("VALIDATION", "USER_NOT_FOUND", "REFERENCE_MISSING", "TOO_LARGE", "DUPLICATE_EMAIL", "INTERNAL")


class Share(NamedTuple):
    """Of one stream: how much of all, and how much of it is imported."""

    stream: str
    of_all: float
    imported: float
    parents: int = 0  # so many records in each parent


MIX = (
    Share("users", 0.0005, 1.0),
    Share("crm_deals", 0.15, 1.0),
    Share("tasks", 0.03, 1.0),
    Share("task_comments", 0.0695, 1.0, 10),
    Share("files", 0.05, 0.5),
    Share("chat_messages", 0.70, 0.4, IN_A_CHAT),
)
FAILED = 0.005  # of what was sent
RETRYING = 0.001
FINDINGS_WANTED, PAGES_WANTED, JOBS_WANTED, LETTERS_WANTED, ASIDE_WANTED = 20_000, 10_000, 5_000, 5_000, 10_000


def build(opened: Opened, known: Catalog, clock: Clock, records: int = MILLION) -> None:
    streams = {**known.streams, FILES.name: FILES}
    for share in MIX:
        fill(opened, streams[share.stream], share, round(records * share.of_all), clock)
    scale = records / MILLION
    for register, rows in registers(records, scale, clock).items():
        for part in parts(rows, 2_000):
            opened.store.write(register, part)
    work_left(opened, scale, clock)
    begun(opened, known, clock)
    remembered(opened, records, clock)


def fill(opened: Opened, stream: Stream, share: Share, count: int, clock: Clock) -> None:
    imported = round(count * share.imported)
    for numbers in parts(range(1, count + 1), IN_A_PAGE):
        keys = [row_key(share, number) for number in numbers]
        opened.store.stage(stream.table, [staged(stream, key) for key in keys], run="r", pass_no=1)
        sent = [(number, key) for number, key in zip(numbers, keys, strict=True) if number <= imported]
        if sent:
            outcomes = [outcome(number, key) for number, key in sent]
            opened.store.settle(stream.name, stream.table, outcomes, now=clock.now())


def row_key(share: Share, number: int) -> str:
    return f"{1 + number // share.parents}:{number}" if share.parents else str(number)


def staged(stream: Stream, key: str) -> Staged:
    fields = {"id": key, "entity": "chats", "stream": "chat_messages", "name": f"{stream.name} {key}", "text": ""}
    fields["text"] = "x" * (PAYLOAD_BYTES - len(json.dumps(fields)))
    return Staged(key, json.dumps(fields).encode(), f"{hash(key):064x}"[-64:])


def outcome(number: int, key: str) -> Settled:
    place = number * 7_919 % 100_000 / 100_000  # spread over the whole, the same every time
    if place < FAILED:
        code = CODES[number % len(CODES)]
        return Settled(key, Status.IMPORT_ERR, 3, code, f"The box does not take {key}: {code.lower()}.")
    if place < FAILED + RETRYING:
        return Settled(key, Status.ERROR_RETRY, 1, "LOCKED", "The record is locked.", "2026-01-01T00:00:00.000000Z")
    return Settled(key, Status.IMPORT_OK, 1, link=Link(key, f"9{number}", "d" * 64))


def registers(records: int, scale: float, clock: Clock) -> dict[Register, Iterator[RegisterRow]]:
    now = values.utc_text(clock.now())
    verified = [share for share in MIX if share.stream in ("crm_deals", "tasks", "task_comments")]
    fates = ("differs", "missing", "extra", "dangling")

    def findings() -> Iterator[RegisterRow]:
        for number in range(round(FINDINGS_WANTED * scale)):
            share, fate = verified[number % len(verified)], fates[number % len(fates)]
            columns = {"Stream": share.stream, "Fate": fate, "SourceId": row_key(share, number), "Field": "TITLE"}
            columns |= {"Expected": f"expected {number}", "Actual": f"actual {number}", "Note": ""}
            yield RegisterRow(f"{share.stream}:{columns['SourceId']}:{fate}:TITLE:{number}", columns)

    def compared() -> Iterator[RegisterRow]:
        for share in verified:
            for numbers in parts(range(1, round(records * share.of_all) + 1), 50):
                ids = [[row_key(share, number), "d" * 64] for number in numbers]
                yield RegisterRow(f"{share.stream}:{order_key(ids[0][0])}", {"Stream": share.stream, "Ids": ids})

    def pages() -> Iterator[RegisterRow]:
        for number in range(round(PAGES_WANTED * scale)):
            columns = {"PageSize": 50, "Retrieved": 50, "ApiParamsHash": "a" * 64, "DurationMs": 120.5}
            columns |= {"StartedAtUtc": now, "FinishedAtUtc": now}
            yield RegisterRow(f"{MIX[number % len(MIX)].stream}:{number}", columns)

    def aside() -> Iterator[RegisterRow]:
        for number in range(round(ASIDE_WANTED * scale)):
            why = "excluded" if number % 2 else "impossible"
            columns = {"Why": why, "Reason": "a bot wrote it", "Name": f"Bot {number}"}
            yield RegisterRow(f"{why}:chat_messages:{number}", columns)

    def unresolved() -> Iterator[RegisterRow]:
        for number in range(round(ASIDE_WANTED * scale)):
            columns = {"Stream": "tasks", "SourceId": str(number), "Place": "DESCRIPTION", "What": "a link"}
            yield RegisterRow(f"tasks:{number}:DESCRIPTION", columns)

    def checkpoints() -> Iterator[RegisterRow]:
        for share in MIX:
            count = round(records * share.of_all)
            yield RegisterRow(share.stream, {"Pass": 1, "Reported": count, "Retrieved": count})
            for parent in range(1, count // share.parents + 1) if share.parents else ():
                columns = {"Pass": 1, "Reported": share.parents, "Retrieved": share.parents}
                yield RegisterRow(f"{share.stream}:{parent}", columns)

    def inventories() -> Iterator[RegisterRow]:
        for share in MIX:
            count = round(records * share.of_all)
            columns = {"Stream": share.stream, "SnapshotUtc": now, "ReportedTotal": count, "RetrievedTotal": count}
            columns |= {"PageCount": 10, "SourceMethod": "list", "IsLatest": 1, "Limited": 0}
            yield RegisterRow(f"{share.stream}:{now}", columns)

    return {
        FINDINGS: findings(),
        COMPARED: compared(),
        PAGE_LOG: pages(),
        SET_ASIDE: aside(),
        UNRESOLVED: unresolved(),
        CHECKPOINTS: checkpoints(),
        INVENTORY: inventories(),
    }


def work_left(opened: Opened, scale: float, clock: Clock) -> None:
    """Jobs that wait, and dead letters: nearly all of them are of records."""
    spans = [{"stream": "chat_messages", "after": str(number)} for number in range(round(JOBS_WANTED * scale))]
    opened.queue.put([Job("chats-set", "send", args) for args in spans])
    for number in range(round(LETTERS_WANTED * scale)):
        code = CODES[number % len(CODES)]
        args = {"stream": "chat_messages", "record" if number % 100 else "after": str(number)}
        job = Job("chats-set", "send", args, 3)
        opened.queue.letter(job, code=code, reason=f"Given up: {code.lower()}.", now=clock.now())
    waits = {f"limit_wait:{method}": 12.5 for method in ("im.dialog.messages.get", "crm.item.list", "tasks.task.list")}
    opened.store.add(waits | {"references_dropped:tasks": 250.0, "files_dropped:chat_messages": 120.0})


def begun(opened: Opened, known: Catalog, clock: Clock) -> None:
    """A run is under way: chats are being imported, everything before is done."""
    names = tuple(entity.name for entity in known.entities)
    plan.begin(opened.store, clock, plan.Plan(names))
    states, before = States(opened.store), values.utc_text(clock.now() - timedelta(hours=2))
    done = PhaseState(DONE, started=before, finished=values.utc_text(clock.now()))
    for name in names:
        over = dict.fromkeys(PHASES, done)
        if name == "chats":
            over |= {"set": PhaseState(RUNNING, seeded=True, started=before), "verify": PhaseState()}
        notes = tuple(f"{name}: something to read ({number})" for number in range(20))
        states.swap(replace(states.read(name), phases=over, counts={"pass": 1}, notes=notes))


def remembered(opened: Opened, records: int, clock: Clock) -> None:
    """As many moments as a history ever has, the last of them now."""
    for number in range(history.MOST):
        at = clock.now() - timedelta(seconds=history.STEP_S * (history.MOST - number))
        so_far = records * number // history.MOST
        point = Point(history.moment_key(at), so_far, so_far // 2, so_far // 4, 10, 1.5 * number)
        history.keep(
            opened.store, history.Moment(point, "r", number / history.MOST, float(so_far), "records", f"{number:x}")
        )


def parts(items: Sequence[T] | Iterator[T], size: int) -> Iterator[list[T]]:
    part: list[T] = []
    for one in items:
        part.append(one)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def main(path: Path, records: int) -> None:
    clock, known = SystemClock(), catalog()
    began = time.monotonic()
    opened = open_store(f"sqlite:///{path.absolute()}", known.tables, clock)
    try:
        build(opened, known, clock, records)
    finally:
        opened.store.close()
    print(f"{records:,} records in {time.monotonic() - began:.0f} s, {path.stat().st_size / 1e9:.2f} GB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else MILLION)
