"""`retry` and `users`: what a person does about what failed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.hosts.cli.completing import codes, entities
from b24migrate.hosts.cli.session import Session
from b24migrate.hosts.cli.speech import phrase

if TYPE_CHECKING:
    from b24migrate.pipeline.runner import Ended
    from b24migrate.wiring import App

AsJson = Annotated[bool, typer.Option("--json", help="Only JSON on stdout.")]
users = typer.Typer(no_args_is_help=True, help="The map of users: write it out, edit it, load it again.")


def retry(
    context: typer.Context,
    entity: Annotated[
        list[str] | None,
        typer.Option("--entity", metavar="NAME", help="Only this entity; may be repeated.", autocompletion=entities),
    ] = None,
    code: Annotated[
        str, typer.Option("--code", help="Only what failed with this code (see errors).", autocompletion=codes)
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Try again what failed: records, files and dead letters.

    Examples: b24migrate retry · b24migrate retry --entity users --code DUPLICATE_EMAIL
    """
    from b24migrate.entities import catalog
    from b24migrate.hosts.cli.conduct import conduct
    from b24migrate.hosts.cli.names import entity_name

    session: Session = context.obj
    known = catalog()
    names = [entity_name(name, known) for name in entity or []]

    def act(app: App, tick: Callable[[], None]) -> Ended | None:
        from b24migrate.pipeline import mend

        renewed = mend.renew(app.work, names or [one.name for one in app.catalog.entities], code)
        if not as_json:
            parts = {"record": renewed.records, "file": renewed.files, "other part": renewed.parts}
            said = ", ".join(f"{count:,} {what}{'s' * (count != 1)}" for what, count in parts.items() if count)
            typer.echo(phrase("cli.retry.queued", said=said) if renewed else phrase("cli.retry.nothing"))
        return mend.take_up(app.runner, renewed, tick) if renewed else None

    raise typer.Exit(conduct(session, act, as_json=as_json))


@users.command("export")
def export(
    context: typer.Context, file: Annotated[Path, typer.Argument(metavar="FILE")], as_json: AsJson = False
) -> None:
    """Write every user that was read, and the target user it became, as CSV.

    Columns: source_id, email, name, target_id. Fill in target_id to link a user to one that the box already has.
    """
    from b24migrate.hosts.cli import sheets
    from b24migrate.hosts.cli.opening import looking
    from b24migrate.pipeline import user_map

    with looking(context.obj) as app:
        rows = list(user_map.people(app.work))
    sheets.write(file, user_map.COLUMNS, rows)
    told = json.dumps({"users": len(rows), "file": str(file)}, ensure_ascii=False)
    typer.echo(told if as_json else phrase("cli.users.written", count=len(rows), file=file))


@users.command("load")
def load(
    context: typer.Context, file: Annotated[Path, typer.Argument(metavar="FILE")], as_json: AsJson = False
) -> None:
    """Load an edited CSV: users with a target_id are linked to that user of the box and not sent."""
    from b24migrate.hosts.cli import sheets
    from b24migrate.hosts.cli.opening import looking
    from b24migrate.pipeline import user_map

    with looking(context.obj) as app:
        linked = user_map.load(app.work, sheets.lines_of(file, "users export"))
    told = json.dumps({"linked": linked})
    typer.echo(told if as_json else phrase("cli.users.linked", linked=linked))
