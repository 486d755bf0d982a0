"""The queue on Azure, where rows, messages and answers part ways."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from typing import Any, NamedTuple

import pytest
from tests import azurite
from tests.contract.lossy import Life, Line, lossy
from tests.contract.shelf import NOON, Time, at
from tests.contract.test_queue import OTHER, A, B, C, claim

from b24migrate.errors import BadConfiguration
from b24migrate.ports import Lease
from b24migrate.records import Job
from b24migrate.stores.azure.account import Account, Address
from b24migrate.stores.azure.opening import prepare
from b24migrate.stores.azure.queue import AzureQueue

WEEK_S = 7 * 24 * 3600


class Place(NamedTuple):
    """One store in Azurite, behind lines that may lose answers."""

    url: str
    environ: dict[str, str]
    clock: Time
    tables: Line
    messages: Line
    life: Life
    opened: ExitStack

    def queue(self) -> AzureQueue:
        """As another process would open it."""
        return AzureQueue(self.account(), self.clock)

    def account(self) -> Account:
        account = self.opened.enter_context(closing(Account(Address.of(self.url), self.environ)))
        prepare(account, ["Jobs"])
        return account

    def in_sight(self, name: str = "work") -> list[Any]:
        return [json.loads(one.content) for one in self.account().queue(name).peek_messages(32)]

    def how_many(self, name: str = "work") -> int:
        """Those out of sight too."""
        return int(self.account().queue(name).get_queue_properties().approximate_message_count or 0)

    def deliver(self, name: str = "work") -> list[Any]:
        """To somebody who gives up at once."""
        queue = self.account().queue(name)
        received = list(queue.receive_messages(messages_per_page=32, max_messages=32, visibility_timeout=9))
        for one in received:
            queue.update_message(one, visibility_timeout=0)
        return received


@pytest.fixture
def place(clock: Time) -> Iterator[Place]:
    url = azurite.url()
    ports = azurite.start()
    life = Life()
    with ExitStack() as opened:
        tables, table_port = opened.enter_context(lossy(ports["Table"], life))
        messages, queue_port = opened.enter_context(lossy(ports["Queue"], life))
        environ = {**os.environ, "AZURITE_TABLE_PORT": str(table_port), "AZURITE_QUEUE_PORT": str(queue_port)}
        yield Place(url, environ, clock, tables, messages, life, opened)


@pytest.fixture
def queue(place: Place) -> AzureQueue:
    return place.queue()


# ---------------------------------------------------------------- messages


def test_every_job_has_a_message_that_names_it(place: Place, queue: AzureQueue) -> None:
    queue.put([A, B])
    queue.put([C], visible_at=at(60))
    queue.put([A])
    assert sorted(one["job"] for one in place.in_sight()) == sorted([A.id, B.id])
    assert place.how_many() == 3


def test_a_message_is_plain_text_that_never_expires(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    (message,) = place.account().queue("work").receive_messages()
    assert message.content == f'{{"job": "{A.id}"}}'
    assert message.expires_on is not None
    assert message.expires_on.year > 9000


def test_who_ends_a_job_deletes_its_message(place: Place, queue: AzureQueue) -> None:
    queue.put([A, B, C, OTHER])
    queue.finish(claim(queue), [])
    queue.bury(claim(queue), code="X", reason="x", now=NOON)
    assert {one["job"] for one in place.in_sight()} == {C.id, OTHER.id}
    queue.drop(OTHER.scope)
    place.queue().finish(claim(queue), [])  # by another process, which has read the row
    assert place.how_many() == 0


def test_what_would_have_followed_a_lost_lease_leaves_no_message(place: Place, queue: AzureQueue) -> None:
    queue.put([A, B])
    lost = claim(queue)
    claim(place.queue(), 60)
    queue.finish(lost, [B, C])
    assert {one["job"] for one in place.in_sight()} == {A.id, B.id}
    assert place.how_many() == 2


def test_the_message_of_a_parked_job_is_hidden_until_it_is_due(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    queue.park(claim(queue), until=at(60))
    assert (place.in_sight(), place.how_many()) == ([], 1)
    queue.park(claim(queue, 60), until=at(0))
    assert place.in_sight() == [{"job": A.id}]
    queue.park(claim(queue, 60), until=at(3 * WEEK_S))
    assert (place.in_sight(), place.how_many()) == ([], 1)


def test_the_message_of_a_job_that_is_worked_on_stays_hidden(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    lease = claim(queue)
    assert queue.renew(lease, now=at(20), lease_s=60)
    assert place.in_sight() == []
    queue.finish(lease, [])
    assert place.how_many() == 0


def test_a_function_that_parks_its_job_leaves_a_new_message(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    (message,) = place.account().queue("work").receive_messages(visibility_timeout=60)
    lease = queue.take(json.loads(message.content)["job"], "f:1:0", now=NOON, lease_s=60)
    assert lease is not None
    assert queue.renew(lease, now=at(20), lease_s=60)
    queue.park(lease, until=NOON)
    place.account().queue("work").delete_message(message)
    assert place.in_sight() == [{"job": A.id}]


def test_a_message_that_overtook_its_job_is_good(place: Place, queue: AzureQueue) -> None:
    class Waiting(Time):
        def sleep(self, seconds: float) -> None:  # noqa: ARG002 (somebody else works meanwhile)
            queue.put([A])

    assert AzureQueue(place.account(), Waiting()).take(A.id, "f:1:0", now=NOON, lease_s=60) is not None


def test_the_dead_are_told_of_until_they_are_revived(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    queue.bury(claim(queue), code="TIMEOUT", reason="дважды <&> " * 9999, now=NOON)
    queue.letter(B, code="BAD", reason="no", now=NOON)
    queue.letter(B, code="BAD", reason="no again", now=NOON)
    first, second = sorted(place.in_sight("dlq"), key=lambda one: -len(one["reason"]))
    assert (first["job"], first["scope"], first["code"]) == (A.id, "groups-get", "TIMEOUT")
    assert first["reason"].startswith("дважды <&> дважды")
    assert second == {"job": B.id, "scope": "groups-get", "code": "BAD", "reason": "no again"}
    assert queue.dead()[0].reason == "дважды <&> " * 9999
    queue.revive()
    assert place.how_many("dlq") == 0
    assert place.how_many() == 2


# ---------------------------------------------------------------- what was lost


def test_a_job_whose_message_was_lost_gets_another(place: Place, queue: AzureQueue) -> None:
    queue.put([A, B])
    queue.put([C], visible_at=at(9999))
    place.account().queue("work").clear_messages()
    assert queue.tend(now=at(20)) == 0  # it may be on its way to a function
    assert queue.tend(now=at(301)) == 2
    assert sorted(one["job"] for one in place.in_sight()) == sorted([A.id, B.id])
    assert queue.tend(now=at(330)) == 0


def test_a_job_that_a_vanished_function_took_is_told_of_again(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    place.account().queue("work").clear_messages()
    assert queue.take(A.id, "f:1:0", now=NOON, lease_s=60)
    assert queue.tend(now=at(59)) == 0
    assert queue.tend(now=at(80)) == 1
    assert place.in_sight() == [{"job": A.id}]


def test_all_the_jobs_whose_messages_were_taken_off_during_a_pause_are_told_of_at_once(
    place: Place, queue: AzureQueue
) -> None:
    jobs = [Job("groups-get", "read", {"n": number}) for number in range(120)]
    queue.put(jobs)
    place.account().queue("work").clear_messages()
    for job in jobs:
        assert queue.take(job.id, "f:1:0", now=NOON, lease_s=60)
    assert queue.release("f:1:", lambda _: False) == 120
    assert queue.tend(now=at(20)) == 120
    assert place.how_many() == 120
    assert queue.tend(now=at(40)) == 0


def test_a_message_that_waits_its_turn_is_not_doubled(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    assert queue.tend(now=at(400)) == 0
    assert place.how_many() == 1
    queue.finish(claim(queue, 400), [])
    assert place.how_many() == 0


def test_a_message_without_a_job_goes_when_it_is_received_again(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    place.account().queue("work").send_message(json.dumps({"job": B.id}))
    place.deliver()
    assert queue.tend(now=NOON) == 1
    assert place.in_sight() == [{"job": A.id}]
    assert place.how_many("dlq") == 0
    queue.finish(claim(queue), [])  # the receipt of its message is another one since
    assert place.how_many() == 0


def test_a_message_that_was_only_looked_through_has_not_been_delivered(place: Place, queue: AzureQueue) -> None:
    """The host of the functions gives a job up by the number of its message's deliveries."""
    queue.put([A])
    for turn in range(4):
        place.account().queue("work").send_message(json.dumps({"job": B.id}))  # a reason to look through them
        queue.tend(now=at(20 * turn))
    (mine,) = [one for one in place.deliver() if json.loads(one.content)["job"] == A.id]
    assert mine.dequeue_count == 1
    queue.finish(claim(queue), [])


@pytest.mark.parametrize("content", ["hello", "[1]", '{"job": 7}', '{"task": "x"}', "", "eyJqb2IiOiAieCJ9"])
def test_a_message_that_is_no_job_ends_in_the_dlq_after_three_deliveries(
    place: Place, queue: AzureQueue, content: str
) -> None:
    place.account().queue("work").send_message(content)
    place.deliver()
    place.deliver()
    assert queue.tend(now=NOON) == 1
    assert place.how_many() == 0
    (told,) = place.in_sight("dlq")
    assert told["code"] == "NOT_A_JOB"
    assert told["reason"].endswith(content)
    assert queue.dead() == []


def test_a_message_that_is_no_job_has_three_deliveries(place: Place, queue: AzureQueue) -> None:
    place.account().queue("work").send_message("hello")
    place.deliver()
    assert queue.tend(now=NOON) == 0
    assert (place.how_many(), place.how_many("dlq")) == (1, 0)


def test_one_of_many_tends(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    place.account().queue("work").clear_messages()
    queue.tend(now=at(301))
    place.account().queue("work").clear_messages()
    assert place.queue().tend(now=at(310)) == 0
    assert place.tables.asked["POST"] > 0
    place.tables.asked.clear()
    assert place.queue().tend(now=at(315)) == 0
    assert place.tables.asked["GET"] <= 3  # one of them its own


# ---------------------------------------------------------------- answers that were lost


def test_a_job_whose_putting_was_not_confirmed_is_there_once(place: Place, queue: AzureQueue) -> None:
    place.tables.lose("POST")
    queue.put([A, B])
    assert place.tables.lost_all
    assert queue.open("groups-get") == 2
    assert len(place.in_sight()) == 2


def test_a_claim_that_was_not_confirmed_is_ours(place: Place, queue: AzureQueue) -> None:
    queue.put([A, B])
    place.tables.lose("PATCH")
    lease = claim(queue)
    assert place.tables.lost_all
    assert lease.job == A
    assert queue.renew(lease, now=at(1), lease_s=60)


def test_a_renewal_that_was_not_confirmed_holds(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    lease = claim(queue)
    place.tables.lose("PATCH")
    assert queue.renew(lease, now=at(1), lease_s=60)
    assert place.tables.lost_all
    assert queue.renew(lease, now=at(2), lease_s=60)


def test_an_end_that_was_not_confirmed_happened_once(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    place.tables.lose("POST")
    queue.finish(claim(queue), [B, C])
    assert place.tables.lost_all
    assert [claim(queue).job, claim(queue).job] == [B, C]
    assert queue.open("groups-get") == 2


def test_a_job_that_follows_itself_does_so_once_if_that_was_not_confirmed(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    place.tables.lose("POST")
    queue.finish(claim(queue), [A])
    assert place.tables.lost_all
    assert queue.open("groups-get") == 1
    queue.finish(claim(queue), [])
    assert queue.open("groups-get") == 0


def test_a_burial_and_a_revival_that_were_not_confirmed_happened_once(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    place.tables.lose("POST")
    queue.bury(claim(queue), code="X", reason="x", now=NOON)
    assert (queue.open("groups-get"), len(queue.dead())) == (0, 1)
    place.tables.lose("POST")
    assert queue.revive() == 1
    assert place.tables.lost_all
    assert (queue.open("groups-get"), queue.dead()) == (1, [])
    assert claim(queue).job == A


# ---------------------------------------------------------------- processes that die


def finish_all(queue: AzureQueue, scope: str, follow: Callable[[Job], list[Job]]) -> list[Job]:
    """What another process does later; a scope never looks idle before the last job."""
    done = []
    while lease := queue.claim("h:2:0", now=at(100), lease_s=60):
        assert queue.open(scope) > 0
        done.append(lease.job)
        queue.finish(lease, follow(lease.job))
    assert queue.open(scope) == 0
    return done


def number(scope: str, n: int) -> Job:
    return Job(scope, "k", {"n": n})


@pytest.mark.parametrize("followers", [0, 2])
def test_a_death_while_finishing_loses_and_doubles_nothing(place: Place, queue: AzureQueue, followers: int) -> None:
    def follow(job: Job) -> list[Job]:
        return [number(job.scope, 1 + n) for n in range(followers)] if job.args["n"] == 0 else []

    for changes in range(4):
        scope = f"s{changes}"
        queue.put([number(scope, 0)])
        lease = claim(queue)
        place.life.left = changes
        with suppress(BadConfiguration):
            queue.finish(lease, follow(lease.job))
        place.life.left = None
        done = [job.args["n"] for job in finish_all(place.queue(), scope, follow)]
        assert done in (list(range(followers + 1)), list(range(1, followers + 1)))


def test_a_death_between_the_transactions_of_an_end_is_mended_by_ending_again(place: Place, queue: AzureQueue) -> None:
    many = [number("s", 1 + n) for n in range(60)]
    queue.put([number("s", 0)])
    lease = claim(queue)
    place.life.left = len(many) + 1  # their messages, and the first of two transactions
    with pytest.raises(BadConfiguration):
        queue.finish(lease, many)
    place.life.left = None
    assert 1 < queue.open("s") < 61
    again = claim(place.queue(), 100)
    assert again.job == lease.job
    queue.finish(again, many)
    assert queue.open("s") == 60
    assert not queue.renew(lease, now=at(101), lease_s=60)


def test_a_death_while_putting_is_mended_by_putting_again(place: Place, queue: AzureQueue) -> None:
    for changes in range(4):
        jobs = [number(f"s{changes}", n) for n in range(2)]
        place.life.left = changes
        with suppress(BadConfiguration):
            queue.put(jobs)
        place.life.left = None
        assert queue.open(f"s{changes}") in (0, 2)
        place.queue().put(jobs)
        assert queue.open(f"s{changes}") == 2


def test_a_death_while_burying_or_reviving_leaves_a_job_open_or_dead(place: Place, queue: AzureQueue) -> None:
    for changes in range(5):
        scope = f"s{changes}"
        queue.put([number(scope, 0)])
        lease = claim(queue)
        place.life.left = changes
        with suppress(BadConfiguration):
            queue.bury(lease, code="X", reason="x", now=NOON)
        place.life.left = None
        assert queue.open(scope) + len(queue.dead(scope)) == 1
        if again := place.queue().claim("h:2:0", now=at(100), lease_s=60):
            queue.bury(again, code="X", reason="x", now=NOON)
        assert (queue.open(scope), len(queue.dead(scope))) == (0, 1)
        place.life.left = changes
        with suppress(BadConfiguration):
            queue.revive(scope)
        place.life.left = None
        assert queue.open(scope) + len(queue.dead(scope)) == 1
        queue.revive(scope)
        assert (queue.open(scope), queue.dead(scope)) == (1, [])
        queue.finish(claim(queue, 100), [])


def test_a_death_while_parking_leaves_the_job(place: Place, queue: AzureQueue) -> None:
    for changes in range(3):
        job = number(f"s{changes}", 0)
        queue.put([job])
        lease = claim(queue)
        place.life.left = changes
        with suppress(BadConfiguration):
            queue.park(lease, until=at(30), job=job.tried(1, 1))
        place.life.left = None
        assert queue.claim("h:2:0", now=at(29), lease_s=60) is None
        found = claim(place.queue(), 60)
        assert found.job.id == job.id
        queue.finish(found, [])


# ---------------------------------------------------------------- many at once


def test_a_scope_is_never_seen_idle_while_one_job_follows_another(place: Place, queue: AzureQueue) -> None:
    queue.put([Job("s", "k", {"turn": 0})])
    over = threading.Event()
    seen: list[int] = []

    def watch(other: AzureQueue) -> None:
        while not over.is_set():
            seen.append(other.open("s"))

    with ThreadPoolExecutor(2) as threads:
        watching = [threads.submit(watch, place.queue()) for _ in range(2)]
        for turn in range(20):
            lease = claim(queue)
            queue.finish(lease, [Job("s", "k", {"turn": turn + (turn % 3 > 0)})])  # or the same job once more
        over.set()
        for one in watching:
            one.result()
    assert len(seen) > 20
    assert set(seen) <= {1, 2}  # Azurite shows a transaction while it happens
    assert queue.open("s") == 1


def test_processes_share_jobs_without_doubling_one(place: Place, queue: AzureQueue) -> None:
    queue.put([Job("s", "k", {"n": number}) for number in range(40)])
    done: list[int] = []

    def work(number: int) -> None:
        mine = place.queue()
        while lease := mine.claim(f"h:{number}:0", now=NOON, lease_s=60):
            done.append(lease.job.args["n"])
            mine.finish(lease, [])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert sorted(done) == list(range(40))
    assert place.how_many() == 0


def test_an_idle_crew_asks_once_for_all_its_threads(place: Place, queue: AzureQueue) -> None:
    ready = threading.Barrier(8)

    def ask(_: int) -> Lease | None:
        ready.wait()
        return queue.claim("h:1:0", now=NOON, lease_s=60)

    with ThreadPoolExecutor(8) as threads:
        place.tables.asked.clear()
        assert list(threads.map(ask, range(8))) == [None] * 8
    assert place.tables.asked["GET"] <= 3


def test_a_job_costs_few_requests(place: Place, queue: AzureQueue) -> None:
    queue.put([Job("s", "k", {"n": 0})])
    place.tables.asked.clear()
    place.messages.asked.clear()
    for number in range(1, 11):
        queue.finish(claim(queue), [Job("s", "k", {"n": number})])
        assert queue.open("s") == 1
    assert place.tables.asked.total() == 40  # look, take, end and follow, count
    assert place.messages.asked.total() == 20  # the message of what follows, and the deletion of its own
