"""`retry`: records, files and jobs that failed go back to work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.completion import codes, entities
from b24migrate.cli.session import Session
from b24migrate.messages.terminal import phrase

if TYPE_CHECKING:
    from b24migrate.app import App
    from b24migrate.engine.run import RunResult

AsJson = Annotated[bool, typer.Option("--json")]


def retry(
    context: typer.Context,
    entity: Annotated[
        list[str] | None,
        typer.Option("--entity", metavar="NAME", autocompletion=entities),
    ] = None,
    code: Annotated[str, typer.Option("--code", autocompletion=codes)] = "",
    as_json: AsJson = False,
) -> None:
    """Retry failed records, files and jobs."""
    from b24migrate.cli.run_plan import conduct
    from b24migrate.entities import catalog
    from b24migrate.entities.names import entity_name

    session: Session = context.obj
    known = catalog()
    names = [entity_name(name, known) for name in entity or []]

    def act(app: App, tick: Callable[[], None]) -> RunResult | None:
        from b24migrate.engine import requeue

        renewed = requeue.requeue(app.context, names or [one.name for one in app.catalog.entities], code)
        if not as_json:
            parts = {"record": renewed.records, "file": renewed.files, "other part": renewed.parts}
            counts = ", ".join(f"{count:,} {what}{'s' * (count != 1)}" for what, count in parts.items() if count)
            typer.echo(phrase("cli.retry.queued", said=counts) if renewed else phrase("cli.retry.nothing"))
        return requeue.run_requeued(app.runner, renewed, tick) if renewed else None

    raise typer.Exit(conduct(session, act, as_json=as_json))
