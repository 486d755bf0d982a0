"""`show`: one record on the source, in the store and on the target."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from b24migrate.cli.completion import streams
from b24migrate.cli.session import Session
from b24migrate.messages import say

AsJson = Annotated[bool, typer.Option("--json", help="Only JSON on stdout.")]


def show(
    context: typer.Context,
    stream: Annotated[str, typer.Argument(metavar="STREAM", help="Which kind of record.", autocompletion=streams)],
    source_id: Annotated[
        str, typer.Argument(metavar="ID", help="Its id on the source; of what belongs to another PARENT:ID.")
    ],
    stored: Annotated[bool, typer.Option("--stored", help="Ask no portal; show what the store knows.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one record: source, staged and target side by side.

    Both portals are asked what they have now; nothing is written. Each field is judged as `verify` does.

    Examples: b24migrate show users 12 · b24migrate show chat_messages 5:112
    """
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
