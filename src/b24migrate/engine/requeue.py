"""Failed records and dead letters put back to work, and the phases that take them up again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from b24migrate.engine import plan
from b24migrate.engine.phases.conflicts import count_waiting
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import Plan
from b24migrate.engine.run import Runner, RunResult
from b24migrate.engine.state import DONE, EntityState, PhaseState, States
from b24migrate.model.streams import FINAL, LATE, PHASES

FROM_SET = PHASES[PHASES.index("set") :]
FROM_GET = PHASES[PHASES.index("get") :]


@dataclass(slots=True)
class Requeued:
    """How many records, files and failed jobs are retried, and the entities they belong to."""

    records: int = 0
    files: int = 0
    parts: int = 0
    entities: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.records or self.files or self.parts)


def requeue(context: RunContext, names: Collection[str], code: str = "") -> Requeued:
    """Of these entities; with a code only what failed with it. Files belong to all of them."""
    code = code.encode(errors="replace").decode()  # what is no text is no code either, and no store can look for it
    renewed = Requeued(files=context.store.renew(context.streams["files"].table, code=code))
    if renewed.files:
        renewed.entities.update(names)
    for entity in (one for one in context.entities if one.name in names):
        records = sum(context.store.renew(stream.table, code=code) for stream in entity.streams)
        records += 0 if code else sum(count_waiting(context, stream) for stream in entity.streams)
        parts = sum(
            code in ("", letter.code)
            for phase in (*PHASES, LATE, FINAL)
            for letter in context.queue.dead_parts(entity.task(phase))
        )
        renewed.records += records
        renewed.parts += parts
        if records or parts:
            renewed.entities.add(entity.name)
    return renewed


def run_requeued(runner: Runner, renewed: Requeued, tick: Callable[[], None]) -> RunResult:
    """An interrupted run continues with them; after a finished one the phases from set on are done again."""
    wanted = reopen_plan(runner.context, renewed)
    return runner.run_plan(wanted, named=wanted.entities, tick=tick)


def reopen_plan(context: RunContext, renewed: Requeued) -> Plan:
    """The plan of the run that takes them up."""
    before = plan.current(context.store)
    if before is not None and before.unfinished and renewed.entities <= set(before.plan.entities):
        for name in renewed.entities:
            _reopen_phases(context, name, (*FROM_SET, LATE))
        for name in before.plan.entities:
            _reopen_phases(context, name, (LATE, FINAL))  # what is sent now, records of any entity may link to
        return before.plan
    phases = FROM_GET if renewed.files or renewed.parts else FROM_SET
    return Plan(tuple(sorted(renewed.entities)), phases, context.options.test_limit)


def _reopen_phases(context: RunContext, entity: str, phases: Sequence[str]) -> None:
    """The renewed records are sent and verified again."""

    def unfinished(state: EntityState) -> EntityState:
        for phase in phases:
            if state.phase(phase).state == DONE:
                state = state.with_phase(phase, PhaseState())
        return state

    States(context.store).change(entity, unfinished)
