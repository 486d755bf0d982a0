"""`b24migrate`, on a clock that may be faster: `python -m bench.clients.worker ORIGIN SPEED ARGUMENTS…`.

All processes on one store have the clock's origin in common. When it waits for the first time, for a run to begin, it
says so in a line.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta

from b24migrate import app
from b24migrate.cli import main


class CommonClock:
    def __init__(self, origin: float, speed: float, *, announced: bool = False) -> None:
        self._origin = origin
        self._speed = speed
        self._announced = announced

    def now(self) -> datetime:
        passed = (time.time() - self._origin) * self._speed
        return datetime.fromtimestamp(self._origin, UTC) + timedelta(seconds=passed)

    def monotonic(self) -> float:
        return time.monotonic() * self._speed

    def sleep(self, seconds: float) -> None:
        if self._announced:
            print("ready", flush=True)
            self._announced = False
        time.sleep(max(0.0, seconds) / self._speed)


if __name__ == "__main__":
    clock = CommonClock(float(sys.argv[1]), float(sys.argv[2]), announced=True)
    vars(app)["SystemClock"] = lambda: clock
    main(sys.argv[3:])
