"""The second pass of a set: references to records and files that came later than the record that holds them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from b24migrate.engine.phases import arrivals, lanes
from b24migrate.engine.phases.compose import FAULTS, ComposedRecord, Composer, remember_places
from b24migrate.engine.phases.conflicts import Conflicts
from b24migrate.engine.phases.context import ATTEMPTS, Follow, RunContext, walk_rows
from b24migrate.engine.phases.pull_through import pull_new_records
from b24migrate.engine.phases.references import MISSING
from b24migrate.messages import say
from b24migrate.model.errors import Permanent, Transient
from b24migrate.model.records import NOWHERE, Item, Job, Json, Link, Outcome, Record, Span, Status, order_key
from b24migrate.model.streams import Stream
from b24migrate.ports import INCOMPLETE, RegisterRow

AT_ONCE = 500  # records that are looked at, few of which have anything to complete
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
    arrivals.note_missed(context, [named for one in ready for named in one.missed])
    without = [order_key(one.record.row_key) for one in ready if _is_incomplete(one)]
    if without:
        first, last = min(without), max(without)  # they may go in another order than that of their ids
        row = RegisterRow(f"{stream.name}:{first}-{last}", {"First": first, "Last": last})
        context.store.write(INCOMPLETE, [row])


def _is_incomplete(one: ComposedRecord) -> bool:
    return bool(one.places or one.may_come) or not MAY_COME.isdisjoint(one.losses)


def seed_marked(context: RunContext, scope: str, stream: Stream, **args: Json) -> list[Job]:
    """Jobs for the stretches that were marked; those that overlap are one. `unlinked`: links were removed since, which
    another process may still remember."""
    rows = walk_rows(context, INCOMPLETE, f"{stream.name}:")
    spans: list[Span] = []
    for first, last in sorted((row.values["First"], row.values["Last"]) for row in rows):
        if spans and first <= spans[-1].hi:
            spans[-1] = Span(spans[-1].lo, max(spans[-1].hi, last))
        else:
            begin = first[:-1]  # a span begins behind its lower end
            spans.append(Span(max(begin, spans[-1].hi) if spans else begin, last))
    size = min(AT_ONCE, math.ceil(len(spans) / lanes.thread_count(context.options.workers)) or 1)
    return [_job(scope, stream, spans[start : start + size], **args) for start in range(0, len(spans), size)]


def seed(context: RunContext, scope: str, stream: Stream) -> list[Job]:
    """Jobs for the whole table."""
    size = lanes.lane_length(context, stream, pending=False)
    return [_job(scope, stream, [span]) for span in lanes.lane_spans(context, stream, size, pending=False)]


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
    imported = [record for record, _ in found if record.status is Status.IMPORT_OK and not record.deleted_utc]
    links = context.store.links(stream.name, [record.row_key for record in imported])
    sent = {key: link for key, link in links.items() if link.origin == "import" and link.target_id != NOWHERE}
    changed: list[ChangedRecord] = []
    there: list[ComposedRecord] = []
    for composed in _compose_all(context, stream, [one for one in imported if one.row_key in sent]):
        arrivals.note_missed(context, composed.missed)
        item = composed.item(stream)
        if item.digest == sent[composed.record.row_key].digest:
            there.append(composed)
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


def _without_conflicts(
    context: RunContext, stream: Stream, changed: list[ChangedRecord], sent: Mapping[str, Link]
) -> list[ChangedRecord]:
    """Keeps changes of users on the target, if that is configured or decided."""
    conflicts = Conflicts(context, stream)
    judged = conflicts.judge([one.composed for one in changed], sent)
    left = [conflicts.left_link(one, sent[one.record.row_key]) for one in judged.left]
    context.store.link(stream.name, left, now=context.clock.now())
    for row_key, error in judged.failed.items():
        note = say("note.late_refused", stream=stream.name, id=row_key, why=error.sentence)
        context.note(context.owner[stream.name].name, note)
    going = {one.record.row_key for one in judged.going}
    return [one for one in changed if one.row_key in going]


def _compose_all(context: RunContext, stream: Stream, records: Sequence[Record]) -> list[ComposedRecord]:
    """Whole. Whether the source has what came after its stream was read is asked once more: who sent them may have been
    another process, and what the source does not have is lost, not awaited."""
    second = Composer(context, stream, late=True)
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
        else:
            remember_places(context, context.streams[stream], one.composed)
            kept = own.get(row_key) or conflicts.pack(one.composed)
            links.append(Link(row_key, outcome.target_id, item.digest, sent=kept))
            there.append(one.composed)
    context.store.link(stream, links, now=context.clock.now())
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
