"""A run that a person pauses: everybody ends the job he is in and leaves, and going on gives what a run in one piece
would have given."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.chaos.killing import end
from tests.pipeline.test_workers import migration, owners
from tests.pipeline.world import TALK, World, small, world

from b24migrate.events import Event, FileMoved
from b24migrate.hosts import worker
from b24migrate.pipeline import crew as crew_module
from b24migrate.pipeline import doctor, perform, plan, status
from b24migrate.pipeline.plan import Paused
from b24migrate.pipeline.runner import Ended
from b24migrate.ports import RUNS, Lease, Register, RegisterRow, Store
from b24migrate.records import Job
from b24migrate.streams import LATE
from b24migrate.wiring import App

WORDS = "Paused by Anna at "


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DELAYS_S", (0.0, 0.0, 0.0))
    monkeypatch.setattr(crew_module, "LOOK_S", 0.0)


def pause(app: App) -> plan.Run:
    run = plan.pause(app.work.store, app.work.clock, "Anna")
    assert run is not None
    return run


def pause_and_be_told(app: App) -> None:
    """For a hand of the crew: somebody pauses the run, and the hand goes on when all hands have been told."""
    pause(app)
    over: threading.Event = app.work.leaving.__self__  # type: ignore[attr-defined]
    assert over.wait(10)


def after(app: App, wanted: Callable[[Job], bool], jobs: int, then: Callable[[App], None]) -> None:
    """When so many jobs of this kind are done."""
    finish, left = app.work.queue.finish, [jobs]
    lock = threading.Lock()

    def counted(lease: Lease, follow: Any) -> None:
        finish(lease, follow)
        with lock:
            left[0] -= wanted(lease.job)
            now = left[0] == 0 and wanted(lease.job)
        if now:
            then(app)

    app.work.queue.finish = counted  # type: ignore[method-assign]


def run_until_paused(made: World, wanted: Callable[[Job], bool], jobs: int = 1, *, again: bool = False) -> Ended | None:
    """None when it was paused."""
    with made.app() as app:
        app.work.options = replace(app.work.options, verify_all=True)
        after(app, wanted, jobs, pause_and_be_told)
        try:
            if again:
                return app.runner.resume(tick=made.leap())
            return app.runner.run(app.chosen(()), tick=made.leap())
        except Paused as paused:
            said = paused
    assert (said.exit_code, said.code) == (3, plan.ON_PAUSE)
    assert said.message.startswith(WORDS)
    return None


def resume(made: World) -> Ended:
    with made.app() as app:
        app.work.options = replace(app.work.options, verify_all=True)
        return app.runner.resume(tick=made.leap())


def outcome(made: World) -> tuple[Any, ...]:
    """What the box got and how often, and what we say about it."""
    with made.app() as app:
        entities = status.snapshot(app.work).entities
    assert made.box.portal.imports.order_violations == 0
    assert made.sql("SELECT count(*) FROM Jobs") == [(0,)]
    told = {name: (entities[name].verified, entities[name].streams, entities[name].notes) for name in TALK}
    return made.effects(), told


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    with world(tmp_path_factory.mktemp("undisturbed")) as made, made.app() as app:
        app.work.options = replace(app.work.options, verify_all=True)
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
            paused = plan.current(app.work.store)
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
            run = app.runner.begin(app.chosen(()))
            for each in (app, one, other):
                after(each, lambda job: job.scope == "chats-get", 1, pause_and_be_told)
            helping = [pool.submit(worker.labour, each, once=True) for each in (one, other)]
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
        run = desk.runner.begin(desk.chosen(()))
        pause(desk)
        waited: list[str] = []
        sleep = made.clock.sleep

        def waiting(seconds: float) -> None:
            sleep(seconds)
            if threading.current_thread() is not threading.main_thread():
                return
            found = plan.current(desk.work.store)
            assert found is not None
            waited.append(found.state)
            if found.state == plan.ENDED:
                raise Enough
            if len(waited) == 3:
                desk.runner.begin(desk.chosen(()))

        made.clock.sleep = waiting  # type: ignore[method-assign]
        with pytest.raises(Enough):
            worker.labour(app, once=False)
        assert waited == [plan.PAUSED] * 3 + [plan.ENDED]
        made.clock.sleep = sleep  # type: ignore[method-assign]
        ended = plan.current(desk.work.store)
        assert ended is not None
        assert (ended.id, ended.exit_code) == (run.id, 0)
        assert made.effects() == undisturbed[0]


@pytest.mark.slow
def test_a_run_that_is_killed_while_it_leaves_loses_nothing(tmp_path: Path) -> None:
    with world(tmp_path, small(users=60, groups=20, chats=20, messages=3000), latency_s=0.05) as made:
        made.box.portal.latency_s = 0.05
        commands = migration(made)
        runner = commands.start("run")
        try:
            while not owners(made):
                assert runner.poll() is None, commands.last_words()
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

        began_s = time.monotonic()
        with pytest.raises(Paused):
            app.runner.run(["users"], ("get",), tick=tick)
        assert time.monotonic() - began_s < 20


def test_a_long_job_leaves_the_rest_to_another(tmp_path: Path) -> None:
    with world(tmp_path, small(files=40)) as made, made.app(run={"workers": 1}) as app:
        moved: list[Event] = []

        def told(event: Event) -> None:
            if isinstance(event, FileMoved):
                moved.append(event)
                if len(moved) == 1:
                    pause_and_be_told(app)

        app.work.observers = (*app.work.observers, told)
        with pytest.raises(Paused):
            app.runner.run(app.chosen(()), tick=made.leap())
        assert len(moved) <= 2  # one of each hand
        assert not app.work.time_is_up()
        left = [waiting.job.kind for waiting in app.work.queue.jobs()]
        assert "fetch" in left


def test_leases_are_kept_until_the_last_hand_has_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A download may take longer than a lease, and nobody else shall begin it meanwhile."""
    monkeypatch.setattr(crew_module, "RENEW_S", 0.0)
    with world(tmp_path) as made, made.app() as app:
        kept = threading.Event()
        renew = app.work.queue.renew

        def renewing(*args: Any, **named: Any) -> bool:
            done = renew(*args, **named)
            kept.set()
            return done

        monkeypatch.setattr(app.work.queue, "renew", renewing)
        read = perform.PERFORMERS["read"]
        meanwhile: list[bool] = []

        def slowly(*args: Any) -> Any:
            if not meanwhile:
                meanwhile.append(False)
                pause_and_be_told(app)
                kept.clear()
                meanwhile.append(kept.wait(10))
            return read(*args)

        monkeypatch.setitem(perform.PERFORMERS, "read", slowly)
        with pytest.raises(Paused):
            app.runner.run(["users"], ("get",))
        assert meanwhile == [False, True]


# ---------------------------------------------------------------- the run itself


def begun(app: App, *entities: str) -> plan.Run:
    return plan.begin(app.work.store, app.work.clock, plan.Plan(entities or ("users",)))[0]


def end_with(app: App, run: plan.Run, code: int, *, complete: bool) -> plan.Run:
    return plan.end(app.work.store, app.work.clock, run, complete=complete, exit_code=code, message="so")


def test_what_is_not_under_way_cannot_be_paused(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        assert plan.pause(app.work.store, app.work.clock) is None
        run = begun(app)
        stopped = end_with(app, run, 4, complete=False)
        assert plan.pause(app.work.store, app.work.clock) is None
        assert plan.current(app.work.store) == stopped
        ended = end_with(app, begun(app), 0, complete=True)
        assert plan.pause(app.work.store, app.work.clock) is None
        assert plan.current(app.work.store) == ended


def test_paused_twice_is_paused_once(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        begun(app)
        first = pause(app)
        made.clock.sleep(60)
        assert plan.pause(app.work.store, app.work.clock, "Boris") == first
        assert plan.current(app.work.store) == first


def test_the_same_plan_goes_on_and_another_takes_its_place(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        run = begun(app)
        pause(app)
        again, continued = plan.begin(app.work.store, app.work.clock, run.plan)
        assert (again, continued) == (run, True)
        pause(app)
        other = begun(app, "groups")
        assert other.id != run.id
        assert plan.current(app.work.store) == other


def test_one_that_is_paused_while_it_begins_is_begun_anew(tmp_path: Path) -> None:
    """The states of its phases may be another plan's: whoever was about to reset them may have died."""
    with world(tmp_path) as made, made.app() as app:
        begun(app, "groups")

        def paused_meanwhile(*_: object) -> None:
            pause(app)

        with pytest.raises(Paused):
            plan.begin(app.work.store, app.work.clock, plan.Plan(("users",)), paused_meanwhile)
        found = plan.current(app.work.store)
        assert found is not None
        assert found.state == plan.PAUSED
        _, continued = plan.begin(app.work.store, app.work.clock, plan.Plan(("users",)))
        assert not continued


def test_a_pause_counts_for_whoever_is_about_to_go_on(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        run = begun(app)
        first = pause(app)

        def paused_again(_: plan.Run, continued: bool) -> None:
            assert continued
            pause(app)

        with pytest.raises(Paused):
            plan.begin(app.work.store, app.work.clock, run.plan, paused_again)
        assert plan.current(app.work.store) == first


def test_a_pause_counts_for_whoever_still_looks_at_both_ends(tmp_path: Path) -> None:
    """That takes some seconds, in which a person may think better of it."""
    with world(tmp_path) as made, made.app() as app:
        begun(app, "users", "groups", "chats")  # and killed
        with pytest.raises(Paused):
            app.runner.run(app.chosen(()), on_diagnosis=lambda _: (pause(app), None)[1])
        assert app.work.queue.jobs() == []
        made.clock.sleep(1)
        with pytest.raises(Paused):
            app.runner.resume(on_diagnosis=lambda _: (pause(app), None)[1])
        assert resume(made).exit_code == 0


def test_a_pause_that_comes_as_a_run_becomes_active_is_not_lost(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        store = app.work.store
        run = begun(app)
        swap = store.swap

        def slower(*args: Any) -> bool:
            store.swap = swap  # type: ignore[method-assign]
            pause(app)
            return swap(*args)

        store.swap = slower  # type: ignore[method-assign,assignment]
        with pytest.raises(Paused):
            plan.begin(store, app.work.clock, run.plan)
        found = plan.current(store)
        assert found is not None
        assert found.state == plan.PAUSED


def test_while_it_is_paused_a_run_neither_moves_nor_ends(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        run = app.runner.begin(["users"], ("get",))
        conductor = app.runner.conductor(run.plan)
        paused = pause(app)
        with pytest.raises(Paused):
            conductor.step()
        with pytest.raises(Paused):
            app.runner.conclude(run)
        app.runner.stop(run, Paused("no"))
        assert plan.current(app.work.store) == paused
        assert app.work.queue.jobs() == []


def test_a_retry_goes_on_with_a_paused_run(tmp_path: Path) -> None:
    """It would otherwise take its place with a plan of its own, and what was not read yet would be forgotten."""
    with world(tmp_path) as made:
        made.strike_box(
            {"method": "import.groups.batch", "item": {"key": "source:groups:*", "code": "VALIDATION"}, "count": 1}
        )
        assert run_until_paused(made, lambda job: job.scope == "chats-get") is None
        with made.app() as app:
            paused = plan.current(app.work.store)
        assert paused is not None
        made.strike_box()
        ended = made.retry()
        assert (ended.run.id, ended.run.plan.entities) == (paused.id, paused.plan.entities)
        assert ended.exit_code == 0


class Interrupted:
    """A store whose caller is overtaken by somebody right after his first change of the current run."""

    def __init__(self, store: Store, by: Callable[[], object]) -> None:
        self._store, self._by = store, [by]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def swap(self, register: Register, row: RegisterRow) -> bool:
        done = self._store.swap(register, row)
        if done and row.key == plan.CURRENT and self._by:
            self._by.pop()()
        return done


def test_a_pause_that_was_overtaken_does_not_change_how_the_run_ended(tmp_path: Path) -> None:
    wanted = plan.Plan(("users",))
    with world(tmp_path, small()) as made, made.app() as app:
        store = app.work.store
        run, _ = plan.begin(store, made.clock, wanted)

        def gone_on_with_and_ended() -> None:
            again, _ = plan.begin(store, made.clock, wanted)
            plan.end(store, made.clock, again, complete=True, exit_code=0, message="")

        overtaken: Any = Interrupted(store, gone_on_with_and_ended)
        plan.pause(overtaken, made.clock)
        own, current = store.read(RUNS, run.id), store.read(RUNS, plan.CURRENT)
        assert own is not None
        assert current is not None
        assert own.values == current.values
        assert own.values["State"] == plan.ENDED
