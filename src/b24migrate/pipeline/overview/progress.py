"""How much of the work is done, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from b24migrate.phases.work import Work
from b24migrate.pipeline import plan
from b24migrate.pipeline.conductor import with_late
from b24migrate.pipeline.overview.facts import Facts
from b24migrate.pipeline.overview.history import WINDOW_S, Moment
from b24migrate.pipeline.overview.model import Progress, Speed
from b24migrate.pipeline.state import DONE, ENDED, PENDING
from b24migrate.pipeline.status import StreamStatus
from b24migrate.pipeline.survey import Survey
from b24migrate.ports import CHECKPOINTS
from b24migrate.records import Status
from b24migrate.streams import LATE, PHASES, Entity, Stream

SOURCE, FORECAST, UNKNOWN, PACE = "source", "forecast", "unknown", "pace"
RECORDS = "records"
LATE_PART = 0.1  # of a set, where nothing is known
FIELDS_PART = 0.02
SAMPLE_PART = 0.05
SHORTEST_S = 1.0  # a phase counts for something, however quick
BARELY = 0.99  # nothing that runs is done
NEARLY = 0.999  # no run is done that has not ended
LONGEST_S = 366 * 86400.0
ENOUGH_S = 20.0  # of history, for a pace
SPEED_S = 60.0
GAP_STEPS = 3.0  # a longer gap in the history: nobody was at work


@dataclass(frozen=True, slots=True)
class Counted:
    """A stream of the plan: how many records there are, how many steps of them are done."""

    stream: str
    total: int | None
    basis: str
    read: int
    settled: int
    expected: int | None  # to be imported
    verified: int
    to_verify: int


@dataclass(frozen=True, slots=True)
class Standing:
    """The whole, before it is told: `units` of `of` are done."""

    share: float
    units: float
    of: float | None
    basis: str
    counted: Sequence[Counted]


# ---------------------------------------------------------------- how far


def standing(work: Work, facts: Facts) -> Standing:
    limited = facts.run is not None and bool(facts.run.plan.test_limit)
    foretold = None if limited else facts.survey
    counted = {
        entity.name: [_count(work, facts, entity, one, foretold) for one in entity.streams] for entity in facts.planned
    }
    every = [one for several in counted.values() for one in several]
    weighed = [
        (weight, _share(facts, entity, phase, counted[entity.name], foretold))
        for entity in facts.planned
        for phase, weight in _weights(facts, entity, foretold).items()
    ]
    of, done = sum(weight for weight, _ in weighed), sum(weight * share for weight, share in weighed)
    share = done / of if of else 0.0
    if foretold is not None and foretold.forecast.entities:
        return Standing(share, done, of, FORECAST, every)
    steps, total = _steps(facts, counted)
    return Standing(share, float(steps), total, RECORDS, every)


def _phases(facts: Facts) -> list[str]:
    return with_late(facts.run.plan.phases if facts.run else PHASES)


def _weights(facts: Facts, entity: Entity, foretold: Survey | None) -> dict[str, float]:
    """In seconds where they were foretold. Otherwise every entity is as much as another: of those that come later
    nobody knows yet how many records they have."""
    known = {one.entity: one for one in foretold.forecast.entities} if foretold else {}
    one = known.get(entity.name)
    if one is not None:
        get_s, set_s = one.get_s + one.fetch_s, one.upload_s + one.set_s
    elif known:
        get_s = sum(other.get_s + other.fetch_s for other in known.values()) / len(known)
        set_s = sum(other.upload_s + other.set_s for other in known.values()) / len(known)
    else:
        get_s = set_s = 100.0
    verify_s = set_s if _is_whole(facts) else set_s * SAMPLE_PART
    fields_s = FIELDS_PART * (get_s + set_s)
    weights = {"get": get_s, "set": set_s, LATE: set_s * LATE_PART, "verify": verify_s}
    return {phase: max(SHORTEST_S, weights.get(phase, fields_s)) for phase in _phases(facts)}


def _is_whole(facts: Facts) -> bool:
    """Whether verify compares everything. It says so itself once it is past what a sample would be."""
    return facts.verify_all or any(count > facts.verify_sample for count in facts.verified.values())


def _share(facts: Facts, entity: Entity, phase: str, counted: Sequence[Counted], foretold: Survey | None) -> float:
    state = facts.state(entity).phase(phase).state
    if state in ENDED:
        return 1.0
    if state == PENDING:
        return 0.0
    known, moved = (
        sum(facts.files.values()),
        facts.files.get(Status.IMPORT_OK, 0) + facts.files.get(Status.IMPORT_ERR, 0),
    )
    one = next((one for one in foretold.forecast.entities if one.entity == entity.name), None) if foretold else None
    if phase == "get":
        read = _part(sum(one.read for one in counted), _sum(one.total for one in counted))
        return min(
            BARELY,
            _both(read, one.get_s if one else 1.0, _part(facts.fetched or 0, known), one.fetch_s if one else 0.0),
        )
    if phase == "set":
        sent = _part(sum(one.settled for one in counted), _sum(one.expected for one in counted))
        return min(BARELY, _both(sent, one.set_s if one else 1.0, _part(moved, known), one.upload_s if one else 0.0))
    if phase == "verify":
        return min(BARELY, _part(sum(one.verified for one in counted), sum(one.to_verify for one in counted)))
    return 0.5


def _both(share: float, weight: float, other: float, other_weight: float) -> float:
    whole = weight + other_weight
    return (share * weight + other * other_weight) / whole if whole else share


def _part(done: float, total: float | None) -> float:
    """Of something that has begun; half, while nobody knows of how much."""
    if total is None:
        return 0.5 if done else 0.0
    return min(1.0, done / total) if total > 0 else 0.0


def _sum(values: Iterator[int | None]) -> int | None:
    found = list(values)
    return None if any(one is None for one in found) else sum(one or 0 for one in found)


# ---------------------------------------------------------------- records


def _count(work: Work, facts: Facts, entity: Entity, stream: Stream, foretold: Survey | None) -> Counted:
    state, status = facts.state(entity), facts.statuses[entity.name].streams[stream.name]
    staged = status.new + status.import_ok + status.import_err + status.error_retry
    settled = status.import_ok + status.import_err
    got, met = state.phase("get").state, facts.seen.met(stream, state.pass_no) + status.excluded
    total, basis = _total(work, facts, stream, state.pass_no, met, status, foretold, got=got)
    read = met if got not in (PENDING, *ENDED) else (total or met) if got in ENDED else 0
    expected = staged if got == DONE else total if total is None else max(staged, total - status.excluded)
    verified = facts.verified[stream.name] + status.mismatch
    to_verify = status.import_ok if _is_whole(facts) else min(facts.verify_sample, status.import_ok)
    return Counted(
        stream.name, total, basis, read, settled, expected, verified, max(1, to_verify) if status.import_ok else 0
    )


def _total(
    work: Work,
    facts: Facts,
    stream: Stream,
    pass_no: int,
    met: int,
    status: StreamStatus,
    foretold: Survey | None,
    *,
    got: str,
) -> tuple[int | None, str]:
    if got == DONE:
        return max(met, 0), SOURCE
    if got != PENDING:
        row = work.store.read(CHECKPOINTS, stream.name)
        if row is not None and row.values["Pass"] == pass_no and row.values["Reported"] is not None:
            return max(met, int(row.values["Reported"])), SOURCE
    if stream.name in facts.seen.inventories:
        return max(met, status.reported or 0, status.retrieved), SOURCE
    told = (
        next((one.records.value for one in foretold.streams if one.stream == stream.name), None) if foretold else None
    )
    if told is not None:
        return max(met, round(told)), FORECAST
    return None, UNKNOWN


def _steps(facts: Facts, counted: Mapping[str, Sequence[Counted]]) -> tuple[int, int | None]:
    """A record that is read counts 1, one that is imported counts 1, one that is compared as well."""
    phases = _phases(facts)
    done, total = 0, 0
    known = True
    for entity in facts.planned:
        state = facts.state(entity)
        for one in counted[entity.name]:
            parts = {
                "get": (one.read, one.total),
                "set": (one.settled, one.expected),
                "verify": (one.verified, one.to_verify),
            }
            for phase, (so_far, of) in parts.items():
                if phase not in phases:
                    continue
                how = state.phase(phase).state
                if how in ENDED:
                    so_far = of if of is not None else so_far
                elif how == PENDING:
                    so_far = 0
                known = known and of is not None
                done += min(so_far, of) if of is not None else so_far
                total += of or 0
    return done, total if known else None


# ---------------------------------------------------------------- told


def progress(facts: Facts, stands: Standing, recent: Sequence[Moment]) -> Progress:
    every = stands.counted
    basis = (
        UNKNOWN
        if any(one.total is None for one in every)
        else FORECAST
        if any(one.basis == FORECAST for one in every)
        else SOURCE
    )
    records = _sum(one.total for one in every)
    read, imported = sum(one.read for one in every), sum(one.settled for one in every)
    over = facts.run is not None and facts.run.state == plan.ENDED
    phases = _phases(facts)
    times = ("get" in phases) + ("set" in phases)
    total = None if records is None else records * max(1, times)
    done = read * ("get" in phases) + imported * ("set" in phases)
    done = min(done, total) if total is not None else done
    left_s, left_basis, window_s = (0.0, PACE, 0.0) if over else _left(facts, stands, recent)
    share = 1.0 if over else min(NEARLY, max([stands.share, *(one.share for one in recent if _same_run(one, facts))]))
    return Progress(share, done, total, basis, left_s, left_basis, window_s, records, read, imported)


def _same_run(one: Moment, facts: Facts) -> bool:
    return facts.run is not None and one.run == facts.run.id


def _left(facts: Facts, stands: Standing, recent: Sequence[Moment]) -> tuple[float | None, str, float]:
    foretold = facts.survey.forecast.total_s if facts.survey and not (facts.run and facts.run.plan.test_limit) else None
    left = None if stands.of is None else max(0.0, stands.of - stands.units)
    if left and facts.run is not None:
        mine = [one for one in recent if _same_run(one, facts) and one.basis == stands.basis]
        spent_s, grown = at_work(mine, facts.at, stands.units)
        if spent_s >= ENOUGH_S and grown > 0:
            left_s = left / (grown / spent_s)
            if left_s < LONGEST_S:
                return left_s, PACE, spent_s
    if foretold is not None and stands.of:
        return max(0.0, foretold * (1 - stands.units / stands.of)) if stands.basis == FORECAST else None, FORECAST, 0.0
    return None, UNKNOWN, 0.0


def at_work(recent: Sequence[Moment], now: datetime, units: float) -> tuple[float, float]:
    """The seconds of the last window in which somebody was at work, and by how much the units grew in them."""
    spent_s = grown = 0.0
    ends = [(one.at, one.units, one.step_s) for one in recent] + [(now, units, 0.0)]
    for (began, before, step_s), (ended, after, _) in zip(ends, ends[1:], strict=False):
        took_s = (ended - began).total_seconds()
        if (now - began).total_seconds() <= WINDOW_S + step_s and 0 < took_s <= GAP_STEPS * step_s + 20:
            spent_s += took_s
            grown += max(0.0, after - before)
    return spent_s, grown


def speed(recent: Sequence[Moment], now: Moment) -> Speed:
    """Of the last minute."""
    before = [one for one in recent if SPEED_S * 2 >= (now.at - one.at).total_seconds() > 0]
    if not before:
        return Speed(0.0, 0.0, 0.0, 0.0)
    first = next((one for one in reversed(before) if (now.at - one.at).total_seconds() >= SPEED_S), before[0])
    window_s = (now.at - first.at).total_seconds()
    way = [first.point, *(one.point for one in before if one.at > first.at), now.point]

    def rate(name: str) -> float:
        grown = sum(max(0, getattr(b, name) - getattr(a, name)) for a, b in zip(way, way[1:], strict=False))
        return float(grown / window_s)

    return Speed(rate("read"), rate("imported"), rate("verified"), window_s)
