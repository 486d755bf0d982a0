"""The two limits of a cloud portal: requests per second, and execution time per method."""

from collections import deque

from b24sim.errors import RestError

WINDOW_MINUTES = 10
BATCH = "batch"
INNER = "inner"


class LeakyBucket:
    """Fills by one with each accepted request and drains steadily; one bucket per source address."""

    def __init__(self, per_second: float = 2.0, size: float = 50.0):
        self.per_second = per_second
        self.size = size
        self._levels: dict[str, tuple[float, float]] = {}

    def take(self, address: str, now: float) -> None:
        """Account for one request, or refuse it with QUERY_LIMIT_EXCEEDED."""
        level, last = self._levels.get(address, (0.0, now))
        level = max(0.0, level - max(0.0, now - last) * self.per_second)
        if level + 1 > self.size:
            self._levels[address] = (level, now)
            raise query_limit()
        self._levels[address] = (level + 1, now)


class Operating:
    """Execution seconds of each (credential, method) in ten one-minute buckets.

    Who pays for the commands of a batch: `batch` does on portals of 2026 (bitrix24/b24jssdk 459 and 539, measured with
    rest 26.500), so that one budget holds for all of them; the methods inside do by the documentation (limits.md).
    """

    def __init__(self, limit_s: float = 480.0, billing: str = BATCH):
        self.limit_s = limit_s
        self.on_batch = billing == BATCH
        self._spent: dict[tuple[str, str], deque[list[float]]] = {}

    def check(self, credential: str, method: str, now: float) -> None:
        """Refuse a call whose method is spent already; the call that crosses the limit still succeeds."""
        if self.seconds(credential, method, now) > self.limit_s:
            raise operating_limit()

    def add(self, credential: str, method: str, now: float, seconds: float) -> None:
        buckets = self._fresh(credential, method, now)
        minute = float(now // 60)
        if buckets and buckets[-1][0] == minute:
            buckets[-1][1] += seconds
        else:
            buckets.append([minute, seconds])

    def seconds(self, credential: str, method: str, now: float) -> float:
        return sum(seconds for _, seconds in self._fresh(credential, method, now))

    def reset_at(self, credential: str, method: str, now: float) -> int:
        """When the oldest bucket drops out."""
        buckets = self._fresh(credential, method, now)
        oldest = buckets[0][0] if buckets else now // 60
        return int((oldest + WINDOW_MINUTES) * 60)

    def _fresh(self, credential: str, method: str, now: float) -> deque[list[float]]:
        buckets = self._spent.setdefault((credential, method), deque())
        while buckets and buckets[0][0] <= now // 60 - WINDOW_MINUTES:
            buckets.popleft()
        return buckets


def query_limit(retry_after: float = 0.0) -> RestError:
    """Only some gateways say when to come back."""
    return RestError("QUERY_LIMIT_EXCEEDED", "Too many requests", 503, _later(retry_after))


def operating_limit(retry_after: float = 0.0) -> RestError:
    message = "Method is blocked due to operation time limit."
    return RestError("OPERATION_TIME_LIMIT", message, 429, _later(retry_after))


def _later(retry_after: float) -> dict[str, float]:
    return {"retry_after": retry_after} if retry_after else {}
