"""The way so far: never too long, never without its beginning and its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.world import World

from b24migrate.app import App
from b24migrate.engine import plan
from b24migrate.engine.plan import Plan
from b24migrate.insight.status import StatusReader, history, points, remember
from b24migrate.insight.status.history import MOST, Moment, keep, moment_key, moments, recent, surplus_keys, thin
from b24migrate.insight.status.model import Point
from b24migrate.insight.status.progress import gap_s, measure_speed, working_time
from b24migrate.ports import HISTORY, RegisterRow

BEGAN = datetime(2026, 3, 1, 23, 50, tzinfo=UTC)


def moment(after_s: float, *, read: int = 0, units: float = 0.0, step_s: float = 10.0) -> Moment:
    at = f"{BEGAN + timedelta(seconds=after_s):%Y-%m-%dT%H:%M:%S.%fZ}"
    return Moment(Point(at, read, 0, 0, 0, 0.0), "r", units=units, basis="records", step_s=step_s)


@pytest.fixture
def app(small: World) -> Iterator[App]:
    with small.app() as app:
        plan.begin(app.context.store, small.clock, plan.Plan(("users",)))
        yield app


# ---------------------------------------------------------------- what is dropped


@given(st.lists(st.integers(1, 400), min_size=1, max_size=1500))
def test_whatever_the_steps_some_hundred_are_left_with_both_ends(steps: list[int]) -> None:
    times = [BEGAN]
    for step in steps:
        times.append(times[-1] + timedelta(seconds=10 * step))
    keys = [moment_key(time) for time in times]
    dropped = set(surplus_keys(keys))
    left = [key for key in keys if key not in dropped]
    assert len(left) <= MOST
    assert (left[0], left[-200:]) == (keys[0], keys[-200:])
    assert bool(dropped) == (len(keys) > MOST)


def test_what_is_left_of_ten_days_lies_evenly() -> None:
    keys: list[str] = []
    for minute in range(10 * 24 * 60):
        keys.append(moment_key(BEGAN + timedelta(minutes=minute)))
        if len(keys) > MOST:
            dropped = set(surplus_keys(keys)[: history.AT_ONCE])
            keys = [key for key in keys if key not in dropped]
    assert len(keys) <= MOST
    gaps = [(datetime.fromisoformat(b) - datetime.fromisoformat(a)).total_seconds() for a, b in pairwise(keys)]
    assert max(gaps) <= 2 * 3600


def test_the_store_keeps_no_more_than_some_hundred(app: App, small: World) -> None:
    for place in range(MOST + 60):
        keep(app.context.store, moment(10 * place, read=place))
        thin(app.context.store)
    kept = points(app.context.store)
    assert MOST - history.AT_ONCE <= len(kept) <= MOST
    assert (kept[0].read, kept[-1].read) == (0, MOST + 59)


# ---------------------------------------------------------------- several at once, restarts, midnight


def test_several_processes_may_remember_the_same_moment(app: App) -> None:
    hands = [threading.Thread(target=remember, args=(app.context,)) for _ in range(4)]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
    assert len(points(app.context.store)) <= 2  # ten seconds may have begun meanwhile


def test_what_is_recent_is_found_over_midnight_and_otherwise_the_last_there_is(app: App) -> None:
    store = app.context.store
    for place in range(100):
        keep(store, moment(15 * place, read=place))
    found = recent(store, BEGAN + timedelta(seconds=1500))
    assert found[-1].point.read == 99
    assert found[0].at <= BEGAN + timedelta(seconds=900)
    assert len(found) < 100
    days_later = recent(store, BEGAN + timedelta(days=3))
    assert days_later == moments(store)


def test_a_pause_is_flat_and_does_not_count_as_work() -> None:
    before = [moment(10 * place, units=10.0 * place) for place in range(10)]
    after = [moment(400 + 10 * place, units=90.0 + 10 * place) for place in range(5)]
    now = BEGAN + timedelta(seconds=450)
    assert list(working_time([*before, *after], now, 140.0)) == pytest.approx([90 + 50, 140])


def test_where_moments_are_rare_the_space_between_them_is_work() -> None:
    rare = [moment(60 * place, units=60.0 * place, step_s=60.0) for place in range(5)]
    assert gap_s(60.0) > 120
    assert list(working_time(rare, BEGAN + timedelta(seconds=300), 300.0)) == pytest.approx([300, 300])


@given(st.lists(st.tuples(st.floats(0.1, 500), st.integers(-5, 1000)), max_size=40))
def test_a_speed_is_never_below_nothing(way: list[tuple[float, int]]) -> None:
    seconds, read, series = 0.0, 0, []
    for step, grown in way:
        seconds, read = seconds + step, read + grown
        series.append(moment(seconds, read=read))
    speed = measure_speed(series, moment(seconds + 1, read=read))
    assert min(speed.read, speed.imported, speed.verified, speed.window_s) >= 0
    spent_s, grown_by = working_time(series, BEGAN + timedelta(seconds=seconds + 1), 0.0)
    assert 0 <= spent_s <= 700
    assert grown_by >= 0


def test_the_speed_is_of_the_last_minute() -> None:
    series = [moment(place, read=10 * place) for place in range(0, 600, 10)]
    assert measure_speed(series, moment(600, read=6000)).read == pytest.approx(10)
    assert measure_speed(series, moment(600, read=6000)).window_s == pytest.approx(60)
    assert measure_speed(series, moment(6000, read=6000)).read == 0


def test_a_run_that_is_conducted_is_remembered_without_being_asked(talk: World) -> None:
    with talk.app() as app:
        (last,) = moments(app.context.store)[-1:]
        now = StatusReader(app.context).overview()
    assert last.run == (now.run.id if now.run else "")
    assert last.point.imported == now.progress.imported > 0


def test_a_moment_that_nobody_understands_stops_no_migration(small: World) -> None:
    """Such as one of a later version."""
    with small.app() as app:
        keep(app.context.store, moment(0))
        row = app.context.store.rows(HISTORY)[0]
        alien = {**row.values, "More": {**row.values["More"], "mood": "fine"}}
        app.context.store.write(HISTORY, [RegisterRow(moment_key(small.clock.now()), alien)])
        assert app.runner.run(["users"], tick=small.leap()).exit_code == 0


def test_a_run_says_in_its_own_row_too_how_it_ended(app: App) -> None:
    store, clock = app.context.store, app.context.clock
    run = plan.current(store)
    assert run is not None
    plan.end(store, clock, run, complete=True, exit_code=5, message="some differ")
    (own,) = plan.all_runs(store)
    assert own == plan.current(store)
    assert (own.state, own.exit_code, own.message) == (plan.ENDED, 5, "some differ")


def test_a_run_reads_everything_and_looks_deep_only_when_it_is_told_to(small: World) -> None:
    with small.app() as app:
        run = app.runner.begin(Plan(("users",), ("get",)))
    assert (run.plan.delta, run.plan.deep) == (False, False)


def test_runs_of_one_second_keep_their_order(small: World) -> None:
    """A list of late writers shows what the last one found."""
    names = []
    with small.app() as app:
        store, clock = app.context.store, small.clock
        for _ in range(20):
            clock.sleep(0.04)
            run, _ = plan.begin(store, clock, plan.Plan(("users",)))
            plan.end(store, clock, run, complete=True, exit_code=0, message="")
            names.append(run.id)
        assert [one.id for one in plan.all_runs(store)] == names
