"""Reads a sample of every stream and derives the number of records and the cost of reading all.

It reads as get does, with the same readings, but stages nothing. A request brings fifty pages, so a sample is never
smaller than one request: it costs no more.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from b24migrate.engine.phases.context import RunContext, decode_row
from b24migrate.engine.phases.parent_lanes import expected_pages
from b24migrate.insight.forecast.children import Children
from b24migrate.insight.forecast.meter import Meter, Used
from b24migrate.insight.forecast.sample import (
    PAGE,
    Ask,
    Calls,
    Load,
    Sampled,
    ask_patiently,
    chain_loads,
    first_and_last,
    listing_loads,
    scale_calls,
    single_job,
    spread_error,
    spread_pages,
)
from b24migrate.insight.forecast.schedule import even_lanes
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.readings import Each, Gather, Keyset, Listing, PerParent, Reading
from b24migrate.model.records import Args, Page, Row
from b24migrate.model.streams import Stream

T = TypeVar("T")
LEAST_PAGES = 40  # of a listing: what fits into a request
MOST_PAGES = 60  # of a sample: enough for any certainty, and little to keep in memory
FILES_ERROR = 0.04  # relative standard error of the number of files that is good enough
MOST_PAGES_FOR_FILES = 200
LEAST_GATHERED = 4
MOST_GATHERED = 200
MOST_ENRICHED = 500  # calls about the rows of one sample
FIRST_ENRICHED = 100  # rows, to see how many calls it takes
WORTH_ANYWAY = 10.0  # times the share, if parents say how many children they have
WHOLE_PAGES = 20  # listings up to this length are read to their end


class Sampler:
    def __init__(self, context: RunContext, meter: Meter, share: float, *, seed: int = 1) -> None:
        self._context = context
        self._meter = meter
        self._share = share
        self._chance = random.Random(seed)
        self._children = Children(context, meter, share, self._chance)
        self.found: dict[str, Sampled] = {}
        self.codes: dict[str, list[str]] = {}  # entity -> its custom fields, which some listings want to be named

    def sample(self, stream: Stream) -> Sampled:
        """After the streams that it depends on."""
        sampled = Sampled(stream)
        self.found[stream.name] = sampled
        self._read(sampled, self._context.reading(stream))
        for which, reading in enumerate(stream.more, 1):
            if self._context.suits(reading):
                self._read(sampled, self._context.reading(stream, which))
        return sampled

    def _read(self, sampled: Sampled, reading: Reading) -> None:
        if isinstance(reading, Listing):
            sampled.loads.append(self._listing(sampled, reading))
        elif isinstance(reading, Each):
            self._read_each(sampled, reading)
        elif isinstance(reading, PerParent):
            if (of := self.found.get(reading.of)) is not None:
                self._children.sample(sampled, reading, of)
        else:
            self._gather(sampled, reading)

    # ------------------------------------------------------------ listings

    def _listing(self, sampled: Sampled, reading: Listing, prefix: str = "") -> list[Load]:
        source, clock = self._context.source, self._context.clock
        if not isinstance(reading.paging, Keyset):
            return [self._read_whole(sampled, reading)]
        if reading.select:
            codes = self.codes.get(self._context.owner[sampled.stream.name].name, [])
            chosen = [*reading.params.get(reading.select, ()), *codes]
            reading = replace(reading, params={**reading.params, reading.select: chosen})
        total = ask_patiently(clock, lambda: source.count(reading))
        small = total is not None and total <= LEAST_PAGES * PAGE
        ids = first_and_last(source, clock, reading) if not small else (0, 0)
        pages = math.ceil((total or ids[1]) / PAGE)
        wanted = pages if small else min(MOST_PAGES, pages, max(LEAST_PAGES, math.ceil(pages * self._share)))
        rows = self._all_rows(reading) if small else self._read_spread(reading, wanted, ids) if ids[1] else []
        count = len(rows) if total is None else total
        enriching, rows = self._enrich(sampled.stream, reading, rows)
        further = min(pages, pages_for_files(sampled.stream, rows, count)) - wanted
        if further > 0:
            met = {row.source_id for row in rows}
            others = [row for row in self._read_spread(reading, further, ids) if row.source_id not in met]
            rows += self._enrich(sampled.stream, reading, others)[1]
        if prefix:
            rows = [row._replace(source_id=f"{prefix}:{row.source_id}") for row in rows]
        self._add(sampled, rows, count, exact=total is not None, basis=say("forecast.total"))
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

    def _read_spread(self, reading: Listing, pages: int, ids: tuple[int, int]) -> list[Row]:
        source, clock = self._context.source, self._context.clock
        return list(spread_pages(source, clock, reading, pages=pages, ids=ids, chance=self._chance))

    def _enrich(self, stream: Stream, reading: Listing, rows: list[Row]) -> tuple[Calls, list[Row]]:
        """The further calls for a row, and the rows with their answers. Some rows show how many calls it takes; if
        these are few, they are made for all rows, since they may find files."""
        enrich = reading.enrich
        if not enrich or not rows or not self._context.facts.grants(enrich.scope):
            return {}, rows
        before = self._meter.used
        # spread over all of them: a portal's old records are others than its new ones
        some = self._choose(rows, FIRST_ENRICHED)
        with suppress(Permanent):  # get continues without it, too
            known = ask_patiently(self._context.clock, lambda: enrich.ask(self._context.source, some))
            each = sum(self._meter.used.since(before).calls.values()) / len(some)
            if each * len(rows) <= MOST_ENRICHED and len(some) < len(rows):
                before, some = self._meter.used, rows
                known = ask_patiently(self._context.clock, lambda: enrich.ask(self._context.source, rows))
            calls = scale_calls(self._meter.used.since(before).calls, 1 / len(some))
            return calls, known if len(some) == len(rows) or _shows_files(stream, some, known) else rows
        return {}, rows

    def _read_whole(self, sampled: Sampled, reading: Listing) -> Load:
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
        _, found = self._enrich(sampled.stream, reading, list(rows.values()))
        count = len(rows) if not cursors or reported is None else reported
        used = self._meter.used.since(before)
        self._add(sampled, found, count, exact=not cursors or reported is not None, basis=say("forecast.read_whole"))
        part = max(1.0, count / len(rows)) if rows else 1.0
        jobs = max(1.0, used.requests * part)
        return Load((jobs,), (Ask(1.0, scale_calls(used.calls, part / jobs)),), count / jobs)

    def _page(self, reading: Listing | Gather, cursor: Args) -> Page:
        return ask_patiently(self._context.clock, lambda: self._context.source.page(reading, cursor))

    def _read_each(self, sampled: Sampled, reading: Each) -> None:
        """Listings that go on side by side."""
        for parent in self.found[reading.of].rows:
            loads = self._listing(sampled, reading.listing(parent), reading.prefix(parent))
            sampled.loads.append(loads)
        sampled.loads = [_merge_chains(sampled.loads)] if sampled.loads else []

    # ------------------------------------------------------------ what reads by itself

    def _gather(self, sampled: Sampled, reading: Gather) -> None:
        """First what there is to read; then some of it."""
        before = self._meter.used
        first = self._page(reading, {})
        begun = single_job(self._meter.used.since(before), len(first.rows))
        sampled.add_aside(first)
        if not first.next:
            sampled.loads.append([begun])
            self._add(sampled, first.rows, len(first.rows), exact=True, basis=say("forecast.read_whole"))
            return
        chosen = self._choose(first.next, max(LEAST_GATHERED, math.ceil(len(first.next) * self._share)))
        before = self._meter.used
        pages = [self._page(reading, cursor) for cursor in chosen]
        if any(page.next for page in pages):
            first_pages = dict(zip(map(repr, chosen), pages, strict=True))
            sampled.loads.append([begun, *self._read_chains(sampled, reading, first.next, first_pages)])
            return
        more = self._worth_factor(
            sampled.stream, [row for page in pages for row in page.rows], self._meter.used.since(before)
        )
        if more > 1 and len(chosen) < len(first.next):
            others = self._choose(first.next, min(MOST_GATHERED, math.ceil(len(chosen) * more)))
            known = {repr(cursor) for cursor in chosen}
            fresh = [cursor for cursor in others if repr(cursor) not in known]
            pages += [self._page(reading, cursor) for cursor in fresh]
            chosen += fresh
        used, part = self._meter.used.since(before), len(first.next) / len(chosen)
        rows = [row for page in pages for row in page.rows]
        for page in pages:
            sampled.add_aside(page, part)
        error = spread_error([len(page.rows) for page in pages], len(first.next))
        ask = Ask(used.requests / len(chosen), scale_calls(used.calls, 1 / len(chosen)))
        jobs = len(first.next)
        sampled.loads.append([begun, Load(even_lanes(jobs, jobs), (ask,), len(rows) / len(chosen), error)])
        whole = len(chosen) == len(first.next)
        self._add(
            sampled,
            rows,
            len(rows) * part,
            exact=whole,
            basis=say("forecast.of_them", count=len(rows)),
            uncertain=error,
        )

    def _choose(self, things: Sequence[T], wanted: int) -> list[T]:
        """So many of them: one from each of as many equal stretches."""
        if wanted >= len(things):
            return list(things)
        step = len(things) / wanted
        return [things[math.floor(step * (place + self._chance.random()))] for place in range(wanted)]

    def _worth_factor(self, stream: Stream, rows: Sequence[Row], used: Used) -> float:
        """How many times as many parents the sample may take in. Looking at a parent costs a call or two, reading its
        children hundreds: so if parents say how many children they have, many are looked at for the same share of
        the whole work. It is the few with very many children that a small sample misses."""
        shown = [decode_row(row, stream) for row in rows]
        siblings = self._context.owner[stream.name].streams
        readings = [self._context.reading(one) for one in siblings]
        families = [one for one in readings if isinstance(one, PerParent) and one.of == stream.name]
        pairs = [(one, parent) for one in families for parent in shown if one.parents.expected(parent) is not None]
        if not pairs:
            return 1.0
        pages = sum(expected_pages(one, parent) for one, parent in pairs)
        return max(WORTH_ANYWAY, 1 + pages / max(1.0, sum(used.calls.values())))

    def _read_chains(
        self, sampled: Sampled, reading: Gather, begins: Sequence[Args], known: Mapping[str, Page]
    ) -> list[Load]:
        """A listing by pages that reports its total: pages in between are sampled too."""
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
            further = scale_calls(self._meter.used.since(before).calls, 1 / steps) if steps else {}
            chain = chain_loads(begun, further, pages=math.ceil(total / PAGE), records=total, together=together)
            again = Load((1.0,), (Ask(1.0, scale_calls(further, 1.0)),), 0.0)  # the first page is read once more
            chains.append([*chain, again] if together else chain)
            unique = {row.source_id: row for row in rows}
            self._add(sampled, list(unique.values()), total, exact=len(begins) == 1, basis=say("forecast.total"))
            if len(begins) > 1:
                sampled.uncertain = 0.5  # several people see partly the same
        return _merge_chains(chains)

    # ------------------------------------------------------------ what was met

    def _add(
        self, sampled: Sampled, rows: Iterable[Row], count: float, *, exact: bool, basis: str, uncertain: float = 0.0
    ) -> None:
        for row in rows:
            sampled.add_row(decode_row(row, sampled.stream), len(row.payload), self._chance)
        sampled.count += count
        sampled.exact = sampled.exact and exact
        sampled.basis = basis
        sampled.uncertain = max(sampled.uncertain, 0.0 if exact else uncertain)


def pages_for_files(stream: Stream, rows: Sequence[Row], count: float) -> int:
    """The number of further pages that a good estimate of files needs: each file may be a request, and so most of the
    time, while fifty pages are one. 0: there are no files, or the estimate is good enough."""
    met = sum(1 for row in rows for _ in stream.files(decode_row(row, stream))) if stream.files and rows else 0
    part = count / len(rows) if rows else 1.0
    if not met or part <= 1 or math.sqrt((1 - 1 / part) / met) <= FILES_ERROR:
        return 0
    enough = 1 / (FILES_ERROR**2 + 1 / (met * part))  # of them have to be met
    return min(MOST_PAGES_FOR_FILES, math.ceil(enough / met * len(rows) / PAGE))


def _shows_files(stream: Stream, before: Sequence[Row], after: Sequence[Row]) -> bool:
    """Whether further calls find files: then a row without them is not representative."""
    if stream.files is None:
        return False
    found = [sum(1 for row in rows for _ in stream.files(decode_row(row, stream))) for rows in (before, after)]
    return found[0] != found[1]


def _merge_chains(chains: Sequence[Sequence[Load]]) -> list[Load]:
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
                calls.update(scale_calls(ask.calls, part))
                asks[number] = Ask(known.requests + ask.requests * part, calls)
        records = sum(one.records * one.jobs for one in mine) / jobs
        lanes = tuple(lane for one in mine for lane in one.lanes)
        together.append(Load(lanes, tuple(asks.values()), records, max(one.uncertain for one in mine)))
    return together


def starts(total: int, share: float) -> list[int]:
    """The start of some further pages of a chain."""
    pages = math.ceil(total / PAGE)
    wanted = min(MOST_PAGES, max(LEAST_GATHERED, math.ceil(pages * share)), pages - 1)
    return [PAGE * (1 + math.floor((pages - 1) * place / wanted)) for place in range(wanted)] if wanted > 0 else []
