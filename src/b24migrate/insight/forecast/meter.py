"""Counts what is asked of the source, what it costs there by the portal's own account, and how long it takes."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from b24migrate.ports import Bill

Billed = tuple[int, str]  # which webhook, which method: execution time is limited for each pair
BATCH = "batch"  # pays for its commands on some portals
DOWNLOAD = "download"  # what a download is billed as: no call, and no part of any request
REMEMBERED = 5_000  # requests whose duration is kept


class Used(NamedTuple):
    """Requests, and the calls inside them."""

    requests: float
    calls: Mapping[Billed, float]

    def since(self, before: Used) -> Used:
        calls = {key: count - before.calls.get(key, 0) for key, count in self.calls.items()}
        return Used(self.requests - before.requests, {key: count for key, count in calls.items() if count})


class Cost(NamedTuple):
    """Seconds of execution of a call of one method, and on how many calls that rests."""

    seconds: float
    calls: int


@dataclass(slots=True)
class Asked:
    """One request: how long it was under way, and how many calls of which method were in it."""

    seconds: float
    calls: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Paces:
    """A request takes so long in any case, and longer by each call in it."""

    request_s: float
    call_s: Mapping[str, float]

    def seconds(self, calls: Mapping[Billed, float]) -> float:
        return self.request_s + sum(self.call_s.get(method, 0.0) * count for (_, method), count in calls.items())


class Meter:
    """Given to the application when it is opened, asked when something has been read. For one thread."""

    def __init__(self) -> None:
        self._requests = 0
        self._calls: Counter[Billed] = Counter()
        self._spent: dict[str, tuple[float, int]] = {}
        self._sums: dict[Billed, float] = {}
        self._lasted: dict[str, tuple[float, int]] = {}  # calls without a reported sum
        self._inside: set[Billed] = set()  # methods of such calls
        self._booked_s = self._of_lasted_s = self._lasted_now_s = 0.0
        self._asked: deque[Asked] = deque(maxlen=REMEMBERED)
        self.downloads_s: list[float] = []

    def __call__(self, bill: Bill) -> None:
        if bill.method == DOWNLOAD:
            self.downloads_s.append(bill.request_s)
            return
        method = bill.method.lower()
        key = (bill.via, method)
        if bill.request_s:
            self._requests += 1
            self._asked.append(Asked(bill.request_s))
        if not bill.calls:
            self._booked(key, bill.last or 0.0)
            return
        self._calls[key] += bill.calls
        if self._asked:
            self._asked[-1].calls[method] += bill.calls
        if bill.first is None or bill.last is None:
            self._last(key, bill)
            return
        seconds, calls = self._measured(key, bill.first, bill.last, bill.calls)
        if calls and seconds >= 0:  # a sum may fall, when an old minute is forgotten
            before_s, before = self._spent.get(method, (0.0, 0))
            self._spent[method] = (before_s + seconds, before + calls)

    def _measured(self, key: Billed, first: float, last: float, calls: int) -> tuple[float, int]:
        """The growth of the reported sum is the cost."""
        before, self._sums[key] = self._sums.get(key), last
        if calls > 1:
            return last - first, calls - 1
        return (last - before, 1) if before is not None else (0.0, 0)

    def _last(self, key: Billed, bill: Bill) -> None:
        """Without a sum, the duration of a call is its cost."""
        seconds, calls = self._lasted.get(key[1], (0.0, 0))
        self._lasted[key[1]] = (seconds + bill.duration_s * bill.calls, calls + bill.calls)
        self._lasted_now_s += bill.duration_s * bill.calls
        self._inside.add(key)

    def _booked(self, key: Billed, sum_s: float) -> None:
        """The sum of `batch` grows by what the portal makes of how long its commands lasted."""
        grown_s = sum_s - self._sums.get(key, sum_s + 1.0)
        if grown_s >= 0:
            self._booked_s += grown_s
            self._of_lasted_s += self._lasted_now_s
        self._sums[key], self._lasted_now_s = sum_s, 0.0

    @property
    def batch_pays(self) -> bool:
        return any(method == BATCH for _, method in self._sums)

    def payer(self, key: Billed) -> Billed:
        """Whose execution time a call uses up; one that was never made is in a batch, as most are."""
        own = not self.batch_pays or (key in self._sums and key not in self._inside)
        return key if own else (key[0], BATCH)

    @property
    def used(self) -> Used:
        return Used(self._requests, dict(self._calls))

    @property
    def spent_s(self) -> dict[Billed, float]:
        """The execution time that each method had used up when it was last called."""
        return dict(self._sums)

    @property
    def paces(self) -> Paces:
        """Requests with a single call tell what any of them takes; what the others took longer, their calls share."""
        known = [one for one in self._asked if one.seconds and one.calls]  # not those whose calls all failed
        small = sorted(one.seconds for one in known if sum(one.calls.values()) == 1) or sorted(
            one.seconds for one in known
        )
        request_s = small[len(small) // 2] if small else 0.0
        longer: dict[str, tuple[float, int]] = {}
        for one in known:
            calls = sum(one.calls.values())
            more_s = max(0.0, one.seconds - request_s) / calls
            for method, count in one.calls.items():
                before_s, before = longer.get(method, (0.0, 0))
                longer[method] = (before_s + more_s * count, before + count)
        return Paces(request_s, {method: seconds / count for method, (seconds, count) in longer.items()})

    @property
    def costs(self) -> dict[str, Cost]:
        part = self._booked_s / self._of_lasted_s if self._of_lasted_s else 1.0
        found: dict[str, Cost] = {}
        for method in self._spent.keys() | self._lasted.keys():
            (told_s, told), (lasted_s, lasted) = (of.get(method, (0.0, 0)) for of in (self._spent, self._lasted))
            if told + lasted:
                found[method] = Cost((told_s + lasted_s * part) / (told + lasted), told + lasted)
        return found
