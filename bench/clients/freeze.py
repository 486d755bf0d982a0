"""A full run, a day of work, the rehearsal of a cutover, half a day of work, and the freeze:
`python -m bench.clients.freeze OPTIONS`.

OPTIONS as for `ours`, with `share`: what part of the records changes in a day.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime, timedelta
from typing import Any

from b24migrate.app import App, open_app
from b24migrate.clock import FastClock
from b24migrate.config import load
from b24migrate.engine.cutover import Cutover
from b24migrate.engine.phases.cutover_state import FINISH, FREEZE, CertificateFile
from b24migrate.engine.run import RunResult
from b24migrate.insight.forecast.freeze import forecast_freeze
from b24migrate.model.streams import PHASES
from bench.clients.meter import say
from bench.clients.ours import configured
from bench.clients.passes import WITHOUT, complete, wish

DAY_S = 86_400.0


class LeapingClock(FastClock):
    """Between two runs a day may pass at once."""

    ahead_s = 0.0

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self.ahead_s)


def main(options: dict[str, Any]) -> None:
    config = configured(options)
    clock = LeapingClock(options["speed"])
    with open_app(load(config), base=config.parent, clock=clock) as app:
        complete(app, PHASES)
        work(clock, options, 1.0)
        made = Cutover(app.context, app.chosen(), "bench", lambda: sync(app), lambda: CertificateFile("", "", 0))
        checked(made.rehearse(lambda: None))
        work(clock, options, 0.5)
        freeze = forecast_freeze(made.state, clock.now())
        if freeze is None:
            raise SystemExit("no forecast after the rehearsal")
        checked(made.freeze())
        checked(made.finish())
        took_s = sum(made.state.step(name).took_s for name in (FREEZE, FINISH))
        rehearsed_s = [one.seconds for one in made.state.costs]
    say(forecast_s=freeze.delta_s + freeze.quiet_s, took_s=took_s, changes=freeze.changes, rehearsed_s=rehearsed_s)


def work(clock: LeapingClock, options: dict[str, Any], days: float) -> None:
    """So many days go by, on both portals as well."""
    source, target = options["controls"]
    change = {"days": 1, "seed": int(7 * days) + 1, "share": options["share"] * days, "without": WITHOUT}
    wish(source, "mutate", change)
    for control in (source, target):
        wish(control, "clock", {"advance": DAY_S * days})
    clock.ahead_s += DAY_S * days


def sync(app: App) -> RunResult:
    return app.runner.run(app.chosen(), PHASES, delta=True)


def checked(ended: RunResult) -> None:
    if ended.exit_code not in (0, 5):
        raise SystemExit(f"a step ended with {ended.exit_code}: {ended.message}")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
