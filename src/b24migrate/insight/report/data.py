"""From the store to the facts of a report: the counters, and one walk for the certificate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path

from b24migrate.engine import analysis, plan
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import Run
from b24migrate.engine.state import EntityState, PhaseState
from b24migrate.engine.verified import count_failed_files_by_entity
from b24migrate.insight import certificate, fidelity, forecast
from b24migrate.insight.causes import group_causes, list_causes
from b24migrate.insight.certificate.form import CLASSES
from b24migrate.insight.last_pass import last_pass
from b24migrate.insight.losses import losses
from b24migrate.insight.report.model import (
    EntityFacts,
    Facts,
    PhaseFacts,
    Proof,
    Standing,
    StreamFacts,
    Totals,
)
from b24migrate.insight.status import points
from b24migrate.insight.status.facts import FactReader
from b24migrate.insight.status.facts import Facts as StatusFacts
from b24migrate.insight.status.model import Point
from b24migrate.model.errors import Stop
from b24migrate.model.records import Status
from b24migrate.model.streams import LATE, PHASES, Entity, Stream
from b24migrate.model.values import utc_text

ORDER = (*PHASES[:-1], LATE, PHASES[-1])  # as they follow one another
GATE = 3
REFUSALS = "CERTIFICATE_"
UNWRITTEN = "CERTIFICATE_NOT_WRITTEN"
UNCLOSED = "CERTIFICATE_NOT_CLOSED"


def gather(
    context: RunContext, folder: Path, *, wanted: Collection[str] = (), clean: Callable[[str], str] = str
) -> Facts:
    """`folder` is for what does not fit into memory; `wanted` names the entities without which the migration is not
    complete; `clean` removes secrets from the reasons of the certificate. With the same `clean` its root hash is that
    of `b24migrate certificate`."""
    status = FactReader(context).read()
    run = status.run
    proof = make_proof(context, folder, clean)
    concerned = frozenset((*wanted, *(run.plan.entities if run else ())))
    entities = tuple(_entity(status, entity, concerned) for entity in context.entities)
    totals = sum_streams([stream for entity in entities for stream in entity.streams if entity.concerned])
    # Losses of entities outside the plan are listed too.
    told = (*wanted, *analysis.load(context.store).facts.left_out) if wanted else ()
    files_failed = status.files.get(Status.IMPORT_ERR, 0)
    unclean = bool(count_failed_files_by_entity(context)) or proof.code == UNCLOSED
    return Facts(
        utc_text(status.at.replace(microsecond=0)),
        find_standing(run, entities, totals, wrong=unclean),
        run,
        plan.all_runs(context.store),
        entities,
        totals,
        files_failed,
        tuple(group_causes(list_causes(context))),
        tuple(status.waited_s.items()),
        forecast.load_last(context.store),
        tuple(forecast.compare_forecast(context.store)),
        list_points(context, entities),
        proof,
        fidelity.last_list(context, told),
        last_pass(context),
    )


# ---------------------------------------------------------------- the verdict


def find_standing(run: Run | None, entities: Sequence[EntityFacts], totals: Totals, *, wrong: bool) -> Standing:
    """`wrong`: something is wrong that the totals do not show."""
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


def make_proof(context: RunContext, folder: Path, clean: Callable[[str], str]) -> Proof:
    """Makes the certificate to know its root; it writes no file."""
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


def _entity(status: StatusFacts, entity: Entity, wanted: Collection[str]) -> EntityFacts:
    state = status.state(entity)
    streams = tuple(_stream(status, entity, stream) for stream in entity.streams)
    concerned = entity.name in wanted or bool(state.pass_no) or any(one.known for one in streams)
    phases = tuple(_phase(state, name, status.at) for name in ORDER)
    return EntityFacts(entity.name, concerned, state.verified, phases, streams, state.notes)


def _stream(status: StatusFacts, entity: Entity, stream: Stream) -> StreamFacts:
    one = status.streams[stream.name]
    numbers = {field.name: getattr(one, field.name) for field in fields(one)}
    places, lost = status.registers[stream.name].places, losses(status.counters, stream.name)
    return StreamFacts(**numbers, entity=entity.name, places=places, losses=lost)


def _phase(state: EntityState, name: str, at: datetime) -> PhaseFacts:
    phase: PhaseState = state.phase(name)
    spent = None
    if phase.started:
        end = datetime.fromisoformat(phase.finished) if phase.finished else at
        spent = max(0.0, (end - datetime.fromisoformat(phase.started)).total_seconds())
    return PhaseFacts(state.name, name, phase.state, phase.started, phase.finished, spent, phase.message)


def sum_streams(streams: Sequence[StreamFacts]) -> Totals:
    return Totals(
        source=sum(one.read if one.source is None else one.source for one in streams),
        read=sum(one.read for one in streams),
        imported=sum(one.imported for one in streams),
        verified=sum(one.verified for one in streams),
        failed=sum(one.failed for one in streams),
        waiting=sum(one.waiting + one.retrying for one in streams),
        excluded=sum(one.excluded for one in streams),
        deleted=sum(one.deleted for one in streams),
        impossible=sum(one.impossible for one in streams),
        drift=sum(abs(one.drift) for one in streams),
        findings=sum(one.findings for one in streams),
        undecided=sum(one.undecided for one in streams),
    )


# ---------------------------------------------------------------- time


def list_points(context: RunContext, entities: Sequence[EntityFacts]) -> tuple[Point, ...]:
    """The progress over time, since the start of the steps that are shown."""
    began = min((one.started for entity in entities for one in entity.phases if one.started), default="")
    return tuple(points(context.store, began))
