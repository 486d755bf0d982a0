"""What else the store said about records that are taken back, and what is not true any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from b24migrate.phases.verify import FOUND
from b24migrate.phases.work import Work
from b24migrate.pipeline import plan
from b24migrate.pipeline.state import EntityState, PhaseState, States
from b24migrate.streams import FINAL, LATE, Entity, Stream

UNDONE = ("set", LATE, FINAL, "verify")


def begin(work: Work, streams: Sequence[Stream]) -> None:
    """Before the first record goes, so that nobody who looks after a kill is told that all is well."""
    names = list(dict.fromkeys(work.owner[one.name].name for one in streams))
    for entity in (one for one in work.entities if one.name in names):
        _open(work, entity)
        for stream in entity.streams:
            for register in FOUND:
                work.store.erase(register, f"{stream.name}:")
    plan.annul(work.store, work.clock, names)


def _open(work: Work, entity: Entity) -> None:
    for phase in UNDONE:
        work.queue.drop(entity.task(phase))

    def pending(state: EntityState) -> EntityState:
        for phase in UNDONE:
            state = state.with_phase(phase, PhaseState())
        return replace(state, verified=False)

    States(work.store).change(entity.name, pending)
