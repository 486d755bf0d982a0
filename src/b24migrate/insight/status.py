"""How far everything is: the one read model that CLI, metrics and dashboard share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from b24migrate.engine import plan
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.inventory import Inventory, aside_count, seen_counter
from b24migrate.engine.redirects import moves
from b24migrate.engine.state import AllStates, PhaseState
from b24migrate.engine.verified import mismatches
from b24migrate.insight.losses import sentences
from b24migrate.model.records import Json, Status
from b24migrate.model.streams import PHASES, Entity, Stream
from b24migrate.ports import CHECKPOINTS, INVENTORY, UNRESOLVED, RegisterRow


@dataclass(frozen=True, slots=True)
class StreamStatus:
    reported: int | None
    retrieved: int
    new: int
    import_ok: int
    import_err: int
    error_retry: int
    excluded: int
    impossible: int
    mismatch: int
    drift: int = 0

    def to_json(self) -> dict[str, Json]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "drift"}


@dataclass(frozen=True, slots=True)
class EntityStatus:
    name: str
    verified: bool
    phases: dict[str, PhaseState]
    streams: dict[str, StreamStatus]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        return {
            "verified": self.verified,
            "phases": {name: phase.state for name, phase in self.phases.items()},
            "streams": {name: stream.to_json() for name, stream in self.streams.items()},
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Snapshot:
    run: str
    entities: dict[str, EntityStatus] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)  # portals that redirect, and where to

    def to_json(self) -> dict[str, Json]:
        """The shape that `status --json` promises."""
        moved = {"moved": dict(self.moved)} if self.moved else {}
        return {"run": self.run, "entities": {name: one.to_json() for name, one in self.entities.items()}, **moved}


class Beside(NamedTuple):
    """What registers hold of a stream, counted."""

    excluded: int
    impossible: int
    mismatch: int
    places: int  # that keep ids of the source

    @classmethod
    def of(cls, context: RunContext, stream: Stream) -> Beside:
        name = stream.name
        excluded, impossible = (aside_count(context, name, why) for why in ("excluded", "impossible"))
        return cls(excluded, impossible, mismatches(context, stream), context.store.count(UNRESOLVED, f"{name}:"))


class Seen(NamedTuple):
    """What is asked once for all streams: where the store is far away, questions are what a look costs."""

    states: AllStates
    counters: Mapping[str, float]
    inventories: Mapping[str, Inventory]  # the latest of each stream
    beside: Mapping[str, Beside]
    counts: Mapping[str, Mapping[Status, int]]

    @classmethod
    def now(cls, context: RunContext) -> Seen:
        states = AllStates(context.store)
        states.look()
        streams = [stream for entity in context.entities for stream in entity.streams]
        beside = {stream.name: Beside.of(context, stream) for stream in streams}
        counts = {stream.name: context.store.counts(stream.table) for stream in streams}
        return cls(states, context.store.counters(), inventories(context), beside, counts)

    def met(self, stream: Stream, pass_no: int) -> int:
        return int(self.counters.get(seen_counter(stream, pass_no), 0))


def inventories(context: RunContext) -> dict[str, Inventory]:
    return {str(row.values["Stream"]): taken(row) for row in context.store.rows(INVENTORY) if row.values["IsLatest"]}


def taken(row: RegisterRow) -> Inventory:
    reported = row.values.get("ReportedTotal")
    retrieved, limited = int(row.values["RetrievedTotal"]), bool(row.values.get("Limited"))
    return Inventory(None if reported is None else int(reported), retrieved, limited)


def snapshot(context: RunContext) -> Snapshot:
    run = plan.current(context.store)
    seen = Seen.now(context)
    statuses = {entity.name: entity_status(context, entity, seen) for entity in context.entities}
    return Snapshot(run.id if run else "", statuses, moves(context.store, context.options.hosts))


def entity_status(context: RunContext, entity: Entity, seen: Seen) -> EntityStatus:
    state = seen.states.read(entity.name)
    return EntityStatus(
        entity.name,
        state.verified,
        {phase: state.phase(phase) for phase in PHASES},
        {stream.name: stream_status(context, stream, state.pass_no, seen) for stream in entity.streams},
        # What was lost comes first: a summary shows the first few.
        (*sentences(entity, seen.counters, {name: one.places for name, one in seen.beside.items()}), *state.notes),
    )


def stream_status(context: RunContext, stream: Stream, pass_no: int, seen: Seen) -> StreamStatus:
    counts, beside = seen.counts[stream.name], seen.beside[stream.name]
    met = seen.met(stream, pass_no) + beside.excluded
    known = seen.inventories.get(stream.name) or in_progress(context, stream, pass_no, met)
    return StreamStatus(
        known.reported,
        max(known.retrieved, met),
        counts.get(Status.NEW, 0),
        counts.get(Status.IMPORT_OK, 0),
        counts.get(Status.IMPORT_ERR, 0),
        counts.get(Status.ERROR_RETRY, 0),
        beside.excluded,
        beside.impossible,
        beside.mismatch,
        known.drift,
    )


def in_progress(context: RunContext, stream: Stream, pass_no: int, met: int) -> Inventory:
    """Before the first inventory: what the portal said so far."""
    row = context.store.read(CHECKPOINTS, stream.name) if pass_no else None
    reported = int(row.values["Reported"]) if row is not None and row.values["Pass"] == pass_no else None
    return Inventory(reported, met, limited=True)


def figures(context: RunContext) -> list[tuple[str, dict[str, str], float]]:
    """The metrics of the store: name, labels, value."""
    counters = context.store.counters()
    found: list[tuple[str, dict[str, str], float]] = []
    for entity in snapshot(context).entities.values():
        for name, stream in entity.streams.items():
            label = {"entity": name}
            extracted = stream.new + stream.import_ok + stream.import_err + stream.error_retry
            found += [
                ("records_extracted_total", label, extracted),
                ("records_import_ok_total", label, stream.import_ok),
                ("records_import_err_total", label, stream.import_err),
                ("retry_attempts_total", label, counters.get(f"retries:{name}", 0)),
                ("verify_sample_mismatch_total", label, stream.mismatch),
                ("custom_fields_created_total", label, counters.get(f"custom_fields_created:{name}", 0)),
                ("attachments_download_fail_total", label, counters.get(f"download_failed:{name}", 0)),
                ("inventory_retrieved", label, stream.retrieved),
                ("inventory_drift", label, stream.drift),
            ]
            if stream.reported is not None:
                found.append(("inventory_reported", label, stream.reported))
        found += durations(entity, context.clock.now())
    waits = {
        name.removeprefix("limit_wait:"): value for name, value in counters.items() if name.startswith("limit_wait:")
    }
    found += [("limit_wait_seconds_total", {"method": method}, value) for method, value in waits.items()]
    found.append(("dlq_messages", {}, context.queue.dead_count()))
    return found


def durations(entity: EntityStatus, now: datetime) -> list[tuple[str, dict[str, str], float]]:
    found = []
    for phase, state in entity.phases.items():
        if state.started:
            end = datetime.fromisoformat(state.finished) if state.finished else now
            spent = (end - datetime.fromisoformat(state.started)).total_seconds() * 1000
            found.append(("duration_ms", {"entity": entity.name, "phase": phase}, spent))
    return found
