"""get: from the source to the staging tables."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from itertools import repeat
from typing import Any
from zlib import crc32
from zoneinfo import ZoneInfo

import msgspec

from b24migrate.engine.phases import partial
from b24migrate.engine.phases.bug import unexpected
from b24migrate.engine.phases.context import Follow, Later, RunContext, decode_extras, readable, seen, viewed, walk
from b24migrate.engine.phases.payload import Looked, look, payload_hash
from b24migrate.engine.phases.side_records import mark_holders
from b24migrate.messages import plain, say
from b24migrate.model import values
from b24migrate.model.answers import UNCLEAR
from b24migrate.model.errors import NO_SUCH_METHOD, Forbidden, Limited, Permanent, Transient
from b24migrate.model.events import Extracted, Waited
from b24migrate.model.records import (
    REFUSED,
    Job,
    Json,
    Page,
    PageEntry,
    Record,
    Row,
    SetAside,
    Span,
    Staged,
    Status,
    marked_span,
    order_key,
)
from b24migrate.model.streams import (
    ANY,
    Alias,
    Backward,
    Each,
    Gather,
    Listing,
    Named,
    PerParent,
    Progress,
    Seen,
    Stream,
    Whole,
    person,
)
from b24migrate.ports import ALIASES, CHECKPOINTS, PAGE_LOG, SET_ASIDE, RegisterRow, Source

# Parents are read in lanes side by side: few, because the last request of a lane is seldom full, but enough for all
# workers. A lane of fewer pages is not worth it; the parents of one are named in its job.
LANES = 5
PACK_PAGES = 200
PACK_PARENTS = 600
SPARE = 1  # commands of a request that nothing is planned for
PARENTS_AT_ONCE = 2000
# page numbers: each parent, lane and reading has a range of its own
PAGES_OF_A_PARENT = 1_000_000
PAGES_OF_A_READING = 1_000_000
FULL_REQUEST = 50  # pages
LOOKED_AT_ONCE = 250
GENTLY_AFTER = 2  # failures of a request before its pages are read one by one
SLICE = 100  # rows of a page that are asked about at a time, after execution time ran out in the midst of it
LONG_S = 30.0  # a longer wait is for execution time
MOST_CHILDREN = 10**9  # no parent has as many: a larger number is none
BROKEN = say("record.broken_row")
# Of a job's args: the last row that was taken before, and whether few are asked about at a time.
DONE, SLOWLY = "done", "slowly"
AGAIN = "again"  # how often a job was restarted, each time with more names known


# ---------------------------------------------------------------- jobs


def start(context: RunContext, scope: str, stream: Stream, pass_no: int, which: int = 0) -> list[Job]:
    """The first job of one of a stream's readings."""
    reading = context.reading(stream, which)
    args = {"stream": stream.name, "pass": pass_no} | ({"which": which} if which else {})
    if isinstance(reading, PerParent):
        return [Job(scope, "pack", {**args, "after": "", "n": which * PAGES_OF_A_READING})]
    if isinstance(reading, Each):
        return [
            Job(scope, "read", {**args, "cursor": {}, "of": parent.row_key, "n": number})
            for number, parent in enumerate(walk(context, context.streams[reading.of].table), 1)
        ]
    return [Job(scope, "read", {**args, "cursor": {}})]


def read(context: RunContext, job: Job) -> Follow:
    """One request of a listing."""
    stream = context.streams[job.args["stream"]]
    reading = context.reading(stream, int(job.args.get("which", 0)))
    gently = job.failures >= GENTLY_AFTER
    prefix = ""
    if isinstance(reading, Each):
        parent = context.lookup(reading.of, [job.args["of"]])[job.args["of"]]
        prefix, reading = reading.prefix(parent), reading.listing(parent)
    assert isinstance(reading, Listing | Gather)  # noqa: S101 (what `start` chose)
    if isinstance(reading, Listing):
        reading = selecting(context, stream, reading)
    page = context.source.page(reading, job.args["cursor"], limit=context.options.test_limit, gently=gently)

    def kept(some: Page) -> None:
        keep(context, stream, prefixed(some, prefix, int(job.args["n"])) if prefix else some, int(job.args["pass"]))

    if isinstance(reading, Listing) and reading.enrich is not None:
        size = FULL_REQUEST if gently else reading.enrich_some(context.source)

        def take(some: Page) -> None:
            kept(enriched(context, stream, reading, some, gently=gently))

        interrupted = in_slices(context, job, page, size, take, gently=gently)
        if interrupted:
            return [interrupted]
    else:
        kept(page)
    if page.reported is not None:
        key = f"{stream.name}:{prefix}" if prefix else stream.name
        context.store.write(CHECKPOINTS, [checkpoint(key, job.args["pass"], page.reported, 0)])
    args = {name: value for name, value in job.args.items() if name != DONE}
    return [Job(job.scope, "read", {**args, "cursor": cursor}) for cursor in page.next]


def in_slices(
    context: RunContext, job: Job, page: Page, size: int, take: Callable[[Page], None], *, gently: bool
) -> Job | Later | None:
    """Takes the rows of a page: so many at once, 0 being all, and fewer once a limit came in the midst of that. Further
    questions about a page may be more than a limit allows at one go: were it begun anew each time, it would never be
    done. Gently, some that fail are halved until the one is alone that is to blame. Returns the job that goes on behind
    what was taken."""
    ids = [row.source_id for row in page.rows]
    done = str(job.args.get(DONE, ""))
    rows = page.rows[ids.index(done) + 1 :] if done in ids else page.rows
    most = SLICE if job.args.get(SLOWLY) is True else int(job.args.get(SLOWLY, 0))  # jobs of older stores say True
    size = min(size or most, most) if most else size or len(rows) or 1
    slices = deque([rows[at : at + size] for at in range(0, len(rows), size)] or [[]])
    while slices:
        some = slices.popleft()
        try:
            take(Page(rows=some) if slices else replace(page, rows=some))
        except Transient as error:
            if not (gently and error.own and len(some) > 1):
                raise
            half = len(some) // 2
            slices.extendleft((some[half:], some[:half]))
            continue
        except Limited as limit:
            reached = {DONE: done} if done else {}
            args = {**job.args, **reached}
            if limit.wait_s >= LONG_S and (size > SLICE or limit.midway):
                args[SLOWLY] = SLICE if size > SLICE else fewer(len(some))
            if args == job.args:
                raise
            context.tell(Waited(job.scope, limit.method or "batch", limit.wait_s))
            onward = Job(job.scope, job.kind, args, failures=job.failures)
            return Later(onward, context.clock.now() + timedelta(seconds=limit.wait_s))
        done = some[-1].source_id if some else done
        if gently and slices and context.time_is_up():
            return Job(job.scope, job.kind, {**job.args, DONE: done}, failures=job.failures)
    return None


def fewer(tried: int) -> int:
    """How many to ask about at a time after a limit came in the midst of so many. Execution time comes back minute by
    minute: what needs more than a minute's at one go would be begun again and again."""
    return max(1, tried // 10)


def selecting(context: RunContext, stream: Stream, reading: Listing) -> Listing:
    """With the custom fields that only come when they are named."""
    if not reading.select:
        return reading
    chosen = [*reading.params.get(reading.select, ()), *context.known(stream).custom()]
    return replace(reading, params={**reading.params, reading.select: chosen})


def prefixed(page: Page, prefix: str, number: int) -> Page:
    rows = [row._replace(source_id=f"{prefix}:{row.source_id}") for row in page.rows]
    return replace(numbered(page, number * PAGES_OF_A_PARENT), rows=rows)


def pack(context: RunContext, job: Job) -> Follow:
    """Divides the parents into lanes of about equal work, a few hundred at a time."""
    reading = children_reading(context, job)
    of = context.streams[reading.of]
    parents = context.store.records(of.table, Span(job.args["after"]), PARENTS_AT_ONCE)
    packs = list(packed(dict(_with_pages(context, reading, of, parents))))
    number = int(job.args["n"])
    args = {name: job.args[name] for name in ("stream", "pass", "which") if name in job.args} | walk_of(reading)
    jobs = [
        Job(
            job.scope,
            "children",
            {
                **args,
                "parents": [[one, 0, 0] for one in lane],
                "n": (number + k) * PAGES_OF_A_PARENT,
                **walk_of(reading),
            },
        )
        for k, lane in enumerate(packs)
    ]
    if len(parents) == PARENTS_AT_ONCE:
        after = order_key(parents[-1].row_key)
        jobs.append(Job(job.scope, "pack", {**job.args, "after": after, "n": number + len(packs)}))
    return jobs


def _with_pages(
    context: RunContext, reading: PerParent, of: Stream, parents: Sequence[Record]
) -> Iterator[tuple[str, int]]:
    """The parents whose children are read, and how many pages each is likely to have. One that cannot be read from the
    store, or makes no sense, is counted as read in part: the next run asks again."""
    for parent in parents:
        try:
            one = seen(parent, of)
            if reading.only(one):
                yield one.id, expected_pages(reading, one)
        except msgspec.DecodeError:
            partial.mark(context, of, {parent.row_key: BROKEN})
        except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
            error = unexpected(context, bug, context.owner[of.name].name, f"{of.name} {parent.row_key}")
            partial.mark(context, of, {parent.row_key: error.message})


def packed(pages: Mapping[str, int]) -> Iterator[list[str]]:
    """Lanes whose last request is nearly full: parents may turn out to have a page more. Each has one of the longest
    parents, which comes last: what the others leave over then still finds room in a request."""
    by_length = sorted(pages, key=lambda parent: -pages[parent])
    lanes = lane_count(len(pages), sum(pages.values()))
    requests = -(-sum(pages.values()) // (max(1, lanes) * FULL_REQUEST))
    size = requests * (FULL_REQUEST - SPARE)
    left = deque(by_length[lanes:])
    for longest in by_length[:lanes]:
        lane, total = [longest], pages[longest]
        while left and len(lane) < PACK_PARENTS and (room := room_for(total, size)):
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


def room_for(total: int, size: int) -> int:
    """Pages that a lane of so many takes yet: up to its size, or beyond it until its last request is nearly full."""
    return size - total if total < size else -total % (FULL_REQUEST - SPARE)


def expected(reading: PerParent, parent: Seen) -> int | None:
    """What the parent's own counter says; nothing where that is no number."""
    try:
        count = reading.expected(parent)
    except (ValueError, TypeError, OverflowError):
        return None
    return count if count is None or 0 <= count <= MOST_CHILDREN else None


def expected_pages(reading: PerParent, parent: Seen) -> int:
    count = expected(reading, parent)
    return 1 if isinstance(reading.paging, Whole) or count is None else reading.paging.pages(count)


def children(context: RunContext, job: Job) -> Follow:
    """One request for the children of several parents; the cursor of each is its checkpoint."""
    stream = context.streams[job.args["stream"]]
    reading = children_reading(context, job)
    wanted: Sequence[Sequence[Json]] = job.args["parents"]
    if any(job.args.get(name) != way for name, way in walk_of(reading).items()):
        wanted = [[one, 0, 0] for one, *_ in wanted]  # started by a version that walked the other way
    parents = context.lookup(reading.of, [one[0] for one in wanted])
    progress = [Progress(parents[one], *map(int, reached)) for one, *reached in wanted if one in parents]
    gently = job.failures >= GENTLY_AFTER
    page = context.source.children(reading, progress, one_page=bool(context.options.test_limit), gently=gently)
    page = with_unlisted(context, reading, {one.parent.id: one.parent for one in progress}, page)
    told = with_ids(context, stream, reading, page, parents)
    if told is None:
        return [Job(job.scope, job.kind, {**job.args, AGAIN: int(job.args.get(AGAIN, 0)) + 1})]
    page = numbered(without_twins(context, stream, reading, told), int(job.args["n"]))
    unreadable = {one.source_id for one in page.aside}  # stated as impossible, so neither reported nor drift
    keep(context, stream, page, int(job.args["pass"]))
    context.store.write(
        CHECKPOINTS,
        [
            checkpoint(f"{stream.name}:{parent}", job.args["pass"], reported, got)
            for parent, (reported, got) in page.parents.items()
            if reported is not None and parent not in unreadable
        ]
        + [
            checkpoint(f"{estimates(stream)}{parent}", job.args["pass"], estimate, got)
            for parent, (reported, got) in page.parents.items()
            if reported is None
            and parent not in unreadable
            and (estimate := expected(reading, parents[parent])) not in (None, got)
            and not context.options.test_limit
        ],
    )
    alarm_empty(context, stream, reading, page)
    further = proofs(context, job, stream, page)
    left = cursors(page.next)
    args = {name: value for name, value in job.args.items() if name != AGAIN}
    args |= {"parents": left, "n": int(job.args["n"]) + len(page.log), **walk_of(reading)}
    further += [
        Job(job.scope, "children", {**args, "parents": [one], **alone(job, one)}) for one in cursors(page.apart)
    ]
    return [Job(job.scope, "children", args), *further] if left else further


def cursors(reached: Sequence[Mapping[str, Json]]) -> list[list[Json]]:
    return [[one["id"], *(one[name] for name in ("after", "got", "via", "first") if name in one)] for one in reached]


def alone(job: Job, parent: Sequence[Json]) -> dict[str, Json]:
    """Page numbers for one parent, in the upper half of its lane's."""
    lane = int(job.args["n"]) // PAGES_OF_A_PARENT * PAGES_OF_A_PARENT
    return {"n": lane + PAGES_OF_A_PARENT // 2 + crc32(str(parent[0]).encode()) % 4_000 * 100}


def proofs(context: RunContext, job: Job, stream: Stream, page: Page) -> list[Job]:
    """Parents whose end was taken from a page that was not full are noted. As soon as such a page has proven not to be
    the last one, they are all read again, by any process, to an empty page."""
    if page.trusted:
        rows = [RegisterRow(f"{trusted(stream)}{parent}", {"Pass": int(job.args["pass"])}) for parent in page.trusted]
        context.store.write(CHECKPOINTS, rows)
    if not (page.trusted or page.gap):
        return []
    args = {name: job.args[name] for name in ("stream", "pass", "which") if name in job.args}
    if context.store.read(CHECKPOINTS, gap(stream)) is None:
        return [Job(job.scope, "prove", args)] if page.gap else []
    return to_the_end(job.scope, args, page.trusted)


def prove(context: RunContext, job: Job) -> Follow:
    """The note that there are gaps comes first: who trusts a page afterwards sees it, who did before is found here."""
    stream = context.streams[job.args["stream"]]
    context.store.write(CHECKPOINTS, [RegisterRow(gap(stream), {"Pass": int(job.args["pass"])})])
    prefix = trusted(stream)
    return to_the_end(
        job.scope, job.args, [row.key.removeprefix(prefix) for row in context.store.rows(CHECKPOINTS, prefix)]
    )


def to_the_end(scope: str, args: Mapping[str, Json], parents: Sequence[str]) -> list[Job]:
    packs = [parents[start : start + PACK_PARENTS] for start in range(0, len(parents), PACK_PARENTS)]
    number = PAGES_OF_A_READING * PAGES_OF_A_PARENT // 2
    return [
        Job(
            scope,
            "children",
            {
                **args,
                "walk": "down",
                "prove": True,
                "parents": [[one, 0, 0] for one in pack],
                "n": number + crc32(pack[0].encode()) % 100_000 * PAGES_OF_A_PARENT,
            },
        )
        for pack in packs
    ]


def walk_of(reading: PerParent) -> dict[str, Json]:
    """Of a job's args: which way its cursors lead."""
    return {"walk": "down"} if isinstance(reading.paging, Backward) else {}


def trusted(stream: Stream) -> str:
    """Before the keys of checkpoints: parents whose last page was taken for the end because it was not full."""
    return f"trusted:{stream.name}:"


def gap(stream: Stream) -> str:
    return f"gap:{stream.name}:"


def estimates(stream: Stream) -> str:
    """Before the keys of checkpoints: parents whose own counter says another number than they have."""
    return f"estimate:{stream.name}:"


def with_ids(
    context: RunContext, stream: Stream, reading: PerParent, page: Page, parents: Mapping[str, Seen]
) -> Page | None:
    """The children with the ID of their parent, if they carry only another name of it; None if time was up before all
    names were known."""
    alias = reading.alias
    names = [_other_name(alias, row) if alias else "" for row in page.rows]
    if alias is None or not any(names):
        return page
    whose = [parents[(row.extras or {})["of"]] for row in page.rows]
    seen_by = {
        name: reading.via(parent, context.source.owners) for name, parent in zip(names, whose, strict=True) if name
    }
    known = looked_up(context, stream, alias, seen_by)
    if known is None:
        return None
    rows: list[Row] = []
    aside = list(page.aside)
    for row, name, parent in zip(page.rows, names, whose, strict=True):
        one = known[name] if name else None
        if one is None:
            rows.append(row)
        elif one.id:
            rows.append(row._replace(source_id=f"{one.id}:{row.source_id.rpartition(':')[2]}"))
        else:
            aside.append(SetAside(stream.name, row.source_id, "impossible", one.why, person(parent)))
    return replace(page, rows=rows, aside=aside)


def _other_name(alias: Alias, row: Row) -> str:
    """Nothing where the record makes no sense: sending it will say so."""
    try:
        return alias.of(msgspec.json.decode(row.payload))
    except (msgspec.DecodeError, ValueError, TypeError, KeyError, AttributeError):
        return ""


def looked_up(context: RunContext, stream: Stream, alias: Alias, seen_by: Mapping[str, int]) -> dict[str, Named] | None:
    """The ID for each name. Answers are kept in the store, so a restarted job gets further."""
    kept = {name: context.store.read(ALIASES, f"{stream.name}:{name}") for name in seen_by}
    known = {name: Named(str(row.values["Id"])) for name, row in kept.items() if row is not None}
    waiting = sorted(seen_by.keys() - known.keys(), key=lambda name: (seen_by[name], order_key(name)))
    while waiting:
        said = alias.ask(context.source, {name: seen_by[name] for name in waiting[: alias.at_once]})
        found = [RegisterRow(f"{stream.name}:{name}", {"Id": one.id}) for name, one in said.items() if one.id]
        if found:
            context.store.write(ALIASES, found)
        known |= said
        waiting = waiting[alias.at_once :]
        if ANY in said:  # the same goes for all others
            return known | dict.fromkeys(waiting, said[ANY])
        if waiting and found and context.time_is_up():
            return None
    return known


def children_reading(context: RunContext, job: Job) -> PerParent:
    reading = context.reading(context.streams[job.args["stream"]], int(job.args.get("which", 0)))
    assert isinstance(reading, PerParent)  # noqa: S101 (what `start` chose)
    # A walk that is to prove the end knows no count that it could trust.
    return replace(reading, expected=lambda _: None) if job.args.get("prove") else reading


def with_unlisted(context: RunContext, reading: PerParent, parents: Mapping[str, Seen], page: Page) -> Page:
    """With the children that a parent counts and the method does not list."""
    if reading.unlisted is None:
        return page
    refused = {one.source_id for one in page.aside}
    listed = {one: (parents[one], set[str]()) for one in page.parents if one not in refused}
    for row in page.rows:
        parent, _, child = row.source_id.partition(":")
        if parent in listed:
            listed[parent][1].add(child)
    more = reading.unlisted(context.source, listed, context.facts.grants)
    return replace(page, rows=[*page.rows, *more.rows], aside=[*page.aside, *more.aside])


def without_twins(context: RunContext, stream: Stream, reading: PerParent, page: Page) -> Page:
    """Sets those aside that were read before, in another place where the portal keeps them."""
    if not reading.twins:
        return page
    rows: list[Row] = []
    aside = list(page.aside)
    siblings: dict[str, list[Seen]] = {}
    for row in page.rows:
        parent = row.source_id.rpartition(":")[0]
        if parent not in siblings:
            span = marked_span(parent, reading.twins)
            siblings[parent] = readable(walk(context, stream.table, span), stream)
        twin = _twin(stream, reading, row, siblings[parent])
        if twin is None:
            rows.append(row)
        else:
            siblings[parent].remove(twin)
            aside.append(SetAside(stream.name, row.source_id, "excluded", say("skip.twin", id=twin.id), twin.id))
    return replace(page, rows=rows, aside=aside)


def _twin(stream: Stream, reading: PerParent, row: Row, siblings: Sequence[Seen]) -> Seen | None:
    """None where the record makes no sense: sending it will say so."""
    try:
        one = Seen(row.source_id, viewed(stream, row.payload), row.extras or {})
        return next((other for other in siblings if reading.same(one, other)), None)
    except (msgspec.DecodeError, ValueError, TypeError, KeyError, AttributeError):
        return None


# ---------------------------------------------------------------- what is done with a page


def keep(context: RunContext, stream: Stream, page: Page, pass_no: int) -> None:
    """Stages the rows and the files they refer to, then logs the pages."""
    started = context.clock.monotonic()
    entity = context.owner[stream.name]
    staged = stage(context, stream, page.rows, page.aside, pass_no=pass_no)
    context.store.write(PAGE_LOG, [log_row(stream, entry) for entry in page.log])
    for alarm in page.alarms:
        context.note(entity.name, alarm)
    for one in page.aside:
        if one.why == "impossible" and not one.name:  # those with a name are told together when the get is closed
            context.note(
                entity.name, say("note.unreadable", stream=one.stream or stream.name, id=one.source_id, why=one.reason)
            )
    spent = sum((entry.finished_at - entry.started_at).total_seconds() for entry in page.log)
    latency_ms = (spent + context.clock.monotonic() - started) * 1000
    context.tell(Extracted(entity.name, stream.name, staged, latency_ms))


def stage(
    context: RunContext,
    stream: Stream,
    rows: Sequence[Row],
    aside: Sequence[SetAside] = (),
    *,
    pass_no: int,
    pulled: bool = False,
) -> int:
    """Returns how many rows were staged; the others were excluded by a rule."""
    aside, before = not_staged(context, stream, aside)
    rows, why, outdated = partial.sorted_out(context, stream, [*before, *rows])
    staged: list[Staged] = []
    excluded: list[SetAside] = []
    for start in range(0, len(rows), LOOKED_AT_ONCE):  # decoded, a row is many times as large
        chosen, left_out, odd = each_looked_at(context, stream, rows[start : start + LOOKED_AT_ONCE], pulled)
        staged += chosen
        excluded += left_out
        why = {**why, **odd}
    if staged:
        mark_holders(context, stream, staged)
        incomplete = {**why, **outdated}
        whole = partial.completed(context, stream, staged, incomplete)
        partial.mark(context, stream, incomplete)
        if why or whole:
            staged = partial.hashed(staged, why, whole)
        context.store.stage(stream.table, staged, run=context.run, pass_no=pass_no)
        partial.close(context, stream, whole)
    put_aside(context, [*aside, *excluded])
    return len(staged)


def not_staged(context: RunContext, stream: Stream, aside: Sequence[SetAside]) -> tuple[list[SetAside], list[Row]]:
    """Records that were staged before there was a rule stay what they are: each id is in one class. They come as they
    are, so that this pass has met them too."""
    named = [one._replace(stream=one.stream or stream.name) for one in aside]
    ids = [one.source_id for one in named if one.why == "excluded" and one.stream == stream.name]
    known = context.store.known(stream.table, ids) if ids else ()
    before = context.store.get(stream.table, list(known)) if known else {}
    rows = [Row(key, one.payload, dict(decode_extras(one.extras))) for key, one in before.items()]
    return [one for one in named if one.why != "excluded" or one.source_id not in known], rows


def each_looked_at(
    context: RunContext, stream: Stream, rows: Sequence[Row], pulled: bool
) -> tuple[list[Staged], list[SetAside], dict[str, str]]:
    """All at once; where that fails one by one. A row that fails is staged as it came and counted as read in part, with
    the reason: sending it will fail as well, and the next run reads it again."""
    try:
        return *looked_at(context, stream, rows, pulled), {}
    except msgspec.DecodeError:
        why: str = say("record.unreadable")
    except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
        about = f"{stream.name} {', '.join(row.source_id for row in rows[:3])}"
        why = unexpected(context, bug, context.owner[stream.name].name, about).message
    if len(rows) == 1:
        extras = msgspec.json.encode(rows[0].extras, enc_hook=plain) if rows[0].extras else None
        row = Staged(rows[0].source_id, rows[0].payload, extras=extras, pulled_through=pulled)
        context.note(
            context.owner[stream.name].name, say("note.unreadable", stream=stream.name, id=row.row_key, why=why)
        )
        return [row], [], {row.row_key: why}
    staged: list[Staged] = []
    excluded: list[SetAside] = []
    odd: dict[str, str] = {}
    for one in rows:
        chosen, left_out, failed = each_looked_at(context, stream, [one], pulled)
        staged += chosen
        excluded += left_out
        odd |= failed
    return staged, excluded, odd


def looked_at(
    context: RunContext, stream: Stream, rows: Sequence[Row], pulled: bool
) -> tuple[list[Staged], list[SetAside]]:
    """What is to be staged and what a rule excludes; the files of the former are remembered."""
    looked = look(stream, [payload for _, payload, _ in rows])
    shown = [
        Seen(row.source_id, payload, row.extras or {})
        for row, payload in zip(rows, looked.shown, strict=True)
        if payload is not None
    ]
    why = {one.id: reason for one in shown if stream.exclude and (reason := stream.exclude(one))}
    for staged_before in context.store.known(stream.table, list(why)) if why else ():
        del why[staged_before]  # before there was such a rule: each id is in one class
    find_files(context, stream, [one for one in shown if one.id not in why])
    staged = as_staged(stream, rows, looked, context.options.timezone, pulled)
    excluded = [SetAside(stream.name, source_id, "excluded", reason) for source_id, reason in why.items()]
    return [one for one in staged if one.row_key not in why] if why else staged, excluded


def as_staged(stream: Stream, rows: Sequence[Row], looked: Looked, timezone: ZoneInfo, pulled: bool) -> list[Staged]:
    """By column, because a million records go through it."""
    ids, payloads, extras = zip(*rows, strict=True)
    hashes = [payload_hash(stream, one) for one in looked.whole] if stream.hashed else repeat(None)
    times = zip(*stamps(looked.stamps, timezone), strict=True)
    beside = (
        [msgspec.json.encode(one, enc_hook=plain) if one else None for one in extras] if any(extras) else repeat(None)
    )
    names = [str(one).strip().lower() if one else None for one in looked.naturals]
    columns = zip(ids, payloads, hashes, *times, beside, repeat(pulled), names)
    return list(map(Staged._make, columns))


def stamps(received: Sequence[Json], timezone: ZoneInfo) -> list[values.Stamp]:
    """Equal ones are read once: a portal's days and imports repeat."""
    known = {one: values.stamp(one, timezone) for one in {one for one in received if isinstance(one, str)}}
    return [known[one] if isinstance(one, str) else values.NO_TIME for one in received]


def find_files(context: RunContext, stream: Stream, looked: Sequence[Seen]) -> None:
    """Files are remembered once, by whoever meets them first."""
    if stream.files is None:
        return
    entity = context.owner[stream.name].name
    by = {"entity": entity, "stream": stream.name}
    found = {ref.key: {**ref._asdict(), **by} for one in looked for ref in stream.files(one)}
    if not found:
        return
    table = context.streams["files"].table
    known = context.store.known(table, list(found))
    staged = [
        Staged(key, msgspec.json.encode(found[key]))
        for key in sorted((found.keys() - known) | _to_mend(context, known))
    ]
    if staged:
        context.store.stage(table, staged, run=context.run, pass_no=0)


def _to_mend(context: RunContext, known: Collection[str]) -> set[str]:
    """Of the files that are remembered those that could not be fetched: what the source says now may be right."""
    table = context.streams["files"].table
    counts = context.store.counts(table) if known else {}
    if not (counts.get(Status.IMPORT_ERR) or counts.get(Status.ERROR_RETRY)):
        return set()
    failed = [
        one
        for one in context.store.get(table, sorted(known)).values()
        if one.status in (Status.IMPORT_ERR, Status.ERROR_RETRY)
    ]
    return {one.row_key for one in failed if not _is_fetched(one)}


def _is_fetched(record: Record) -> bool:
    """Whether its bytes are here."""
    try:
        return bool(msgspec.json.decode(record.payload, type=dict[str, Any]).get("sha256"))
    except msgspec.DecodeError:
        return False


def put_aside(context: RunContext, aside: Iterable[SetAside]) -> None:
    rows = [
        RegisterRow(f"{one.why}:{one.stream}:{one.source_id}", {"Why": one.why, "Reason": one.reason, "Name": one.name})
        for one in aside
    ]
    if rows:
        context.store.write(SET_ASIDE, rows)


def each_enriched(context: RunContext, stream: Stream, reading: Listing, rows: list[Row], *, gently: bool) -> list[Row]:
    """All at once; gently, some that fail are halved until the one is alone that is to blame."""
    try:
        return enriched(context, stream, reading, Page(rows=rows), gently=gently).rows
    except Transient as error:
        if not (gently and error.own and len(rows) > 1):
            raise
    half = len(rows) // 2
    return [
        *each_enriched(context, stream, reading, rows[:half], gently=True),
        *each_enriched(context, stream, reading, rows[half:], gently=True),
    ]


def enriched(context: RunContext, stream: Stream, reading: Listing, page: Page, *, gently: bool = False) -> Page:
    """Gently, one row that fails while the portal is well is kept as one of which the source does not tell everything:
    those behind it are not to wait for it."""
    if reading.enrich is None or not page.rows or not context.facts.grants(reading.enrich_scope):
        return page
    try:
        rows = _asked_about(context, stream, reading.enrich, page.rows)
    except Forbidden as error:
        raise error.gate from None
    except Permanent as error:
        if error.code in UNCLEAR and not (gently and len(page.rows) == 1):
            raise Transient(error.message, code=error.code, hint=error.hint, own=True) from None
        context.note(context.owner[stream.name].name, say("note.not_enriched", stream=stream.name, why=error.sentence))
        if error.code == NO_SUCH_METHOD:  # this portal does not have the method
            return page
        return replace(page, rows=[partial.refused(row, error) for row in page.rows])
    except Transient as error:
        if not (gently and error.own and len(page.rows) == 1):
            raise
        rows = [partial.refused(row, error) for row in page.rows]
    for row in rows:
        if row.extras and REFUSED in row.extras:
            context.note(context.owner[stream.name].name, f"{stream.name} {row.source_id}: {row.extras[REFUSED]}")
    return replace(page, rows=rows)


def _asked_about(
    context: RunContext, stream: Stream, enrich: Callable[[Source, Sequence[Row]], list[Row]], rows: Sequence[Row]
) -> list[Row]:
    """An answer that nobody thought of is an error of these rows."""
    try:
        return enrich(context.source, rows)
    except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
        about = f"{stream.name} {', '.join(row.source_id for row in rows[:3])}"
        raise unexpected(context, bug, context.owner[stream.name].name, about) from None


def alarm_empty(context: RunContext, stream: Stream, reading: PerParent, page: Page) -> None:
    """Children that must be there and are not: an alarm, never a silent success."""
    empty = [parent for parent, (_, got) in page.parents.items() if got == 0] if reading.empty_is_alarm else []
    for parent in empty:
        message = say("note.no_children", of=reading.of, id=parent, stream=stream.name, method=reading.method)
        context.note(context.owner[stream.name].name, message)


def numbered(page: Page, base: int) -> Page:
    log = [entry._replace(number=base + k) for k, entry in enumerate(page.log)]
    return replace(page, log=log)


def checkpoint(key: str, pass_no: Json, reported: int, retrieved: int) -> RegisterRow:
    return RegisterRow(key, {"Pass": int(pass_no), "Reported": reported, "Retrieved": retrieved})


_utc_text = lru_cache(maxsize=64)(values.utc_text)  # fifty pages come with one request


def log_row(stream: Stream, entry: PageEntry) -> RegisterRow:
    duration = entry.finished_at - entry.started_at
    return RegisterRow(
        f"{stream.name}:{entry.number}",
        {
            "PageSize": entry.page_size,
            "Retrieved": entry.retrieved,
            "ApiParamsHash": entry.params_hash,
            "StartedAtUtc": _utc_text(entry.started_at),
            "FinishedAtUtc": _utc_text(entry.finished_at),
            "DurationMs": round(duration.total_seconds() * 1000, 3),
        },
    )
