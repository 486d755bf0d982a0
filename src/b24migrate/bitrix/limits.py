"""How fast a portal may be asked. One governor per portal, shared by every thread.

Two limits (bitrix24-rest-1 §A5): a leaky bucket of requests per portal, and execution time per credential and method.
Both are used up to the brim: the bucket's burst first, then its drain; a method until the portal says it is spent.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence

from b24migrate.bitrix.envelope import Times
from b24migrate.errors import Limited
from b24migrate.events import Observer, Waited, tell
from b24migrate.ports import Clock

_PATIENCE_S = 2.0  # a shorter wait is slept through; for a longer one the job gives its worker to another
_MARGIN = 2.0  # requests that the portal may have counted and we have not
_LONGEST_PAUSE_S = 60.0
_STEP_S = 60.0  # execution time is kept in ten buckets of a minute


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
    ) -> None:
        self._clock = clock
        self._per_second = per_second
        self._bucket = bucket
        self._brim = max(1.0, bucket - _MARGIN)
        self._operating_s = operating_s
        self._portal = portal
        self._observers = observers
        self._chance = chance or random.Random()
        self._lock = threading.Lock()
        self._level, self._level_at = 0.0, clock.monotonic()
        self._pause_s, self._paused_at, self._paused_until = 0.0, float("-inf"), float("-inf")
        self._skew_s = 0.0  # the portal's clock minus ours
        self._reset_at: dict[tuple[str, str], float] = {}  # as last seen, by the portal's clock
        self._resting: dict[tuple[str, str], float] = {}  # until when a method rests, by our monotonic clock

    def acquire(self, credential: str, methods: Sequence[str]) -> None:
        """Returns when a request may be sent. Raises Limited, and takes nothing, when that is not soon."""
        method, wait_s = self._reserve(credential, methods)
        while wait_s > 0:
            tell(self._observers, Waited(self._portal, method, wait_s))
            self._clock.sleep(wait_s)
            wait_s = self._still_paused(method)

    def count(self) -> None:
        """A request that is sent without asking: a probe, or the repeat at a renamed portal's address."""
        with self._lock:
            self._drain()
            self._level += 1

    def answered(self, sent_at: float) -> None:
        """A request that was sent after the last pause got through: the next pause begins small again."""
        with self._lock:
            if sent_at > self._paused_at:
                self._pause_s = 0.0

    def rejected(self, sent_at: float, retry_after_s: float = 0.0) -> float:
        """The bucket is full after all. Returns how long the whole portal pauses."""
        with self._lock:
            now = self._clock.monotonic()
            if sent_at >= self._paused_at:  # one sent before the last pause says nothing new
                self._pause_s = min(_LONGEST_PAUSE_S, max(1.0, self._pause_s * 2))
            self._paused_at = now
            wait_s = retry_after_s or self._jittered(self._pause_s)
            self._paused_until = max(self._paused_until, now + wait_s)
            self._level, self._level_at = max(self._level, self._bucket), now
            return self._paused_until - now

    def synchronized(self, times: Times, elapsed_s: float) -> None:
        """What an answer that has just arrived says about the portal's clock; of two bounds the later reset."""
        if times.start > 0 and times.finish > 0:
            now = self._clock.now().timestamp()
            self._skew_s = min(times.finish - now, times.start - (now - elapsed_s))

    def learned(self, credential: str, method: str, times: Times) -> None:
        """What an answer, or a command inside a batch, said about the execution time of its method."""
        with self._lock:
            if times.operating is None:
                return
            key = (credential, method)
            if times.operating_reset_at:
                self._reset_at[key] = times.operating_reset_at
            if 0 < self._operating_s <= times.operating:
                self._rest(key, self._until_reset(key))
            else:
                self._resting.pop(key, None)

    def spent(self, credential: str, method: str, retry_after_s: float = 0.0) -> float:
        """OPERATION_TIME_LIMIT. Returns how long the method rests: until the oldest minute of its time drops out."""
        with self._lock:
            key = (credential, method)
            wait_s = retry_after_s or self._until_reset(key) or self._jittered(_STEP_S)
            self._rest(key, wait_s)
            return wait_s

    def _reserve(self, credential: str, methods: Sequence[str]) -> tuple[str, float]:
        with self._lock:
            now = self._clock.monotonic()
            method, wait_s = self._longest_rest(credential, methods, now)
            self._drain()
            if self._per_second > 0:
                wait_s = max(wait_s, (self._level + 1 - self._brim) / self._per_second)
            wait_s = max(wait_s, self._paused_until - now)
            if wait_s <= _PATIENCE_S:
                self._level += 1
                return method, wait_s
        raise self._refusal(method, wait_s)

    def _longest_rest(self, credential: str, methods: Sequence[str], now: float) -> tuple[str, float]:
        rests = [(self._resting.get((credential, method), now) - now, method) for method in methods]
        wait_s, method = max(rests, default=(0.0, "batch"))
        return (method, wait_s) if wait_s > 0 else (methods[0] if methods else method, 0.0)

    def _still_paused(self, method: str) -> float:
        with self._lock:
            wait_s = self._paused_until - self._clock.monotonic()
        if wait_s > _PATIENCE_S:
            raise self._refusal(method, wait_s)
        return wait_s

    def _refusal(self, method: str, wait_s: float) -> Limited:
        message = f"The {self._portal}'s limit leaves no room for {method} yet."
        return Limited(message, wait_s=wait_s, code="LIMIT", method=method)

    def _drain(self) -> None:
        now = self._clock.monotonic()
        self._level = max(0.0, self._level - (now - self._level_at) * self._per_second)
        self._level_at = now

    def _until_reset(self, key: tuple[str, str]) -> float:
        """Once the last seen reset is past, the next bucket drops out whole minutes after it."""
        if key not in self._reset_at:
            return 0.0
        ahead_s = self._reset_at[key] - self._clock.now().timestamp() - self._skew_s
        return ahead_s if ahead_s > 0 else ahead_s % _STEP_S

    def _rest(self, key: tuple[str, str], wait_s: float) -> None:
        self._resting[key] = self._clock.monotonic() + wait_s

    def _jittered(self, seconds: float) -> float:
        return seconds * self._chance.uniform(1.0, 1.25)
