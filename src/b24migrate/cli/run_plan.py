"""Runs a plan and shows it: what `run`, `resume`, `do`, `get`, `set`, `verify`, `custom-fields` and `retry` share."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import typer

from b24migrate import messages
from b24migrate.cli import exit_codes
from b24migrate.cli.fidelity import consent
from b24migrate.cli.open_app import open_to_work
from b24migrate.cli.progress import Display, display
from b24migrate.cli.session import Session
from b24migrate.cli.tables import print_summary
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, Stop
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from b24migrate.app import App
    from b24migrate.engine.diagnosis import Diagnosis
    from b24migrate.engine.run import RunResult

TICK_S = 0.4
LOOKING_SHARE = 0.1  # share of the time: a remote store takes a second to read everything
COUNTED_AFTERWARDS = 100_000  # records of a stream take seconds; longer streams are counted by `b24migrate fidelity`
Act = Callable[["App", Callable[[], None]], "RunResult | None"]


class Output(NamedTuple):
    """The end of a command's output in addition to the status: as JSON, and on a terminal."""

    json: Mapping[str, Json]
    show: Callable[[], None]


def conduct(
    session: Session,
    act: Act,
    tell: Callable[[App], Output] = lambda _: Output({}, lambda: None),
    /,
    *,
    as_json: bool = False,
    metrics_port: int | None = None,
    verify_all: bool = False,
    accept_fidelity: bool = False,
    **overrides: Mapping[str, Json],
) -> int:
    """Calls `act` with the application, prints the result and returns the exit code. With `as_json` the status is
    printed in any case. `tell` is called at the end."""
    status: dict[str, Json] = {"run": "", "entities": {}}
    shown = display(session.redact, silent=as_json)
    try:
        with open_to_work(session, shown, verify_all=verify_all, **overrides) as app, served(app, metrics_port):
            app.gate.consent = consent(given=accept_fidelity, silent=as_json)
            try:
                ended = act(app, _ticker(app, shown))
                forecast = _forecast_line(app) if ended else ""
                chain = _chain_line(app) if ended and not as_json else ""
                _count_what_is_not_kept(app)
                output = tell(app)
            finally:
                status = _status(app)
                shown.show(status)
                shown.close()
    except (Stop, KeyboardInterrupt) as stop:
        code = stop.exit_code if isinstance(stop, Stop) else exit_codes.INCOMPLETE
        if as_json:
            _print_json(status, code, session.redact(exit_codes.whole(stop)))
        raise
    code, message = (ended.exit_code, ended.message) if ended else (exit_codes.CLEAN, "")
    message = session.redact(message)
    if as_json:
        _print_json({**status, **output.json}, code, message)
    else:
        print_summary(status, code, message, chain)
        output.show()
        if forecast:
            typer.echo(forecast)
    return code


def run_plan(entities: Sequence[str], phases: Sequence[str] = (), *, delta: bool = False, deep: bool = False) -> Act:
    """The named entities (none: those that the configuration wants) through the phases (none: all, with the entities
    that come with them). `delta`: reads only what may have changed; `deep`: and what moves no date and no count."""
    from b24migrate.model.streams import PHASES

    def act(app: App, tick: Callable[[], None]) -> RunResult:
        together = entities and not phases
        return app.runner.run(
            app.chosen_together(entities) if together else app.chosen(entities),
            tuple(phases) or PHASES,
            delta=delta,
            deep=deep,
            named=entities,
            on_diagnosis=note_warnings(app),
            tick=tick,
        )

    return act


def note_warnings(app: App) -> Callable[[Diagnosis], None]:
    from b24migrate.insight.fidelity import GATE
    from b24migrate.model.events import Noted, tell

    def note(diagnosis: Diagnosis) -> None:
        for check in (one for one in diagnosis.warnings if one.gate != GATE):  # the fidelity list has its own question
            tell(
                app.context.observers,
                Noted("warning", messages.say("cli.check.warning", message=check.message, fix=check.fix), check.entity),
            )

    return note


def _ticker(app: App, shown: Display) -> Callable[[], None]:
    from b24migrate.insight.status.facts import FactReader

    facts, due_s = FactReader(app.context), 0.0

    def tick() -> None:
        nonlocal due_s
        began_s = time.monotonic()
        if began_s >= due_s:
            read = facts.read()
            is_delta = read.run is not None and read.run.plan.delta
            shown.show({**read.snapshot.to_json(), "delta": is_delta})
            now_s = time.monotonic()
            due_s = now_s + max(TICK_S, (now_s - began_s) / LOOKING_SHARE)

    return tick


def _status(app: App) -> dict[str, Json]:
    from b24migrate.insight.status import snapshot

    return snapshot(app.context).to_json()


@contextmanager
def served(app: App, port: int | None) -> Iterator[None]:
    """The metrics for as long as the block lasts: `/metrics` on loopback if there is a port, and sent to Azure Monitor
    if the environment names one."""
    with _sent(app), _scraped(app, port):
        yield


@contextmanager
def _sent(app: App) -> Iterator[None]:
    from b24migrate.config import monitor_connection

    connection = monitor_connection()
    if not connection:
        yield
        return
    from b24migrate.insight.status import figures
    from b24migrate.model.events import Noted, tell
    from b24migrate.monitor.telemetry import send_metrics

    def say(message: str) -> None:
        tell(app.context.observers, Noted("warning", message))

    with send_metrics(lambda: figures(app.context), connection, say):
        yield


@contextmanager
def _scraped(app: App, port: int | None) -> Iterator[None]:
    if port is None:
        yield
        return
    from b24migrate.insight.status import figures
    from b24migrate.monitor.metrics import serve

    try:
        stop = serve(lambda: figures(app.context), port)
    except OSError as error:
        raise BadConfiguration(
            say("cli.metrics_port", port=port, why=error.strerror), hint=say("cli.other_port")
        ) from None
    try:
        yield
    finally:
        stop()


def _chain_line(app: App) -> str:
    """How many failures follow from a few records."""
    from b24migrate.cli.errors import follow_line
    from b24migrate.insight.causes import chains

    found = chains(app.context)
    return follow_line(found) if found.chains else ""


def _forecast_line(app: App) -> str:
    """How near the forecast was, if there was one and the run has finished."""
    from b24migrate.cli.analyze_tables import error_line
    from b24migrate.insight.forecast import whole_run

    found = whole_run(app.context.store)
    return error_line(found) if found else ""


def _count_what_is_not_kept(app: App) -> None:
    """For later commands without a target: everything is read, so the numbers are exact."""
    from b24migrate.insight import fidelity

    before = fidelity.last_list(app.context, app.chosen())
    if before is not None and not before.all_kept:
        fidelity.current_list(app.context, app.chosen(), most=COUNTED_AFTERWARDS)


def _print_json(status: Mapping[str, Json], code: int, message: str) -> None:
    typer.echo(json.dumps({**status, "exit_code": code, "message": message}, ensure_ascii=False))
