"""What only the queue on Azure has to prove: a message for every job, also after one was lost."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.stores.azure_post import Place, a_place
from tests.stores.samples import NOON, Time, at
from tests.stores.test_queue import OTHER, A, B, C, claim

from b24migrate.model.records import Job
from b24migrate.stores.azure.queue import AzureQueue

WEEK_S = 7 * 24 * 3600


@pytest.fixture
def place(clock: Time) -> Iterator[Place]:
    with a_place(clock) as made:
        yield made


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


def test_a_worker_that_holds_a_job_does_not_read_it_again_to_finish_it(
    queue: AzureQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has changed meanwhile, the first try shows."""
    queue.put([A])
    lease = claim(queue)
    with monkeypatch.context() as patched:
        patched.setattr(queue._table, "get", lambda key: pytest.fail(f"{key} is read"))
        queue.finish(lease, [B])
    assert claim(queue).job == B


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


def test_the_dead_are_told_of_until_they_are_dropped(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    queue.bury(claim(queue), code="TIMEOUT", reason="дважды <&> " * 9999, now=NOON)
    queue.letter(B, code="BAD", reason="no", now=NOON)
    queue.letter(B, code="BAD", reason="no again", now=NOON)
    first, second = sorted(place.in_sight("dlq"), key=lambda one: -len(one["reason"]))
    assert (first["job"], first["scope"], first["code"]) == (A.id, "groups-get", "TIMEOUT")
    assert first["reason"].startswith("дважды <&> дважды")
    assert second == {"job": B.id, "scope": "groups-get", "code": "BAD", "reason": "no again"}
    assert queue.dead()[0].reason == "дважды <&> " * 9999
    queue.drop("groups-get")
    assert (queue.dead(), place.how_many("dlq")) == ([], 0)


def test_jobs_of_several_processes_are_taken_by_age(place: Place, queue: AzureQueue, clock: Time) -> None:
    for other, job in ((queue, A), (queue, B), (place.queue(), C)):
        clock.sleep(1)
        other.put([job])
    assert [claim(queue, 9).job for _ in range(3)] == [A, B, C]


def test_what_follows_a_job_is_younger_however_slow_the_clock_of_its_worker_is(place: Place, queue: AzureQueue) -> None:
    ahead = Time()
    ahead.sleep(3600)
    AzureQueue(place.account(), ahead).put([A])
    queue.finish(claim(queue), [B])
    (follower,) = place.account().table("Jobs").query_entities("Id eq @id", parameters={"id": B.id})
    assert follower["RowKey"] > f"job:{int(ahead.now().timestamp() * 1e6):017}"


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
    jobs = [Job("groups-get", "read", {"n": number}) for number in range(40)]  # more than are received at once
    queue.put(jobs)
    place.account().queue("work").clear_messages()
    for job in jobs:
        assert queue.take(job.id, "f:1:0", now=NOON, lease_s=60)
    assert queue.release("f:1:", lambda _: False) == 40
    assert queue.tend(now=at(20)) == 40
    assert place.how_many() == 40
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
    (message,) = place.in_sight("dlq")
    assert message["code"] == "NOT_A_JOB"
    assert message["reason"].endswith(content)
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


def test_a_job_whose_row_is_damaged_is_a_dead_letter_and_the_others_go_on(place: Place, queue: AzureQueue) -> None:
    queue.put([A])
    queue.put([B])
    table = place.account().table("Jobs")
    (row,) = table.query_entities("Id eq @id", parameters={"id": A.id})
    table.update_entity({**row, "Args": '{"after": '})
    lease = claim(queue)
    assert lease.job == B
    queue.finish(lease, [])
    (letter,) = queue.dead()
    assert (letter.code, letter.job.is_damaged) == ("BROKEN_ROW", True)
    assert queue.open(A.scope) == 0
