"""A request has as many commands as execution time allows under either billing; none is sent to be refused."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.bitrix.support import FakeClock, Kit

from b24migrate.bitrix.batch import Batcher
from b24migrate.bitrix.budget import Budget
from b24migrate.bitrix.envelope import Times
from b24migrate.bitrix.limits import Governor
from b24migrate.bitrix.source import BitrixSource
from b24migrate.model.errors import Limited, Transient
from b24migrate.model.readings import Keyset, Listing
from b24migrate.ports import Command
from b24sim import Company, ManualClock, Operating, Plan, Portal, Running, serve
from b24sim.faults import Faults

BY_ID = Keyset("FILTER", "ID", {"sort": "ID", "order": "ASC"}, {"sort": "ID", "order": "DESC"})
USERS = Listing("user.get", BY_ID, params={"ADMIN_MODE": True})


@pytest.fixture(params=["batch", "inner"])
def billing(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def running(billing: str) -> Iterator[Running]:
    """A page of people costs two seconds of a hundred in ten minutes."""
    portal = Portal(Company(Plan(users=5_000, bad_users=0)), clock=ManualClock(), operating=Operating(100, billing))
    portal.costs.seconds["user.get"] = 2.0
    with serve(portal) as served:
        yield served


def kit(running: Running, **options: Any) -> Kit:
    return Kit([running.webhook()], clock=FakeClock(running.portal.clock.now()), operating_s=100, **options)


def person(number: int = 1) -> Command:
    return Command("user.get", {"ID": number})


def count_batches(running: Running) -> int:
    return int(running.portal.stats.methods["batch"])


def refused(running: Running) -> int:
    return int(running.portal.stats.errors["OPERATION_TIME_LIMIT"])


def test_the_answers_tell_who_pays(running: Running, billing: str) -> None:
    source = BitrixSource(kit(running).portal)
    assert source.billing is None
    source.batch([person(), Command("server.time", {})])
    assert source.billing == billing


def test_nothing_is_told_where_nothing_is_counted() -> None:
    with serve(Portal(Company(Plan()), clock=ManualClock())) as running:
        source = BitrixSource(kit(running).portal)
        source.batch([person()])
        assert source.billing is None


def test_a_portal_that_changes_its_mind_is_believed() -> None:
    budget = Budget(FakeClock(), 480)
    events: list[tuple[bool, str | None]] = []
    for of_batch_s, of_commands_s in ((0.0, [1.0, 1.5]), (3.0, [2.5, 3.0]), (0.0, [0.0]), (0.0, [0.4])):
        budget.record("a", "batch", of_batch_s, 60.0)
        events.append((budget.is_charged_inside(of_batch_s, of_commands_s), budget.billing))
    # where nothing was spent, nothing is said
    assert events == [(True, "inner"), (False, "batch"), (False, "batch"), (True, "inner")]


def test_who_pays_rests_and_nobody_else(running: Running, billing: str) -> None:
    batcher = Batcher(kit(running).portal)
    batcher.run([person()] * 50)
    before = count_batches(running)
    with pytest.raises(Limited) as caught:
        batcher.run([person()])
    assert (caught.value.method, count_batches(running)) == ("batch" if billing == "batch" else "user.get", before)
    if billing == "batch":
        assert batcher.single(person()).result  # has execution time of its own
        with pytest.raises(Limited):
            batcher.run([Command("server.time", {})])
    else:
        assert batcher.run([Command("server.time", {})])[0].error is None
    assert refused(running) == 0


def test_independent_commands_are_divided_and_none_is_refused(running: Running) -> None:
    batcher = Batcher(kit(running).portal)
    batcher.run([person()])
    answers = batcher.run([person(number) for number in range(1, 46)])
    assert [answer.error for answer in answers] == [None] * 45
    assert count_batches(running) == 4  # none lasts longer than 45 s: 22, 22 and 1
    answers = batcher.run([person(number) for number in range(1, 5)])
    assert [answer.error for answer in answers] == [None] * 4  # 8 s were left
    with pytest.raises(Limited) as caught:
        batcher.run([person()] * 10)
    assert caught.value.wait_s > 60
    assert (count_batches(running), refused(running)) == (5, 0)


def test_a_chain_is_as_long_as_what_is_left(running: Running) -> None:
    source = BitrixSource(kit(running).portal, segments=1)
    cursors: list[Any] = [{}]
    lengths: list[int] = []
    for _ in range(4):
        before = running.portal.stats.inner["user.get"]
        cursors = source.page(USERS, cursors[0]).next
        lengths.append(running.portal.stats.inner["user.get"] - before)
    with pytest.raises(Limited):
        source.page(USERS, cursors[0])
    assert lengths == [2, 22, 22, 4]  # the first page and the newest id, then chains
    assert refused(running) == 0


def test_all_is_read_and_nothing_refused_while_minutes_are_forgotten(running: Running) -> None:
    made, clock = kit(running), running.portal.clock
    assert isinstance(clock, ManualClock)
    source = BitrixSource(made.portal, segments=1)
    cursors: list[Any] = [{}]
    rows, requests = 0, 0
    while cursors:
        try:
            page = source.page(USERS, cursors[0])
        except Limited as limited:
            clock.advance(limited.wait_s)
            made.clock.sleep(limited.wait_s)
            continue
        requests += 1
        clock.advance(40)
        made.clock.sleep(40)
        rows += len(page.rows)
        cursors = page.next
    assert rows == 5_000
    assert requests < 20
    assert refused(running) == 0


def test_a_request_lasts_no_longer_than_the_cloud_lets_it() -> None:
    budget = Budget(FakeClock(), 0)
    assert budget.room("a", ["slow"] * 50) == 50
    budget.took({"slow": [1.5] * 50, "quick": [0.01]})
    assert budget.room("a", ["slow"] * 50) == 30
    assert budget.room("a", ["quick"] * 40 + ["slow"] * 10) == 50
    budget.took({"slow": [90.0]})
    assert budget.room("a", ["slow"] * 50) == 1
    rooms = []
    for _ in range(5):  # the first page of a listing was counted, the others are not
        budget.took({"slow": [0.1]})
        rooms.append(budget.room("a", ["slow"] * 50))
    assert rooms == [1, 7, 29, 50, 50]


def test_after_a_request_without_an_answer_half_as_many_commands_are_sent() -> None:
    portal = Portal(
        Company(Plan()), clock=ManualClock(), faults=Faults([{"method": "batch", "kind": "timeout", "always": True}])
    )
    with serve(portal) as running:
        batcher = Batcher(kit(running, read_s=0.2).portal)
        for size, room in ((50, 25), (25, 12)):
            with pytest.raises(Transient):
                batcher.pages([person()] * size)
            assert batcher.room(["user.get"] * 50) == room
        portal.faults = Faults()
        assert all(answer.error is None for answer in batcher.run([person()] * 12))
        assert batcher.room(["user.get"] * 50) > 12


def test_after_a_request_that_failed_at_once_as_many_commands_are_sent_as_before() -> None:
    portal = Portal(
        Company(Plan()), clock=ManualClock(), faults=Faults([{"method": "batch", "kind": "500", "at": [1]}])
    )
    with serve(portal) as running:
        batcher = Batcher(kit(running).portal)
        with pytest.raises(Transient):
            batcher.pages([person()] * 50)
        assert batcher.room(["user.get"] * 50) == 50


def test_a_part_that_is_forgotten_is_there_again() -> None:
    clock = FakeClock()
    budget = Budget(clock, 100)
    budget.record("a", "user.get", 60.0, 600.0)
    clock.sleep(120)
    budget.record("a", "user.get", 99.0, 480.0)
    budget.took({"user.get": [2.0]})
    assert budget.room("a", ["user.get"] * 20) == 1
    clock.sleep(481)
    assert budget.room("a", ["user.get"] * 20) == 20
    budget.record("a", "user.get", 95.0, 119.0)  # somebody else was busy meanwhile
    assert budget.room("a", ["user.get"] * 20) == 3


def test_answers_that_overtake_one_another_are_put_in_order() -> None:
    clock = FakeClock()
    ours = Governor(clock, operating_s=100, chance=random.Random(1))
    ours.budget.took({"user.get": [2.0]})
    reset_at = clock.now().timestamp() + 300
    for seconds, at in ((40, reset_at), (90, reset_at), (65, reset_at)):
        ours.learned("a", "batch", Times(operating=seconds, operating_reset_at=at))
    assert ours.budget.room("a", ["user.get"] * 20) == 5
    ours.learned("a", "batch", Times(operating=50, operating_reset_at=reset_at + 60))  # the oldest minute is forgotten
    ours.learned("a", "batch", Times(operating=95, operating_reset_at=reset_at))
    assert ours.budget.room("a", ["user.get"] * 40) == 22


def test_what_others_wait_for_is_counted_on_and_nobody_asks_in_vain() -> None:
    clock = FakeClock()
    ours = Governor(clock, operating_s=100, chance=random.Random(1))
    ours.learned("a", "batch", Times(operating=80, operating_reset_at=clock.now().timestamp() + 300))
    ours.budget.took({"user.get": [1.0]})
    with ours.reserved("a", ["user.get"] * 15):
        assert ours.budget.room("a", ["user.get"] * 50) == 5
        with ours.reserved("a", ["user.get"] * 5):
            with pytest.raises(Limited) as caught, ours.reserved("a", ["department.get"]):
                pass
            assert caught.value.wait_s == 1.0
            with ours.reserved("b", ["user.get"]):
                pass
    with ours.reserved("a", ["user.get"]):
        pass


def test_reservations_of_many_threads_come_to_nothing_in_the_end() -> None:
    budget = Budget(FakeClock(), 1e6)
    budget.took({"user.get": [1.0]})

    def work(methods: Sequence[str]) -> None:
        for _ in range(200):
            with budget.reserved("a", methods):
                pass

    threads = [threading.Thread(target=work, args=(["user.get"] * size,)) for size in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    budget.record("a", "user.get", 1e6 - 9.5, 600.0)
    assert budget.room("a", ["user.get"] * 20) == 10


def test_batch_rests_until_a_quarter_of_its_time_is_back() -> None:
    """A minute's time would go into reading a list again whose records there is no time left to ask about."""
    clock = FakeClock()
    budget, began = Budget(clock, 480.0), clock.monotonic()
    for spent_s in (30.0, 60.0, 480.0):
        budget.record("tag", "batch", spent_s, 600.0 - (clock.monotonic() - began))
        clock.sleep(120.0)
    assert budget.billing == "batch"
    assert budget.worth_while_s("tag", "batch") == pytest.approx(480.0, abs=61.0)
    assert budget.worth_while_s("tag", "user.get") == 0.0


def test_a_method_that_pays_for_itself_rests_until_the_next_minute() -> None:
    budget = Budget(FakeClock(), 480.0)
    budget.is_charged_inside(None, [1.0])
    budget.record("tag", "user.get", 480.0, 600.0)
    assert budget.worth_while_s("tag", "user.get") == 0.0
