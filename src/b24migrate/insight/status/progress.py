"""Progress: how much of the work is done, how fast it goes, and the time left."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from b24migrate.engine import plan
from b24migrate.engine.state import DONE, ENDED, PENDING
from b24migrate.insight.status.facts import Facts, Seconds
from b24migrate.insight.status.history import WINDOW_S, Moment
from b24migrate.insight.status.model import Progress, Speed, StreamStatus
from b24migrate.model.records import Status
from b24migrate.model.streams import LATE, Entity, Stream

SOURCE = "source"
SECONDS, RECORDS = "forecast", "records"  # units: forecast seconds, or steps of records
LATE_PART = 0.1  # of a set
FIELDS_PART = 0.02
SAMPLE_PART = 0.05
SHORTEST_S = 1.0  # the least weight of a phase
BARELY = 0.99  # the most that a running phase counts
NEARLY = 0.999  # the most that a run counts before its end


# ---------------------------------------------------------------- records
PACE, FORECAST, UNKNOWN = "pace", "forecast", "unknown"
ENOUGH_S, ENOUGH_PART = 60.0, 0.01  # a pace needs this time and this part of the whole; or
LITTLE_S, MUCH_PART = 5.0, 0.05  # less time and a larger part
GAP_STEPS, GAP_S = 3.0, 30.0
LONGEST_S = 366 * 86400.0  # a longer time is not useful
SPEED_S, TOO_SHORT_S = 60.0, 2.0
NO_SPEED = Speed(0.0, 0.0, 0.0, 0.0)
BAR_WINDOW_S, BAR_SHORTEST_S = 20.0, 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """`done` of `total` records have been through a phase; None: the total is unknown."""

    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class StreamCount:
    """A stream of the plan; `basis` is the origin of its number of records."""

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
    """A finished phase counts whole and a pending one not at all: its numbers may be of the run before. How much a
    delta run has to do is not known before it is done."""
    how = facts.state(entity).phase(phase).state
    if how == PENDING:
        return Step(0, step.total)
    if how in ENDED:
        return Step(step.done if step.total is None else step.total, step.total)
    if facts.run is not None and facts.run.plan.delta:
        return Step(step.done, None)
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


# ---------------------------------------------------------------- speed and time left


def gap_s(step_s: float) -> float:
    """A longer gap in the history means that no worker ran."""
    return GAP_STEPS * step_s + GAP_S


class TimeLeft(NamedTuple):
    seconds: float | None
    basis: str
    window_s: float = 0.0


def time_left(facts: Facts, units: float, total: float | None, basis: str, recent: Sequence[Moment]) -> TimeLeft:
    """`units` of `total` are done; `recent` is of this run."""
    if total is None or total <= 0:
        return TimeLeft(None, UNKNOWN)
    rest = max(0.0, total - units)
    now = facts.at if facts.run is None or facts.run.under_way or not recent else recent[-1].at
    spent_s, grown = working_time([one for one in recent if one.basis == basis], now, units)
    enough = (spent_s >= ENOUGH_S and grown >= ENOUGH_PART * total) or (
        spent_s >= LITTLE_S and grown >= MUCH_PART * total
    )
    if rest and grown > 0 and (enough or spent_s >= WINDOW_S / 2) and rest / grown * spent_s <= LONGEST_S:
        return TimeLeft(rest / grown * spent_s, PACE, spent_s)
    if facts.forecast is not None and rest:
        return TimeLeft(facts.forecast.total_s * rest / total, FORECAST)
    return TimeLeft(None, UNKNOWN)


def working_time(recent: Sequence[Moment], now: datetime, units: float) -> tuple[float, float]:
    """The seconds of the last window in which workers ran, and by how much the units grew in them."""
    spent_s = grown = 0.0
    ends = [(one.at, one.units, one.step_s) for one in recent] + [(now, units, 0.0)]
    for (began, before, step_s), (ended, after, _) in pairwise(ends):
        took_s = (ended - began).total_seconds()
        within = (now - began).total_seconds() <= WINDOW_S + step_s
        if within and 0 < took_s <= gap_s(step_s):
            spent_s += took_s
            grown += max(0.0, after - before)
    return spent_s, grown


def measure_speed(recent: Sequence[Moment], now: Moment) -> Speed:
    """Of the last minute; a little more if the moments are further apart."""
    aged = [((now.at - one.at).total_seconds(), one) for one in recent]
    first = next((place for place in reversed(range(len(aged))) if aged[place][0] >= SPEED_S), 0)
    if not aged or not TOO_SHORT_S <= aged[first][0] <= SPEED_S + 2 * gap_s(aged[first][1].step_s):
        return NO_SPEED
    window_s = aged[first][0]
    points = [one.point for one in (*recent[first:], now)]

    def rate(numbers: Sequence[int]) -> float:
        return sum(max(0, after - before) for before, after in pairwise(numbers)) / window_s

    return Speed(
        rate([one.read for one in points]),
        rate([one.imported for one in points]),
        rate([one.verified for one in points]),
        window_s,
    )


class RateMeter:
    """The rate of one count that is read again and again, over the last seconds."""

    def __init__(self) -> None:
        self._read: deque[tuple[float, int]] = deque()

    def add(self, count: int, now_s: float) -> float | None:
        """Per second; None while there is too little data."""
        self._read.append((now_s, count))
        while now_s - self._read[0][0] > BAR_WINDOW_S:
            self._read.popleft()
        began_s, before = self._read[0]
        return (count - before) / (now_s - began_s) if now_s - began_s >= BAR_SHORTEST_S and count > before else None
