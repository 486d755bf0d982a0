"""get: finds the records that are deleted in the source.

Candidates are records that an earlier pass staged and this one did not show. A deletion is believed only when the
record is asked for by id and is not there, while others that this pass did show are; a child's, when its parent's list
is read again without it, or when the parent itself is deleted. A webhook that lost rights sees as little as if all had
been deleted: so when many are gone, nothing is believed and the get stops.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

from b24migrate.engine.phases import lanes, tails
from b24migrate.engine.phases.context import Follow, RunContext, decode_extras, decode_readable, walk_deleted, walk_rows
from b24migrate.engine.phases.delta import is_delta
from b24migrate.engine.phases.hints import PAGES_OF_A_READING, SIZE, count_parents
from b24migrate.engine.phases.inventory import count_in_pass, count_unshown, is_many
from b24migrate.engine.phases.moved import note_deleted, note_for_next_pass
from b24migrate.engine.phases.parent_lanes import PAGES_OF_A_PARENT, find_reading, walk_args
from b24migrate.engine.phases.pull_through import current_pass
from b24migrate.engine.phases.removal import UNSURE
from b24migrate.engine.phases.stage import stage
from b24migrate.messages import say
from b24migrate.model.errors import Permanent, Refused
from b24migrate.model.readings import Each, Gather, PerParent, Reading
from b24migrate.model.records import Job, Record, Span, children_span, order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import DELETIONS, SET_ASIDE, RegisterRow

LOOKED_AT = 200  # candidates of a job
ASKED = 450  # at once: some methods take many in one command, others one in each
SLICE, NEIGHBOURS = 45, 5  # of these, with so many others that must be there
NEAR = 50  # records among which neighbours are looked for
STEP, FAR = 500, 9  # where all of these are gone too: so far apart, so often
MARKED_AT_ONCE = 500
# Not found by ID; no neighbour was found either; the source has it, and refuses to show it. Excused: gone for a reason
# that is known, and does not count where many are.
GONE, DOUBTFUL, REFUSED, EXCUSED = "gone", "doubtful", "refused", "excused"


class Family(NamedTuple):
    """A candidate's parent: None where it has none, or it is unknown."""

    record: Record
    parent: Record | None


def seed(context: RunContext, scope: str, kind: str, stream: Stream, pass_no: int) -> list[Job]:
    if context.options.test_limit or count_unshown(context, stream, pass_no) <= 0:
        return []
    if stream.deletions.unprovable:
        return [Job(scope, "read-unlisted", {"stream": stream.name, "pass": pass_no, "after": ""})]
    few = count_unshown(context, stream, pass_no) <= LOOKED_AT
    every = sum(context.store.counts(stream.table).values()) if few else 0
    return lanes.seed(context, scope, kind, stream, pending=False, every=every, **{"pass": pass_no})


def is_reread(context: RunContext, stream: Stream) -> bool:
    """Whether its records cannot be requested by ID, so that their parents' lists are read again instead."""
    return stream.fetch is None and isinstance(context.reading(stream), PerParent)


# ---------------------------------------------------------------- asking


def seek(context: RunContext, job: Job) -> Follow:
    """Requests the candidates of a lane by ID. A record that is found is not deleted; verify reports that the source
    did not list it."""
    stream, pass_no = context.streams[job.args["stream"]], int(job.args["pass"])
    if is_too_many(context, stream, pass_no):
        return []
    span = lanes.rest_of_lane(job)
    records = context.store.by_pass(stream.table, span, LOOKED_AT, pass_no=pass_no, shown=False)
    if not records:
        return []
    families = find_parents(context, stream, records)
    mark_records(context, stream, [one.record.row_key for one in families if one.parent and one.parent.deleted_utc])
    left = [one for one in families if is_parent_shown(context, stream, one)]
    onward = lanes.next_lane_job(job, records[-1])
    if is_reread(context, stream):
        return [*reread_jobs(context, job, stream, left), *onward]
    for start in range(0, len(left), ASKED):
        if start and context.time_is_up():
            return lanes.next_lane_job(job, left[start - 1].record)
        ask_all(context, stream, [one.record for one in left[start : start + ASKED]], pass_no)
    return onward


def read_unlisted(context: RunContext, job: Job) -> Follow:
    """For streams whose deletions cannot be proven: a record that no list shows may only be hidden, and is read as
    before. The state of a refused one is unknown."""
    stream, pass_no, after = context.streams[job.args["stream"]], int(job.args["pass"]), str(job.args["after"])
    reading = context.reading(stream)
    fetch = reading.fetch if isinstance(reading, Gather) else None
    while fetch and (records := context.store.by_pass(stream.table, Span(after), NEAR, pass_no=pass_no, shown=False)):
        seen = [one for one in records if webhook_of(one) < len(context.source.owners)]
        rows = fetch(context.source, decode_readable(seen, stream), context.known(stream)) if seen else {}
        stage(context, stream, list(rows.values()), pass_no=pass_no)
        after = order_key(records[-1].row_key)
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": after})]
    return []


def find_parents(context: RunContext, stream: Stream, records: Sequence[Record]) -> list[Family]:
    reading = context.reading(stream)
    if not belongs_to_parents(reading):
        return [Family(one, None) for one in records]
    assert isinstance(reading, PerParent | Each)  # noqa: S101 (what belongs to parents)
    of = context.streams[reading.of]
    keys = {one.row_key: parent_key(context, reading, of, one) for one in records}
    there = context.store.get(of.table, sorted(set(keys.values())))
    return [Family(one, there.get(keys[one.row_key])) for one in records]


def belongs_to_parents(reading: Reading) -> bool:
    """Whether a record has one parent, without which it is not there either."""
    return isinstance(reading, Each) or (isinstance(reading, PerParent) and not reading.shared)


def parent_key(context: RunContext, reading: PerParent | Each, of: Stream, record: Record) -> str:
    if isinstance(reading, PerParent) and reading.keys:  # listed by another parent than the one in its id
        return str(decode_extras(record.extras).get("of") or "")
    key = record.row_key.rpartition(":")[0]
    return (context.store.holder(of.table, key) or "") if of.by_natural else key


def is_parent_shown(context: RunContext, stream: Stream, one: Family) -> bool:
    """Whether there is a parent to ask. Of one that is hidden, or whose list was refused, nothing is known."""
    reading = context.reading(stream)
    if not belongs_to_parents(reading):
        return True
    assert isinstance(reading, PerParent | Each)  # noqa: S101 (what belongs to parents)
    if one.parent is None or one.parent.deleted_utc:
        return False
    of = context.streams[reading.of]
    pass_no = current_pass(context, of)
    if one.parent.pass_no < pass_no and not is_delta(context, of, pass_no):
        return False
    return context.store.read(SET_ASIDE, f"impossible:{stream.name}:{one.parent.row_key}") is None


class Slice(NamedTuple):
    """Candidates, and others near them that this pass did show."""

    records: Sequence[Record]
    neighbours: Sequence[Record]


def ask_all(context: RunContext, stream: Stream, records: Sequence[Record], pass_no: int) -> None:
    """Requests each record through the webhook that saw it, together with neighbors that the same webhook saw."""
    by_webhook: dict[int, list[Record]] = {}
    for one in sorted(records, key=lambda one: order_key(one.row_key)):
        by_webhook.setdefault(webhook_of(one), []).append(one)
    for via, some in by_webhook.items():
        if via < len(context.source.owners):  # a record that cannot be requested is not deleted
            near = Near(context, stream, via, pass_no, {one.row_key for one in some})
            parts = [some[start : start + SLICE] for start in range(0, len(some), SLICE)]
            alone = list(ask(context, stream, [Slice(part, near.neighbours(part[-1])) for part in parts]))
            write_alone(context, stream, alone, near.others(some[-1]) if alone else [])


def webhook_of(record: Record) -> int:
    return int(decode_extras(record.extras).get("via") or 0)


class Near(NamedTuple):
    """Finds records that should be there. A delta pass shows few, so that those known before count as shown: of a row
    of deleted records that is longer than the candidates the next ones are not there either."""

    context: RunContext
    stream: Stream
    via: int
    pass_no: int
    candidates: Collection[str]

    def neighbours(self, last: Record) -> list[Record]:
        """The next ones in the order of ids, or else the first."""
        for span in (Span(order_key(last.row_key)), Span()):
            if found := self.suitable(self.page(span, NEAR))[:NEIGHBOURS]:
                return found
        return []

    def others(self, last: Record) -> list[Record]:
        """From the beginning, and from further on."""
        found, span = self.spread(self.page(Span(), STEP)), Span(order_key(last.row_key))
        for _ in range(FAR):
            records = self.page(span, STEP)
            found += self.spread(records)
            if len(records) < STEP:
                break
            span = Span(order_key(records[-1].row_key))
        return found

    def page(self, span: Span, limit: int) -> list[Record]:
        since = 0 if is_delta(self.context, self.stream, self.pass_no) else self.pass_no
        return self.context.store.by_pass(self.stream.table, span, limit, pass_no=since, shown=True)

    def suitable(self, records: Sequence[Record]) -> list[Record]:
        left = (one for one in records if one.row_key not in self.candidates and not one.deleted_utc)
        return [one for one in left if webhook_of(one) == self.via]

    def spread(self, records: Sequence[Record]) -> list[Record]:
        found = self.suitable(records)
        return found[:: -(-len(found) // NEIGHBOURS) or 1]


def ask(context: RunContext, stream: Stream, slices: Sequence[Slice]) -> Iterator[Slice]:
    """Requests the records together; if the portal refuses that, one by one. A record that is refused alone is not
    deleted. Yields records that were not found if no neighbor was found either."""
    if stream.fetch is None:
        return
    known = {one.row_key: one for some in slices for one in (*some.records, *some.neighbours)}
    asked = decode_readable(list(known.values()), stream)
    try:
        found = stream.fetch(context.source, asked, context.known(stream))
    except Permanent as error:
        if len(slices) > 1:
            for some in slices:
                yield from ask(context, stream, [some])
        elif len(slices[0].records) > 1 and not isinstance(error, Refused):
            for one in slices[0].records:
                yield from ask(context, stream, [Slice([one], slices[0].neighbours)])
        return
    missing = {one.id for one in asked} - found.keys()
    if is_single(context, stream):
        again = [found[one.row_key] for some in slices for one in some.records if one.row_key in found]
        stage(context, stream, again, pass_no=current_pass(context, stream))
    gone: list[Slice] = []
    for some in slices:
        absent = [one for one in some.records if one.row_key in missing]
        if shown := [one for one in some.neighbours if one.row_key in found]:
            gone.append(Slice(absent, shown))
        elif absent:
            yield Slice(absent, some.neighbours)
    write_gone(context, stream, gone)


def is_single(context: RunContext, stream: Stream) -> bool:
    """Whether no list shows its records, so that one which is found by id is shown. It may belong to another record
    than the one that it was asked for by."""
    reading = context.reading(stream)
    return isinstance(reading, PerParent) and reading.keys is not None and reading.keys.single


def write_alone(context: RunContext, stream: Stream, alone: Sequence[Slice], others: Sequence[Record]) -> None:
    """Believed where the webhook still shows any of the others."""
    asked = decode_readable(list(others), stream)
    try:
        found = stream.fetch(context.source, asked, context.known(stream)) if asked and stream.fetch else {}
    except Permanent:
        found = {}
    if shown := [one for one in others if one.row_key in found][:NEIGHBOURS]:
        write_gone(context, stream, [Slice(some.records, shown) for some in alone])
    else:
        write_absent(context, stream, DOUBTFUL, [one.row_key for some in alone for one in some.records])


def write_gone(context: RunContext, stream: Stream, slices: Sequence[Slice]) -> None:
    """Those that the source only refuses to show are not deleted."""
    records = [one for some in slices for one in some.records]
    refused = find_refused(context, stream, [some for some in slices if some.records])
    for state in (GONE, REFUSED):
        keys = [one.row_key for one in records if (one.row_key in refused) == (state == REFUSED)]
        write_absent(context, stream, state, keys)


def find_refused(context: RunContext, stream: Stream, slices: Sequence[Slice]) -> set[str]:
    """Each record takes a command of its own. For an administrator the kernel leaves conditions on rights out of its
    queries (`CCrmPerms::IsAdmin`, as in CCrmQuote::GetTopIDs), so only a sample is requested, and the others if the
    portal refuses one of it."""
    if stream.deletions.refused is None or not slices:
        return set()
    records = [one for some in slices for one in some.records]
    if context.facts.admin and len(records) > SLICE and not any(map(webhook_of, records)):
        sample = Slice(records[:: -(-len(records) // SLICE)], slices[0].neighbours)
        if not ask_refused(context, stream, sample):
            return set()
    return {key for some in slices for key in ask_refused(context, stream, some)}


def ask_refused(context: RunContext, stream: Stream, some: Slice) -> Collection[str]:
    wanted, shown = (decode_readable(list(records), stream) for records in some)
    return stream.deletions.refused(context.source, wanted, shown) if stream.deletions.refused and wanted else ()


def deleted_records(context: RunContext, stream: Stream, span: Span) -> Iterator[SourceRecord]:
    """Of a span, in order, those that are marked."""
    for one in walk_deleted(context, stream.table, span):
        yield from decode_readable([one], stream)


# ---------------------------------------------------------------- lists of parents


def reread_jobs(context: RunContext, job: Job, stream: Stream, families: Sequence[Family]) -> Iterator[Job]:
    """The jobs that read the lists again which the candidates were in."""
    parents: dict[int, dict[str, None]] = {}
    for one in families:
        for which in lists_of(context, stream, one):
            parents.setdefault(which, {})[one.parent.row_key if one.parent else ""] = None
    for which, keys in parents.items():
        lane = which * PAGES_OF_A_READING + PAGES_OF_A_READING * 7 // 10 + crc32(next(iter(keys)).encode()) % 100_000
        args = {"stream": stream.name, "pass": job.args["pass"], "n": lane * PAGES_OF_A_PARENT, "prove": True}
        args |= {"which": which} if which else {}
        reading = find_reading(context, Job(job.scope, "children", args))
        args |= {SIZE: count_parents(context, reading), **walk_args(reading)}
        yield Job(job.scope, "children", {**args, "parents": [[one, 0, 0] for one in keys]})


def lists_of(context: RunContext, stream: Stream, one: Family) -> list[int]:
    """The readings that it would be shown by, by their number."""
    readings: list[tuple[int, Reading]] = [(0, context.reading(stream))]
    readings += [(which, more) for which, more in enumerate(stream.more, 1) if context.suits(more)]
    child = one.record.row_key.rpartition(":")[2]
    return [
        which
        for which, reading in readings
        if isinstance(reading, PerParent) and child.startswith(reading.mark) and one.parent
        for known in decode_readable([one.parent], context.streams[reading.of])
        if reading.parents.only(known)
    ]


def judge(context: RunContext, job: Job) -> Follow:
    """After the lists were read again: what is still not there is deleted."""
    stream, pass_no = context.streams[job.args["stream"]], int(job.args["pass"])
    span = lanes.rest_of_lane(job)
    records = context.store.by_pass(stream.table, span, LOOKED_AT, pass_no=pass_no, shown=False)
    if not records or is_too_many(context, stream, pass_no):
        return []
    by_state: dict[str, list[Record]] = {}
    for one in find_parents(context, stream, records):
        if one.parent and is_parent_shown(context, stream, one) and lists_of(context, stream, one):
            by_state.setdefault(judge_one(context, stream, one.parent, pass_no), []).append(one.record)
    write_judged(context, stream, by_state)
    return lanes.next_lane_job(job, records[-1])


def judge_one(context: RunContext, stream: Stream, parent: Record, pass_no: int) -> str:
    """If an empty list means an error, at least one remaining child must be shown."""
    reading = context.reading(stream)
    if not isinstance(reading, PerParent) or not reading.empty_is_alarm:
        return GONE
    span = children_span(parent.row_key)
    left = context.store.by_pass(stream.table, span, 1, pass_no=pass_no, shown=True)
    return GONE if left else DOUBTFUL


def write_judged(context: RunContext, stream: Stream, by_state: Mapping[str, Sequence[Record]]) -> None:
    for state, records in by_state.items():
        asked = decode_readable(list(records), stream) if stream.deletions.excused and state == GONE else []
        excused = stream.deletions.excused(context.source, asked) if stream.deletions.excused and asked else ()
        write_absent(context, stream, EXCUSED, [one.row_key for one in records if one.row_key in excused])
        write_absent(context, stream, state, [one.row_key for one in records])


# ---------------------------------------------------------------- what is believed


def write_absent(context: RunContext, stream: Stream, state: str, row_keys: Sequence[str]) -> None:
    context.store.write(DELETIONS, [RegisterRow(f"{state}:{stream.name}:{key}", {}) for key in row_keys])


def count_absent(context: RunContext, stream: Stream, states: Iterable[str] = (GONE, DOUBTFUL, REFUSED)) -> int:
    return sum(context.store.count(DELETIONS, f"{state}:{stream.name}:") for state in states)


def is_too_many(context: RunContext, stream: Stream, pass_no: int) -> bool:
    """Children of a deleted parent do not count, because the parent itself was checked. Excused ones do not count
    either."""
    absent = count_absent(context, stream) - count_absent(context, stream, [EXCUSED])
    known = count_in_pass(context, stream, pass_no) + count_unshown(context, stream, pass_no)
    return is_many(context, absent, known)


def may_all_be_gone(context: RunContext) -> bool:
    """The user confirmed it: the last template or smart process of a company has no neighbor that proves its
    deletion."""
    return context.options.deletions_limit >= 100


def believe_doubtful(context: RunContext, stream: Stream) -> None:
    prefix = f"{DOUBTFUL}:{stream.name}:"
    while rows := context.store.some_rows(DELETIONS, prefix, "", MARKED_AT_ONCE):
        write_absent(context, stream, GONE, [row.key.removeprefix(prefix) for row in rows])
        context.store.discard(DELETIONS, [row.key for row in rows])


def mark(context: RunContext, job: Job) -> Follow:
    """Raises Permanent where too many are gone."""
    stream, pass_no, after = context.streams[job.args["stream"]], int(job.args["pass"]), str(job.args["after"])
    if not after and is_too_many(context, stream, pass_no):
        raise too_many_error(context, stream, pass_no)
    if may_all_be_gone(context):
        believe_doubtful(context, stream)
    prefix = f"{GONE}:{stream.name}:"
    while rows := context.store.some_rows(DELETIONS, prefix, after, MARKED_AT_ONCE):
        mark_records(context, stream, [row.key.removeprefix(prefix) for row in rows])
        after = rows[-1].key
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": after})]
    tails.settle(context, stream)
    entity = context.owner[stream.name].name
    if found := count_absent(context, stream, [GONE]):
        context.note(entity, say("note.deleted", stream=stream.name, count=found), "info")
    if found := count_absent(context, stream, [DOUBTFUL]):
        context.note(entity, say("note.deletion_unproven", stream=stream.name, count=found))
    if found := count_absent(context, stream, [REFUSED]):
        context.note(entity, say("note.deletion_refused", stream=stream.name, count=found))
    return []


def mark_records(context: RunContext, stream: Stream, row_keys: Sequence[str]) -> None:
    """One without a link may be on the target: a process was killed before it wrote down what had arrived."""
    if row_keys:
        note_deleted(context, stream, row_keys, current_pass(context, stream))
        note_twins(context, stream, row_keys)
        there = context.store.links(stream.name, row_keys)
        unsure = [RegisterRow(f"{UNSURE}:{stream.name}:{key}", {}) for key in row_keys if key not in there]
        context.store.write(DELETIONS, unsure)
        context.store.mark_deleted(stream.table, row_keys, there=there.keys(), now=context.clock.now())


def note_twins(context: RunContext, stream: Stream, row_keys: Sequence[str]) -> None:
    """What was set aside because it was the same as a record that is deleted now is a record of its own. It was read
    before that was known, so the next pass reads it."""
    for reading in stream.more:
        if isinstance(reading, PerParent) and reading.twins:
            gone = set(row_keys)
            parents = {key.rpartition(":")[0] for key in gone if key.rpartition(":")[2].startswith(reading.twins.mark)}
            left = [
                parent
                for parent in sorted(parents)
                if any(
                    row.values["Name"] in gone
                    for row in walk_rows(context, SET_ASIDE, f"excluded:{stream.name}:{parent}:")
                )
            ]
            note_for_next_pass(context, context.streams[reading.of], left, current_pass(context, stream))


def too_many_error(context: RunContext, stream: Stream, pass_no: int) -> Permanent:
    known = count_in_pass(context, stream, pass_no) + count_unshown(context, stream, pass_no)
    count = count_absent(context, stream) - count_absent(context, stream, [EXCUSED])
    limit = context.options.deletions_limit
    message = say("work.too_many_deleted", stream=stream.name, count=count, known=known, limit=limit)
    return Permanent(message, code="TOO_MANY_DELETED", hint=say("work.too_many_deleted_fix"))
