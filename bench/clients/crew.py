"""A run that only `b24migrate worker` works on: `python -m bench.clients.crew OPTIONS`, as of `ours`, and processes.

This process looks at both portals, begins the run when every worker is ready, and watches: it takes no job.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from b24migrate.app import App, open_app
from b24migrate.config import load
from b24migrate.engine.plan import Plan
from b24migrate.engine.state import DONE, STUCK, States
from bench.clients.meter import say
from bench.clients.ours import asked, configured
from bench.clients.worker import CommonClock

LOOK_EVERY_S = 0.02


def main(options: dict[str, Any]) -> None:
    config = configured(options)
    origin, speed = time.time(), float(options.get("speed", 1))
    clock = CommonClock(origin, speed)
    with (
        open_app(load(config), base=config.parent, clock=clock) as app,
        workers(options["processes"], config, origin, speed),
    ):
        [[entity, phase]] = options["steps"]
        portal_at = asked(options["controls"][0], "clock")["now"]
        began = clock.monotonic()
        app.runner.begin(Plan((entity,), (phase,)))
        until_done(app, entity, phase)
        clock_s = clock.monotonic() - began
        streams = app.catalog.entity(entity).streams
        records = {stream.name: sum(app.context.store.counts(stream.table).values()) for stream in streams}
    say(clock_s=clock_s, portal_at=portal_at, records=records, pages=pages(config.parent))


def until_done(app: App, entity: str, phase: str) -> None:
    while (state := States(app.context.store).read(entity).phase(phase)).state != DONE:
        if state.state in STUCK:
            raise SystemExit(f"{entity}-{phase} is {state.state}: {state.message}")
        time.sleep(LOOK_EVERY_S)


def pages(folder: Path) -> list[int]:
    """How many each of the processes has read."""
    return sorted(log.read_text().count(" records read") for log in folder.glob("worker-*.log"))


@contextmanager
def workers(count: int, config: Path, origin: float, speed: float) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.clients.worker", str(origin), str(speed), "--config", str(config), "worker"]
    started: list[subprocess.Popen[str]] = []
    try:
        for number in range(count):
            with config.with_name(f"worker-{number}.log").open("w") as log:
                started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True))
        for process in started:
            if not process.stdout or process.stdout.readline() != "ready\n":
                raise SystemExit("a worker did not start")
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.communicate(timeout=20)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
