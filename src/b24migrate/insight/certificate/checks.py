"""Whether a certificate can be made at all: what a look at the states and the inventories tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from b24migrate.engine import plan
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import Run
from b24migrate.engine.state import ENDED, PENDING, AllStates, EntityState
from b24migrate.insight.certificate.form import Inventory
from b24migrate.messages import say
from b24migrate.model.errors import Halted, Unproven
from b24migrate.model.streams import LATE, PHASES, Entity, Stream
from b24migrate.ports import INVENTORY

NEEDED = ("get", "set", LATE, "verify")
GO_ON = say("certificate.go_on")


class CompleteRun(NamedTuple):
    run: Run
    states: Sequence[EntityState]
    streams: Sequence[Stream]  # of the entities, and the files last
    inventories: dict[str, Inventory]


def require_complete(context: RunContext) -> CompleteRun:
    """Raises Halted when something is not done yet, Unproven when what was done is not the whole."""
    run = plan.current(context.store)
    if run is None:
        message = say("certificate.nothing")
        raise Halted(message, code="CERTIFICATE_INCOMPLETE", hint=say("certificate.start"))
    if run.state != plan.ENDED:
        known = say("certificate.unfinished_why", id=run.id, why=run.message)
        message = known if run.message else say("certificate.unfinished", id=run.id)
        raise Halted(message, code="CERTIFICATE_INCOMPLETE", hint=GO_ON)
    states = AllStates(context.store)
    states.look()
    found = {entity.name: states.read(entity.name) for entity in context.entities}
    entities = [one for one in context.entities if one.name in run.plan.entities or found[one.name].pass_no]
    for entity in entities:
        _require_done(entity, found[entity.name])
    inventories = {stream.name: _inventory(context, stream) for entity in entities for stream in entity.streams}
    streams = [*(stream for entity in entities for stream in entity.streams), context.streams["files"]]
    return CompleteRun(run, [found[entity.name] for entity in entities], streams, inventories)


def _require_done(entity: Entity, state: EntityState) -> None:
    """A mini-task by itself may leave the custom fields out."""
    for phase in (*PHASES, LATE):
        now = state.phase(phase)
        if now.state in ENDED or (now.state == PENDING and phase not in NEEDED):
            continue
        task = entity.task("set" if phase == LATE else phase)
        known = say("certificate.undone_why", task=task, state=now.state, why=now.message)
        message = known if now.message else say("certificate.undone", task=task, state=now.state)
        raise Halted(message, code="CERTIFICATE_INCOMPLETE", hint=GO_ON)


def _inventory(context: RunContext, stream: Stream) -> Inventory:
    latest = [
        row.values for row in context.store.rows(INVENTORY, prefix=f"{stream.name}:") if row.values.get("IsLatest")
    ]
    if len(latest) != 1:
        message = say("certificate.inventories", stream=stream.name, count=len(latest))
        raise Unproven(message, code="CERTIFICATE_NOT_CLOSED", hint=say("certificate.run_again"))
    (row,) = latest
    if row.get("Limited"):
        message = say("certificate.limited", stream=stream.name)
        raise Unproven(message, code="CERTIFICATE_LIMITED", hint=say("certificate.unlimited"))
    reported = row.get("ReportedTotal")
    return Inventory(
        str(row["SnapshotUtc"]),
        str(row["SourceMethod"]),
        None if reported is None else int(reported),
        int(row["RetrievedTotal"]),
        int(row["PageCount"]),
    )
