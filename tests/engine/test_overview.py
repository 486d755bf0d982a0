"""One look at a migration, at every moment of its life."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.engine.watched_run import at, numbers, watched
from tests.engine.world import World, small, world

from b24migrate.app import App
from b24migrate.engine import plan
from b24migrate.engine.phases import verify
from b24migrate.insight.status import StatusReader, overview, points
from b24migrate.insight.status.model import Overview, Verdict
from b24migrate.model.records import Job
from b24migrate.ports import ANALYSIS, RegisterRow

PLAN = small(users=40, groups=10, messages=600)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, PLAN) as made:
        yield made


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, list[Overview]]]:
    """The same, migrated, and what was seen meanwhile."""
    with world(tmp_path_factory.mktemp("done"), PLAN) as made:
        yield made, watched(made)


@pytest.fixture
def seen(done: tuple[World, list[Overview]]) -> list[Overview]:
    return done[1]


# ---------------------------------------------------------------- a run from its beginning to its end


def test_before_the_first_run_there_is_nothing_and_nobody_pretends(made: World) -> None:
    with made.app() as app:
        seen = overview(app.context)
    assert (seen.now.verdict, seen.run, seen.progress.share, seen.progress.left_s) == (Verdict.NO_RUN, None, 0.0, None)
    assert not any(entity.planned for entity in seen.entities)


def test_a_run_is_seen_to_grow_until_it_is_done(seen: list[Overview]) -> None:
    shares = [one.progress.share for one in seen]
    assert shares == sorted(shares)
    assert len(set(shares)) > 5
    assert all(share < 1 for share in shares[:-1])
    last = seen[-1]
    assert (last.now.verdict, last.progress.share, last.progress.left_s) == (Verdict.DONE, 1.0, 0.0)
    assert (last.progress.done, last.progress.read) == (last.progress.total, last.progress.records)
    assert {"users-get", "users-set", "groups-set", "chats-set"} <= {task for one in seen for task in one.now.busy}
    assert {one.now.verdict for one in seen[:-1]} <= {Verdict.RUNNING, Verdict.BEGINNING}


def test_no_number_is_ever_below_nothing(seen: list[Overview]) -> None:
    for one in seen:
        assert min(numbers(asdict(one))) >= 0
        assert one.progress.total is None or one.progress.done <= one.progress.total
        assert one.progress.left_s is None or one.progress.left_s < 86400


def test_entities_wait_for_those_they_refer_to_and_it_is_said(seen: list[Overview]) -> None:
    waiting = {(gate.task, gate.waits_for) for one in seen for gate in one.gates}
    assert ("groups-custom-fields-get", ("users",)) in waiting
    assert seen[-1].gates == ()


def test_what_the_last_minute_brought_is_the_speed(seen: list[Overview]) -> None:
    assert max(one.speed.read for one in seen) > 0
    assert max(one.speed.imported for one in seen) > 0
    assert seen[-1].speed.imported == 0


def test_the_time_left_comes_from_the_pace_and_is_near_the_truth(tmp_path: Path) -> None:
    """Of messages, when they have been sent for longer than the window is."""
    with world(tmp_path, small(messages=4000)) as made:
        seen = watched(made, lasts_s=40.0)
    sending = [one for one in seen if one.now.busy == ("chats-set",)]
    end = at(sending[-1].at)
    later = [one for one in sending if at(one.at) - at(sending[0].at) > timedelta(seconds=660)]
    assert len(later) > 10
    for one in later[:-1]:
        assert one.progress.left_basis == "pace"
        assert one.progress.left_s == pytest.approx((end - at(one.at)).total_seconds(), rel=0.4, abs=120)


def test_what_failed_does_not_count_as_imported_although_all_is_done(made: World) -> None:
    made.change("users", id=made.cloud.portal.company.users.ids[-1], fields={"EMAIL": ""})
    made.settings["run"] |= {"user_coverage": 0.5}
    last = watched(made)[-1]
    assert (last.progress.share, last.progress.read) == (1.0, last.progress.records)
    streams = [stream for entity in last.entities for stream in entity.streams]
    assert last.progress.imported == sum(one.imported for one in streams)
    assert sum(one.failed for one in streams) > 0


def test_who_comes_later_sees_the_same_and_the_way_there(done: tuple[World, list[Overview]]) -> None:
    made, (*_, last) = done
    with made.app() as app:
        again = overview(app.context)
        way = points(app.context.store)
    assert again.entities == last.entities
    assert again.progress == last.progress
    assert [one.at for one in way] == sorted(one.at for one in way)
    imported = [one.imported for one in way]
    assert imported == sorted(imported)
    assert imported[-1] == last.progress.imported
    with made.app() as app:
        assert points(app.context.store, way[-1].at) == way[-1:]


def test_a_second_run_begins_anew_and_ends_whole(made: World) -> None:
    watched(made)
    seen = watched(made)
    shares = [one.progress.share for one in seen]
    assert shares[0] < 0.5
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert seen[-1].progress.done == seen[-1].progress.total


def test_a_try_out_is_told_as_one(made: World) -> None:
    seen = watched(made, run={"test_limit": 3, "workers": 1, "entities": ["users", "groups", "chats"]})
    shares = [one.progress.share for one in seen]
    assert shares == sorted(shares)
    assert seen[-1].run is not None
    assert (seen[-1].run.test_limit, seen[-1].now.verdict, shares[-1]) == (3, Verdict.DONE, 1.0)


# ---------------------------------------------------------------- what a look costs


class Counting:
    """A port, and how often it was asked."""

    def __init__(self, port: Any) -> None:
        self.asked = 0
        self._port = port

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)

        def ask(*args: Any, **more: Any) -> Any:
            self.asked += 1
            return found(*args, **more)

        return ask if callable(found) else found


def test_where_the_store_is_far_away_a_second_look_asks_little(made: World) -> None:
    made.run()
    with made.app() as app:
        store, queue = Counting(app.context.store), Counting(app.context.queue)
        context = replace(app.context, store=store, queue=queue)
        looking = StatusReader(context)
        first = looking.overview()
        before = store.asked + queue.asked
        again = looking.overview()
        tables = sum(len(entity.streams) for entity in app.catalog.entities)
        assert store.asked + queue.asked - before <= tables + 15
    assert again.entities == first.entities


# ---------------------------------------------------------------- what verify found equal


def verified(made: World) -> dict[str, int]:
    with made.app() as app:
        return {one.name: one.verified for entity in overview(app.context).entities for one in entity.streams}


def test_what_was_found_equal_is_counted_once_however_often_it_is_compared(made: World) -> None:
    made.run()
    first = verified(made)
    assert first["users"] == 10
    with made.app() as app:
        run = plan.current(app.context.store)
        assert run is not None
        verify.sample(app.runner.join(run), Job("users-verify", "sample", {"stream": "users"}))
    assert verified(made) == first


def test_a_new_verify_counts_anew(made: World) -> None:
    made.run()
    with made.app() as app:
        verify.forget_findings(app.context, Job("users-verify", "forget-findings", {"entity": "users"}))
    assert verified(made)["users"] == 0
    made.run(phases=("verify",))
    assert verified(made)["users"] == 10


def test_files_are_counted_as_they_come(seen: list[Overview]) -> None:
    assert seen[-1].files.known == seen[-1].files.fetched == seen[-1].files.imported > 0
    fetched = [one.files.fetched or 0 for one in seen]
    assert fetched == sorted(fetched)


# ---------------------------------------------------------------- with an analysis


def keep_forecast(app: App, **seconds: float) -> None:
    entities = [
        {"entity": name, "get_s": s / 2, "set_s": s / 2, "fetch_s": 0.0, "upload_s": 0.0} for name, s in seconds.items()
    ]
    counts = {"departments": 4, "users": 40, "groups": 10, "group_members": 80, "chats": 8, "chat_messages": 600}
    streams = [{"stream": name, "records": {"value": float(count)}} for name, count in counts.items()]
    fields = {"forecast": {"entities": entities, "total_s": sum(seconds.values())}, "streams": streams}
    app.context.store.write(ANALYSIS, [RegisterRow("survey", {"Data": fields})])


def test_with_an_analysis_seconds_weigh(made: World) -> None:
    with made.app() as app:
        keep_forecast(app, users=10.0, groups=10.0, chats=980.0)
        before = overview(app.context)
    assert (before.forecast_s, before.progress.left_s, before.progress.left_basis) == (1000.0, 1000.0, "forecast")
    seen = watched(made)
    at_chats = next(one for one in seen if "chats-get" in one.now.busy)
    assert at_chats.progress.share < 0.1
    shares = [one.progress.share for one in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    first = seen[0].progress
    assert first.left_basis == "forecast"
    assert first.left_s == pytest.approx(1000, rel=0.05)


def test_a_start_that_died_on_its_way_is_a_standstill_that_can_be_gone_on_with(made: World) -> None:
    class Died(BaseException):
        pass

    def dies(*_: object) -> None:
        raise Died

    with made.app() as app:
        with pytest.raises(Died):
            plan.begin(app.context.store, made.clock, plan.Plan(("users",)), dies)
        assert overview(app.context).now.verdict is Verdict.BEGINNING
        made.clock.sleep(plan.BEGINNING_S)
        assert overview(app.context).now.verdict is Verdict.STILL
        app.runner.resume(tick=made.leap())
        assert overview(app.context).now.verdict is Verdict.DONE
