"""`analyze`: how many records there are, and how long the migration takes."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.session import Session
from b24migrate.messages import say
from b24migrate.messages.terminal import phrase
from b24migrate.model.errors import Halted

if TYPE_CHECKING:
    from b24migrate.insight.forecast import Compared, Survey


def analyze(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    sample: Annotated[float, typer.Option(min=0.0001, max=1.0)] = 0.02,
    compare: Annotated[bool, typer.Option("--compare")] = False,
) -> None:
    """Count records, read a sample and forecast the migration time."""
    session: Session = context.obj
    if compare:
        _compare(session, as_json=as_json)
        return
    found = _surveyed(session, sample, quiet=as_json)
    if as_json:
        typer.echo(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        from b24migrate.cli.analyze_tables import print_survey

        print_survey(found)


def _surveyed(session: Session, sample: float, *, quiet: bool) -> Survey:
    from b24migrate.app import open_app
    from b24migrate.insight.forecast import Limits, Meter, survey

    def notice(what: str) -> None:
        if not quiet and sys.stderr.isatty():
            typer.echo(f"\r\x1b[K{phrase('cli.analysis.reading', what=what)}", nl=False, err=True)

    meter = Meter()
    settings = session.settings(portals=True)
    with open_app(settings, meter=meter) as app:
        source = settings.source
        limits = Limits(source.requests_per_second, source.bucket, source.operating_seconds)
        names = app.chosen()
        wanted = [entity for entity in app.catalog.entities if entity.name in names]
        named = app.runner.named
        found = survey(
            app.context, meter, wanted, limits, timezone=source.zone, named=named, share=sample, notice=notice
        )
    if not quiet and sys.stderr.isatty():
        typer.echo("\r\x1b[K", nl=False, err=True)
    return found


def _compare(session: Session, *, as_json: bool) -> None:
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.insight.forecast import compare_forecast, load_last

    with open_to_read(session) as app:
        made = load_last(app.context.store)
        found: list[Compared] = compare_forecast(app.context.store)
    if made is None:
        raise Halted(say("cli.no_forecast"), hint=say("cli.no_forecast_fix"))
    if as_json:
        typer.echo(json.dumps({"made": made.at, "phases": [one.to_json() for one in found]}))
        return
    from b24migrate.cli.analyze_tables import print_compared

    print_compared(made, found)
