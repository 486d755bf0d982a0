"""h: four worker processes on one store use as much of the limits as one process does, and not more."""

from __future__ import annotations

from typing import Any

from bench import bounds
from bench.figures import Figure, at_least, at_most
from bench.processes import Portal, box, crew, ours, portal
from bench.under_limits import NOBODY_ELSE

PROCESSES = 4
BAR = 0.95
REFUSED_BAR = 0.02  # of all requests
STEP = ("users", "get")


def measured(quick: bool) -> list[Figure]:
    with box() as target:
        return [
            *_compared(target, "requests", users=200_000 if quick else 400_000, cost_s=0.001, speed=1),
            *_compared(target, "execution time", users=20_000 if quick else 32_000, cost_s=2.5, speed=50),
        ]


def _compared(target: Portal, what: str, *, users: int, cost_s: float, speed: float) -> list[Figure]:
    def use(processes: int) -> tuple[float, dict[str, Any]]:
        with portal(users=users, cost=f"user.get={cost_s}", speed=speed, **NOBODY_ELSE) as source:
            if processes > 1:
                done = crew(source, target, STEP, speed=speed, processes=processes, workers=1)
            else:
                done = ours(source, target, STEP, speed=speed)[0]
            stats = source.stats()
        if done["records"]["users"] != users:
            raise RuntimeError(f"{done['records']['users']} of {users} records came")
        ideal_s = bounds.soonest(bounds.pages(users), cost_s, at=done["portal_at"], before=1)
        return ideal_s / done["clock_s"], stats | {"pages": done.get("pages")}

    one, before = use(1)
    all_of_them, stats = use(PROCESSES)
    ratio, requests = all_of_them / one, stats["http_requests"]
    refused, spent = stats["limit_rejections"]["query"], stats["limit_rejections"]["operating"]
    alone = before["limit_rejections"]["operating"]
    what = f"{PROCESSES} processes, bound by {what}"
    shares = " + ".join(map(str, stats["pages"]))
    shown = f"{ratio:.3f} ×: {all_of_them:.3f} of what is possible, one process {one:.3f} (jobs: {shares})"
    refusals = f"{refused} of {requests} requests ({spent} for lack of execution time, {alone} with one process)"
    return [
        at_least("h", what, ratio, BAR, shown),
        at_most("h", f"{what}: refused", refused / requests, REFUSED_BAR, refusals),
    ]
