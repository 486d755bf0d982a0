"""k: how near the forecast of a freeze comes to what it takes."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figures import Figure, at_most
from bench.full_pass import Company, source_of
from bench.processes import box, freeze

BAR = 0.2
SCALE = 100
SHARE = 0.01  # of the records change in a day
SPEED = 2.0
# The burst of 50 requests, which a pass of so small a company would hardly outlast, is shorter.
BUCKET = 10


def measured(_quick: bool) -> Iterator[Figure]:
    company = Company().part(SCALE)
    limits = {"limits": "on", "bucket": BUCKET, "speed": SPEED}
    with box(speed=SPEED) as target, source_of(company, genuine=True, **limits) as source:
        times = freeze(source, target, speed=SPEED, share=SHARE, bucket=BUCKET)
    error = times["forecast_s"] / times["took_s"] - 1
    rehearsed = " and ".join(f"{one:,.0f} s" for one in times["rehearsed_s"])
    shown = (
        f"{error:+.1%}: forecast {times['forecast_s']:,.0f} s, took {times['took_s']:,.0f} s; rehearsed in {rehearsed}"
    )
    yield at_most("k", "forecast of a freeze", abs(error), BAR, shown)
