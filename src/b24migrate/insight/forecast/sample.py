"""The requests of a sample, its results for a stream, and the requests that reading the whole stream will take."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from b24migrate.engine.phases.parent_lanes import PARENTS_AT_ONCE, lane_count
from b24migrate.insight.forecast.meter import Billed, Used
from b24migrate.insight.forecast.schedule import even_lanes
from b24migrate.model.answers import open_list
from b24migrate.model.errors import Limited, MigrationError, Transient
from b24migrate.model.readings import Keyset, Listing
from b24migrate.model.records import Json, Page, Row
from b24migrate.model.source_records import FileRef, SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import Answer, Clock, Command, Source

PAGE = 50  # records in a call
COMMANDS = 50  # calls in a request
FULL = PAGE * COMMANDS
SEGMENTS = 4  # a large listing is read in so many at a time
MOST_KEPT = 5_000  # decoded records of a stream
TRIES = 3
LIMITS_WAITED = 60
PAUSE_S = 2.0

Calls = Mapping[Billed, float]
T = TypeVar("T")


# ---------------------------------------------------------------- questions


def ask_patiently(clock: Clock, ask: Callable[[], T]) -> T:
    """A limit is waited for, a failure tried again."""
    limits = failures = 0
    while True:
        try:
            return ask()
        except Limited as limit:
            limits += 1
            if limits > LIMITS_WAITED:
                raise
            clock.sleep(max(1.0, limit.wait_s))
        except Transient:
            failures += 1
            if failures == TRIES:
                raise
            clock.sleep(PAUSE_S * failures)


def ask_batch(source: Source, clock: Clock, commands: Sequence[Command]) -> list[Answer]:
    """One answer for each. A limit that only some of them met is waited for as well."""

    def ask() -> list[Answer]:
        answers = source.batch(commands)
        for answer in answers:
            if isinstance(answer.error, Limited | Transient):
                raise answer.error
        return answers

    return ask_patiently(clock, ask)


def spread_pages(
    source: Source, clock: Clock, reading: Listing, *, pages: int, ids: tuple[int, int], chance: random.Random
) -> Iterator[Row]:
    """Rows of this many pages, one from each of as many equal ranges of these IDs; each row once. The place in a range
    is random: a regular pattern would be met always or never."""
    oldest, newest = ids
    step = (newest - oldest + 1) / max(1, pages)
    room = max(0.0, step - PAGE) / step
    places = [oldest - 1 + math.floor(step * (place + room * chance.random())) for place in range(pages)]
    commands = [page_after(reading, place) for place in places]
    met: set[str] = set()
    for start in range(0, len(commands), PAGE):
        for answer in ask_batch(source, clock, commands[start : start + PAGE]):
            if isinstance(answer.error, MigrationError):
                raise answer.error
            for row in rows_in(answer, reading):
                if row.source_id not in met:
                    met.add(row.source_id)
                    yield row


def page_after(reading: Listing, last: int) -> Command:
    params, paging = dict(reading.params), keyset_paging(reading)
    wanted = {**params.get(paging.filter, {}), f">{paging.id}": last}
    return Command(reading.method, {**params, paging.filter: wanted, **paging.ascending, "start": -1})


def first_and_last(source: Source, clock: Clock, reading: Listing) -> tuple[int, int]:
    """The lowest and the highest id; 0 and 0 if there are no records."""
    params, paging = dict(reading.params), keyset_paging(reading)
    wanted = {**params.get(paging.filter, {}), f">{paging.id}": 0}
    last = Command(reading.method, {**params, paging.filter: wanted, **paging.descending, "start": -1})
    ids: list[int] = []
    for answer in ask_batch(source, clock, [page_after(reading, 0), last]):
        if isinstance(answer.error, MigrationError):
            raise answer.error
        ids += [int(row.source_id) for row in rows_in(answer, reading)]
    return (min(ids), max(ids)) if ids else (0, 0)


def keyset_paging(reading: Listing) -> Keyset:
    assert isinstance(reading.paging, Keyset)  # noqa: S101 (others are read in their own way)
    return reading.paging


def rows_in(answer: Answer, reading: Listing) -> list[Row]:
    raws = open_list(answer.result, reading.items, reading.method).items
    return [Row(read_id(msgspec.json.decode(raw), reading.id), bytes(raw)) for raw in raws]


def read_id(item: Mapping[str, Json], field: str) -> str:
    return ":".join(str(item.get(name, "")) for name in field.split(":"))


# ---------------------------------------------------------------- what reading all of a stream asks, in jobs


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


def single_job(used: Used, records: float) -> Load:
    """The requests of one job, as measured."""
    return Load((1.0,), (Ask(used.requests, used.calls),), records)


def listing_loads(method: str, count: float, enriching: Calls) -> list[Load]:
    """A first page, those that begin the segments, then chains of pages in each; and with every one of them what else
    is asked about its rows. `enriching`: calls for a row."""
    key = (0, method.lower())
    rows = min(count, PAGE)
    loads = [Load((1.0,), (Ask(1, {key: 2.0}), *enriching_asks(enriching, rows)), rows)]
    left = count - rows
    if left <= 0:
        return loads
    segments = min(SEGMENTS, math.ceil(count / FULL))
    if segments > 1:
        rows = min(left, PAGE * segments)
        loads.append(Load((1.0,), (Ask(1, {key: float(segments)}), *enriching_asks(enriching, rows)), rows))
        left -= rows
    # The last request of a segment is seldom full.
    jobs = math.ceil(left / segments / FULL) if segments > 1 else math.ceil(left / FULL)
    mine = left / segments / jobs if jobs else 0.0
    if jobs:
        asks = (Ask(1, {key: math.ceil(mine / PAGE)}), *enriching_asks(enriching, mine))
        loads.append(Load((float(jobs),) * segments, asks, mine))
    return loads


def enriching_asks(enriching: Calls, rows: float) -> list[Ask]:
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
    return Load(lengths, (Ask(vias, scale_calls(calls, 1 / total)),), records / total, uncertain)


def chain_loads(begin: Used, further: Calls, *, pages: int, records: float, together: bool) -> list[Load]:
    """Pages of a listing that reports its total. `together`: the others come fifty at a time; `further`: calls for each
    of them."""
    loads = [single_job(begin, min(records, PAGE))]
    if pages > 1:
        jobs = math.ceil((pages - 1) / COMMANDS) if together else pages - 1
        mine = scale_calls(further, (pages - 1) / jobs)
        asks = [Ask(max(1.0, math.ceil(count / COMMANDS)), {key: count}) for key, count in mine.items() if count]
        loads.append(Load((float(jobs),), tuple(asks), (records - PAGE) / jobs))
    return loads


def scale_calls(calls: Calls, part: float) -> dict[Billed, float]:
    return {key: count * part for key, count in calls.items()}


def spread_error(values: Sequence[float], population: float) -> float:
    """The relative standard error of the mean of a sample of this size."""
    count = len(values)
    mean = sum(values) / count if count else 0.0
    if count < 2 or not mean or count >= population:
        return 0.0
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    return math.sqrt(variance / count * (1 - count / population)) / mean


# ---------------------------------------------------------------- a sampled stream


@dataclass(slots=True)
class Sampled:
    """A stream: how many records there are, some of them, and the load of each of its readings."""

    stream: Stream
    count: float = 0.0
    exact: bool = True
    basis: str = ""
    uncertain: float = 0.0
    rows: list[SourceRecord] = field(default_factory=list)  # of those met, as many as are worth keeping
    met: int = 0  # sampled records
    bytes: int = 0  # of those
    in_use: int = 0  # of those, without what a rule excludes
    files: dict[str, FileRef] = field(default_factory=dict)  # that those refer to
    longest: float = 0.0  # of a stream of children: how many the parent has that has most
    loads: list[list[Load]] = field(default_factory=list)  # of each reading
    aside: Counter[str] = field(default_factory=Counter)  # reason -> how many, of those met
    asides_of: float = 1.0  # how many times as many they represent

    def add_row(self, one: SourceRecord, size: int, chance: random.Random) -> None:
        """All are counted and searched for files; a random choice of them is kept."""
        self.met += 1
        self.bytes += size
        if not (self.stream.exclude and self.stream.exclude(one)):
            self.in_use += 1
            self.files |= {ref.key: ref for ref in (self.stream.files(one) if self.stream.files else ())}
        if len(self.rows) < MOST_KEPT:
            self.rows.append(one)
        elif (place := chance.randrange(self.met)) < MOST_KEPT:
            self.rows[place] = one

    @property
    def kept(self) -> list[SourceRecord]:
        """Those that no rule excludes."""
        exclude = self.stream.exclude
        return [one for one in self.rows if not exclude(one)] if exclude else self.rows

    @property
    def kept_count(self) -> float:
        return self.count * self.in_use / self.met if self.met else self.count

    @property
    def size(self) -> float:
        """Of a record, in bytes."""
        return self.bytes / self.met if self.met else 0.0

    def add_aside(self, page: Page, part: float = 1.0) -> None:
        self.aside.update(one.reason for one in page.aside if one.why == "impossible")
        self.asides_of = max(self.asides_of, part)
