"""`init`: writes a commented configuration file."""

from __future__ import annotations

from pathlib import Path

import typer

from b24migrate.cli.session import Session
from b24migrate.messages import say
from b24migrate.messages.terminal import phrase
from b24migrate.model.errors import BadConfiguration, Halted


def init(context: typer.Context) -> None:
    """Write a commented b24migrate.toml."""
    from b24migrate.config import DEFAULT_FILE
    from b24migrate.private_files import open_private

    session: Session = context.obj
    path = session.config or Path(DEFAULT_FILE)
    try:
        with open_private(path, "x", encoding="utf-8") as file:
            file.write(phrase("init.template"))
    except FileExistsError:
        hint = say("cli.init.taken_fix")
        raise BadConfiguration(say("cli.init.taken", path=path), hint=hint) from None
    except OSError as error:
        hint = say("cli.init.place_fix")
        raise Halted(say("cli.unwritable", path=path, why=error.strerror), hint=hint) from None
    typer.echo(phrase("cli.written", path=path))
    typer.echo(phrase("cli.init.next"))
    typer.echo(phrase("cli.init.next_more"))
