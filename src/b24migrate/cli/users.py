"""`users export` and `users load`: which user of the box each user becomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.messages.terminal import phrase

if TYPE_CHECKING:
    pass

AsJson = Annotated[bool, typer.Option("--json")]


users = typer.Typer(no_args_is_help=True)


@users.command("export")
def export(
    context: typer.Context, file: Annotated[Path, typer.Argument(metavar="FILE")], as_json: AsJson = False
) -> None:
    """Write the user map as CSV."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.engine import user_map
    from b24migrate.report import csv_tables

    with open_to_read(context.obj) as app:
        rows = list(user_map.list_people(app.context))
    csv_tables.write_csv(file, user_map.COLUMNS, rows)
    output = json.dumps({"users": len(rows), "file": str(file)}, ensure_ascii=False)
    typer.echo(output if as_json else phrase("cli.users.written", count=len(rows), file=file))


@users.command("load")
def load(
    context: typer.Context, file: Annotated[Path, typer.Argument(metavar="FILE")], as_json: AsJson = False
) -> None:
    """Load an edited user map: users with a target_id are linked to that user."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.engine import user_map
    from b24migrate.report import csv_tables

    with open_to_read(context.obj) as app:
        linked = user_map.load(app.context, csv_tables.read_lines(file, "users export"))
    output = json.dumps({"linked": linked})
    typer.echo(output if as_json else phrase("cli.users.linked", linked=linked))
