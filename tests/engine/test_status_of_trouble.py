"""What the one look says when a run fails, waits, is paused, or nobody works on it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.engine.watched_run import at, under_way
from tests.engine.world import IDLE_UNTIL, World, small, world

from b24migrate.engine import plan
from b24migrate.insight.status import StatusReader, overview, remember
from b24migrate.insight.status.model import Overview, Verdict
from b24migrate.model.errors import Halted
from b24migrate.model.events import PortalDown, Waited
from b24migrate.model.records import Job
from b24migrate.ports import OUTAGES, RegisterRow


@pytest.fixture
def made(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, small(users=40, groups=10, messages=600)) as made:
        yield made


# ---------------------------------------------------------------- how it may stand


def test_a_record_that_failed_is_something_to_look_at(made: World) -> None:
    number = made.cloud.portal.company.groups.ids[1]
    item = {"key": f"source:groups:{number}", "code": "VALIDATION", "retry": False}
    made.strike_box({"method": "import.groups.batch", "item": item})
    made.run()
    with made.app() as app:
        view = overview(app.context)
    assert (view.now.verdict, view.progress.share) == (Verdict.FINDINGS, 1.0)
    streams = {one.name: one for entity in view.entities for one in entity.streams}
    assert streams["groups"].failed == 1
    assert view.failed == 1 + streams["group_members"].failed > 1


def take_box_down(made: World) -> None:
    """After the doctor's visit the box is gone, probes included."""
    silent: dict[str, Any] = {"kind": "502html", "at": range(2, 100_000)}
    made.strike_box({"method": "import.groups.*", "kind": "502html"}, {"method": "import.info", **silent})


def test_an_outage_is_told_with_its_portal_and_when_the_run_gives_up(made: World) -> None:
    take_box_down(made)
    views: list[Overview] = []
    leap = made.leap()
    with made.app(run={"outage_minutes": 3, "entities": ["users", "groups"]}) as app:

        def tick() -> None:
            if any(isinstance(one, PortalDown) for one in made.events):
                views.append(overview(app.context))
            leap()

        with pytest.raises(Halted):
            app.runner.run(app.chosen(), tick=tick)
        stopped = overview(app.context)
    down = [one.now for one in views if one.now.verdict is Verdict.OUTAGE]
    assert down
    assert {one.waits_for for one in down} == {("target",)}
    for one in down:
        assert at(one.since) < at(one.next_at)
        assert at(one.stops_at) - at(one.since) == pytest.approx(timedelta(minutes=3), abs=timedelta(seconds=2))
    assert stopped.now.verdict is Verdict.STOPPED
    assert "not answered" in stopped.now.message


def test_an_outage_that_is_over_is_forgotten(made: World) -> None:
    made.strike_box(
        {"method": "import.groups.*", "kind": "502html", "count": 3},
        {"method": "import.info", "kind": "502html", "at": range(2, 7)},
    )
    assert made.run().exit_code == 0
    assert any(isinstance(one, PortalDown) for one in made.events)
    with made.app() as app:
        assert app.context.store.rows(OUTAGES) == []


def test_who_was_killed_in_an_outage_does_not_keep_it_alive(made: World) -> None:
    with under_way(made) as app:
        now = made.clock.now()
        times = {name: f"{now + timedelta(seconds=s):%Y-%m-%dT%H:%M:%SZ}" for name, s in TIMES.items()}
        app.context.store.write(OUTAGES, [RegisterRow("source", {**times, "Reason": "silence"})])
        assert overview(app.context).now.verdict is Verdict.OUTAGE
        made.clock.sleep(110)
        assert overview(app.context).now.verdict is not Verdict.OUTAGE


TIMES = {"SinceUtc": -60, "NextUtc": 60, "StopsUtc": 1740}


def test_a_limit_that_everything_waits_for_is_named(made: World) -> None:
    made.strike_cloud({"method": "department.get", "kind": "operating_limit", "count": 1})
    views: list[Overview] = []
    leap = made.leap()
    with made.app() as app:
        looking = StatusReader(app.context)

        def tick() -> None:
            looking.overview()
            ((due,),) = made.sql(IDLE_UNTIL)
            if due is None or datetime.fromisoformat(due) <= made.clock.now():  # another job is still to be done
                return
            if any(isinstance(one, Waited) for one in made.events) and not views:
                looking.overview()
                remember(app.context)
                made.clock.sleep(12)
                views.append(looking.overview())
                views.append(overview(app.context))
            leap()

        app.runner.run(app.chosen(), tick=tick)
        after = looking.overview()
    assert {(one.now.verdict, one.now.waits_for) for one in views} == {(Verdict.LIMITED, ("department.get",))}
    assert [(one.method, one.now) for one in views[0].waits] == [("department.get", True)]
    assert after.waits[0].seconds > 50


def test_a_pause_is_told(made: World) -> None:
    with under_way(made) as app:
        plan.pause(app.context.store, made.clock)
        view = overview(app.context)
        assert view.now.verdict is Verdict.PAUSED
        made.clock.sleep(3600)
        assert overview(app.context).now.verdict is Verdict.PAUSED


def test_a_closed_gate_is_told_with_what_it_wants(made: World) -> None:
    made.run("groups")
    with made.app() as app:
        view = overview(app.context)
    assert view.now.verdict is Verdict.BLOCKED
    assert [gate.entity for gate in view.gates] == ["groups"]
    assert "users" in view.gates[0].message
    assert view.now.stuck


# ---------------------------------------------------------------- nobody works


def test_a_run_that_nobody_works_on_stands_still(made: World) -> None:
    with under_way(made) as app:
        app.context.queue.put([Job("users-get", "forget", {"entity": "users", "pass": 1})])
        remember(app.context)
        assert overview(app.context).now.verdict is Verdict.RUNNING
        made.clock.sleep(119)
        assert overview(app.context).now.verdict is Verdict.RUNNING
        made.clock.sleep(10)
        view = overview(app.context)
        assert view.now.verdict is Verdict.STILL
        assert (at(view.at) - at(view.now.since)).total_seconds() == pytest.approx(129, abs=5)
        assert view.progress.left_s is None


def test_a_job_that_somebody_holds_is_no_standstill(made: World) -> None:
    with under_way(made) as app:
        app.context.queue.put([Job("users-get", "forget", {"entity": "users", "pass": 1})])
        remember(app.context)
        made.clock.sleep(300)
        lease = app.context.queue.claim("me", now=made.clock.now(), lease_s=90)
        assert lease is not None
        assert overview(app.context).now.verdict is Verdict.RUNNING
        made.clock.sleep(100)
        assert overview(app.context).now.verdict is Verdict.STILL


def test_a_job_that_waits_for_its_time_is_no_standstill(made: World) -> None:
    with under_way(made) as app:
        later = made.clock.now() + timedelta(seconds=400)
        app.context.queue.put([Job("users-get", "forget", {"entity": "users", "pass": 1})], visible_at=later)
        remember(app.context)
        made.clock.sleep(300)
        assert overview(app.context).now.verdict is Verdict.RUNNING
        made.clock.sleep(300)
        assert overview(app.context).now.verdict is Verdict.STILL


def test_what_moved_after_the_last_who_remembered_died_is_no_sign_of_life(made: World) -> None:
    with under_way(made) as app:
        remember(app.context)
        app.context.store.add({"seen:Users:1": 5})
        made.clock.sleep(300)
        assert overview(app.context).now.verdict is Verdict.STILL


def test_who_looks_himself_needs_nobody_who_remembers(made: World) -> None:
    with under_way(made) as app:
        looking = StatusReader(app.context)
        for _ in range(30):
            view = looking.overview()
            made.clock.sleep(5)
        assert view.now.verdict is Verdict.STILL
        app.context.store.add({"seen:Users:1": 5})
        assert looking.overview().now.verdict is Verdict.RUNNING
