"""`sync`: a run that reads only what may have changed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli import exit_codes
from b24migrate.cli.completion import entities
from b24migrate.cli.fidelity import AcceptFidelity
from b24migrate.cli.run import AsJson, Full, Port
from b24migrate.cli.session import Session
from b24migrate.messages import say
from b24migrate.messages.terminal import harmless, phrase, spoken
from b24migrate.model.errors import BadConfiguration

if TYPE_CHECKING:
    from b24migrate.app import App
    from b24migrate.cli.run_plan import Output
    from b24migrate.engine.run import RunResult

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
INTERVAL = re.compile(r"([1-9][0-9]{0,5})([smhd])")
READS = ("custom-fields-get", "get")
LISTED = 20  # ids of a record type


def sync(
    context: typer.Context,
    *,
    entity: Annotated[
        list[str] | None,
        typer.Option("--entity", metavar="NAME", autocompletion=entities),
    ] = None,
    every: Annotated[str, typer.Option("--every", metavar="TIME")] = "",
    deep: Annotated[bool, typer.Option("--deep")] = False,
    explain: Annotated[bool, typer.Option("--explain")] = False,
    report_only: Annotated[bool, typer.Option("--report-only")] = False,
    as_json: AsJson = False,
    metrics_port: Port = None,
    full: Full = False,
    accept_fidelity: AcceptFidelity = False,
) -> None:
    """Read, import and verify what changed since the last pass."""
    from b24migrate.cli.run_plan import conduct, run_plan
    from b24migrate.entities import catalog
    from b24migrate.entities.names import entity_name

    session: Session = context.obj
    known = catalog()
    names = [entity_name(name, known) for name in entity or []]
    pause_s = read_interval(every) if every else 0
    if explain:
        print_explanation(session, names)
        return
    act = run_plan(names, READS if report_only else (), delta=True, deep=deep)
    if report_only:
        act = listing_changes(act, names, silent=as_json)
    while True:
        code = conduct(
            session,
            act,
            tell_late_writers(session),
            as_json=as_json,
            metrics_port=metrics_port,
            verify_all=full,
            accept_fidelity=accept_fidelity,
        )
        if not pause_s or code not in (exit_codes.CLEAN, exit_codes.FINDINGS):
            raise typer.Exit(code)
        time.sleep(pause_s)


def tell_late_writers(session: Session) -> Callable[[App], Output]:
    """After going live: who still writes at the source."""

    def tell(app: App) -> Output:
        from dataclasses import asdict

        from b24migrate.cli.run_plan import Output
        from b24migrate.cli.tables import console, print_writers
        from b24migrate.engine.phases.cutover_state import is_live
        from b24migrate.insight import cutover

        if not is_live(app.context.store):
            return Output({}, lambda: None)
        view = cutover.view(app.context, app.planned())
        writers = view.late_writers

        def show() -> None:
            typer.echo(phrase(f"cutover.cli.{'' if writers else 'no_'}late_writers", since=view.since))
            print_writers(writers, console(), session.redact)

        return Output({"late_writers": [asdict(one) for one in writers]}, show)

    return tell


def read_interval(text: str) -> int:
    """In seconds."""
    found = INTERVAL.fullmatch(text.strip().lower())
    if found is None:
        raise BadConfiguration(say("cli.sync.interval", text=text), hint=say("cli.sync.interval_fix"))
    return int(found[1]) * SECONDS[found[2]]


def print_explanation(session: Session, names: list[str]) -> None:
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.engine import analysis
    from b24migrate.engine.phases.delta import explain

    with open_to_read(session) as app:
        context = app.context.with_facts(analysis.load(app.context.store).for_phases)
        chosen = app.chosen(tuple(names))
        streams = [stream for one in context.entities if one.name in chosen for stream in one.streams]
        for stream in streams:
            explanation = explain(context, stream)
            typer.echo(phrase("cli.sync.stream", stream=stream.name))
            typer.echo(phrase("cli.sync.changes", how=spoken(explanation.changes)))
            typer.echo(phrase("cli.sync.deletions", how=spoken(explanation.deletions)))
            for one in stream.unseen:
                typer.echo(phrase("cli.sync.unseen", what=spoken(one)))


def listing_changes(
    act: Callable[[App, Callable[[], None]], RunResult | None], names: list[str], *, silent: bool
) -> Callable[[App, Callable[[], None]], RunResult | None]:
    """After reading: what waits to be sent, and what is gone."""

    def listed(app: App, tick: Callable[[], None]) -> RunResult | None:
        ended = act(app, tick)
        if not silent:
            print_changes(app, names)
        return ended

    return listed


def print_changes(app: App, names: list[str]) -> None:
    from b24migrate.engine.phases.delta import count_changes, list_changes

    context, found = app.context, False
    for entity in (one for one in context.entities if one.name in app.chosen(tuple(names))):
        for stream in entity.streams:
            changed, gone = count_changes(context, stream)
            if changed or gone:
                found = True
                typer.echo(phrase("cli.sync.changed", stream=stream.name, changed=changed, gone=gone))
                ids = list_changes(context, stream, LISTED)
                typer.echo(harmless(f"  {', '.join(ids)}{' …' if changed + gone > len(ids) else ''}"))
    if not found:
        typer.echo(phrase("cli.sync.quiet"))
