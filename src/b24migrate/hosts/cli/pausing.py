"""`pause` and `resume`: the gate that a person closes and opens."""

from __future__ import annotations

import getpass
import json
import platform
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.hosts.cli.running import AsJson, Full, Port
from b24migrate.hosts.cli.session import Session
from b24migrate.hosts.cli.speech import phrase
from b24migrate.messages import say

if TYPE_CHECKING:
    from b24migrate.pipeline.runner import Ended
    from b24migrate.wiring import App


def pause(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on stdout.")] = False,
) -> None:
    """Pause the run that is under way, from any terminal.

    Whoever works on it finishes the jobs he is in and takes no other: `run` then ends with exit code 3, workers and
    functions wait. Nothing is lost or doubled; `b24migrate resume` goes on.
    """
    from b24migrate.hosts.cli.opening import looking
    from b24migrate.pipeline import plan

    session: Session = context.obj
    with looking(session) as app:
        run = plan.pause(app.work.store, app.work.clock, by=somebody())
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
    """Go on with the run that is paused or has stopped.

    With the same entities, phases and test limit, whatever they are; a run that was begun with --full needs it again.
    Shows and ends like `run`.
    """
    from b24migrate.hosts.cli.conduct import conduct, told

    def act(app: App, tick: Callable[[], None]) -> Ended:
        return app.runner.resume(on_diagnosis=told(app), tick=tick)

    raise typer.Exit(conduct(context.obj, act, as_json=as_json, metrics_port=metrics_port, verify_all=full))


def somebody() -> str:
    """Who sits here, and where."""
    try:
        return f"{getpass.getuser()}@{platform.node()}"
    except (KeyError, OSError):  # a container's user may have no name
        return platform.node()
