"""Several processes have one allowance, whatever their clocks show."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bitrix.quota_process import ENDLESS, HOST, SLOWEST, take
from tests.bitrix.support import FakeClock
from tests.bitrix.test_limits import Bucket

from b24migrate.bitrix.envelope import Times
from b24migrate.bitrix.limits import Governor, SharedLedger
from b24migrate.clock import SystemClock
from b24migrate.model.errors import Limited
from b24migrate.model.records import Json
from b24migrate.ports import QUOTA, RegisterRow, Store
from b24migrate.ports.quota import LONGEST_REST_S, PATIENCE_S
from b24migrate.stores import open_store
from b24sim import Company, Plan, Portal, serve
from b24sim.limits import LeakyBucket

ROOT = Path(__file__).parents[2]
METHODS = ("batch", "user.get")
HOUR_S = 3600.0
PATIENT_S = 300.0  # for processes that may have to share a busy machine


class WrongClock(FakeClock):
    """Goes with another, but shows a time that is wrong by so much."""

    def __init__(self, right: FakeClock, wrong_s: float = 0.0) -> None:
        self.right, self.wrong_s = right, wrong_s
        self.slept = right.slept

    def now(self) -> datetime:
        return self.right.now() + timedelta(seconds=self.wrong_s)

    def monotonic(self) -> float:
        return self.right.monotonic()

    def sleep(self, seconds: float) -> None:
        self.right.sleep(seconds)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(clock: FakeClock) -> Iterator[Store]:
    store = open_store("sqlite://:memory:", (), clock).store
    yield store
    store.close()


def process(store: Store, clock: FakeClock, per_second: float = 2.0) -> Governor:
    """As one more process would have it."""
    chance = random.Random(1)
    ledger = SharedLedger(store, HOST, clock, chance=chance)
    return Governor(clock, per_second=per_second, chance=chance, ledger=ledger)


def row(store: Store) -> RegisterRow:
    found = store.read(QUOTA, HOST)
    assert found is not None
    return found


def refused(governor: Governor, credential: str = "a") -> float:
    """How long it would have to wait."""
    with pytest.raises(Limited) as caught:
        governor.acquire(credential, METHODS)
    return caught.value.wait_s


# ---------------------------------------------------------------- together


def test_together_they_use_all_of_the_allowance_and_none_beyond_it(store: Store, clock: FakeClock) -> None:
    portal, all_of_them = Bucket(clock, 2.0, 50.0), [process(store, clock) for _ in range(4)]
    began, chance = clock.monotonic(), random.Random(3)
    for _ in range(450):
        chance.choice(all_of_them).acquire("a", METHODS)
        assert portal.takes()
    assert 450 / (50 + 2 * (clock.monotonic() - began)) >= 0.95


def test_who_comes_later_finds_the_bucket_as_the_others_left_it(store: Store, clock: FakeClock) -> None:
    first = process(store, clock)
    for _ in range(48):
        first.acquire("a", METHODS)
    assert clock.slept == []
    process(store, clock).acquire("a", METHODS)
    assert clock.slept == [pytest.approx(0.5)]


def test_a_pause_is_everybodys_and_the_first_success_ends_its_growth_for_all(store: Store, clock: FakeClock) -> None:
    one, other = process(store, clock), process(store, clock)
    for _ in range(4):
        clock.sleep(one.rejected(clock.monotonic()))
    one.rejected(clock.monotonic())
    assert refused(other) > PATIENCE_S
    clock.sleep(60)
    other.acquire("a", METHODS)
    other.answered(clock.monotonic())
    assert one.rejected(clock.monotonic()) <= 1.25


def test_refusals_of_several_processes_at_once_are_one_refusal(store: Store, clock: FakeClock) -> None:
    sent = clock.monotonic()
    clock.sleep(0.2)
    assert max(process(store, clock).rejected(sent) for _ in range(8)) <= 1.25


def test_a_pause_that_begins_while_one_waits_for_a_turn_is_waited_for_too(store: Store, clock: FakeClock) -> None:
    class Interrupted(WrongClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            other.rejected(self.monotonic(), 30.0)

    other = process(store, clock)
    for _ in range(48):
        other.acquire("a", METHODS)
    assert refused(process(store, Interrupted(clock))) == pytest.approx(30)


def test_a_method_that_one_of_them_has_spent_rests_for_all_with_that_credential(store: Store, clock: FakeClock) -> None:
    one, other = process(store, clock), process(store, clock)
    here = clock.now().timestamp()
    one.learned("a", "user.get", Times(operating=481, operating_reset_at=here + 300))
    assert refused(other) == pytest.approx(300)
    other.acquire("b", METHODS)
    other.acquire("a", ("batch", "im.dialog.get"))
    clock.sleep(301)
    other.acquire("a", METHODS)


def test_who_was_refused_but_knows_no_reset_keeps_to_the_one_another_process_knows(
    store: Store, clock: FakeClock
) -> None:
    one, other = process(store, clock), process(store, clock)
    one.learned("a", "user.get", Times(operating=481, operating_reset_at=clock.now().timestamp() + 300))
    assert other.spent("a", "user.get") == pytest.approx(300)
    assert refused(one) == pytest.approx(300)


def test_a_late_answer_from_before_the_limit_was_reached_ends_no_rest(store: Store, clock: FakeClock) -> None:
    one, other = process(store, clock), process(store, clock)
    reset = clock.now().timestamp() + 300
    one.learned("a", "user.get", Times(operating=481, operating_reset_at=reset))
    other.learned("a", "user.get", Times(operating=470, operating_reset_at=reset))
    assert refused(other) == pytest.approx(300)


# ---------------------------------------------------------------- only what others need to know


def test_nothing_is_written_for_what_concerns_nobody_else(store: Store, clock: FakeClock) -> None:
    ours = process(store, clock)
    ours.acquire("a", METHODS)
    version = row(store).version
    assert version == 1
    ours.answered(clock.monotonic())
    ours.synchronized(Times(start=1.0, finish=2.0), 0.1)
    ours.learned("a", "user.get", Times(operating=10, operating_reset_at=clock.now().timestamp() + 300))
    assert row(store).version == version


def test_who_may_not_go_takes_nothing(store: Store, clock: FakeClock) -> None:
    ours = process(store, clock)
    ours.rejected(clock.monotonic(), 30.0)
    before = row(store)
    refused(ours)
    assert row(store) == before


def test_the_same_rest_is_written_once(store: Store, clock: FakeClock) -> None:
    spent = Times(operating=481, operating_reset_at=clock.now().timestamp() + 300)
    for _ in range(4):
        process(store, clock).learned("a", "user.get", spent)
    assert row(store).version == 1


def test_without_a_limit_of_requests_no_bucket_is_touched(store: Store, clock: FakeClock) -> None:
    ours = process(store, clock, per_second=0)
    for _ in range(100):
        ours.acquire("a", METHODS)
    ours.count()
    assert store.read(QUOTA, HOST) is None
    assert clock.slept == []


def test_rests_that_are_over_are_forgotten(store: Store, clock: FakeClock) -> None:
    ours = process(store, clock)
    for number in range(30):
        reset = clock.now().timestamp() + 30
        ours.learned("a", f"method.{number}", Times(operating=481, operating_reset_at=reset))
        clock.sleep(20)
    ours.acquire("b", METHODS)
    assert len(row(store).values["Rests"]) <= 1


# ---------------------------------------------------------------- clocks


@settings(max_examples=40, deadline=None)
@given(
    wrong=st.lists(st.floats(-HOUR_S, HOUR_S), min_size=2, max_size=4),
    order=st.lists(st.integers(0, 3), min_size=300, max_size=300),
)
def test_clocks_that_differ_cost_a_refusal_for_each_at_most(wrong: Sequence[float], order: Sequence[int]) -> None:
    clock = FakeClock()
    store = open_store("sqlite://:memory:", (), clock).store
    portal, refusals = Bucket(clock, 2.0, 50.0), 0
    all_of_them = [process(store, WrongClock(clock, by_s)) for by_s in wrong]
    began = clock.monotonic()
    for place in order:
        one = all_of_them[place % len(all_of_them)]
        one.acquire("a", METHODS)
        if not portal.takes():
            refusals += 1
            one.rejected(clock.monotonic())
    assert refusals <= len(wrong)
    assert 300 / (50 + 2 * (clock.monotonic() - began)) >= 0.93
    store.close()


@settings(max_examples=60, deadline=None)
@given(
    ahead_s=st.floats(-1e9, 1e9),
    level=st.floats(0, 1e6),
    until_s=st.floats(-1e9, 1e9),
)
def test_no_time_that_anybody_wrote_stops_us_for_longer_than_a_limit_can(
    ahead_s: float, level: float, until_s: float
) -> None:
    clock = FakeClock()
    store = open_store("sqlite://:memory:", (), clock).store
    here = clock.now().timestamp()
    values: dict[str, Json] = {"AtS": here + ahead_s, "Level": level, "PauseS": 60.0, "PausedAtS": here + until_s}
    values |= {"PausedUntilS": here + until_s, "Rests": {"a user.get": here + until_s}}
    store.write(QUOTA, [RegisterRow(HOST, values)])
    ours, asked_at = process(store, clock), clock.monotonic()
    for _ in range(8):
        try:
            ours.acquire("a", METHODS)
            break
        except Limited as error:
            clock.sleep(error.wait_s)
    else:
        pytest.fail("it never gets a turn")
    assert clock.monotonic() - asked_at <= LONGEST_REST_S + 2 * PATIENCE_S
    store.close()


@pytest.mark.parametrize("jump_s", [-HOUR_S, -3.0, 3.0, HOUR_S])
def test_a_clock_that_jumps_stops_nobody(store: Store, clock: FakeClock, jump_s: float) -> None:
    jumping = WrongClock(clock)
    ours, other = process(store, jumping), process(store, clock)
    for _ in range(60):
        ours.acquire("a", METHODS)
        other.acquire("a", METHODS)
    jumping.wrong_s = jump_s
    began = clock.monotonic()
    for _ in range(30):
        ours.acquire("a", METHODS)
        other.acquire("a", METHODS)
    assert clock.monotonic() - began <= 30 + 2 * PATIENCE_S


# ---------------------------------------------------------------- at the same time


def test_no_turn_is_lost_between_threads_of_several_processes(tmp_path: Path) -> None:
    url, clock = f"sqlite:///{tmp_path}/store.db", SystemClock()
    stores = [open_store(url, (), clock).store for _ in range(3)]
    governors = [
        Governor(clock, per_second=SLOWEST, bucket=ENDLESS, ledger=SharedLedger(store, HOST, clock)) for store in stores
    ]

    def turns(governor: Governor) -> None:
        for _ in range(20):
            governor.acquire("a", METHODS)

    threads = [threading.Thread(target=turns, args=(governor,)) for governor in governors for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert row(stores[0]).values["Level"] == pytest.approx(3 * 3 * 20)
    for store in stores:
        store.close()


def test_no_turn_is_lost_between_processes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    take(url, 1)
    command = [sys.executable, "-m", "tests.bitrix.quota_process", url, "60"]
    started = [subprocess.Popen(command, cwd=ROOT) for _ in range(3)]
    assert [process.wait(PATIENT_S) for process in started] == [0, 0, 0]
    store = open_store(url, (), SystemClock()).store
    assert row(store).values["Level"] == pytest.approx(1 + 3 * 60)
    store.close()


def test_processes_that_ask_a_portal_as_often_as_they_may_are_not_refused(tmp_path: Path) -> None:
    """In a bucket that hardly drains, so that it does not matter how late a request comes: how much of what drains
    they use is shown above, by a clock that nobody waits for."""
    config = tmp_path / "b24migrate.toml"
    with serve(Portal(Company(Plan(users=1)), bucket=LeakyBucket(1e-6, 50))) as cloud:
        config.write_text(
            f'[source]\nwebhook = "{cloud.webhook()}"\nrequests_per_second = 1e-6\nbucket = 50\n'
            '[target]\nwebhook = "http://127.0.0.1:1/rest/1/secret/"\n'
        )
        command = [sys.executable, "-m", "tests.bitrix.call_process", str(config), "25"]
        started = [subprocess.Popen(command, cwd=ROOT) for _ in range(4)]
        assert [process.wait(PATIENT_S) for process in started] == [0, 0, 0, 0]
        assert cloud.portal.stats.errors["QUERY_LIMIT_EXCEEDED"] == 0
        assert cloud.portal.stats.http_requests == 48  # and two that it may have counted for others
    store = open_store("sqlite:///b24migrate.db", (), SystemClock(), base=tmp_path).store
    assert [one.key for one in store.rows(QUOTA)] == [urlsplit(cloud.webhook()).netloc]
    store.close()
