"""`report`: what moved, what did not and why, as a page to be signed and tables to be worked with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from b24migrate.cli.session import Session
from b24migrate.messages import terminal
from b24migrate.messages.terminal import phrase

AsJson = Annotated[bool, typer.Option("--json", help="Only JSON on stdout.")]


def report(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write it to.")] = Path("report"),
    language: Annotated[str, typer.Option("--language", metavar="en|ru", help="Of the page.")] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Also over files that have the names of ours and are none.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the report: one page to read, print and sign, and a table for each long list.

    \b
    DIR/report.html stands on its own: no script, no request to anywhere.
    DIR/*.csv have every row: failed records, findings, links, timing and more.
    It can be made before, during and after a run; other files in DIR stay.
    Exit code 0: written. 2: it cannot be written there.
    """
    from b24migrate.cli.open_app import looking
    from b24migrate.entities.names import language_name
    from b24migrate.report import Request, make
    from b24migrate.report.paths import PAGE

    session: Session = context.obj
    if language:
        terminal.choose(language_name(language))
    with looking(session, portals=True) as app:  # their names are in it, and their secrets must be known to be left out
        made = make(app, Request(out, terminal.language(), session.redact, force))
    if as_json:
        told = {"file": str(out / PAGE), "standing": made.standing, "verdict": made.verdict, "root": made.root}
        typer.echo(json.dumps({**told, "tables": made.rows}, ensure_ascii=False))
        return
    typer.echo(made.verdict)
    typer.echo(phrase("cli.report.written", page=out / PAGE, count=len(made.rows)))
