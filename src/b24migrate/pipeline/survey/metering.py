"""Counts what is asked of the source and what it costs there, by the portal's own account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from b24migrate.ports import Bill

Billed = tuple[int, str]  # which webhook, which method: execution time is limited for each pair


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


class Meter:
    """Given to the application when it is opened, asked when something has been read."""

    def __init__(self) -> None:
        self._requests = 0
        self._calls: Counter[Billed] = Counter()
        self._spent: dict[str, tuple[float, int]] = {}
        self._sums: dict[Billed, float] = {}
        self._plain_s: list[float] = []

    def __call__(self, bill: Bill) -> None:
        method = bill.method.lower()
        key = (bill.via, method)
        self._calls[key] += bill.calls
        if bill.request_s:
            self._requests += 1
            self._plain_s.append(bill.request_s)
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
    def request_s(self) -> float:
        """How long an ordinary request took: the median."""
        known = sorted(self._plain_s)
        return known[len(known) // 2] if known else 0.0

    @property
    def costs(self) -> dict[str, Cost]:
        return {method: Cost(seconds / calls, calls) for method, (seconds, calls) in self._spent.items() if calls}
