"""The end of a get: what the source reported against what was retrieved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from b24migrate.engine.phases.context import WALKED_AT_ONCE, Follow, RunContext, decode_record, walk, walk_rows
from b24migrate.engine.phases.delta import (
    CHILDREN,
    Part,
    add_filter,
    count_of,
    find_parts,
    find_way,
    is_delta,
    note_highest,
    this_pass,
    total_command,
)
from b24migrate.engine.phases.found import note_found
from b24migrate.engine.phases.read_children import estimate_prefix
from b24migrate.engine.phases.stage import write_set_aside
from b24migrate.messages import Message, say
from b24migrate.model import values
from b24migrate.model.readings import Each, Keyset, Listing, PerParent
from b24migrate.model.records import (
    Job,
    Record,
    SetAside,
    Span,
    children_between,
    children_span,
    deleted_counter,
    order_key,
)
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Entity, Stream
from b24migrate.ports import CHECKPOINTS, INVENTORY, PAGE_LOG, SET_ASIDE, RegisterRow

MOST_COUNTED = 100_000  # set aside by name; beyond that only their number is noted
HANDFUL = 5  # so many may always be gone
LOOKED_AT = 200  # records at a time
LONGEST_NAME = 80
MOST_NAMED = 1_000  # in a note, of those that have the same reason


class Inventory(NamedTuple):
    """The numbers of one full pass over a stream. `reported` is None if the source gives no total."""

    reported: int | None
    retrieved: int
    limited: bool

    @property
    def drift(self) -> int:
        """A limited get has none."""
        return 0 if self.reported is None or self.limited else self.reported - self.retrieved


def close(context: RunContext, job: Job) -> Follow:
    """Counts the records met on the way in a job of its own: counted again after the walk, they would count twice."""
    entity = next(one for one in context.entities if one.name == job.args["entity"])
    after = job.args.get("after")
    if after is None:
        note_highest(context, entity, int(job.args["pass"]))
        for stream in entity.streams:
            write_inventory(context, entity, stream, int(job.args["pass"]), last=bool(job.args.get("again")))
            note_set_aside(context, entity, stream)
        note_found(context, entity)
        return [Job(job.scope, job.kind, {**job.args, "after": ""})] if entity.unreadable_by else []
    left = note_unavailable(context, entity, after)
    return [Job(job.scope, job.kind, {**job.args, "after": left})] if left else []


def note_unavailable(context: RunContext, entity: Entity, after: str) -> str:
    """Notes what is known to exist and cannot be read. Returns where it goes on when time is up, or nothing."""
    of = context.streams[entity.unreadable_by]
    counts: Counter[str] = Counter()
    names: dict[str, list[str]] = {}
    while True:
        records = context.store.records(of.table, Span(after), WALKED_AT_ONCE)
        end = order_key(records[-1].row_key) if len(records) == WALKED_AT_ONCE else ""
        found = list(find_unavailable(context, entity, of, records, children_between(after, end)))
        write_set_aside(context, found)
        for one in found:
            counts[one.reason] += 1
            if counts[one.reason] <= MOST_NAMED:
                names.setdefault(one.reason, []).append(_short(one.name or one.source_id))
        after = end
        if not end or context.time_is_up():
            break
    for reason, count in sorted(counts.items()):
        context.note(entity.name, say("note.those", what=reason, count=count, names=names[reason]))
    return after


def find_unavailable(
    context: RunContext, entity: Entity, of: Stream, records: Sequence[Record], children: Span
) -> Iterable[SetAside]:
    def shown(name: str) -> Iterator[SourceRecord]:
        stream = context.streams[name]
        return (
            decode_record(one, stream)
            for one in (records if stream is of else walk(context, stream.table, children))
            if not one.deleted_utc
        )

    readings = [context.reading(stream) for stream in entity.streams]
    return entity.unreadable(context.source, shown, readings) if entity.unreadable else ()


def write_inventory(context: RunContext, entity: Entity, stream: Stream, pass_no: int, *, last: bool) -> None:
    """`last`: a drift of a delta pass was looked into before. The first time it may only be that records came or went
    after they were counted by range."""
    reading = context.reading(stream)
    found = Inventory(
        count_reported(context, stream, pass_no),
        count_retrieved(context, stream, pass_no),
        bool(context.options.test_limit),
    )
    if found.drift and isinstance(reading, Listing) and not is_delta(context, stream, pass_no):
        # Rows may have come or gone while the pages were read: the portal is asked once more before it is called drift.
        found = found._replace(reported=context.source.count(reading))
    if found.drift and (last or not is_delta(context, stream, pass_no)):
        message = say("note.drift", stream=stream.name, reported=found.reported, retrieved=found.retrieved)
        context.note(entity.name, message, "error")
    if kept := count_kept(context, stream, pass_no):
        context.note(entity.name, say("note.not_shown", stream=stream.name, count=kept))
    note_estimates(context, entity, stream)
    now = values.utc_text(context.clock.now())
    latest = [
        row._replace(values={**row.values, "IsLatest": 0})
        for row in context.store.rows(INVENTORY, prefix=f"{stream.name}:")
        if row.values.get("IsLatest")
    ]
    pages = context.store.count(PAGE_LOG, f"{stream.name}:")
    row = {
        "Stream": stream.name,
        "SnapshotUtc": now,
        "ReportedTotal": found.reported,
        "RetrievedTotal": found.retrieved,
        "PageCount": pages,
        "SourceMethod": reading.method,
        "IsLatest": 1,
        "Limited": int(found.limited),
    }
    context.store.write(INVENTORY, [*latest, RegisterRow(f"{stream.name}:{now}", row)])


def find_drifted(context: RunContext, entity: Entity, pass_no: int) -> list[Stream]:
    """The streams whose records a delta pass counted by range, and whose total is another by now."""
    drifted = []
    for stream in entity.streams:
        if is_delta(context, stream, pass_no) and find_way(context, stream) != CHILDREN:
            latest = [
                row.values for row in context.store.rows(INVENTORY, f"{stream.name}:") if row.values.get("IsLatest")
            ]
            if any(one["ReportedTotal"] != one["RetrievedTotal"] for one in latest):
                drifted.append(stream)
    return drifted


def note_estimates(context: RunContext, entity: Entity, stream: Stream) -> None:
    """Counters that portals keep next to their records are not exact and prove nothing (bitrix24-rest-1 §D3)."""
    parents = context.store.count(CHECKPOINTS, estimate_prefix(stream))
    if parents:
        reported, read = (
            int(context.store.total(CHECKPOINTS, estimate_prefix(stream), one) or 0)
            for one in ("Reported", "Retrieved")
        )
        message = say("note.counters", stream=stream.name, reported=reported, retrieved=read, count=parents)
        context.note(entity.name, message, "info")


def count_reported(context: RunContext, stream: Stream, pass_no: int) -> int | None:
    """The total of a listing's first page; for children the sum of their parents' counters."""
    if is_delta(context, stream, pass_no) and find_way(context, stream) != CHILDREN:
        return count_now(context, stream, pass_no)
    if not isinstance(context.reading(stream), PerParent | Each):
        row = context.store.read(CHECKPOINTS, stream.name)
        return None if row is None or row.values["Pass"] != pass_no else int(row.values["Reported"])
    reported = context.store.total(CHECKPOINTS, f"{stream.name}:", "Reported")  # a full pass begins without any
    return None if reported is None else int(reported)


def count_now(context: RunContext, stream: Stream, pass_no: int) -> int | None:
    """The number that the portal reports up to the highest known ID. New records above it are ignored."""
    highest = this_pass(context, stream, pass_no).highest
    total, left = 0, list[Listing]()
    for part in find_parts(context, stream):
        last = highest.get(part.prefix, 0)
        if not last:  # nothing was known
            continue
        counted = context.store.read(CHECKPOINTS, counted_key(stream, part))
        if counted is not None and counted.values["Pass"] == pass_no and counted.values["Retrieved"] == last:
            total += int(counted.values["Reported"])
            continue
        paging = part.listing.paging
        assert isinstance(paging, Keyset)  # noqa: S101 (what a delta is chosen for)
        left.append(add_filter(part.listing, paging, {f"<={paging.id}": last}))
    return total + sum(map(count_of, context.source.batch(list(map(total_command, left)))))


def counted_key(stream: Stream, part: Part) -> str:
    """Of the checkpoint with what the portal counted, by range, up to an id."""
    return f"counted:{stream.name}:{part.of}"


def count_retrieved(context: RunContext, stream: Stream, pass_no: int) -> int:
    """Each record once, however many pages showed it, and those that a rule excludes; without those that are deleted.
    What an earlier pass read and may only be hidden counts as read. A limited get asks only for what is not staged yet,
    so there everything staged counts."""
    if context.options.test_limit:
        staged = sum(context.store.counts(stream.table).values()) - count_deleted(context, stream)
        return staged + count_set_aside(context, stream.name, "excluded")
    shown = count_in_pass(context, stream, pass_no) + count_kept(context, stream, pass_no)
    return shown + count_set_aside(context, stream.name, "excluded")


def count_in_pass(context: RunContext, stream: Stream, pass_no: int) -> int:
    """How many records of the stream a pass has met so far; what a delta does not read counts as met."""
    if is_delta(context, stream, pass_no):
        return sum(context.store.counts(stream.table).values()) - count_deleted(context, stream)
    name = pass_counter(stream, pass_no)
    return int(context.store.counters(name).get(name, 0))


def count_deleted(context: RunContext, stream: Stream) -> int:
    """How many of its records are deleted at the source."""
    name = deleted_counter(stream.table)
    return int(context.store.counters(name).get(name, 0))


def count_unshown(context: RunContext, stream: Stream, pass_no: int) -> int:
    """How many were staged before, and are neither shown by this pass nor known to be deleted."""
    staged = sum(context.store.counts(stream.table).values())
    return staged - count_in_pass(context, stream, pass_no) - count_deleted(context, stream)


def count_kept(context: RunContext, stream: Stream, pass_no: int) -> int:
    """How many an earlier pass read and this one did not show, because the portal answers the same for a deleted record
    and for a hidden one; and their children. None where so many are gone that the webhook may have lost rights."""
    of = stream if stream.deletions.unprovable else context.streams.get(stream.parent)
    if of is None or not of.deletions.unprovable or count_unshown(context, stream, pass_no) <= 0:
        return 0
    gone = count_unshown(context, of, pass_no)
    if is_many(context, gone, gone + count_in_pass(context, of, pass_no)):
        return 0
    if of is stream:
        return gone
    hidden = walk_unshown(context, of, Span(), pass_no)
    return sum(1 for one in hidden for _ in walk_unshown(context, stream, children_span(one.row_key), pass_no))


def walk_unshown(context: RunContext, stream: Stream, span: Span, pass_no: int) -> Iterator[Record]:
    while records := context.store.by_pass(stream.table, span, LOOKED_AT, pass_no=pass_no, shown=False):
        yield from records
        span = span._replace(lo=order_key(records[-1].row_key))


def is_many(context: RunContext, gone: int, known: int) -> bool:
    return gone > HANDFUL and gone * 100 > context.options.deletions_limit * known


def pass_counter(stream: Stream, pass_no: int) -> str:
    return f"seen:{stream.table.name}:{pass_no}"


def count_set_aside(context: RunContext, stream: str, why: str) -> int:
    return context.store.count(SET_ASIDE, f"{why}:{stream}:")


def staged_records(context: RunContext, stream: str) -> Iterator[SourceRecord]:
    return (decode_record(record, context.streams[stream]) for record in walk(context, context.streams[stream].table))


def note_set_aside(context: RunContext, entity: Entity, stream: Stream) -> None:
    """Excluded records by rule, and unreadable ones by user."""
    note_excluded(context, entity, stream)
    if context.store.count(SET_ASIDE, f"impossible:{stream.name}:") > MOST_COUNTED:
        return
    found = walk_rows(context, SET_ASIDE, f"impossible:{stream.name}:")
    rows = [row.values for row in found if row.values.get("Name")]
    for reason, group in Counter(row["Reason"] or "" for row in rows).most_common():
        names = Counter(str(row["Name"]) for row in rows if row["Reason"] == reason).most_common()
        examples = [f"{_short(name)} {count}" for name, count in names]
        context.note(
            entity.name, say("note.stream_those", stream=stream.name, what=reason, count=group, names=examples)
        )


def note_excluded(context: RunContext, entity: Entity, stream: Stream) -> None:
    """Those with a name repeat another record, each its own."""
    if count_set_aside(context, stream.name, "excluded") > MOST_COUNTED:
        return
    rows = (row.values for row in walk_rows(context, SET_ASIDE, f"excluded:{stream.name}:"))
    for rule, count in sorted(Counter(row["Reason"] or "" for row in rows if not row.get("Name")).items()):
        level = "warning" if stream.unsure and _key(rule) == stream.unsure else "info"
        context.note(entity.name, say("note.by_rule", stream=stream.name, count=count, why=rule), level)


def _key(rule: str) -> str:
    """Of a rule that an earlier version kept, none."""
    return rule.key if isinstance(rule, Message) else ""


def _short(name: str) -> str:
    """A note is read again and again, and a name may have a million letters."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
