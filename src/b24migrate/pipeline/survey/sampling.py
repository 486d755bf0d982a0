"""Reads a sample of every stream, and says from it how many records there are and what asking for all will take.

It reads as get does, with the same readings; but nothing is staged.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from b24migrate.errors import Permanent
from b24migrate.phases import lanes
from b24migrate.phases.read import expected_pages
from b24migrate.phases.work import Work, seen_row
from b24migrate.pipeline.survey.asking import PAGE, first_and_last, patiently, spread_pages
from b24migrate.pipeline.survey.metering import Billed, Meter, Used
from b24migrate.records import Args, Page, Row
from b24migrate.streams import Each, Gather, Keyset, Listing, PerParent, Progress, Reading, Seen, Stream

COMMANDS = 50  # in a request
FULL = PAGE * COMMANDS
SEGMENTS = 4  # a large listing is read in so many at a time
LEAST_PAGES = 4
MOST_PAGES = 200  # of a sample: enough for any certainty, and little to keep in memory
LEAST_PARENTS = 200
MOST_PARENTS = 2_000
MOST_CHILD_CALLS = 1_000
WHOLE_PAGES = 20  # listings up to this length are read to their end


@dataclass(frozen=True, slots=True)
class Load:
    """What reading all of it asks of the source."""

    requests: float
    calls: Mapping[Billed, float]
    at_once: int
    uncertain: float = 0.0  # relative standard error, from the sample


@dataclass(slots=True)
class Sampled:
    """A stream: how many records there are, some of them, and the load of each of its readings."""

    stream: Stream
    count: float = 0.0
    exact: bool = True
    basis: str = ""
    uncertain: float = 0.0
    rows: list[Seen] = field(default_factory=list)
    met: int = 0  # how many records were looked at
    loads: list[Load] = field(default_factory=list)
    aside: Counter[str] = field(default_factory=Counter)  # reason -> how many, of those met
    asides_of: float = 1.0  # by how much they stand for more

    @property
    def kept(self) -> list[Seen]:
        """Those that no rule excludes."""
        exclude = self.stream.exclude
        return [one for one in self.rows if not exclude(one)] if exclude else self.rows

    @property
    def kept_count(self) -> float:
        return self.count * len(self.kept) / len(self.rows) if self.rows else self.count


class Sampler:
    def __init__(self, work: Work, meter: Meter, share: float, *, seed: int = 1) -> None:
        self._work = work
        self._meter = meter
        self._share = share
        self._chance = random.Random(seed)
        self.found: dict[str, Sampled] = {}
        self.codes: dict[str, list[str]] = {}  # entity -> its custom fields, which some listings want to be named

    def sample(self, stream: Stream) -> Sampled:
        """After the streams that it depends on."""
        sampled = Sampled(stream)
        self.found[stream.name] = sampled
        self._read(sampled, self._work.reading(stream))
        for which, reading in enumerate(stream.more, 1):
            if self._work.suits(reading):
                self._read(sampled, self._work.reading(stream, which))
        return sampled

    def _read(self, sampled: Sampled, reading: Reading) -> None:
        if isinstance(reading, Listing):
            self._listing(sampled, reading)
        elif isinstance(reading, Each):
            self._each(sampled, reading)
        elif isinstance(reading, PerParent):
            self._children(sampled, reading)
        else:
            self._gathered(sampled, reading)

    # ------------------------------------------------------------ listings

    def _listing(self, sampled: Sampled, reading: Listing, prefix: str = "") -> None:
        source, clock = self._work.source, self._work.clock
        if not isinstance(reading.paging, Keyset):
            self._whole(sampled, reading)
            return
        if reading.select:
            codes = self.codes.get(self._work.owner[sampled.stream.name].name, [])
            chosen = [*reading.params.get(reading.select, ()), *codes]
            reading = replace(reading, params={**reading.params, reading.select: chosen})
        total = patiently(clock, lambda: source.count(reading))
        ids = first_and_last(source, clock, reading) if total != 0 else (0, 0)
        wanted = min(MOST_PAGES, max(LEAST_PAGES, math.ceil((total or ids[1]) * self._share / PAGE)))
        rows = list(spread_pages(source, clock, reading, pages=wanted, ids=ids)) if ids[1] else []
        count = len(rows) if total is None else total
        used, rows = self._enriched(reading, rows)
        sampled.loads += listing_loads(reading, count, rows, used)
        if prefix:
            rows = [row._replace(source_id=f"{prefix}:{row.source_id}") for row in rows]
        self._add(sampled, rows, count, exact=total is not None, basis="the portal's total")

    def _enriched(self, reading: Listing, rows: list[Row]) -> tuple[Used, list[Row]]:
        """What further questions about the rows took."""
        before = self._meter.used
        enrich = reading.enrich
        if enrich and rows and self._work.facts.grants(reading.enrich_scope):
            with suppress(Permanent):  # get goes on without it, too
                rows = patiently(self._work.clock, lambda: enrich(self._work.source, rows))
        return self._meter.used.since(before), rows

    def _whole(self, sampled: Sampled, reading: Listing) -> None:
        """Short ones are read to their end; of a long one the beginning, and the portal's total."""
        before = self._meter.used
        rows: dict[str, Row] = {}
        reported: int | None = None
        cursors: list[Args] = [{}]
        for _ in range(WHOLE_PAGES):
            if not cursors:
                break
            page = self._page(reading, cursors.pop(0))
            reported = page.reported if page.reported is not None else reported
            rows |= {row.source_id: row for row in page.rows}
            cursors += page.next
        _, found = self._enriched(reading, list(rows.values()))
        count = len(rows) if not cursors or reported is None else reported
        part = count / len(rows) if rows else 1.0
        whole = self._meter.used.since(before)
        sampled.loads.append(Load(whole.requests * part, scaled(whole.calls, part), 1))
        self._add(sampled, found, count, exact=not cursors or reported is not None, basis="read to the end")

    def _page(self, reading: Listing | Gather, cursor: Args) -> Page:
        return patiently(self._work.clock, lambda: self._work.source.page(reading, cursor))

    def _each(self, sampled: Sampled, reading: Each) -> None:
        for parent in self.found[reading.of].rows:
            self._listing(sampled, reading.listing(parent), reading.prefix(parent))

    # ------------------------------------------------------------ what reads by itself

    def _gathered(self, sampled: Sampled, reading: Gather) -> None:
        """First what there is to read; then some of it."""
        before = self._meter.used
        first = self._page(reading, {})
        begun = self._meter.used.since(before)
        sampled.loads.append(Load(begun.requests, begun.calls, 1))
        self._set_aside(sampled, first)
        if not first.next:
            self._add(sampled, first.rows, len(first.rows), exact=True, basis="read to the end")
            return
        chosen = spread(first.next, max(LEAST_PAGES, math.ceil(len(first.next) * self._share)))
        before = self._meter.used
        pages = [self._page(reading, cursor) for cursor in chosen]
        if any(page.next for page in pages):
            self._chained(sampled, reading, first.next, dict(zip(map(repr, chosen), pages, strict=True)))
            return
        more = self._worth(sampled.stream, [row for page in pages for row in page.rows], self._meter.used.since(before))
        if more > 1 and len(chosen) < len(first.next):
            others = spread(first.next, min(MOST_PAGES, math.ceil(len(chosen) * more)))
            known = {repr(cursor) for cursor in chosen}
            fresh = [cursor for cursor in others if repr(cursor) not in known]
            pages += [self._page(reading, cursor) for cursor in fresh]
            chosen += fresh
        used, part = self._meter.used.since(before), len(first.next) / len(chosen)
        rows = [row for page in pages for row in page.rows]
        for page in pages:
            self._set_aside(sampled, page, part)
        error = spread_error([len(page.rows) for page in pages], len(first.next))
        sampled.loads.append(
            Load(used.requests * part, scaled(used.calls, part), lanes.hands(self._work.options.workers), error)
        )
        whole = len(chosen) == len(first.next)
        self._add(sampled, rows, len(rows) * part, exact=whole, basis=f"{len(rows)} of them", uncertain=error)

    def _worth(self, stream: Stream, rows: Sequence[Row], used: Used) -> float:
        """How many times as many parents the sample may take in. Looking at a parent costs a call or two, reading its
        children hundreds: so where parents tell how many children they have, many are looked at for the same share of
        the whole work. It is the few with very many children that a small sample misses."""
        shown = [seen_row(row, stream) for row in rows]
        siblings = self._work.owner[stream.name].streams
        readings = [self._work.reading(one) for one in siblings]
        families = [one for one in readings if isinstance(one, PerParent) and one.of == stream.name]
        pages = sum(
            expected_pages(reading, parent)
            for reading in families
            for parent in shown
            if reading.expected(parent) is not None
        )
        return 1 + pages / max(1.0, sum(used.calls.values()))

    def _chained(self, sampled: Sampled, reading: Gather, begins: Sequence[Args], known: Mapping[str, Page]) -> None:
        """One page leads to the next, and tells how many there are: pages in between are looked at, too."""
        for begin in begins:
            page = known.get(repr(begin)) or self._page(reading, begin)
            rows, total = list(page.rows), len(page.rows)
            before, steps = self._meter.used, 0
            if page.next:
                onward = page.next[0]
                total = int(onward.get("total") or page.reported or len(rows))
                for start in starts(total, self._share):
                    place = {**onward, "start": start} | ({"total": start + PAGE} if "total" in onward else {})
                    rows += self._page(reading, place).rows
                    steps += 1
            used = self._meter.used.since(before)
            per_page = 1 / steps if steps else 0.0
            pages = math.ceil(total / PAGE)
            calls = scaled(used.calls, pages * per_page)
            together = max(1.0, sum(calls.values()) / COMMANDS) if page.next and "total" in page.next[0] else pages
            sampled.loads.append(Load(max(together, math.ceil(pages / COMMANDS)) + 3, calls, 1))
            unique = {row.source_id: row for row in rows}
            self._add(sampled, list(unique.values()), total, exact=len(begins) == 1, basis="the portal's total")
            if len(begins) > 1:
                sampled.uncertain = 0.5  # several people see partly the same

    # ------------------------------------------------------------ children

    def _children(self, sampled: Sampled, reading: PerParent) -> None:
        of = self.found.get(reading.of)
        if of is None or not of.kept:
            return
        with_any = [parent for parent in of.kept if reading.only(parent)]
        parents_in_all = of.kept_count * len(with_any) / len(of.kept)
        chosen = self._chance.sample(with_any, min(len(with_any), MOST_PARENTS))
        told = [reading.expected(parent) for parent in chosen]
        counts = [count for count in told if count is not None]
        if chosen and len(counts) == len(chosen):
            pages = [expected_pages(reading, parent) for parent in chosen]
            read = self._families(sampled, reading, chosen, pages)
            calls: Counter[Billed] = Counter()
            for parent, number in zip(chosen, pages, strict=True):
                calls[reading.via(parent, self._work.source.owners), reading.method.lower()] += number
        else:
            wanted = max(LEAST_PARENTS, math.ceil(parents_in_all * self._share))
            chosen = chosen[:wanted]
            before = self._meter.used
            read = self._families(sampled, reading, chosen, [])
            calls = Counter({key: math.ceil(count) for key, count in self._meter.used.since(before).calls.items()})
            per_parent = Counter(one.extras.get("of") or one.parent for one in read)
            counts = [per_parent.get(parent.id, 0) for parent in chosen]
            pages = [1 + count // PAGE for count in counts]
        if not chosen:
            return
        part = parents_in_all / len(chosen)
        error = math.hypot(spread_error(pages, parents_in_all), of.uncertain)
        every = scaled(calls, part)
        requests = sum(math.ceil(count / COMMANDS) for count in every.values())
        hands = lanes.hands(self._work.options.workers)
        sampled.loads.append(Load(requests, every, hands, error))
        if reading.row_key is None or not reading.bare:
            uncertain = math.hypot(spread_error(counts, parents_in_all), of.uncertain)
            basis = f"{len(chosen)} of {round(parents_in_all)} {reading.of}"
            whole = of.exact and len(chosen) >= round(parents_in_all)
            sampled.count += sum(counts) * part
            sampled.exact = whole
            sampled.basis, sampled.uncertain = basis, 0.0 if whole else uncertain
            sampled.asides_of = part

    def _families(
        self, sampled: Sampled, reading: PerParent, parents: Sequence[Seen], pages: Sequence[int]
    ) -> list[Seen]:
        """The children of these; where their number is known beforehand, of as many as make a fair sample."""
        left = list(parents)
        if pages:
            budget, left = MOST_CHILD_CALLS, []
            for parent, number in zip(parents, pages, strict=True):
                if budget <= 0:
                    break
                left.append(parent)
                budget -= number
            share = max(LEAST_PARENTS, math.ceil(self.found[reading.of].kept_count * self._share))
            left = left[:share]
        found: list[Seen] = []
        for start in range(0, len(left), COMMANDS):
            progress = [Progress(parent) for parent in left[start : start + COMMANDS]]
            by_id = {one.parent.id: one.parent for one in progress}
            while progress:
                page = self._child_page(reading, progress)
                self._set_aside(sampled, page)
                found += [seen_row(row, sampled.stream) for row in page.rows]
                progress = [
                    Progress(by_id[one["id"]], int(one["after"]), int(one["got"]), int(one.get("via", -1)))
                    for one in page.next
                ]
        sampled.rows += found
        sampled.met += len(found)
        return found

    def _child_page(self, reading: PerParent, progress: Sequence[Progress]) -> Page:
        reading = replace(reading, recount=None)
        return patiently(self._work.clock, lambda: self._work.source.children(reading, progress))

    # ------------------------------------------------------------ both

    def _add(
        self, sampled: Sampled, rows: Iterable[Row], count: float, *, exact: bool, basis: str, uncertain: float = 0.0
    ) -> None:
        seen = [seen_row(row, sampled.stream) for row in rows]
        sampled.rows += seen
        sampled.met += len(seen)
        sampled.count += count
        sampled.exact = sampled.exact and exact
        sampled.basis = basis
        sampled.uncertain = max(sampled.uncertain, 0.0 if exact else uncertain)

    @staticmethod
    def _set_aside(sampled: Sampled, page: Page, part: float = 1.0) -> None:
        sampled.aside.update(one.reason for one in page.aside if one.why == "impossible")
        sampled.asides_of = max(sampled.asides_of, part)


def listing_loads(reading: Listing, count: int, rows: Sequence[Row], used: Used) -> list[Load]:
    """Full chains of pages, the segments' last ones, and for each chain what else is asked about its rows."""
    pages = math.ceil(count / PAGE)
    segments = min(SEGMENTS, math.ceil(count / FULL))
    chains = math.ceil(count / FULL) + (segments / 2 if segments > 1 else 0)
    first = 1.0 + (1 if segments > 1 else 0)
    loads = [Load(first + chains, {(0, reading.method.lower()): pages + segments + 1.0}, SEGMENTS)]
    if rows and used.calls:
        calls = scaled(used.calls, count / len(rows))
        each = [math.ceil(one / max(1.0, chains) / COMMANDS) * max(1.0, chains) for one in calls.values()]
        loads[0] = Load(loads[0].requests + sum(each), {**loads[0].calls, **calls}, SEGMENTS)
    return loads


def scaled(calls: Mapping[Billed, float], part: float) -> dict[Billed, float]:
    return {key: count * part for key, count in calls.items()}


def spread(things: Sequence[Args], wanted: int) -> list[Args]:
    """So many of them, at even distances."""
    if wanted >= len(things):
        return list(things)
    return [things[math.floor((place + 0.5) * len(things) / wanted)] for place in range(wanted)]


def starts(total: int, share: float) -> list[int]:
    """Where some pages of a chain begin, besides the first."""
    pages = math.ceil(total / PAGE)
    wanted = min(MOST_PAGES, max(LEAST_PAGES, math.ceil(pages * share)), pages - 1)
    return [PAGE * (1 + math.floor((pages - 1) * place / wanted)) for place in range(wanted)] if wanted > 0 else []


def spread_error(values: Sequence[float], population: float) -> float:
    """The relative standard error of a mean that was taken from so many of a population."""
    count = len(values)
    mean = sum(values) / count if count else 0.0
    if count < 2 or not mean or count >= population:
        return 0.0
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    return math.sqrt(variance / count * (1 - count / population)) / mean
