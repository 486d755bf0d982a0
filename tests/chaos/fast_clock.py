"""`b24migrate` with a faster clock and shorter timeouts: waits of minutes take seconds.

Every process of one migration shares the clock's origin, so that times in the store mean the same to all of them.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta

from b24migrate import app
from b24migrate.bitrix import client
from b24migrate.cli import main
from b24migrate.engine import worker
from b24migrate.targets.rest import journal

TIMEOUTS = client.Timeouts(connect_s=10.0, read_s=2.0, probe_s=2.0)  # an answer of a busy machine takes a second


class HurriedClock:
    def __init__(self, origin: float, speed: float) -> None:
        self._origin = origin
        self._speed = speed

    def now(self) -> datetime:
        passed = (time.time() - self._origin) * self._speed
        return datetime.fromtimestamp(self._origin, UTC) + timedelta(seconds=passed)

    def monotonic(self) -> float:
        return time.monotonic() * self._speed

    def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds) / self._speed)


def hurry(origin: float, speed: float) -> None:
    vars(app)["SystemClock"] = lambda: HurriedClock(origin, speed)
    vars(worker)["IDLE_GLANCES"] = worker.IDLE_GLANCES / speed
    if speed > 1:  # who is in no hurry has no portals that fail him either, and answers of a busy machine come late
        vars(journal)["LONGEST_S"] = TIMEOUTS.read_s * speed  # nothing waits for an answer longer than that
        (client.Portal.__init__.__kwdefaults__ or {})["timeouts"] = TIMEOUTS


if __name__ == "__main__":
    hurry(float(sys.argv[1]), float(sys.argv[2]))
    main(sys.argv[3:])
