"""Whoever writes a record is alone with it: a second hand would not find in the memory what the first has just begun,
and make the record once more. Records that several entities pull along may be in two hands of a process at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Condition


class Alone:
    def __init__(self) -> None:
        self._held: set[tuple[str, str]] = set()
        self._changed = Condition()

    @contextmanager
    def alone(self, stream: str, keys: Sequence[str]) -> Iterator[None]:
        """Waits until nobody else holds any of them. All at once, so that no two wait for one another."""
        mine = {(stream, key) for key in keys}
        with self._changed:
            self._changed.wait_for(lambda: self._held.isdisjoint(mine))
            self._held |= mine
        try:
            yield
        finally:
            with self._changed:
                self._held -= mine
                self._changed.notify_all()
