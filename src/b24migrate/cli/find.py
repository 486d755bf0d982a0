"""`find`: records by ID, by email or by words of their title."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.completion import streams
from b24migrate.cli.session import Session
from b24migrate.messages.terminal import harmless, harmless_json, number, phrase, wrapped

if TYPE_CHECKING:
    from rich.console import Console

    from b24migrate.insight.lookup.model import Hits

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
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.cli.tables import console
    from b24migrate.entities.names import stream_name
    from b24migrate.insight.lookup import search

    session: Session = context.obj
    with open_to_read(session) as app:
        name = stream_name(stream, app.context.streams) if stream else ""
        found = search(app.context, text, stream=name, after=after, budget_s=PATIENCE_S)
    if as_json:
        typer.echo(harmless_json(session.redact(json.dumps(found.to_json(), ensure_ascii=False))))
        return
    print_hits(found, console(), lambda words: harmless(session.redact(words)))


def print_hits(found: Hits, out: Console, clean: Callable[[str], str]) -> None:
    from rich.text import Text

    rows = [(clean(one.stream), clean(one.id), one.status.lower(), clean(one.title)) for one in found.hits]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    for row in rows:
        line = Text(_line(row, widths))
        line.truncate(out.width, overflow="ellipsis")
        out.print(line, soft_wrap=True)
    more = f" {phrase('cli.find.more', next=found.next)}" if found.next else ""
    text = phrase("cli.find.found", count=number(len(rows)), searched=number(found.looked_at)) + more
    wrapped(out, text if rows or more else phrase("cli.find.nothing", count=number(found.looked_at)), style="bold")


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join([*(text.ljust(size) for text, size in zip(row, widths, strict=False)), row[-1]])
