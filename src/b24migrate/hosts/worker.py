"""A worker: takes jobs of whatever run is under way, until told to leave."""

from __future__ import annotations

from dataclasses import replace

from b24migrate.phases import lanes
from b24migrate.pipeline import analysis, plan
from b24migrate.pipeline.conductor import Conductor
from b24migrate.pipeline.crew import Crew
from b24migrate.wiring import App

PAUSE_S = 2.0


def labour(app: App, *, once: bool) -> None:
    """Raises what stops the run. With `once` it returns when no run is under way any more."""
    while True:
        run = plan.current(app.work.store)
        if run is not None and run.state == plan.ACTIVE:
            app.work.run = run.id
            app.work.options = replace(app.work.options, test_limit=run.plan.test_limit)
            app.work.facts = analysis.load(app.work.store).for_phases
            conductor = Conductor(app.work, run.plan, coverage=app.settings.run.user_coverage)
            Crew(app.work, conductor, lanes.hands(app.settings.run.workers)).work_until_done()
        if once:
            return
        app.work.clock.sleep(PAUSE_S)
