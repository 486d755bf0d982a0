"""Counts what is asked of the source, what it costs there by the portal's own account, and how long it takes."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from b24migrate.ports import Bill

Billed = tuple[int, str]  # which webhook, which method: execution time is limited for each pair
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
        self._asked: deque[Asked] = deque(maxlen=REMEMBERED)
        self.downloads_s: list[float] = []

    def __call__(self, bill: Bill) -> None:
        if bill.method == DOWNLOAD:
            self.downloads_s.append(bill.request_s)
            return
        method = bill.method.lower()
        key = (bill.via, method)
        self._calls[key] += bill.calls
        if bill.request_s:
            self._requests += 1
            self._asked.append(Asked(bill.request_s))
        if self._asked:
            self._asked[-1].calls[method] += bill.calls
        seconds, calls = self._measured(key, bill)
        if calls and seconds >= 0:  # a sum may fall, when an old minute is forgotten
            before_s, before = self._spent.get(method, (0.0, 0))
            self._spent[method] = (before_s + seconds, before + calls)

    def _measured(self, key: Billed, bill: Bill) -> tuple[float, int]:
        """Sums of execution time tell by their growth; a portal without that limit tells how long a call lasted."""
        if bill.first is None or bill.last is None:
            return bill.duration_s * bill.calls, bill.calls
        before, self._sums[key] = self._sums.get(key), bill.last
        if bill.calls > 1:
            return bill.last - bill.first, bill.calls - 1
        return (bill.last - before, 1) if before is not None else (bill.duration_s, 0)

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
        known = [one for one in self._asked if one.seconds]
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
        return {method: Cost(seconds / calls, calls) for method, (seconds, calls) in self._spent.items() if calls}
