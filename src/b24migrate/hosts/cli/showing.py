"""`show` and `find`: one record on every side, and which records somebody may mean."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from b24migrate.hosts.cli.completing import streams
from b24migrate.hosts.cli.session import Session
from b24migrate.messages import say

AsJson = Annotated[bool, typer.Option("--json", help="Only JSON on stdout.")]
PATIENCE_S = 20.0  # a person waits longer for a whole answer than a page does for a part of it


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
    from b24migrate.errors import BadConfiguration
    from b24migrate.hosts.cli.names import stream_name
    from b24migrate.hosts.cli.opening import looking
    from b24migrate.hosts.cli.plain import harmless, harmless_json
    from b24migrate.hosts.cli.sides import print_record
    from b24migrate.hosts.cli.tables import console
    from b24migrate.pipeline.looking_up import record

    session: Session = context.obj
    with looking(session) as app:
        name = stream_name(stream, app.work.streams)
        found = record(app.work, name, source_id, ask=not stored)
    if found is None:
        text = say("cli.show.unknown", stream=name, id=harmless(source_id[:100]))
        raise BadConfiguration(text, hint=say("cli.show.find"), code="USAGE")
    if as_json:
        typer.echo(harmless_json(session.redact(json.dumps(found.to_json(), ensure_ascii=False))))
        return
    print_record(found, console(), lambda text: harmless(session.redact(text)))


def find(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="An id, an e-mail, or words of a title.")],
    stream: Annotated[
        str, typer.Option("--stream", metavar="NAME", help="Only this kind of record.", autocompletion=streams)
    ] = "",
    after: Annotated[str, typer.Option("--after", metavar="PLACE", help="Go on from here.")] = "",
    as_json: AsJson = False,
) -> None:
    """Find records by id, by e-mail, or by words of their title.

    Exact matches come first. Titles are looked at one after another, for some seconds; --after goes on.

    Examples: b24migrate find 4711 · b24migrate find anna@company.example · b24migrate find "договор поставки"
    """
    from b24migrate.hosts.cli.names import stream_name
    from b24migrate.hosts.cli.opening import looking
    from b24migrate.hosts.cli.plain import harmless, harmless_json
    from b24migrate.hosts.cli.sides import print_hits
    from b24migrate.hosts.cli.tables import console
    from b24migrate.pipeline.looking_up import search

    session: Session = context.obj
    with looking(session) as app:
        name = stream_name(stream, app.work.streams) if stream else ""
        found = search(app.work, text, stream=name, after=after, budget_s=PATIENCE_S)
    if as_json:
        typer.echo(harmless_json(session.redact(json.dumps(found.to_json(), ensure_ascii=False))))
        return
    print_hits(found, console(), lambda words: harmless(session.redact(words)))
