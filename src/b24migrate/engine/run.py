"""A run from its first check of both portals to its last phase, and its result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol
from zoneinfo import ZoneInfo

from b24migrate.engine import analysis, plan, probe, undo_lock
from b24migrate.engine.boxes import remember_target, target_origins
from b24migrate.engine.conductor import Conductor, all_steps
from b24migrate.engine.diagnosis import Diagnosis, refusal
from b24migrate.engine.doctor import examine, run_selftest
from b24migrate.engine.gates import CHANGES
from b24migrate.engine.phases import lanes
from b24migrate.engine.phases.conflicts import count_open
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.cutover_state import LIVE, read_cutover
from b24migrate.engine.phases.delta import MARK
from b24migrate.engine.phases.partial import count_incomplete
from b24migrate.engine.plan import Paused, Plan, Run
from b24migrate.engine.state import BLOCKED, FAILED, States
from b24migrate.engine.verified import (
    count_differences,
    count_drift,
    count_expected,
    count_failed_files_by_entity,
    count_not_found,
)
from b24migrate.engine.worker import TICK_S, History, WorkerPool
from b24migrate.messages import join, say
from b24migrate.model.errors import Stop
from b24migrate.model.events import Noted
from b24migrate.model.fidelity import Rule
from b24migrate.model.records import Json, Status
from b24migrate.model.streams import PHASES, Entity
from b24migrate.ports import PASSES

DONE, GATE, ERROR, FINDINGS = 0, 3, 4, 5


@dataclass(frozen=True, slots=True)
class RunResult:
    exit_code: int
    message: str
    run: Run


class FidelityGate(Protocol):
    """Requires the acceptance of the fidelity list before anything is written."""

    def examine(self, context: RunContext, entities: Collection[str], before: Diagnosis) -> Diagnosis:
        """The same diagnosis, with what the target does not keep of these entities."""
        ...

    def require(self, context: RunContext, rules: Sequence[Rule]) -> None:
        """Raises GateUnmet unless all of them are accepted."""
        ...


@dataclass(slots=True)
class CurrentRun:
    """The run that this process works on: its ID is in every line of the log. The runner writes it."""

    id: str = ""


@dataclass(frozen=True, slots=True)
class Runner:
    context: RunContext
    timezone: ZoneInfo
    fidelity: FidelityGate
    history: Callable[[RunContext], History]
    threads: int = 4
    coverage: float = 0.98
    named: frozenset[str] = frozenset()  # the entities that the configuration names
    current: CurrentRun = field(default_factory=CurrentRun)
    tick_s: float = TICK_S

    def examine(self, entities: Sequence[Entity], *, named: Collection[str] = (), box: bool = False) -> Diagnosis:
        """Looks at both ends and remembers what it saw. `named`: entities that are not left out, whatever a portal
        lacks. `box`: lets the box try itself first, whatever the source is like; what it finds is in its list of what
        it does not keep."""
        context = self.context
        diagnosis = examine(
            context.source,
            context.target,
            context.store,
            entities,
            timezone=self.timezone,
            clock=context.clock,
            named=self.named.union(named),
        )
        if box and diagnosis.facts.server:
            diagnosis = replace(diagnosis, checks=(*diagnosis.checks, *run_selftest(context.target, context.clock)))
        if any(check for check in diagnosis.failed if not check.entity):
            return diagnosis
        analysis.save(context.store, diagnosis.facts)
        blocked = {check.entity for check in diagnosis.failed} | diagnosis.facts.left_out.keys()
        probe.probe_source(context, [entity for entity in entities if entity.name not in blocked])
        return self.fidelity.examine(context, [entity.name for entity in entities], diagnosis)

    def probe(self, methods: Mapping[str, bool]) -> dict[str, Json]:
        """Asks the source how it behaves, for a file (docs/probe.md). Raises MigrationError."""
        context = self.context
        probe.ask(context, [*probe.all_probes(context.entities), probe.PORTAL], wide=True)
        return probe.probe_document(context, methods)

    def run(
        self,
        entities: Sequence[str],
        phases: Sequence[str] = PHASES,
        *,
        test_limit: int | None = None,
        delta: bool = False,
        deep: bool = False,
        named: Collection[str] = (),
        on_diagnosis: Callable[[Diagnosis], None] = lambda _: None,
        tick: Callable[[], None] = lambda: None,
    ) -> RunResult:
        """Raises Stop with its exit code when it cannot start or cannot continue; progress is saved. `test_limit`:
        another than the configured one. `delta`: reads only what may have changed; `deep`: also what moves no date and
        no count. `named`: the entities that a person named; of the others optional ones may be left out."""
        limit = self.context.options.test_limit if test_limit is None else test_limit
        wanted = Plan(tuple(entities), tuple(phases), limit, delta, deep)
        return self.run_plan(wanted, named=named, on_diagnosis=on_diagnosis, tick=tick, repeats=delta)

    def run_plan(
        self,
        wanted: Plan,
        *,
        named: Collection[str] = (),
        on_diagnosis: Callable[[Diagnosis], None] = lambda _: None,
        tick: Callable[[], None] = lambda: None,
        repeats: bool = False,
    ) -> RunResult:
        run = self.begin(wanted, named=named, on_diagnosis=on_diagnosis, repeats=repeats)
        try:
            self.worker_pool(run).work_until_done(tick=tick, tick_s=self.tick_s)
        except Paused:
            raise  # another process may have resumed it by now
        except Stop as stop:
            self.stop(run, stop)
            raise
        return self.conclude(run)

    def resume(
        self,
        *,
        on_diagnosis: Callable[[Diagnosis], None] = lambda _: None,
        tick: Callable[[], None] = lambda: None,
    ) -> RunResult:
        """Continues the current run, whatever its plan is. Raises like `run`, and NoRun."""
        wanted = plan.resumable_run(self.context.store).plan
        return self.run_plan(wanted, named=wanted.entities, on_diagnosis=on_diagnosis, tick=tick)

    def begin(
        self,
        wanted: Plan,
        *,
        named: Collection[str] = (),
        on_diagnosis: Callable[[Diagnosis], None] = lambda _: None,
        repeats: bool = False,
    ) -> Run:
        """Checks both portals and makes the plan the current one: any worker may take its jobs. `repeats`: a delta run
        that came to its end with failures is not continued. Raises Stop."""
        undo_lock.refuse_during_undo(self.context.store, self.context.clock)
        wished = plan.current_version(self.context.store)
        chosen = [entity for entity in self.context.entities if entity.name in wanted.entities]
        diagnosis = self.examine(chosen, named=named)
        on_diagnosis(diagnosis)
        stop_if_blocked(diagnosis)
        for name, why in diagnosis.facts.left_out.items():
            self.context.notes.add(name, why)
        chosen = [entity for entity in chosen if entity.name not in diagnosis.facts.left_out]
        if CHANGES.intersection(wanted.phases):
            self.fidelity.require(self.context, diagnosis.rules)
            self._settle_last_undo()
            remember_target(self.context.store, self.context.options.target_url)
            self._note_who_wins()
        wanted = replace(wanted, entities=tuple(entity.name for entity in chosen))

        def prepare(run: Run, continued: bool) -> None:
            self.conductor(run).reset(continued=continued)

        store, clock = self.context.store, self.context.clock
        ended = self.is_delta_over if repeats else lambda _: False
        run, _ = plan.begin(store, clock, wanted, prepare, wished=wished, ended=ended)
        try:
            undo_lock.refuse_during_undo(
                self.context.store, self.context.clock
            )  # both may have started at once: each sees the other by now
        except Stop as stop:
            self.stop(run, stop)
            raise
        return run

    def _note_who_wins(self) -> None:
        """After going live it is the target, unless the configuration says otherwise."""
        state = read_cutover(self.context.store)
        if state.is_live and not self.context.options.conflicts:
            message = say("cutover.target_wins", since=state.step(LIVE).ended)
            self.context.tell(Noted("warning", message))

    def _settle_last_undo(self) -> None:
        """Only the box on which the import was undone can say what is gone."""
        left = undo_lock.find_unsettled(self.context.store)
        if left is None or target_origins(self.context.store) != [self.context.options.target_url]:
            return
        from b24migrate.engine.undo.forget import settle

        settle(self.context, left)
        undo_lock.mark_settled(self.context.store, left)

    def join(self, run: Run) -> RunContext:
        """This process starts to work on the run, with the stored facts about the source."""
        self.current.id = run.id
        probe.load_habits(self.context)
        facts = analysis.load(self.context.store).for_phases
        wanted = run.plan
        return self.context.for_run(
            run.id,
            facts,
            test_limit=wanted.test_limit,
            delta=wanted.delta,
            deep=wanted.deep,
            planned=frozenset(wanted.entities),
        )

    def worker_pool(self, run: Run) -> WorkerPool:
        context = self.join(run)
        conductor = Conductor(context, run.plan, coverage=self.coverage)
        return WorkerPool(context, conductor, lanes.thread_count(self.threads), self.history(context))

    def conductor(self, run: Run) -> Conductor:
        return Conductor(self.join(run), run.plan, coverage=self.coverage)

    def is_over(self, run: Run) -> bool:
        """Whether the plan of the run is complete."""
        return Conductor(self.context, run.plan, coverage=self.coverage).is_over()

    def is_delta_over(self, run: Run) -> bool:
        """The cause may be fixed in the source by now, and other records change there, so the next run reads the
        changes since the last complete pass. Without a complete pass it would read everything again."""
        return run.exit_code is not None and self.is_over(run) and bool(self.context.store.count(PASSES, f"{MARK}:"))

    def stop(self, run: Run, why: Stop) -> None:
        """It stays current, and is continued by the next command."""
        store, clock = self.context.store, self.context.clock
        plan.end(store, clock, run, complete=False, exit_code=why.exit_code, message=why.sentence)

    def conclude(self, run: Run) -> RunResult:
        """Ends a run whose plan is complete and returns its result. The first process ends it. Raises Paused if the
        run was paused just before."""
        entities = [entity for entity in self.context.entities if entity.name in run.plan.entities]
        exit_code, message = verdict(self.context, entities, run.plan)
        complete = exit_code in (DONE, FINDINGS)
        store, clock = self.context.store, self.context.clock
        ended = plan.end(store, clock, run, complete=complete, exit_code=exit_code, message=message)
        if ended.state == plan.PAUSED:
            raise plan.paused_error(ended)
        return RunResult(exit_code, message, ended)


def stop_if_blocked(diagnosis: Diagnosis) -> None:
    """A problem of a whole portal stops the run; a problem of one entity blocks that entity at its gate."""
    whole = [check for check in diagnosis.failed if not check.entity]
    if whole:
        raise refusal(whole[0])


def verdict(context: RunContext, entities: Sequence[Entity], wanted: Plan) -> tuple[int, str]:
    """The exit code, and the sentence that goes with it."""
    phases, limit = wanted.phases, wanted.test_limit
    states = [(entity, States(context.store).read(entity.name)) for entity in entities]
    found = [(entity, phase, state.phase(phase)) for entity, state in states for phase in all_steps(phases)]
    for worst, code in ((FAILED, ERROR), (BLOCKED, GATE)):
        for entity, phase, state in found:
            if state.state == worst:
                return code, say(f"work.task_{worst}", task=entity.task(phase), why=state.message)
    problems = list(find_problems(context, entities, phases))
    if problems:
        return FINDINGS, join(problems)
    sentences = [say("work.test_run", limit=limit)] if limit else []
    expected = sum(count_expected(context, stream) for entity in entities for stream in entity.streams)
    unneeded = sum(count_not_found(context, stream) for entity in entities for stream in entity.streams)
    if "verify" in phases:
        sentences += [say("work.expected", count=expected)] * bool(expected)
        sentences += [say("work.not_found", count=unneeded)] * bool(unneeded)
    return DONE, join(sentences, " ")


def find_problems(context: RunContext, entities: Sequence[Entity], phases: Sequence[str]) -> list[str]:
    problems: list[str] = []
    for stream in (one for entity in entities for one in entity.streams):
        failed = context.store.counts(stream.table).get(Status.IMPORT_ERR, 0) if "set" in phases else 0
        differ = count_differences(context, stream) if "verify" in phases else 0
        drifted = count_drift(context, stream) if "get" in phases else 0
        sentences = [say("work.failed", count=failed)] * bool(failed) + [say("work.findings", count=differ)] * bool(
            differ
        )
        sentences += [say("work.drift", count=abs(drifted))] * bool(drifted)
        partial = count_incomplete(context, stream)
        sentences += [say("work.incomplete", count=partial)] * bool(partial)
        undecided = count_open(context, stream)
        sentences += [say("work.conflicts", count=undecided)] * bool(undecided)
        if sentences:
            problems.append(say("work.of_stream", stream=stream.name, what=join(sentences, ", ")))
    files = count_failed_files_by_entity(context)
    problems += [
        say("work.files_failed", entity=one.name, count=files[one.name]) for one in entities if files[one.name]
    ]
    return problems
