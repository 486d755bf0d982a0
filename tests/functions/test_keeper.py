"""One application per process, and a new one when the old one is of no use."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier

import pytest
from tests.engine.world import World

from b24migrate.app import App
from b24migrate.engine import plan
from b24migrate.functions import AppCache
from b24migrate.model.errors import BadConfiguration, Halted


class Opening:
    """Counts what is open."""

    def __init__(self, made: World) -> None:
        self._made = made
        self.opened = self.closed = 0
        self.broken = False
        self.stuck = False

    @contextmanager
    def __call__(self) -> Iterator[App]:
        if self.broken:
            raise BadConfiguration("a setting is wrong")
        with self._made.app() as app:
            self.opened += 1
            yield app
            self.closed += 1
        if self.stuck:
            raise Halted("the store is gone")


@pytest.fixture
def opening(small: World) -> Opening:
    return Opening(small)


@pytest.fixture
def keeper(opening: Opening) -> Iterator[AppCache]:
    kept = AppCache(opening)
    yield kept
    kept.close()
    assert opening.opened == opening.closed


def begin(keeper: AppCache, *entities: str) -> None:
    with keeper.app() as app:
        plan.begin(app.context.store, app.context.clock, plan.Plan(entities, test_limit=len(entities)))


def test_nothing_is_opened_before_it_is_needed(opening: Opening, keeper: AppCache) -> None:
    assert opening.opened == 0
    with keeper.app():
        assert opening.opened == 1


def test_all_threads_share_one(opening: Opening, keeper: AppCache) -> None:
    together = Barrier(4)

    def use() -> int:
        with keeper.app() as app:
            together.wait(60)
            return id(app)

    with ThreadPoolExecutor(4) as pool:
        assert len({one.result() for one in [pool.submit(use) for _ in range(4)]}) == 1
    assert (opening.opened, opening.closed) == (1, 0)


def test_after_a_stop_the_next_one_gets_another_and_who_uses_the_old_one_still_can(
    opening: Opening, keeper: AppCache
) -> None:
    with keeper.app() as used:
        with pytest.raises(Halted), keeper.app():
            raise Halted("the portal is down")
        with keeper.app() as fresh:
            assert fresh is not used
            assert (opening.opened, opening.closed) == (2, 0)
        assert used.context.store.counters() == {}
    assert (opening.opened, opening.closed) == (2, 1)


def test_a_bug_does_not_cost_the_application(opening: Opening, keeper: AppCache) -> None:
    with pytest.raises(ZeroDivisionError), keeper.app():
        _ = 1 / 0
    with keeper.app():
        assert (opening.opened, opening.closed) == (1, 0)


def test_what_could_not_be_opened_is_tried_again(opening: Opening, keeper: AppCache) -> None:
    opening.broken = True
    with pytest.raises(BadConfiguration), keeper.app():
        pass
    opening.broken = False
    with keeper.app():
        assert opening.opened == 1


def test_another_run_gets_another_application(opening: Opening, keeper: AppCache) -> None:
    """What it remembers of the source is of the run before."""
    for count, entities in enumerate([("users",), ("users", "groups")], 1):
        begin(keeper, *entities)
        for _ in range(2):
            with keeper.active_run() as at_work:
                assert not isinstance(at_work, App)
                assert at_work.context.run == at_work.run.id
                assert at_work.context.options.test_limit == count
        assert opening.opened == count


def test_a_store_that_cannot_be_closed_is_no_trouble(opening: Opening, keeper: AppCache) -> None:
    opening.stuck = True
    with keeper.app():
        pass
    with keeper.app(fresh=True):
        assert opening.opened == 2
