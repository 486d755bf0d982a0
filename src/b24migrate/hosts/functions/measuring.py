"""Metrics from the timer: the store knows every total, so one process tells them for all."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from b24migrate.hosts.functions.keeper import Keeper
from b24migrate.hosts.functions.lines import say
from b24migrate.hosts.telemetry import sent
from b24migrate.pipeline import plan
from b24migrate.pipeline.status import figures
from b24migrate.settings import monitor_connection
from b24migrate.wiring import App

AFTERWARDS_S = 300.0  # so long after its end the last figures of a run are told


def measure(keeper: Keeper) -> None:
    """Once, if Azure Monitor is to be told and there is something new."""
    connection = monitor_connection()
    if not connection:
        return
    with keeper.app() as app:
        if _has_news(app):
            with sent(lambda: figures(app.work), connection, lambda text: say(logging.WARNING, text)):
                pass  # they are sent at the end of the block


def _has_news(app: App) -> bool:
    run = plan.current(app.work.store)
    if run is None or not run.finished:
        return run is not None
    return app.work.clock.now() - datetime.fromisoformat(run.finished) < timedelta(seconds=AFTERWARDS_S)
