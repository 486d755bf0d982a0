"""`python -m tests.fuzz`: many seeds, a few side by side. Exit code 1 when one of them fails."""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.mutations import KINDS
from tests.fuzz.seed import RATE, Report, fuzz


def main() -> int:
    options = _options()
    seeds = list(range(options.first, options.first + options.seeds))
    done: list[Report] = []
    started = time.monotonic()
    running: dict[int, tuple[int, int]] = {}  # process -> its seed and where it tells
    while seeds or running:
        while seeds and len(running) < options.side_by_side:
            seed = seeds.pop(0)
            tells, to = os.pipe()
            child = os.fork()
            if not child:
                _one(seed, options, to)
            os.close(to)
            running[child] = seed, tells
        report = _finished(running)
        done.append(report)
        if report.faults or options.verbose:
            print(report, flush=True)
    print(summary(done, time.monotonic() - started))
    return 1 if any(one.faults for one in done) else 0


def _one(seed: int, options: argparse.Namespace, to: int) -> None:
    try:
        report = fuzz(seed, rate=options.rate, keep=options.keep, due=_due(seed, options))
    except Exception as failure:  # noqa: BLE001 - told by whoever waits
        report = Report(seed, faults=[f"{type(failure).__name__}: {failure}"])
    try:
        with os.fdopen(to, "wb") as out:
            pickle.dump(report, out)
    finally:
        os._exit(0)


def _due(seed: int, options: argparse.Namespace) -> list[str]:
    """With `--each` the ways are dealt out among the seeds, so that none is missing."""
    return list(KINDS[seed % options.seeds :: options.seeds]) if options.each else []


def _finished(running: dict[int, tuple[int, int]]) -> Report:
    child, _ = os.wait()
    seed, tells = running.pop(child)
    with os.fdopen(tells, "rb") as pipe:
        content = pipe.read()
    return pickle.loads(content) if content else Report(seed, faults=["it ended without a word"])  # noqa: S301 - our own child


def summary(done: list[Report], seconds: float) -> str:
    exits = Counter(code for one in done for code in one.exits[:1])
    later = Counter(code for one in done for code in one.exits[1:])
    made = Counter(name.partition(":")[2] for one in done for name, count in one.made.items() for _ in range(count))
    failed = [str(one.seed) for one in done if one.faults]
    lines = [
        f"{len(done)} seeds in {seconds:.0f} s, {sum(made.values())} answers changed in {len(made)} of {len(KINDS)} ways",
        f"exit codes {dict(sorted(exits.items()))}, when honest again {dict(sorted(later.items()))}",
        f"largest memory {max((one.memory_mb for one in done), default=0):.0f} MB",
        f"longest seed {max((one.seconds for one in done), default=0):.1f} s",
        f"failed: {' '.join(failed) or 'none'}",
    ]
    return "; ".join(lines)


def _options() -> argparse.Namespace:
    many = max(1, min(4, (os.cpu_count() or 1)))
    options = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    options.add_argument("--seeds", type=int, default=200, help="how many (default 200)")
    options.add_argument("--first", type=int, default=1, help="the first of them (default 1)")
    options.add_argument("--rate", type=float, default=RATE, help="the share of the answers that are changed")
    options.add_argument("--side-by-side", type=int, default=many, help=f"at a time (default {many})")
    options.add_argument("--each", action="store_true", help="every way of changing an answer occurs in some seed")
    options.add_argument("--keep", type=Path, help="a folder for the stores of those that fail")
    options.add_argument("--verbose", action="store_true", help="a line for each seed")
    return options.parse_args()


if __name__ == "__main__":
    sys.exit(main())
