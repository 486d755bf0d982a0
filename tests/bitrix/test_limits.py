"""All of the allowance is used, and none beyond it."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from tests.bitrix.support import FakeClock

from b24migrate.bitrix.envelope import Times
from b24migrate.bitrix.limits import Governor
from b24migrate.model.errors import Limited
from b24migrate.model.events import Event


def governor(clock: FakeClock, events: list[Event] | None = None, **options: Any) -> Governor:
    observers = (events.append,) if events is not None else ()
    return Governor(clock, observers=observers, chance=random.Random(1), **options)


class Bucket:
    """The portal's side of the leaky bucket."""

    def __init__(self, clock: FakeClock, per_second: float, size: float) -> None:
        self.clock, self.per_second, self.size = clock, per_second, size
        self.level, self.at = 0.0, clock.monotonic()

    def takes(self) -> bool:
        now = self.clock.monotonic()
        self.level = max(0.0, self.level - (now - self.at) * self.per_second)
        self.at = now
        if self.level + 1 > self.size:
            return False
        self.level += 1
        return True


@pytest.mark.parametrize(("per_second", "size"), [(2.0, 50.0), (5.0, 250.0), (2.0, 3.0)])
def test_the_burst_and_then_the_whole_drain_are_used_and_nothing_is_refused(per_second: float, size: float) -> None:
    clock = FakeClock()
    portal, ours = Bucket(clock, per_second, size), governor(clock, per_second=per_second, bucket=size)
    began = clock.monotonic()
    count = int(size) + 400
    for _ in range(count):
        ours.acquire("a", ("user.get",))
        assert portal.takes()
    spent = clock.monotonic() - began
    assert count / (size + per_second * spent) >= 0.95


def test_without_a_limit_nobody_waits() -> None:
    clock = FakeClock()
    ours = governor(clock, per_second=0, bucket=50)
    for _ in range(1000):
        ours.acquire("a", ("user.get",))
    assert clock.slept == []


def test_a_refused_request_pauses_the_whole_portal_longer_each_time() -> None:
    clock = FakeClock()
    ours = governor(clock)
    waits = []
    for _ in range(9):
        waits.append(ours.rejected(clock.monotonic()))
        clock.sleep(waits[-1])
    assert 1 <= waits[0] <= 1.25
    assert all(1.4 < later / earlier < 2.6 for earlier, later in itertools.pairwise(waits[:6]))
    assert 60 <= waits[-1] <= 75


def test_requests_refused_together_are_one_refusal() -> None:
    clock = FakeClock()
    ours = governor(clock)
    sent = clock.monotonic()
    clock.sleep(0.2)
    assert max(ours.rejected(sent) for _ in range(8)) <= 1.25


def test_a_pause_of_seconds_gives_the_worker_back() -> None:
    clock = FakeClock()
    events: list[Event] = []
    ours = governor(clock, events)
    ours.rejected(clock.monotonic(), 30.0)
    with pytest.raises(Limited) as caught:
        ours.acquire("a", ("user.get",))
    assert 29 < caught.value.wait_s <= 31
    assert caught.value.method == "user.get"


def test_a_success_after_the_pause_makes_the_next_one_short_again() -> None:
    clock = FakeClock()
    ours = governor(clock)
    for _ in range(5):
        clock.sleep(ours.rejected(clock.monotonic()))
    ours.answered(clock.monotonic())
    assert ours.rejected(clock.monotonic()) <= 1.25


def test_a_success_of_what_was_sent_before_the_pause_changes_nothing() -> None:
    clock = FakeClock()
    ours = governor(clock)
    sent_at = clock.monotonic()
    clock.sleep(1)
    for _ in range(5):
        clock.sleep(ours.rejected(clock.monotonic()))
    ours.answered(sent_at)
    assert ours.rejected(clock.monotonic()) > 10


def test_a_spent_method_rests_until_its_reset_by_the_portals_clock_and_others_go_on() -> None:
    clock = FakeClock()
    ours = governor(clock, operating_s=480)
    here = clock.now().timestamp()
    ours.synchronized(Times(start=here + 100, finish=here + 100), 0.0)
    ours.learned("a", "user.get", Times(operating=481, operating_reset_at=here + 400))
    with pytest.raises(Limited) as caught:
        ours.acquire("a", ("batch", "user.get"))
    assert caught.value.wait_s == pytest.approx(300, abs=1)
    ours.acquire("a", ("batch", "im.dialog.get"))
    ours.acquire("b", ("batch", "user.get"))
    clock.sleep(301)
    ours.acquire("a", ("batch", "user.get"))


@pytest.mark.parametrize("lacks", ["start", "finish"])
def test_an_answer_that_says_half_of_its_times_says_nothing_of_the_clock(lacks: str) -> None:
    clock = FakeClock()
    ours = governor(clock, operating_s=480)
    here = clock.now().timestamp()
    ours.synchronized(Times(**{"start": here + 100, "finish": here + 100, lacks: 0.0}), 0.0)
    ours.learned("a", "user.get", Times(operating=470, operating_reset_at=here + 33))
    assert ours.spent("a", "user.get") == pytest.approx(33)


def test_a_method_below_its_limit_is_never_held_back() -> None:
    clock = FakeClock()
    ours = governor(clock, operating_s=480)
    ours.learned("a", "user.get", Times(operating=479.9, operating_reset_at=clock.now().timestamp() + 400))
    ours.acquire("a", ("batch", "user.get"))
    assert clock.slept == []


def test_time_booked_to_the_batch_itself_counts() -> None:
    clock = FakeClock()
    ours = governor(clock, operating_s=480)
    ours.learned("a", "batch", Times(operating=500, operating_reset_at=clock.now().timestamp() + 50))
    with pytest.raises(Limited):
        ours.acquire("a", ("batch", "user.get"))
    ours.acquire("a", ("user.get",))


def test_a_refusal_without_a_known_reset_is_asked_again_each_minute() -> None:
    clock = FakeClock()
    ours = governor(clock, operating_s=480)
    assert 60 <= ours.spent("a", "user.get") <= 75
    assert ours.spent("a", "user.get", 7.0) == 7.0
    ours.learned("a", "user.get", Times(operating=470, operating_reset_at=clock.now().timestamp() + 33))
    assert ours.spent("a", "user.get") == pytest.approx(33)


def test_once_its_reset_is_past_a_method_rests_until_the_next_minute_by_the_portals_clock() -> None:
    clock = FakeClock()
    ours = governor(clock, operating_s=480)
    here = clock.now().timestamp()
    ours.synchronized(Times(start=here + 25, finish=here + 25), 0.0)
    ours.learned("a", "user.get", Times(operating=470, operating_reset_at=here + 40))
    clock.sleep(20)  # five seconds after the reset
    assert ours.spent("a", "user.get") == pytest.approx(55)
