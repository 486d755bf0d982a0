"""Samples the children of parents that were sampled before."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from b24migrate.engine.phases.context import RunContext, decode_row
from b24migrate.engine.phases.enrichment import enrich_rows
from b24migrate.engine.phases.hints import hint_of, narrow_trust, refuted_key, sampled_share
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
from b24migrate.model.readings import PerParent, Progress
from b24migrate.model.records import Page, Row
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import CHECKPOINTS

LEAST_PARENTS = 200
MOST_CHILD_CALLS = 1_000  # twenty requests


class _Family(NamedTuple):
    """Parents whose children are read: their number, and how many children each sampled one has."""

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
        # stream and id of children that parents share, and in how many lists each is
        self._met: dict[tuple[str, str], int] = {}
        self._new = 0  # of the latest children those that are new
        self._shares = 0.0  # and how many they are if one that is in two lists counts as half in each

    def sample(self, sampled: Sampled, reading: PerParent, of: Sampled) -> None:
        """`of`: the parents, as far as they are known."""
        if not of.kept:
            return
        with_any = [parent for parent in of.kept if reading.parents.only(parent)]
        self._chance.shuffle(with_any)
        reading = narrow_trust(reading, round(of.kept_count))
        with_any = self._ask_by_hints(sampled, reading, with_any, of)
        parents_in_all = of.kept_count * len(with_any) / len(of.kept)
        if not with_any:
            return
        if all(reading.parents.expected(parent) is not None for parent in with_any):
            self._sample_counted(sampled, reading, with_any, parents_in_all, of)
        else:
            self._sample_uncounted(sampled, reading, with_any, parents_in_all, of)

    def _ask_by_hints(
        self, sampled: Sampled, reading: PerParent, parents: Sequence[SourceRecord], of: Sampled
    ) -> list[SourceRecord]:
        """The parents that get asks. Of the others it asks a sample, which costs a call each."""
        hints = {parent.id: hint_of(reading, parent) for parent in parents}
        share = sampled_share(of.kept_count)
        for hint in {*hints.values()} - {""}:
            some = [parent for parent in parents if hints[parent.id] == hint]
            if share == 1.0 or self._is_refuted(sampled.stream, reading, hint, some):
                hints |= dict.fromkeys((parent.id for parent in some), "")
                continue
            in_all = share * of.kept_count * len(some) / len(of.kept)
            calls = Counter(self._billed(reading, one) for one in some)
            family = _Family(reading, of, in_all, [0] * len(some))
            self._add_load(sampled, family, scale_calls(calls, in_all / len(some)), [1] * len(some))
        return [parent for parent in parents if not hints[parent.id]]

    def _is_refuted(self, stream: Stream, reading: PerParent, hint: str, parents: Sequence[SourceRecord]) -> bool:
        """By a pass before, or by some of these parents."""
        which = next((place for place, one in enumerate(stream.more, 1) if one.method == reading.method), 0)
        if self._context.store.read(CHECKPOINTS, refuted_key(stream, which, hint)) is not None:
            return True
        some = parents[:LEAST_PARENTS]
        for start in range(0, len(some), COMMANDS):
            page = self._page(reading, [Progress(parent) for parent in some[start : start + COMMANDS]])
            if any(got for _, got in page.parents.values()):
                return True
        return False

    def _sample_counted(
        self, sampled: Sampled, reading: PerParent, parents: Sequence[SourceRecord], in_all: float, of: Sampled
    ) -> None:
        """Parents say how many they have; some are still read, to see what is in them."""
        pages = [expected_pages(reading, parent) for parent in parents]
        counts = [int(reading.parents.expected(parent) or 0) for parent in parents]
        calls: Counter[Billed] = Counter()
        for parent, number in zip(parents, pages, strict=True):
            calls[self._billed(reading, parent)] += number
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
        """Reads a number of them. Webhook owners see more than others: they do not represent other users."""
        owners = set(self._context.source.owners) if reading.of == self._context.people else set()
        apart = [SourceRecord(owner, {}, {}) for owner in sorted(owners)]
        others = [parent for parent in parents if parent.id not in owners]
        chosen = others[: max(LEAST_PARENTS, math.ceil(in_all * self._share))]
        own, own_counts = self._ask(sampled, reading, apart)
        calls, counts = self._ask(sampled, reading, chosen)
        if any(map(reading.parents.uncounted, chosen)):
            calls = self._count_calls(reading, chosen, counts)
        part = max(1.0, (in_all - len(apart)) / len(chosen)) if chosen else 1.0
        if reading.shared and self._new:  # a child is requested once, in however many lists it is
            of_lists = {key: count for key, count in calls.items() if key[1] == reading.method.lower()}
            calls = Counter({**scale_calls(calls, self._shares / self._new), **of_lists})
        every = Counter(scale_calls(calls, part))
        every.update(own)
        pages = [1 + count // PAGE for count in counts]
        family = _Family(reading, of, in_all, counts)
        self._add_load(sampled, family, every, [*pages, *(1 + one // PAGE for one in own_counts)])
        if not (reading.keys and reading.keys.bare):
            once = self._shares / max(1, sum(counts)) if reading.shared else 1.0
            self._add_count(sampled, family, (sum(counts) * part + sum(own_counts)) * once)

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

    def _count_calls(
        self, reading: PerParent, parents: Sequence[SourceRecord], counts: Sequence[int]
    ) -> Counter[Billed]:
        """The calls of walks of which some prove their end and the others trust a small page. The first walks of a
        process prove it in any case: much of a sample, and little of the whole."""
        calls: Counter[Billed] = Counter()
        for parent, count in zip(parents, counts, strict=True):
            trusted = reading.parents.uncounted(parent) and 0 < count % PAGE < PAGE // 2
            calls[self._billed(reading, parent)] += count // PAGE + 1 + (count % PAGE != 0 and not trusted)
        return calls

    def _billed(self, reading: PerParent, parent: SourceRecord) -> Billed:
        """The webhook and the method that a call for this parent counts against."""
        return reading.webhooks.first(parent, self._context.source.owners), reading.method.lower()

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
        self._new, self._shares = 0, 0.0
        for start in range(0, len(parents), COMMANDS):
            progress = [Progress(parent) for parent in parents[start : start + COMMANDS]]
            by_id = {one.parent.id: one.parent for one in progress}
            twins = reading.twins
            others = _group_by_parent(sampled.rows, twins.mark) if twins else {}
            while progress:
                page = self._page(reading, progress)
                sampled.add_aside(page)
                for row in self._enrich(sampled, reading, self._without_repeats(sampled, reading, page.rows)):
                    one = decode_row(row, sampled.stream)
                    if twins and any(twins.same(one, other) for other in others.get(one.parent, ())):
                        continue  # it was read before in another place; get sets it aside
                    sampled.add_row(one, len(row.payload), self._chance)
                    self._new += 1
                    lists = reading.keys.lists(one) if reading.keys else 1
                    self._met[sampled.stream.name, row.source_id] = max(1, lists)
                    if not reading.shared:
                        found[str(one.extras.get("of") or one.parent)] += 1
                if reading.shared:
                    self._shares += sum(1 / self._met[sampled.stream.name, row.source_id] for row in page.rows)
                    found.update({parent: got for parent, (_, got) in page.parents.items()})
                progress = [
                    Progress(
                        by_id[one["id"]],
                        int(one["after"]),
                        int(one["got"]),
                        int(one.get("via", -1)),
                        int(one.get("first", 0)),
                    )
                    for one in ((*page.next, *page.last) if to_the_end else ())
                ]
        return found

    def _without_repeats(self, sampled: Sampled, reading: PerParent, rows: list[Row]) -> list[Row]:
        """A child that several parents share counts once."""
        if not reading.shared:
            return rows
        new = {(sampled.stream.name, row.source_id): row for row in rows}
        new = {key: row for key, row in new.items() if key not in self._met}
        self._met |= dict.fromkeys(new, 1)
        return list(new.values())

    def _enrich(self, sampled: Sampled, reading: PerParent, rows: list[Row]) -> list[Row]:
        """Requests the same details for the sampled children as get does for all."""
        return ask_patiently(
            self._context.clock, lambda: enrich_rows(self._context, sampled.stream, reading, rows, gently=False)
        )

    def _page(self, reading: PerParent, progress: Sequence[Progress]) -> Page:
        parents = {one.parent.id: one.parent for one in progress}

        def read() -> Page:
            return add_unlisted(self._context, reading, parents, self._context.source.children(reading, progress))

        return ask_patiently(self._context.clock, read)


def _group_by_parent(rows: Sequence[SourceRecord], mark: str) -> dict[str, list[SourceRecord]]:
    """Those whose own ID starts with the mark."""
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
