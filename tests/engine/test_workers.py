"""Several processes on one store: each job is done once, by whoever comes first."""

from __future__ import annotations

import gc
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.chaos.kills import end
from tests.engine.run_process import held, migration, owners, until_a_job_is_held
from tests.engine.world import TALK, small, world

from b24migrate.cli.worker import help_with
from b24migrate.engine import conductor, gates, plan
from b24migrate.engine import job_owner as owners_module
from b24migrate.engine import worker as crew_module
from b24migrate.engine.job_owner import host_id
from b24migrate.engine.jobs import perform
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import Plan
from b24migrate.engine.stages import Stage, send_stage, stages
from b24migrate.engine.state import States
from b24migrate.engine.worker import Freeze, WorkerPool, collect_seldom
from b24migrate.model.events import PhaseChanged
from b24migrate.model.records import Job
from b24migrate.ports import PAGE_LOG, Register, RegisterRow

NOBODY = 2**22 + 1  # no system has so many processes


@pytest.mark.slow
def test_two_processes_share_one_run(tmp_path: Path) -> None:
    """What one of them has asked for does not come while there is a job that the other could take."""
    names: set[str] = set()

    def is_other_awaited() -> bool:
        names.update(owners(made))
        return len(names) < 2 and bool(made.sql("SELECT 1 FROM Jobs WHERE Owner IS NULL"))

    with world(tmp_path, small(users=60, groups=20, chats=20, messages=600)) as made, held(made, is_other_awaited):
        commands = migration(made)
        worker, runner = commands.start("worker"), commands.start("run")
        try:
            assert runner.wait(300) == 0, commands.last_words()
        finally:
            end(runner)
            end(worker)
        assert len(names) == 2
        assert {created for created, _ in made.effects().values()} == {1}
        assert made.box.portal.imports.order_violations == 0
        status = json.loads(commands.output("status", "--json"))
        assert all(status["entities"][name]["verified"] for name in TALK)


@pytest.mark.slow
def test_a_worker_that_was_killed_leaves_its_jobs_to_the_others(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        commands = migration(made)
        with held(made, lambda: bool(owners(made))):
            runner = commands.start("run")
            try:
                until_a_job_is_held(made, runner)
            finally:
                end(runner)
        assert commands.finish("run") == 0, commands.last_words()
        assert {created for created, _ in made.effects().values()} == {1}
        assert made.sql("SELECT count(*) FROM Jobs") == [(0,)]


def test_no_more_calls_are_under_way_than_the_configuration_says(tmp_path: Path) -> None:
    """Although there is a hand more, which prepares the next one."""
    with world(tmp_path, small()) as made:
        assert made.run(run={"workers": 1}).exit_code == 0
        assert made.box.portal.stats.peak_in_flight == 1
        assert made.cloud.portal.stats.peak_in_flight == 1


def test_a_phase_that_two_begin_at_once_begins_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begun anew, it would read everything twice, and what was logged meanwhile would be lost."""
    unmet = gates.find_unmet

    def slowly(*args: Any, **options: Any) -> Any:
        monkeypatch.setattr(gates, "find_unmet", unmet)
        other.step()
        app.context.store.write(PAGE_LOG, [RegisterRow("users:1", {})])
        return unmet(*args, **options)

    with world(tmp_path, small()) as made, made.app() as app:
        run = app.runner.begin(Plan(("users",), ("get",)))
        one, other = app.runner.conductor(run), app.runner.conductor(run)
        monkeypatch.setattr(gates, "find_unmet", slowly)
        one.step()
        state = States(app.context.store).read("users")
        assert (state.pass_no, state.phase("get").seeded) == (1, True)
        assert app.context.store.count(PAGE_LOG, "users:") == 1
        states = [event.state for event in made.events if isinstance(event, PhaseChanged)]
        assert states.count("running") == 1


def test_jobs_that_took_long_to_work_out_do_not_come_back_when_somebody_else_has_done_them(tmp_path: Path) -> None:
    """Two conduct; while one looks through a long table the other does all there is to do."""
    with world(tmp_path, small()) as made, made.app() as app:
        run = app.runner.begin(Plan(("users",), ("get",)))
        one, other = app.runner.conductor(run), app.runner.conductor(run)
        context = app.runner.join(run)

        def all_is_done() -> None:
            other.step()
            while lease := app.context.queue.claim("o", now=app.context.clock.now(), lease_s=90):
                perform(context, lease)
            other.step()

        def slowly(*args: Any) -> list[Stage]:
            first, *others = stages(*args)

            def seed(context: RunContext, scope: str) -> list[Job]:
                jobs = first.seed(context, scope)
                patch.undo()
                all_is_done()
                return list(jobs)

            return [first._replace(seed=seed), *others]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(conductor, "stages", slowly)
            one.step()
        assert "forget" not in [waiting.job.kind for waiting in app.context.queue.jobs()]


def test_who_works_on_a_run_leaves_when_another_takes_its_place(tmp_path: Path) -> None:
    """The phases are begun by the plan that is current, and by no other."""
    with world(tmp_path, small()) as made, made.app() as app:
        old = app.runner.begin(Plan(("users", "groups")))
        conductor_of_old = app.runner.conductor(old)
        with made.app() as elsewhere:
            elsewhere.runner.begin(Plan(("users",), ("get",)))
        with pytest.raises(plan.Replaced):
            conductor_of_old.step()
        assert States(app.context.store).read("users").phase("get").state == "pending"
        help_with(app, old)  # returns, to look for another run


def test_whoever_helps_knows_what_the_source_was_asked_at_the_beginning(tmp_path: Path) -> None:
    with world(tmp_path, small()) as made, made.app() as app, made.app() as elsewhere:
        run = app.runner.begin(Plan(tuple(app.chosen())))
        assert elsewhere.context.source.habits == {}
        elsewhere.runner.join(run)
        assert elsewhere.context.source.habits == app.context.source.habits != {}


def test_who_works_on_a_run_leaves_when_it_is_paused_also_where_nothing_can_begin(tmp_path: Path) -> None:
    with world(tmp_path, small()) as made, made.app() as app:
        conducting = app.runner.conductor(app.runner.begin(Plan(("users",), ("get",))))
        assert not conducting.step()
        plan.pause(app.context.store, app.context.clock)
        with pytest.raises(plan.Paused):
            conducting.step()
        with pytest.raises(plan.Paused):
            conducting.step("users-get")


def test_leases_are_kept_while_a_step_of_the_plan_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a long table that is far away it may take minutes; a lease that ends counts as the death of a worker."""
    with world(tmp_path, small()) as made, made.app() as app:
        run = app.runner.begin(Plan(("users",), ("get",)))
        conducting = app.runner.conductor(run)
        kept = Event()
        crew = WorkerPool(app.runner.join(run), conducting, 1)
        monkeypatch.setattr(crew_module, "RENEW_S", 0.0)
        monkeypatch.setattr(crew_module, "STEP_GLANCES", 0.0)
        monkeypatch.setattr(crew, "_work", lambda _: None)
        monkeypatch.setattr(crew, "_renew_leases", kept.set)
        meanwhile: list[bool] = []

        def step() -> bool:
            if not begun.is_set():
                begun.set()
                return False
            kept.clear()
            meanwhile.append(kept.wait(60))
            return True

        begun = Event()
        monkeypatch.setattr(conducting, "step", step)
        crew.work_until_done(tick_s=0.01)
        assert meanwhile == [True]


def test_the_jobs_of_one_that_is_killed_meanwhile_come_back_before_their_leases_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_module, "RENEW_S", 0.0)
    with world(tmp_path, small()) as made, made.app() as app:
        run = app.runner.begin(Plan(("users",), ("get",)))
        conducting = app.runner.conductor(run)
        assert not conducting.step()
        step = conducting.step

        def after_a_death(scope: str = "") -> bool:
            if not dead:
                dead.append(
                    app.context.queue.claim(f"{host_id()}:{NOBODY}:0", now=app.context.clock.now(), lease_s=9e9)
                )
            return step(scope)

        def tick() -> None:
            assert time.monotonic() < latest, "the job did not come back"
            leap()

        dead, leap, latest = list[object](), made.leap(), time.monotonic() + 120
        monkeypatch.setattr(conducting, "step", after_a_death)
        WorkerPool(app.runner.join(run), conducting, 1).work_until_done(tick=tick, tick_s=0.01)
        assert dead[0] is not None
        assert app.context.queue.jobs() == []


def test_a_run_does_not_go_on_without_its_heartbeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would keep its leases."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    def tick() -> None:
        assert next(ticks) < 3000, "it goes on"

    ticks = count()
    with world(tmp_path, small()) as made, made.app() as app:
        run = app.runner.begin(Plan(("users",), ("get",)))
        crew = WorkerPool(app.runner.join(run), app.runner.conductor(run), 1)
        monkeypatch.setattr(crew_module, "LOOK_S", 0.0)
        monkeypatch.setattr(crew_module, "find_dismissal", broken)
        monkeypatch.setattr(crew, "_work", lambda _: None)
        with pytest.raises(ZeroDivisionError):
            crew.work_until_done(tick=tick, tick_s=0.01)


@pytest.mark.parametrize(("look_s", "over"), [(9e9, False), (0.0, True)])
def test_the_store_is_asked_about_a_pause_now_and_then_and_not_when_all_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look_s: float, over: bool
) -> None:
    with world(tmp_path, small()) as made, made.app() as app:
        run = app.runner.begin(Plan(("users",), ("get",)))
        crew = WorkerPool(app.runner.join(run), app.runner.conductor(run), 1)
        beats, asked = list[None](), list[Any]()

        def beat() -> None:
            beats.append(None)
            if len(beats) == 3:
                crew._left.set()

        monkeypatch.setattr(crew_module, "RENEW_S", 0.0)
        monkeypatch.setattr(crew_module, "LOOK_S", look_s)
        monkeypatch.setattr(crew_module, "find_dismissal", lambda *args: asked.append(args))
        monkeypatch.setattr(crew, "_renew_leases", beat)
        if over:
            crew._over.set()
        crew._keep_alive(0.001)
        assert (len(beats), asked) == (3, [])


@pytest.mark.parametrize("backwards", [False, True])
def test_a_step_of_the_plan_does_all_that_can_be_done(tmp_path: Path, backwards: bool) -> None:
    """And jobs are only put where there is something to do, in whatever order the entities are looked at. Somebody who
    only watches sees the end."""
    with world(tmp_path, small()) as made, made.app() as app:
        entities = tuple(reversed(app.context.entities)) if backwards else app.context.entities
        app = app.with_context(replace(app.context, entities=entities))  # noqa: PLW2901 (the same, looked at otherwise)
        run = app.runner.begin(Plan(tuple(app.chosen())))
        assert (run.plan.delta, run.plan.deep) == (False, False)
        conducting, context = app.runner.conductor(run), app.runner.join(run)
        watching = app.runner.conductor(run)
        assert not conducting.step()
        assert not watching.step()
        done: Counter[str] = Counter()
        while not conducting.step():
            assert not watching.is_over()
            put, states = conducting.put, made.sql("SELECT * FROM EntitiesState")
            assert not conducting.step()
            assert (conducting.put, made.sql("SELECT * FROM EntitiesState")) == (put, states)
            while lease := app.context.queue.claim("o", now=made.clock.now() + timedelta(days=1), lease_s=90):
                perform(context, lease)
                done[f"{lease.job.kind} {lease.job.args.get('stream')}"] += 1
        assert watching.is_over()
        assert done["send users"] == done["send groups"] == 2
        assert made.entity("chats").verified


def test_after_the_final_pass_a_stage_is_over_whatever_is_left(tmp_path: Path) -> None:
    with world(tmp_path, small()) as made:
        assert made.run("users", phases=("get",)).exit_code == 0
        with made.app() as app:
            again = send_stage(app.context.streams["users"]).again
            assert again(app.context, "users-set", {})[0]
            assert again(app.context, "users-set", {"final": True}) == ([], {})


def test_a_machine_of_the_same_name_is_another_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process ids say nothing here: its jobs are not those of the dead, however many machines are called `worker`."""
    here = host_id()
    boot = tmp_path / "boot_id"
    boot.write_text("ffffffff-0000-0000-0000-000000000000")
    monkeypatch.setattr(owners_module, "_BOOT", boot)
    there = host_id.__wrapped__()
    assert there.partition("-")[0] == here.partition("-")[0]
    assert there != here
    with world(tmp_path, small()) as made, made.app() as app:
        app.context.queue.put([Job("users-get", "read", {"n": number}) for number in range(2)])
        claim = partial(app.context.queue.claim, now=app.context.clock.now(), lease_s=90)
        assert claim(f"{here}:{NOBODY}:0")
        assert claim(f"{there}:{NOBODY}:0")
        WorkerPool(app.context, conductor.Conductor(app.context, plan.Plan(()), coverage=1.0), 1).work_until_done()
        assert [waiting.held for waiting in app.context.queue.jobs()] == [False, True]


def test_the_state_is_written_only_when_a_phase_begins_or_ends_or_has_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most stages of a small migration have nothing to do, and cost nothing."""
    written: Counter[str] = Counter()

    with world(tmp_path) as made, made.app() as app:
        store, queue = app.context.store, app.context.queue
        swap, put = store.swap, queue.put

        def swapped(register: Register, row: RegisterRow) -> bool:
            written[register.name] += 1
            return swap(register, row)

        def putting(jobs: Sequence[Job], *, visible_at: datetime | None = None) -> None:
            written["put"] += visible_at is None
            put(jobs, visible_at=visible_at)

        run = app.runner.begin(Plan(tuple(app.chosen())))
        monkeypatch.setattr(store, "swap", swapped)
        monkeypatch.setattr(queue, "put", putting)
        app.runner.worker_pool(run).work_until_done(tick=made.leap())
    phases = len(run.plan.entities) * len(conductor.all_steps(run.plan.phases))
    assert written["put"] > 0
    assert written["EntitiesState"] <= written["put"] + 2 * phases


def test_a_run_beside_frozen_objects_freezes_no_more_of_them() -> None:
    """Garbage that is frozen is never collected: memory would grow with every run of a process."""
    gc.freeze()
    frozen = gc.get_freeze_count()
    with collect_seldom(Freeze()):
        assert gc.get_freeze_count() <= frozen  # other threads may let go of some
    gc.unfreeze()
    freeze = Freeze()
    with collect_seldom(freeze):
        with collect_seldom(freeze):
            assert gc.get_freeze_count()
        assert gc.get_freeze_count()  # the other run is not over
    assert not gc.get_freeze_count()
    gc.freeze()  # as the tests have it


def test_a_step_in_which_nothing_can_be_done_asks_for_all_states_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the store is far away, each question has a price."""
    asked: Counter[str] = Counter()
    with world(tmp_path) as made, made.app() as app:
        run = app.runner.begin(Plan(tuple(app.chosen())))
        conducting, store = app.runner.conductor(run), app.context.store
        assert not conducting.step()
        read, rows = store.read, store.rows

        def reading(register: Register, *args: Any, **more: Any) -> Any:
            asked[f"read {register.name}"] += 1
            return read(register, *args, **more)

        def listing(register: Register, *args: Any, **more: Any) -> Any:
            asked[f"rows {register.name}"] += 1
            return rows(register, *args, **more)

        monkeypatch.setattr(store, "read", reading)
        monkeypatch.setattr(store, "rows", listing)
        assert not conducting.step()
    assert (asked["read EntitiesState"], asked["rows EntitiesState"]) == (0, 1)
