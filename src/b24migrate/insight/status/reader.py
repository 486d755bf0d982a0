"""The overview of a migration, for repeated reads, and the history that they leave."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zlib import crc32

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.state import DONE, PENDING, SKIPPED, PhaseState
from b24migrate.insight.status import history
from b24migrate.insight.status.facts import WAITS, FactReader, Facts
from b24migrate.insight.status.history import WINDOW_S, Moment
from b24migrate.insight.status.model import (
    EntityStatus,
    EntityView,
    FilesView,
    Overview,
    PhaseView,
    Point,
    RunFacts,
    Snapshot,
    Verdict,
)
from b24migrate.insight.status.progress import (
    NO_SPEED,
    Completion,
    gap_s,
    measure_completion,
    measure_progress,
    measure_speed,
)
from b24migrate.insight.status.verdict import Standstill, find_verdict, list_gates, list_waits, open_outages
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError
from b24migrate.model.events import Noted
from b24migrate.model.records import Status
from b24migrate.model.streams import LATE, PHASES, Entity
from b24migrate.model.values import utc_text

RUNNING = (Verdict.RUNNING, Verdict.LIMITED, Verdict.OUTAGE)
READING_SHARE = 0.02  # of the time, at most: a remote store answers slowly
Metric = tuple[str, dict[str, str], float]  # name, labels, value


def snapshot(context: RunContext) -> Snapshot:
    return FactReader(context).read().snapshot


def overview(context: RunContext) -> Overview:
    return StatusReader(context).overview()


class StatusReader:
    """For one viewer: remembers what it read before, up to the window of the pace. Older moments are in the store."""

    def __init__(self, context: RunContext) -> None:
        self.snapshot = Snapshot("")  # of the last overview: the content of `status --json`
        self._context = context
        self._facts = FactReader(context)
        self._recent: list[Moment] = []

    def overview(self) -> Overview:
        return self.read()[0]

    def read(self) -> tuple[Overview, Moment]:
        """The overview, and the moment to keep in the history."""
        context = self._context
        facts = self._facts.read()
        self.snapshot = facts.snapshot
        completion = measure_completion(facts)
        now = _moment(facts, completion)
        recent = sorted([*facts.history, *self._recent], key=lambda one: one.at)
        recent = [one for one in recent if one.at < now.at]
        entities = tuple(_entity(facts, entity) for entity in context.entities)
        waits = list_waits(facts, recent)
        standstill = Standstill(_last_change(facts, recent, now), context.queue.next_visible)
        verdict = find_verdict(facts, entities, waits, open_outages(facts), standstill)
        progress = measure_progress(facts, completion, recent)
        self._remember(now)
        streams = [one for entity in entities for one in entity.streams]
        files = _files(facts)
        made = Overview(
            at=now.point.at,
            now=verdict,
            run=_run(facts),
            progress=progress,
            speed=measure_speed(recent, now) if verdict.verdict in RUNNING else NO_SPEED,
            entities=entities,
            files=files,
            waits=waits,
            gates=list_gates(context, facts),
            failed=sum(one.failed for one in streams) + files.failed,
            retrying=sum(one.retrying for one in streams) + facts.files.get(Status.ERROR_RETRY, 0),
            findings=sum(one.findings for one in streams),
            undecided=sum(one.undecided for one in streams),
            dead_letters=facts.dead,
            workers=facts.held,
            forecast_s=facts.any_forecast.total_s if facts.any_forecast else None,
        )
        return made, replace(now, share=progress.share)

    def forget_counts(self) -> None:
        """Something was changed from here: what was counted is counted again."""
        self._facts.forget_counts()

    def _remember(self, now: Moment) -> None:
        self._recent = [one for one in self._recent if (now.at - one.at).total_seconds() <= WINDOW_S]
        self._recent.append(now)


def _moment(facts: Facts, completion: Completion) -> Moment:
    streams = facts.streams.values()
    point = Point(
        at=utc_text(facts.at),
        read=facts.read,
        imported=sum(one.imported for one in streams),
        verified=sum(one.verified for one in streams),
        failed=sum(one.failed for one in streams) + facts.files.get(Status.IMPORT_ERR, 0),
        waited_s=round(sum(facts.waited_s.values()), 3),
    )
    return Moment(
        point,
        run=facts.run_id,
        share=completion.share,
        units=completion.units,
        basis=completion.basis,
        moved=_fingerprint(facts),
        waits=facts.waited_s,
    )


def _fingerprint(facts: Facts) -> str:
    """Changes with any progress. A wait is not progress."""
    counters = [pair for pair in sorted(facts.counters.items()) if not pair[0].startswith(WAITS)]
    streams = [facts.streams[name] for name in sorted(facts.streams)]
    counts = [(one.waiting, one.imported, one.failed, one.retrying, one.verified) for one in streams]
    versions = [facts.state(entity).version for entity in facts.entities]
    return f"{crc32(repr((counters, counts, versions, list(facts.files.values()))).encode()):08x}"


def _last_change(facts: Facts, recent: Sequence[Moment], now: Moment) -> datetime:
    """When something last moved. A gap without moments counts from its start."""
    after = now
    for before in reversed(recent):
        if before.moved != after.moved:
            return min(after.at, before.at + timedelta(seconds=gap_s(before.step_s)))
        after = before
    if recent or facts.run is None:
        return after.at
    phases = [one for entity in facts.planned for one in facts.state(entity).phases.values()]
    times = [facts.run.started, *(time for one in phases for time in (one.started, one.finished))]
    return max((datetime.fromisoformat(time) for time in times if time), default=now.at)


# ---------------------------------------------------------------- views


def _run(facts: Facts) -> RunFacts | None:
    run = facts.run
    if run is None:
        return None
    plan = run.plan
    return RunFacts(
        run.id,
        run.state,
        run.started,
        run.finished,
        run.exit_code,
        plan.entities,
        plan.phases,
        plan.test_limit,
        plan.delta,
    )


def _entity(facts: Facts, entity: Entity) -> EntityView:
    state = facts.state(entity)
    planned = facts.run is not None and entity.name in facts.run.plan.entities
    phases = tuple(_phase(phase, state.phase(phase), state.phase(LATE)) for phase in PHASES)
    streams = tuple(facts.streams[stream.name] for stream in entity.streams)
    return EntityView(entity.name, planned, facts.is_verified(entity), phases, streams, facts.notes(entity))


def _phase(name: str, one: PhaseState, late: PhaseState) -> PhaseView:
    """The second pass is a part of set."""
    if name == "set" and one.state == DONE and late.state not in (PENDING, SKIPPED):
        return PhaseView(name, late.state, one.started, late.finished, late.message)
    return PhaseView(name, one.state, one.started, one.finished, one.message)


def _files(facts: Facts) -> FilesView:
    counts = facts.files
    return FilesView(
        sum(counts.values()), facts.fetched, counts.get(Status.IMPORT_OK, 0), counts.get(Status.IMPORT_ERR, 0)
    )


# ---------------------------------------------------------------- history


def remember(context: RunContext, every_s: float = history.STEP_S) -> None:
    """Keeps this moment; `every_s` is the time until the next one."""
    HistoryWriter(context, every_s).now()


class HistoryWriter:
    """Keeps a moment about every ten seconds; less often if reading the status takes long."""

    def __init__(self, context: RunContext, every_s: float = history.STEP_S) -> None:
        self._context = context
        self._every_s = every_s
        self._reader = StatusReader(context)
        self._due = self._due_really = 0.0  # by the clock, which may be fast, and by the time that reading takes
        self._cost_s = 0.0
        self._noted = False

    def tick(self) -> None:
        if self._context.clock.monotonic() >= self._due and time.monotonic() >= self._due_really:
            self.now()

    def now(self) -> None:
        """If the store does not answer, the moment is missing; the workers report the store."""
        began = time.monotonic()
        try:
            _, moment = self._reader.read()
            step_s = max(self._every_s, self._cost_s / READING_SHARE)
            history.keep(self._context.store, replace(moment, step_s=step_s))
            history.thin(self._context.store)
        except MigrationError:
            pass
        except Exception as bug:  # noqa: BLE001 (a gap in the chart is better than a stopped migration)
            self._note_once(bug)
        ended = time.monotonic()
        self._cost_s = ended - began
        self._due = self._context.clock.monotonic() + self._every_s
        self._due_really = ended + self._cost_s / READING_SHARE

    def _note_once(self, bug: Exception) -> None:
        if not self._noted:
            self._noted = True
            self._context.tell(Noted("warning", say("work.no_history", kind=type(bug).__name__)))


# ---------------------------------------------------------------- metrics


def figures(context: RunContext) -> list[Metric]:
    facts = FactReader(context).read()
    found = [one for entity in facts.snapshot.entities.values() for one in _entity_metrics(facts, entity)]
    found += [("limit_wait_seconds_total", {"method": method}, value) for method, value in facts.waited_s.items()]
    return [*found, ("dlq_messages", {}, context.queue.dead_count())]


def _entity_metrics(facts: Facts, entity: EntityStatus) -> Iterator[Metric]:
    counters = facts.counters
    for name, stream in entity.streams.items():
        label = {"entity": name}
        yield "records_extracted_total", label, stream.staged
        yield "records_import_ok_total", label, stream.imported
        yield "records_import_err_total", label, stream.failed
        yield "records_deleted_total", label, stream.deleted
        yield "records_conflicts_total", label, stream.conflicts
        yield "retry_attempts_total", label, counters.get(f"retries:{name}", 0)
        yield "verify_sample_mismatch_total", label, stream.findings
        yield "custom_fields_created_total", label, counters.get(f"custom_fields_created:{name}", 0)
        yield "attachments_download_fail_total", label, counters.get(f"download_failed:{name}", 0)
        yield "inventory_retrieved", label, stream.read
        yield "inventory_drift", label, stream.drift
        if stream.source is not None:
            yield "inventory_reported", label, stream.source
    for phase, state in entity.phases.items():
        if state.started:
            end = datetime.fromisoformat(state.finished) if state.finished else facts.at
            spent_s = (end - datetime.fromisoformat(state.started)).total_seconds()
            yield "duration_ms", {"entity": entity.name, "phase": phase}, spent_s * 1000
