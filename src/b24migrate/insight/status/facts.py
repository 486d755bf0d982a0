"""Reads the facts of a status from the store. Everything that is shown is worked out from them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeVar

import msgspec

from b24migrate.engine import plan
from b24migrate.engine.conductor import add_late
from b24migrate.engine.phases.conflicts import count_conflicts, count_open
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.files import FETCHED
from b24migrate.engine.phases.inventory import Inventory, count_set_aside, pass_counter
from b24migrate.engine.plan import Run
from b24migrate.engine.redirects import find_redirects
from b24migrate.engine.state import RUNNING, AllStates, EntityState
from b24migrate.engine.verified import count_differences
from b24migrate.insight import cutover
from b24migrate.insight.cutover import CutoverBrief
from b24migrate.insight.losses import sentences
from b24migrate.insight.status import history
from b24migrate.insight.status.history import Moment
from b24migrate.insight.status.model import EntityStatus, Snapshot, StreamStatus
from b24migrate.model.prepared import prepared
from b24migrate.model.records import Status, deleted_counter
from b24migrate.model.streams import PHASES, Entity, Stream
from b24migrate.ports import (
    ANALYSIS,
    CHECKPOINTS,
    CONFLICTS,
    FINDINGS,
    INVENTORY,
    OUTAGES,
    QUOTA,
    SET_ASIDE,
    UNRESOLVED,
    VERIFIED,
    Register,
    RegisterRow,
    Store,
)

T = TypeVar("T")
U = TypeVar("U")

REMOTE_S = 0.2  # a store whose queue is polled less often than this is remote
AT_ONCE = 8
OFTEN = 50  # a number that grows is read again after this many times the duration of the query
SELDOM_S = 60.0  # a number that should not grow is read again after this time
WAITS = "limit_wait:"


# ---------------------------------------------------------------- the forecast, as far as a status needs it


@dataclass(frozen=True, slots=True)
class Seconds:
    """The forecast of one entity: read records, download files, upload files, import records."""

    entity: str
    get_s: float = 0.0
    fetch_s: float = 0.0
    upload_s: float = 0.0
    set_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ForecastTimes:
    entities: Mapping[str, Seconds]
    records: Mapping[str, int]  # by stream
    total_s: float


class _Value(msgspec.Struct):
    value: float


class _Records(msgspec.Struct):
    stream: str
    records: _Value


class _Forecast(msgspec.Struct):
    entities: tuple[Seconds, ...]
    total_s: float


@prepared
class _Survey(msgspec.Struct):
    forecast: _Forecast
    streams: tuple[_Records, ...]


class _ForecastReader:
    """Decodes the last analysis, which is long, only when it has changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version = -1
        self._times: ForecastTimes | None = None

    def read(self) -> ForecastTimes | None:
        row = self._store.read(ANALYSIS, "survey")
        version = row.version if row else 0
        if version != self._version:
            self._times = self._decode(row) if row else None
            self._version = version
        return self._times

    @staticmethod
    def _decode(row: RegisterRow) -> ForecastTimes:
        survey = msgspec.convert(row.values["Data"], _Survey)
        return ForecastTimes(
            {one.entity: one for one in survey.forecast.entities},
            {one.stream: round(one.records.value) for one in survey.streams},
            survey.forecast.total_s,
        )


# ---------------------------------------------------------------- numbers in registers


class RegisterCounts(NamedTuple):
    """How many rows of a stream the registers hold."""

    excluded: int
    impossible: int
    mismatch: int
    places: int  # that keep IDs of the source
    verified: int
    conflicts: int
    undecided: int

    @classmethod
    def read(cls, context: RunContext, stream: Stream, filled: Collection[Register]) -> RegisterCounts:
        """`filled`: the registers that have rows at all. Those without rows have none of the stream."""
        name = stream.name
        conflicts = count_conflicts(context, stream) if CONFLICTS in filled else 0
        return cls(
            count_set_aside(context, name, "excluded") if SET_ASIDE in filled else 0,
            count_set_aside(context, name, "impossible") if SET_ASIDE in filled else 0,
            count_differences(context, stream) if FINDINGS in filled else 0,
            context.store.count(UNRESOLVED, f"{name}:") if UNRESOLVED in filled else 0,
            int(context.store.total(VERIFIED, f"{name}:", "Equal") or 0) if VERIFIED in filled else 0,
            conflicts,
            count_open(context, stream) if conflicts else 0,
        )


COUNTED = (SET_ASIDE, FINDINGS, UNRESOLVED, VERIFIED, CONFLICTS)


class _Cached(NamedTuple):
    counts: RegisterCounts
    version: int
    read_s: float
    cost_s: float


class _CountReader:
    """Keeps the numbers of each stream for a while: on a remote store queries are what a status costs."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._remote = context.queue.glance_s > REMOTE_S
        self._cached: dict[str, _Cached] = {}

    def forget(self) -> None:
        self._cached = {}

    def map(self, read: Callable[[T], U], items: Iterable[T]) -> list[U]:
        if not self._remote:
            return list(map(read, items))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(read, items))

    def read(self, streams: Sequence[Stream], states: AllStates, *, under_way: bool) -> dict[str, RegisterCounts]:
        versions = {stream.name: states.read(self._context.owner[stream.name].name).version for stream in streams}
        due = [one for one in streams if self._is_due(one.name, versions[one.name], under_way=under_way)]
        found = zip(COUNTED, self.map(self._has_rows, COUNTED), strict=True) if due else ()
        filled = [register for register, has_rows in found if has_rows]

        def read(stream: Stream) -> None:
            began_s = time.monotonic()
            counts = RegisterCounts.read(self._context, stream, filled)
            cost_s = time.monotonic() - began_s
            self._cached[stream.name] = _Cached(counts, versions[stream.name], began_s, cost_s)

        self.map(read, due)
        return {stream.name: self._cached[stream.name].counts for stream in streams}

    def _is_due(self, stream: str, version: int, *, under_way: bool) -> bool:
        cached = self._cached.get(stream)
        if cached is None or cached.version != version:
            return True
        lasts_s = min(SELDOM_S, OFTEN * cached.cost_s) if under_way else SELDOM_S
        return time.monotonic() - cached.read_s >= lasts_s

    def _has_rows(self, register: Register) -> bool:
        return bool(self._context.store.some_rows(register, "", "", 1))


# ---------------------------------------------------------------- facts


@dataclass(frozen=True, slots=True)
class Facts:
    at: datetime
    run: Run | None
    entities: Sequence[Entity]
    states: AllStates
    counters: Mapping[str, float]
    inventories: Mapping[str, Inventory]  # the latest of each stream
    registers: Mapping[str, RegisterCounts]  # by stream
    streams: Mapping[str, StreamStatus]
    moved: Mapping[str, str]  # portals that redirect, and where to
    files: Mapping[Status, int]
    fetched: int  # files
    reported: Mapping[str, int]  # totals that the portal reports for streams that are being read
    any_forecast: ForecastTimes | None
    quotas: Sequence[RegisterRow]
    outages: Sequence[RegisterRow]
    held: int
    dead: int
    history: Sequence[Moment]  # of the last minutes
    verify_all: bool
    verify_sample: int
    cutover: CutoverBrief | None = None

    @property
    def run_id(self) -> str:
        return self.run.id if self.run else ""

    @property
    def planned(self) -> list[Entity]:
        """All entities as long as there is no plan."""
        return [one for one in self.entities if self.run is None or one.name in self.run.plan.entities]

    @property
    def phases(self) -> list[str]:
        return add_late(self.run.plan.phases if self.run else PHASES)

    @property
    def forecast(self) -> ForecastTimes | None:
        """Of the current run; there is no forecast of a test run or a delta run."""
        wanted = self.run.plan if self.run is not None else None
        return None if wanted is not None and (wanted.test_limit or wanted.delta) else self.any_forecast

    @property
    def waited_s(self) -> dict[str, float]:
        """For limits, by method, over all runs; the longest first."""
        found = [(name.removeprefix(WAITS), value) for name, value in self.counters.items() if name.startswith(WAITS)]
        return dict(sorted(found, key=lambda one: (-one[1], one[0])))

    @property
    def read(self) -> int:
        """Records, over all passes."""
        tables = {stream.table.name for entity in self.entities for stream in entity.streams}
        passes = [(name.split(":"), value) for name, value in self.counters.items() if name.startswith("seen:")]
        return sum(int(value) for (_, table, *_), value in passes if table in tables)

    def state(self, entity: Entity) -> EntityState:
        return self.states.read(entity.name)

    def count_read(self, stream: Stream, pass_no: int) -> int:
        """Records of one pass."""
        return int(self.counters.get(pass_counter(stream, pass_no), 0))

    def notes(self, entity: Entity) -> tuple[str, ...]:
        """Losses come first: a summary shows the first few."""
        places = {name: one.places for name, one in self.registers.items()}
        return (*sentences(entity, self.counters, places), *self.state(entity).notes)

    def is_verified(self, entity: Entity) -> bool:
        """Not while a record waits that was read again since: a run of another entity does not send it."""
        streams = [self.streams[stream.name] for stream in entity.streams]
        return self.state(entity).verified and not any(one.waiting or one.retrying for one in streams)

    @property
    def snapshot(self) -> Snapshot:
        return Snapshot(self.run_id, {one.name: self._status(one) for one in self.entities}, self.moved, self.cutover)

    def _status(self, entity: Entity) -> EntityStatus:
        state = self.state(entity)
        return EntityStatus(
            entity.name,
            self.is_verified(entity),
            {phase: state.phase(phase) for phase in PHASES},
            {stream.name: self.streams[stream.name] for stream in entity.streams},
            self.notes(entity),
        )


class FactReader:
    """Reads them again and again for one viewer, and keeps what seldom changes."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._counts = _CountReader(context)
        self._forecast = _ForecastReader(context.store)

    def forget_counts(self) -> None:
        self._counts.forget()

    def read(self) -> Facts:
        context, store = self._context, self._context.store
        now, run = context.clock.now(), plan.current(store)
        states = AllStates(store)
        states.look()
        streams = [stream for entity in context.entities for stream in entity.streams]
        registers = self._counts.read(streams, states, under_way=run is not None and run.state != plan.ENDED)
        counts = self._counts.map(store.counts, [stream.table for stream in streams])
        counters, inventories = store.counters(), _inventories(store)
        reported = self._reported(states, inventories)
        files = context.streams["files"]
        file_counts = store.counts(files.table)
        fetched = int(counters.get(pass_counter(files, FETCHED), 0))
        statuses: dict[str, StreamStatus] = {}
        for stream, by_status in zip(streams, counts, strict=True):
            name, pass_no = stream.name, states.read(context.owner[stream.name].name).pass_no
            met = int(counters.get(pass_counter(stream, pass_no), 0)) + registers[name].excluded
            # Before the first inventory the total is what the portal has reported so far.
            inventory = inventories.get(name) or Inventory(reported.get(name), met, limited=True)
            deleted = int(counters.get(deleted_counter(stream.table), 0))
            statuses[name] = _stream_status(name, by_status, registers[name], inventory, met=met, deleted=deleted)
        return Facts(
            at=now,
            run=run,
            entities=context.entities,
            states=states,
            counters=counters,
            inventories=inventories,
            registers=registers,
            streams=statuses,
            moved=find_redirects(store, context.options.hosts),
            files=file_counts,
            fetched=max(fetched, file_counts.get(Status.IMPORT_OK, 0)),
            reported=reported,
            any_forecast=self._forecast.read(),
            quotas=store.rows(QUOTA),
            outages=store.rows(OUTAGES),
            held=context.queue.held(now=now),
            dead=context.queue.dead_count(parts=True),
            history=history.recent(store, now) if run else [],
            verify_all=context.options.verify_all,
            verify_sample=context.options.verify_sample,
            cutover=cutover.brief(context),
        )

    def _reported(self, states: AllStates, inventories: Mapping[str, Inventory]) -> dict[str, int]:
        """Totals of streams that are being read or have no inventory yet."""
        store, found = self._context.store, {}
        for entity in self._context.entities:
            state = states.read(entity.name)
            running = state.phase("get").state == RUNNING
            for stream in entity.streams if state.pass_no else ():
                if not running and stream.name in inventories:
                    continue
                row = store.read(CHECKPOINTS, stream.name)
                if row is not None and row.values["Pass"] == state.pass_no and row.values["Reported"] is not None:
                    found[stream.name] = int(row.values["Reported"])
        return found


def _inventories(store: Store) -> dict[str, Inventory]:
    return {str(row.values["Stream"]): _inventory(row) for row in store.rows(INVENTORY) if row.values["IsLatest"]}


def _inventory(row: RegisterRow) -> Inventory:
    reported = row.values.get("ReportedTotal")
    retrieved, limited = int(row.values["RetrievedTotal"]), bool(row.values.get("Limited"))
    return Inventory(None if reported is None else int(reported), retrieved, limited)


def _stream_status(
    name: str, counts: Mapping[Status, int], registers: RegisterCounts, inventory: Inventory, *, met: int, deleted: int
) -> StreamStatus:
    """An inventory holds what the source showed; what it has no longer comes on top."""
    new, imported, failed, retrying = (
        counts.get(one, 0) for one in (Status.NEW, Status.IMPORT_OK, Status.IMPORT_ERR, Status.ERROR_RETRY)
    )
    return StreamStatus(
        name=name,
        source=inventory.reported,
        read=max(inventory.retrieved, met) + deleted,
        staged=new + imported + failed + retrying,
        imported=imported,
        failed=failed,
        retrying=retrying,
        excluded=registers.excluded + counts.get(Status.DELETED, 0),
        deleted=deleted,
        impossible=registers.impossible,
        verified=registers.verified,
        findings=registers.mismatch,
        conflicts=registers.conflicts,
        undecided=registers.undecided,
        drift=inventory.drift,
    )
