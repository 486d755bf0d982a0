"""`python -m tests.chaos`: several companies, one after the other. Exit code 1 on any difference."""

from __future__ import annotations

import argparse
import secrets
import signal
import sys
import time
from pathlib import Path
from typing import Any

from tests.chaos.boxes import BOXES
from tests.chaos.company import GROUNDS, SIZES, Size, survive
from tests.chaos.days import live

KILLS, NIGHTLY = 30, 3
ALL_S = 300.0  # no further company starts if it could not finish in time
ONE_S = {"sqlite": 240.0, "azurite": 900.0, "php": 600.0, "rest": 600.0}
SLOWER = "on a busy machine: clocks run so much slower, and each company may take so much longer"
TARGETS = "php: the module for the box, killed as well; rest: a box without it, by its own methods"


def main() -> int:
    options = _options()
    # Ending this process also ends its children, in the `finally` blocks.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    seeds = options.seed or [secrets.randbelow(10_000) for _ in range(options.companies)]
    print(f"seeds {' '.join(map(str, seeds))}", flush=True)
    started, slowest, proven = time.monotonic(), 0.0, 0
    for seed in seeds:
        began = time.monotonic()
        if proven and began - started + slowest > ALL_S and not options.seed and not options.days:
            print(f"no time left for seed {seed} and those after it")
            break
        try:
            report, differences = _one(options, seed)
        except (TimeoutError, RuntimeError) as failure:
            print(f"seed {seed}: NOT PROVEN: {failure}", file=sys.stderr)
            return 1
        print(report, flush=True)
        if differences:
            again = f"--store {options.store} --target {options.target} --days {options.days} --seed {seed}"
            print(f"run it again with: python -m tests.chaos {again}", file=sys.stderr)
            return 1
        slowest, proven = max(slowest, time.monotonic() - began), proven + 1
    print(f"{proven} companies proven in {time.monotonic() - started:.0f} s: nothing lost, nothing doubled")
    return 0


def _one(options: argparse.Namespace, seed: int) -> tuple[str, list[str]]:
    """The result of one company, with its differences from the expected one."""
    size, most = SIZES.get(options.target, Size()), max(ONE_S[options.store], ONE_S.get(options.target, 0.0))
    seconds = most * options.slower
    where: dict[str, Any] = {name: getattr(options, name) for name in ("target", "keep", "slower")}
    where["ground"] = options.store
    if options.days:
        kills = NIGHTLY if options.kills is None else options.kills
        lived = live(seed, options.days, size, kills=kills, seconds=seconds * (options.days + 2), **where)
        return str(lived), lived.differences
    report = survive(seed, KILLS if options.kills is None else options.kills, size, seconds=seconds, **where)
    return str(report), report.proof.differences


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, action="append", help="this company and this weather; may be repeated")
    parser.add_argument("--companies", type=int, default=3, help="how many random seeds (default 3)")
    parser.add_argument(
        "--kills", type=int, help=f"how often each migration is killed (default {KILLS}; with --days {NIGHTLY} a night)"
    )
    parser.add_argument("--days", type=int, default=0, help="first a run, then so many days of work and `sync`")
    parser.add_argument("--store", choices=GROUNDS, default="sqlite", help="azurite: three processes share the work")
    parser.add_argument("--target", choices=BOXES, default="sim", help=TARGETS)
    parser.add_argument("--slower", type=float, default=1.0, help=SLOWER)
    parser.add_argument("--keep", type=Path, help="a folder for what is left of those that are not proven")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
