"""One look at everything, and what a viewer who looks again and again remembers between two looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zlib import crc32

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.state import DONE, PENDING, SKIPPED, PhaseState
from b24migrate.insight.overview import blockers, summary
from b24migrate.insight.overview.facts import WAITS, Facts, Gathering
from b24migrate.insight.overview.history import WINDOW_S, Moment
from b24migrate.insight.overview.model import (
    EntityView,
    FilesView,
    Overview,
    PhaseView,
    Point,
    RunFacts,
    StreamView,
    Verdict,
)
from b24migrate.insight.overview.pace import NONE, gap_s, speed
from b24migrate.insight.overview.progress import Standing, progress, standing
from b24migrate.insight.status import Snapshot, StreamStatus
from b24migrate.model.records import Status
from b24migrate.model.streams import LATE, PHASES, Entity
from b24migrate.model.values import utc_text

AT_WORK = (Verdict.RUNNING, Verdict.LIMITED, Verdict.OUTAGE)


def overview(context: RunContext) -> Overview:
    return Looking(context).look()


class Looking:
    """For one viewer. What moved between two of his looks he knows by himself; what was before is in the history."""

    def __init__(self, context: RunContext) -> None:
        self.status = Snapshot("")  # as of the last look: what `status --json` says
        self._context = context
        self._gathering = Gathering(context)
        self._seen: list[Moment] = []

    def look(self) -> Overview:
        return self.see()[0]

    def see(self) -> tuple[Overview, Moment]:
        """With what is to be remembered of it."""
        context = self._context
        facts = self._gathering.now()
        self.status = Snapshot(facts.run.id if facts.run else "", dict(facts.statuses))
        stands = standing(facts)
        now = moment(facts, stands)
        recent = sorted([*facts.history, *self._seen], key=lambda one: one.at)
        recent = [one for one in recent if one.at < now.at]
        entities = tuple(_entity(facts, entity) for entity in context.entities)
        waits = blockers.waits(facts, recent)
        still = summary.Still(moved_at(facts, recent, now), context.queue.next_visible)
        verdict = summary.now(facts, entities, waits, blockers.outages(facts), still)
        told = progress(facts, stands, recent)
        self._remember(now)
        streams = [one for entity in entities for one in entity.streams]
        files = _files(facts)
        seen = Overview(
            at=now.point.at,
            now=verdict,
            run=_run(facts),
            progress=told,
            speed=speed(recent, now) if verdict.verdict in AT_WORK else NONE,
            entities=entities,
            files=files,
            waits=waits,
            gates=blockers.closed(context, facts),
            failed=sum(one.failed for one in streams) + files.failed,
            retrying=sum(one.retrying for one in streams) + facts.files.get(Status.ERROR_RETRY, 0),
            findings=sum(one.findings for one in streams),
            dead_letters=facts.dead,
            workers=facts.held,
            forecast_s=facts.foretold.total_s if facts.foretold else None,
        )
        return seen, replace(now, share=told.share)

    def _remember(self, now: Moment) -> None:
        self._seen = [one for one in self._seen if (now.at - one.at).total_seconds() <= WINDOW_S]
        self._seen.append(now)


def moment(facts: Facts, stands: Standing) -> Moment:
    statuses = [one for entity in facts.statuses.values() for one in entity.streams.values()]
    point = Point(
        at=utc_text(facts.at),
        read=facts.read,
        imported=sum(one.import_ok for one in statuses),
        verified=sum(facts.verified.values()),
        failed=sum(one.import_err for one in statuses) + facts.files.get(Status.IMPORT_ERR, 0),
        waited_s=round(sum(facts.waited_s.values()), 3),
    )
    return Moment(
        point,
        run=facts.run.id if facts.run else "",
        share=stands.share,
        units=stands.units,
        basis=stands.basis,
        moved=_mark(facts),
        waits=facts.waited_s,
    )


def _mark(facts: Facts) -> str:
    """Is another one as soon as anything has moved. That somebody waits is no movement."""
    counters = [pair for pair in sorted(facts.seen.counters.items()) if not pair[0].startswith(WAITS)]
    counts = [list(facts.seen.counts[name].values()) for name in sorted(facts.seen.counts)]
    versions = [facts.state(entity).version for entity in facts.entities]
    told = (counters, counts, versions, list(facts.files.values()), sorted(facts.verified.items()))
    return f"{crc32(repr(told).encode()):08x}"


def moved_at(facts: Facts, recent: Sequence[Moment], now: Moment) -> datetime:
    """When something was last seen to move. After a gap, in which nobody remembered anything, that is when it began."""
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


# ---------------------------------------------------------------- what it looks like


def _run(facts: Facts) -> RunFacts | None:
    run = facts.run
    if run is None:
        return None
    plan = run.plan
    return RunFacts(
        run.id, run.state, run.started, run.finished, run.exit_code, plan.entities, plan.phases, plan.test_limit
    )


def _entity(facts: Facts, entity: Entity) -> EntityView:
    status, state = facts.statuses[entity.name], facts.state(entity)
    planned = facts.run is not None and entity.name in facts.run.plan.entities
    phases = tuple(_phase(phase, state.phase(phase), state.phase(LATE)) for phase in PHASES)
    streams = tuple(_stream(name, one, facts.verified[name]) for name, one in status.streams.items())
    return EntityView(entity.name, planned, status.verified, phases, streams, status.notes)


def _phase(name: str, one: PhaseState, late: PhaseState) -> PhaseView:
    """The second pass is a part of set: whoever is in it still imports."""
    if name == "set" and one.state == DONE and late.state not in (PENDING, SKIPPED):
        return PhaseView(name, late.state, one.started, late.finished, late.message)
    return PhaseView(name, one.state, one.started, one.finished, one.message)


def _stream(name: str, one: StreamStatus, verified: int) -> StreamView:
    return StreamView(
        name=name,
        source=one.reported,
        read=one.retrieved,
        staged=one.new + one.import_ok + one.import_err + one.error_retry,
        imported=one.import_ok,
        failed=one.import_err,
        retrying=one.error_retry,
        excluded=one.excluded,
        impossible=one.impossible,
        verified=verified,
        findings=one.mismatch,
        drift=one.drift,
    )


def _files(facts: Facts) -> FilesView:
    counts = facts.files
    return FilesView(
        sum(counts.values()), facts.fetched, counts.get(Status.IMPORT_OK, 0), counts.get(Status.IMPORT_ERR, 0)
    )
