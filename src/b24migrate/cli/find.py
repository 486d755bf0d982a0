"""`find`: records by ID, by email or by words of their title."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from b24migrate.cli.completion import streams
from b24migrate.cli.session import Session

AsJson = Annotated[bool, typer.Option("--json")]
PATIENCE_S = 20.0  # a person waits longer for a whole answer than a page does for a part of it


def find(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT")],
    stream: Annotated[str, typer.Option("--stream", metavar="NAME", autocompletion=streams)] = "",
    after: Annotated[str, typer.Option("--after", metavar="PLACE")] = "",
    as_json: AsJson = False,
) -> None:
    """Find records by ID, email or title."""
    from b24migrate.cli.open_app import looking
    from b24migrate.cli.record_view import print_hits
    from b24migrate.cli.tables import console
    from b24migrate.entities.names import stream_name
    from b24migrate.insight.lookup import search
    from b24migrate.messages.safe_text import harmless, harmless_json

    session: Session = context.obj
    with looking(session) as app:
        name = stream_name(stream, app.context.streams) if stream else ""
        found = search(app.context, text, stream=name, after=after, budget_s=PATIENCE_S)
    if as_json:
        typer.echo(harmless_json(session.redact(json.dumps(found.to_json(), ensure_ascii=False))))
        return
    print_hits(found, console(), lambda words: harmless(session.redact(words)))
