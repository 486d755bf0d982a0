"""The second pass of a set: references to records and files that came later than the record that holds them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from b24migrate.engine.phases import lanes
from b24migrate.engine.phases.broken_links import rules_of
from b24migrate.engine.phases.compose import FAULTS, ComposedRecord, Composer, remember_places
from b24migrate.engine.phases.conflicts import Conflicts
from b24migrate.engine.phases.context import ATTEMPTS, Follow, RunContext, walk_rows
from b24migrate.engine.phases.delta import MARK, is_delta
from b24migrate.engine.phases.missed import note_missed, note_unlinked, unlinked_key
from b24migrate.engine.phases.pull_through import current_pass, pull_new_records
from b24migrate.engine.phases.references import MISSING
from b24migrate.engine.phases.removal import note_other_links
from b24migrate.engine.phases.stage import mark_for_second_pass, mark_stretches, marks_of_run
from b24migrate.messages import say
from b24migrate.model.errors import Permanent, Transient
from b24migrate.model.records import NOWHERE, Item, Job, Json, Link, Outcome, Record, Span, Status, digest, order_key
from b24migrate.model.streams import Stream
from b24migrate.ports import INCOMPLETE, PASSES, RegisterRow

AT_ONCE = 500  # records that are looked at, few of which have anything to complete
LOOKED_UP_FOR_ONE = 10.0  # records that are read one after the other in the time in which one is looked up
BEGUN = "begun"  # before the basis of a second pass over all records that is not over
MAY_COME = frozenset({"files_dropped", "texts_unresolved"})  # losses that a second pass may make good


class ChangedRecord(NamedTuple):
    """A record whose late references change what was sent."""

    composed: ComposedRecord
    item: Item

    @property
    def row_key(self) -> str:
        return self.composed.record.row_key


def mark_incomplete(context: RunContext, stream: Stream, ready: Sequence[ComposedRecord]) -> None:
    """Remembers of records, before they are sent, which go without something that may come later. One row for all of
    them: the stretch of ids that they are in."""
    without = [order_key(one.record.row_key) for one in ready if _is_incomplete(one)]
    if without:
        mark_stretches(context, stream, [(min(without), max(without))])  # they may go in another order than their ids


def _is_incomplete(one: ComposedRecord) -> bool:
    return bool(one.places or one.may_come or one.unread) or not MAY_COME.isdisjoint(one.losses)


def _is_open(one: ComposedRecord, *, postpones: bool) -> bool:
    """After a second pass, which has looked for what is missing in texts. When another stream is read, it looks again
    at all records of a stream that postpones something."""
    unread = one.unread and not postpones
    lacks = one.lacks or "files_dropped" in one.losses
    return bool(one.places or one.may_come or unread or lacks or one.problem or one.waits_for or one.brings)


# ---------------------------------------------------------------- which records are looked at


def seed_late(context: RunContext, scope: str, stream: Stream) -> list[Job]:
    """Jobs for all records, when something is postponed in any. After a delta pass, if an earlier second pass looked at
    all: for those that were sent since or went without something. So it is in all other streams, whose texts may refer
    to records of any stream."""
    composer = Composer(context, stream, late=True)
    if not composer.postpones:
        return seed_marked(context, scope, stream)
    basis = _basis(context, stream, composer)
    row = context.store.read(PASSES, _key(stream))
    if row is not None and row.values["Basis"] == basis and is_delta(context, stream, current_pass(context, stream)):
        records = sum(context.store.counts(stream.table).values())
        most = int(records / LOOKED_UP_FOR_ONE)
        marks = list(islice(walk_rows(context, INCOMPLETE, f"{stream.name}:"), most + 1))
        if len(marks) <= most:
            return _jobs(context, scope, stream, _join(marks))
    context.store.write(PASSES, [RegisterRow(_key(stream), {"Basis": f"{BEGUN} {basis}"})])
    args = {"unlinked": True} if context.store.read(PASSES, unlinked_key(stream)) else {}
    return seed(context, scope, stream, **args)


def forget_completed(context: RunContext, scope: str, stream: Stream) -> None:
    """Before records are sent that are not marked, since a second pass over all of them is to follow."""
    if not is_marked_when_sent(context, scope, stream):
        context.store.discard(PASSES, [_key(stream)])


def is_marked_when_sent(context: RunContext, scope: str, stream: Stream) -> bool:
    """After a delta pass, and if it is sent for another entity: that one's second pass may be over."""
    own = scope == context.owner[stream.name].task("set")
    return not own or is_delta(context, stream, current_pass(context, stream))


def end_late(context: RunContext, stream: Stream) -> None:
    """When all jobs are done. What is still open was marked anew."""
    composer = Composer(context, stream, late=True)
    if composer.postpones:
        basis = _basis(context, stream, composer)
        row = context.store.read(PASSES, _key(stream))
        if row is not None and row.values["Basis"] == f"{BEGUN} {basis}":  # no link was removed meanwhile
            context.store.write(PASSES, [RegisterRow(_key(stream), {"Basis": basis})])
    prefix, own, after = f"{stream.name}:", marks_of_run(context, stream), ""
    while rows := context.store.some_rows(INCOMPLETE, prefix, after, AT_ONCE):
        earlier = [row.key for row in rows if row.key < own or not row.key.startswith(f"{prefix}@")]
        context.store.discard(INCOMPLETE, earlier)
        after = rows[-1].key


def _key(stream: Stream) -> str:
    return f"completed:{stream.name}"


def _basis(context: RunContext, stream: Stream, composer: Composer) -> str:
    """What links depend on besides the records."""
    read = [row.key for row in context.store.rows(PASSES, prefix=f"{MARK}:")]
    unlinked = context.store.read(PASSES, unlinked_key(stream))
    since = unlinked.values["Basis"] if unlinked else ""
    return digest([rules_of(context, stream), composer.custom_map, sorted(read), since])


def seed_marked(context: RunContext, scope: str, stream: Stream, **args: Json) -> list[Job]:
    """Jobs for the stretches that were marked. `unlinked`: links were removed since, which another process may still
    remember."""
    return _jobs(context, scope, stream, _join(walk_rows(context, INCOMPLETE, f"{stream.name}:")), **args)


def _join(marks: Iterable[RegisterRow]) -> list[Span]:
    """Those that overlap are one."""
    spans: list[Span] = []
    for first, last in sorted((row.values["First"], row.values["Last"]) for row in marks):
        if spans and first <= spans[-1].hi:
            spans[-1] = Span(spans[-1].lo, max(spans[-1].hi, last))
        else:
            begin = _just_before(first)
            spans.append(Span(max(begin, spans[-1].hi) if spans else begin, last))
    return spans


def _just_before(key: str) -> str:
    """A span begins behind its lower end."""
    return f"{key[:-1]}{int(key[-1]) - 1}~" if key[-1:] in "123456789" else key[:-1]


def _jobs(context: RunContext, scope: str, stream: Stream, spans: Sequence[Span], **args: Json) -> list[Job]:
    size = min(AT_ONCE, math.ceil(len(spans) / lanes.thread_count(context.options.workers)) or 1)
    return [_job(scope, stream, spans[start : start + size], **args) for start in range(0, len(spans), size)]


def seed(context: RunContext, scope: str, stream: Stream, **args: Json) -> list[Job]:
    """Jobs for the whole table."""
    size = lanes.lane_length(context, stream, pending=False)
    return [_job(scope, stream, [span], **args) for span in lanes.lane_spans(context, stream, size, pending=False)]


def _job(scope: str, stream: Stream, spans: Sequence[Span], **args: Json) -> Job:
    return Job(scope, "complete", {"stream": stream.name, "spans": [list(span) for span in spans], **args})


def complete(context: RunContext, job: Job) -> Follow:
    """Sends the full fields of those imported records whose late references change what was sent. Safe to repeat:
    what the target has already is recognised by the digest in the id map."""
    stream = context.streams[job.args["stream"]]
    args = {"unlinked": True} if job.args.get("unlinked") else {}
    if args:
        context.memory.links.forget()
    found, left = _next_records(context, stream, [Span(*ends) for ends in job.args["spans"]])
    imported = [record for record, _ in found if record.status is Status.IMPORT_OK]
    links = context.store.links(stream.name, [record.row_key for record in imported])
    sent = {key: link for key, link in links.items() if link.origin == "import" and link.target_id != NOWHERE}
    changed: list[ChangedRecord] = []
    there: list[ComposedRecord] = []
    second = Composer(context, stream, late=True)
    whole = _compose_all(context, stream, second, [one for one in imported if one.row_key in sent])
    settled = {one.record.row_key for one in whole if not _is_open(one, postpones=second.postpones)}
    mark_stretches(context, stream, _find_open(found, sent.keys() - settled))
    for composed in whole:
        note_missed(context, composed.missed)
        item = composed.item(stream)
        if item.digest == sent[composed.record.row_key].digest:
            there.append(composed)
        elif composed.record.deleted_utc:  # it may come back as it was
            mark_for_second_pass(context, stream, [order_key(composed.record.row_key)])
        elif _may_be_sent(composed):
            changed.append(ChangedRecord(composed, item))
    _count_losses(context, stream, there)
    changed = _without_conflicts(context, stream, changed, sent)
    begun = False
    while changed and not (begun and context.time_is_up()):
        begun = True
        count = max(1, context.target.fits([one.item for one in changed[: context.batch_size(stream)]]))
        _update(context, job, stream.name, changed[:count])
        changed = changed[count:]
    undone = {one.row_key for one in changed}
    left = [*(span for record, span in found if record.row_key in undone), *left]
    return [_job(job.scope, stream, left, **args)] if left else []


def _find_open(found: Sequence[tuple[Record, Span]], row_keys: Collection[str]) -> Iterator[tuple[str, str]]:
    """The first and the last of stretches that hold these: each alone, or where they are many, all from one stretch
    that was looked at."""
    stretches: list[list[Record]] = []
    for record, span in found:
        if not (stretches and order_key(stretches[-1][-1].row_key) == span.lo):
            stretches.append([])
        stretches[-1].append(record)
    for stretch in stretches:
        ends = [order_key(one.row_key) for one in stretch if one.row_key in row_keys]
        if len(ends) * LOOKED_UP_FOR_ONE > len(stretch):
            yield ends[0], ends[-1]
        else:
            yield from zip(ends, ends, strict=True)


def _without_conflicts(
    context: RunContext, stream: Stream, changed: list[ChangedRecord], sent: Mapping[str, Link]
) -> list[ChangedRecord]:
    """Keeps changes of users on the target, if that is configured or decided."""
    conflicts = Conflicts(context, stream)
    judged = conflicts.judge([one.composed for one in changed], sent)
    left = [conflicts.left_link(one, sent[one.record.row_key]) for one in judged.left]
    context.store.link(stream.name, left, now=context.clock.now())
    _count_losses(context, stream, judged.left)
    for row_key, error in judged.failed.items():
        note = say("note.late_refused", stream=stream.name, id=row_key, why=error.sentence)
        context.note(context.owner[stream.name].name, note)
    mark_for_second_pass(context, stream, map(order_key, judged.failed))
    going = {one.record.row_key for one in judged.going}
    return [one for one in changed if one.row_key in going]


def _compose_all(
    context: RunContext, stream: Stream, second: Composer, records: Sequence[Record]
) -> list[ComposedRecord]:
    """Whole. Whether the source has what came after its stream was read is asked once more: who sent them may have been
    another process, and what the source does not have is lost, not awaited."""
    composed = [second.compose_item(record) for record in records]
    pull_new_records(context, [named for one in composed for named in one.brings])
    composed = [second.compose_item(one.record) if one.brings else one for one in composed]
    for one in composed:
        if one.problem and one.problem[0] in FAULTS:
            note = say("note.late_unwritten", stream=stream.name, id=one.record.row_key, why=one.problem[1])
            context.note(context.owner[stream.name].name, note)
    return [one for one in composed if one.problem is None or one.problem[0] not in FAULTS]


def _may_be_sent(composed: ComposedRecord) -> bool:
    """A missing reference does not stop other updates of a record that is on the target; verify reports it."""
    return composed.problem is None or composed.problem[0] == MISSING


def _next_records(
    context: RunContext, stream: Stream, spans: Sequence[Span]
) -> tuple[list[tuple[Record, Span]], list[Span]]:
    """Some records of the spans, each with the stretch that holds nothing else, and the spans without them."""
    found: list[tuple[Record, Span]] = []
    left = list(spans)
    while left and len(found) < AT_ONCE:
        lo, hi = left.pop(0)
        for record in context.store.records(stream.table, Span(lo, hi), AT_ONCE - len(found)):
            at = order_key(record.row_key)
            found.append((record, Span(lo, at)))
            lo = at
        if len(found) == AT_ONCE:
            left.insert(0, Span(lo, hi))
    return found, left


def _count_losses(context: RunContext, stream: Stream, there: Sequence[ComposedRecord]) -> None:
    """The losses of records that are up to date on the target: deferred values are no longer lost, but lost references
    in them are."""
    otherwise = {one.record.row_key: one.losses for one in there if one.losses != one.record.losses}
    if otherwise:
        context.store.lose(stream.name, stream.table, otherwise)


def _update(context: RunContext, job: Job, stream: str, changed: list[ChangedRecord]) -> None:
    entity = context.owner[stream]
    last = job.attempts + 1 >= ATTEMPTS
    try:
        outcomes = context.target.send(entity.wire, stream, [one.item for one in changed], run=context.run)
    except (Transient, Permanent) as error:
        if isinstance(error, Transient) and not (error.own and last):
            raise
        if len(changed) > 1:
            for one in changed:
                _update(context, job, stream, [one])
        else:
            context.note(
                entity.name, say("note.late_refused", stream=stream, id=changed[0].row_key, why=error.sentence)
            )
            mark_for_second_pass(context, context.streams[stream], [order_key(changed[0].row_key)])
        return
    by_key = {outcome.key: outcome for outcome in outcomes}
    links: list[Link] = []
    there: list[ComposedRecord] = []
    again: Outcome | None = None
    conflicts = Conflicts(context, context.streams[stream])
    own = conflicts.baselines(one.composed for one in changed if by_key[one.item.key].target_id)
    for one in changed:
        row_key, item = one.row_key, one.item
        outcome = by_key[item.key]
        if outcome.target_id is None and outcome.retry and not last:
            again = outcome
        elif outcome.target_id is None:
            context.note(entity.name, say("note.late_refused", stream=stream, id=row_key, why=outcome.error_code))
            mark_for_second_pass(context, context.streams[stream], [order_key(row_key)])
        else:
            remember_places(context, context.streams[stream], one.composed)
            kept = own.get(row_key) or conflicts.pack(one.composed)
            links.append(Link(row_key, outcome.target_id, item.digest, sent=kept))
            there.append(one.composed)
    known = {one.row_key: one.composed.record.target_id for one in changed}
    replaced = [one.source_id for one in links if one.target_id not in (NOWHERE, known[one.source_id])]
    note_other_links(context, context.streams[stream], replaced)
    context.store.link(stream, links, now=context.clock.now())
    if replaced:
        note_unlinked(context, context.streams[stream])
        context.memory.links.forget()
    _count_losses(context, context.streams[stream], there)
    if again is not None:
        raise Transient(f"{again.key}: {again.error}", code=again.error_code, own=True)


def finalize(context: RunContext, job: Job) -> Follow:
    after = str(job.args["after"])
    while (cursor := context.target.finalize(after, run=context.run)) is not None:
        if cursor == after:
            message = say("target.finalize_stalled", after=after)
            raise Transient(message, code="STRANGE_ANSWER", own=True)
        if context.time_is_up():
            return [Job(job.scope, job.kind, {"after": cursor})]
        after = cursor
    return []
