"""set: from the staging tables to the target, in batches. Only what failed is sent again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from b24migrate.engine.phases import arrivals, deferred, files, lanes, order, removal
from b24migrate.engine.phases.bug import unexpected
from b24migrate.engine.phases.compose import ComposedRecord, Composer, remember_places
from b24migrate.engine.phases.conflicts import Conflicts
from b24migrate.engine.phases.context import ATTEMPTS, Follow, Later, RunContext
from b24migrate.engine.phases.missed import note_arriving, note_missed, note_unlinked
from b24migrate.engine.phases.pull_through import pull_records
from b24migrate.engine.phases.references import MISSING
from b24migrate.engine.phases.stage import mark_for_second_pass
from b24migrate.engine.phases.target_codes import keep_options
from b24migrate.messages import say
from b24migrate.model import values
from b24migrate.model.errors import MigrationError, Permanent, Transient
from b24migrate.model.events import RecordFailed, Sent
from b24migrate.model.records import NOWHERE, Item, Job, Json, Link, Outcome, Record, Settled, Span, Status, order_key
from b24migrate.model.streams import Stream

EVER = datetime(1970, 1, 1, tzinfo=UTC)
ALONE_AFTER = 2  # attempts of a whole call before each of its records is sent alone


def seed(context: RunContext, scope: str, stream: Stream, **args: Json) -> list[Job]:
    """Sends in parallel lanes, or in one chain if the target requires an order."""
    deferred.forget_completed(context, scope, stream)
    if stream.name in context.target.serial:
        return order.seed(scope, stream, **args)
    return lanes.seed(context, scope, "send", stream, every=lanes.length_for_each_worker(context, stream), **args)


def send_in_turn(context: RunContext, job: Job) -> Follow:
    """The next few records of a serial stream. The file stops at one that has to be tried again, since those behind it
    would make it too old to be taken as it is. That is for some seconds: after a few attempts it counts as failed."""
    stream = context.streams[job.args["stream"]]
    coming = order.next_in_order(context, stream, job, context.batch_size(stream))
    if not coming:
        order.erase_order(context, stream, job)
        return []
    found = context.store.get(stream.table, [one.row_key for one in coming])
    records = [found[one.row_key] for one in coming if one.row_key in found]
    records = [record for record in records if record.status in (Status.NEW, Status.ERROR_RETRY)]
    due = max((datetime.fromisoformat(one.retry_after_utc) for one in records if one.retry_after_utc), default=EVER)
    if due > context.clock.now():
        return [Later(order.repeat_job(job), due)]
    # No record waits for another and so comes out of turn: the second pass names what was missing.
    sender = Sender(context, stream, job.scope, final=True, may_leave_off=True)
    sender.send(records)
    if sender.goes_on_at is not None:
        return [Later(order.repeat_job(job), sender.goes_on_at)]
    return [order.repeat_job(job) if sender.has_left_some else order.next_job(job, coming)]


def send(context: RunContext, job: Job) -> Follow:
    """The next few pending records of a lane."""
    stream = context.streams[job.args["stream"]]
    pulled = bool(job.args.get("pulled"))
    now = context.clock.now()
    waiting = find_held_parents(context, stream, lanes.lane_span(job), now)
    passed = find_held_parents(context, stream, lanes.span_behind(job), EVER)

    def pending(span: Span, limit: int, hold: set[str]) -> list[Record]:
        return context.store.pending(stream.table, span, limit, now=now, hold=hold, pulled=pulled)

    records = pending(lanes.rest_of_lane(job), context.batch_size(stream), waiting | passed)
    if not records:
        return lanes.finish_round(context, job, lambda lane: pending(lane, 1, waiting))
    sender = Sender(context, stream, job.scope, final=bool(job.args.get("final")), may_leave_off=True)
    moved = sender.send(records)
    if sender.goes_on_at is not None:
        return [Later(again, sender.goes_on_at) for again in lanes.repeat_lane(job)]
    last = sender.left_off_at or records[-1]
    return [part for lane in lanes.next_round_job(job, last, moved) for part in lanes.share_rest(context, lane)]


def find_held_parents(context: RunContext, stream: Stream, span: Span | None, now: datetime) -> set[str]:
    """The parents whose children must wait, because one of them waits for a retry that is due after `now`. One that
    this round has passed holds them even when its time has come: it goes first in the next round."""
    if not stream.ordered or span is None:
        return set()
    return {parent_id(row_key) for row_key, _ in context.store.waiting(stream.table, span, now=now)}


def parent_id(row_key: str) -> str:
    return row_key.rpartition(":")[0]


def by_id(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda one: order_key(one.row_key))


def explain_waiting(one: ComposedRecord) -> str:
    named, source_id = one.regardless[0]
    field = next(name for name, number in one.unresolved if number == source_id)
    return say("record.link", field=field, stream=named, id=source_id, why=say("record.link_waiting"))


class Sender:
    """Composes, sends and settles a handful of records."""

    def __init__(
        self,
        context: RunContext,
        stream: Stream,
        scope: str,
        *,
        final: bool = False,
        may_leave_off: bool = False,
        pulled: bool = False,
    ) -> None:
        self._context = context
        self._stream = stream
        self._entity = context.owner[stream.name]
        self._scope = scope
        self._final = final  # nothing is waited for any more
        self._pulled = pulled  # brought over for another record
        self._may_leave_off = may_leave_off  # when time is up before all calls are made
        self.left_off_at: Record | None = None  # the last record that was sent then
        self.goes_on_at: datetime | None = None  # nothing was sent: a file that is named is still under way
        self._serial = stream.name in context.target.serial
        self._retries = False  # something has to be tried again
        self._conflicts = Conflicts(context, stream)

    @property
    def has_left_some(self) -> bool:
        return self._retries or self.left_off_at is not None

    def send(self, records: Sequence[Record]) -> bool:
        """Returns whether any record was settled."""
        composer = Composer(self._context, self._stream, final=self._final)
        whole = self._complete(composer, self._compose(composer, records))
        if self.goes_on_at is not None:
            return False
        ready, settled = [], []
        for composed in whole:
            refused = self._refuse(composed)
            if refused:
                settled.append(refused)
            elif not composed.waits_for:
                ready.append(composed)
        arrivals.note_awaited(self._context, self._stream, whole)
        self._settle(settled)
        held = {parent_id(one.row_key) for one in settled if self._holds(one)}
        ready, left = self._compare_with_target([one for one in ready if parent_id(one.record.row_key) not in held])
        created = [one.record for one in ready if not one.record.target_id]
        note_arriving(self._context, self._stream, created)
        note_missed(self._context, [named for one in ready for named in one.missed])
        self._mark_for_second_pass(ready, postpones=composer.postpones)
        removal.note_uncovered(self._context, self._stream, [one.record for one in ready])
        return bool([*settled, *left, *self._send_in_turn(self._calls(ready))])

    def _mark_for_second_pass(self, ready: Sequence[ComposedRecord], *, postpones: bool) -> None:
        if not postpones:
            deferred.mark_incomplete(self._context, self._stream, ready)
        elif self._pulled or deferred.is_marked_when_sent(self._context, self._scope, self._stream):
            mark_for_second_pass(self._context, self._stream, [order_key(one.record.row_key) for one in ready])

    def _compare_with_target(self, ready: list[ComposedRecord]) -> tuple[list[ComposedRecord], list[Settled]]:
        """Without the updates that would overwrite what users have changed there, if that is to stay."""
        updates = [one for one in ready if one.record.target_id]
        if not updates:
            return ready, []
        links = self._context.store.links(self._stream.name, [one.record.row_key for one in updates])
        judged = self._conflicts.judge(updates, links)
        settled = [self._conflicts.settled(one, links[one.record.row_key]) for one in judged.left]
        for one in updates:
            if error := judged.failed.get(one.record.row_key):
                again = isinstance(error, Transient)
                settled.append(self._fail(one.record, error.code, error.message, retry=again))
        self._settle(settled)
        ended = {one.row_key for one in settled}
        held = {parent_id(one.row_key) for one in settled if self._holds(one)}
        going = [one for one in ready if one.record.row_key not in ended and parent_id(one.record.row_key) not in held]
        return going, settled

    def _compose(self, composer: Composer, records: Sequence[Record]) -> list[ComposedRecord]:
        """A changed record goes at once with what else the second pass would write, if all of it is on the target."""
        if not composer.postpones or not any(record.revision and record.target_id for record in records):
            return [composer.compose_item(record) for record in records]
        second = Composer(self._context, self._stream, late=True, final=self._final)
        found = [composer.compose_item(record) for record in records]
        for place, first in enumerate(found):
            if first.record.revision and first.record.target_id:
                one = second.compose_item(first.record)
                if not (one.problem or one.waits_for or one.brings or one.lacks) and one.losses == first.losses:
                    found[place] = one
        return found

    def _complete(self, composer: Composer, composed: Sequence[ComposedRecord]) -> list[ComposedRecord]:
        """Those that name a record which came to the source after its stream was read, or a file whose turn comes only
        later: it is brought over first."""
        self.goes_on_at = files.move_files(self._context, {key for one in composed for key in one.lacks})
        wanted: dict[str, set[str]] = {}
        for named, source_id in (one for each in composed for one in each.brings):
            wanted.setdefault(named, set()).add(source_id)
        regardless = {one for each in composed for one in each.regardless}
        failed: dict[tuple[str, str], MigrationError] = {}
        for name, source_ids in wanted.items():
            stream = self._context.streams[name]
            needed = frozenset(source_id for source_id in source_ids if (name, source_id) in regardless)
            found, refused = pull_records(self._context, stream, source_ids, needed=needed)
            failed |= {(name, source_id): error for source_id, error in refused.items()}
            # The newest of all would make those behind it too old to be taken as they are: it goes at the end.
            if found and not (self._serial and stream is self._stream):
                other = Sender(self._context, stream, self._scope, final=True, pulled=True)
                other.send(by_id(found))
                self.goes_on_at = self.goes_on_at or other.goes_on_at
        whole = [composer.compose_item(one.record) if one.brings or one.lacks else one for one in composed]
        for one in whole:
            error = next((failed[named] for named in one.brings if named in failed), None)
            if error is not None:
                one.problem, one.again = (error.code, error.message), isinstance(error, Transient)
            elif one.regardless and one.problem is None:  # what it needs has to be tried again first, and so has it
                one.problem, one.again = (MISSING, explain_waiting(one)), True
        return whole

    def _send_in_turn(self, calls: Iterable[Sequence[ComposedRecord]]) -> list[Settled]:
        """One call after the other, without those whose elder has to be tried again."""
        settled: list[Settled] = []
        held: set[str] = set()
        last: Record | None = None
        for call in calls:
            if last is not None and self._is_time_to_stop():
                self.left_off_at = self.left_off_at or last
                break
            last = call[-1].record
            going = [one for one in call if parent_id(one.record.row_key) not in held]
            if going:
                outcomes = self._call(going)
                settled += outcomes
                held |= {parent_id(one.row_key) for one in outcomes if self._holds(one)}
        return settled

    def _is_time_to_stop(self) -> bool:
        return self._may_leave_off and ((self._serial and self._retries) or self._context.time_is_up())

    def _holds(self, one: Settled) -> bool:
        return self._stream.ordered and one.status is Status.ERROR_RETRY

    def _refuse(self, composed: ComposedRecord) -> Settled | None:
        if composed.problem is None and composed.waits_for and self._final:
            composed.problem = (MISSING, say("record.timed_out", what=composed.waits_for))
        if composed.problem is None:
            return None
        code, sentence = composed.problem
        if composed.again:
            return self._fail(composed.record, code, sentence, retry=True)
        return Settled(composed.record.row_key, Status.IMPORT_ERR, composed.record.attempts, code, sentence)

    # ------------------------------------------------------------ calls

    def _calls(self, ready: Sequence[ComposedRecord]) -> Iterator[list[ComposedRecord]]:
        """In order: records whose call failed twice go alone, the others as many at once as the target takes. In an
        ordered stream nothing of the same parent goes in one call behind a record that is tried again: it may fail."""
        together: list[ComposedRecord] = []
        unsure: set[str] = set()
        for one in ready:
            alone = one.record.attempts >= ALONE_AFTER
            parent = parent_id(one.record.row_key)
            if alone or parent in unsure:
                yield from self._split_to_fit(together)
                together = []
                unsure = set()
            if alone:
                yield from self._split_to_fit([one])
                continue
            together.append(one)
            if self._stream.ordered and one.record.attempts:
                unsure.add(parent)
        yield from self._split_to_fit(together)

    def _split_to_fit(self, composed: Sequence[ComposedRecord]) -> Iterator[list[ComposedRecord]]:
        rest = list(composed)
        while rest:
            count = self._context.target.fits([one.item(self._stream) for one in rest])
            if count == 0:
                self._fail_too_large(rest.pop(0))
            else:
                yield rest[:count]
                rest = rest[count:]

    def _fail_too_large(self, composed: ComposedRecord) -> None:
        record = composed.record
        sentence = say("record.too_large")
        self._settle([Settled(record.row_key, Status.IMPORT_ERR, record.attempts, "TOO_LARGE", sentence)])

    def _call(self, going: Sequence[ComposedRecord]) -> list[Settled]:
        items = [one.item(self._stream) for one in going]
        started = self._context.clock.monotonic()
        replaced: list[str] = []
        try:
            outcomes = self._context.target.send(self._entity.wire, self._stream.name, items, run=self._context.run)
        except Transient as error:
            if not error.own:  # the portal's trouble, not these records': the job waits, no attempt is used
                raise
            settled = [self._fail(one.record, error.code, error.message, retry=True) for one in going]
        except Permanent as error:
            if len(going) > 1:  # the call is refused as a whole: which record is to blame shows when each goes alone
                return self._send_in_turn([one] for one in going)
            settled = [self._fail(going[0].record, error.code, error.message, retry=False)]
        except Exception as bug:  # noqa: BLE001 (whatever it is, it must not stop the other records)
            about = f"{self._stream.name} {', '.join(one.record.row_key for one in going[:3])}"
            fault = unexpected(self._context, bug, self._entity.name, about)
            if len(going) > 1:
                return self._send_in_turn([one] for one in going)
            settled = [self._fail(going[0].record, fault.code, fault.message, retry=True)]
        else:
            by_key = {outcome.key: outcome for outcome in outcomes}
            own = self._conflicts.baselines(one for one in going if by_key[one.item(self._stream).key].target_id)
            pairs = list(zip(going, items, strict=True))
            answered = [(one.record.row_key, by_key[item.key]) for one, item in pairs]
            keep_options(self._context, self._stream, answered)
            settled = [self._judge(one, item, by_key[item.key], own) for one, item in pairs]
            replaced = self._find_replaced(going, by_key)
            removal.note_other_links(self._context, self._stream, replaced)
        self._settle(settled)
        if replaced:  # a second pass that is under way may have looked before
            note_unlinked(self._context, self._stream)
            self._context.memory.links.forget()
        self._report(settled, (self._context.clock.monotonic() - started) * 1000)
        return settled

    def _find_replaced(self, going: Sequence[ComposedRecord], by_key: Mapping[str, Outcome]) -> list[str]:
        """Those that the target had lost and made again: what links to them has the IDs of the old ones."""
        known = [(one.record, by_key[one.item(self._stream).key].target_id) for one in going if one.record.target_id]
        return [record.row_key for record, there in known if there not in (None, NOWHERE, record.target_id)]

    # ------------------------------------------------------------ verdicts

    def _judge(self, one: ComposedRecord, item: Item, outcome: Outcome, own: Mapping[str, str]) -> Settled:
        if outcome.status == "failed" or outcome.target_id is None:
            return self._fail(one.record, outcome.error_code, outcome.error, retry=outcome.retry)
        row_key = one.record.row_key
        sent = own.get(row_key) or self._conflicts.pack(one)
        link = Link(row_key, outcome.target_id, item.digest, sent=sent)
        losses: Mapping[str, int] = one.losses
        if outcome.target_id == NOWHERE:
            losses = {"left_behind": 1}  # whatever it would have gone without
        else:
            remember_places(self._context, self._stream, one)
        return Settled(row_key, Status.IMPORT_OK, one.record.attempts + 1, link=link, losses=losses)

    def _fail(self, record: Record, code: str, sentence: str, *, retry: bool) -> Settled:
        attempts = record.attempts + 1
        if retry and attempts < ATTEMPTS:
            due = values.utc_text(self._context.retry_at(attempts))
            return Settled(record.row_key, Status.ERROR_RETRY, attempts, code, sentence, due)
        if retry:
            self._bury_record(record, code, sentence)
        return Settled(record.row_key, Status.IMPORT_ERR, attempts, code, sentence)

    def _bury_record(self, record: Record, code: str, sentence: str) -> None:
        at = order_key(record.row_key)
        args = {"stream": self._stream.name, "lo": at[:-1], "hi": at, "record": record.row_key}
        letter = Job(self._scope, "send", args)
        self._context.queue.letter(letter, code=code, reason=sentence, now=self._context.clock.now())

    def _settle(self, settled: Sequence[Settled]) -> None:
        if settled:
            self._context.store.settle(self._stream.name, self._stream.table, settled, now=self._context.clock.now())
        self._retries = self._retries or any(one.status is Status.ERROR_RETRY for one in settled)
        for one in settled:
            if one.status is not Status.IMPORT_OK:
                details = (one.row_key, one.status, one.attempts, one.error_code or "", one.error or "")
                self._context.tell(RecordFailed(self._entity.name, self._stream.name, *details))

    def _report(self, settled: Sequence[Settled], latency_ms: float) -> None:
        count = [one.status for one in settled].count
        ok, failed, retried = count(Status.IMPORT_OK), count(Status.IMPORT_ERR), count(Status.ERROR_RETRY)
        self._context.tell(Sent(self._entity.name, self._stream.name, ok, failed, retried, latency_ms))
