"""get: compares a few fields of every record with what is staged, where no date tells of all changes (`Sweep`).

The ids that are known are cut into ranges of nearly a page, and fifty ranges share a request: 2,450 records. What
differs or is unknown is then read by id, many at a time; what is staged and was not listed is asked for by id beside
neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise

import msgspec

from b24migrate.engine.phases import deletions
from b24migrate.engine.phases.context import Follow, RunContext, decode_payload, decode_record, walk, walk_rows
from b24migrate.engine.phases.count_ranges import PAGE, READ_AT_ONCE, command, forget_excluded, read_again
from b24migrate.engine.phases.delta import (
    Part,
    count_of,
    excluded_ids,
    find_part,
    find_parts,
    number_of,
    staged_ids,
    this_pass,
)
from b24migrate.engine.phases.moved import is_other_value
from b24migrate.model.answers import open_list, row_in
from b24migrate.model.readings import Sweep
from b24migrate.model.records import Job, Json, Record
from b24migrate.model.streams import Stream
from b24migrate.ports import CHANGES, RegisterRow

KNOWN = PAGE - 1  # ids of a range: where one more has come back, the page is still its last
SWEPT_AT_ONCE = 50 * KNOWN  # records of a job, which is one request
DIFFERS, ABSENT = "differs", "absent"


def seed(context: RunContext, scope: str, stream: Stream, pass_no: int) -> list[Job]:
    highest = this_pass(context, stream, pass_no).highest
    jobs = []
    for part in find_parts(context, stream):
        last = highest.get(part.prefix, 0)
        ids = staged_ids(context, stream, part.span(0, last)) if last else iter(())
        ends = [before for place, (before, _) in enumerate(pairwise(ids), 1) if place % SWEPT_AT_ONCE == 0]
        ends += [last] if last else []
        args = {"stream": stream.name, "pass": pass_no, "of": part.of}
        bounds = zip([0, *ends], ends, strict=False)
        jobs += [Job(scope, "sweep", {**args, "lo": lo, "hi": hi}) for lo, hi in bounds]
    return jobs


def sweep(context: RunContext, job: Job) -> Follow:
    stream = context.streams[job.args["stream"]]
    part = find_part(context, stream, job.args["of"])
    lo, hi = int(job.args["lo"]), int(job.args["hi"])
    words = part.listing.sweep
    assert words is not None  # noqa: S101 (what a sweep is chosen for)
    known = {
        int(one.row_key.rpartition(":")[2]): one
        for one in walk(context, stream.table, part.span(lo, hi))
        if not one.deleted_utc
    }
    left_out = {one for one in excluded_ids(context, stream, part) if lo < one <= hi}
    since = datetime.fromisoformat(this_pass(context, stream, int(job.args["pass"])).since)
    listed = dict(list_rows(context, part, cut_pages(sorted(known.keys() | left_out), lo, hi)))
    forget_excluded(context, stream, [part.row_key(one) for one in left_out - listed.keys()])
    differing = [
        number
        for number, row in listed.items()
        if number not in left_out and (number not in known or differs(stream, words, known[number], row, since))
    ]
    absent = known.keys() - listed.keys()
    found = [(DIFFERS, one) for one in differing] + [(ABSENT, one) for one in absent]
    rows = [RegisterRow(f"{what}:{stream.name}:{part.row_key(one)}", {}) for what, one in found]
    if rows:
        context.store.write(CHANGES, rows)
    return []


def cut_pages(ids: list[int], lo: int, hi: int) -> list[tuple[int, int]]:
    """Ranges of about a page each that leave no id out."""
    ends = [*ids[KNOWN - 1 : -1 : KNOWN], hi]
    return list(zip([lo, *ends], ends, strict=False))


def list_rows(
    context: RunContext, part: Part, ranges: list[tuple[int, int]]
) -> Iterator[tuple[int, Mapping[str, Json]]]:
    """A page that is full may go on: the portal may have more in a range than is known here."""
    while ranges:
        answers = context.source.batch([command(part, lo, hi, start=-1) for lo, hi in ranges])
        further: list[tuple[int, int]] = []
        for (_, hi), answer in zip(ranges, answers, strict=True):
            count_of(answer)
            items = open_list(answer.result, part.listing.items, part.listing.method).items
            ids = [number_of(raw, part.listing) for raw in items]
            rows = [row_in(raw, part.listing.method) for raw in items]
            yield from zip(ids, rows, strict=True)
            if len(ids) >= PAGE and max(ids) < hi:
                further.append((max(ids), hi))
        ranges = further


def differs(stream: Stream, words: Sweep, record: Record, row: Mapping[str, Json], since: datetime) -> bool:
    """Or may differ: it changed after `since`. A field that the portal does not list cannot be compared."""
    try:
        before = decode_record(record, stream).payload
    except msgspec.DecodeError:
        return True
    now = decode_payload(stream, msgspec.json.encode(row))
    return is_recent(now.get(words.time), since) or any(
        is_other_value(before.get(name), now[name]) for name in words.fields if name in now
    )


def is_recent(value: Json, since: datetime) -> bool:
    try:
        return datetime.fromisoformat(str(value)) >= since
    except (TypeError, ValueError):  # none, or without an offset
        return False


# ---------------------------------------------------------------- what was found


def seed_reading(context: RunContext, scope: str, stream: Stream, pass_no: int) -> list[Job]:
    prefix = f"{DIFFERS}:{stream.name}:"
    keys = [row.key.removeprefix(prefix) for row in walk_rows(context, CHANGES, prefix)]
    args = {"stream": stream.name, "pass": pass_no}
    parts = (keys[start : start + READ_AT_ONCE] for start in range(0, len(keys), READ_AT_ONCE))
    return [Job(scope, "read-by-id", {**args, "ids": some}) for some in parts]


def read_by_id(context: RunContext, job: Job) -> Follow:
    read_again(context, context.streams[job.args["stream"]], job.args["ids"], int(job.args["pass"]))
    return []


def seed_absent(context: RunContext, scope: str, stream: Stream, pass_no: int) -> list[Job]:
    args = {"stream": stream.name, "pass": pass_no, "after": ""}
    return [Job(scope, "ask-absent", args)] if context.store.count(CHANGES, f"{ABSENT}:{stream.name}:") else []


def ask_absent(context: RunContext, job: Job) -> Follow:
    """Those that a sweep did not show."""
    stream, pass_no = context.streams[job.args["stream"]], int(job.args["pass"])
    prefix, after = f"{ABSENT}:{stream.name}:", str(job.args["after"])
    while rows := context.store.some_rows(CHANGES, prefix, after, deletions.ASKED):
        if deletions.is_too_many(context, stream, pass_no):
            return []
        records = context.store.get(stream.table, [row.key.removeprefix(prefix) for row in rows])
        deletions.ask_all(context, stream, [one for one in records.values() if not one.deleted_utc], pass_no)
        after = rows[-1].key
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": after})]
    return []
