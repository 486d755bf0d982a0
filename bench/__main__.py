"""`python -m bench`: every figure in one run, on the terminal and in RESULTS.md. Ends with 1 if a bar is missed."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bench import (
    box_import,
    deals,
    delta_passes,
    files,
    forecast,
    freeze,
    full_pass,
    further_crm,
    growth,
    messenger,
    several,
    side_by_side,
    under_limits,
    viewers,
)
from bench.figures import Figure, Section, table

RESULTS = Path(__file__).with_name("RESULTS.md")
SECTIONS: tuple[tuple[str, str, Section], ...] = (
    ("a", "users-get under the limits", under_limits.used),
    ("b", "side by side under the limits", under_limits.side_by_side),
    ("b", "side by side without limits", side_by_side.measured),
    ("c", "chats-get under the limits", messenger.measured),
    ("c", "groups-set and chats-set", box_import.measured),
    ("d", "a million messages", growth.measured),
    ("f", "crm-deals-get under the limits", deals.measured),
    ("g", "files", files.measured),
    ("h", "four processes under the limits", several.measured),
    ("i", "forecasts from a sample", forecast.measured),
    ("j", "looking on", viewers.measured),
    ("k", "requests of a full pass", full_pass.measured),
    ("k", "requests of delta passes", delta_passes.measured),
    ("k", "forecast of a freeze", freeze.measured),
    ("l", "the further CRM", further_crm.measured),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", default="", help="sections, such as a,c (d has the figures of e too)")
    parser.add_argument("--quick", action="store_true", help="smaller sizes; RESULTS.md stays as it is")
    parser.add_argument("--portal", default="", help="of i only the portals whose names have these words")
    options = parser.parse_args()
    wanted = {letter for letter in options.only.replace("e", "d").split(",") if letter}
    began = time.monotonic()
    figures: list[Figure] = []
    for letter, name, section in SECTIONS:
        if not wanted or letter in wanted:
            print(f"{letter}: {name} …", file=sys.stderr, flush=True)
            measure = partial(forecast.measured, only=options.portal) if section is forecast.measured else section
            for figure in measure(options.quick):
                figures.append(figure)
                print(f"   {figure.what}: {figure.value} {figure.verdict}", file=sys.stderr, flush=True)
    took_s = time.monotonic() - began
    lines = table(figures)
    print("\n".join(lines))
    missed = [one for one in figures if one.ok is False]
    print(f"\n{sum(one.ok is True for one in figures)} bars met, {len(missed)} missed, in {took_s:.0f} s")
    if not wanted and not options.quick:
        RESULTS.write_text(page(lines, took_s), "utf-8")
    return 1 if missed else 0


def page(lines: list[str], took_s: float) -> str:
    today = datetime.now(UTC).date().isoformat()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    head = f"# Speed\n\n{today}, {machine}; all in one run of {took_s:.0f} s: `make bench`.\n"
    return "\n".join([head, *lines, "", "How each figure is measured: [HOW.md](HOW.md).", ""])


if __name__ == "__main__":
    sys.exit(main())
