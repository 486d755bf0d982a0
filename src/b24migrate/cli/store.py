"""`store`: moves what was read and what became of it to another place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli import exit_codes
from b24migrate.cli.session import Session
from b24migrate.messages.terminal import phrase
from b24migrate.model.errors import Stop

if TYPE_CHECKING:
    from b24migrate.stores.copy import Moved

DIGITS = 16  # of a digest are enough for a person
store = typer.Typer(no_args_is_help=True)


@store.callback()
def root() -> None:
    """The store: copy it to another place."""


@store.command("copy")
def copy(
    context: typer.Context,
    origin: Annotated[str, typer.Argument(metavar="FROM")],
    to: Annotated[str, typer.Argument(metavar="TO")],
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Copy a store and compare both."""
    from b24migrate.app import copy_store
    from b24migrate.cli.signals import interruptible

    session: Session = context.obj
    try:
        with interruptible():
            moved = copy_store(origin, to, say=_silent if as_json else typer.echo)
    except (Stop, KeyboardInterrupt) as stop:
        if as_json:
            code = stop.exit_code if isinstance(stop, Stop) else exit_codes.INCOMPLETE
            output = {"equal": False, "exit_code": code, "message": session.redact(exit_codes.whole(stop))}
            typer.echo(json.dumps(output, ensure_ascii=False))
        raise
    code, text = verdict(moved)
    if as_json:
        lines = [line._asdict() for line in moved.lines]
        output = {"from": moved.origin, "to": moved.to, "equal": moved.equal, "lines": lines}
        typer.echo(json.dumps({**output, "exit_code": code, "message": text}, ensure_ascii=False))
    else:
        print_moved(moved)
        typer.echo(text)
    raise typer.Exit(code)


def verdict(moved: Moved) -> tuple[int, str]:
    if not moved.equal:
        return exit_codes.FINDINGS, (phrase("cli.copy.differs", origin=moved.origin))
    return exit_codes.CLEAN, (phrase("cli.copy.equal", to=moved.to, origin=moved.origin))


def print_moved(moved: Moved) -> None:
    from rich.markup import escape
    from rich.table import Table

    from b24migrate.cli.tables import console
    from b24migrate.messages.terminal import number

    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("digest", no_wrap=True)
    table.add_column("equal")
    for line in moved.lines:
        if line.rows or not line.equal:
            equal = "[green]yes[/]" if line.equal else f"[red]no[/]: {escape(line.note)}"
            table.add_row(line.what, number(line.rows), line.digest[:DIGITS], equal)
    console().print(table)


def _silent(_: str) -> None:
    """Nothing with `--json`."""
