"""`places`: IDs of the source that stay inside workflow templates."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from b24migrate.cli.session import Session
from b24migrate.messages.terminal import phrase

AsJson = Annotated[bool, typer.Option("--json")]


def places(context: typer.Context, as_json: AsJson = False) -> None:
    """List source IDs that are left in workflow templates."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.messages.terminal import harmless
    from b24migrate.ports import UNRESOLVED

    session: Session = context.obj
    with open_to_read(session) as app:
        rows = [row.values for row in app.context.store.rows(UNRESOLVED)]
    if as_json:
        names = {"Stream": "stream", "SourceId": "id", "Place": "place", "What": "what"}
        output = [{names[name]: row[name] for name in names} for row in rows]
        typer.echo(session.redact(json.dumps({"places": output}, ensure_ascii=False)))
        return
    if not rows:
        typer.echo(phrase("cli.places.none"))
    for row in rows:
        typer.echo(harmless(session.redact(f"{row['Stream']} {row['SourceId']}  {row['Place']}  {row['What']}")))
