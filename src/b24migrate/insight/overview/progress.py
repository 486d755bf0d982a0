"""How much of the work is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from b24migrate.engine import plan
from b24migrate.engine.state import ENDED, PENDING
from b24migrate.insight.overview import count, pace
from b24migrate.insight.overview.count import Counted, Step
from b24migrate.insight.overview.facts import Facts
from b24migrate.insight.overview.forecast import Seconds
from b24migrate.insight.overview.history import Moment
from b24migrate.insight.overview.model import Progress
from b24migrate.model.records import Status
from b24migrate.model.streams import LATE, Entity

FORETOLD, RECORDS = "forecast", "records"  # what units are: seconds, or steps of records
LATE_PART = 0.1  # of a set
FIELDS_PART = 0.02
SAMPLE_PART = 0.05
SHORTEST_S = 1.0  # a phase counts for something, however quick
BARELY = 0.99  # nothing that runs is done
NEARLY = 0.999  # no run is done that has not ended


@dataclass(frozen=True, slots=True)
class Standing:
    """`units` of `of` are done; None: nobody knows of how many."""

    share: float
    units: float
    of: float | None
    basis: str
    streams: Sequence[Counted]


def standing(facts: Facts) -> Standing:
    counted = count.counted(facts)
    weighed = [
        (weight, _share(facts, entity, phase, counted[entity.name]))
        for entity in facts.planned
        for phase, weight in _weights(facts, entity).items()
    ]
    of, done = sum(weight for weight, _ in weighed), sum(weight * share for weight, share in weighed)
    if facts.run is None or facts.run.state == plan.BEGINNING:
        done = 0.0  # what the phases say is of the run before
    share = done / of if of else 0.0
    streams = [one for several in counted.values() for one in several]
    if facts.forecast is not None and facts.forecast.entities:
        return Standing(share, done, of, FORETOLD, streams)
    steps = [step for one in streams for phase, step in one.steps.items() if phase in facts.phases]
    whole = count.total(step.of for step in steps)
    return Standing(share, sum(step.done for step in steps) if share else 0.0, whole, RECORDS, streams)


def progress(facts: Facts, stands: Standing, recent: Sequence[Moment]) -> Progress:
    run, streams = facts.run, stands.streams
    mine = [one for one in recent if run is not None and one.run == run.id]
    steps = {phase: [one.steps[phase] for one in streams] for phase in ("get", "set")}
    wanted = [step for phase, several in steps.items() if phase in facts.phases for step in several]
    over = run is not None and run.state == plan.ENDED
    left = pace.Left(0.0, pace.PACE) if over else pace.left(facts, stands.units, stands.of, stands.basis, mine)
    # What was said is not taken back when there turns out to be more to do.
    share = 1.0 if over else min(NEARLY, max([stands.share, *(one.share for one in mine)]))
    return Progress(
        share=share,
        done=sum(step.done for step in wanted),
        total=count.total(step.of for step in wanted),
        total_basis=count.basis(streams),
        left_s=left.seconds,
        left_basis=left.basis,
        window_s=left.window_s,
        records=count.total(one.records for one in streams),
        read=sum(step.done for step in steps["get"]),
        imported=sum(one.imported for one in streams),
    )


# ---------------------------------------------------------------- what counts how much


def _weights(facts: Facts, entity: Entity) -> dict[str, float]:
    """In seconds where they were foretold. Otherwise every entity is as much as another: of those that come later
    nobody knows yet how many records they have."""
    told = facts.forecast.entities if facts.forecast else {}
    one = told.get(entity.name) or _average(list(told.values()))
    get_s, set_s = one.get_s + one.fetch_s, one.upload_s + one.set_s
    verify_s = set_s if count.whole_verify(facts) else set_s * SAMPLE_PART
    weights = {"get": get_s, "set": set_s, LATE: set_s * LATE_PART, "verify": verify_s}
    fields_s = FIELDS_PART * (get_s + set_s)
    return {phase: max(SHORTEST_S, weights.get(phase, fields_s)) for phase in facts.phases}


def _average(told: Sequence[Seconds]) -> Seconds:
    if not told:
        return Seconds("", get_s=100.0, set_s=100.0)
    get_s, fetch_s, upload_s, set_s = (
        sum(getattr(one, name) for one in told) / len(told) for name in ("get_s", "fetch_s", "upload_s", "set_s")
    )
    return Seconds("", get_s, fetch_s, upload_s, set_s)


def _share(facts: Facts, entity: Entity, phase: str, streams: Sequence[Counted]) -> float:
    state = facts.state(entity).phase(phase).state
    if state in ENDED:
        return 1.0
    if state == PENDING:
        return 0.0
    if phase not in ("get", "set", "verify"):
        return 0.5
    return min(BARELY, _with_files(facts, entity, phase, _records([one.steps[phase] for one in streams])))


def _with_files(facts: Facts, entity: Entity, phase: str, records: float) -> float:
    """Files are fetched in get and uploaded in set. Whose each is nobody knows without reading them all: so it is how
    far those are that are known."""
    one = facts.forecast.entities.get(entity.name) if facts.forecast else None
    if one is None or phase == "verify":
        return records
    known, failed = sum(facts.files.values()), facts.files.get(Status.IMPORT_ERR, 0)
    there = facts.fetched if phase == "get" else facts.files.get(Status.IMPORT_OK, 0)
    files_s, records_s = (one.fetch_s, one.get_s) if phase == "get" else (one.upload_s, one.set_s)
    whole_s, files = files_s + records_s, min(1.0, (there + failed) / known) if known else 0.0
    return (records * records_s + files * files_s) / whole_s if whole_s else records


def _records(steps: Sequence[Step]) -> float:
    of = count.total(step.of for step in steps)
    if of is not None:
        return min(1.0, sum(step.done for step in steps) / of) if of else 1.0
    # While nobody knows of one stream how much it has, each is as much as another; and it is half done once begun.
    parts = [step.done / (step.of or 1) if step.of is not None else 0.5 * bool(step.done) for step in steps]
    return sum(parts) / len(parts)
