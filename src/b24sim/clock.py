"""The portal's time: real, sped up, or moved by hand."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """The clock of limits, timestamps and simulated costs."""

    def now(self) -> float:
        """Unix seconds on the portal."""

    def advance(self, seconds: float) -> None:
        """Move on at once."""

    async def sleep(self, seconds: float) -> None:
        """Let that many of the portal's seconds pass."""


class RunningClock:
    """Starts at the real time and runs `speed` times faster; can be moved on."""

    def __init__(self, speed: float = 1.0, wall: Callable[[], float] = time.time):
        self.speed = speed
        self._wall = wall
        self._origin = wall()
        self._ahead = 0.0

    def now(self) -> float:
        return self._origin + (self._wall() - self._origin) * self.speed + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += seconds

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self.speed)


class ManualClock:
    """Stands still until it is moved; sleeping moves it."""

    def __init__(self, at: float = 1_794_000_000.0):
        self._at = at

    def now(self) -> float:
        return self._at

    def advance(self, seconds: float) -> None:
        self._at += seconds

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)
        await asyncio.sleep(0)


def utc(clock: Clock) -> datetime:
    return datetime.fromtimestamp(clock.now(), UTC)
