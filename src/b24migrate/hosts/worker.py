"""A worker: takes jobs of whatever run is under way, until told to leave."""

from __future__ import annotations

from dataclasses import replace

from b24migrate.phases import lanes
from b24migrate.pipeline import plan
from b24migrate.pipeline.crew import Crew
from b24migrate.pipeline.plan import Paused, Replaced, Run
from b24migrate.wiring import App

LOOK_S = 1.0


def labour(app: App, *, once: bool) -> None:
    """Raises what stops the run; one that is paused is waited for. With `once` it returns when no run is under way any
    more."""
    while True:
        run = plan.current(app.work.store)
        if run is not None and run.under_way:
            help_with(app, run)
            continue  # another one may have taken its place
        if once:
            return
        app.work.clock.sleep(LOOK_S)


def help_with(app: App, run: Run) -> None:
    """To its end, which is the worker's to tell when nobody else did: who began the run may be gone."""
    app.work.options = replace(app.work.options, test_limit=run.plan.test_limit)
    app.runner.attend(run)
    try:
        Crew(app.work, app.runner.conductor(run.plan), lanes.hands(app.settings.run.workers)).work_until_done()
        app.runner.conclude(run)
    except (Paused, Replaced):
        return
