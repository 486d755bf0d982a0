"""Queue: jobs wait until they are finished."""

from __future__ import annotations

from tests.stores.samples import NOON, Time, at

from b24migrate.model.records import Job
from b24migrate.ports import Lease, Queue

A, B, C = (Job("groups-get", "read", {"after": one, "deep": {"x": [1, None, "ж"]}}) for one in "abc")
OTHER = Job("users-get", "read", {"after": "a"})


def claim(queue: Queue, seconds: float = 0, *, owner: str = "host:1:0", lease_s: float = 60) -> Lease:
    lease = queue.claim(owner, now=at(seconds), lease_s=lease_s)
    assert lease is not None
    return lease


def test_a_job_comes_out_as_it_went_in(queue: Queue) -> None:
    queue.put([A.tried(2, 5)])
    lease = claim(queue)
    assert lease.job == A.tried(2, 5)
    assert lease.token


def test_an_empty_queue_gives_nothing(queue: Queue) -> None:
    queue.put([])
    assert queue.claim("host:1:0", now=NOON, lease_s=60) is None
    assert queue.next_visible() is None
    assert queue.open("groups-get") == 0


def test_putting_a_job_twice_adds_it_once(queue: Queue) -> None:
    queue.put([A, A, B])
    queue.put([A.tried(1, 1)])
    assert queue.open("groups-get") == 2
    lease = claim(queue)
    assert lease.job.attempts == 0
    queue.put([A])
    assert queue.open("groups-get") == 2


def test_the_oldest_visible_job_is_taken_first(queue: Queue) -> None:
    queue.put([C])
    queue.put([A], visible_at=at(5))
    queue.put([B])
    assert [claim(queue).job, claim(queue).job] == [C, B]
    assert queue.claim("host:1:0", now=at(4), lease_s=60) is None
    assert claim(queue, 5).job == A


def test_a_job_that_became_visible_keeps_its_age(queue: Queue) -> None:
    queue.put([A], visible_at=at(5))
    queue.put([B])
    assert claim(queue, 6).job == A


def test_a_leased_job_is_nobody_else_s(queue: Queue) -> None:
    queue.put([A])
    claim(queue)
    assert queue.claim("host:2:0", now=at(59), lease_s=60) is None


def test_a_job_comes_back_when_its_lease_ends(queue: Queue) -> None:
    queue.put([A])
    lost = claim(queue)
    found = claim(queue, 60, owner="host:2:0")
    assert found.job == A
    assert found.token != lost.token
    assert not queue.renew(lost, now=at(61), lease_s=60)
    assert queue.renew(found, now=at(61), lease_s=60)


def test_a_renewed_lease_lasts_longer(queue: Queue) -> None:
    queue.put([A])
    lease = claim(queue)
    assert queue.renew(lease, now=at(50), lease_s=60)
    assert queue.claim("host:2:0", now=at(100), lease_s=60) is None
    assert claim(queue, 110).job == A


def test_a_lease_that_ended_can_be_renewed_while_nobody_took_it(queue: Queue) -> None:
    queue.put([A, B])
    lease = claim(queue, lease_s=1)
    claim(queue, 0.5)
    assert queue.renew(lease, now=at(5), lease_s=60)
    assert queue.claim("host:2:0", now=at(6), lease_s=60) is None


def test_a_lost_lease_finishes_parks_and_buries_nothing(queue: Queue) -> None:
    queue.put([A])
    lost = claim(queue)
    found = claim(queue, 60, owner="host:2:0")
    queue.finish(lost, [B])
    queue.park(lost, until=at(999))
    queue.bury(lost, code="X", reason="x", now=at(61))
    assert queue.open("groups-get") == 1
    assert queue.dead() == []
    assert queue.renew(found, now=at(61), lease_s=60)


def test_finishing_adds_what_follows_and_removes_the_job(queue: Queue) -> None:
    queue.put([A])
    queue.finish(claim(queue), [B, C, OTHER])
    assert (queue.open("groups-get"), queue.open("users-get")) == (2, 1)
    assert [claim(queue).job for _ in range(3)] == [B, C, OTHER]


def test_a_job_may_follow_itself(queue: Queue) -> None:
    queue.put([A.tried(1, 1)])
    queue.finish(claim(queue), [A])
    assert claim(queue).job == A


def test_what_follows_and_is_there_already_is_not_doubled(queue: Queue) -> None:
    queue.put([A, B])
    queue.finish(claim(queue), [B])
    assert queue.open("groups-get") == 1


def test_a_parked_job_comes_back_at_its_time_with_its_counts(queue: Queue) -> None:
    queue.put([A, B])
    queue.park(claim(queue), until=at(10), job=A.tried(1, 4))
    assert queue.open("groups-get") == 2
    assert claim(queue, 9).job == B
    assert queue.claim("host:1:0", now=at(9), lease_s=60) is None
    assert claim(queue, 10).job == A.tried(1, 4)


def test_parking_without_a_job_keeps_the_counts(queue: Queue) -> None:
    queue.put([A.tried(2, 3)])
    queue.park(claim(queue), until=NOON)
    assert claim(queue).job == A.tried(2, 3)


def test_buried_jobs_are_dead_letters(queue: Queue) -> None:
    queue.put([A, OTHER])
    queue.bury(claim(queue), code="TIMEOUT", reason="three times", now=at(7))
    queue.bury(claim(queue), code="X", reason="", now=at(8))
    assert queue.open("groups-get") == 0
    (letter,) = queue.dead("groups-get")
    assert (letter.job, letter.code, letter.reason) == (A, "TIMEOUT", "three times")
    assert letter.died_at == "2026-11-15T12:00:07.000000Z"
    assert [one.job for one in queue.dead()] == [A, OTHER]


def test_a_letter_needs_no_lease(queue: Queue) -> None:
    queue.letter(A.tried(3, 0), code="BAD", reason="its attempts are used up", now=NOON)
    queue.letter(A.tried(3, 0), code="BAD", reason="its attempts are used up again", now=at(1))
    (letter,) = queue.dead()
    assert letter.reason == "its attempts are used up again"
    assert queue.open("groups-get") == 0


def test_letters_of_parts_are_told_from_those_of_records(queue: Queue) -> None:
    of_records = [Job("groups-set", "send", {"stream": "groups", "record": str(number)}) for number in range(5)]
    lookalike = Job("groups-get", "read", {"deep": {"record": 1}, "text": '"record":1', "recorded": None})
    for job in (B, *of_records, lookalike, OTHER, A):
        queue.letter(job, code="X", reason="", now=NOON)
    assert [one.job for one in queue.dead_parts()] == [B, lookalike, OTHER, A]
    assert [one.job for one in queue.dead_parts("groups-get")] == [B, lookalike, A]
    assert queue.dead_parts("groups-set") == queue.dead_parts("groups") == []
    assert queue.dead_count() == 9
    queue.drop("groups-get")
    assert ([one.job for one in queue.dead_parts()], queue.dead_count()) == ([OTHER], 6)
    assert queue.dead_count(parts=True) == 1


def test_jobs_are_held_by_whoever_works_on_them(queue: Queue) -> None:
    queue.put([A, B, C, OTHER])
    assert queue.held(now=NOON) == 0
    queue.park(claim(queue), until=at(99))
    lease = claim(queue)
    claim(queue, lease_s=30)
    assert queue.held(now=at(1)) == 2
    assert queue.held(now=at(31)) == 1
    queue.finish(lease, [])
    assert queue.held(now=at(1)) == 1


def test_a_scope_is_open_while_jobs_wait_are_parked_or_worked_on(queue: Queue) -> None:
    queue.put([A, B, C])
    queue.park(claim(queue), until=at(99))
    lease = claim(queue)
    assert queue.open("groups-get") == 3
    queue.finish(lease, [])
    assert queue.open("groups-get") == 2


def test_a_sleeper_learns_when_to_wake(queue: Queue, clock: Time) -> None:
    queue.put([A], visible_at=at(30))
    assert queue.next_visible() == at(30)
    queue.put([B], visible_at=at(20))
    assert queue.next_visible() == at(20)
    claim(queue, 20, lease_s=5)
    assert queue.next_visible() == at(25)
    queue.put([C])
    visible = queue.next_visible()
    assert visible is not None
    assert visible <= clock.now()


def test_dropping_a_scope_removes_what_waits_and_its_letters(queue: Queue) -> None:
    queue.put([A])
    queue.bury(claim(queue), code="X", reason="", now=NOON)
    queue.put([OTHER, B])
    queue.put([C], visible_at=at(9))
    queue.drop("groups-get")
    assert (queue.open("groups-get"), queue.open("users-get")) == (0, 1)
    assert queue.dead() == []


def test_dropping_leaves_what_is_being_worked_on(queue: Queue, clock: Time) -> None:
    queue.put([A, B])
    lease = claim(queue)
    queue.drop("groups-get")
    assert queue.open("groups-get") == 1
    queue.finish(lease, [])
    assert queue.open("groups-get") == 0


def test_dropping_takes_jobs_whose_worker_died(queue: Queue, clock: Time) -> None:
    queue.put([A])
    claim(queue)
    clock.sleep(61)
    queue.drop("groups-get")
    assert queue.open("groups-get") == 0


def test_releasing_ends_the_leases_of_the_dead(queue: Queue) -> None:
    queue.put([A, B, C, OTHER])
    claim(queue, owner="host:1:0")
    living = claim(queue, owner="host:2:0")
    claim(queue, owner="host:1:1")
    elsewhere = claim(queue, owner="box:1:0")
    assert queue.release("host:", {"host:2:0"}.__contains__) == 2
    assert [claim(queue).job, claim(queue).job] == [A, C]
    assert queue.renew(living, now=NOON, lease_s=60)
    assert queue.renew(elsewhere, now=NOON, lease_s=60)
    assert queue.release("nobody:", lambda _: True) == 0


def test_a_named_job_is_taken_whatever_its_age(queue: Queue) -> None:
    queue.put([A, B])
    lease = queue.take(B.id, "host:1:0", now=NOON, lease_s=60)
    assert lease is not None
    assert lease.job == B
    assert queue.renew(lease, now=at(30), lease_s=60)
    queue.finish(lease, [C])
    assert [claim(queue).job, claim(queue).job] == [A, C]


def test_a_named_job_is_not_taken_before_its_time_or_from_somebody_else(queue: Queue) -> None:
    queue.put([A])
    queue.put([B], visible_at=at(30))
    claim(queue, lease_s=60)
    for job in (A, B, C):
        assert queue.take(job.id, "host:2:0", now=at(29), lease_s=60) is None
    assert queue.take(B.id, "host:2:0", now=at(30), lease_s=60) is not None
    assert queue.take(A.id, "host:2:0", now=at(60), lease_s=60) is not None


def test_a_job_whose_workers_vanish_three_times_is_poison(queue: Queue) -> None:
    queue.put([A.tried(1, 2), B])
    for turn in range(3):
        assert claim(queue, turn * 60).job == A.tried(1, 2)
    assert claim(queue, 180).job == B
    (letter,) = queue.dead()
    assert (letter.job, letter.code) == (A.tried(1, 2), "POISON")
    assert "b24migrate retry" in letter.reason
    assert queue.open("groups-get") == 1


def test_poison_is_not_taken_by_name_either(queue: Queue) -> None:
    queue.put([A])
    for turn in range(3):
        assert queue.take(A.id, "host:1:0", now=at(turn * 60), lease_s=60)
    assert queue.take(A.id, "host:1:0", now=at(180), lease_s=60) is None
    assert [letter.code for letter in queue.dead()] == ["POISON"]


def test_a_job_that_came_back_is_no_poison(queue: Queue) -> None:
    queue.put([A])
    for turn in range(9):
        claim(queue, turn * 60)
        lease = claim(queue, turn * 60 + 60)
        if turn % 2:
            queue.park(lease, until=NOON)
        else:
            assert queue.release("host:", lambda _: False) == 1
    assert queue.dead() == []


def test_many_may_follow(queue: Queue) -> None:
    many = [Job("groups-get", "read", {"n": number, "text": "ж" * 12_000}) for number in range(60)]
    queue.put([A, many[50]])
    queue.finish(claim(queue), [A, *many, *many[:3]])
    assert queue.open("groups-get") == 61
    found = [claim(queue).job for _ in range(61)]
    assert found[0] == many[50]
    assert sorted(job.id for job in found) == sorted(job.id for job in (A, *many))
    assert [job for job in found[1:] if job != A] == many[:50] + many[51:]


def test_a_lost_lease_is_followed_by_none_of_many(queue: Queue) -> None:
    queue.put([A])
    lost = claim(queue)
    claim(queue, 60, owner="host:2:0")
    queue.finish(lost, [Job("groups-get", "read", {"n": number}) for number in range(120)])
    assert queue.open("groups-get") == 1


def test_scopes_that_begin_alike_are_counted_apart(queue: Queue) -> None:
    jobs = [Job(scope, "read") for scope in ("a", "a:b", "ab", "a-b", "a'b")]
    queue.put(jobs)
    queue.letter(jobs[1].tried(1, 0), code="X", reason="", now=NOON)
    assert [queue.open(job.scope) for job in jobs] == [1] * 5
    assert (queue.dead("a"), len(queue.dead("a:b"))) == ([], 1)
    queue.drop("a")
    assert [queue.open(job.scope) for job in jobs] == [0, 1, 1, 1, 1]


def test_nothing_is_to_be_tended_where_nothing_was_lost(queue: Queue) -> None:
    queue.put([A, B])
    claim(queue)
    assert queue.tend(now=at(60)) == 0
    assert queue.open("groups-get") == 2
