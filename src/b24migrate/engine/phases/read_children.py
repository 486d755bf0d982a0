"""get: reads the children of parents, several parents at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from zlib import crc32

import msgspec

from b24migrate.engine.phases import tails
from b24migrate.engine.phases.context import Follow, RunContext, decode_payload, decode_readable, walk
from b24migrate.engine.phases.delta import is_delta
from b24migrate.engine.phases.enrichment import enrich_children
from b24migrate.engine.phases.hints import PAGES_OF_A_READING, rest_jobs
from b24migrate.engine.phases.newest_lists import leave_known_lists
from b24migrate.engine.phases.parent_lanes import (
    FULL_REQUEST,
    PACK_PARENTS,
    PAGES_OF_A_PARENT,
    expected_children,
    find_reading,
    walk_args,
)
from b24migrate.engine.phases.stage import checkpoint_row, keep_page, number_pages
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError
from b24migrate.model.readings import ANY, Alias, Named, PerParent, Progress, Twins
from b24migrate.model.records import (
    Job,
    Json,
    Page,
    Row,
    SetAside,
    marked_span,
    order_key,
)
from b24migrate.model.source_records import SourceRecord, person_name
from b24migrate.model.streams import Stream
from b24migrate.ports import ALIASES, CHECKPOINTS, SET_ASIDE, RegisterRow

GENTLY_AFTER = 2  # failures of a request before its pages are read one by one
ENOUGH = 1_000  # children: twenty requests to ask about each
ENOUGH_PARENTS = 2 * FULL_REQUEST  # of one webhook
Cursor = Sequence[Json]  # of a parent: its ID and how far its children are read
AGAIN = "again"  # how often a job was restarted, each time with more names known


# ---------------------------------------------------------------- one request


def children(context: RunContext, job: Job) -> Follow:
    """One request for the children of several parents, or a few; the cursor of each is its checkpoint."""
    stream = context.streams[job.args["stream"]]
    reading = find_reading(context, job)
    wanted: Sequence[Cursor] = job.args["parents"]
    if any(job.args.get(name) != way for name, way in walk_args(reading).items()):
        wanted = [[one, 0, 0] for one, *_ in wanted]  # started by a version that walked the other way
    gently = job.failures >= GENTLY_AFTER
    page, progress, rest = ask_parents(context, reading, wanted, gently=gently)
    parents = {one.parent.id: one.parent for one in progress}
    page = leave_known_lists(context, job, reading, progress, page)
    page = add_unlisted(context, reading, parents, page)
    told = resolve_parents(context, stream, reading, page, parents)
    if told is None:
        return [Job(job.scope, job.kind, {**job.args, AGAIN: int(job.args.get(AGAIN, 0)) + 1})]
    page = number_pages(set_twins_aside(context, stream, reading, told), int(job.args["n"]))
    unreadable = {one.source_id for one in page.aside}  # stated as impossible, so neither reported nor drift
    partly = {one.parent.id: find_walked(one, page) for one in progress if one.floor}
    kept = tails.without_same(context, stream, page.rows, partly) if partly else page.rows
    told_of = enrich_children(context, stream, reading, replace(page, rows=kept), int(job.args["pass"]), gently=gently)
    keep_page(context, stream, told_of, int(job.args["pass"]))
    context.store.write(
        CHECKPOINTS,
        [
            checkpoint_row(f"{stream.name}:{parent}", job.args["pass"], reported, got)
            for parent, (reported, got) in page.parents.items()
            if reported is not None and parent not in unreadable
        ]
        + [
            checkpoint_row(f"{estimate_prefix(stream)}{parent}", job.args["pass"], estimate, got)
            for parent, (reported, got) in page.parents.items()
            if reported is None
            and parent not in unreadable
            and parent not in partly
            and (estimate := expected_children(reading, parents[parent])) not in (None, got)
            and not context.options.test_limit
        ],
    )
    forget_refusals(context, stream, [one for one in page.parents if one not in unreadable], int(job.args["pass"]))
    note_empty_parents(context, stream, reading, page)
    with_children = [parents[one] for one, (_, got) in page.parents.items() if got]
    further = proof_jobs(context, job, stream, page) + rest_jobs(context, job, stream, reading, with_children)
    further += tail_jobs(context, job, {one: parents[one] for one in page.parents if one not in unreadable}, partly)
    left = [*cursors(page.next), *rest, *cursors(page.last)]
    args = {name: value for name, value in job.args.items() if name != AGAIN}
    args |= {"parents": left, "n": int(job.args["n"]) + len(page.log), **walk_args(reading)}
    further += [
        Job(job.scope, "children", {**args, "parents": [one], **own_page_numbers(job, one)})
        for one in cursors(page.apart)
    ]
    return [Job(job.scope, "children", args), *further] if left else further


def ask_parents(
    context: RunContext, reading: PerParent, wanted: Sequence[Cursor], *, gently: bool
) -> tuple[Page, list[Progress], Sequence[Cursor]]:
    """One request: its rows, the parents that were looked up for it, and the others. If another method returns details
    of each child, several requests are made, so that many details are requested together."""
    one_page = bool(context.options.test_limit)
    asked, rest = look_up_parents(context, reading, wanted)
    page = context.source.children(reading, asked, one_page=one_page, gently=gently)
    while reading.enrich and len(page.rows) < ENOUGH and not (gently or context.time_is_up()):
        left, others = look_up_parents(context, reading, [*cursors(page.next), *rest, *cursors(page.last)])
        if not left:
            break
        try:
            more = context.source.children(reading, left, one_page=one_page)
        except MigrationError:
            break  # the job that follows meets it again, and no page is lost
        known = {one.parent.id for one in asked}
        asked += [one for one in left if one.parent.id not in known]
        page, rest = join_pages(page, more), others
    return page, asked, rest


def look_up_parents(
    context: RunContext, reading: PerParent, wanted: Sequence[Cursor]
) -> tuple[list[Progress], list[Cursor]]:
    """The parents that the next request of each webhook has room for, and some that wait; the others stay cursors. All
    parents of a lane together may be a hundred times as large as what a request brings of them."""
    chosen: list[Progress] = []
    rest: list[Cursor] = []
    taken: Counter[int] = Counter()
    owners = context.source.owners
    for start in range(0, len(wanted), ENOUGH_PARENTS):
        some = wanted[start : start + ENOUGH_PARENTS]
        if len(chosen) >= ENOUGH_PARENTS * max(1, len(owners)):
            rest += wanted[start:]
            break
        parents = context.lookup(reading.of, [one[0] for one in some])
        for one in some:
            if one[0] not in parents:
                continue
            progress = Progress(parents[one[0]], *map(int, one[1:]))
            via = progress.via if progress.via >= 0 else reading.webhooks.first(progress.parent, owners)
            if taken[via] < ENOUGH_PARENTS:
                taken[via] += 1
                chosen.append(progress)
            else:
                rest.append(one)
    return chosen, rest


def join_pages(page: Page, more: Page) -> Page:
    """With what the request after it brought."""
    return Page(
        rows=[*page.rows, *more.rows],
        next=more.next,
        last=more.last,
        log=[*page.log, *number_pages(more, len(page.log)).log],
        aside=[*page.aside, *more.aside],
        alarms=[*page.alarms, *more.alarms],
        parents={**page.parents, **more.parents},
        trusted=[*page.trusted, *more.trusted],
        gap=more.gap,
        apart=[*page.apart, *more.apart],
        totals={**page.totals, **more.totals},
    )


def cursors(reached: Sequence[Mapping[str, Json]]) -> list[list[Json]]:
    names = Progress._fields[1:]
    return [[one["id"], *(one[name] for name in names if name in one)] for one in reached]


def own_page_numbers(job: Job, parent: Sequence[Json]) -> dict[str, Json]:
    """Page numbers for one parent, in the upper half of its lane's."""
    lane = int(job.args["n"]) // PAGES_OF_A_PARENT * PAGES_OF_A_PARENT
    return {"n": lane + PAGES_OF_A_PARENT // 2 + crc32(str(parent[0]).encode()) % 4_000 * 100}


def forget_refusals(context: RunContext, stream: Stream, parents: Sequence[str], pass_no: int) -> None:
    """For parents that could be read. A full pass starts without any."""
    prefix = f"impossible:{stream.name}:"
    if is_delta(context, stream, pass_no) and context.store.count(SET_ASIDE, prefix):
        context.store.discard(SET_ASIDE, [f"{prefix}{one}{rest}" for one in parents for rest in ("", ":*")])


def note_empty_parents(context: RunContext, stream: Stream, reading: PerParent, page: Page) -> None:
    """Children that must be there and are not: an alarm, never a silent success."""
    empty = [parent for parent, (_, got) in page.parents.items() if got == 0] if reading.empty_is_alarm else []
    for parent in empty:
        message = say("note.no_children", of=reading.of, id=parent, stream=stream.name, method=reading.method)
        context.note(context.owner[stream.name].name, message)


def add_unlisted(context: RunContext, reading: PerParent, parents: Mapping[str, SourceRecord], page: Page) -> Page:
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


def set_twins_aside(context: RunContext, stream: Stream, reading: PerParent, page: Page) -> Page:
    """Sets those aside that were read before, in another place where the portal keeps them."""
    if reading.twins is None:
        return page
    rows: list[Row] = []
    aside = list(page.aside)
    siblings: dict[str, list[SourceRecord]] = {}
    for row in page.rows:
        parent = row.source_id.rpartition(":")[0]
        if parent not in siblings:
            span = marked_span(parent, reading.twins.mark)
            there = (one for one in walk(context, stream.table, span) if not one.deleted_utc)
            siblings[parent] = decode_readable(there, stream)
        twin = _find_twin(stream, reading.twins, row, siblings[parent])
        if twin is None:
            rows.append(row)
        else:
            siblings[parent].remove(twin)
            aside.append(SetAside(stream.name, row.source_id, "excluded", say("skip.twin", id=twin.id), twin.id))
    return replace(page, rows=rows, aside=aside)


def _find_twin(stream: Stream, twins: Twins, row: Row, siblings: Sequence[SourceRecord]) -> SourceRecord | None:
    """None where the record makes no sense: sending it will say so."""
    try:
        one = SourceRecord(row.source_id, decode_payload(stream, row.payload), row.extras or {})
        return next((other for other in siblings if twins.same(one, other)), None)
    except (msgspec.DecodeError, ValueError, TypeError, KeyError, AttributeError):
        return None


# ---------------------------------------------------------------- the end of a walk


def proof_jobs(context: RunContext, job: Job, stream: Stream, page: Page) -> list[Job]:
    """Parents whose end was taken from a page that was not full are noted. As soon as such a page has proven not to be
    the last one, they are all read again, by any process, to an empty page."""
    if page.trusted:
        rows = [
            RegisterRow(f"{trusted_prefix(stream)}{parent}", {"Pass": int(job.args["pass"])}) for parent in page.trusted
        ]
        context.store.write(CHECKPOINTS, rows)
    if not (page.trusted or page.gap):
        return []
    args = {name: job.args[name] for name in ("stream", "pass", "which") if name in job.args}
    if context.store.read(CHECKPOINTS, gap_key(stream)) is None:
        return [Job(job.scope, "prove", args)] if page.gap else []
    return full_walk_jobs(job.scope, args, page.trusted)


def prove(context: RunContext, job: Job) -> Follow:
    """The note that there are gaps comes first: who trusts a page afterwards sees it, who did before is found here."""
    stream = context.streams[job.args["stream"]]
    context.store.write(CHECKPOINTS, [RegisterRow(gap_key(stream), {"Pass": int(job.args["pass"])})])
    prefix = trusted_prefix(stream)
    return full_walk_jobs(
        job.scope, job.args, [row.key.removeprefix(prefix) for row in context.store.rows(CHECKPOINTS, prefix)]
    )


def full_walk_jobs(scope: str, args: Mapping[str, Json], parents: Sequence[str]) -> list[Job]:
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


def find_walked(one: Progress, page: Page) -> tails.Walked:
    """Nothing where the walk began in an earlier request, or has not ended."""
    _, got = page.parents.get(one.parent.id, (None, 0))
    if one.got or not got:
        return tails.Walked()
    whose = f"{one.parent.id}:"
    ids = sorted(tails.number_of(row.source_id) for row in page.rows if row.source_id.startswith(whose))
    return tails.Walked(ids[-got], frozenset(ids))


def tail_jobs(
    context: RunContext, job: Job, ended: Mapping[str, SourceRecord], partly: Mapping[str, tails.Walked]
) -> list[Job]:
    """For parents of which a part of the children was read, and that tell no number to compare."""
    stream, reading = context.streams[job.args["stream"]], find_reading(context, job)
    which, pass_no = int(job.args.get("which", 0)), int(job.args["pass"])
    whole = tails.close(context, stream, reading, ended, partly=partly, which=which, pass_no=pass_no)
    args = {name: job.args[name] for name in ("stream", "pass", "which") if name in job.args}
    return full_walk_jobs(job.scope, args, whole)


def trusted_prefix(stream: Stream) -> str:
    """Before the keys of checkpoints: parents whose last page was taken for the end because it was not full."""
    return f"trusted:{stream.name}:"


def gap_key(stream: Stream) -> str:
    return f"gap:{stream.name}:"


def estimate_prefix(stream: Stream) -> str:
    """Before the keys of checkpoints: parents whose own counter says another number than they have."""
    return f"estimate:{stream.name}:"


# ---------------------------------------------------------------- other names of a parent


def resolve_parents(
    context: RunContext, stream: Stream, reading: PerParent, page: Page, parents: Mapping[str, SourceRecord]
) -> Page | None:
    """The children with the ID of their parent, if they carry only another name of it; None if time was up before all
    names were known."""
    alias = reading.keys.alias if reading.keys else None
    names = [_parent_name(alias, row) if alias else "" for row in page.rows]
    if alias is None or not any(names):
        return page
    whose = [parents[(row.extras or {})["of"]] for row in page.rows]
    owners, first = context.source.owners, reading.webhooks.first
    seen_by = {name: first(parent, owners) for name, parent in zip(names, whose, strict=True) if name}
    known = look_up_names(context, stream, alias, seen_by)
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
            aside.append(SetAside(stream.name, row.source_id, "impossible", one.why, person_name(parent)))
    return replace(page, rows=rows, aside=aside)


def _parent_name(alias: Alias, row: Row) -> str:
    """Nothing where the record makes no sense: sending it will say so."""
    try:
        return alias.of(msgspec.json.decode(row.payload))
    except (msgspec.DecodeError, ValueError, TypeError, KeyError, AttributeError):
        return ""


def look_up_names(
    context: RunContext, stream: Stream, alias: Alias, seen_by: Mapping[str, int]
) -> dict[str, Named] | None:
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
