"""How long the proof of a finish holds: until a later run finds something, whatever comes after that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.test_cutover import PLAN, SETTINGS, deal, finish, freeze, go_live, rehearse
from tests.engine.world import World

from b24migrate.engine.cutover import NotNow


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    def further(made: World) -> None:
        assert [step(made).exit_code for step in (rehearse, freeze, finish)] == [0, 0, 0]

    with migrated(tmp_path_factory.mktemp("proof"), PLAN, settings=SETTINGS, further=further) as taken_up:
        yield taken_up


@pytest.fixture
def quiet(proven: TakeUp, tmp_path: Path) -> World:
    """After its finish."""
    return proven(tmp_path)


def sync(made: World) -> None:
    with made.app() as app:
        app.runner.run(app.chosen(), delta=True, tick=made.leap())


def test_delta_runs_that_find_nothing_leave_the_proof(quiet: World) -> None:
    sync(quiet)
    sync(quiet)
    assert go_live(quiet).is_live


@pytest.mark.parametrize("later", [sync, lambda made: made.run()], ids=["sync", "run"])
def test_what_a_later_run_found_breaks_the_proof_also_if_the_next_one_finds_nothing(
    quiet: World, later: Callable[[World], None]
) -> None:
    """The certificate knows nothing of it."""
    quiet.change("crm_deals", id=deal(quiet), fields={"title": "Поздно"})
    later(quiet)
    sync(quiet)
    with pytest.raises(NotNow, match="no longer proven"):
        go_live(quiet)
    assert finish(quiet).exit_code == 0
    sync(quiet)
    assert go_live(quiet).is_live
    quiet.change("crm_deals", id=deal(quiet), fields={"title": "Ещё позже"})
    later(quiet)
    assert go_live(quiet).quiet is not None
