"""A forecast from a sample, then what it foretold: `python -m bench.clients.foretold OPTIONS`.

OPTIONS as for `ours`; the last of the steps is what is foretold, those before it only have to be done.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from b24migrate.clocks import FastClock
from b24migrate.pipeline.survey import Limits, Meter, compared, survey
from b24migrate.settings import load
from b24migrate.wiring import open_app
from bench.clients.meter import say
from bench.clients.ours import configured


def main(options: dict[str, Any]) -> None:
    config = configured(options)
    clock, meter = FastClock(options["speed"]), Meter()
    with open_app(load(config), base=config.parent, clock=clock, meter=meter) as app:
        *before, (name, phase) = options["steps"]
        source = app.settings.source
        limits = Limits(source.requests_per_second, source.bucket, source.operating_seconds)
        entity = app.catalog.entity(name)
        found = survey(app.work, meter, [entity], limits, timezone=source.zone, share=options["share"])
        for step in before:
            app.runner.run([step[0]], (step[1],))
        clock.sleep(options["rest_s"])  # the portal forgets what the analysis has used up
        ended = app.runner.run([name], (phase,))
        if ended.exit_code:
            raise SystemExit(f"{name}-{phase} ended with {ended.exit_code}: {ended.message}")
        (said,) = [one for one in compared(app.work.store) if (one.entity, one.phase) == (name, phase)]
        records = {one.name: sum(app.work.store.counts(one.table).values()) for one in entity.streams}
        told = {one.stream: one.records.value for one in found.streams}
        (range_of,) = [one for one in found.forecast.entities if one.entity == name]
    say(
        **said.to_json(),
        records=records,
        told=told,
        requests=found.requests,
        limited_by=range_of.limited_by,
        method=range_of.method,
    )


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
