"""How much execution time is left, by the portal's own account, and how many commands therefore go in a request.

A portal books the commands of a batch on the methods inside (the documentation's limits.md), or all of them on `batch`
(measured with rest 26.500: bitrix24/b24jssdk 459 and 539). Answers tell which: where `batch` pays, the sum of the
whole answer grows, and the sums of the commands inside are figures of the batch; where it does not, that sum stays 0.
Each process keeps its own: every answer has the sum of all processes, and a spent method pauses in all of them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock

from b24migrate.ports import Billing, Clock
from b24migrate.ports.quota import REQUEST_S

BATCH = "batch"
_WINDOW_S = 600.0
_STEP_S = 60.0
_WORTH_WHILE = 0.25  # of the limit
_Key = tuple[str, str]  # credential, method


class _Spent:
    """The used time of one method, in parts that expire one after the other."""

    def __init__(self) -> None:
        self._parts: deque[tuple[float, float]] = deque()  # until when, seconds
        self.newest = (0.0, 0.0)  # as reported: when the oldest part is forgotten, and the sum

    def seconds(self, now: float) -> float:
        while self._parts and self._parts[0][0] <= now:
            self._parts.popleft()
        return sum(seconds for _, seconds in self._parts)

    def until_below(self, now: float, most_s: float) -> float:
        """The time until at most this many seconds are used."""
        left_s = self.seconds(now)
        for until, seconds in self._parts:
            left_s -= seconds
            if left_s <= most_s:
                return until - now
        return 0.0

    def record(self, now: float, seconds: float, reset_s: float) -> None:
        """The sum as the portal reports it; `reset_s`: until its oldest part expires, 0 if unknown."""
        grown = seconds - self.seconds(now)
        while grown < 0 and self._parts:
            until, oldest = self._parts.popleft()
            grown += oldest
            if grown > 0:
                self._parts.appendleft((until, grown))
                grown = 0.0
        if grown > 0:
            until, last = self._parts.pop() if self._parts else (0.0, 0.0)
            if last and until <= now + _WINDOW_S - _STEP_S:
                self._parts.append((until, last))
                until, last = 0.0, 0.0
            self._parts.append((until or now + _WINDOW_S, last + grown))
        if reset_s > 0 and self._parts:
            self._parts[0] = (now + reset_s, self._parts[0][1])


class Budget:
    """Shared by all threads of a process. `limit_s`: execution time in ten minutes; 0 is no limit."""

    def __init__(self, clock: Clock, limit_s: float) -> None:
        self.billing: Billing | None = None  # not known before the first answer that costs anything
        self._clock = clock
        self._limit_s = limit_s
        self._lock = Lock()
        self._spent: dict[_Key, _Spent] = {}
        self._under_way: Counter[_Key] = Counter()  # seconds that requests may take
        self._requests: Counter[_Key] = Counter()
        self._takes_s: dict[str, float] = {}  # a command of each method

    def payers(self, methods: Sequence[str]) -> Sequence[str]:
        """The methods that the portal charges for a request, out of those it contains (its own is the first)."""
        return methods[:1] if methods and methods[0] == BATCH == self.billing else methods

    def record(self, credential: str, method: str, seconds: float, reset_s: float, reset_at: float = 0.0) -> None:
        """Answers to parallel requests arrive in any order. A sum grows until its oldest part is forgotten: of two with
        the same reset the larger is the newer."""
        if method == BATCH and seconds > 0:
            self.billing = "batch"
        with self._lock:
            spent = self._spent.setdefault((credential, method), _Spent())
            if not reset_at or (reset_at, seconds) >= spent.newest:
                spent.newest = (reset_at, seconds)
                spent.record(self._clock.monotonic(), seconds, reset_s)

    def is_charged_inside(self, of_batch_s: float | None, of_commands_s: Iterable[float | None]) -> bool:
        """Whether the times of commands are charged to their own methods."""
        if not of_batch_s and any(of_commands_s):
            self.billing = "inner"
        return self.billing != "batch"

    def worth_while_s(self, credential: str, method: str) -> float:
        """How long a spent method pauses; 0 if the next minute brings enough time. `batch` is charged for lists and for
        reads of their records: the time of one minute would be used up by reading the list again, and none would be
        left for its records."""
        if method != BATCH or self.billing != "batch":
            return 0.0
        with self._lock:
            spent = self._spent.get((credential, method))
            return spent.until_below(self._clock.monotonic(), self._limit_s * (1 - _WORTH_WHILE)) if spent else 0.0

    def took(self, lasted_s: Mapping[str, Sequence[float]]) -> None:
        """How long commands of each method lasted. The estimate rises at once and falls slowly: the first page of a
        listing counts all rows, which may take a hundred times as long as the next."""
        for method, each in lasted_s.items():
            now_s, before_s = sum(each) / len(each), self._takes_s.get(method, 0.0)
            self._takes_s[method] = max(now_s, (before_s + 3 * now_s) / 4)

    def overdue(self, methods: Sequence[str]) -> None:
        """A request of these commands timed out: from now on a request has at most half as many."""
        for method in set(methods):
            self._takes_s[method] = max(self._takes_s.get(method, 0.0), 2 * REQUEST_S / len(methods))

    def room(self, credential: str, methods: Sequence[str]) -> int:
        """How many of these commands, from the first on, go in one request now; always one. The command that crosses
        the limit is still answered (§A5), the next would be refused."""
        lasts_s = 0.0
        left_s: dict[str, float] = {}
        with self._lock:
            for place, method in enumerate(methods):
                takes_s = self._takes_s.get(method, 0.0)
                payer = BATCH if self.billing == "batch" else method
                if payer not in left_s:
                    left_s[payer] = self._left_s((credential, payer))
                lasts_s += takes_s
                if place and (lasts_s > REQUEST_S or left_s[payer] <= 0):
                    return place
                left_s[payer] -= takes_s
        return len(methods)

    @contextmanager
    def reserved(self, credential: str, methods: Sequence[str]) -> Iterator[str]:
        """While a request of these commands is running. Gives the method whose remaining time other running requests
        will use up: it is useless to send before they are answered."""
        takes: Counter[_Key] = Counter()
        for method in methods:
            payer = BATCH if self.billing == "batch" else method
            takes[credential, payer] += self._takes_s.get(method, 0.0)  # type: ignore[assignment]
        with self._lock:
            taken = next((key[1] for key in takes if self._requests[key] and self._left_s(key) <= 0), "")
            if not taken:
                self._under_way.update(takes)
                self._requests.update(takes.keys())
        try:
            yield taken
        finally:
            if not taken:
                with self._lock:
                    self._under_way.subtract(takes)
                    self._requests.subtract(takes.keys())

    def _left_s(self, key: _Key) -> float:
        if not self._limit_s:
            return float("inf")
        spent = self._spent.get(key)
        return self._limit_s - (spent.seconds(self._clock.monotonic()) if spent else 0.0) - self._under_way[key]
