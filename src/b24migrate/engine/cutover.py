"""The steps of the cutover: rehearsal, freeze, finish, live. Each can be killed and repeated, and undone until users
work on the target. Several processes may do the same step at once: they share its delta runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from b24migrate.engine import plan
from b24migrate.engine.jobs import SPENT
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.cutover_state import (
    FINISH,
    FREEZE,
    LIVE,
    REHEARSAL,
    STEPS,
    CertificateFile,
    CutoverState,
    DeltaCost,
    Quiet,
    Step,
    change_cutover,
    read_cutover,
)
from b24migrate.engine.phases.delta import MARK, NOW
from b24migrate.engine.phases.found import forget_old_runs, read_found
from b24migrate.engine.run import DONE, FINDINGS, RunResult
from b24migrate.messages import say
from b24migrate.model.errors import Stop
from b24migrate.model.records import Json
from b24migrate.model.source_records import person_name
from b24migrate.model.values import utc_text
from b24migrate.ports import PASSES, Store

MOST_DELTAS = 5  # of a finish: if the last of them finds something, users still write
WATCHED = timedelta(days=14)  # late writers are reported after going live
ORDER = "CUTOVER_ORDER"
WAITED = "limit_wait:"
OTHER = "other"  # in place of a record type: jobs of no record type
MACHINES = (
    "robots",
    "workflows",
    "web_forms",
    "open_lines",
    "mail",
    "telephony",
    "accounting",
    "webhooks",
    "applications",
)


class NotNow(Stop):
    """Another step comes first. Nothing is changed."""

    exit_code = 3


class Measured(NamedTuple):
    result: RunResult
    cost: DeltaCost

    @property
    def complete(self) -> bool:
        return self.result.exit_code in (DONE, FINDINGS)


@dataclass(frozen=True, slots=True)
class Cutover:
    """`sync` makes one delta run, `certify` writes the certificate; `by` is who does it."""

    context: RunContext
    entities: Sequence[str]
    by: str
    sync: Callable[[], RunResult]
    certify: Callable[[], CertificateFile]

    @property
    def state(self) -> CutoverState:
        return read_cutover(self.context.store)

    def require(self, name: str) -> None:
        """Raises NotNow unless it is the turn of the step."""
        require_turn(self.context, self.entities, self.state, name)

    # ------------------------------------------------------------ the steps

    def rehearse(self, try_certificate: Callable[[], None]) -> RunResult:
        """Does the steps of a freeze: a delta run, another one right after it, and the certificate, which is
        discarded."""
        began = self._begin(REHEARSAL).began
        first = self._measure()
        if not first.complete:
            return first.result
        second = self._measure()
        if not second.complete:
            return second.result
        at, problem = self.context.clock.monotonic(), ""
        try:
            try_certificate()
        except Stop as stop:
            problem = stop.sentence
        certificate_s = self.context.clock.monotonic() - at
        took_s = first.cost.seconds + second.cost.seconds
        self._end(
            REHEARSAL,
            began,
            lambda step: replace(step, run=second.result.run.id, took_s=took_s, message=problem),
            costs=(first.cost, second.cost),
            certificate_s=certificate_s,
        )
        return second.result

    def freeze(self) -> RunResult:
        """The person has confirmed that no user works in the source any more."""
        began = self._begin(FREEZE).began
        made = self._measure()
        if not made.complete:
            return made.result
        run, seconds = made.result.run.id, made.cost.seconds
        self._end(FREEZE, began, lambda step: replace(step, run=run, took_s=step.took_s + seconds))
        return self._name_writers(made.result)

    def finish(self, most: int = MOST_DELTAS) -> RunResult:
        """Delta runs until one finds nothing, then the certificate."""
        began = self._begin(FINISH).began
        for number in range(1, most + 1):
            made = self._measure()
            if not made.complete:
                return made.result
            if not made.cost.changes:
                return self._prove(began, made, number)
            self._add_time(began, made)
        named = self._name_writers(made.result)
        if named is not made.result:
            return named
        return RunResult(FINDINGS, say("cutover.not_quiet", count=most, found=made.cost.changes), made.result.run)

    def go_live(self) -> CutoverState:
        """From here on the target wins, and no step can be undone."""
        now = self._now()

        def how(state: CutoverState) -> CutoverState:
            if state.is_live:
                return state
            require_turn(self.context, self.entities, state, LIVE)
            run = plan.current(self.context.store)
            return state.with_step(LIVE, Step(now, now, self.by, portal=self._portal_time(), run=run.id if run else ""))

        return change_cutover(self.context.store, how)

    # ------------------------------------------------------------ what they have in common

    def _begin(self, name: str) -> Step:
        """One that was started and did not end continues. A rehearsal or a freeze that ended stays so until the
        repetition has ended, too; a finish does not, since a delta run may find something."""
        now, portal = self._now(), self._portal_time()
        forget_old_runs(self.context.store)

        def how(state: CutoverState) -> CutoverState:
            require_turn(self.context, self.entities, state, name)
            step = state.step(name)
            if step.began and (not step.ended or name == FREEZE):
                return state.with_step(name, replace(step, by=self.by))
            if name == FINISH:
                return state.with_step(name, Step(now, by=self.by, portal=portal), quiet=None, certificate=None)
            return state.with_step(name, replace(step, began=now, by=self.by, portal=portal))

        return change_cutover(self.context.store, how).step(name)

    def _end(self, name: str, began: str, what: Callable[[Step], Step], **others: Json) -> CutoverState:
        def how(state: CutoverState) -> CutoverState:
            require_same(state, name, began)
            return state.with_step(name, replace(what(state.step(name)), ended=self._now()), **others)

        return change_cutover(self.context.store, how)

    def _add_time(self, began: str, made: Measured) -> None:
        def how(state: CutoverState) -> CutoverState:
            require_same(state, FINISH, began)
            step = state.step(FINISH)
            more = replace(step, run=made.result.run.id, took_s=step.took_s + made.cost.seconds)
            return state.with_step(FINISH, more)

        change_cutover(self.context.store, how)

    def _prove(self, began: str, made: Measured, number: int) -> RunResult:
        """The proof is in the store before the certificate, which states it."""
        self._add_time(began, made)
        run = made.result.run
        marks = [row.values for row in self.context.store.rows(PASSES, f"{MARK}:")]
        as_of, full = (oldest(str(row[name]) for row in marks) for name in ("MarkUtc", "FullUtc"))

        def how(state: CutoverState) -> CutoverState:
            require_same(state, FINISH, began)
            quiet = Quiet(run.id, run.started, as_of, state.step(FREEZE).portal, full, number)
            return replace(state, quiet=quiet)

        change_cutover(self.context.store, how)
        at = self.context.clock.monotonic()
        written = self.certify()
        took_s = self.context.clock.monotonic() - at
        self._end(
            FINISH,
            began,
            lambda step: replace(step, took_s=step.took_s + took_s, message=made.result.message),
            certificate=written,
        )
        return made.result

    def _measure(self) -> Measured:
        """One delta run and what it took."""
        context, store = self.context, self.context.store
        before, counters = plan.current(store), store.counters()
        since_s = self._piled_up_s()
        at = context.clock.monotonic()
        result = self.sync()
        seconds = context.clock.monotonic() - at
        after = store.counters()
        grown = {name: value - counters.get(name, 0.0) for name, value in after.items()}
        run = result.run.id
        cost = DeltaCost(
            run,
            seconds,
            since_s,
            {one.stream: one.total for one in read_found(store, run) if one.total},
            self._spent(grown),
            {**self._read_whole(), OTHER: say("delta.every_pass")},
            sum(value for name, value in grown.items() if name.startswith(WAITED)),
            before is not None and before.id == run,
        )
        return Measured(result, cost)

    def _spent(self, grown: Mapping[str, float]) -> dict[str, float]:
        """The time of all jobs by record type."""
        found: dict[str, float] = {}
        for name, seconds in grown.items():
            if name.startswith(SPENT) and seconds > 0:
                stream = name.removeprefix(SPENT)
                shown = stream if stream in self.context.streams else OTHER
                found[shown] = found.get(shown, 0.0) + seconds
        return found

    def _piled_up_s(self) -> float:
        rows = self.context.store.rows(PASSES, f"{MARK}:")
        marks = [datetime.fromisoformat(row.values["MarkUtc"]) for row in rows]
        return (self._portal_now() - min(marks)).total_seconds() if marks else 0.0

    def _read_whole(self) -> dict[str, str]:
        rows = self.context.store.rows(PASSES, f"{NOW}:")
        return {row.key.removeprefix(f"{NOW}:"): row.values["Why"] for row in rows if row.values["Why"]}

    def _name_writers(self, result: RunResult) -> RunResult:
        found = read_found(self.context.store, result.run.id)
        records = sum(writer.records for one in found for writer in one.writers)
        if not records:
            return result
        names = name_users(self.context, sorted({writer.user for one in found for writer in one.writers}))
        message = say("cutover.still_write", count=records, names=list(names.values()))
        return RunResult(FINDINGS, message, result.run)

    def _now(self) -> str:
        return utc_text(self.context.clock.now().replace(microsecond=0))

    def _portal_now(self) -> datetime:
        return self.context.clock.now() + timedelta(seconds=self.context.facts.ahead_s)

    def _portal_time(self) -> str:
        return utc_text(self._portal_now().replace(microsecond=0))


# ---------------------------------------------------------------- whose turn it is


def require_turn(context: RunContext, entities: Sequence[str], state: CutoverState, name: str) -> None:
    """Raises NotNow with one sentence and the command that comes first."""
    if why := find_obstacle(context, entities, state, name):
        raise why


def find_obstacle(context: RunContext, entities: Sequence[str], state: CutoverState, name: str) -> NotNow | None:
    if state.is_live:
        return _not_now("live", since=state.step(LIVE).ended)
    if name == REHEARSAL:
        if missing := unread_entities(context, entities):
            return _not_now("no_full_pass", names=[_named(one) for one in missing])
        return _not_now("frozen", since=state.step(FREEZE).began) if state.is_frozen else None
    if name == FREEZE:
        if not state.step(REHEARSAL).ended:
            return _not_now("not_rehearsed")
        return _not_now("finished") if state.step(FINISH).ended else None
    if name == FINISH:
        return None if state.step(FREEZE).ended else _not_now("not_frozen")
    if not state.step(FINISH).ended or state.quiet is None:
        return _not_now("not_finished")
    return None if is_still_quiet(context.store, state.quiet) else _not_now("loud")


def is_still_quiet(store: Store, quiet: Quiet) -> bool:
    """Whether no later run found anything."""
    if quiet.over:
        return False
    run = plan.current(store)
    if run is None or run.id == quiet.run:
        return True
    return run.state == plan.ENDED and run.plan.delta and not any(one.total for one in read_found(store, run.id))


def unread_entities(context: RunContext, entities: Sequence[str]) -> list[str]:
    """Those that no complete pass has read yet."""
    read = {row.key.removeprefix(f"{MARK}:") for row in context.store.rows(PASSES, f"{MARK}:")}
    chosen = [one for one in context.entities if one.name in entities]
    return [one.name for one in chosen if not {stream.name for stream in one.streams} <= read]


def full_pass_time(context: RunContext, entities: Sequence[str]) -> str:
    """The start of the oldest full pass of these; "" while one is missing."""
    if not entities or unread_entities(context, entities):
        return ""
    names = {stream.name for one in context.entities if one.name in entities for stream in one.streams}
    rows = context.store.rows(PASSES, f"{MARK}:")
    return oldest(str(row.values["FullUtc"]) for row in rows if row.key.removeprefix(f"{MARK}:") in names)


def oldest(times: Iterable[str]) -> str:
    return utc_text(min(map(datetime.fromisoformat, times)).replace(microsecond=0))


def require_same(state: CutoverState, name: str, began: str) -> None:
    """Raises NotNow if the step was undone meanwhile."""
    if state.step(name).began != began:
        raise _not_now("taken_back", step=step_name(name))


def undo_step(context: RunContext, name: str) -> CutoverState:
    """This step and those after it are as if they had not been done. Nothing changes on either portal."""

    def how(state: CutoverState) -> CutoverState:
        if state.is_live:
            raise _not_now("live", since=state.step(LIVE).ended)
        if not state.step(name).began:
            raise _not_now("nothing_to_undo", step=step_name(name))
        kept = {one: step for one, step in state.steps.items() if STEPS.index(one) < STEPS.index(name)}
        forgotten = replace(state, steps=kept, quiet=None, certificate=None)
        return replace(forgotten, costs=(), certificate_s=0.0) if name == REHEARSAL else forgotten

    return change_cutover(context.store, how)


def step_name(name: str) -> str:
    return say(f"cutover.step.{name}")


def _not_now(key: str, **values: Json) -> NotNow:
    fix = f"cutover.order.{key}_fix"
    return NotNow(say(f"cutover.order.{key}", **values), code=ORDER, hint=say(fix))


def not_confirmed() -> NotNow:
    return _not_now("not_confirmed")


def _named(entity: str) -> str:
    return say("cutover.entity", entity=entity)


# ---------------------------------------------------------------- people


def name_users(context: RunContext, ids: Sequence[str]) -> Mapping[str, str]:
    """By id the name that the saved copy has; of an unknown one a sentence."""
    known = context.lookup(context.people, [one for one in ids if one]) if context.people else {}
    return {
        one: person_name(known[one])
        if one in known
        else say("cutover.user", id=one)
        if one
        else say("cutover.unknown_user")
        for one in ids
    }
