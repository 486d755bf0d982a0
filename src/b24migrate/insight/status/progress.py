"""How much of the work is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from b24migrate.engine import plan
from b24migrate.engine.state import DONE, ENDED, PENDING
from b24migrate.insight.status.facts import Facts, Seconds
from b24migrate.insight.status.history import Moment
from b24migrate.insight.status.model import Progress, StreamStatus
from b24migrate.insight.status.pace import FORECAST, PACE, UNKNOWN, TimeLeft, time_left
from b24migrate.model.records import Status
from b24migrate.model.streams import LATE, Entity, Stream

SOURCE = "source"
SECONDS, RECORDS = "forecast", "records"  # what units are: forecast seconds, or steps of records
LATE_PART = 0.1  # of a set
FIELDS_PART = 0.02
SAMPLE_PART = 0.05
SHORTEST_S = 1.0  # the least weight of a phase
BARELY = 0.99  # the most that a running phase counts
NEARLY = 0.999  # the most that a run counts before its end


# ---------------------------------------------------------------- records


@dataclass(frozen=True, slots=True)
class Step:
    """`done` of `total` records have been through a phase; None: the total is unknown."""

    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class StreamCount:
    """A stream of the plan; `basis` says where the number of its records comes from."""

    stream: str
    records: int | None
    basis: str
    steps: Mapping[str, Step]  # by phase: get, set, verify
    imported: int = 0


def count_records(facts: Facts) -> dict[str, list[StreamCount]]:
    """By entity of the plan."""
    return {
        entity.name: [_count_stream(facts, entity, stream) for stream in entity.streams] for entity in facts.planned
    }


def add_totals(values: Iterable[int | None]) -> int | None:
    """None if one of them is unknown."""
    found = list(values)
    return None if None in found else sum(one or 0 for one in found)


def weakest_basis(streams: Sequence[StreamCount]) -> str:
    found = {one.basis for one in streams}
    return next((one for one in (UNKNOWN, FORECAST) if one in found), SOURCE)


def _count_stream(facts: Facts, entity: Entity, stream: Stream) -> StreamCount:
    state, status = facts.state(entity), facts.streams[stream.name]
    met = facts.count_read(stream, state.pass_no) + status.excluded
    records, known_by = _records(facts, stream, state.phase("get").state, met, status)
    to_send = status.staged if "get" not in facts.phases or state.phase("get").state == DONE else records
    steps = {
        "get": Step(met, records),
        "set": Step(status.imported + status.failed, None if to_send is None else max(status.staged, to_send)),
        "verify": Step(status.verified + status.findings, _to_verify(facts, status)),
    }
    limited_steps = {name: _limit_step(facts, entity, name, one) for name, one in steps.items()}
    imported = 0 if state.phase("set").state == PENDING else status.imported
    return StreamCount(stream.name, records, known_by, limited_steps, imported)


def _limit_step(facts: Facts, entity: Entity, phase: str, step: Step) -> Step:
    """A finished phase counts whole and a pending one not at all: its numbers may be of the run before."""
    how = facts.state(entity).phase(phase).state
    if how == PENDING:
        return Step(0, step.total)
    if how in ENDED:
        return Step(step.done if step.total is None else step.total, step.total)
    return Step(step.done if step.total is None else min(step.done, step.total), step.total)


def _records(facts: Facts, stream: Stream, got: str, met: int, status: StreamStatus) -> tuple[int | None, str]:
    is_test = facts.run is not None and facts.run.plan.test_limit
    if "get" not in facts.phases or got == DONE:
        return max(met, status.read) if is_test else status.read, SOURCE
    if is_test:
        return None, UNKNOWN
    if stream.name in facts.reported:
        return max(met, facts.reported[stream.name]), SOURCE
    if stream.name in facts.inventories:
        return max(met, status.source or 0, status.read), SOURCE
    if facts.any_forecast is not None and stream.name in facts.any_forecast.records:
        return max(met, facts.any_forecast.records[stream.name]), FORECAST
    return None, UNKNOWN


def verifies_all(facts: Facts) -> bool:
    """Whether all records are compared: so configured, or more are verified than a sample has."""
    return facts.verify_all or any(one.verified > facts.verify_sample for one in facts.streams.values())


def _to_verify(facts: Facts, status: StreamStatus) -> int:
    return status.imported if verifies_all(facts) else min(facts.verify_sample, status.imported)


# ---------------------------------------------------------------- progress


@dataclass(frozen=True, slots=True)
class Completion:
    """`units` of `total` are done; None: the total is unknown."""

    share: float
    units: float
    total: float | None
    basis: str
    streams: Sequence[StreamCount]


def measure_completion(facts: Facts) -> Completion:
    counted = count_records(facts)
    weighed = [
        (weight, _share(facts, entity, phase, counted[entity.name]))
        for entity in facts.planned
        for phase, weight in _weights(facts, entity).items()
    ]
    total, done = sum(weight for weight, _ in weighed), sum(weight * share for weight, share in weighed)
    if facts.run is None or facts.run.state == plan.BEGINNING:
        done = 0.0  # the phases still show the run before
    share = done / total if total else 0.0
    streams = [one for several in counted.values() for one in several]
    if facts.forecast is not None and facts.forecast.entities:
        return Completion(share, done, total, SECONDS, streams)
    steps = [step for one in streams for phase, step in one.steps.items() if phase in facts.phases]
    whole = add_totals(step.total for step in steps)
    return Completion(share, sum(step.done for step in steps) if share else 0.0, whole, RECORDS, streams)


def measure_progress(facts: Facts, completion: Completion, recent: Sequence[Moment]) -> Progress:
    run, streams = facts.run, completion.streams
    mine = [one for one in recent if run is not None and one.run == run.id]
    steps = {phase: [one.steps[phase] for one in streams] for phase in ("get", "set")}
    wanted = [step for phase, several in steps.items() if phase in facts.phases for step in several]
    over = run is not None and run.state == plan.ENDED
    left = TimeLeft(0.0, PACE) if over else time_left(facts, completion.units, completion.total, completion.basis, mine)
    # The share never falls when more work turns up.
    share = 1.0 if over else min(NEARLY, max([completion.share, *(one.share for one in mine)]))
    return Progress(
        share=share,
        done=sum(step.done for step in wanted),
        total=add_totals(step.total for step in wanted),
        total_basis=weakest_basis(streams),
        left_s=left.seconds,
        left_basis=left.basis,
        window_s=left.window_s,
        records=add_totals(one.records for one in streams),
        read=sum(step.done for step in steps["get"]),
        imported=sum(one.imported for one in streams),
    )


# ---------------------------------------------------------------- weights


def _weights(facts: Facts, entity: Entity) -> dict[str, float]:
    """In seconds of the forecast. Without one all entities weigh the same: the size of later ones is unknown."""
    known = facts.forecast.entities if facts.forecast else {}
    one = known.get(entity.name) or _average(list(known.values()))
    get_s, set_s = one.get_s + one.fetch_s, one.upload_s + one.set_s
    verify_s = set_s if verifies_all(facts) else set_s * SAMPLE_PART
    weights = {"get": get_s, "set": set_s, LATE: set_s * LATE_PART, "verify": verify_s}
    fields_s = FIELDS_PART * (get_s + set_s)
    return {phase: max(SHORTEST_S, weights.get(phase, fields_s)) for phase in facts.phases}


def _average(known: Sequence[Seconds]) -> Seconds:
    if not known:
        return Seconds("", get_s=100.0, set_s=100.0)
    get_s, fetch_s, upload_s, set_s = (
        sum(getattr(one, name) for one in known) / len(known) for name in ("get_s", "fetch_s", "upload_s", "set_s")
    )
    return Seconds("", get_s, fetch_s, upload_s, set_s)


def _share(facts: Facts, entity: Entity, phase: str, streams: Sequence[StreamCount]) -> float:
    state = facts.state(entity).phase(phase).state
    if state in ENDED:
        return 1.0
    if state == PENDING:
        return 0.0
    if phase not in ("get", "set", "verify"):
        return 0.5
    return min(BARELY, _with_files(facts, entity, phase, _share_of_records([one.steps[phase] for one in streams])))


def _with_files(facts: Facts, entity: Entity, phase: str, records: float) -> float:
    """Files are downloaded in get and uploaded in set. Their owners are not counted, so the share of all files counts
    for each entity."""
    one = facts.forecast.entities.get(entity.name) if facts.forecast else None
    if one is None or phase == "verify":
        return records
    known, failed = sum(facts.files.values()), facts.files.get(Status.IMPORT_ERR, 0)
    there = facts.fetched if phase == "get" else facts.files.get(Status.IMPORT_OK, 0)
    files_s, records_s = (one.fetch_s, one.get_s) if phase == "get" else (one.upload_s, one.set_s)
    whole_s, files = files_s + records_s, min(1.0, (there + failed) / known) if known else 0.0
    return (records * records_s + files * files_s) / whole_s if whole_s else records


def _share_of_records(steps: Sequence[Step]) -> float:
    total = add_totals(step.total for step in steps)
    if total is not None:
        return min(1.0, sum(step.done for step in steps) / total) if total else 1.0
    # While one total is unknown all streams weigh the same, and a stream of unknown size is half done once it started.
    parts = [step.done / (step.total or 1) if step.total is not None else 0.5 * bool(step.done) for step in steps]
    return sum(parts) / len(parts)
