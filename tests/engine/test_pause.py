"""A run that a person pauses: everybody ends the job he is in and leaves, and going on gives what a run in one piece
would have given."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.chaos.kills import end
from tests.engine.paused_run import after, pause, pause_and_be_told, resume, run_until_paused
from tests.engine.run_process import held, migration, owners, until_a_job_is_held
from tests.engine.world import TALK, World, small, world

from b24migrate.cli import worker
from b24migrate.engine import doctor, jobs, plan
from b24migrate.engine import worker as crew_module
from b24migrate.engine.plan import Paused, Plan
from b24migrate.insight import status
from b24migrate.model.events import Event, FileMoved
from b24migrate.model.streams import LATE


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DELAYS_S", (0.0, 0.0, 0.0))
    monkeypatch.setattr(crew_module, "LOOK_S", 0.0)


def outcome(made: World) -> tuple[Any, ...]:
    """What the box got and how often, and what we say about it."""
    with made.app() as app:
        entities = status.snapshot(app.context).entities
    assert made.box.portal.imports.order_violations == 0
    assert made.sql("SELECT count(*) FROM Jobs") == [(0,)]
    results = {name: (entities[name].verified, entities[name].streams, entities[name].notes) for name in TALK}
    return made.effects(), results


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    with world(tmp_path_factory.mktemp("undisturbed")) as made, made.app() as opened:
        app = opened.with_context(opened.context.with_options(verify_all=True))
        assert app.runner.run(app.chosen(()), tick=made.leap()).exit_code == 0
        return outcome(made)


def nobody_is_at_work(made: World) -> bool:
    names = {one.name for one in threading.enumerate()}
    return not owners(made) and not any(one.startswith(("worker-", "heartbeat")) for one in names)


@pytest.mark.parametrize("task", ["users-get", "chats-get", "users-set", "chats-set", f"users-{LATE}", "chats-verify"])
def test_what_was_paused_in_the_middle_comes_out_as_if_it_had_not_been(
    tmp_path: Path, undisturbed: tuple[Any, ...], task: str
) -> None:
    with world(tmp_path) as made:
        assert run_until_paused(made, lambda job: job.scope == task) is None
        assert nobody_is_at_work(made)
        with made.app() as app:
            paused = plan.current(app.context.store)
        assert paused is not None
        assert (paused.state, paused.under_way, paused.exit_code) == ("paused", False, None)
        ended = resume(made)
        assert (ended.exit_code, ended.run.id, ended.run.state) == (0, paused.id, "ended")
        assert outcome(made) == undisturbed


def test_a_run_that_is_paused_again_and_again_comes_to_its_end(tmp_path: Path, undisturbed: tuple[Any, ...]) -> None:
    with world(tmp_path) as made:
        pauses, ended = 1, run_until_paused(made, lambda _: True, 3)
        while ended is None:
            pauses, ended = pauses + 1, run_until_paused(made, lambda _: True, 5, again=True)
        assert ended.exit_code == 0
        assert pauses > 8
        assert outcome(made) == undisturbed


def test_a_run_and_two_workers_are_paused_together(tmp_path: Path, undisturbed: tuple[Any, ...]) -> None:
    with world(tmp_path) as made:
        with made.app() as app, made.app() as one, made.app() as other, ThreadPoolExecutor(3) as pool:
            run = app.runner.begin(Plan(tuple(app.chosen(()))))
            for each in (app, one, other):
                after(each, lambda job: job.scope == "chats-get", 1, pause_and_be_told)
            helping = [pool.submit(worker.help_runs, each, once=True) for each in (one, other)]
            with pytest.raises(Paused):
                app.runner.run(app.chosen(()), tick=made.leap())
            assert [one.result(30) for one in helping] == [None, None]
        assert nobody_is_at_work(made)
        assert resume(made).run.id == run.id
        assert outcome(made)[0] == undisturbed[0]


def test_a_worker_waits_until_a_paused_run_goes_on(tmp_path: Path, undisturbed: tuple[Any, ...]) -> None:
    class Enough(Exception):
        pass

    with world(tmp_path) as made, made.app() as app, made.app() as desk:
        run = desk.runner.begin(Plan(tuple(desk.chosen(()))))
        pause(desk)
        waited: list[str] = []
        sleep = made.clock.sleep

        def waiting(seconds: float) -> None:
            sleep(seconds)
            if threading.current_thread() is not threading.main_thread():
                return
            found = plan.current(desk.context.store)
            assert found is not None
            waited.append(found.state)
            if found.state == plan.ENDED:
                raise Enough
            if len(waited) == 3:
                desk.runner.begin(Plan(tuple(desk.chosen(()))))

        made.clock.sleep = waiting  # type: ignore[method-assign]
        with pytest.raises(Enough):
            worker.help_runs(app, once=False)
        assert waited == [plan.PAUSED] * 3 + [plan.ENDED]
        made.clock.sleep = sleep  # type: ignore[method-assign]
        ended = plan.current(desk.context.store)
        assert ended is not None
        assert (ended.id, ended.exit_code) == (run.id, 0)
        assert made.effects() == undisturbed[0]


@pytest.mark.slow
def test_a_run_that_is_killed_while_it_leaves_loses_nothing(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        commands = migration(made)
        with held(made, lambda: bool(owners(made))):
            runner = commands.start("run")
            try:
                until_a_job_is_held(made, runner)
                with made.app() as app:
                    pause(app)
            finally:
                end(runner)
        assert commands.finish("worker", "--once") == 0, commands.last_words()  # it helps with nothing
        assert made.sql("SELECT count(*) FROM Jobs") != [(0,)]
        assert commands.finish("resume") == 0, commands.last_words()
        assert {created for created, _ in made.effects().values()} == {1}
        assert made.sql("SELECT count(*) FROM Jobs") == [(0,)]


# ---------------------------------------------------------------- what a pause waits for


def test_a_pause_does_not_wait_for_a_limit(tmp_path: Path) -> None:
    """Whoever has to wait for more than two seconds gives his job back, and waits without it."""
    with world(tmp_path) as made, made.app() as app:
        made.strike_cloud(
            {"method": "user.get", "kind": "error", "code": "OPERATION_TIME_LIMIT", "status": 429, "inner": True}
        )

        def tick() -> None:
            parked = made.sql("SELECT count(*) FROM Jobs WHERE VisibleAt IS NOT NULL AND Owner IS NULL")
            if parked[0][0]:
                pause(app)

        with pytest.raises(Paused):
            app.runner.run(["users"], ("get",), tick=tick)
        ((due,),) = made.sql("SELECT min(VisibleAt) FROM Jobs WHERE VisibleAt IS NOT NULL")
        assert datetime.fromisoformat(due) > made.clock.now()


def test_a_long_job_leaves_the_rest_to_another(tmp_path: Path) -> None:
    with world(tmp_path, small(files=40)) as made, made.app(run={"workers": 1}) as app:
        moved: list[Event] = []

        def told(event: Event) -> None:
            if isinstance(event, FileMoved):
                moved.append(event)
                if len(moved) == 1:
                    pause_and_be_told(app)

        told_too = app.with_context(replace(app.context, observers=(*app.context.observers, told)))
        with pytest.raises(Paused):
            told_too.runner.run(app.chosen(()), tick=made.leap())
        assert len(moved) <= 2  # one of each hand
        assert not app.context.time_is_up()
        left = [waiting.job.kind for waiting in app.context.queue.jobs()]
        assert "fetch" in left


def test_leases_are_kept_until_the_last_hand_has_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A download may take longer than a lease, and nobody else shall begin it meanwhile."""
    monkeypatch.setattr(crew_module, "RENEW_S", 0.0)
    with world(tmp_path) as made, made.app() as app:
        kept = threading.Event()
        renew = app.context.queue.renew

        def renewing(*args: Any, **named: Any) -> bool:
            done = renew(*args, **named)
            kept.set()
            return done

        monkeypatch.setattr(app.context.queue, "renew", renewing)
        read = jobs.PERFORMERS["read"]
        meanwhile: list[bool] = []

        def slowly(*args: Any) -> Any:
            if not meanwhile:
                meanwhile.append(False)
                pause_and_be_told(app)
                kept.clear()
                meanwhile.append(kept.wait(60))
            return read(*args)

        monkeypatch.setitem(jobs.PERFORMERS, "read", slowly)
        with pytest.raises(Paused):
            app.runner.run(["users"], ("get",))
        assert meanwhile == [False, True]
