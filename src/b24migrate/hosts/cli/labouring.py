"""`worker`: helps with the run that is under way."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from b24migrate.hosts.cli.session import Session


def worker(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="End when the present run is at its end.")] = False,
    metrics_port: Annotated[
        int | None, typer.Option("--metrics-port", min=0, max=65535, metavar="P", help="Serve /metrics meanwhile.")
    ] = None,
) -> None:
    """Help with the run that is under way.

    Takes its jobs from the queue, beside the process that started it. Start as many as you like.
    Log lines go to stderr: JSON, or readable on a terminal. Ctrl-C ends it.
    """
    from b24migrate.hosts.bug_file import bug_keeper
    from b24migrate.hosts.cli.conduct import served
    from b24migrate.hosts.cli.opening import Current
    from b24migrate.hosts.cli.signals import interruptible
    from b24migrate.hosts.logs import log
    from b24migrate.hosts.worker import labour
    from b24migrate.wiring import open_app

    session: Session = context.obj
    settings = session.settings()
    current = Current()
    observer = log(sys.stderr, run=current.run, redact=session.redact, readable=sys.stderr.isatty())
    with (
        open_app(settings, observers=(observer,)) as app,
        served(app, metrics_port),
        interruptible(app.work.interrupt.request),
    ):
        current.app = app
        app.work.keep_bug = bug_keeper(session.redact)
        labour(app, once=once)
