"""A run becomes current when it is prepared, and ends once, however many come to its end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.engine.world import World

from b24migrate.app import App
from b24migrate.engine import plan
from b24migrate.engine.plan import Plan, Run
from b24migrate.model.errors import Halted
from b24migrate.model.events import PhaseChanged
from b24migrate.ports import Register, RegisterRow

USERS = Plan(("users",))


def begun(app: App) -> Run:
    return plan.begin(app.context.store, app.context.clock, USERS)[0]


def end(app: App, run: Run, code: int, *, complete: bool = True) -> Run:
    return plan.end(
        app.context.store, app.context.clock, run, complete=complete, exit_code=code, message=f"code {code}"
    )


def test_nobody_works_on_a_run_before_it_is_prepared(small: World) -> None:
    with small.app() as app:

        def prepare(run: Run, continued: bool) -> None:
            assert not continued
            found = plan.current(app.context.store)
            assert found == run
            assert not found.under_way

        run, _ = plan.begin(app.context.store, app.context.clock, USERS, prepare)
        assert run.under_way
        assert plan.current(app.context.store) == run


def test_a_run_whose_preparation_was_cut_short_is_prepared_anew(small: World) -> None:
    """Otherwise the states of the run before would be taken for its own, and it would be at its end at once."""

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    small.run("users")
    with small.app() as app, pytest.raises(KeyboardInterrupt):
        plan.begin(app.context.store, app.context.clock, Plan(("users",), test_limit=0), die)
    before = len(small.seen)
    assert small.run("users").exit_code == 0
    states = [(one.phase, one.state) for one in small.events[before:] if isinstance(one, PhaseChanged)]
    assert ("get", "running") in states


def test_two_that_begin_at_once_do_not_both_begin(small: World) -> None:
    with small.app() as app:
        store = app.context.store
        swap = store.swap

        def slower(register: Register, row: RegisterRow) -> bool:
            store.swap = swap  # type: ignore[method-assign]
            begun(app)
            return swap(register, row)

        store.swap = slower  # type: ignore[method-assign]
        with pytest.raises(Halted) as refused:
            plan.begin(store, app.context.clock, Plan(("groups",)))
        assert refused.value.code == plan.UNDER_WAY
        current = plan.current(store)
        assert current is not None
        assert current.plan == USERS


def test_who_continues_a_run_does_not_take_the_place_of_one_that_began_meanwhile(small: World) -> None:
    with small.app() as app:
        end(app, begun(app), 4, complete=False)
        others: list[Run] = []

        def prepare(_: Run, continued: bool) -> None:
            assert continued
            others.append(plan.begin(app.context.store, app.context.clock, Plan(("groups",)))[0])

        with pytest.raises(Halted) as refused:
            plan.begin(app.context.store, app.context.clock, USERS, prepare)
        assert refused.value.code == plan.UNDER_WAY
        assert plan.current(app.context.store) == others[0]


def test_of_many_that_end_a_run_one_does(small: World) -> None:
    with small.app() as app:
        run = begun(app)
        with ThreadPoolExecutor(8) as pool:
            ended = list(pool.map(lambda code: end(app, run, code), range(8)))
        assert len({one.exit_code for one in ended}) == 1
        assert plan.current(app.context.store) == ended[0]


def test_the_first_reason_stays_and_a_continued_run_has_none(small: World) -> None:
    with small.app() as app:
        run = begun(app)
        end(app, run, 3, complete=False)
        assert end(app, run, 4, complete=False).exit_code == 3
        again, continued = plan.begin(app.context.store, app.context.clock, USERS)
        assert continued
        assert again == run


def test_a_run_that_another_has_replaced_is_left_alone(small: World) -> None:
    with small.app() as app:
        old = begun(app)
        new, _ = plan.begin(app.context.store, app.context.clock, Plan(("groups",)))
        end(app, old, 4)
        assert plan.current(app.context.store) == new
