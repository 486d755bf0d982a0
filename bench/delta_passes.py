"""k: how many requests `sync` takes for the company of `full_pass`, as a share of its full pass."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from bench.bounds import COMMANDS
from bench.figures import Figure, at_most
from bench.full_pass import STEPS, Company, carried, extrapolate, source_of
from bench.processes import box, passes

DOWNLOADS = frozenset({"disk.file.get"})  # links of files; the records of this company have no others
SIZES, QUICK = (5, 10), (50, 100)  # parts of the company that are measured: one to so many
BATCH = "batch"
BARS = {0.0: 2.5, 0.001: 3.0, 0.01: 5.0, 0.05: 12.0}  # share of records that changed: percent of the full pass


class Method(NamedTuple):
    """Requests whose first command is this method, and all its commands: in the larger and in the smaller part."""

    name: str
    requests: int
    commands: int
    fewer: int

    def of_whole(self, larger: int, smaller: int) -> float:
        """What the rest of the records adds comes in full requests."""
        slope = (self.commands - self.fewer) / (1 / larger - 1 / smaller)
        return self.requests + max(0.0, slope) * (1 - 1 / larger) / COMMANDS


def measured(quick: bool) -> Iterator[Figure]:
    larger, smaller = QUICK if quick else SIZES
    done = {scale: read(scale) for scale in (larger, smaller)}
    found = carried(done[larger]["steps"])
    full = sum(requests for _, requests, _, _ in extrapolate(found, Company().part(larger)))
    for large, small in zip(done[larger]["deltas"], done[smaller]["deltas"], strict=True):
        methods = [one for one in methods_of(large, small) if one.name not in DOWNLOADS]
        total = sum(one.of_whole(larger, smaller) for one in methods)
        share = 100 * total / full
        for one in sorted(methods, key=lambda one: -one.of_whole(larger, smaller)):
            told = f"{one.of_whole(larger, smaller):6.0f}; 1:{larger} took {one.requests} ({one.commands} commands)"
            print(f"      {one.name}: {told}, 1:{smaller} {one.fewer} commands", file=sys.stderr)
        for note in large["notes"]:
            print(f"      {note}", file=sys.stderr)
        shown = f"{share:.1f} %: {total:,.0f} of {full:,.0f} requests; 1:{larger} took {sum(large['carried'].values())}"
        yield at_most("k", f"delta pass, {large['share']:.1%} changed", share, BARS[large["share"]], shown)


def methods_of(large: dict[str, Any], small: dict[str, Any]) -> list[Method]:
    requests, commands, fewer = Counter(large["carried"]), Counter(large["commands"]), Counter(small["commands"])
    return [Method(name, requests[name], commands[name], fewer[name]) for name in commands if name != BATCH]


def read(scale: int) -> dict[str, Any]:
    with box() as target, source_of(Company().part(scale), genuine=True) as source:
        return passes(source, target, steps=STEPS, shares=list(BARS), per_second=0, operating_s=0)
