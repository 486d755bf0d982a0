"""Clocks: the system's, and a faster one for simulated portals."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from b24migrate.model.interrupt import Interrupt


class SystemClock:
    def __init__(self) -> None:
        self.interrupt = Interrupt()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Raises KeyboardInterrupt when the application is asked to end."""
        self.interrupt.sleep(max(0.0, seconds))


class FastClock:
    """An hour passes in `3600 / speed` seconds. Benchmarks and tests only."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._began = time.time()
        self._began_monotonic = time.monotonic()

    def now(self) -> datetime:
        passed = (time.time() - self._began) * self._speed
        return datetime.fromtimestamp(self._began, UTC) + timedelta(seconds=passed)

    def monotonic(self) -> float:
        return self._began_monotonic + (time.monotonic() - self._began_monotonic) * self._speed

    def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds) / self._speed)
