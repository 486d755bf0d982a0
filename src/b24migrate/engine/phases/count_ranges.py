"""get: finds deletions of a stream that a delta pass did not read whole, by counting.

The ids up to the highest of the last pass are cut into ranges of equal size, and the portal counts each: one command of
a batch per range. With the total of a range comes a page from its middle, whose ids are compared at once. The
position of that page is the number of ids before it, so one command counts both halves. A half whose total differs from
the number known here is cut again, and all parts but the last are counted, since the sum is known. In the end the
missing ids are requested. A deletion during the count may hide another one, so the total of all ids is compared last
(`inventory`). Below the old highest id a count can only fall, except for records that the webhook's owner sees
again: those are read.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice
from math import ceil
from operator import lt
from typing import NamedTuple

from b24migrate.engine.phases import deletions
from b24migrate.engine.phases.context import Follow, RunContext, walk_deleted
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
from b24migrate.engine.phases.inventory import counted_key
from b24migrate.engine.phases.pull_through import complete_rows
from b24migrate.engine.phases.stage import checkpoint_row, stage
from b24migrate.model.answers import open_list
from b24migrate.model.readings import Each, Keyset
from b24migrate.model.records import Job, Json, Span
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import CHECKPOINTS, SET_ASIDE, Command

RANGES = 50  # in one request
PAGE = 50
COMMANDS = 500  # of a job: its requests are full, and it ends within seconds
ROWS_AT_ONCE = 1_000_000  # counted by one request: a portal counts about 50,000 a second and answers within a minute
LOOKED_AT = 500
IDS, LARGEST = "q", 2**63 - 1  # of an array
ABSENT, UNKNOWN = "absent", "unknown"  # of a job's args: ids that were found so far
READ_AT_ONCE = 500  # by id: most methods take many in one command
# So many missing records in each half of a part: more would cut it too rarely, fewer too often. By trial for 30 to
# 1,500 deletions among 300,000 records.
MISSING_IN_A_HALF = 0.9


class Range(NamedTuple):
    """The ids after `lo`, up to and including `hi`, with those that are known here, and by how many they are more than
    the portal counts."""

    lo: int
    hi: int
    ids: Sequence[int]
    missing: int = 0

    @property
    def pages(self) -> int:
        return max(1, -(-len(self.ids) // PAGE))

    @property
    def parts(self) -> int:
        """Into how many it is cut: the more are missing, the shorter they are."""
        size = 1 + ceil(2 * MISSING_IN_A_HALF * self.pages / max(1, abs(self.missing)))
        return min(self.pages, max(2, -(-self.pages // size)))

    @property
    def commands(self) -> int:
        return max(1, self.parts - 1)

    @property
    def middle(self) -> int:
        """So many records come before the page that is listed: portals take whole pages."""
        return (self.pages - 1) // 2 * PAGE


class Compared(NamedTuple):
    """The result for a range: how many more IDs are known than exist, which of the listed ones are absent or unknown
    here, and the ranges that are left."""

    missing: int
    absent: Sequence[int]
    unknown: Sequence[int]
    left: Sequence[Range]


def seed(context: RunContext, scope: str, stream: Stream, pass_no: int, **more: Json) -> list[Job]:
    mark_children_of_deleted(context, stream)
    highest = this_pass(context, stream, pass_no).highest
    args = {"stream": stream.name, "pass": pass_no, **more}
    return [
        Job(scope, "count-ranges", {**args, "of": one.of, "lo": 0, "hi": highest[one.prefix]})
        for one in find_parts(context, stream)
        if highest.get(one.prefix)
    ]


def mark_children_of_deleted(context: RunContext, stream: Stream) -> None:
    """Children of a deleted record are deleted with it and cannot be requested."""
    reading = context.reading(stream)
    if not isinstance(reading, Each):
        return
    of = context.streams[reading.of]
    for owner in deletions.deleted_records(context, of, Span()):
        part = Part(reading.listing(owner), reading.prefix(owner), owner.id)
        gone = deleted_ids(context, stream, part.span())
        left = [part.row_key(one) for one in staged_ids(context, stream, part.span()) if one not in gone]
        for start in range(0, len(left), LOOKED_AT):
            deletions.mark_records(context, stream, left[start : start + LOOKED_AT])


def count_ranges(context: RunContext, job: Job) -> Follow:
    """The first count, or that of the parts of ranges that differ. When nothing is left to count, or many records are
    absent, those are asked for."""
    stream, pass_no = context.streams[job.args["stream"]], int(job.args["pass"])
    part = find_part(context, stream, job.args["of"])
    lo, hi = int(job.args["lo"]), int(job.args["hi"])
    left_out = compact(one for one in excluded_ids(context, stream, part) if lo < one <= hi)
    absent, unknown = ([int(one) for one in job.args.get(name, ())] for name in (ABSENT, UNKNOWN))
    if "ranges" in job.args:
        ranges = [known_range(context, stream, part, one, left_out) for one in job.args["ranges"]]
        compared, differing = count_parts(context, part, ranges) if ranges else ([], [])
    else:
        whole = known_range(context, stream, part, (lo, hi, 0), left_out)
        compared = list(count_all(context, part, list(cut(whole, RANGES))))
        differing = [half for one in compared for half in one.left]
        if not any(one.missing or one.absent or one.unknown for one in compared):
            # all as it is known: it need not be counted again
            row = checkpoint_row(counted_key(stream, part), pass_no, len(whole.ids), whole.hi)
            context.store.write(CHECKPOINTS, [row])
    absent += [number for one in compared for number in one.absent]
    unknown += [number for one in compared for number in one.unknown]
    if not differing or len(absent) + len(unknown) >= deletions.ASKED:
        read_again(context, stream, [part.row_key(one) for one in unknown], pass_no)
        absent, unknown = ask_absent(context, stream, part, absent, pass_no), []
    return list(further_jobs(job, differing, absent, unknown))


def count_parts(context: RunContext, part: Part, ranges: Sequence[Range]) -> tuple[list[Compared], list[Range]]:
    """The results for the parts of the ranges, and the ranges that are left. Few ranges are cut into many parts, so
    that the request is full."""
    least = RANGES // len(ranges)
    parts = [list(cut_pages(one, max(one.parts, min(one.pages, least)))) for one in ranges]
    asked = [some[:-1] or some for some in parts]
    answers = count_all(context, part, [one for some in asked for one in some])
    compared: list[Compared] = []
    left: list[Range] = []
    for whole, some, counted in zip(ranges, parts, asked, strict=True):
        told = list(islice(answers, len(counted)))
        compared += told
        left += [half for one in told for half in one.left]
        if len(some) > len(counted) and (missing := whole.missing - sum(one.missing for one in told)):
            left.append(some[-1]._replace(missing=missing))
    return compared, left


def further_jobs(job: Job, differing: Sequence[Range], absent: Sequence[int], unknown: Sequence[int]) -> Iterator[Job]:
    """The found IDs go with the first one, and wait until nothing is left to count, so that requests are full."""
    found = {ABSENT: list(absent), UNKNOWN: list(unknown)}
    for some in list(share(differing)) or ([[]] if absent else []):
        ranges = [[one.lo, one.hi, one.missing] for one in some]
        yield Job(job.scope, job.kind, {**job.args, "ranges": ranges, **found})
        found = {ABSENT: [], UNKNOWN: []}


def share(ranges: Iterable[Range]) -> Iterator[list[Range]]:
    """Among jobs of about the same length."""
    some: list[Range] = []
    for one in ranges:
        if some and sum(each.commands for each in some) + one.commands > COMMANDS:
            yield some
            some = []
        some.append(one)
    if some:
        yield some


def known_range(
    context: RunContext, stream: Stream, part: Part, asked: Sequence[Json], left_out: Sequence[int]
) -> Range:
    """With the ids that the source should show: staged and not deleted, or left out by a rule."""
    lo, hi, missing = map(int, asked)
    span = part.span(lo, hi)
    gone = deleted_ids(context, stream, span)
    excluded = left_out[bisect_right(left_out, lo) : bisect_right(left_out, hi)]
    staged = (one for one in staged_ids(context, stream, span) if one not in gone)
    return Range(lo, hi, compact(merge(excluded, staged)), missing)


def compact(ids: Iterable[int]) -> Sequence[int]:
    """In order, each once. Most come so; a list would take five times as much, and ids may be of all records."""
    found = array(IDS, (one for one in ids if one <= LARGEST))
    in_order = all(map(lt, found, islice(found, 1, None)))
    return found if in_order else array(IDS, sorted(set(found)))


def deleted_ids(context: RunContext, stream: Stream, span: Span) -> set[int]:
    tails = (one.row_key.rpartition(":")[2] for one in walk_deleted(context, stream.table, span))
    return {int(one) for one in tails if one.isdecimal()}


def cut(whole: Range, parts: int) -> Iterator[Range]:
    """Into ranges of about equal length that leave no id out."""
    return divide(whole, max(1, -(-len(whole.ids) // parts)))


def cut_pages(whole: Range, parts: int) -> Iterator[Range]:
    """Into ranges of whole pages. The last one, which is not counted, is about half as long as the others: of these
    both halves are counted."""
    most = max(1, whole.pages - 1) * PAGE if parts > 1 else len(whole.ids)
    return divide(whole, max(1, min(most, ceil(len(whole.ids) / (parts - 0.5) / PAGE) * PAGE)))


def divide(whole: Range, size: int) -> Iterator[Range]:
    lo = whole.lo
    for start in range(size, len(whole.ids), size):
        yield Range(lo, whole.ids[start - 1], whole.ids[start - size : start])
        lo = whole.ids[start - 1]
    place = bisect_right(whole.ids, lo) if lo > whole.lo else 0
    yield Range(lo, whole.hi, whole.ids[place:])


def count_all(context: RunContext, part: Part, ranges: Sequence[Range]) -> Iterator[Compared]:
    rows = sum(len(one.ids) for one in ranges)
    at_once = max(1, min(RANGES, RANGES * ROWS_AT_ONCE // max(1, rows)))
    for start in range(0, len(ranges), at_once):
        some = ranges[start : start + at_once]
        answers = context.source.batch([command(part, one.lo, one.hi, start=one.middle) for one in some])
        for one, answer in zip(some, answers, strict=True):
            total = count_of(answer)
            listed = open_list(answer.result, part.listing.items, part.listing.method).items
            yield compare(one, total, [number_of(raw, part.listing) for raw in listed])


def compare(one: Range, total: int, listed: Iterable[int]) -> Compared:
    """The ids of a page in the middle of a range, as they are listed, with those that are known, and the totals of what
    lies before and behind it."""
    shown = sorted({number for number in listed if one.lo < number <= one.hi})[:PAGE]
    missing = len(one.ids) - total
    if not shown:
        nothing = total <= 0 or one.pages == 1
        rest = [] if nothing or not missing else [one._replace(missing=missing)]
        return Compared(missing, list(one.ids) if nothing else [], [], rest)
    before, behind = bisect_left(one.ids, shown[0]), bisect_right(one.ids, shown[-1])
    there = max(0, total - one.middle - len(shown))  # behind the page
    first, last = before if one.middle else 0, behind if there else len(one.ids)
    known = set(one.ids[first:last])
    halves = (
        Range(one.lo, shown[0] - 1, one.ids[:first], first - one.middle),
        Range(shown[-1], one.hi, one.ids[last:], len(one.ids) - last - there),
    )
    absent, unknown = sorted(known.difference(shown)), sorted(set(shown) - known)
    return Compared(missing, absent, unknown, [half for half in halves if half.missing])


def command(part: Part, lo: int, hi: int, *, start: int) -> Command:
    listing, paging = part.listing, part.listing.paging
    assert isinstance(paging, Keyset)  # noqa: S101 (what `choose` looked at)
    asked = {**listing.params.get(paging.filter, {}), f">{paging.id}": lo, f"<={paging.id}": hi}
    words = listing.changes or listing.sweep
    narrow = words.narrow if words else {}
    params = {**listing.params, **narrow, paging.filter: asked, **paging.ascending, "start": start}
    return Command(listing.method, params)


# ---------------------------------------------------------------- what was found


def ask_absent(context: RunContext, stream: Stream, part: Part, numbers: Sequence[int], pass_no: int) -> list[int]:
    """By id. Returns those for which no time is left."""
    left_out = set(excluded_ids(context, stream, part)) if numbers else set()
    forget_excluded(context, stream, [part.row_key(one) for one in numbers if one in left_out])
    asked = [one for one in numbers if one not in left_out]
    for start in range(0, len(asked), deletions.ASKED):
        if deletions.is_too_many(context, stream, pass_no):
            return []
        if start and context.time_is_up():
            return asked[start:]
        some = context.store.get(stream.table, [part.row_key(one) for one in asked[start : start + deletions.ASKED]])
        deletions.ask_all(context, stream, list(some.values()), pass_no)
    return []


def read_again(context: RunContext, stream: Stream, row_keys: Sequence[str], pass_no: int) -> None:
    for start in range(0, len(row_keys) if stream.fetch else 0, READ_AT_ONCE):
        asked = [SourceRecord(key, {}, {}) for key in row_keys[start : start + READ_AT_ONCE]]
        rows = list(stream.fetch(context.source, asked, context.known(stream)).values()) if stream.fetch else []
        stage(context, stream, complete_rows(context, stream, rows), pass_no=pass_no)


def forget_excluded(context: RunContext, stream: Stream, row_keys: Sequence[str]) -> None:
    """They are not at the source any more."""
    context.store.discard(SET_ASIDE, [f"excluded:{stream.name}:{key}" for key in row_keys])
