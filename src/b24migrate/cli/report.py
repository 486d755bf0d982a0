"""`report`: what moved, what did not and why, as a page to be signed and tables to be worked with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from b24migrate.cli.session import Session
from b24migrate.messages import terminal
from b24migrate.messages.terminal import phrase

AsJson = Annotated[bool, typer.Option("--json")]


def report(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", metavar="DIR")] = Path("report"),
    language: Annotated[str, typer.Option("--language", metavar="en|ru")] = "",
    force: Annotated[bool, typer.Option("--force")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the report: one page to print and sign, with CSV tables."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.report import Request, make_report
    from b24migrate.report.write import PAGE

    session: Session = context.obj
    session.choose_language(language)
    with open_to_read(session, portals=True) as app:  # for their names, and to redact their secrets
        made = make_report(app, Request(out, terminal.language(), session.redact, force))
    if as_json:
        output = {"file": str(out / PAGE), "standing": made.standing, "verdict": made.verdict, "root": made.root}
        typer.echo(json.dumps({**output, "tables": made.rows}, ensure_ascii=False))
        return
    typer.echo(made.verdict)
    typer.echo(phrase("cli.report.written", page=out / PAGE, count=len(made.rows)))
