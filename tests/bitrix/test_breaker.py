"""An outage is nobody's failure, and a bad record is its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.bitrix.support import FakeClock

from b24migrate.bitrix.breaker import Attempt, Breaker
from b24migrate.model.errors import Halted, Limited
from b24migrate.model.events import Event, PortalDown


class Asked:
    """A probe that answers as it is told and counts."""

    def __init__(self, alive: bool) -> None:
        self.alive = alive
        self.times = 0

    def __call__(self) -> bool:
        self.times += 1
        return self.alive


def made(clock: FakeClock, probe: Callable[[], bool], events: list[Event] | None = None) -> Breaker:
    observers = (events.append,) if events is not None else ()
    return Breaker(clock, outage_s=1800, probe=probe, observers=observers)


def attempt(clock: FakeClock, subject: str) -> Attempt:
    return Attempt(subject, clock.monotonic())


def fail(breaker: Breaker, clock: FakeClock, *subjects: str) -> None:
    for subject in subjects:
        breaker.failed(attempt(clock, subject), "no answer")


def succeed(breaker: Breaker, clock: FakeClock, count: int) -> None:
    for place in range(count):
        breaker.succeeded(attempt(clock, f"ok{place}"))


def test_three_failures_and_a_failed_probe_open_it() -> None:
    clock, probe, events = FakeClock(), Asked(False), list[Event]()
    breaker = made(clock, probe, events)
    fail(breaker, clock, "a", "b")
    breaker.admit()
    assert probe.times == 0
    fail(breaker, clock, "c")
    assert probe.times == 1
    with pytest.raises(Limited) as caught:
        breaker.admit()
    assert caught.value.code == "PORTAL_DOWN"
    assert 0 < caught.value.wait_s <= 5
    assert isinstance(events[0], PortalDown)


def test_a_portal_that_answers_the_probe_stays_open_for_work() -> None:
    clock = FakeClock()
    breaker = made(clock, Asked(True))
    fail(breaker, clock, *"abcdefgh")
    breaker.admit()


def test_a_success_in_between_begins_the_count_again() -> None:
    clock, probe = FakeClock(), Asked(False)
    breaker = made(clock, probe)
    fail(breaker, clock, "a", "b")
    succeed(breaker, clock, 1)
    fail(breaker, clock, "c", "d")
    breaker.admit()
    assert probe.times == 0


def test_while_open_it_asks_ever_more_rarely_and_closes_when_answered() -> None:
    clock, probe = FakeClock(), Asked(False)
    breaker = made(clock, probe)
    fail(breaker, clock, "a", "b", "c")
    waits = []
    for _ in range(6):
        with pytest.raises(Limited) as caught:
            breaker.admit()
        waits.append(caught.value.wait_s)
        clock.sleep(caught.value.wait_s)
    assert waits == [5, 10, 20, 40, 60, 60]
    probe.alive = True
    breaker.admit()
    breaker.admit()


def test_after_half_an_hour_the_run_stops() -> None:
    clock = FakeClock()
    breaker = made(clock, Asked(False))
    fail(breaker, clock, "a", "b", "c")
    while clock.slept == [] or sum(clock.slept) < 1800:
        with pytest.raises(Limited) as parked:
            breaker.admit()
        clock.sleep(parked.value.wait_s)
    with pytest.raises(Halted, match="has not answered for 30 minutes") as caught:
        breaker.admit()
    assert caught.value.exit_code == 4


def test_a_failure_among_successes_is_its_own_fault() -> None:
    clock, probe = FakeClock(), Asked(True)
    breaker = made(clock, probe)
    succeed(breaker, clock, 20)
    bad = attempt(clock, "bad")
    clock.sleep(1)
    breaker.succeeded(attempt(clock, "neighbour"))
    breaker.failed(bad, "x")
    assert breaker.own_fault(bad)
    assert probe.times == 0


@pytest.mark.parametrize("alive", [True, False])
def test_without_a_success_since_it_began_the_probe_decides(alive: bool) -> None:
    clock = FakeClock()
    breaker = made(clock, Asked(alive))
    succeed(breaker, clock, 20)
    clock.sleep(1)
    bad = attempt(clock, "bad")
    breaker.failed(bad, "x")
    assert breaker.own_fault(bad) is alive


def test_where_others_fail_as_well_nobody_is_to_blame() -> None:
    clock = FakeClock()
    breaker = made(clock, Asked(True))
    succeed(breaker, clock, 10)
    fail(breaker, clock, "other")
    succeed(breaker, clock, 5)
    bad = attempt(clock, "bad")
    breaker.failed(bad, "x")
    assert not breaker.own_fault(bad)


def test_two_bad_records_alone_on_a_healthy_portal_do_not_excuse_each_other_for_ever() -> None:
    clock = FakeClock()
    breaker = made(clock, Asked(True))
    blamed = dict.fromkeys("ab", 0)
    for _ in range(10):
        for subject in blamed:
            bad = attempt(clock, subject)
            breaker.failed(bad, "x")
            blamed[subject] += breaker.own_fault(bad)
    assert min(blamed.values()) >= 3


def test_during_an_outage_nobody_is_to_blame() -> None:
    clock = FakeClock()
    breaker = made(clock, Asked(False))
    succeed(breaker, clock, 20)
    for subject in "abcd":
        bad = attempt(clock, subject)
        breaker.failed(bad, "x")
        assert not breaker.own_fault(bad)


def test_a_probe_that_was_interrupted_is_made_again() -> None:
    clock = FakeClock()
    probe = Asked(False)
    breaker = made(clock, probe)
    fail(breaker, clock, "a", "b", "c")
    clock.sleep(5)

    def interrupted() -> bool:
        raise KeyboardInterrupt

    breaker.probe = interrupted
    with pytest.raises(KeyboardInterrupt):
        breaker.admit()
    breaker.probe = Asked(True)
    breaker.admit()
    assert breaker.probe.times == 1


def test_one_asks_whether_the_portal_is_back_and_the_others_wait_meanwhile() -> None:
    clock, asked = FakeClock(), Asked(False)
    breaker = made(clock, asked)
    fail(breaker, clock, "a", "b", "c")
    clock.sleep(5)

    def while_another_comes() -> bool:
        with pytest.raises(Limited) as caught:
            breaker.admit()
        assert caught.value.wait_s == 1
        return asked()

    breaker.probe = while_another_comes
    asked.alive = True
    breaker.admit()
    assert asked.times == 2
