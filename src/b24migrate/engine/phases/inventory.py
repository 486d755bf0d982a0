"""The end of a get: what the source reported against what was retrieved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from b24migrate.engine.phases.context import WALKED_AT_ONCE, Follow, Work, seen, walk
from b24migrate.engine.phases.read import estimates, put_aside
from b24migrate.messages import Message, say
from b24migrate.model import values
from b24migrate.model.records import Job, Record, SetAside, Span, children_between, order_key
from b24migrate.model.streams import Each, Entity, Listing, PerParent, Seen, Stream
from b24migrate.ports import CHECKPOINTS, INVENTORY, PAGE_LOG, SET_ASIDE, RegisterRow

MOST_COUNTED = 100_000  # set aside by name; of more than that only the number is told
LONGEST_NAME = 80
TOLD_AND_READ = ("Reported", "Retrieved")


class Inventory(NamedTuple):
    """What one full pass over a stream found. `reported` is None where the source gives no total."""

    reported: int | None
    retrieved: int
    limited: bool = False

    @property
    def drift(self) -> int:
        """A limited get has none."""
        return 0 if self.reported is None or self.limited else self.reported - self.retrieved


def close(work: Work, job: Job) -> Follow:
    """What was met is told by a job of its own: were it told again after the walk, what the walk finds would be told
    twice."""
    entity = next(one for one in work.entities if one.name == job.args["entity"])
    after = job.args.get("after")
    if after is None:
        for stream in entity.streams:
            take_stock(work, entity, stream, int(job.args["pass"]))
            tell_set_aside(work, entity, stream)
        return [Job(job.scope, job.kind, {**job.args, "after": ""})] if entity.unreadable_by else []
    left = look_through(work, entity, after)
    return [Job(job.scope, job.kind, {**job.args, "after": left})] if left else []


def look_through(work: Work, entity: Entity, after: str) -> str:
    """Notes what is known to exist and cannot be read. Returns where it goes on when time is up, or nothing."""
    of = work.streams[entity.unreadable_by]
    aside: list[SetAside] = []
    while True:
        records = work.store.records(of.table, Span(after), WALKED_AT_ONCE)
        end = order_key(records[-1].row_key) if len(records) == WALKED_AT_ONCE else ""
        aside += unreadable_of(work, entity, of, records, children_between(after, end))
        after = end
        if not end or work.time_is_up():
            break
    note_unreadable(work, entity, aside)
    return after


def unreadable_of(
    work: Work, entity: Entity, of: Stream, records: Sequence[Record], children: Span
) -> Iterable[SetAside]:
    def shown(name: str) -> Iterator[Seen]:
        stream = work.streams[name]
        return (seen(one, stream) for one in (records if stream is of else walk(work, stream.table, children)))

    readings = [work.reading(stream) for stream in entity.streams]
    return entity.unreadable(work.source, shown, readings) if entity.unreadable else ()


def take_stock(work: Work, entity: Entity, stream: Stream, pass_no: int) -> None:
    reading = work.reading(stream)
    found = Inventory(reported(work, stream, pass_no), retrieved(work, stream, pass_no), bool(work.options.test_limit))
    if found.drift and isinstance(reading, Listing):
        # Rows may have come or gone while the pages were read: the portal is asked once more before it is called drift.
        found = found._replace(reported=work.source.count(reading))
    if found.drift:
        message = say("note.drift", stream=stream.name, reported=found.reported, retrieved=found.retrieved)
        work.note(entity.name, message, "error")
    tell_estimates(work, entity, stream)
    now = values.utc_text(work.clock.now())
    latest = [
        row._replace(values={**row.values, "IsLatest": 0})
        for row in work.store.rows(INVENTORY, prefix=f"{stream.name}:")
        if row.values.get("IsLatest")
    ]
    pages = work.store.count(PAGE_LOG, f"{stream.name}:")
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
    work.store.write(INVENTORY, [*latest, RegisterRow(f"{stream.name}:{now}", row)])


def tell_estimates(work: Work, entity: Entity, stream: Stream) -> None:
    """Counters that portals keep next to their records are not exact and prove nothing (bitrix24-rest-1 §D3)."""
    parents = work.store.count(CHECKPOINTS, estimates(stream))
    if parents:
        told, read = (
            int(work.store.total(CHECKPOINTS, estimates(stream), one) or 0) for one in ("Reported", "Retrieved")
        )
        message = say("note.counters", stream=stream.name, reported=told, retrieved=read, count=parents)
        work.note(entity.name, message, "info")


def reported(work: Work, stream: Stream, pass_no: int) -> int | None:
    """Of a listing what its first page said; of children the sum of what their parents said."""
    if not isinstance(work.reading(stream), PerParent | Each):
        row = work.store.read(CHECKPOINTS, stream.name)
        return None if row is None or row.values["Pass"] != pass_no else int(row.values["Reported"])
    told = work.store.total(CHECKPOINTS, f"{stream.name}:", "Reported")  # a pass begins without any
    return None if told is None else int(told)


def retrieved(work: Work, stream: Stream, pass_no: int) -> int:
    """Each record once, however many pages showed it, and those that a rule excludes. A limited get asks only for what
    is not staged yet, so there everything staged counts."""
    if work.options.test_limit:
        return sum(work.store.counts(stream.table).values()) + aside_count(work, stream.name, "excluded")
    return seen_in(work, stream, pass_no) + aside_count(work, stream.name, "excluded")


def seen_in(work: Work, stream: Stream, pass_no: int) -> int:
    """How many records of the stream a pass has met so far."""
    name = seen_counter(stream, pass_no)
    return int(work.store.counters(name).get(name, 0))


def seen_counter(stream: Stream, pass_no: int) -> str:
    return f"seen:{stream.table.name}:{pass_no}"


def aside_count(work: Work, stream: str, why: str) -> int:
    return work.store.count(SET_ASIDE, f"{why}:{stream}:")


def staged(work: Work, stream: str) -> Iterator[Seen]:
    return (seen(record, work.streams[stream]) for record in walk(work, work.streams[stream].table))


def tell_set_aside(work: Work, entity: Entity, stream: Stream) -> None:
    """What a rule left out, counted by rule; what was met and could not be read, counted by whose it is."""
    tell_excluded(work, entity, stream)
    if work.store.count(SET_ASIDE, f"impossible:{stream.name}:") > MOST_COUNTED:
        return
    rows = [row.values for row in work.store.rows(SET_ASIDE, f"impossible:{stream.name}:") if row.values.get("Name")]
    for reason, group in Counter(row["Reason"] or "" for row in rows).most_common():
        names = Counter(str(row["Name"]) for row in rows if row["Reason"] == reason).most_common()
        told = [f"{_short(name)} {count}" for name, count in names]
        work.note(entity.name, say("note.stream_those", stream=stream.name, what=reason, count=group, names=told))


def tell_excluded(work: Work, entity: Entity, stream: Stream) -> None:
    """Those with a name repeat another record, each its own."""
    if aside_count(work, stream.name, "excluded") > MOST_COUNTED:
        return
    rows = (row.values for row in work.store.rows(SET_ASIDE, f"excluded:{stream.name}:"))
    for rule, count in sorted(Counter(row["Reason"] or "" for row in rows if not row.get("Name")).items()):
        level = "warning" if stream.unsure and _key(rule) == stream.unsure else "info"
        work.note(entity.name, say("note.by_rule", stream=stream.name, count=count, why=rule), level)


def note_unreadable(work: Work, entity: Entity, aside: list[SetAside]) -> None:
    put_aside(work, aside)
    for reason in sorted({one.reason for one in aside}):
        names = [_short(one.name or one.source_id) for one in aside if one.reason == reason]
        work.note(entity.name, say("note.those", what=reason, count=len(names), names=names))


def _key(rule: str) -> str:
    """Of a rule that an earlier version kept, none."""
    return rule.key if isinstance(rule, Message) else ""


def _short(name: str) -> str:
    """A note is read again and again, and a name may have a million letters."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
