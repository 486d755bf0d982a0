"""b24migrate, as `b24migrate do users-get` would run it: `python -m bench.clients.ours OPTIONS`.

OPTIONS is JSON: source, target (webhooks) and the control rooms of both portals, folder, steps ([[entity, phase], …]),
speed of the clock, rest_s before each step, workers, and where they differ from the documented limits per_second and
operating_s.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

from b24migrate.app import App, open_app
from b24migrate.clock import FastClock, SystemClock
from b24migrate.config import load
from b24migrate.model.events import Event, PhaseChanged
from b24migrate.ports import Clock
from bench.clients.meter import Meter, say


class Phases:
    """When each phase began and ended, by the clock of the run."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.seconds: dict[str, float] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, PhaseChanged) and event.state in ("running", "done"):
            name, now = f"{event.entity}-{event.phase}", self._clock.monotonic()
            self.seconds[name] = now if event.state == "running" else now - self.seconds[name]


def configured(options: dict[str, Any]) -> Path:
    """Writes the configuration."""
    config = Path(options["folder"]) / "b24migrate.toml"
    config.write_text(
        f"[source]\nwebhook = {json.dumps(options['source'])}\n"
        f"requests_per_second = {options.get('per_second', 2)}\n"
        f"bucket = {options.get('bucket', 50)}\n"
        f"operating_seconds = {options.get('operating_s', 480)}\n"
        f"[target]\nwebhook = {json.dumps(options['target'])}\n"
        f"[run]\nworkers = {options.get('workers', 4)}\n"
    )
    return config


def main(options: dict[str, Any]) -> None:
    config = configured(options)
    speed = options.get("speed", 1)
    clock: Clock = FastClock(speed) if speed != 1 else SystemClock()
    phases = Phases(clock)
    with open_app(load(config), base=config.parent, observers=(phases,), clock=clock) as app:
        figures = []
        for one in options["steps"]:
            clock.sleep(options.get("rest_s", 0))
            figures.append(step(app, phases, options["controls"], *one))
        say(steps=figures)


def step(app: App, phases: Phases, controls: list[str], entity: str, phase: str) -> dict[str, Any]:
    source, target = controls
    portal_at = asked(source, "clock")["now"]  # limits count in minutes of the portal's clock
    before = [calls(control) for control in controls]
    carried = Counter(asked(source, "stats")["carried"])
    clock = app.context.clock
    began, meter = clock.monotonic(), Meter()
    ended = app.runner.run([entity], (phase,))
    figures = meter.read() | {"clock_s": clock.monotonic() - began, "phase_s": phases.seconds[f"{entity}-{phase}"]}
    if ended.exit_code:
        raise SystemExit(f"{entity}-{phase} ended with {ended.exit_code}: {ended.message}")
    streams = app.catalog.entity(entity).streams
    return figures | {
        "portal_at": portal_at,
        "source_calls": calls(source) - before[0],
        "target_calls": calls(target) - before[1],
        "carried": Counter(asked(source, "stats")["carried"]) - carried,
        "records": {stream.name: sum(app.context.store.counts(stream.table).values()) for stream in streams},
    }


def calls(control: str) -> Counter[str]:
    """Requests by method, whatever is inside them."""
    return Counter(asked(control, "stats")["methods"])


def asked(control: str, page: str) -> Any:
    with urllib.request.urlopen(control + page) as answer:  # noqa: S310 (loopback)
        return json.load(answer)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
