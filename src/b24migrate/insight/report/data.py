"""From the store to the facts of a report: a look at everything that is counted already, and one walk for the proof."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from b24migrate.engine import plan
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import Run
from b24migrate.engine.state import EntityState, PhaseState
from b24migrate.insight import certificate, fidelity, forecast
from b24migrate.insight.causes import causes, grouped
from b24migrate.insight.certificate.form import CLASSES
from b24migrate.insight.losses import losses
from b24migrate.insight.overview import history
from b24migrate.insight.overview.model import Point
from b24migrate.insight.report.model import (
    EntityFacts,
    Facts,
    PhaseFacts,
    Proof,
    Standing,
    StreamFacts,
    Totals,
)
from b24migrate.insight.status import Seen, stream_status
from b24migrate.model.errors import Stop
from b24migrate.model.records import Status
from b24migrate.model.streams import LATE, PHASES, Entity, Stream
from b24migrate.model.values import utc_text
from b24migrate.ports import UNRESOLVED, VERIFIED

ORDER = (*PHASES[:-1], LATE, PHASES[-1])  # as they follow one another
GATE = 3
REFUSALS = "CERTIFICATE_"
UNWRITTEN = "CERTIFICATE_NOT_WRITTEN"
UNCLOSED = "CERTIFICATE_NOT_CLOSED"


def gather(
    context: RunContext, folder: Path, *, wanted: Collection[str] = (), clean: Callable[[str], str] = str
) -> Facts:
    """`folder` is for what does not fit into memory; `wanted` names the entities without which the migration is not
    whole; `clean` takes out of the certificate's reasons what nobody else shall read: with the same one its root hash
    is that of `b24migrate certificate`."""
    at = context.clock.now()
    seen = Seen.now(context)
    run = plan.current(context.store)
    proof = prove(context, folder, clean)
    look = _Look(context, seen, frozenset((*wanted, *(run.plan.entities if run else ()))), at)
    entities = tuple(map(look.entity, context.entities))
    totals = summed([stream for entity in entities for stream in entity.streams if entity.concerned])
    files_failed = context.store.counts(context.streams["files"].table)[Status.IMPORT_ERR]
    return Facts(
        utc_text(at.replace(microsecond=0)),
        standing(run, entities, totals, wrong=bool(files_failed) or proof.code == UNCLOSED),
        run,
        plan.all_runs(context.store),
        entities,
        totals,
        files_failed,
        tuple(grouped(causes(context))),
        waits(seen.counters),
        forecast.last(context.store),
        tuple(forecast.compared(context.store)),
        way(context, entities),
        proof,
        fidelity.remembered(context, wanted),
    )


# ---------------------------------------------------------------- how it stands


def standing(run: Run | None, entities: Sequence[EntityFacts], totals: Totals, *, wrong: bool) -> Standing:
    """`wrong`: something that the totals do not tell is not as it should be."""
    if run is None:
        return Standing.NO_RUN
    if run.state == "paused":
        return Standing.PAUSED
    if run.state != plan.ENDED:
        if run.exit_code is None:
            return Standing.RUNNING
        return Standing.BLOCKED if run.exit_code == GATE else Standing.STOPPED
    if run.plan.test_limit:
        return Standing.TRY_OUT
    if any(one.missing for one in entities if one.concerned):
        return Standing.PARTLY
    counted = totals.failed or totals.findings or totals.drift or totals.waiting
    return Standing.FINDINGS if wrong or run.exit_code or counted else Standing.DONE


def prove(context: RunContext, folder: Path, clean: Callable[[str], str]) -> Proof:
    """Makes the certificate to know its root; the file itself is left to whoever asks for it."""
    place = folder / "certificate"
    try:
        made = certificate.make(context, place, clean=clean)
    except Stop as refusal:
        if not refusal.code.startswith(REFUSALS) or refusal.code == UNWRITTEN:
            raise
        return Proof(code=refusal.code, message=refusal.message)
    place.unlink()
    return Proof(made.root, {name: sum(getattr(one, name) for one in made.head.streams) for name in CLASSES})


# ---------------------------------------------------------------- entities


class _Look(NamedTuple):
    """What every entity is seen with."""

    context: RunContext
    seen: Seen
    wanted: frozenset[str]
    at: datetime

    def entity(self, entity: Entity) -> EntityFacts:
        state = self.seen.states.read(entity.name)
        streams = tuple(self.stream(entity, stream, state.pass_no) for stream in entity.streams)
        concerned = entity.name in self.wanted or bool(state.pass_no) or any(one.known for one in streams)
        phases = tuple(_phase(state, name, self.at) for name in ORDER)
        return EntityFacts(entity.name, concerned, state.verified, phases, streams, state.notes)

    def stream(self, entity: Entity, stream: Stream, pass_no: int) -> StreamFacts:
        status = stream_status(self.context, stream, pass_no, self.seen)
        return StreamFacts(
            entity=entity.name,
            name=stream.name,
            source=status.reported,
            read=status.retrieved,
            waiting=status.new,
            retrying=status.error_retry,
            imported=status.import_ok,
            verified=int(self.context.store.total(VERIFIED, f"{stream.name}:", "Equal") or 0),
            failed=status.import_err,
            excluded=status.excluded,
            impossible=status.impossible,
            drift=status.drift,
            findings=status.mismatch,
            places=self.context.store.count(UNRESOLVED, f"{stream.name}:"),
            losses=losses(self.seen.counters, stream.name),
        )


def _phase(state: EntityState, name: str, at: datetime) -> PhaseFacts:
    phase: PhaseState = state.phase(name)
    spent = None
    if phase.started:
        end = datetime.fromisoformat(phase.finished) if phase.finished else at
        spent = max(0.0, (end - datetime.fromisoformat(phase.started)).total_seconds())
    return PhaseFacts(state.name, name, phase.state, phase.started, phase.finished, spent, phase.message)


def summed(streams: Sequence[StreamFacts]) -> Totals:
    return Totals(
        source=sum(one.read if one.source is None else one.source for one in streams),
        read=sum(one.read for one in streams),
        imported=sum(one.imported for one in streams),
        verified=sum(one.verified for one in streams),
        failed=sum(one.failed for one in streams),
        waiting=sum(one.waiting + one.retrying for one in streams),
        excluded=sum(one.excluded for one in streams),
        impossible=sum(one.impossible for one in streams),
        drift=sum(abs(one.drift) for one in streams),
        findings=sum(one.findings for one in streams),
    )


# ---------------------------------------------------------------- time


def way(context: RunContext, entities: Sequence[EntityFacts]) -> tuple[Point, ...]:
    """How far it was at each moment, since the steps that are shown began."""
    began = min((one.started for entity in entities for one in entity.phases if one.started), default="")
    return tuple(history.points(context.store, began))


def waits(counters: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    named = ((name.partition(":"), value) for name, value in counters.items())
    found = [(method, value) for (kind, _, method), value in named if kind == "limit_wait"]
    return tuple(sorted(found, key=lambda one: (-one[1], one[0])))
