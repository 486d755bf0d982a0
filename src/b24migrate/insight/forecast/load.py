"""What reading all of a stream asks of the source, in jobs as get has them: from what a sample of it took."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from b24migrate.engine.phases.parent_lanes import PARENTS_AT_ONCE, lane_count
from b24migrate.insight.forecast.course import even_lanes
from b24migrate.insight.forecast.meter import Billed, Used

PAGE = 50  # records in a call
COMMANDS = 50  # calls in a request
FULL = PAGE * COMMANDS
SEGMENTS = 4  # a large listing is read in so many at a time

Calls = Mapping[Billed, float]


@dataclass(frozen=True, slots=True)
class Ask:
    """Requests that a job makes one after the other, and the calls in all of them."""

    requests: float
    calls: Calls


@dataclass(frozen=True, slots=True)
class Load:
    """Jobs in lanes; what each of them asks, and how many records it brings."""

    lanes: tuple[float, ...]
    asks: tuple[Ask, ...]
    records: float = 0.0
    uncertain: float = 0.0  # relative standard error of the number of jobs, from the sample

    @property
    def jobs(self) -> float:
        return sum(self.lanes)

    @property
    def calls(self) -> dict[Billed, float]:
        """Of all jobs."""
        found: dict[Billed, float] = {}
        for ask in self.asks:
            for key, count in ask.calls.items():
                found[key] = found.get(key, 0.0) + count * self.jobs
        return found


def in_one_job(used: Used, records: float, factor: float = 1.0) -> Load:
    """What one job asks, as it was seen."""
    return Load((1.0,), (Ask(used.requests * factor, scaled(used.calls, factor)),), records)


def listing_loads(method: str, count: float, enriching: Calls) -> list[Load]:
    """A first page, those that begin the segments, then chains of pages in each; and with every one of them what else
    is asked about its rows. `enriching`: calls for a row."""
    key = (0, method.lower())
    rows = min(count, PAGE)
    loads = [Load((1.0,), (Ask(1, {key: 2.0}), *enriched(enriching, rows)), rows)]
    left = count - rows
    if left <= 0:
        return loads
    segments = min(SEGMENTS, math.ceil(count / FULL))
    if segments > 1:
        rows = min(left, PAGE * segments)
        loads.append(Load((1.0,), (Ask(1, {key: float(segments)}), *enriched(enriching, rows)), rows))
        left -= rows
    # The last request of a segment is seldom full.
    jobs = math.ceil(left / segments / FULL) if segments > 1 else math.ceil(left / FULL)
    mine = left / segments / jobs if jobs else 0.0
    if jobs:
        asks = (Ask(1, {key: math.ceil(mine / PAGE)}), *enriched(enriching, mine))
        loads.append(Load((float(jobs),) * segments, asks, mine))
    return loads


def enriched(enriching: Calls, rows: float) -> list[Ask]:
    asked = [(key, count * rows) for key, count in enriching.items() if count * rows > 0]
    return [Ask(math.ceil(calls / COMMANDS) if calls >= 1 else calls, {key: calls}) for key, calls in asked]


def children_load(calls: Calls, *, parents: float, longest: float, records: float, uncertain: float) -> Load | None:
    """Pages of the children of so many parents, in the lanes that get packs them into. `longest`: pages of the parent
    that has most; its pages come one after the other."""
    pages = sum(calls.values())
    if pages <= 0:
        return None
    packs = max(1, math.ceil(parents / PARENTS_AT_ONCE))
    lanes = float(max(1, lane_count(parents / packs, pages / packs)) * packs)
    jobs = max(1.0, math.ceil(pages / lanes / COMMANDS)) * lanes if lanes < 3 else max(lanes, pages / COMMANDS)
    vias = len({via for via, _ in calls})
    chain = max(math.ceil(longest / COMMANDS), jobs / lanes)
    rest = max(0.0, jobs - chain)
    lengths = (float(chain), *even_lanes(rest, max(1.0, min(lanes - 1, rest / max(1.0, jobs / lanes)))))
    total = sum(lengths)
    return Load(lengths, (Ask(vias, scaled(calls, 1 / total)),), records / total, uncertain)


def chain_loads(begin: Used, further: Calls, *, pages: int, records: float, together: bool) -> list[Load]:
    """One page leads to the next, and tells how many there are. `together`: the others come fifty at a time; `further`:
    calls for each of them."""
    loads = [in_one_job(begin, min(records, PAGE))]
    if pages > 1:
        jobs = math.ceil((pages - 1) / COMMANDS) if together else pages - 1
        mine = scaled(further, (pages - 1) / jobs)
        asks = [Ask(max(1.0, math.ceil(count / COMMANDS)), {key: count}) for key, count in mine.items() if count]
        loads.append(Load((float(jobs),), tuple(asks), (records - PAGE) / jobs))
    return loads


def scaled(calls: Calls, part: float) -> dict[Billed, float]:
    return {key: count * part for key, count in calls.items()}


def spread_error(values: Sequence[float], population: float) -> float:
    """The relative standard error of a mean that was taken from so many of a population."""
    count = len(values)
    mean = sum(values) / count if count else 0.0
    if count < 2 or not mean or count >= population:
        return 0.0
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    return math.sqrt(variance / count * (1 - count / population)) / mean
