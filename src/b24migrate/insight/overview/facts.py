"""What one look asks the store: everything else is worked out from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeVar

from b24migrate.engine import plan
from b24migrate.engine.conductor import with_late
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.files import FETCHED
from b24migrate.engine.phases.inventory import seen_counter
from b24migrate.engine.plan import Run
from b24migrate.engine.state import RUNNING, AllStates, EntityState
from b24migrate.insight.overview import history
from b24migrate.insight.overview.forecast import Foretelling, Foretold
from b24migrate.insight.overview.history import Moment
from b24migrate.insight.status import Beside, EntityStatus, Seen, entity_status, inventories
from b24migrate.model.records import Status
from b24migrate.model.streams import PHASES, Entity, Stream
from b24migrate.ports import CHECKPOINTS, OUTAGES, QUOTA, VERIFIED, RegisterRow

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
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._far = context.queue.glance_s > FAR_S
        self._kept: dict[str, _Kept] = {}

    def each(self, ask: Callable[[T], U], of: Iterable[T]) -> list[U]:
        if not self._far:
            return list(map(ask, of))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(ask, of))

    def numbers(self, states: AllStates, *, under_way: bool) -> dict[str, Numbers]:
        """By stream."""
        streams = [stream for entity in self._context.entities for stream in entity.streams]
        versions = {stream.name: states.read(self._context.owner[stream.name].name).version for stream in streams}

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
        verified = self._context.store.total(VERIFIED, f"{stream.name}:", "Equal")
        numbers = Numbers(Beside.of(self._context, stream), int(verified or 0))
        self._kept[stream.name] = _Kept(numbers, version, now_s, time.monotonic() - now_s)
        return numbers


WAITS = "limit_wait:"


@dataclass(frozen=True, slots=True)
class Facts:
    at: datetime
    run: Run | None
    seen: Seen
    entities: Sequence[Entity]
    statuses: Mapping[str, EntityStatus]
    files: Mapping[Status, int]
    fetched: int  # files
    verified: Mapping[str, int]  # by stream
    reported: Mapping[str, int]  # what the portal says it has, of streams that are being read
    foretold: Foretold | None
    quotas: Sequence[RegisterRow]
    outages: Sequence[RegisterRow]
    held: int
    dead: int
    history: Sequence[Moment]  # of the last minutes
    verify_all: bool
    verify_sample: int

    @property
    def planned(self) -> list[Entity]:
        """All of them, while there is no plan."""
        return [one for one in self.entities if self.run is None or one.name in self.run.plan.entities]

    @property
    def phases(self) -> list[str]:
        return with_late(self.run.plan.phases if self.run else PHASES)

    @property
    def forecast(self) -> Foretold | None:
        """Of what is under way; nobody has foretold how long a try-out takes."""
        return None if self.run is not None and self.run.plan.test_limit else self.foretold

    @property
    def waited_s(self) -> dict[str, float]:
        """For limits, by method, since the work began."""
        found = self.seen.counters.items()
        return {name.removeprefix(WAITS): value for name, value in found if name.startswith(WAITS)}

    @property
    def read(self) -> int:
        """Records, over all passes."""
        tables = {stream.table.name for entity in self.entities for stream in entity.streams}
        passes = [(name.split(":"), value) for name, value in self.seen.counters.items() if name.startswith("seen:")]
        return sum(int(value) for (_, table, *_), value in passes if table in tables)

    def state(self, entity: Entity) -> EntityState:
        return self.seen.states.read(entity.name)


class Gathering:
    """For one viewer, who looks again and again."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._asking = Asking(context)
        self._foretelling = Foretelling(context.store)

    def now(self) -> Facts:
        context, store = self._context, self._context.store
        now, run = context.clock.now(), plan.current(store)
        states = AllStates(store)
        states.look()
        numbers = self._asking.numbers(states, under_way=run is not None and run.state != plan.ENDED)
        streams = [stream for entity in context.entities for stream in entity.streams]
        counted = self._asking.each(store.counts, [stream.table for stream in streams])
        counts = {stream.name: found for stream, found in zip(streams, counted, strict=True)}
        beside = {name: one.beside for name, one in numbers.items()}
        seen = Seen(states, store.counters(), inventories(context), beside, counts)
        files = context.streams["files"]
        file_counts = store.counts(files.table)
        fetched = int(seen.counters.get(seen_counter(files, FETCHED), 0))
        return Facts(
            at=now,
            run=run,
            seen=seen,
            entities=context.entities,
            statuses={entity.name: entity_status(context, entity, seen) for entity in context.entities},
            files=file_counts,
            fetched=max(fetched, file_counts.get(Status.IMPORT_OK, 0)),
            verified={name: one.verified for name, one in numbers.items()},
            reported=self._reported(states),
            foretold=self._foretelling.last(),
            quotas=store.rows(QUOTA),
            outages=store.rows(OUTAGES),
            held=context.queue.held(now=now),
            dead=context.queue.dead_count(parts=True),
            history=history.recent(store, now) if run else [],
            verify_all=context.options.verify_all,
            verify_sample=context.options.verify_sample,
        )

    def _reported(self, states: AllStates) -> dict[str, int]:
        store, found = self._context.store, {}
        for entity in self._context.entities:
            state = states.read(entity.name)
            for stream in entity.streams if state.phase("get").state == RUNNING else ():
                row = store.read(CHECKPOINTS, stream.name)
                if row is not None and row.values["Pass"] == state.pass_no and row.values["Reported"] is not None:
                    found[stream.name] = int(row.values["Reported"])
        return found
