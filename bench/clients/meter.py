"""What one client used up, measured inside its own process."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path
from typing import Any


class Meter:
    """CPU seconds of all threads, user and system; wall seconds; the most memory there ever was."""

    def __init__(self) -> None:
        self._cpu_s = _cpu_s()
        self._wall_s = time.perf_counter()

    def read(self) -> dict[str, Any]:
        return {
            "cpu_s": _cpu_s() - self._cpu_s,
            "wall_s": time.perf_counter() - self._wall_s,
            "peak_mb": peak_mb(),
        }


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mb() -> float:
    """Of this program alone; `ru_maxrss` may remember the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def say(**figures: Any) -> None:
    """The one line a client prints."""
    print(json.dumps(figures), flush=True)
