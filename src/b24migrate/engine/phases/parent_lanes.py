"""get: divides the parents whose children are read into lanes of about equal work."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import msgspec

from b24migrate.engine.phases import partial, tails
from b24migrate.engine.phases.bug import unexpected
from b24migrate.engine.phases.context import Follow, RunContext, decode_record, walk
from b24migrate.engine.phases.delta import is_delta, this_pass
from b24migrate.engine.phases.hints import (
    NONE,
    REST,
    SIZE,
    count_parents,
    hint_of,
    is_sampled,
    narrow_trust,
    refute,
    refuted_before,
)
from b24migrate.engine.phases.moved import next_parents
from b24migrate.messages import say
from b24migrate.model.readings import Backward, PerParent, Whole
from b24migrate.model.records import (
    Job,
    Json,
    Record,
    Span,
    children_span,
    marked_span,
    order_key,
)
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream

# Parents are read in lanes side by side: few, because the last request of a lane is seldom full, but enough for all
# workers. A lane of fewer pages is not worth it; the parents of one are named in its job.
LANES = 5
PACK_PAGES = 200
PACK_PARENTS = 600
SPARE = 1  # commands of a request that nothing is planned for
PARENTS_AT_ONCE = 2000
PAGES_OF_A_PARENT = 1_000_000  # page numbers: each parent and lane has a range of its own
FULL_REQUEST = 50  # pages
MOST_CHILDREN = 10**9  # no parent has as many: a larger number is invalid
BROKEN = say("record.broken_row")


def pack(context: RunContext, job: Job) -> Follow:
    """Divides the requested parents into lanes of about equal work, a few hundred at a time."""
    stream = context.streams[job.args["stream"]]
    reading = find_reading(context, job)
    of = context.streams[reading.of]
    size = int(job.args.get(SIZE) or count_parents(context, reading))
    if job.args.get(REST) and not job.args["after"]:
        note_refuted(context, job, stream, reading)
    parents, after = _next_parents(context, job, stream, reading)
    asked = {str(one): int(pages) for one, pages in job.args.get("held", ())}
    new = _count_pages(context, reading, of, parents, _asks(context, job, stream, size))
    delta = is_delta(context, stream, int(job.args["pass"]))
    ends = tails.partial_cursors(context, stream, reading, [*asked, *new]) if delta else {}
    asked |= {one: 1 if one in ends else pages for one, pages in new.items()}
    last = not after
    spare = 0 if isinstance(reading.paging, Whole) or (delta and reading.is_newest_first) else SPARE
    packs, held = (list(pack_lanes(asked, spare)), []) if last else pack_stretch(asked, reading, size)
    number = int(job.args["n"])
    args = {name: job.args[name] for name in ("stream", "pass", "which") if name in job.args} | {SIZE: size}
    jobs = [
        Job(
            job.scope,
            "children",
            {
                **args,
                "parents": [[one, *ends.get(one, (0, 0))] for one in lane],
                "n": (number + k) * PAGES_OF_A_PARENT,
                **walk_args(reading),
            },
        )
        for k, lane in enumerate(packs)
    ]
    if not last:
        further = {
            **job.args,
            SIZE: size,
            "after": after,
            "n": number + len(packs),
            "held": [[one, asked[one]] for one in held],
        }
        jobs.append(Job(job.scope, "pack", further))
    return jobs


def _next_parents(context: RunContext, job: Job, stream: Stream, reading: PerParent) -> tuple[Iterable[Record], str]:
    """The next parents, and where to go on ("": nowhere). When a hint is refuted, those that believed it are all
    asked, in a delta pass too."""
    after = str(job.args["after"])
    if reading.again and is_delta(context, stream, int(job.args["pass"])) and not job.args.get(REST):
        return next_parents(context, stream, reading, after, PARENTS_AT_ONCE)
    table = context.streams[reading.of].table
    keys = context.store.keys(table, Span(after), PARENTS_AT_ONCE)
    end = order_key(keys[-1]) if len(keys) == PARENTS_AT_ONCE else ""
    return walk(context, table, Span(after, end)), end


def _asks(context: RunContext, job: Job, stream: Stream, size: int) -> Callable[[PerParent, SourceRecord], bool]:
    """Whether a parent is asked by this job, for the reading and the parent."""
    rest, which = str(job.args.get(REST, "")), int(job.args.get("which", 0))
    refuted = refuted_before(context, stream, which, int(job.args["pass"]))
    chosen = this_pass(context, stream, int(job.args["pass"]))
    delta, listed = chosen.delta, chosen.listed

    def asks(reading: PerParent, parent: SourceRecord) -> bool:
        if listed and reading.shown and not reading.shown(parent, context.source.owners):
            return False
        hint = hint_of(reading, parent)
        if rest:
            return hint == rest and not is_sampled(parent.id, size)
        # in a delta pass those with staged children must be asked, or their deletion is never found
        known = delta and bool(hint) and context.store.keys(stream.table, children_of(reading, parent.id), 1)
        return not hint or hint in refuted or is_sampled(parent.id, size) or bool(known)

    return asks


def children_of(reading: PerParent, parent: str) -> Span:
    """Of the children that the reading brings."""
    return marked_span(parent, reading.mark) if reading.mark else children_span(parent)


def note_refuted(context: RunContext, job: Job, stream: Stream, reading: PerParent) -> None:
    hint = str(job.args[REST])
    refute(context, stream, int(job.args.get("which", 0)), hint, int(job.args["pass"]))
    if hint == NONE:
        message = say("note.wrong_hint", of=reading.of, stream=stream.name)
        context.note(context.owner[stream.name].name, message)


def _count_pages(
    context: RunContext,
    reading: PerParent,
    of: Stream,
    parents: Iterable[Record],
    asks: Callable[[PerParent, SourceRecord], bool],
) -> dict[str, int]:
    """The parents whose children are read, and how many pages each is likely to have; deleted ones have none. One that
    cannot be read from the store, or makes no sense, is counted as read in part: the next run asks again."""
    pages: dict[str, int] = {}
    for parent in parents:
        if parent.deleted_utc:
            continue
        try:
            one = decode_record(parent, of)
            if reading.parents.only(one) and asks(reading, one):
                pages[one.id] = expected_pages(reading, one)
        except msgspec.DecodeError:
            partial.mark_incomplete(context, of, {parent.row_key: BROKEN})
        except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
            error = unexpected(context, bug, context.owner[of.name].name, f"{of.name} {parent.row_key}")
            partial.mark_incomplete(context, of, {parent.row_key: error.message})
    return pages


def pack_stretch(pages: Mapping[str, int], reading: PerParent, size: int) -> tuple[list[list[str]], list[str]]:
    """Lanes of parents that others follow, and the parents that wait for those, so that requests are full. In a lane of
    parents that tell no number those come first whose end is to be proven: their second page finds room later."""
    if sum(pages.values()) > len(pages):
        return list(pack_lanes(pages)), []
    spare = SPARE if isinstance(reading.paging, Backward) else 0
    length = PACK_PARENTS // FULL_REQUEST * (FULL_REQUEST - spare)
    parents = list(pages)
    whole = len(parents) // length * length
    lanes = (parents[start : start + length] for start in range(0, whole, length))
    return [sorted(lane, key=lambda one: not is_sampled(one, size)) for lane in lanes], parents[whole:]


def pack_lanes(pages: Mapping[str, int], spare: int = SPARE) -> Iterator[list[str]]:
    """Lanes whose last request is nearly full: parents may turn out to have a page more (`spare`). Each has one of the
    longest parents, which comes last: what the others leave over then still finds room in a request."""
    by_length = sorted(pages, key=lambda parent: -pages[parent])
    lanes = lane_count(len(pages), sum(pages.values()))
    requests = -(-sum(pages.values()) // (max(1, lanes) * FULL_REQUEST))
    size = requests * (FULL_REQUEST - spare)
    left = deque(by_length[lanes:])
    for longest in by_length[:lanes]:
        lane, total = [longest], pages[longest]
        while left and len(lane) < PACK_PARENTS and (room := lane_room(total, size, spare)):
            parent = left.popleft() if pages[left[0]] <= room else left.pop()
            if pages[parent] > room:
                left.append(parent)
                break
            lane.append(parent)
            total += pages[parent]
        yield lane[::-1]
    yield from (list(left)[start : start + PACK_PARENTS] for start in range(0, len(left), PACK_PARENTS))


def lane_count(parents: float, pages: float) -> int:
    return max(min(LANES, math.ceil(pages / PACK_PAGES)), math.ceil(parents / PACK_PARENTS))


def lane_room(total: int, size: int, spare: int = SPARE) -> int:
    """Pages that a lane of so many takes yet: up to its size, or beyond it until its last request is nearly full."""
    return size - total if total < size else -total % (FULL_REQUEST - spare)


def expected_children(reading: PerParent, parent: SourceRecord) -> int | None:
    """The parent's own counter; None if it is not a number."""
    try:
        count = reading.parents.expected(parent)
    except (ValueError, TypeError, OverflowError):
        return None
    return count if count is None or 0 <= count <= MOST_CHILDREN else None


def expected_pages(reading: PerParent, parent: SourceRecord) -> int:
    count = expected_children(reading, parent)
    return 1 if isinstance(reading.paging, Whole) or count is None else reading.paging.pages(count)


def find_reading(context: RunContext, job: Job) -> PerParent:
    reading = context.reading(context.streams[job.args["stream"]], int(job.args.get("which", 0)))
    assert isinstance(reading, PerParent)  # noqa: S101 (what `start` chose)
    if job.args.get("prove"):  # the end of such a walk is an empty page only
        return replace(reading, parents=replace(reading.parents, expected=lambda _: None, uncounted=lambda _: False))
    return narrow_trust(reading, int(job.args.get(SIZE, 0)))


def walk_args(reading: PerParent) -> dict[str, Json]:
    """Of a job's args: which way its cursors lead."""
    return {"walk": "down"} if isinstance(reading.paging, Backward) else {}
