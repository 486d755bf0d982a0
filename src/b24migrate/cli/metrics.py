"""`metrics`: the metrics in the text format of Prometheus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from b24migrate.cli.session import Session

PUBLIC = 0o644  # another user's exporter reads it; it has numbers only


def metrics(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Print metrics in the text format of Prometheus."""
    from b24migrate.cli.doctor import write
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.insight.status import figures
    from b24migrate.monitor.metrics import text

    session: Session = context.obj
    with open_to_read(session) as app:
        found = figures(app.context)
    written = text(lambda: found)
    if as_json:
        output = [{"name": name, "labels": labels, "value": value} for name, labels, value in found]
        written = f"{json.dumps({'metrics': output}, ensure_ascii=False)}\n"
    if out is None:
        typer.echo(written, nl=False)
        return
    write(out, written, PUBLIC)
