"""The rate of requests to a portal. One governor per portal, shared by all threads; its ledger is shared by all
processes.

Two limits (bitrix24-rest-1 §A5): a leaky bucket of requests per portal, and execution time per credential and method
(`batch` is the method that pays for its commands on some portals: budget.py). Both are used fully: first the bucket's
burst, then its drain; a method until the portal reports that its time is used up.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from b24migrate.bitrix.budget import Budget
from b24migrate.bitrix.envelope import Times
from b24migrate.messages import say
from b24migrate.model.errors import Limited
from b24migrate.model.events import Observer, Waited, tell
from b24migrate.ports import QUOTA, Bill, Billing, Clock, RegisterRow, Store, quota
from b24migrate.ports.quota import PATIENCE_S, Bucket, Quota, bounded, decode_quota, encode_quota

T = TypeVar("T")
How = Callable[[Quota, float], tuple[Quota, T]]
_FIRST_RETRY_S = 0.005
_LONGEST_RETRY_S = 0.2


class Ledger(Protocol):
    @property
    def last_quota(self) -> Quota:
        """As this process last read it. Makes no request."""
        ...

    def change(self, how: How[T]) -> T:
        """Replaces the quota by the result of `how` at the given moment, atomically. `how` may be called several times.
        An unchanged quota is not written."""
        ...


class OwnLedger:
    """For one process; the moment is the clock's monotonic time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self.last_quota = Quota(at=clock.monotonic())

    def change(self, how: How[T]) -> T:
        with self._lock:
            self.last_quota, result = how(self.last_quota, self._clock.monotonic())
            return result


class SharedLedger:
    """For all processes on one store, one row for each portal.

    The moment is UTC, or later by the offset of the fastest clock among the processes. So a wrong or jumping clock
    stops no process: the others follow it, and requests taken before drain too early once at most.
    """

    def __init__(self, store: Store, host: str, clock: Clock, *, chance: random.Random | None = None) -> None:
        self.last_quota = Quota()
        self._store = store
        self._host = host
        self._clock = clock
        self._chance = chance or random.Random()
        self._lock = threading.Lock()  # the threads of one process need not compete at the store
        self._ahead_s = 0.0

    def change(self, how: How[T]) -> T:
        wait_s = _FIRST_RETRY_S
        while True:
            with self._lock:
                row = self._store.read(QUOTA, self._host) or RegisterRow(self._host, {})
                before = decode_quota(row)
                after, result = how(before, self._now(before))
                if after == before or self._store.swap(QUOTA, row._replace(values=encode_quota(after))):
                    self.last_quota = after
                    return result
            self._clock.sleep(self._chance.uniform(0.0, wait_s))
            wait_s = min(_LONGEST_RETRY_S, wait_s * 2)

    def _now(self, quota: Quota) -> float:
        here = self._clock.now().timestamp()
        self._ahead_s = max(self._ahead_s, quota.at - here)
        return here + self._ahead_s


_STEP_S = 60.0  # execution time is kept in ten buckets of a minute
_SAME_S = 1.0  # resets are whole seconds
_SOON_S = 1.0  # until other requests are answered that use up a method's remaining execution time


class Governor:
    def __init__(
        self,
        clock: Clock,
        *,
        per_second: float = 2.0,
        bucket: float = 50.0,
        operating_s: float = 480.0,
        portal: str = "source",
        observers: tuple[Observer, ...] = (),
        chance: random.Random | None = None,
        ledger: Ledger | None = None,
        meter: Callable[[Bill], None] | None = None,
    ) -> None:
        """`meter` gets the cost of every answer."""
        self.meter = meter
        self._clock = clock
        self._bucket = Bucket(per_second, bucket)
        self._operating_s = operating_s
        self.budget = Budget(clock, operating_s)
        self._portal = portal
        self._observers = observers
        self._chance = chance or random.Random()
        self._ledger = ledger or OwnLedger(clock)
        self._skew_s = 0.0  # the portal's clock minus ours
        self._reset_at: dict[tuple[str, str], float] = {}  # as last seen, by the portal's clock

    @property
    def billing(self) -> Billing | None:
        """The method that the portal charges the commands of a batch to; None until an answer shows it."""
        return self.budget.billing

    @contextmanager
    def reserved(self, credential: str, methods: Sequence[str]) -> Iterator[None]:
        """While a request of these commands runs, its cost is reserved. Raises Limited if the remaining time is already
        reserved."""
        with self.budget.reserved(credential, methods) as taken:
            if taken:
                raise self._refusal(taken, _SOON_S)
            yield

    def acquire(self, credential: str, methods: Sequence[str]) -> None:
        """Returns when a request may be sent. Raises Limited, and takes nothing, when that is not soon."""
        payers = self.budget.payers(methods)
        given = self._ledger.change(lambda before, now: quota.take_turn(before, now, self._bucket, credential, payers))
        wait_s = given.wait_s
        if not given.granted:
            raise self._refusal(given.method, wait_s)
        while wait_s > 0:
            tell(self._observers, Waited(self._portal, given.method, wait_s))
            self._clock.sleep(wait_s)
            wait_s = self._still_paused(given.method)

    def count(self) -> None:
        """A request that is not limited: a probe, or the repeat at the address of a renamed portal."""
        if self._bucket.per_second > 0:
            self._ledger.change(lambda before, now: (quota.count_request(before, now, self._bucket), None))

    def answered(self, sent_at: float) -> None:
        """A request after the last pause succeeded: the next pause starts short again."""
        if self._ledger.last_quota.pause_s:
            ago_s = self._clock.monotonic() - sent_at
            self._ledger.change(lambda before, now: (quota.count_answer(before, now - ago_s), None))

    def rejected(self, sent_at: float, retry_after_s: float = 0.0) -> float:
        """The portal reports a full bucket. Returns how long the whole portal pauses."""
        ago_s, jitter = self._clock.monotonic() - sent_at, self._add_jitter(1.0)

        def paused(before: Quota, now: float) -> tuple[Quota, float]:
            bucket, sent = self._bucket, now - ago_s
            return quota.count_rejection(before, now, bucket, sent_at=sent, retry_after_s=retry_after_s, jitter=jitter)

        return self._ledger.change(paused)

    def synchronized(self, times: Times, elapsed_s: float) -> None:
        """The reset time by an answer that has just arrived; of two bounds the later one."""
        if times.start > 0 and times.finish > 0:
            now = self._clock.now().timestamp()
            self._skew_s = min(times.finish - now, times.start - (now - elapsed_s))

    def learned(self, credential: str, method: str, times: Times) -> None:
        """The execution time of a method, as an answer or a command of a batch reports it."""
        if times.operating is None:
            return
        if times.operating_reset_at:
            self._reset_at[credential, method] = times.operating_reset_at
        reset_s, reset_at = self._until_reset(credential, method), times.operating_reset_at or 0.0
        self.budget.record(credential, method, times.operating, reset_s, reset_at)
        if 0 < self._operating_s <= times.operating:
            wait_s = max(self._until_reset(credential, method), self.budget.worth_while_s(credential, method))
            self._rest(credential, method, wait_s, self._until_step(credential, method))

    def spent(self, credential: str, method: str, retry_after_s: float = 0.0) -> float:
        """OPERATION_TIME_LIMIT. Returns how long the method is blocked: until the oldest minute of its time is over."""
        wait_s = bounded(retry_after_s) or self._until_reset(credential, method)
        wait_s = max(wait_s, bounded(self.budget.worth_while_s(credential, method)))
        return self._rest(credential, method, wait_s, self._until_step(credential, method) or self._add_jitter(_STEP_S))

    def _still_paused(self, method: str) -> float:
        wait_s = self._ledger.change(lambda before, now: (before, before.pause(now)))
        if wait_s > PATIENCE_S:
            raise self._refusal(method, wait_s)
        return wait_s

    def _refusal(self, method: str, wait_s: float) -> Limited:
        message = say("portal.limited", portal=self._portal, method=method)
        return Limited(message, wait_s=wait_s, code="LIMIT", method=method)

    def _until_reset(self, credential: str, method: str) -> float:
        """0 if no future reset is known."""
        at = self._reset_at.get((credential, method), 0.0)
        return bounded(at - self._clock.now().timestamp() - self._skew_s)

    def _until_step(self, credential: str, method: str) -> float:
        """Once the last seen reset is past, the next bucket drops out whole minutes after it."""
        if (credential, method) not in self._reset_at:
            return 0.0
        return bounded((self._reset_at[credential, method] - self._clock.now().timestamp() - self._skew_s) % _STEP_S)

    def _rest(self, credential: str, method: str, wait_s: float, guessed_s: float) -> float:
        """The finding of another process counts more than a guess, and is not written again."""

        def rested(before: Quota, now: float) -> tuple[Quota, float]:
            known_s = before.rest(credential, method, now)
            rest_s = wait_s or known_s or guessed_s
            if abs(rest_s - known_s) < _SAME_S:
                return before, rest_s
            after = quota.add_rest(before, now, self._bucket, credential=credential, method=method, wait_s=rest_s)
            return after, rest_s

        return self._ledger.change(rested)

    def _add_jitter(self, seconds: float) -> float:
        return seconds * self._chance.uniform(1.0, 1.25)
