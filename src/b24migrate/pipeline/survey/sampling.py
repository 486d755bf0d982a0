"""Reads a sample of every stream, and says from it how many records there are and what asking for all will take.

It reads as get does, with the same readings; but nothing is staged. A request brings fifty pages, so a sample is never
smaller than one request: it costs no more.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from b24migrate.errors import Permanent
from b24migrate.phases.read import expected_pages
from b24migrate.phases.work import Work, seen_row
from b24migrate.pipeline.survey.asking import first_and_last, patiently, spread_pages
from b24migrate.pipeline.survey.courses import even_lanes
from b24migrate.pipeline.survey.loads import (
    COMMANDS,
    PAGE,
    Ask,
    Calls,
    Load,
    chain_loads,
    children_load,
    in_one_job,
    listing_loads,
    scaled,
    spread_error,
)
from b24migrate.pipeline.survey.metering import Billed, Meter, Used
from b24migrate.records import Args, Page, Row
from b24migrate.streams import Each, FileRef, Gather, Keyset, Listing, PerParent, Progress, Reading, Seen, Stream

LEAST_PAGES = 40  # of a listing: what fits into a request
MOST_PAGES = 60  # of a sample: enough for any certainty, and little to keep in memory
FILES_ERROR = 0.04  # relative standard error of the number of files that is good enough
MOST_PAGES_FOR_FILES = 200
LEAST_GATHERED = 4
MOST_GATHERED = 200
LEAST_PARENTS = 200
MOST_CHILD_CALLS = 1_000  # twenty requests
MOST_ENRICHED = 500  # calls about the rows of one sample
FIRST_ENRICHED = 100  # rows, to see how many calls it takes
WORTH_ANYWAY = 10.0  # times the share, where parents tell how many children they have
WHOLE_PAGES = 20  # listings up to this length are read to their end
MOST_KEPT = 5_000  # decoded records of a stream that are kept for whoever looks at them


@dataclass(slots=True)
class Sampled:
    """A stream: how many records there are, some of them, and the load of each of its readings."""

    stream: Stream
    count: float = 0.0
    exact: bool = True
    basis: str = ""
    uncertain: float = 0.0
    rows: list[Seen] = field(default_factory=list)  # of those met, as many as are worth keeping
    met: int = 0  # how many records were looked at
    bytes: int = 0  # of those
    in_use: int = 0  # of those, without what a rule excludes
    files: dict[str, FileRef] = field(default_factory=dict)  # that those refer to
    longest: float = 0.0  # of a stream of children: how many the parent has that has most
    loads: list[list[Load]] = field(default_factory=list)  # of each reading
    aside: Counter[str] = field(default_factory=Counter)  # reason -> how many, of those met
    asides_of: float = 1.0  # by how much they stand for more

    def meet(self, one: Seen, size: int, chance: random.Random) -> None:
        """All are counted and looked at for files; a fair choice of them is kept."""
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
    def kept(self) -> list[Seen]:
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


class _Family(NamedTuple):
    """Parents whose children are read: how many there are in all, and how many children each of those met has."""

    reading: PerParent
    of: Sampled
    parents: float
    counts: Sequence[int]


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
            sampled.loads.append(self._listing(sampled, reading))
        elif isinstance(reading, Each):
            self._each(sampled, reading)
        elif isinstance(reading, PerParent):
            self._children(sampled, reading)
        else:
            self._gathered(sampled, reading)

    # ------------------------------------------------------------ listings

    def _listing(self, sampled: Sampled, reading: Listing, prefix: str = "") -> list[Load]:
        source, clock = self._work.source, self._work.clock
        if not isinstance(reading.paging, Keyset):
            return [self._whole(sampled, reading)]
        if reading.select:
            codes = self.codes.get(self._work.owner[sampled.stream.name].name, [])
            chosen = [*reading.params.get(reading.select, ()), *codes]
            reading = replace(reading, params={**reading.params, reading.select: chosen})
        total = patiently(clock, lambda: source.count(reading))
        small = total is not None and total <= LEAST_PAGES * PAGE
        ids = first_and_last(source, clock, reading) if not small else (0, 0)
        pages = math.ceil((total or ids[1]) / PAGE)
        wanted = pages if small else min(MOST_PAGES, pages, max(LEAST_PAGES, math.ceil(pages * self._share)))
        rows = self._all_rows(reading) if small else self._spread(reading, wanted, ids) if ids[1] else []
        count = len(rows) if total is None else total
        enriching, rows = self._enriched(sampled.stream, reading, rows)
        further = min(pages, pages_for_files(sampled.stream, rows, count)) - wanted
        if further > 0:
            met = {row.source_id for row in rows}
            others = [row for row in self._spread(reading, further, ids) if row.source_id not in met]
            rows += self._enriched(sampled.stream, reading, others)[1]
        if prefix:
            rows = [row._replace(source_id=f"{prefix}:{row.source_id}") for row in rows]
        self._add(sampled, rows, count, exact=total is not None, basis="the portal's total")
        return listing_loads(reading.method, count, enriching)

    def _all_rows(self, reading: Listing) -> list[Row]:
        """As get does, to the end."""
        rows: dict[str, Row] = {}
        cursors: list[Args] = [{}]
        while cursors:
            page = self._page(reading, cursors.pop(0))
            rows |= {row.source_id: row for row in page.rows}
            cursors += page.next
        return list(rows.values())

    def _spread(self, reading: Listing, pages: int, ids: tuple[int, int]) -> list[Row]:
        source, clock = self._work.source, self._work.clock
        return list(spread_pages(source, clock, reading, pages=pages, ids=ids, chance=self._chance))

    def _enriched(self, stream: Stream, reading: Listing, rows: list[Row]) -> tuple[Calls, list[Row]]:
        """The calls of further questions for a row, and the rows with their answers. Some rows tell how many calls it
        takes; where it takes few, all are asked about, since what is told then may be files."""
        enrich = reading.enrich
        if not enrich or not rows or not self._work.facts.grants(reading.enrich_scope):
            return {}, rows
        before = self._meter.used
        # spread over all of them: a portal's old records are others than its new ones
        some = rows[:: max(1, math.ceil(len(rows) / FIRST_ENRICHED))]
        with suppress(Permanent):  # get goes on without it, too
            known = patiently(self._work.clock, lambda: enrich(self._work.source, some))
            each = sum(self._meter.used.since(before).calls.values()) / len(some)
            if each * len(rows) <= MOST_ENRICHED and len(some) < len(rows):
                before, some = self._meter.used, rows
                known = patiently(self._work.clock, lambda: enrich(self._work.source, rows))
            calls = scaled(self._meter.used.since(before).calls, 1 / len(some))
            return calls, known if len(some) == len(rows) or _tells_files(stream, some, known) else rows
        return {}, rows

    def _whole(self, sampled: Sampled, reading: Listing) -> Load:
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
        _, found = self._enriched(sampled.stream, reading, list(rows.values()))
        count = len(rows) if not cursors or reported is None else reported
        used = self._meter.used.since(before)
        self._add(sampled, found, count, exact=not cursors or reported is not None, basis="read to the end")
        part = max(1.0, count / len(rows)) if rows else 1.0
        jobs = max(1.0, used.requests * part)
        return Load((jobs,), (Ask(1.0, scaled(used.calls, part / jobs)),), count / jobs)

    def _page(self, reading: Listing | Gather, cursor: Args) -> Page:
        return patiently(self._work.clock, lambda: self._work.source.page(reading, cursor))

    def _each(self, sampled: Sampled, reading: Each) -> None:
        """Listings that go on side by side."""
        for parent in self.found[reading.of].rows:
            loads = self._listing(sampled, reading.listing(parent), reading.prefix(parent))
            sampled.loads.append(loads)
        sampled.loads = [_side_by_side(sampled.loads)] if sampled.loads else []

    # ------------------------------------------------------------ what reads by itself

    def _gathered(self, sampled: Sampled, reading: Gather) -> None:
        """First what there is to read; then some of it."""
        before = self._meter.used
        first = self._page(reading, {})
        begun = in_one_job(self._meter.used.since(before), len(first.rows))
        self._set_aside(sampled, first)
        if not first.next:
            sampled.loads.append([begun])
            self._add(sampled, first.rows, len(first.rows), exact=True, basis="read to the end")
            return
        chosen = self._some(first.next, max(LEAST_GATHERED, math.ceil(len(first.next) * self._share)))
        before = self._meter.used
        pages = [self._page(reading, cursor) for cursor in chosen]
        if any(page.next for page in pages):
            first_pages = dict(zip(map(repr, chosen), pages, strict=True))
            sampled.loads.append([begun, *self._chained(sampled, reading, first.next, first_pages)])
            return
        more = self._worth(sampled.stream, [row for page in pages for row in page.rows], self._meter.used.since(before))
        if more > 1 and len(chosen) < len(first.next):
            others = self._some(first.next, min(MOST_GATHERED, math.ceil(len(chosen) * more)))
            known = {repr(cursor) for cursor in chosen}
            fresh = [cursor for cursor in others if repr(cursor) not in known]
            pages += [self._page(reading, cursor) for cursor in fresh]
            chosen += fresh
        used, part = self._meter.used.since(before), len(first.next) / len(chosen)
        rows = [row for page in pages for row in page.rows]
        for page in pages:
            self._set_aside(sampled, page, part)
        error = spread_error([len(page.rows) for page in pages], len(first.next))
        ask = Ask(used.requests / len(chosen), scaled(used.calls, 1 / len(chosen)))
        jobs = len(first.next)
        sampled.loads.append([begun, Load(even_lanes(jobs, jobs), (ask,), len(rows) / len(chosen), error)])
        whole = len(chosen) == len(first.next)
        self._add(sampled, rows, len(rows) * part, exact=whole, basis=f"{len(rows)} of them", uncertain=error)

    def _some(self, things: Sequence[Args], wanted: int) -> list[Args]:
        """So many of them: one from each of as many equal stretches."""
        if wanted >= len(things):
            return list(things)
        step = len(things) / wanted
        return [things[math.floor(step * (place + self._chance.random()))] for place in range(wanted)]

    def _worth(self, stream: Stream, rows: Sequence[Row], used: Used) -> float:
        """How many times as many parents the sample may take in. Looking at a parent costs a call or two, reading its
        children hundreds: so where parents tell how many children they have, many are looked at for the same share of
        the whole work. It is the few with very many children that a small sample misses."""
        shown = [seen_row(row, stream) for row in rows]
        siblings = self._work.owner[stream.name].streams
        readings = [self._work.reading(one) for one in siblings]
        families = [one for one in readings if isinstance(one, PerParent) and one.of == stream.name]
        told = [(one, parent) for one in families for parent in shown if one.expected(parent) is not None]
        if not told:
            return 1.0
        pages = sum(expected_pages(one, parent) for one, parent in told)
        return max(WORTH_ANYWAY, 1 + pages / max(1.0, sum(used.calls.values())))

    def _chained(
        self, sampled: Sampled, reading: Gather, begins: Sequence[Args], known: Mapping[str, Page]
    ) -> list[Load]:
        """One page leads to the next, and tells how many there are: pages in between are looked at, too."""
        chains: list[list[Load]] = []
        for begin in begins:
            before = self._meter.used
            page = known.get(repr(begin)) or self._page(reading, begin)
            begun = self._meter.used.since(before) if repr(begin) not in known else Used(1.0, {})
            rows, total = list(page.rows), len(page.rows)
            before, steps = self._meter.used, 0
            together = bool(page.next) and "total" in page.next[0]
            if page.next:
                onward = page.next[0]
                total = int(onward.get("total") or page.reported or len(rows))
                for start in starts(total, self._share):
                    place = {**onward, "start": start} | ({"total": start + PAGE} if together else {})
                    rows += self._page(reading, {name: part for name, part in place.items() if name != "top"}).rows
                    steps += 1
            further = scaled(self._meter.used.since(before).calls, 1 / steps) if steps else {}
            chain = chain_loads(begun, further, pages=math.ceil(total / PAGE), records=total, together=together)
            again = Load((1.0,), (Ask(1.0, scaled(further, 1.0)),), 0.0)  # the top is looked at once more
            chains.append([*chain, again] if together else chain)
            unique = {row.source_id: row for row in rows}
            self._add(sampled, list(unique.values()), total, exact=len(begins) == 1, basis="the portal's total")
            if len(begins) > 1:
                sampled.uncertain = 0.5  # several people see partly the same
        return _side_by_side(chains)

    # ------------------------------------------------------------ children

    def _children(self, sampled: Sampled, reading: PerParent) -> None:
        of = self.found.get(reading.of)
        if of is None or not of.kept:
            return
        with_any = [parent for parent in of.kept if reading.only(parent)]
        parents_in_all = of.kept_count * len(with_any) / len(of.kept)
        self._chance.shuffle(with_any)
        if not with_any:
            return
        if all(reading.expected(parent) is not None for parent in with_any):
            self._told_children(sampled, reading, with_any, parents_in_all, of)
        else:
            self._untold_children(sampled, reading, with_any, parents_in_all, of)

    def _told_children(
        self, sampled: Sampled, reading: PerParent, parents: Sequence[Seen], in_all: float, of: Sampled
    ) -> None:
        """Parents say how many they have; some are read all the same, to see what is in them."""
        pages = [expected_pages(reading, parent) for parent in parents]
        counts = [int(reading.expected(parent) or 0) for parent in parents]
        calls: Counter[Billed] = Counter()
        for parent, number in zip(parents, pages, strict=True):
            calls[reading.via(parent, self._work.source.owners), reading.method.lower()] += number
        whole, large = worth_reading(parents, pages)
        self._families(sampled, reading, whole)
        for parent in large:
            self._families(sampled, reading, [parent], to_the_end=False)
        part = in_all / len(parents)
        family = _Family(reading, of, in_all, counts)
        self._loaded(sampled, family, scaled(calls, part), pages)
        self._counted(sampled, family, sum(counts) * part)

    def _untold_children(
        self, sampled: Sampled, reading: PerParent, parents: Sequence[Seen], in_all: float, of: Sampled
    ) -> None:
        """So many of them are read. Those who have a webhook see more than others do: they stand for themselves."""
        owners = set(self._work.source.owners) if reading.of == self._work.people else set()
        apart = [Seen(owner, {}, {}) for owner in sorted(owners)]
        others = [parent for parent in parents if parent.id not in owners]
        chosen = others[: max(LEAST_PARENTS, math.ceil(in_all * self._share))]
        own, own_counts = self._asked_for(sampled, reading, apart)
        calls, counts = self._asked_for(sampled, reading, chosen)
        part = max(1.0, (in_all - len(apart)) / len(chosen)) if chosen else 1.0
        every = Counter(scaled(calls, part))
        every.update(own)
        pages = [1 + count // PAGE for count in counts]
        family = _Family(reading, of, in_all, counts)
        self._loaded(sampled, family, every, [*pages, *(1 + one // PAGE for one in own_counts)])
        if reading.row_key is None or not reading.bare:
            self._counted(sampled, family, sum(counts) * part + sum(own_counts))

    def _asked_for(
        self, sampled: Sampled, reading: PerParent, parents: Sequence[Seen]
    ) -> tuple[Counter[Billed], list[int]]:
        """The calls that it took, and how many children each has."""
        before = self._meter.used
        per_parent = self._families(sampled, reading, parents)
        calls: Counter[Billed] = Counter()
        for key, count in self._meter.used.since(before).calls.items():
            calls[key] += math.ceil(count)
        return calls, [per_parent[parent.id] for parent in parents]

    @staticmethod
    def _loaded(sampled: Sampled, family: _Family, calls: Mapping[Billed, float], pages: Sequence[int]) -> None:
        error = math.hypot(spread_error(pages, family.parents), family.of.uncertain)
        records = sum(family.counts) * family.parents / max(1, len(family.counts))
        longest = max(pages, default=0)
        load = children_load(calls, parents=family.parents, longest=longest, records=records, uncertain=error)
        if load:
            sampled.loads.append([load])
        sampled.longest = max(sampled.longest, max(family.counts, default=0))

    @staticmethod
    def _counted(sampled: Sampled, family: _Family, count: float) -> None:
        of, counts, parents = family.of, family.counts, family.parents
        whole = of.exact and len(counts) >= round(parents)
        sampled.count += count
        sampled.exact = whole
        sampled.basis = f"{len(counts)} of {round(parents)} {family.reading.of}"
        sampled.uncertain = 0.0 if whole else math.hypot(spread_error(counts, parents), of.uncertain)
        sampled.asides_of = max(1.0, parents / max(1, len(counts)))

    def _families(
        self, sampled: Sampled, reading: PerParent, parents: Sequence[Seen], *, to_the_end: bool = True
    ) -> Counter[str]:
        """Meets the children of these, or as many as a request brings. How many each has."""
        found: Counter[str] = Counter()
        for start in range(0, len(parents), COMMANDS):
            progress = [Progress(parent) for parent in parents[start : start + COMMANDS]]
            by_id = {one.parent.id: one.parent for one in progress}
            others = _by_parent(sampled.rows, reading.twins) if reading.twins else {}
            while progress:
                page = self._child_page(reading, progress)
                self._set_aside(sampled, page)
                for row in page.rows:
                    one = seen_row(row, sampled.stream)
                    if any(reading.same(one, other) for other in others.get(one.parent, ())):
                        continue  # it was read before in another place; get sets it aside
                    sampled.meet(one, len(row.payload), self._chance)
                    found[str(one.extras.get("of") or one.parent)] += 1
                progress = [
                    Progress(by_id[one["id"]], int(one["after"]), int(one["got"]), int(one.get("via", -1)))
                    for one in (page.next if to_the_end else ())
                ]
        return found

    def _child_page(self, reading: PerParent, progress: Sequence[Progress]) -> Page:
        reading = replace(reading, recount=None)
        return patiently(self._work.clock, lambda: self._work.source.children(reading, progress))

    # ------------------------------------------------------------ both

    def _add(
        self, sampled: Sampled, rows: Iterable[Row], count: float, *, exact: bool, basis: str, uncertain: float = 0.0
    ) -> None:
        for row in rows:
            sampled.meet(seen_row(row, sampled.stream), len(row.payload), self._chance)
        sampled.count += count
        sampled.exact = sampled.exact and exact
        sampled.basis = basis
        sampled.uncertain = max(sampled.uncertain, 0.0 if exact else uncertain)

    @staticmethod
    def _set_aside(sampled: Sampled, page: Page, part: float = 1.0) -> None:
        sampled.aside.update(one.reason for one in page.aside if one.why == "impossible")
        sampled.asides_of = max(sampled.asides_of, part)


def pages_for_files(stream: Stream, rows: Sequence[Row], count: float) -> int:
    """How many pages it takes to know the number of files well enough: each may be a request, and so most of the time,
    while fifty pages are one. 0: there are none, or it is known well enough."""
    met = sum(1 for row in rows for _ in stream.files(seen_row(row, stream))) if stream.files and rows else 0
    part = count / len(rows) if rows else 1.0
    if not met or part <= 1 or math.sqrt((1 - 1 / part) / met) <= FILES_ERROR:
        return 0
    enough = 1 / (FILES_ERROR**2 + 1 / (met * part))  # of them have to be met
    return min(MOST_PAGES_FOR_FILES, math.ceil(enough / met * len(rows) / PAGE))


def _tells_files(stream: Stream, before: Sequence[Row], after: Sequence[Row]) -> bool:
    """Whether further questions bring files to light: then a row that was not asked about tells too little."""
    if stream.files is None:
        return False
    found = [sum(1 for row in rows for _ in stream.files(seen_row(row, stream))) for rows in (before, after)]
    return found[0] != found[1]


def _by_parent(rows: Sequence[Seen], mark: str) -> dict[str, list[Seen]]:
    """Those whose own id begins with the mark."""
    found: dict[str, list[Seen]] = {}
    for row in rows:
        if row.child.startswith(mark):
            found.setdefault(row.parent, []).append(row)
    return found


def _side_by_side(chains: Sequence[Sequence[Load]]) -> list[Load]:
    """Chains of jobs that go on at the same time: the first jobs of all, the second ones of all, and so on."""
    together: list[Load] = []
    for place in range(max(map(len, chains), default=0)):
        mine = [chain[place] for chain in chains if place < len(chain)]
        jobs = sum(one.jobs for one in mine)
        asks: dict[int, Ask] = {}
        for one in mine:
            for number, ask in enumerate(one.asks):
                known = asks.get(number, Ask(0.0, {}))
                part = one.jobs / jobs
                calls = Counter(dict(known.calls))
                calls.update(scaled(ask.calls, part))
                asks[number] = Ask(known.requests + ask.requests * part, calls)
        records = sum(one.records * one.jobs for one in mine) / jobs
        lanes = tuple(lane for one in mine for lane in one.lanes)
        together.append(Load(lanes, tuple(asks.values()), records, max(one.uncertain for one in mine)))
    return together


def worth_reading(parents: Sequence[Seen], pages: Sequence[int]) -> tuple[list[Seen], list[Seen]]:
    """As many of them as a fair number of pages allows: those that are read whole, and those that have very many."""
    budget, whole, large = MOST_CHILD_CALLS, list[Seen](), list[Seen]()
    for parent, number in zip(parents, pages, strict=True):
        if budget <= 0:
            break
        (whole if number < COMMANDS else large).append(parent)
        budget -= min(number, COMMANDS)
    return whole, large


def starts(total: int, share: float) -> list[int]:
    """Where some pages of a chain begin, besides the first."""
    pages = math.ceil(total / PAGE)
    wanted = min(MOST_PAGES, max(LEAST_GATHERED, math.ceil(pages * share)), pages - 1)
    return [PAGE * (1 + math.floor((pages - 1) * place / wanted)) for place in range(wanted)] if wanted > 0 else []
