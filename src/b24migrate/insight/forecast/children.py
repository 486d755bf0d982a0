"""Samples the children of parents that were sampled before."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from b24migrate.engine.phases.context import RunContext, decode_row
from b24migrate.engine.phases.parent_lanes import expected_pages
from b24migrate.engine.phases.read_children import add_unlisted
from b24migrate.insight.forecast.meter import Billed, Meter
from b24migrate.insight.forecast.sample import (
    COMMANDS,
    PAGE,
    Sampled,
    ask_patiently,
    children_load,
    scale_calls,
    spread_error,
)
from b24migrate.model.records import Page
from b24migrate.model.streams import PerParent, Progress, SourceRecord

LEAST_PARENTS = 200
MOST_CHILD_CALLS = 1_000  # twenty requests


class _Family(NamedTuple):
    """Parents whose children are read: how many there are in all, and how many children each of those met has."""

    reading: PerParent
    of: Sampled
    parents: float
    counts: Sequence[int]


class Children:
    def __init__(self, context: RunContext, meter: Meter, share: float, chance: random.Random) -> None:
        self._context = context
        self._meter = meter
        self._share = share
        self._chance = chance

    def sample(self, sampled: Sampled, reading: PerParent, of: Sampled) -> None:
        """`of`: the parents, as far as they are known."""
        if not of.kept:
            return
        with_any = [parent for parent in of.kept if reading.only(parent)]
        parents_in_all = of.kept_count * len(with_any) / len(of.kept)
        self._chance.shuffle(with_any)
        if not with_any:
            return
        if all(reading.expected(parent) is not None for parent in with_any):
            self._sample_counted(sampled, reading, with_any, parents_in_all, of)
        else:
            self._sample_uncounted(sampled, reading, with_any, parents_in_all, of)

    def _sample_counted(
        self, sampled: Sampled, reading: PerParent, parents: Sequence[SourceRecord], in_all: float, of: Sampled
    ) -> None:
        """Parents say how many they have; some are read all the same, to see what is in them."""
        pages = [expected_pages(reading, parent) for parent in parents]
        counts = [int(reading.expected(parent) or 0) for parent in parents]
        calls: Counter[Billed] = Counter()
        for parent, number in zip(parents, pages, strict=True):
            calls[reading.via(parent, self._context.source.owners), reading.method.lower()] += number
        whole, large = choose_parents(parents, pages)
        self._read_families(sampled, reading, whole)
        for parent in large:
            self._read_families(sampled, reading, [parent], to_the_end=False)
        part = in_all / len(parents)
        family = _Family(reading, of, in_all, counts)
        self._add_load(sampled, family, scale_calls(calls, part), pages)
        self._add_count(sampled, family, sum(counts) * part)

    def _sample_uncounted(
        self, sampled: Sampled, reading: PerParent, parents: Sequence[SourceRecord], in_all: float, of: Sampled
    ) -> None:
        """So many of them are read. Those who have a webhook see more than others do: they stand for themselves."""
        owners = set(self._context.source.owners) if reading.of == self._context.people else set()
        apart = [SourceRecord(owner, {}, {}) for owner in sorted(owners)]
        others = [parent for parent in parents if parent.id not in owners]
        chosen = others[: max(LEAST_PARENTS, math.ceil(in_all * self._share))]
        own, own_counts = self._ask(sampled, reading, apart)
        calls, counts = self._ask(sampled, reading, chosen)
        part = max(1.0, (in_all - len(apart)) / len(chosen)) if chosen else 1.0
        every = Counter(scale_calls(calls, part))
        every.update(own)
        pages = [1 + count // PAGE for count in counts]
        family = _Family(reading, of, in_all, counts)
        self._add_load(sampled, family, every, [*pages, *(1 + one // PAGE for one in own_counts)])
        if reading.row_key is None or not reading.bare:
            self._add_count(sampled, family, sum(counts) * part + sum(own_counts))

    def _ask(
        self, sampled: Sampled, reading: PerParent, parents: Sequence[SourceRecord]
    ) -> tuple[Counter[Billed], list[int]]:
        """The calls that it took, and how many children each has."""
        before = self._meter.used
        per_parent = self._read_families(sampled, reading, parents)
        calls: Counter[Billed] = Counter()
        for key, count in self._meter.used.since(before).calls.items():
            calls[key] += math.ceil(count)
        return calls, [per_parent[parent.id] for parent in parents]

    @staticmethod
    def _add_load(sampled: Sampled, family: _Family, calls: Mapping[Billed, float], pages: Sequence[int]) -> None:
        error = math.hypot(spread_error(pages, family.parents), family.of.uncertain)
        records = sum(family.counts) * family.parents / max(1, len(family.counts))
        longest = max(pages, default=0)
        load = children_load(calls, parents=family.parents, longest=longest, records=records, uncertain=error)
        if load:
            sampled.loads.append([load])
        sampled.longest = max(sampled.longest, max(family.counts, default=0))

    @staticmethod
    def _add_count(sampled: Sampled, family: _Family, count: float) -> None:
        of, counts, parents = family.of, family.counts, family.parents
        whole = of.exact and len(counts) >= round(parents)
        sampled.count += count
        sampled.exact = whole
        sampled.basis = f"{len(counts)} of {round(parents)} {family.reading.of}"
        sampled.uncertain = 0.0 if whole else math.hypot(spread_error(counts, parents), of.uncertain)
        sampled.asides_of = max(1.0, parents / max(1, len(counts)))

    def _read_families(
        self, sampled: Sampled, reading: PerParent, parents: Sequence[SourceRecord], *, to_the_end: bool = True
    ) -> Counter[str]:
        """Meets the children of these, or as many as a request brings. How many each has."""
        found: Counter[str] = Counter()
        for start in range(0, len(parents), COMMANDS):
            progress = [Progress(parent) for parent in parents[start : start + COMMANDS]]
            by_id = {one.parent.id: one.parent for one in progress}
            others = _group_by_parent(sampled.rows, reading.twins) if reading.twins else {}
            while progress:
                page = self._page(reading, progress)
                sampled.add_aside(page)
                for row in page.rows:
                    one = decode_row(row, sampled.stream)
                    if any(reading.same(one, other) for other in others.get(one.parent, ())):
                        continue  # it was read before in another place; get sets it aside
                    sampled.add_row(one, len(row.payload), self._chance)
                    found[str(one.extras.get("of") or one.parent)] += 1
                progress = [
                    Progress(
                        by_id[one["id"]],
                        int(one["after"]),
                        int(one["got"]),
                        int(one.get("via", -1)),
                        int(one.get("first", 0)),
                    )
                    for one in (page.next if to_the_end else ())
                ]
        return found

    def _page(self, reading: PerParent, progress: Sequence[Progress]) -> Page:
        parents = {one.parent.id: one.parent for one in progress}

        def read() -> Page:
            return add_unlisted(self._context, reading, parents, self._context.source.children(reading, progress))

        return ask_patiently(self._context.clock, read)


def _group_by_parent(rows: Sequence[SourceRecord], mark: str) -> dict[str, list[SourceRecord]]:
    """Those whose own id begins with the mark."""
    found: dict[str, list[SourceRecord]] = {}
    for row in rows:
        if row.child.startswith(mark):
            found.setdefault(row.parent, []).append(row)
    return found


def choose_parents(
    parents: Sequence[SourceRecord], pages: Sequence[int]
) -> tuple[list[SourceRecord], list[SourceRecord]]:
    """As many of them as a fair number of pages allows: those that are read whole, and those that have very many."""
    budget, whole, large = MOST_CHILD_CALLS, list[SourceRecord](), list[SourceRecord]()
    for parent, number in zip(parents, pages, strict=True):
        if budget <= 0:
            break
        (whole if number < COMMANDS else large).append(parent)
        budget -= min(number, COMMANDS)
    return whole, large
