"""A forecast from a sample, then the whole run: `python -m bench.clients.forecast OPTIONS`.

OPTIONS as for `ours`, with `share` in place of steps. With `share` 0 there is no forecast, and only the run is timed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from b24migrate.app import App, open_app
from b24migrate.clock import FastClock
from b24migrate.config import load
from b24migrate.insight.forecast import Limits, Meter, compare_forecast, survey
from b24migrate.insight.forecast.estimate import ALL
from bench.clients.meter import say
from bench.clients.ours import configured


def main(options: dict[str, Any]) -> None:
    config = configured(options)
    clock, meter = FastClock(options["speed"]), Meter()
    forecasts: dict[str, Any] = {}
    with open_app(load(config), base=config.parent, clock=clock, meter=meter) as app:
        if options["share"]:
            forecasts = forecast(app, meter, options["share"])
    with open_app(load(config), base=config.parent, clock=clock) as app:
        began = clock.monotonic()
        ended = app.runner.run(app.chosen())
        took_s = clock.monotonic() - began
        if ended.exit_code not in (0, 5):
            raise SystemExit(f"the run ended with {ended.exit_code}: {ended.message}")
        found = [one.to_json() for one in compare_forecast(app.context.store)]
    say(**forecasts, took_s=took_s, of_all={one["phase"]: one for one in found if one["entity"] == ALL}, phases=found)


def forecast(app: App, meter: Meter, share: float) -> dict[str, Any]:
    source = app.settings.source
    limits = Limits(source.requests_per_second, source.bucket, source.operating_seconds)
    made = survey(app.context, meter, app.catalog.entities, limits, timezone=source.zone, share=share)
    forecast = made.forecast
    return {
        "total_s": forecast.total_s,
        "low_s": forecast.low_s,
        "high_s": forecast.high_s,
        "limited_by": forecast.limited_by,
        "method": forecast.method,
        "requests": made.requests,
        "what_ifs": {one.name: one.total_s for one in forecast.what_ifs},
    }


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
