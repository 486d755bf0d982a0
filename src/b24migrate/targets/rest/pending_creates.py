"""Creates whose end nobody saw: the box may be at one still, and what it makes comes after it was looked for. A box
cannot be told to refuse it then, so whoever wants to repeat it waits until it must have ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from secrets import token_hex

from b24migrate.messages import say
from b24migrate.model.errors import Limited, Transient
from b24migrate.ports import Clock

LONGEST_S = 60.0  # that a box is at one call: then PHP, or what stands before it, cuts it off
OVER = timedelta(minutes=5)  # a create that started earlier has ended
GLANCE_S = 10.0  # so often is looked whether it has come
UNSEEN = frozenset({"TIMEOUT", "HTTP_504"})  # of these answers only the waiting for them has ended


class PendingCreates:
    """One process's. What it began itself has ended when it looks for it, but for what it gave up waiting for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._me = token_hex(4)
        self._until: dict[tuple[str, str], float] = {}  # of a key, and of who began it

    def signature(self) -> str:
        """Who begins, and when: kept with every intent."""
        return f"{self._me} {self._clock.now().isoformat()}"

    def gave_up(self, keys: Iterable[str], error: Transient) -> float:
        """How long to wait before any of them is repeated."""
        if error.code not in UNSEEN:
            return 0.0
        self._until |= dict.fromkeys(((key, self._me) for key in keys), self._clock.monotonic() + LONGEST_S)
        return LONGEST_S

    def refuse(self, begun: Mapping[str, str]) -> None:
        """Raises Limited while one of these, which were looked for in vain, may still come to be: the key of each, and
        the signature of whoever began it."""
        wait_s = max((self._left_s(key, signature) for key, signature in begun.items()), default=0.0)
        if wait_s > 0:
            raise busy_error(min(wait_s, GLANCE_S))

    def _left_s(self, key: str, signature: str) -> float:
        now = self._clock.monotonic()
        who, _, at = signature.partition(" ")
        if at and who != self._me and (key, signature) not in self._until:
            over_s = (datetime.fromisoformat(at) + OVER - self._clock.now()).total_seconds()
            self._until[key, signature] = now + min(LONGEST_S, over_s)
        return max(self._until.get((key, one), now) for one in (signature, self._me)) - now


def busy_error(wait_s: float = GLANCE_S) -> Limited:
    return Limited(say("target.busy"), wait_s=wait_s)
