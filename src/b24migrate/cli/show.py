"""`show`: one record on the source, in the store and on the target."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from b24migrate.cli.completion import streams
from b24migrate.cli.session import Session
from b24migrate.messages import say

AsJson = Annotated[bool, typer.Option("--json")]


def show(
    context: typer.Context,
    stream: Annotated[str, typer.Argument(metavar="STREAM", autocompletion=streams)],
    source_id: Annotated[str, typer.Argument(metavar="ID")],
    stored: Annotated[bool, typer.Option("--stored")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one record: source, saved copy and target, field by field."""
    from b24migrate.cli.open_app import looking
    from b24migrate.cli.record_view import print_record
    from b24migrate.cli.tables import console
    from b24migrate.entities.names import stream_name
    from b24migrate.insight.lookup import record
    from b24migrate.messages.safe_text import harmless, harmless_json
    from b24migrate.model.errors import BadConfiguration

    session: Session = context.obj
    with looking(session) as app:
        name = stream_name(stream, app.context.streams)
        found = record(app.context, name, source_id, ask=not stored)
    if found is None:
        text = say("cli.show.unknown", stream=name, id=harmless(source_id[:100]))
        raise BadConfiguration(text, hint=say("cli.show.find"), code="USAGE")
    if as_json:
        typer.echo(harmless_json(session.redact(json.dumps(found.to_json(), ensure_ascii=False))))
        return
    print_record(found, console(), lambda text: harmless(session.redact(text)))
