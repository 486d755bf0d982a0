"""What a pause is to the run itself: when there can be one, for whom it counts, and what ends it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine.paused_run import pause, resume, run_until_paused
from tests.engine.world import small, world

from b24migrate.app import App
from b24migrate.engine import doctor, plan
from b24migrate.engine import worker as crew_module
from b24migrate.engine.plan import Paused, Plan
from b24migrate.ports import RUNS, Register, RegisterRow, Store


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DELAYS_S", (0.0, 0.0, 0.0))
    monkeypatch.setattr(crew_module, "LOOK_S", 0.0)


# ---------------------------------------------------------------- the run itself


def begun(app: App, *entities: str) -> plan.Run:
    return plan.begin(app.context.store, app.context.clock, plan.Plan(entities or ("users",)))[0]


def end_with(app: App, run: plan.Run, code: int, *, complete: bool) -> plan.Run:
    return plan.end(app.context.store, app.context.clock, run, complete=complete, exit_code=code, message="so")


def test_what_is_not_under_way_cannot_be_paused(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        assert plan.pause(app.context.store, app.context.clock) is None
        run = begun(app)
        stopped = end_with(app, run, 4, complete=False)
        assert plan.pause(app.context.store, app.context.clock) is None
        assert plan.current(app.context.store) == stopped
        ended = end_with(app, begun(app), 0, complete=True)
        assert plan.pause(app.context.store, app.context.clock) is None
        assert plan.current(app.context.store) == ended


def test_paused_twice_is_paused_once(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        begun(app)
        first = pause(app)
        made.clock.sleep(60)
        assert plan.pause(app.context.store, app.context.clock, "Boris") == first
        assert plan.current(app.context.store) == first


def test_the_same_plan_goes_on_and_another_takes_its_place(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        run = begun(app)
        pause(app)
        again, continued = plan.begin(app.context.store, app.context.clock, run.plan)
        assert (again, continued) == (run, True)
        pause(app)
        other = begun(app, "groups")
        assert other.id != run.id
        assert plan.current(app.context.store) == other


def test_one_that_is_paused_while_it_begins_is_begun_anew(tmp_path: Path) -> None:
    """The states of its phases may be another plan's: whoever was about to reset them may have died."""
    with world(tmp_path) as made, made.app() as app:
        begun(app, "groups")

        def paused_meanwhile(*_: object) -> None:
            pause(app)

        with pytest.raises(Paused):
            plan.begin(app.context.store, app.context.clock, plan.Plan(("users",)), paused_meanwhile)
        found = plan.current(app.context.store)
        assert found is not None
        assert found.state == plan.PAUSED
        _, continued = plan.begin(app.context.store, app.context.clock, plan.Plan(("users",)))
        assert not continued


def test_a_pause_counts_for_whoever_is_about_to_go_on(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        run = begun(app)
        first = pause(app)

        def paused_again(_: plan.Run, continued: bool) -> None:
            assert continued
            pause(app)

        with pytest.raises(Paused):
            plan.begin(app.context.store, app.context.clock, run.plan, paused_again)
        assert plan.current(app.context.store) == first


def test_a_pause_counts_for_whoever_still_looks_at_both_ends(tmp_path: Path) -> None:
    """That takes some seconds, in which a person may think better of it."""
    with world(tmp_path) as made, made.app() as app:
        begun(app, "users", "groups", "chats")  # and killed
        with pytest.raises(Paused):
            app.runner.run(app.chosen(()), on_diagnosis=lambda _: (pause(app), None)[1])
        assert app.context.queue.jobs() == []
        made.clock.sleep(1)
        with pytest.raises(Paused):
            app.runner.resume(on_diagnosis=lambda _: (pause(app), None)[1])
        assert resume(made).exit_code == 0


def test_a_pause_that_comes_as_a_run_becomes_active_is_not_lost(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        store = app.context.store
        run = begun(app)
        swap = store.swap

        def slower(*args: Any) -> bool:
            store.swap = swap  # type: ignore[method-assign]
            pause(app)
            return swap(*args)

        store.swap = slower  # type: ignore[method-assign,assignment]
        with pytest.raises(Paused):
            plan.begin(store, app.context.clock, run.plan)
        found = plan.current(store)
        assert found is not None
        assert found.state == plan.PAUSED


def test_while_it_is_paused_a_run_neither_moves_nor_ends(tmp_path: Path) -> None:
    with world(tmp_path) as made, made.app() as app:
        run = app.runner.begin(Plan(("users",), ("get",)))
        conductor = app.runner.conductor(run)
        paused = pause(app)
        with pytest.raises(Paused):
            conductor.step()
        with pytest.raises(Paused):
            app.runner.conclude(run)
        app.runner.stop(run, Paused("no"))
        assert plan.current(app.context.store) == paused
        assert app.context.queue.jobs() == []


def test_a_retry_goes_on_with_a_paused_run(tmp_path: Path) -> None:
    """It would otherwise take its place with a plan of its own, and what was not read yet would be forgotten."""
    with world(tmp_path) as made:
        made.strike_box(
            {"method": "import.groups.batch", "item": {"key": "source:groups:*", "code": "VALIDATION"}, "count": 1}
        )
        assert run_until_paused(made, lambda job: job.scope == "chats-get") is None
        with made.app() as app:
            paused = plan.current(app.context.store)
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
        store = app.context.store
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
