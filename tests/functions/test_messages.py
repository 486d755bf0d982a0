"""What becomes of a message, and what the timer does."""

from __future__ import annotations

import errno
import json
import logging
import re
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.engine.world import World
from tests.functions.conftest import on_sqlite
from tests.functions.host import Host, Instance

from b24migrate.engine import jobs as perform
from b24migrate.engine import plan
from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.functions import queue as leases
from b24migrate.functions import queue as working
from b24migrate.model.errors import Transient
from b24migrate.model.records import DeadLetter, Job
from b24migrate.ports import POISON, Waiting

GARBAGE = [b"", b"hello", b"{}", b"[1]", b'{"job": 5}', b'{"job": ""}', b"\xff\xfe"]


def jobs(small: World) -> list[Waiting]:
    with small.app() as app:
        return app.context.queue.jobs()


def letters(small: World) -> list[DeadLetter]:
    with small.app() as app:
        return app.context.queue.dead()


def first_message(small: World) -> bytes:
    return json.dumps({"job": jobs(small)[0].job.id}).encode()


@pytest.fixture
def begun(small: World, host: Host) -> Host:
    """A run whose first look at the source is what waits."""
    host.ask("start", {"entities": ["users"], "phases": ["get"]})
    while jobs(small)[0].job.kind != "read":
        host.one.deliver(first_message(small))
    assert len(jobs(small)) == 1
    return host


def test_a_message_does_its_job_and_what_follows_is_there(small: World, begun: Host) -> None:
    before = first_message(small)
    begun.one.deliver(before)
    assert json.loads(before)["job"] not in [one.job.id for one in jobs(small)]
    assert begun.run()["entities"]["users"]["phases"]["get"] == "done"


def test_a_message_of_a_job_that_is_done_is_done_with(small: World, begun: Host) -> None:
    message = first_message(small)
    begun.one.deliver(message)
    left = jobs(small)
    assert working.work(begun.one.keeper, message) == working.NOTHING
    assert jobs(small) == left


def test_a_message_of_a_job_that_somebody_else_does_is_done_with(small: World, begun: Host) -> None:
    message = first_message(small)
    with small.app() as app:
        lease = app.context.queue.claim("somebody", now=app.context.clock.now(), lease_s=90)
        assert lease is not None
        assert working.work(begun.one.keeper, message) == working.NOTHING
        assert app.context.queue.renew(lease, now=app.context.clock.now(), lease_s=90)


@pytest.mark.parametrize("queue", ["work", "bury"])
def test_what_is_no_message_of_ours_is_kept_for_a_person(small: World, begun: Host, queue: str) -> None:
    for number, body in enumerate(GARBAGE, 1):
        begun.one.deliver(body, to=queue)
        *_, letter = found = letters(small)
        assert len(found) == number, body
        assert letter.code == POISON
        assert letter.job.args["body"] == body.decode("utf-8", "replace")
    assert begun.run()["exit_code"] == 0  # they belong to no mini-task


def test_a_lease_is_kept_while_a_long_job_is_done(small: World, begun: Host) -> None:
    with small.app() as app:
        lease = app.context.queue.claim("me", now=app.context.clock.now(), lease_s=90)
        assert lease is not None
        renewed = threading.Event()
        renew = app.context.queue.renew

        class Watched:
            def renew(self, *args: object, **named: object) -> bool:
                done = renew(*args, **named)  # type: ignore[arg-type]
                renewed.set()
                return done

        context = replace(app.context, queue=Watched())  # type: ignore[arg-type]
        with leases.keep_lease(context, lease, every_s=0.001):
            small.clock.sleep(60)
            for _ in range(2):  # the first may have looked at the clock before
                renewed.clear()
                assert renewed.wait(60)
        small.clock.sleep(60)  # beyond the first lease, not beyond the second
    assert working.work(begun.one.keeper, json.dumps({"job": lease.job.id}).encode()) == working.NOTHING


# ---------------------------------------------------------------- bugs


def failing(monkeypatch: pytest.MonkeyPatch, error: Callable[[str], Exception]) -> None:
    def fail(context: RunContext, job: Job) -> Follow:
        raise error(context.options.source_url)

    monkeypatch.setitem(perform.PERFORMERS, "read", fail)


def test_a_bug_counts_against_its_job_and_is_in_the_log_under_a_reference(
    small: World, begun: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failing(monkeypatch, lambda url: ZeroDivisionError(f"at {url}"))
    ended = begun.run()
    assert not begun.bugs
    (letter,) = letters(small)
    assert (letter.code, letter.job.kind, letter.job.attempts) == ("UNEXPECTED", "read", 2)
    found = re.search(r"the log, reference ([0-9a-f]{8})", letter.reason)
    assert found is not None
    assert any(found[1] in line and "ZeroDivisionError" in line for line in caplog.messages)
    assert (ended["state"], ended["exit_code"]) == ("stopped", 4)


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """No job is the cause of that."""
    failing(monkeypatch, lambda _: OSError(errno.ENOSPC, "No space left on device"))


@pytest.mark.usefixtures("full")
def test_a_full_disk_is_raised_for_the_host_to_count_and_the_job_can_be_taken_again(small: World, begun: Host) -> None:
    message = first_message(small)
    for deliveries in (1, 2):
        with pytest.raises(OSError, match="No space"):
            begun.one.deliver(message, deliveries)
        (left,) = jobs(small)
        assert not left.held
        assert not letters(small)


@pytest.mark.usefixtures("full")
def test_after_three_deliveries_the_reason_is_in_the_dead_letters_and_the_phase_has_failed(
    small: World, begun: Host
) -> None:
    ended = begun.run()
    assert len(begun.bugs) == 3
    (letter,) = letters(small)
    assert (letter.code, letter.job.kind) == (POISON, "read")
    assert letter.reason.startswith("OSError")
    assert (ended["state"], ended["exit_code"]) == ("stopped", 4)
    assert ended["entities"]["users"]["phases"]["get"] == "failed"


def test_what_was_buried_can_be_retried(small: World, begun: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(perform.PERFORMERS, "read", lambda *_: 1 / 0)
        begun.run()
    code, answer = begun.ask("retry")
    assert (code, answer["parts"]) == (202, 1)
    assert begun.run()["exit_code"] == 0
    assert not letters(small)


def test_a_poisoned_message_buries_its_job(small: World, begun: Host) -> None:
    """Its workers died without a word, so nobody knows the reason."""
    begun.one.deliver(first_message(small), to="bury")
    (letter,) = letters(small)
    assert letter.code == POISON
    assert not jobs(small)
    begun.one.tick()
    assert begun.state() == "stopped"


def test_a_poisoned_message_of_a_job_that_is_being_done_buries_nothing(small: World, begun: Host) -> None:
    message = first_message(small)
    with small.app() as app:
        app.context.queue.claim("somebody", now=app.context.clock.now(), lease_s=90)
    begun.one.deliver(message, to="bury")
    assert not letters(small)
    assert len(jobs(small)) == 1


# ---------------------------------------------------------------- what stops a run


def secret_is_wrong(small: World) -> None:
    small.strike_cloud({"kind": "error", "code": "INVALID_CREDENTIALS", "status": 401})


def test_what_stops_a_run_stops_it_for_everybody_and_keeps_its_jobs(small: World, begun: Host) -> None:
    secret_is_wrong(small)
    left = [one.job.id for one in jobs(small)]
    assert working.work(begun.one.keeper, first_message(small)) == working.STOPPED
    _, answer = begun.ask("status")
    assert (answer["state"], answer["exit_code"]) == ("stopped", 3)
    assert "auth.cloud" in answer["message"]
    (wrong,) = small.cloud.portal.faults.rules
    asked = wrong.fired
    for _ in range(3):
        assert working.work(begun.one.keeper, first_message(small)) == working.IDLE
        begun.one.tick()
    assert wrong.fired == asked  # the portal is left alone
    assert [one.job.id for one in jobs(small)] == left
    assert not any(one.held for one in jobs(small))


def test_a_start_lets_a_stopped_run_go_on(small: World, begun: Host) -> None:
    secret_is_wrong(small)
    begun.one.deliver(first_message(small))
    stopped = begun.ask("status")[1]["run"]
    small.strike_cloud()
    code, answer = begun.ask("start", {"entities": ["users"], "phases": ["get"]})
    assert (code, answer["run"]) == (202, stopped)
    assert begun.run()["exit_code"] == 0


def test_a_gate_is_not_opened_by_time(small: World, begun: Host) -> None:
    secret_is_wrong(small)
    begun.one.deliver(first_message(small))
    small.strike_cloud()
    small.clock.sleep(3600)
    begun.one.tick()
    assert begun.state() == "stopped"


def test_an_outage_that_is_over_lets_the_run_go_on_by_itself(small: World, begun: Host) -> None:
    with small.app() as app:
        run = plan.current(app.context.store)
        assert run is not None
        plan.end(app.context.store, app.context.clock, run, complete=False, exit_code=4, message="The source is down.")
    begun.one.tick()
    assert begun.state() == "stopped"  # it is left alone for a while
    small.strike_cloud({"kind": "502html"})
    small.clock.sleep(working.RESUME_AFTER_S)
    begun.one.tick()
    assert begun.state() == "stopped"  # it is not over
    small.strike_cloud()
    begun.one.tick()
    assert begun.run()["exit_code"] == 0


def test_a_run_whose_phase_has_failed_is_not_begun_again_by_the_timer(
    small: World, begun: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Follow:
        raise Transient("no", code="NO", own=True)

    monkeypatch.setitem(perform.PERFORMERS, "read", refuse)
    assert begun.run()["exit_code"] == 4
    small.clock.sleep(working.RESUME_AFTER_S * 2)
    begun.one.tick()
    assert begun.state() == "stopped"
    assert len(letters(small)) == 1


def test_an_application_that_cannot_be_opened_is_said_and_raises_nothing(
    small: World, begun: Host, caplog: pytest.LogCaptureFixture
) -> None:
    message = first_message(small)
    small.settings["source"] = {"timezone": "Nowhere/None"}
    broken = Instance(begun.opens)
    broken.deliver(message)
    broken.tick()
    lines = [json.loads(one.message) for one in caplog.records if one.levelno == logging.ERROR]
    assert len(lines) == 2
    assert "source.timezone is not a time zone" in lines[0]["msg"]
    small.settings["source"] = {}
    broken.deliver(message)
    assert json.loads(message)["job"] not in [one.job.id for one in jobs(small)]
    broken.close()


# ---------------------------------------------------------------- the end of a run


def test_a_run_ends_once(small: World) -> None:
    with on_sqlite(small, doubling=1.0) as host:
        host.ask("start", {"entities": ["users"], "phases": ["get"]})
        ended = host.run()
        for _ in range(2):
            host.one.tick()
        assert host.ask("status")[1] == ended


def test_the_timer_ends_a_run_whose_last_worker_died(
    small: World, begun: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(working, "_conduct", lambda _: working.DONE)
        for _ in range(10):
            for one in jobs(small):
                begun.one.deliver(json.dumps({"job": one.job.id}).encode())
    assert begun.state() == "active"
    assert begun.run()["exit_code"] == 0


def test_a_message_of_the_last_run_keeps_no_job_from_being_dropped(
    small: World, begun: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that is held is not dropped, and would be done in the middle of a run that knows nothing of it."""
    with small.app() as app:
        (job, *_) = (waiting.job for waiting in app.context.queue.jobs())
        taken: list[str] = []
        monkeypatch.setattr(working, "_take", lambda *asked: taken.append(asked[1]))

        def prepare(*_: object) -> None:
            begun.one.deliver(json.dumps({"job": job.id}).encode())

        plan.begin(app.context.store, app.context.clock, plan.Plan(("groups",)), prepare)
    assert not taken


def test_nothing_is_done_when_no_run_is_under_way(host: Host) -> None:
    assert working.tend(host.one.keeper) == working.IDLE
    assert working.work(host.one.keeper, b'{"job": "users-get:read:1"}') == working.IDLE
