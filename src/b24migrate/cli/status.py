"""`status`: how far every entity is."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from b24migrate.cli.session import Session
from b24migrate.messages.terminal import phrase

AsJson = Annotated[bool, typer.Option("--json")]


def status(
    context: typer.Context,
    as_json: AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", "-w")] = False,
) -> None:
    """Show the progress of every entity."""
    from b24migrate.cli import status_watch
    from b24migrate.cli.errors import follow_line
    from b24migrate.cli.open_app import looking
    from b24migrate.cli.tables import console, print_status
    from b24migrate.engine import plan
    from b24migrate.insight.chains import Chains, chains
    from b24migrate.insight.status import snapshot
    from b24migrate.messages.safe_text import harmless, wrapped

    session: Session = context.obj
    with looking(session) as app:
        if watch:
            status_watch.watch(app, session.redact, as_json=as_json)
            return
        found = snapshot(app.context).to_json()
        chained = Chains() if as_json else chains(app.context)
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
    if chained.chains:
        wrapped(out, follow_line(chained))
        wrapped(out, phrase("cli.advice.findings"))
