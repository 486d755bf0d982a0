"""Distinguishes an outage from a record's own failure. One breaker per portal.

During an outage whole calls keep failing: work waits, and one thread checks from time to time whether the portal is
back. A call that fails while others succeed fails on its own.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from b24migrate.messages import say
from b24migrate.model.errors import Halted, Limited
from b24migrate.model.events import Observer, PortalBack, PortalDown, tell
from b24migrate.ports import Clock

_FAILURES_TO_OPEN = 3
_FIRST_PROBE_S = 5.0
_SLOWEST_PROBE_S = 60.0
_WINDOW = 20
_STUBBORN = 3  # a call that failed as often in a row, in a portal where others fail as well, is looked at again
_STUBBORN_PROBES = 10
_REMEMBERED = 1000


class Attempt(NamedTuple):
    """One call. Two attempts of the same call share their subject."""

    subject: str
    started: float


class _Finished(NamedTuple):
    subject: str
    ok: bool
    at: float


class Breaker:
    def __init__(
        self,
        clock: Clock,
        *,
        portal: str = "source",
        outage_s: float = 1800.0,
        observers: tuple[Observer, ...] = (),
        probe: Callable[[], bool] = lambda: True,
    ) -> None:
        self.probe = probe
        self._clock = clock
        self._portal = portal
        self._outage_s = outage_s
        self._observers = observers
        self._lock = threading.Lock()
        self._finished: deque[_Finished] = deque(maxlen=4 * _WINDOW)
        self._stubborn: dict[str, int] = {}  # subject -> failures in a row
        self._row = 0
        self._down_since: float | None = None
        self._open = False
        self._probing = False
        self._interval_s: float  # from when it opens
        self._next_probe = 0.0

    def admit(self) -> None:
        """Raises Limited while the portal is down, and Halted when it has been down for too long."""
        if self._must_probe():
            self._reopen_or_wait()

    def succeeded(self, attempt: Attempt) -> None:
        with self._lock:
            self._finished.append(_Finished(attempt.subject, True, self._clock.monotonic()))
            self._stubborn.pop(attempt.subject, None)
            was_open = self._close()
        self._announce_recovery(was_open)

    def failed(self, attempt: Attempt, why: str) -> None:
        """The third failure in a row, confirmed by a failed probe, opens the breaker."""
        with self._lock:
            now = self._clock.monotonic()
            self._finished.append(_Finished(attempt.subject, False, now))
            self._note_stubborn(attempt.subject)
            self._row += 1
            self._down_since = now if self._down_since is None else self._down_since
            suspicious = self._row >= _FAILURES_TO_OPEN and not self._open and not self._probing
            self._probing = self._probing or suspicious
        if suspicious:
            self._conclude(self._run_probe(), why)

    def own_fault(self, attempt: Attempt) -> bool:
        """Whether a failed call counts against its job: only if the portal is otherwise healthy."""
        with self._lock:
            if self._open:
                return False
            others = [one for one in self._finished if one.subject != attempt.subject][-_WINDOW:]
            clean = all(one.ok for one in others)
            since = any(one.ok and one.at > attempt.started for one in others)
            stubborn = self._stubborn.get(attempt.subject, 0) >= _STUBBORN
        if clean:
            return since or self.probe()
        # Two bad records that fail by turns would excuse each other for ever.
        return stubborn and all(self.probe() for _ in range(_STUBBORN_PROBES))

    def _must_probe(self) -> bool:
        with self._lock:
            if not self._open:
                return False
            now = self._clock.monotonic()
            if self._probing or now < self._next_probe:
                raise self._announce_outage(max(1.0, self._next_probe - now))
            self._probing = True
            return True

    def _reopen_or_wait(self) -> None:
        if not self._conclude(self._run_probe(), say("portal.no_probe")):
            with self._lock:
                raise self._announce_outage(self._next_probe - self._clock.monotonic())

    def _run_probe(self) -> bool:
        try:
            return self.probe()
        except BaseException:
            with self._lock:
                self._probing = False
            raise

    def _conclude(self, alive: bool, why: str) -> bool:
        with self._lock:
            self._probing = False
            was_open = self._open
            if alive:
                self._close()
            else:
                now = self._clock.monotonic()
                self._interval_s = min(_SLOWEST_PROBE_S, self._interval_s * 2) if was_open else _FIRST_PROBE_S
                self._open = True
                self._next_probe = now + self._interval_s
                since_s = now - (self._down_since or now)
                down = PortalDown(self._portal, since_s, why, self._interval_s, self._outage_s - since_s)
        if alive:
            self._announce_recovery(was_open)
        else:
            tell(self._observers, down)
        return alive

    def _announce_recovery(self, was_open: bool) -> None:
        if was_open:
            tell(self._observers, PortalBack(self._portal))

    def _announce_outage(self, wait_s: float) -> Limited:
        since_s = self._clock.monotonic() - (self._down_since or 0.0)
        if since_s >= self._outage_s:
            raise Halted(
                say("portal.outage", portal=self._portal, minutes=since_s / 60),
                code="PORTAL_DOWN",
                hint=say("portal.outage_fix"),
            )
        return Limited(say("portal.silent", portal=self._portal), wait_s=wait_s, code="PORTAL_DOWN")

    def _close(self) -> bool:
        """Whether it was open."""
        was_open, self._open = self._open, False
        self._row = 0
        self._down_since = None
        return was_open

    def _note_stubborn(self, subject: str) -> None:
        self._stubborn[subject] = self._stubborn.get(subject, 0) + 1
        if len(self._stubborn) > _REMEMBERED:
            self._stubborn.pop(next(iter(self._stubborn)))
