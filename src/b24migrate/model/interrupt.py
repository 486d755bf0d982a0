"""Asks every thread of an application to end. Only the main thread gets signals; others wait in calls and pauses."""

from __future__ import annotations

import math
import time
from threading import Event

CALL_S = 3.0  # that a call in progress may take to end: most are answered by then, and their job is done


class Interrupt:
    def __init__(self) -> None:
        self._asked = Event()
        self._asked_at = math.inf

    def request(self) -> None:
        if not self._asked.is_set():
            self._asked_at = time.monotonic()
            self._asked.set()

    def check(self, patience_s: float = 0.0) -> None:
        """Raises KeyboardInterrupt if the request is older than `patience_s`. No handler of errors catches it, and the
        job goes back to the queue."""
        if self._asked.is_set() and time.monotonic() - self._asked_at >= patience_s:
            raise KeyboardInterrupt

    def sleep(self, seconds: float) -> None:
        """Raises KeyboardInterrupt at once when it is requested."""
        if self._asked.wait(seconds):
            raise KeyboardInterrupt
