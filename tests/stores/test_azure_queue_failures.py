"""The queue on Azure where answers are lost, processes die, and many work at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from tests.stores.azure_post import Place, a_place
from tests.stores.samples import NOON, Time, at
from tests.stores.test_queue import A, B, C, claim

from b24migrate.model.errors import BadConfiguration
from b24migrate.model.records import Job
from b24migrate.ports import Lease
from b24migrate.stores.azure.queue import AzureQueue


@pytest.fixture
def place(clock: Time) -> Iterator[Place]:
    with a_place(clock) as made:
        yield made


@pytest.fixture
def queue(place: Place) -> AzureQueue:
    return place.queue()


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
    place.tables.asked.clear()
    queue.finish(claim(queue), [B, C])
    assert place.tables.lost_all
    assert place.tables.asked["POST"] == 2  # one is the repeat of the library; then the row says that it happened
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


def test_a_burial_that_was_not_confirmed_happened_once(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    place.tables.lose("POST")
    queue.bury(claim(queue), code="X", reason="x", now=NOON)
    assert (queue.open("groups-get"), len(queue.dead())) == (0, 1)
    assert place.tables.lost_all


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


def test_a_death_between_the_transactions_of_an_end_is_repaired_by_ending_again(
    place: Place, queue: AzureQueue
) -> None:
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


def test_a_death_while_putting_is_repaired_by_putting_again(place: Place, queue: AzureQueue) -> None:
    for changes in range(4):
        jobs = [number(f"s{changes}", n) for n in range(2)]
        place.life.left = changes
        with suppress(BadConfiguration):
            queue.put(jobs)
        place.life.left = None
        assert queue.open(f"s{changes}") in (0, 2)
        place.queue().put(jobs)
        assert queue.open(f"s{changes}") == 2


def test_a_death_while_burying_leaves_a_job_open_or_dead(place: Place, queue: AzureQueue) -> None:
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
    open_jobs: list[int] = []

    def watch(other: AzureQueue) -> None:
        while not over.is_set():
            open_jobs.append(other.open("s"))

    with ThreadPoolExecutor(2) as threads:
        watching = [threads.submit(watch, place.queue()) for _ in range(2)]
        for turn in range(20):
            lease = claim(queue)
            queue.finish(lease, [Job("s", "k", {"turn": turn + (turn % 3 > 0)})])  # or the same job once more
        over.set()
        for one in watching:
            one.result()
    assert len(open_jobs) > 20
    assert set(open_jobs) <= {1, 2}  # Azurite shows a transaction while it happens
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
