"""`worker`: helps with the current run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.session import Session

if TYPE_CHECKING:
    from b24migrate.app import App
    from b24migrate.engine.plan import Run

LOOK_S = 1.0


def worker(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once")] = False,
    metrics_port: Annotated[int | None, typer.Option("--metrics-port", min=0, max=65535, metavar="P")] = None,
) -> None:
    """Help with the current run."""
    from b24migrate.app import open_app
    from b24migrate.cli.open_app import Current
    from b24migrate.cli.run_plan import served
    from b24migrate.cli.signals import interruptible
    from b24migrate.monitor.bug_file import bug_keeper
    from b24migrate.monitor.logs import log

    session: Session = context.obj
    settings = session.settings()
    current = Current()
    observer = log(sys.stderr, run=current.run, redact=session.redact, readable=sys.stderr.isatty())
    with (
        open_app(settings, observers=(observer,), keep_bug=bug_keeper(session.redact)) as app,
        served(app, metrics_port),
        interruptible(app.context.interrupt.request),
    ):
        current.app = app
        help_runs(app, once=once)


def help_runs(app: App, *, once: bool) -> None:
    """Waits for runs and works on them, also after a pause. With `once` it returns when no run is active. Raises the
    error that stops a run."""
    from b24migrate.engine import plan

    while True:
        run = plan.current(app.context.store)
        if run is not None and run.under_way:
            help_with(app, run)
            continue  # another one may have taken its place
        if once:
            return
        app.context.clock.sleep(LOOK_S)


def help_with(app: App, run: Run) -> None:
    """Until the run ends. The worker concludes it, because the process that started it may be gone."""
    from b24migrate.engine.plan import Paused, Replaced

    try:
        app.runner.worker_pool(run).work_until_done()
        app.runner.conclude(run)
    except (Paused, Replaced):
        return
