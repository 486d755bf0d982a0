"""Where a portal's quota is kept: in this process, or in the store, where all processes share it."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

from b24migrate.ports import QUOTA, Clock, RegisterRow, Store
from b24migrate.ports.quota import Quota, decode_quota, encode_quota

T = TypeVar("T")
How = Callable[[Quota, float], tuple[Quota, T]]
_FIRST_RETRY_S = 0.005
_LONGEST_RETRY_S = 0.2


class Ledger(Protocol):
    @property
    def seen(self) -> Quota:
        """As it was when this process last looked. Nobody is asked."""
        ...

    def change(self, how: How[T]) -> T:
        """Replaces the quota by what `how` makes of it at the given moment, as if nobody else were there. It may be
        called several times. A quota that stays as it is is not written."""
        ...


class OwnLedger:
    """For one process; the moment is the clock's monotonic time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self.seen = Quota(at=clock.monotonic())

    def change(self, how: How[T]) -> T:
        with self._lock:
            self.seen, result = how(self.seen, self._clock.monotonic())
            return result


class SharedLedger:
    """For all processes on one store, one row for each portal.

    The moment is UTC, or as much later as somebody else's clock is ahead: all keep to the fastest. So a clock that is
    wrong, or jumps, stops nobody: the others follow it, and what was taken before is drained once too early at most.
    """

    def __init__(self, store: Store, host: str, clock: Clock, *, chance: random.Random | None = None) -> None:
        self.seen = Quota()
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
                    self.seen = after
                    return result
            self._clock.sleep(self._chance.uniform(0.0, wait_s))
            wait_s = min(_LONGEST_RETRY_S, wait_s * 2)

    def _now(self, quota: Quota) -> float:
        here = self._clock.now().timestamp()
        self._ahead_s = max(self._ahead_s, quota.at - here)
        return here + self._ahead_s
