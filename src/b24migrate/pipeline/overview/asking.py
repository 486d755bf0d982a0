"""The questions of a look that are not free: asked side by side where the store is far away, and not again while their
answers cannot have changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from b24migrate.phases.work import Work
from b24migrate.pipeline.state import AllStates
from b24migrate.pipeline.status import Beside
from b24migrate.ports import VERIFIED
from b24migrate.streams import Stream

T = TypeVar("T")
U = TypeVar("U")

FAR_S = 0.2  # between two glances at the queue
AT_ONCE = 8
OFTEN = 50  # a number that grows is asked for again after so many times what the question costs
SELDOM_S = 60.0  # and one that should not grow


class Numbers(NamedTuple):
    """What registers hold of a stream."""

    beside: Beside
    verified: int


class _Kept(NamedTuple):
    numbers: Numbers
    version: int
    asked_s: float
    cost_s: float


class Asking:
    def __init__(self, work: Work) -> None:
        self._work = work
        self._far = work.queue.glance_s > FAR_S
        self._kept: dict[str, _Kept] = {}

    def each(self, ask: Callable[[T], U], of: Iterable[T]) -> list[U]:
        if not self._far:
            return list(map(ask, of))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(ask, of))

    def numbers(self, states: AllStates, *, under_way: bool) -> dict[str, Numbers]:
        """By stream."""
        streams = [stream for entity in self._work.entities for stream in entity.streams]
        versions = {stream.name: states.read(self._work.owner[stream.name].name).version for stream in streams}

        def of(stream: Stream) -> Numbers:
            return self._of(stream, versions[stream.name], under_way=under_way)

        return {stream.name: found for stream, found in zip(streams, self.each(of, streams), strict=True)}

    def _of(self, stream: Stream, version: int, *, under_way: bool) -> Numbers:
        now_s = time.monotonic()
        kept = self._kept.get(stream.name)
        if kept is not None and kept.version == version:
            lasts_s = min(SELDOM_S, OFTEN * kept.cost_s) if under_way else SELDOM_S
            if now_s - kept.asked_s < lasts_s:
                return kept.numbers
        verified = self._work.store.total(VERIFIED, f"{stream.name}:", "Equal")
        numbers = Numbers(Beside.of(self._work, stream), int(verified or 0))
        self._kept[stream.name] = _Kept(numbers, version, now_s, time.monotonic() - now_s)
        return numbers
