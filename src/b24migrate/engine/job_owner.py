"""The holder of a job: `<place>:<pid>:<n>`. A process ID shows only in its own place whether the process is alive.

A host name is not enough for a shared store: machines and containers may have the same name, and each would release the
jobs of the others.
"""

from __future__ import annotations

import os
import re
import socket
from functools import cache
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PROCESSES = Path("/proc/self/ns/pid")  # a container has its own


@cache
def host_id() -> str:
    """Another one after a restart: what was held before comes back when its lease ends."""
    try:
        parts = [socket.gethostname(), _BOOT.read_text()[:8], str(_PROCESSES.readlink())]
    except OSError:  # a system that does not show it
        parts = [socket.gethostname()]
    return "-".join(re.sub(r"[^\w.-]+", "", part) for part in parts)


def is_alive(owner: str) -> bool:
    """Of one in this place."""
    pid = owner.split(":")[-2]
    return pid.isdecimal() and process_exists(int(pid))


def process_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
