"""Moves a plan forward: starts phases, starts the next stage when one is done, ends phases.

Every step is a compare-and-set on the entity's state, and seeding twice is harmless, so any number of processes may
conduct the same plan; each change happens once, by the first process, and never while a job of the stage is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import Lock

from b24migrate.engine import analysis as analyses
from b24migrate.engine import gates
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.delta import write_marks
from b24migrate.engine.plan import Plan, stop_if_dismissed
from b24migrate.engine.stages import Stage, stages
from b24migrate.engine.state import (
    BLOCKED,
    DONE,
    ENDED,
    FAILED,
    PENDING,
    RUNNING,
    SKIPPED,
    STUCK,
    AllStates,
    EntityState,
    PhaseState,
)
from b24migrate.engine.verified import is_verified
from b24migrate.messages import say
from b24migrate.model.events import PhaseChanged
from b24migrate.model.readings import Backward, PerParent, Reading
from b24migrate.model.records import Job, Json
from b24migrate.model.streams import FINAL, LATE, Entity
from b24migrate.model.values import utc_text

READINGS = "readings"  # of an entity's counts: by stream the methods that this pass reads it with, and which way


class Conductor:
    def __init__(self, context: RunContext, plan: Plan, *, coverage: float) -> None:
        self._context = context
        self._plan = plan
        self._phases = all_steps(plan.phases)
        self._coverage = coverage
        self._states = AllStates(context.store)
        self._entities = [entity for entity in context.entities if entity.name in plan.entities]
        self._tasks = {one.task(phase): (one, phase) for one in self._entities for phase in self._phases}
        self._passed: dict[str, int] = {}  # entities that gates found complete
        self._needed: dict[tuple[str, str], Sequence[Entity]] = {}  # the entities that each phase waits for
        self._awaited: dict[tuple[str, str], Entity] = {}  # the one of these that was still importing
        self._importing: dict[str, tuple[EntityState, bool]] = {}
        self._freed = False  # whether others may go on since the last look
        self._lock = Lock()
        self._marked = False
        self.put = 0  # jobs that it has put on the queue

    # ------------------------------------------------------------ a run's beginning

    def reset(self, *, continued: bool) -> None:
        """A new run restarts every phase of its plan; a continued one only those that failed or were blocked, and those
        whose reading has changed: their data may be incomplete."""
        for entity in self._entities:
            state = self._states.read(entity.name)
            stale = continued and state.phase("get").state != PENDING and self._is_reading_outdated(entity, state)
            after = self._phases.index("get") if stale and "get" in self._phases else len(self._phases)
            anew = [
                phase
                for place, phase in enumerate(self._phases)
                if not continued or place >= after or state.phase(phase).state in STUCK
            ]
            if not anew and continued:
                continue
            for phase in anew:  # before it is pending: then another process may start it
                self._context.queue.drop(entity.task(phase))
            self._states.change(entity.name, partial(_restart, phases=anew, continued=continued))
            for phase in anew:
                self._tell(entity.name, phase, PhaseState())

    def _describe_readings(self, entity: Entity) -> dict[str, Json]:
        return {
            stream.name: ", ".join(map(_describe_reading, (self._context.reading(stream), *stream.more)))
            for stream in (*entity.aids, *entity.streams)
        }

    def _is_reading_outdated(self, entity: Entity, state: EntityState) -> bool:
        """Earlier versions did not keep how they read; what they took for missing was not always missing, and they
        walked upwards, past most of it (bitrix24-rest-1 §D5)."""
        known = state.counts.get(READINGS)
        if known is None:
            readings = [one for stream in (*entity.aids, *entity.streams) for one in (*stream.read, *stream.more)]
            return any(one.without or _walks_down(one) for one in readings)
        return bool(known != self._describe_readings(entity))

    # ------------------------------------------------------------ steps

    def step(self, scope: str = "") -> bool:
        """Starts everything that can start now. Returns whether the plan has ended. Raises Replaced if another run has
        started, because that run's plan is current now, and Paused if the run is paused. `scope`: of the last job that
        was done; while its phase continues, nothing has changed for other entities."""
        with self._lock:
            entity, phase = self._tasks.get(scope, (None, ""))
            if entity is not None and self._advance_phase(entity, phase):
                return False
            self._refresh_states()
            while self._advance_all(running=entity is None):
                self._refresh_states()
            self._write_marks()
            return all(self._is_at_end(entity) for entity in self._entities)

    def _write_marks(self) -> None:
        """When every get of the plan has ended, sets the marks from which the next delta pass starts."""
        if self._marked or "get" not in self._phases or not all(map(self._is_read, self._entities)):
            return
        states = {one.name: self._states.read(one.name) for one in self._entities}
        read = [one for one in self._entities if states[one.name].phase("get").state == DONE]
        write_marks(self._context, read, {name: state.pass_no for name, state in states.items()})
        self._marked = True

    def _is_read(self, entity: Entity) -> bool:
        state = self._states.read(entity.name)
        before = self._phases[: self._phases.index("get") + 1]
        return any(state.phase(one).state in STUCK for one in before) or state.phase("get").state in ENDED

    def is_over(self) -> bool:
        """Whether the plan is complete."""
        with self._lock:
            self._states.look()
            return all(self._is_at_end(entity) for entity in self._entities)

    def _refresh_states(self) -> None:
        self._stop_if_dismissed()
        self._states.look()

    def _stop_if_dismissed(self) -> None:
        """Before every change: one of them may take minutes, where the table is long and far away."""
        stop_if_dismissed(self._context.store, self._context.run)

    def _advance_all(self, *, running: bool) -> bool:
        """Moves each entity as far as possible. An older state of the others is enough: they can only be further by
        now. `running`: also started phases, which the worker of their last job moves forward. Returns whether others
        may continue now; they only wait for phases to end."""
        self._freed = False
        for entity in self._entities:
            if not running and self._is_running(entity):
                continue
            while self._advance(entity):
                self._stop_if_dismissed()
        return self._freed

    def _is_running(self, entity: Entity) -> bool:
        return any(one.state == RUNNING for one in self._states.read(entity.name).phases.values())

    def _advance_phase(self, entity: Entity, phase: str) -> bool:
        self._stop_if_dismissed()
        self._states.forget(entity.name)
        while self._states.read(entity.name).phase(phase).state == RUNNING:
            if not self._advance(entity):
                return True
            self._stop_if_dismissed()
        return False

    def idle(self, scope: str) -> bool:
        return self._context.queue.open(scope) == 0

    def _is_at_end(self, entity: Entity) -> bool:
        state = self._states.read(entity.name)
        phases = [state.phase(phase).state for phase in self._phases]
        return any(one in STUCK for one in phases) or all(one in ENDED for one in phases)

    def _advance(self, entity: Entity) -> bool:
        state = self._states.read(entity.name)
        phase = next((one for one in self._phases if state.phase(one).state not in ENDED), None)
        if phase is None or state.phase(phase).state in STUCK:
            return False
        if state.phase(phase).state == PENDING:
            return self._start(entity, state, phase)
        return self.idle(entity.task(phase)) and self._next_stage(entity, state, phase)

    def _start(self, entity: Entity, state: EntityState, phase: str) -> bool:
        if self._is_awaiting(entity, phase):
            return False
        analysis = analyses.load(self._context.store)
        skipped = self._reason_to_skip(entity, phase)
        if skipped is not None:
            if skipped:
                self._context.note(entity.name, skipped)
            return self._change_once(state, phase, PhaseState(SKIPPED, message=skipped))
        closed = gates.find_unmet(
            self._context,
            analysis,
            self._states,
            entity,
            phase,
            plan=self._plan,
            coverage=self._coverage,
            passed=self._passed,
        )
        if closed is not None:
            return self._change_once(state, phase, PhaseState(BLOCKED, message=closed.sentence))
        if phase == "get":
            state = _next_pass(state, self._describe_readings(entity))
        return self._change_once(state, phase, PhaseState(RUNNING, started=utc_text(self._context.clock.now())))

    def _is_awaiting(self, entity: Entity, phase: str) -> bool:
        """The result of `gates.find_awaited`, computed once for many calls."""
        if phase == FINAL:
            return any(gates.find_awaited(self._context, self._plan, self._states, entity, phase))
        begun = entity.name, phase
        if begun in self._awaited and self._is_importing(self._awaited[begun]):
            return True
        if begun not in self._needed:
            self._needed[begun] = gates.find_needed(self._context, self._plan, entity, phase)
        for other in self._needed[begun]:
            if self._is_importing(other):
                self._awaited[begun] = other
                return True
        return False

    def _is_importing(self, entity: Entity) -> bool:
        state = self._states.read(entity.name)
        known = self._importing.get(entity.name)
        if known is None or known[0] is not state:
            known = self._importing[entity.name] = state, gates.is_importing(self._plan, state)
        return known[1]

    def _change_once(self, state: EntityState, phase: str, after: PhaseState) -> bool:
        """Once, by the first process: a phase that another process started or ended is not started or ended again."""
        if after.state in ENDED | STUCK:
            self._freed = True
        if self._swap(state, phase, after):
            self._tell(state.name, phase, after)
        return True

    def _reason_to_skip(self, entity: Entity, phase: str) -> str | None:
        """Why a phase is skipped ("" = it has nothing to do); None if it is not."""
        if phase == FINAL:
            return None if gates.find_finalizer(self._context, self._plan, self._states) is entity else ""
        if not phase.startswith("custom-fields"):
            return None
        custom = entity.custom_fields
        if custom is None:
            return ""
        lost = entity.optional_scopes.get(custom.scope)
        if lost and not self._context.facts.grants(custom.scope):
            return say("work.no_scope", scope=custom.scope, why=lost)
        return None

    # ------------------------------------------------------------ stages

    def _next_stage(self, entity: Entity, state: EntityState, phase: str) -> bool:
        """Stages that have nothing to do are passed in one go."""
        scope = entity.task(phase)
        planned = stages(self._context, entity, phase, state.pass_no)
        dead = self._context.queue.dead_parts(scope)
        if dead:
            message = say("work.failed_jobs", count=len(dead), why=dead[0].reason)
            return self._end(state, phase, FAILED, message)
        now = state.phase(phase)
        while now.stage < len(planned):
            jobs, now = self._next_jobs(planned[now.stage], scope, now)
            if jobs:
                return self._put(state, phase, jobs, now)
            now = replace(now, stage=now.stage + 1, seeded=False, memo={})
            self._stop_if_dismissed()
        return self._finish(entity, state.with_phase(phase, now), phase)

    def _next_jobs(self, stage: Stage, scope: str, now: PhaseState) -> tuple[Sequence[Job], PhaseState]:
        """The jobs of the stage and its state once they are queued; nothing if the stage is done."""
        if not now.seeded:
            jobs, now = stage.seed(self._context, scope), replace(now, seeded=True)
            if jobs:
                return jobs, now
        more, memo = stage.again(self._context, scope, now.memo)
        return more, replace(now, memo=memo)

    def _put(self, state: EntityState, phase: str, jobs: Sequence[Job], after: PhaseState) -> bool:
        """Listing the jobs of a long table takes a while. Another process may have finished them by now: they must not
        come back in a later stage or after the end of the phase."""
        if self._states.is_still(state):
            self._context.queue.put(jobs)
            self.put += len(jobs)
            self._swap(state, phase, after)
        return True

    def _finish(self, entity: Entity, state: EntityState, phase: str) -> bool:
        if phase == "verify":
            state = replace(state, verified=is_verified(self._context, entity))
        return self._end(state, phase, DONE, "")

    def _end(self, state: EntityState, phase: str, how: str, message: str) -> bool:
        """Once, by the process that finishes last; never with a state read before the phase was restarted."""
        finished = utc_text(self._context.clock.now())
        return self._change_once(
            state, phase, replace(state.phase(phase), state=how, finished=finished, message=message)
        )

    # ------------------------------------------------------------ writing

    def _swap(self, state: EntityState, phase: str, after: PhaseState) -> bool:
        """False if another process was faster: its state is read next."""
        written = self._states.swap(state.with_phase(phase, after))
        self._freed |= not written
        return written

    def _tell(self, entity: str, phase: str, after: PhaseState) -> None:
        if phase not in (LATE, FINAL) or after.state in STUCK:
            self._context.tell(PhaseChanged(entity, phase, after.state, after.message))


def _restart(before: EntityState, phases: Sequence[str], *, continued: bool) -> EntityState:
    states = {**before.phases, **dict.fromkeys(phases, PhaseState())}
    return replace(before, phases=states, notes=before.notes if continued else ())


def add_late(phases: Sequence[str]) -> list[str]:
    """With the second pass where there is a first one."""
    return [one for phase in phases for one in ((phase, LATE) if phase == "set" else (phase,))]


def all_steps(phases: Sequence[str]) -> list[str]:
    """All that an entity goes through: also what follows the last second pass."""
    return [one for phase in add_late(phases) for one in ((phase, FINAL) if phase == LATE else (phase,))]


def _walks_down(reading: Reading) -> bool:
    return isinstance(reading, PerParent) and isinstance(reading.paging, Backward)


def _describe_reading(reading: Reading) -> str:
    return f"{reading.method} down" if _walks_down(reading) else reading.method


def _next_pass(before: EntityState, readings: Mapping[str, Json]) -> EntityState:
    counts = {**before.counts, "pass": before.pass_no + 1, READINGS: readings}
    return replace(before, counts=counts, verified=False)
