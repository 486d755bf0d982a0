"""How long the proof of a finish holds: until a later run finds something, whatever comes after that. And which runs
are shown as what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.test_cutover import PLAN, SETTINGS, deal, finish, freeze, go_live, rehearse, view_of
from tests.engine.world import World

from b24migrate.engine import plan
from b24migrate.engine.cutover import NotNow
from b24migrate.engine.phases.cutover_state import LIVE, CutoverState, Step
from b24migrate.engine.plan import Plan, Run
from b24migrate.insight.cutover import brief, is_late
from b24migrate.ports import RUNS, RegisterRow


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
    """The certificate knows nothing of it: the next step is to finish again."""
    assert (view_of(quiet).next, view_of(quiet).proven) == ("live", True)
    quiet.change("crm_deals", id=deal(quiet), fields={"title": "Поздно"})
    later(quiet)
    sync(quiet)
    shown = view_of(quiet)
    step = next(one for one in shown.steps if one.name == "finish")
    assert (shown.next, shown.command, shown.proven) == ("finish", "b24migrate cutover finish", False)
    assert (step.state, step.ended, step.can_start, step.can_undo) == ("open", "", True, True)
    assert "no longer proven" in step.message
    with quiet.app() as app:
        told = brief(app.context)
    assert told is not None
    assert (told.step, told.state, told.next) == ("finish", "under_way", "finish")
    with pytest.raises(NotNow, match="no longer proven"):
        go_live(quiet)
    assert finish(quiet).exit_code == 0
    assert (view_of(quiet).next, view_of(quiet).proven) == ("live", True)
    sync(quiet)
    assert go_live(quiet).is_live
    quiet.change("crm_deals", id=deal(quiet), fields={"title": "Ещё позже"})
    later(quiet)
    assert go_live(quiet).quiet is not None


def test_runs_before_going_live_are_not_late_within_the_same_second() -> None:
    """A small company goes through all steps in less than that."""
    early, late = (
        Run(f"2026-11-19T19:04:12Z-{ms}ab12", Plan((), ()), started="2026-11-19T19:04:12Z") for ms in ("001", "009")
    )
    went = Step(early.started, early.started, "anna", run=early.id)
    for step, found in ((went, [False, True]), (replace(went, run=""), [True, True])):  # an earlier version kept no run
        live = CutoverState().with_step(LIVE, step)
        assert [is_late(live, one) for one in (early, late)] == found


def test_going_live_keeps_the_last_run_before_it(quiet: World) -> None:
    sync(quiet)
    with quiet.app() as app:
        run = plan.current(app.context.store)
    assert run is not None
    assert go_live(quiet).step(LIVE).run == run.id


def test_the_full_pass_is_done_when_its_run_ends(quiet: World) -> None:
    """Not when it began, and not when a delta run ends."""
    with quiet.app() as app:
        full = next(one.id for one in plan.all_runs(app.context.store) if not one.plan.delta)
        row = app.context.store.read(RUNS, full)
        assert row is not None
        later = {**row.values, "FinishedAtUtc": "2001-01-01T10:00:00.5Z"}
        app.context.store.write(RUNS, [RegisterRow(full, later)])
    shown = view_of(quiet).steps[0]
    assert (shown.name, shown.ended) == ("full_pass", "2001-01-01T10:00:00Z")
    assert shown.began > shown.ended


def test_nobody_is_named_for_a_change_whose_time_is_before_the_freeze(quiet: World) -> None:
    """The owner made the group long ago, and somebody else may have renamed it now."""
    group = int(next(iter(quiet.records("Groups"))))
    quiet.change("groups", id=group, fields={"NAME": "Переименована"})
    sync(quiet)
    writers = [one for one in view_of(quiet).writers if one.stream == "groups"]
    assert [(one.user, one.records, one.last) for one in writers] == [("", 1, "")]
