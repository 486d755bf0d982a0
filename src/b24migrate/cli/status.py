"""`status`: how far every entity is."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from b24migrate.cli.session import Session
from b24migrate.messages.terminal import phrase

AsJson = Annotated[bool, typer.Option("--json", help="Only JSON on stdout.")]


def status(
    context: typer.Context,
    as_json: AsJson = False,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Look again every second until the run ends; Ctrl-C leaves it.")
    ] = False,
) -> None:
    """Show how far every entity is."""
    from b24migrate.cli import status_watch
    from b24migrate.cli.open_app import looking
    from b24migrate.cli.tables import console, print_status
    from b24migrate.engine import plan
    from b24migrate.insight.status import snapshot
    from b24migrate.messages.safe_text import harmless, wrapped

    session: Session = context.obj
    with looking(session) as app:
        if watch:
            status_watch.watch(app, session.redact, as_json=as_json)
            return
        found = snapshot(app.context).to_json()
        run = plan.current(app.context.store)
    paused = run if run is not None and run.state == plan.PAUSED else None
    if as_json:
        more = {"state": paused.state} if paused else {}
        typer.echo(session.redact(json.dumps({**found, **more}, ensure_ascii=False)))
        return
    out = console()
    if paused:
        wrapped(out, harmless(phrase("cli.status.paused", message=paused.message)))
    print_status(found, out)
