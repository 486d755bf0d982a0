"""get: finds deletions of a stream that a delta pass did not read whole, by counting.

The ids up to the highest of the last pass are cut into ranges of equal size, and the portal counts each: one command of
a batch per range. A range whose count is another is cut again, and all parts but the last are counted, since the sum is
known. Short ranges are listed, and those of which more than every other page lacks a record. A deletion in the midst of
that may hide another one: in the end the total of all ids is compared (`inventory`). Below the old highest id a count
can only fall, except for records that the webhook's owner sees again: those are read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from b24migrate.engine.phases import deletions
from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.engine.phases.delta import Part, count_of, excluded_ids, find_part, find_parts, staged_ids, this_pass
from b24migrate.engine.phases.inventory import counted_key
from b24migrate.engine.phases.pull_through import complete_rows
from b24migrate.engine.phases.stage import checkpoint_row, stage
from b24migrate.model.answers import open_list
from b24migrate.model.records import Job, Json, Span
from b24migrate.model.streams import Each, Keyset, SourceRecord, Stream
from b24migrate.ports import CHECKPOINTS, SET_ASIDE, Command

RANGES = 50  # in one request
PAGE = 50
COMMANDS = 500  # of a job: its requests are full, and it ends within seconds
ROWS_AT_ONCE = 1_000_000  # counted by one request: a portal counts about 50,000 a second and answers within a minute
LOOKED_AT = 500
READ_AT_ONCE = 500  # by id: most methods take many in one command


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
    def is_listed(self) -> bool:
        """Whether to list it takes no more commands than to count its parts and list those that differ."""
        return self.pages <= 2 or 2 * abs(self.missing) >= self.pages

    @property
    def commands(self) -> int:
        return self.pages if self.is_listed else 1


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
    """What belongs to a deleted record is deleted with it, and nobody can be asked."""
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
    """The first count, or that of the parts of ranges that differ; or, when nothing is left to count, the lists."""
    stream, pass_no = context.streams[job.args["stream"]], int(job.args["pass"])
    part = find_part(context, stream, job.args["of"])
    left_out = sorted(excluded_ids(context, stream, part))
    ranges, listed = (
        [known_range(context, stream, part, one, left_out) for one in job.args.get(name, ())]
        for name in ("ranges", "listed")
    )
    begins = "ranges" not in job.args
    if not begins and not ranges:
        compare(context, stream, part, listed, pass_no)
        return []
    if begins:
        whole = known_range(context, stream, part, (job.args["lo"], job.args["hi"], 0), left_out)
        differing = list(count_all(context, part, list(cut(whole, RANGES))))
        if not differing:  # all as it is known: nobody has to count it once more
            row = checkpoint_row(counted_key(stream, part), pass_no, len(whole.ids), whole.hi)
            context.store.write(CHECKPOINTS, [row])
    else:
        differing = list(count_parts(context, part, ranges))
    return list(further_jobs(job, [*listed, *differing]))


def count_parts(context: RunContext, part: Part, ranges: Sequence[Range]) -> Iterator[Range]:
    """The parts of ranges that differ. Few ranges are cut into many, so that the request is full."""
    counted = max(1, RANGES // len(ranges))
    parts = [list(cut(one, min(counted + 1, one.pages))) for one in ranges]
    found = {(one.lo, one.hi): one for one in count_all(context, part, [one for some in parts for one in some[:-1]])}
    for whole, some in zip(ranges, parts, strict=True):
        known = [found[one.lo, one.hi] for one in some[:-1] if (one.lo, one.hi) in found]
        last = some[-1]._replace(missing=whole.missing - sum(one.missing for one in known))
        yield from [*known, last] if last.missing else known


def further_jobs(job: Job, differing: Sequence[Range]) -> Iterator[Job]:
    """What is listed waits until nothing is left to count, so that requests are full."""
    lists = [*share(one for one in differing if one.is_listed)]
    counts = [*share(one for one in differing if not one.is_listed)]
    waiting = lists.pop() if lists and counts else []
    for some in lists:
        yield _job_of(job, [], some)
    for place, some in enumerate(counts):
        yield _job_of(job, some, waiting if place == 0 else [])


def _job_of(job: Job, ranges: Sequence[Range], listed: Sequence[Range]) -> Job:
    args = {"ranges": ranges, "listed": listed}
    return Job(
        job.scope,
        job.kind,
        {**job.args, **{name: [[one.lo, one.hi, one.missing] for one in some] for name, some in args.items()}},
    )


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
    return Range(lo, hi, sorted({*excluded, *staged}), missing)


def deleted_ids(context: RunContext, stream: Stream, span: Span) -> set[int]:
    found = deletions.deleted_records(context, stream, span)
    return {int(one.child) for one in found if one.child.isdecimal()}


def cut(whole: Range, parts: int) -> Iterator[Range]:
    """Into ranges of about equal length that leave no id out."""
    size = max(1, -(-len(whole.ids) // parts))
    lo = whole.lo
    for start in range(size, len(whole.ids), size):
        yield Range(lo, whole.ids[start - 1], whole.ids[start - size : start])
        lo = whole.ids[start - 1]
    place = bisect_right(whole.ids, lo) if lo > whole.lo else 0
    yield Range(lo, whole.hi, whole.ids[place:])


def count_all(context: RunContext, part: Part, ranges: Sequence[Range]) -> Iterator[Range]:
    """Those of which the portal counts another number than is known here."""
    rows = sum(len(one.ids) for one in ranges)
    at_once = max(1, min(RANGES, RANGES * ROWS_AT_ONCE // max(1, rows)))
    for start in range(0, len(ranges), at_once):
        some = ranges[start : start + at_once]
        answers = context.source.batch([command(part, one.lo, one.hi, start=0) for one in some])
        for one, answer in zip(some, answers, strict=True):
            if missing := len(one.ids) - count_of(answer):
                yield one._replace(missing=missing)


def command(part: Part, lo: int, hi: int, *, start: int) -> Command:
    listing, paging = part.listing, part.listing.paging
    assert isinstance(paging, Keyset)  # noqa: S101 (what `choose` looked at)
    asked = {**listing.params.get(paging.filter, {}), f">{paging.id}": lo, f"<={paging.id}": hi}
    words = listing.changes or listing.sweep
    narrow = words.narrow if words else {}
    params = {**listing.params, **narrow, paging.filter: asked, **paging.ascending, "start": start}
    return Command(listing.method, params)


# ---------------------------------------------------------------- ranges that differ


def compare(context: RunContext, stream: Stream, part: Part, ranges: Sequence[Range], pass_no: int) -> None:
    """Lists them. What is missing is asked for by id; what is there and unknown here is read."""
    listed = sorted(list_ids(context, part, ranges))
    known = [number for one in ranges for number in one.ids]
    missing = sorted(set(known) - set(listed))
    left_out = set(excluded_ids(context, stream, part)) if missing else set()
    forget_excluded(context, stream, [part.row_key(one) for one in missing if one in left_out])
    keys = [part.row_key(one) for one in missing if one not in left_out]
    for start in range(0, len(keys), deletions.ASKED):
        some = context.store.get(stream.table, keys[start : start + deletions.ASKED])
        deletions.ask_all(context, stream, list(some.values()), pass_no)
    read_again(context, stream, [part.row_key(one) for one in sorted(set(listed) - set(known))], pass_no)


def list_ids(context: RunContext, part: Part, ranges: Sequence[Range]) -> Iterator[int]:
    waiting = [(page.lo, page.hi) for one in ranges for page in cut(one, one.pages)]
    while waiting:
        answers = context.source.batch([command(part, lo, hi, start=-1) for lo, hi in waiting])
        further: list[tuple[int, int]] = []
        for (_, hi), answer in zip(waiting, answers, strict=True):
            count_of(answer)
            ids = [id_of(raw, part) for raw in open_list(answer.result, part.listing.items, part.listing.method).items]
            yield from ids
            if len(ids) >= PAGE and max(ids) < hi:
                further.append((max(ids), hi))
        waiting = further


def id_of(raw: bytes, part: Part) -> int:
    return int(msgspec.json.decode(raw)[part.listing.id])


def read_again(context: RunContext, stream: Stream, row_keys: Sequence[str], pass_no: int) -> None:
    for start in range(0, len(row_keys) if stream.fetch else 0, READ_AT_ONCE):
        asked = [SourceRecord(key, {}, {}) for key in row_keys[start : start + READ_AT_ONCE]]
        rows = list(stream.fetch(context.source, asked, context.known(stream)).values()) if stream.fetch else []
        stage(context, stream, complete_rows(context, stream, rows), pass_no=pass_no)


def forget_excluded(context: RunContext, stream: Stream, row_keys: Sequence[str]) -> None:
    """They are not at the source any more."""
    context.store.discard(SET_ASIDE, [f"excluded:{stream.name}:{key}" for key in row_keys])
