"""Random histories: the store always agrees with a model too simple to be wrong."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from tests.stores.samples import EVERYTHING, GROUPS, Open, Time, at, keys

from b24migrate.model.records import Job, Settled, Staged, Status, order_key
from b24migrate.ports import DELIVERIES, Lease

KEYS = ["1", "2", "10", "2:1", "2:2", "10:1:1", "10:1:2", "x", "x:1", "007"]
MOMENTS = [at(0), at(10), at(20)]
some_keys = st.lists(st.sampled_from(KEYS), max_size=8)


@dataclass(frozen=True)
class Kept:
    """One record of the model."""

    payload: bytes
    payload_hash: str | None
    pulled: bool
    passed: int
    status: Status = Status.NEW
    attempts: int = 0
    code: str | None = None
    due: datetime | None = None
    revision: int = 0

    def met(self, one: Staged, pass_no: int) -> Kept:
        kept = replace(self, pulled=self.pulled and one.pulled_through, passed=max(self.passed, pass_no))
        content = replace(kept, payload=one.payload, payload_hash=one.payload_hash or self.payload_hash)
        if one.payload_hash:
            if one.payload_hash == (self.payload_hash or self.payload.decode()):
                failed = self.status in (Status.IMPORT_ERR, Status.ERROR_RETRY)
                return content if failed else replace(kept, payload_hash=one.payload_hash)
            return replace(content, status=Status.NEW, attempts=0, code=None, due=None, revision=self.revision + 1)
        return kept if self.status is Status.IMPORT_OK or one.payload == self.payload else content

    def is_due(self, now: datetime) -> bool:
        return self.status is Status.NEW or (
            self.status is Status.ERROR_RETRY and (self.due is None or self.due <= now)
        )


staged = st.builds(
    lambda key, text, hashing, pulled: Staged(key, text, text.decode() if hashing else None, pulled_through=pulled),
    st.sampled_from(KEYS),
    st.sampled_from([b"a", b"b", b"c"]),
    st.booleans(),
    st.booleans(),
)


class Machine(RuleBasedStateMachine):
    """Works on a real store; a folder of its own goes away with it."""

    def __init__(self, backend: Open) -> None:
        super().__init__()
        self.clock = Time()
        self.folder = tempfile.TemporaryDirectory()
        self.store, self.queue, _ = backend(Path(self.folder.name), self.clock)

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


class Records(Machine):
    def __init__(self, backend: Open) -> None:
        super().__init__(backend)
        self.model: dict[str, Kept] = {}
        self.seen: Counter[str] = Counter()

    @rule(page=st.lists(staged, max_size=8), pass_no=st.integers(1, 3))
    def stage(self, page: list[Staged], pass_no: int) -> None:
        done = self.store.stage(GROUPS, page, run="r", pass_no=pass_no)
        added = first = 0
        for one in page:
            old = self.model.get(one.row_key)
            added += old is None
            first += old is None or old.passed < pass_no
            new = Kept(one.payload, one.payload_hash, one.pulled_through, pass_no)
            self.model[one.row_key] = old.met(one, pass_no) if old else new
        self.seen[f"seen:Groups:{pass_no}"] += first
        assert (done.added, done.seen) == (added, first)
        assert done.added + done.changed + done.same == len(page)

    @rule(
        some=some_keys, status=st.sampled_from(list(Status)), due=st.sampled_from(MOMENTS), attempts=st.integers(0, 3)
    )
    def settle(self, some: list[str], status: Status, due: datetime, attempts: int) -> None:
        failing = status in (Status.IMPORT_ERR, Status.ERROR_RETRY)
        code, later = ("BAD" if failing else None), (due if status is Status.ERROR_RETRY else None)
        when = later.isoformat() if later else None
        self.store.settle("s", GROUPS, [Settled(key, status, attempts, code, code, when) for key in some], now=at(0))
        for key in set(some) & self.model.keys():
            self.model[key] = replace(self.model[key], status=status, attempts=attempts, code=code, due=later)

    @rule(some=st.none() | some_keys)
    def renew(self, some: list[str] | None) -> None:
        chosen = [
            key
            for key, kept in self.model.items()
            if kept.status in (Status.IMPORT_ERR, Status.ERROR_RETRY) and (some is None or key in some)
        ]
        assert self.store.renew(GROUPS, row_keys=some) == len(chosen)
        for key in chosen:
            self.model[key] = replace(self.model[key], status=Status.NEW, attempts=0, code=None, due=None)

    @invariant()
    def counts_agree(self) -> None:
        counted = Counter(kept.status for kept in self.model.values())
        assert self.store.counts(GROUPS) == dict.fromkeys(Status, 0) | dict(counted)
        open_ones = [kept for kept in self.model.values() if kept.status in (Status.NEW, Status.ERROR_RETRY)]
        assert self.store.pulled_pending(GROUPS) == sum(kept.pulled for kept in open_ones)
        assert self.store.counters("seen:") == +self.seen
        errors = Counter((str(kept.status), kept.code) for kept in self.model.values() if kept.code)
        assert self.store.error_counts(GROUPS) == errors
        for status, code in errors:
            example = self.store.one_failed(GROUPS, Status(status), code)
            assert example is not None
            assert (example.status, example.last_error_code) == (status, code)

    @invariant()
    def records_agree(self) -> None:
        found = self.store.records(GROUPS, EVERYTHING, 99)
        assert keys(found) == sorted(self.model, key=order_key)
        for one in found:
            kept = self.model[one.row_key]
            assert (one.status, one.payload, one.payload_hash) == (kept.status, kept.payload, kept.payload_hash)
            assert (one.attempts, one.revision, one.pulled_through) == (kept.attempts, kept.revision, kept.pulled)
            assert one.last_error_code == kept.code

    @rule(now=st.sampled_from(MOMENTS), hold=st.sets(st.sampled_from(["2", "10:1", "x", "10"])), pulled=st.booleans())
    def pending_agrees(self, now: datetime, hold: set[str], pulled: bool) -> None:
        expected = [
            key
            for key, kept in self.model.items()
            if kept.is_due(now) and key.rpartition(":")[0] not in hold and (kept.pulled or not pulled)
        ]
        found = self.store.pending(GROUPS, EVERYTHING, 99, now=now, hold=hold, pulled=pulled)
        assert keys(found) == sorted(expected, key=order_key)
        waiting = {key: kept.due for key, kept in self.model.items() if kept.due and kept.due > now}
        assert dict(self.store.waiting(GROUPS, EVERYTHING, now=now)) == waiting


class Jobs(Machine):
    """Every job that was put is in exactly one place: open, leased, dead or finished."""

    def __init__(self, backend: Open) -> None:
        super().__init__(backend)
        self.order: dict[str, Job] = {}
        self.hidden: dict[str, datetime] = {}  # parked or leased until then
        self.leases: list[Lease] = []
        self.dead: dict[str, Job] = {}
        self.given: Counter[str] = Counter()  # how often, without coming back

    @rule(numbers=st.lists(st.integers(0, 9), max_size=5), delay=st.sampled_from([None, 5]))
    def put(self, numbers: list[int], delay: int | None) -> None:
        jobs = [Job("s", "k", {"n": number}) for number in numbers]
        until = None if delay is None else at(self.clock.passed_s + delay)
        self.queue.put(jobs, visible_at=until)
        for job in jobs:
            if job.id not in self.order:
                self.order[job.id] = job
                if until:
                    self.hidden[job.id] = until

    @rule(seconds=st.sampled_from([1, 5, 30]))
    def wait(self, seconds: int) -> None:
        self.clock.sleep(seconds)

    @rule()
    def claim(self) -> None:
        now = self.clock.now()
        ready = [job for key, job in self.order.items() if self.hidden.get(key, now) <= now]
        while ready and self.given[ready[0].id] == DELIVERIES:
            self.forget(ready[0])
            self.dead[ready[0].id] = ready[0]
            self.leases = [one for one in self.leases if one.job.id != ready[0].id]
            del ready[0]
        lease = self.queue.claim("h:1:1", now=now, lease_s=20)
        assert (lease.job if lease else None) == (ready[0] if ready else None)
        if lease:
            self.leases = [one for one in self.leases if one.job.id != lease.job.id] + [lease]
            self.hidden[lease.job.id] = at(self.clock.passed_s + 20)
            self.given[lease.job.id] += 1

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), follow=st.lists(st.integers(0, 9), max_size=2))
    def finish(self, data: st.DataObject, follow: list[int]) -> None:
        lease = self.take(data)
        self.queue.finish(lease, [Job("s", "k", {"n": number}) for number in follow])
        self.forget(lease.job)
        for job in (Job("s", "k", {"n": number}) for number in follow):
            self.order.setdefault(job.id, job)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def park(self, data: st.DataObject) -> None:
        lease = self.take(data)
        job = lease.job.tried(lease.job.attempts + 1, 0)
        self.queue.park(lease, until=at(self.clock.passed_s + 5), job=job)
        self.order[job.id] = job
        self.hidden[job.id] = at(self.clock.passed_s + 5)
        del self.given[job.id]

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def bury(self, data: st.DataObject) -> None:
        lease = self.take(data)
        self.queue.bury(lease, code="X", reason="x", now=self.clock.now())
        self.forget(lease.job)
        self.dead[lease.job.id] = lease.job

    @rule()
    def release(self) -> None:
        assert self.queue.release("h:", lambda _: False) == len(self.leases)
        for lease in self.leases:
            del self.hidden[lease.job.id], self.given[lease.job.id]
        self.leases.clear()

    @rule()
    def drop(self) -> None:
        self.queue.drop("s")
        held = {lease.job.id for lease in self.leases if self.hidden[lease.job.id] > self.clock.now()}
        self.leases = [one for one in self.leases if one.job.id in held]
        for one in (self.order, self.hidden, self.given):
            for key in one.keys() - held:
                del one[key]
        self.dead.clear()

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        assert self.queue.open("s") == len(self.order)
        assert {letter.job.id for letter in self.queue.dead()} == set(self.dead)
        assert self.queue.dead_count() == len(self.dead)
        assert (self.queue.next_visible() is None) == (not self.order)

    def take(self, data: st.DataObject) -> Lease:
        return self.leases.pop(data.draw(st.integers(0, len(self.leases) - 1)))

    def forget(self, job: Job) -> None:
        del self.order[job.id]
        del self.given[job.id]
        self.hidden.pop(job.id, None)


def test_records_agree_with_the_model(backend: Open, examples: Callable[[int], settings]) -> None:
    run_state_machine_as_test(lambda: Records(backend), settings=examples(40))  # type: ignore[arg-type]


def test_jobs_agree_with_the_model(backend: Open, examples: Callable[[int], settings]) -> None:
    run_state_machine_as_test(lambda: Jobs(backend), settings=examples(40))  # type: ignore[arg-type]
