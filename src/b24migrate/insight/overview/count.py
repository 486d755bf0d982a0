"""The records of the plan: how many there are, and how many steps of them are done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from b24migrate.engine.state import DONE, ENDED, PENDING
from b24migrate.insight.overview.facts import Facts
from b24migrate.insight.status import StreamStatus
from b24migrate.model.streams import Entity, Stream

SOURCE, FORECAST, UNKNOWN = "source", "forecast", "unknown"


@dataclass(frozen=True, slots=True)
class Step:
    """`done` of `of` records have been through a phase; None: nobody knows of how many."""

    done: int
    of: int | None


@dataclass(frozen=True, slots=True)
class Counted:
    """A stream of the plan. `records`: how many it has, as `basis` says."""

    stream: str
    records: int | None
    basis: str
    steps: Mapping[str, Step]  # by phase: get, set, verify
    imported: int = 0  # of those that have been through set, the ones that did not fail


Plan = Mapping[str, Sequence[Counted]]  # by entity


def counted(facts: Facts) -> Plan:
    return {entity.name: [_counted(facts, entity, stream) for stream in entity.streams] for entity in facts.planned}


def total(values: Iterable[int | None]) -> int | None:
    """None as soon as one of them is not known."""
    found = list(values)
    return None if None in found else sum(one or 0 for one in found)


def basis(streams: Sequence[Counted]) -> str:
    """The weakest of them."""
    found = {one.basis for one in streams}
    return next((one for one in (UNKNOWN, FORECAST) if one in found), SOURCE)


def _counted(facts: Facts, entity: Entity, stream: Stream) -> Counted:
    state, status = facts.state(entity), facts.statuses[entity.name].streams[stream.name]
    met = facts.seen.met(stream, state.pass_no) + status.excluded
    records, known_by = _records(facts, stream, state.phase("get").state, met, status)
    staged = status.new + status.import_ok + status.import_err + status.error_retry
    to_send = staged if "get" not in facts.phases or state.phase("get").state == DONE else records
    steps = {
        "get": Step(met, records),
        "set": Step(status.import_ok + status.import_err, None if to_send is None else max(staged, to_send)),
        "verify": Step(facts.verified[stream.name] + status.mismatch, _to_verify(facts, status)),
    }
    as_far = {name: _as_far(facts, entity, name, one) for name, one in steps.items()}
    imported = 0 if state.phase("set").state == PENDING else status.import_ok
    return Counted(stream.name, records, known_by, as_far, imported)


def _as_far(facts: Facts, entity: Entity, phase: str, step: Step) -> Step:
    """What is done counts whole, what has not begun not at all: a number may still be of the run before."""
    how = facts.state(entity).phase(phase).state
    if how == PENDING:
        return Step(0, step.of)
    if how in ENDED:
        return Step(step.done if step.of is None else step.of, step.of)
    return Step(step.done if step.of is None else min(step.done, step.of), step.of)


def _records(facts: Facts, stream: Stream, got: str, met: int, status: StreamStatus) -> tuple[int | None, str]:
    limited = facts.run is not None and facts.run.plan.test_limit
    if "get" not in facts.phases or got == DONE:
        return max(met, status.retrieved) if limited else status.retrieved, SOURCE
    if limited:
        return None, UNKNOWN
    if stream.name in facts.reported:
        return max(met, facts.reported[stream.name]), SOURCE
    if stream.name in facts.seen.inventories:
        return max(met, status.reported or 0, status.retrieved), SOURCE
    if facts.foretold is not None and stream.name in facts.foretold.records:
        return max(met, facts.foretold.records[stream.name]), FORECAST
    return None, UNKNOWN


def whole_verify(facts: Facts) -> bool:
    """Whether everything is compared. It shows as soon as there is more than a sample would be."""
    return facts.verify_all or any(count > facts.verify_sample for count in facts.verified.values())


def _to_verify(facts: Facts, status: StreamStatus) -> int:
    return status.import_ok if whole_verify(facts) else min(facts.verify_sample, status.import_ok)
