"""get: reads a listing from the source, page by page."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

from b24migrate.engine.phases import delta, moved
from b24migrate.engine.phases.context import Follow, Later, RunContext, walk
from b24migrate.engine.phases.enrichment import enrich_page
from b24migrate.engine.phases.hints import first_lane, known_with_hints
from b24migrate.engine.phases.parent_lanes import FULL_REQUEST, PAGES_OF_A_PARENT
from b24migrate.engine.phases.read_children import GENTLY_AFTER, estimate_prefix, gap_key, trusted_prefix
from b24migrate.engine.phases.stage import checkpoint_row, keep_page, number_pages
from b24migrate.model.errors import Limited, Transient
from b24migrate.model.events import Waited
from b24migrate.model.readings import Each, Gather, Listing, PerParent, Reading
from b24migrate.model.records import Args, Job, Page
from b24migrate.model.streams import Entity, Stream
from b24migrate.ports import CHANGES, CHECKPOINTS, DELETIONS, PAGE_LOG, SET_ASIDE, Register, RegisterRow

SLICE = 100  # rows of a page that are asked about at a time, after execution time ran out in the midst of it
SHORT = 2_400  # records of which all pages fit into one request
LONG_S = 30.0  # a longer wait is for execution time
# Of a job's args: the last row that was taken before, and whether few are asked about at a time.
DONE, SLOWLY = "done", "slowly"


def start(context: RunContext, scope: str, stream: Stream, pass_no: int, which: int = 0) -> list[Job]:
    """The first job of one of a stream's readings."""
    reading = context.reading(stream, which)
    args = {"stream": stream.name, "pass": pass_no} | ({"which": which} if which else {})
    if isinstance(reading, PerParent):
        return [Job(scope, "pack", {**args, "after": "", "n": first_lane(which)})]
    if delta.is_delta(context, stream, pass_no):
        numbers = {part.of: number for number, part in enumerate(delta.find_parts(context, stream), 1)}
        nets = [
            {"cursor": short_cursor(known or 0), "net": net}
            | ({"of": part.of, "n": numbers[part.of]} if part.of else {})
            for part, net, known in delta.find_nets(context, stream, pass_no)
        ]
        return [Job(scope, "read", {**args, **one}) for one in nets]
    if isinstance(reading, Each):
        return [
            Job(scope, "read", {**args, "cursor": {}, "of": parent.row_key, "n": number})
            for number, parent in enumerate(walk(context, context.streams[reading.of].table), 1)
            if not parent.deleted_utc
        ]
    return [Job(scope, "read", {**args, "cursor": first_cursor(context, stream, reading)})]


def first_cursor(context: RunContext, stream: Stream, reading: Reading) -> Args:
    """With the number that was there before."""
    known = isinstance(reading, Listing) and not context.options.test_limit
    return short_cursor(sum(context.store.counts(stream.table).values())) if known else {}


def short_cursor(known: int | None) -> Args:
    """The pages of a short listing share one request."""
    return {"known": known} if known and known < SHORT else {}


def forget_last_pass(context: RunContext, job: Job) -> Follow:
    entity = next(one for one in context.entities if one.name == job.args["entity"])
    mark, pass_no = f"~{entity.name}", int(job.args["pass"])
    done = context.store.read(CHECKPOINTS, mark)
    if done is not None and int(done.values["Pass"]) >= pass_no:
        return []
    chosen = delta.choose(context, entity, pass_no)
    for stream in entity.streams:
        moved.forget_moved(context, stream)
    begun = int(job.args.get("done", 0))
    for place, (register, prefix) in enumerate(list(_pass_registers(entity, chosen))[begun:], begun):
        if place > begun and context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "done": place})]
        context.store.erase(register, prefix)
    context.store.write(CHECKPOINTS, [RegisterRow(mark, {"Pass": pass_no})])
    return []


def _pass_registers(entity: Entity, chosen: Mapping[str, delta.StreamPass]) -> Iterator[tuple[Register, str]]:
    """Data that a delta pass does not read again stays unchanged."""
    for stream in (*entity.aids, *entity.streams):
        yield PAGE_LOG, f"{stream.name}:"
        yield from ((DELETIONS, f"{why}:{stream.name}:") for why in ("gone", "doubtful", "refused", "excused"))
        yield from ((CHANGES, f"{what}:{stream.name}:") for what in ("differs", "absent", "lost", "settled"))
        if chosen[stream.name].delta:
            continue
        yield CHECKPOINTS, f"{stream.name}:"
        yield from ((CHECKPOINTS, prefix(stream)) for prefix in (estimate_prefix, trusted_prefix, gap_key))
        if not (chosen[stream.name].listed and any(isinstance(one, PerParent) for one in stream.read)):
            yield from ((SET_ASIDE, f"{why}:{stream.name}:") for why in ("excluded", "impossible"))


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
    net = str(job.args.get("net", ""))
    if net and isinstance(reading, Listing):
        part = delta.Part(reading, prefix, str(job.args.get("of", "")))
        reading = delta.narrow(part, net, delta.this_pass(context, stream, int(job.args["pass"])))
    if isinstance(reading, Listing):
        reading = select_custom_fields(context, stream, reading)
    again = reading.again if isinstance(reading, Gather) else None
    if again and delta.this_pass(context, stream, int(job.args["pass"])).listed:
        page = again(context.source, job.args["cursor"], known_with_hints(context, stream, int(job.args["pass"])))
    else:
        page = context.source.page(reading, job.args["cursor"], limit=context.options.test_limit, gently=gently)

    def kept(some: Page) -> None:
        named = prefix_ids(some, prefix, int(job.args["n"])) if prefix else some
        if net in (delta.IDS, delta.OLD):  # sending may have staged one of them before
            moved.note_anew(context, stream, [row.source_id for row in named.rows], int(job.args["pass"]))
        keep_page(context, stream, named, int(job.args["pass"]))

    if isinstance(reading, Listing) and reading.enrich is not None:
        size = FULL_REQUEST if gently else reading.enrich.at_once(context.source)

        def take(some: Page) -> None:
            kept(enrich_page(context, stream, reading, some, gently=gently))

        interrupted = take_in_slices(context, job, page, size, take, gently=gently)
        if interrupted:
            return [interrupted]
    else:
        kept(page)
    if page.reported is not None and not net:
        key = f"{stream.name}:{prefix}" if prefix else stream.name
        context.store.write(CHECKPOINTS, [checkpoint_row(key, job.args["pass"], page.reported, 0)])
    args = {name: value for name, value in job.args.items() if name != DONE}
    return [Job(job.scope, "read", {**args, "cursor": cursor}) for cursor in page.next]


def take_in_slices(
    context: RunContext, job: Job, page: Page, size: int, take: Callable[[Page], None], *, gently: bool
) -> Job | Later | None:
    """Takes the rows of a page: so many at once, 0 being all, and fewer once a limit came in the midst of that. Further
    questions about a page may be more than a limit allows at one go: if it started again each time, it would never be
    done. Gently, some that fail are halved until the one is alone that is to blame. Returns the job that goes on behind
    what was taken."""
    ids = [row.source_id for row in page.rows]
    done = str(job.args.get(DONE, ""))
    rows = page.rows[ids.index(done) + 1 :] if done in ids else page.rows
    most = int(job.args.get(SLOWLY, 0))
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
                args[SLOWLY] = SLICE if size > SLICE else smaller_slice(len(some))
            if args == job.args:
                raise
            context.tell(Waited(job.scope, limit.method or "batch", limit.wait_s))
            onward = Job(job.scope, job.kind, args, failures=job.failures)
            return Later(onward, context.clock.now() + timedelta(seconds=limit.wait_s))
        done = some[-1].source_id if some else done
        if gently and slices and context.time_is_up():
            return Job(job.scope, job.kind, {**job.args, DONE: done}, failures=job.failures)
    return None


def smaller_slice(tried: int) -> int:
    """The number of rows to request details of at a time, after a limit interrupted so many. Execution time is restored
    minute by minute: a request that needs more than a minute's share would be restarted forever."""
    return max(1, tried // 10)


def select_custom_fields(context: RunContext, stream: Stream, reading: Listing) -> Listing:
    """With the custom fields that only come when they are named."""
    if not reading.select:
        return reading
    chosen = [*reading.params.get(reading.select, ()), *context.known(stream).custom()]
    return replace(reading, params={**reading.params, reading.select: chosen})


def prefix_ids(page: Page, prefix: str, number: int) -> Page:
    rows = [row._replace(source_id=f"{prefix}:{row.source_id}") for row in page.rows]
    return replace(number_pages(page, number * PAGES_OF_A_PARENT), rows=rows)
