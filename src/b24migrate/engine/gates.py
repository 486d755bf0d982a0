"""Prerequisites by name. The message of an unmet one has the cause and the fix."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from b24migrate.engine.analysis import Analysis
from b24migrate.engine.diagnosis import alike_gate
from b24migrate.engine.optional import find_untaken
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import Plan
from b24migrate.engine.state import DONE, ENDED, STUCK, EntityState, States
from b24migrate.messages import say
from b24migrate.model.records import Status
from b24migrate.model.streams import FINAL, LATE, Entity


class Unmet(NamedTuple):
    gate: str
    message: str
    fix: str

    def __str__(self) -> str:
        return str(self.sentence)

    @property
    def sentence(self) -> str:
        return say("gate.sentence", gate=self.gate, message=self.message, fix=self.fix)


READS = frozenset({"custom-fields-get", "get"})
CHANGES = frozenset({"custom-fields-set", "set"})  # the imported records
WRITES = frozenset({"custom-fields-set", "set", "verify"})


def find_unmet(
    context: RunContext,
    analysis: Analysis,
    states: States,
    entity: Entity,
    phase: str,
    *,
    plan: Plan,
    coverage: float,
    passed: dict[str, int],
) -> Unmet | None:
    """The first gate that keeps the mini-task from starting. `passed`: the versions of the entities whose import was
    found complete. A delta that only reports imports nothing, so what it reads waits for no import."""
    if not analysis.completed:
        fix = say("gate.unseen_fix")
        return Unmet("analysis.completed", say("gate.unseen"), fix)
    if not analysis.mapped:
        return Unmet("mapping.done", say("gate.unmapped"), say("gate.unmapped_fix"))
    missing = analysis.lacks(entity.scopes)
    if phase in READS and missing:
        gate = f"auth.cloud.{entity.name}"
        names = ", ".join(f"`{scope}`" for scope in missing)
        fix = say("gate.scope_fix", names=names)
        return Unmet(gate, say("gate.scope", names=names), fix)
    if phase in READS and entity.name in analysis.facts.unfit:
        fix = say("gate.unfit_fix")
        return Unmet(f"auth.cloud.{entity.name}", say("gate.dot", what=analysis.facts.unfit[entity.name]), fix)
    if phase in READS and entity.needs_admin and analysis.facts.admin is False:
        gate = f"auth.cloud.{entity.name}"
        fix = say("gate.admin_fix")
        return Unmet(gate, say("gate.admin", entity=entity.name), fix)
    if phase in WRITES and entity.wire in analysis.facts.lacks:
        fix = say("gate.lacks_fix", entity=entity.name)
        return Unmet(f"auth.target.import.{entity.name}", say("gate.dot", what=analysis.facts.lacks[entity.wire]), fix)
    if phase in CHANGES and entity.name in analysis.facts.unlike:
        return Unmet(alike_gate(entity.name), *analysis.facts.unlike[entity.name])
    if phase in WRITES and entity.wire not in analysis.facts.served:
        gate = f"auth.target.import.{entity.name}"
        served = ", ".join(analysis.facts.served) or say("gate.nothing")
        fix = say("gate.unserved_fix", wire=entity.wire)
        return Unmet(gate, say("gate.unserved", wire=entity.wire, served=served), fix)
    if phase in WRITES and (untaken := find_untaken(entity, analysis.facts.streams)):
        fix = say("gate.unserved_fix", wire=", ".join(untaken))
        message = say("gate.untaken", entity=entity.name, streams=", ".join(untaken))
        return Unmet(f"auth.target.import.{entity.name}", message, fix)
    if plan.delta and READS.issuperset(plan.phases):
        return None
    return next(
        (
            found
            for other in needed_entities(context, entity, plan.entities)
            if (found := check_import(context, states, other, coverage, passed))
        ),
        None,
    )


def needed_entities(context: RunContext, entity: Entity, planned: Collection[str]) -> list[Entity]:
    """People always; other entities when they are in the plan."""
    owners = {context.owner[name].name for name in entity.refers_to if name in context.owner} - {entity.name}
    return [
        other for other in context.entities if other.name in owners and (other.matches_users or other.name in planned)
    ]


def find_awaited(context: RunContext, plan: Plan, states: States, entity: Entity, phase: str) -> Iterator[Entity]:
    """The entities of the plan that this phase waits for. After the last second pass one entity finalizes the target,
    and the others wait for it."""
    if phase == FINAL:
        return iter(_unfinished_entities(context, plan, states, entity))
    needed = find_needed(context, plan, entity, phase)
    return (other for other in needed if is_importing(plan, states.read(other.name)))


def find_needed(context: RunContext, plan: Plan, entity: Entity, phase: str) -> Sequence[Entity]:
    """The entities of the plan that must be imported before this phase starts, in any state: those that it refers to. A
    second pass waits for all of them, because texts and deferred links may refer to any record. In a limited run the
    entities run one after the other, and verify last: a get adds records of other entities, and a set that started
    earlier would miss them. An entity without a second pass waits for all that its texts may refer to."""
    if phase == LATE or (phase == "verify" and plan.test_limit):
        others = [other for other in context.entities if other is not entity]
    elif plan.test_limit:
        line = sorted(context.entities, key=partial(_is_unchangeable, context))
        others = line[: line.index(entity)]
    else:
        others = needed_entities(context, entity, plan.entities)
        if phase == "set" and _is_unchangeable(context, entity):
            others += [
                other for other in context.entities if other not in others and _is_named(context, plan, other, entity)
            ]
    return [other for other in others if other.name in plan.entities]


def _is_unchangeable(context: RunContext, entity: Entity) -> bool:
    return any(stream.name in context.target.unchangeable for stream in entity.streams)


def _is_named(context: RunContext, plan: Plan, other: Entity, by: Entity) -> bool:
    """Whether texts may name records of it, and it need not wait itself for those that hold the texts."""
    return any(stream.mentions for stream in other.streams) and by not in (
        other,
        *needed_entities(context, other, plan.entities),
    )


def find_finalizer(context: RunContext, plan: Plan, states: States) -> Entity | None:
    """The entity that finalizes the target after the last second pass: the first one that is not stuck."""
    before = [*plan.phases[: plan.phases.index("set") + 1], LATE] if "set" in plan.phases else []
    planned = (one for one in context.entities if one.name in plan.entities)
    return next((one for one in planned if not _is_stuck(states, one, before)), None)


def _unfinished_entities(context: RunContext, plan: Plan, states: States, entity: Entity) -> list[Entity]:
    chosen = find_finalizer(context, plan, states)
    if chosen is not None and chosen is not entity:
        return [] if states.read(chosen.name).phase(FINAL).state in ENDED | STUCK else [chosen]
    others = [one for one in context.entities if one.name in plan.entities and one is not entity]
    unfinished = [one for one in others if states.read(one.name).phase(LATE).state not in ENDED]
    return [one for one in unfinished if not _is_stuck(states, one, [*plan.phases, LATE])]


def _is_stuck(states: States, entity: Entity, phases: Collection[str]) -> bool:
    state = states.read(entity.name)
    return any(state.phase(phase).state in STUCK for phase in phases)


def is_importing(plan: Plan, other: EntityState) -> bool:
    phases = {other.phase(phase).state for phase in plan.phases if phase != "verify"}
    return phases.isdisjoint(STUCK) and not phases <= ENDED


def check_import(
    context: RunContext, states: States, other: Entity, coverage: float, passed: dict[str, int]
) -> Unmet | None:
    gate = f"{other.name}.import.completed"
    state = states.read(other.name)
    if passed.get(other.name) == state.version:
        return None
    if state.phase("set").state != DONE:
        fix = say("gate.import_first_fix", name=other.name)
        return Unmet(gate, say("gate.import_first", entity=other.name), fix)
    for stream in other.streams:
        counts = context.store.counts(stream.table)
        open_records = counts.get(Status.NEW, 0) + counts.get(Status.ERROR_RETRY, 0)
        if open_records > context.store.pulled_pending(stream.table):
            fix = say("gate.import_first_fix", name=other.name)
            return Unmet(gate, say("gate.open_records", count=open_records, stream=stream.name), fix)
        if other.matches_users and stream.natural:
            if unmet := check_coverage(context, gate, stream.name, counts, coverage):
                return unmet
            break
    passed[other.name] = state.version
    return None


def check_coverage(
    context: RunContext, gate: str, stream: str, counts: dict[Status, int], coverage: float
) -> Unmet | None:
    deleted = counts.get(Status.DELETED, 0)
    retrieved = sum(counts.values()) - deleted - context.store.pulled_pending(context.streams[stream].table)
    ok = counts.get(Status.IMPORT_OK, 0)
    if not retrieved or ok / retrieved >= coverage:
        return None
    message = say("gate.coverage", ok=ok, retrieved=retrieved, stream=stream, share=ok / retrieved, coverage=coverage)
    fix = say("gate.coverage_fix")
    return Unmet(gate, message, fix)
