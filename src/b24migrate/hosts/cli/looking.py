"""`status`, `places` and `metrics`: what there is to see, from the store alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from b24migrate.hosts.cli.session import Session
from b24migrate.hosts.cli.speech import phrase

PUBLIC = 0o644  # another user's exporter reads it; it has numbers only
AsJson = Annotated[bool, typer.Option("--json", help="Only JSON on stdout.")]


def status(
    context: typer.Context,
    as_json: AsJson = False,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Look again every second until the run ends; Ctrl-C leaves it.")
    ] = False,
) -> None:
    """Show how far every entity is."""
    from b24migrate.hosts.cli import watching
    from b24migrate.hosts.cli.opening import looking
    from b24migrate.hosts.cli.plain import harmless, wrapped
    from b24migrate.hosts.cli.tables import console, print_status
    from b24migrate.pipeline import plan
    from b24migrate.pipeline.status import snapshot

    session: Session = context.obj
    with looking(session) as app:
        if watch:
            watching.watch(app, session.redact, as_json=as_json)
            return
        found = snapshot(app.work).to_json()
        run = plan.current(app.work.store)
    paused = run if run is not None and run.state == plan.PAUSED else None
    if as_json:
        more = {"state": paused.state} if paused else {}
        typer.echo(session.redact(json.dumps({**found, **more}, ensure_ascii=False)))
        return
    out = console()
    if paused:
        wrapped(out, harmless(phrase("cli.status.paused", message=paused.message)))
    print_status(found, out)


def places(context: typer.Context, as_json: AsJson = False) -> None:
    """List the places inside workflow templates that keep ids of the source.

    Such a template is imported switched off: mend the places on the box, then switch it on.
    """
    from b24migrate.hosts.cli.opening import looking
    from b24migrate.hosts.cli.plain import harmless
    from b24migrate.ports import UNRESOLVED

    session: Session = context.obj
    with looking(session) as app:
        rows = [row.values for row in app.work.store.rows(UNRESOLVED)]
    if as_json:
        names = {"Stream": "stream", "SourceId": "id", "Place": "place", "What": "what"}
        told = [{names[name]: row[name] for name in names} for row in rows]
        typer.echo(session.redact(json.dumps({"places": told}, ensure_ascii=False)))
        return
    if not rows:
        typer.echo(phrase("cli.places.none"))
    for row in rows:
        typer.echo(harmless(session.redact(f"{row['Stream']} {row['SourceId']}  {row['Place']}  {row['What']}")))


def metrics(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write to a file instead.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON: name, labels and value of each.")] = False,
) -> None:
    """Print the metrics in the text format of Prometheus.

    With --out the file appears whole, as a node exporter's textfile directory needs it.
    """
    from b24migrate.hosts.cli.beginning import write
    from b24migrate.hosts.cli.opening import looking
    from b24migrate.hosts.metrics import text
    from b24migrate.pipeline.status import figures

    session: Session = context.obj
    with looking(session) as app:
        found = figures(app.work)
    written = text(lambda: found)
    if as_json:
        told = [{"name": name, "labels": labels, "value": value} for name, labels, value in found]
        written = f"{json.dumps({'metrics': told}, ensure_ascii=False)}\n"
    if out is None:
        typer.echo(written, nl=False)
        return
    write(out, written, PUBLIC)
