"""Requests that the portal received, for benchmarks and tests."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Stats:
    http_requests: int = 0
    methods: Counter[str] = field(default_factory=Counter)
    inner: Counter[str] = field(default_factory=Counter)
    carried: Counter[str] = field(default_factory=Counter)  # requests by the method of their first command
    errors: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    # Lists of several pages that were requested without an order: a client that reads them may miss rows.
    without_order: Counter[str] = field(default_factory=Counter)
    downloads: int = 0
    downloaded_bytes: int = 0
    bytes_sent: int = 0
    in_flight: int = 0
    peak_in_flight: int = 0

    def count_download(self, size: int) -> None:
        self.downloaded_bytes += size

    def enter(self) -> None:
        self.http_requests += 1
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)

    def leave(self) -> None:
        self.in_flight -= 1

    def reset(self) -> None:
        in_flight = self.in_flight
        self.__init__()  # type: ignore[misc]
        self.in_flight = self.peak_in_flight = in_flight

    def summary(self) -> dict[str, Any]:
        return {
            "http_requests": self.http_requests,
            "methods": dict(self.methods),
            "inner": dict(self.inner),
            "carried": dict(self.carried),
            "calls": dict(self.methods + self.inner),
            "errors": dict(self.errors),
            "limit_rejections": {
                "query": self.errors["QUERY_LIMIT_EXCEEDED"],
                "operating": self.errors["OPERATION_TIME_LIMIT"],
            },
            "faults": dict(self.faults),
            "downloads": self.downloads,
            "downloaded_bytes": self.downloaded_bytes,
            "bytes_sent": self.bytes_sent,
            "peak_in_flight": self.peak_in_flight,
        }
