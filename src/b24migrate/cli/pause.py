"""`pause` and `resume`: the gate that a person closes and opens."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.run import AsJson, Full, Port
from b24migrate.cli.session import Session, local_user
from b24migrate.messages import say
from b24migrate.messages.terminal import phrase

if TYPE_CHECKING:
    from b24migrate.app import App
    from b24migrate.engine.run import RunResult


def pause(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Pause the current run, from any terminal."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.engine import plan

    session: Session = context.obj
    with open_to_read(session) as app:
        run = plan.pause(app.context.store, app.context.clock, by=local_user())
    if run is None:
        raise plan.NoRun(say("work.nothing_to_pause"), code=plan.NO_RUN)
    if as_json:
        typer.echo(json.dumps({"run": run.id, "state": run.state, "message": run.message}, ensure_ascii=False))
        return
    typer.echo(phrase("cli.pause.done", message=run.message))
    typer.echo(phrase("cli.pause.resume"))


def resume(
    context: typer.Context,
    as_json: AsJson = False,
    metrics_port: Port = None,
    full: Full = False,
) -> None:
    """Continue a paused or stopped run."""
    from b24migrate.cli.run_plan import conduct, note_warnings

    def act(app: App, tick: Callable[[], None]) -> RunResult:
        return app.runner.resume(on_diagnosis=note_warnings(app), tick=tick)

    raise typer.Exit(conduct(context.obj, act, as_json=as_json, metrics_port=metrics_port, verify_all=full))
