"""f: crm-deals-get of half a million deals with their product rows, under the limits; memory stays flat."""

from __future__ import annotations

from typing import Any

from bench import bounds
from bench.figures import Figure, at_least, at_most
from bench.processes import box, ours, portal

BAR, MEMORY_BAR, MEMORY_LIMIT_MB = 0.95, 1.2, 200.0
FEW, MANY, MANY_QUICK = 50_000, 500_000, 100_000
SPEED = 2
COST_S = 0.01  # of a command of either method
NOTHING_ELSE: dict[str, object] = {
    "users": 20,
    "departments": 5,
    "groups": 0,
    "chats": 0,
    "messages": 0,
    "files": 0,
    "bad_users": 0,
    "companies": 0,
    "contacts": 0,
    "smart_types": 0,
    "posts": 0,
    "templates": 0,
}


def measured(quick: bool) -> list[Figure]:
    many = MANY_QUICK if quick else MANY
    few_mb = read(FEW, rest_s=0)["peak_mb"]
    done = read(many, rest_s=10)
    many_mb = done["peak_mb"]
    needed = fewest(many)
    ideal_s = possible(many, at=done["portal_at"])
    share, growth = ideal_s / done["phase_s"], many_mb / few_mb
    shown = (
        f"{share:.3f}: {done['phase_s']:.1f} s for {many:,} deals, {ideal_s:.1f} s are possible"
        f" ({sum(done['source_calls'].values())} requests, {needed} are needed)"
    )
    grown = f"{growth:.2f} ×: {many_mb:.0f} against {few_mb:.0f} MB"
    return [
        at_least("f", "crm-deals-get", share, BAR, shown),
        Figure("f", "crm-deals-get, CPU", f"{many / done['cpu_s']:,.0f} deals a CPU second"),
        at_most("f", f"memory of crm-deals-get, {many:,} against {FEW:,}", growth, MEMORY_BAR, grown),
        at_most("f", f"memory of crm-deals-get, {many:,}", many_mb, MEMORY_LIMIT_MB, f"{many_mb:.0f} MB"),
    ]


def read(deals: int, *, rest_s: float) -> dict[str, Any]:
    with (
        box() as target,
        portal(deals=deals, many_owners=True, default_cost=COST_S, speed=SPEED, **NOTHING_ELSE) as source,
    ):
        # People come first, which is no part of the figure; then the bucket is given the time to drain.
        steps = [("users", "get"), ("users", "set"), ("crm_deals", "get")]
        done = ours(source, target, *steps, speed=SPEED, rest_s=rest_s)[2]
    if done["records"]["crm_deals"] != deals:
        raise RuntimeError(f"{done['records']['crm_deals']} of {deals} deals came")
    return done


def fewest(deals: int) -> int:
    """Full chains of pages, and one question for the product rows of every page's deals, fifty to a request."""
    return 2 * bounds.full(bounds.pages(deals))


def possible(deals: int, *, at: float) -> float:
    """The bucket takes the requests of both methods, and both share the execution time of `batch`."""
    of_both = bounds.soonest(2 * bounds.pages(deals), COST_S, at=at)
    return max(bounds.requests_alone(fewest(deals)), of_both)
