"""A run that is paused and gone on with by requests: messages that come meanwhile cost nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.world import World, world
from tests.functions.azurite_queues import on_azure
from tests.functions.host import Host
from tests.functions.test_messages import first_message, jobs, letters
from tests.functions.test_migration import assert_moved, assert_once
from tests.functions.test_migration_azure import FEW, PEOPLE

from b24migrate.engine import jobs as perform
from b24migrate.engine import plan
from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.engine.plan import Plan
from b24migrate.functions import queue
from b24migrate.model.records import Job
from b24migrate.ports import DELIVERIES


def work_a_little(host: Host, messages: int) -> None:
    for letter in host.mailbox.receive()[:messages]:
        host.one.deliver(letter.body, letter.deliveries)
        host.mailbox.delete(letter)


def test_without_a_run_there_is_nothing_to_pause_or_to_go_on_with(host: Host) -> None:
    for name in ("pause", "resume"):
        code, answer = host.ask(name)
        assert (code, answer["code"], answer["exit_code"]) == (409, "NO_RUN", 2)
        assert answer["message"]
        assert answer["hint"]
    assert host.state() == "none"


def test_while_it_is_paused_no_message_does_anything_and_no_job_is_lost(small: World, host: Host) -> None:
    run = host.ask("start")[1]["run"]
    code, answer = host.ask("pause")
    assert (code, answer["run"], answer["state"]) == (200, run, "paused")
    assert host.ask("pause") == (code, answer)
    status = host.ask("status")[1]
    assert (status["state"], status["exit_code"], status["message"]) == ("paused", None, answer["message"])
    before = jobs(small)
    assert before
    asked = small.cloud.portal.stats.http_requests
    for deliveries in range(1, 2 * DELIVERIES):  # however often: that is no failure of the job
        assert queue.work(host.one.keeper, first_message(small), deliveries) == queue.IDLE
        host.one.tick()
    small.clock.sleep(24 * 3600)
    host.one.tick()
    assert host.state() == "paused"  # time does not open this gate
    assert [one.job for one in jobs(small)] == [one.job for one in before]
    assert not any(one.held for one in jobs(small))
    assert not letters(small)
    assert small.cloud.portal.stats.http_requests == asked


@pytest.mark.parametrize("how", ["resume", "start"])
def test_a_paused_run_goes_on_and_the_box_gets_everything_once(small: World, host: Host, how: str) -> None:
    run = host.ask("start")[1]["run"]
    for _ in range(6):
        work_a_little(host, 3)
        assert host.ask("pause")[0] == 200
        work_a_little(host, 3)
        code, answer = host.ask(how)
        assert (code, answer["run"]) == (202, run)
        assert host.state() == "active"
    assert_moved(host.run())
    assert_once(small)
    assert not host.bugs
    code, answer = host.ask("resume")
    assert (code, answer["code"]) == (409, "NO_RUN")
    assert "has finished" in answer["message"]


def test_a_delta_run_that_goes_on_is_a_delta_run(host: Host) -> None:
    with host.one.keeper.app() as app:
        begun = app.runner.begin(Plan(tuple(app.chosen(())), delta=True, deep=True))
    assert host.ask("pause")[0] == 200
    assert host.ask("resume")[1]["run"] == begun.id
    with host.one.keeper.app() as app:
        assert plan.current(app.context.store) == begun


def test_a_retry_of_an_unfinished_delta_run_goes_on_with_it(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    with host.one.keeper.app() as app:
        begun = app.runner.begin(Plan(("users",), delta=True, deep=True))
    with monkeypatch.context() as patched:
        patched.setitem(perform.PERFORMERS, "read", lambda *_: 1 / 0)
        assert host.run()["exit_code"] == 4
    code, told = host.ask("retry", {"scope": "users-get"})
    assert (code, told["run"]) == (202, begun.id)
    with host.one.keeper.app() as app:
        current = plan.current(app.context.store)
        assert current is not None
        assert current.plan == begun.plan
    assert host.run()["exit_code"] == 0


def test_hosts_that_die_and_pauses_in_between_change_nothing(small: World) -> None:
    from tests.functions.conftest import on_sqlite

    with on_sqlite(small, dying=0.2, doubling=0.2) as host:
        host.ask("start")
        while host.state() == "active":
            for letter in host.mailbox.receive():
                host._deliver(letter, 0)
            host.one.life.left = None
            if host.ask("pause")[0] == 200:
                small.clock.sleep(400)
                assert host.ask("resume")[0] == 202
                host.one.tick()
        assert_moved(host.ask("status")[1])
        assert host.deaths
    assert_once(small)


def test_whoever_finishes_the_last_job_while_it_is_paused_moves_nothing_along(
    small: World, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.ask("start", {"entities": ["users"], "phases": ["get"]})
    (first,) = jobs(small)
    done = perform.PERFORMERS[first.job.kind]

    def paused_meanwhile(context: RunContext, job: Job) -> Follow:
        follow = done(context, job)
        plan.pause(context.store, context.clock)
        return follow

    monkeypatch.setitem(perform.PERFORMERS, first.job.kind, paused_meanwhile)
    assert queue.work(host.one.keeper, first_message(small)) == queue.IDLE
    assert host.one.opened == 1  # that is no trouble for which another application would be needed
    assert host.state() == "paused"
    assert jobs(small) == []
    assert host.ask("resume")[0] == 202
    assert host.run()["exit_code"] == 0


def test_a_long_job_notices_the_pause(small: World, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.ask("start", {"entities": ["users"], "phases": ["get"]})
    (first,) = jobs(small)
    done = perform.PERFORMERS[first.job.kind]
    found: list[bool] = []

    def long(context: RunContext, job: Job) -> Follow:
        found.append(context.time_is_up())
        plan.pause(context.store, context.clock)
        small.clock.sleep(1.0)
        found.append(context.time_is_up())
        return done(context, job)

    monkeypatch.setitem(perform.PERFORMERS, first.job.kind, long)
    host.one.deliver(first_message(small))
    assert found == [False, True]
    monkeypatch.undo()
    host.ask("resume")
    assert host.run()["exit_code"] == 0


def test_another_plan_takes_the_place_of_one_that_is_paused(host: Host) -> None:
    first = host.ask("start", {"entities": ["users"]})[1]["run"]
    host.ask("pause")
    code, answer = host.ask("start", {"entities": ["users"], "phases": ["get"]})
    assert code == 202
    assert answer["run"] != first


# ---------------------------------------------------------------- on real queues


@pytest.fixture
def few(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, FEW) as made:
        yield made


@pytest.mark.slow
def test_messages_that_came_during_a_pause_are_sent_again(few: World, azure_store: str) -> None:
    with on_azure(few, azure_store) as host:
        run = host.ask("start", {"entities": PEOPLE})[1]["run"]
        for _ in range(3):
            work_a_little(host, 1)
            assert host.ask("pause")[0] == 200
            while letters := host.mailbox.receive():
                for letter in letters:
                    assert queue.work(host.one.keeper, letter.body, letter.deliveries) == queue.IDLE
                    host.mailbox.delete(letter)
            host.one.tick()
            assert not host.mailbox.receive()  # nothing calls a function any more
            few.clock.sleep(60)
            assert host.ask("resume") == (202, {"run": run, **_plan(host)})
            assert host.mailbox.work.peek_messages()  # type: ignore[attr-defined]
        assert_moved(host.run(), PEOPLE)
        assert not host.bugs
        assert not host.mailbox.poisoned()
    assert_once(few, PEOPLE)


def _plan(host: Host) -> dict[str, list[str]]:
    run = plan.current(host.store)
    assert run is not None
    return json.loads(json.dumps({"entities": run.plan.entities, "phases": run.plan.phases}))  # type: ignore[no-any-return]
