"""`cutover`: the way from the last rehearsal to the first day on the box, step by step."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.fidelity import YES, AcceptFidelity
from b24migrate.cli.run import AsJson, Full, Port
from b24migrate.cli.session import Session, local_user
from b24migrate.cli.tables import console, print_writers
from b24migrate.messages import Words, terminal
from b24migrate.messages.measures import clock_time, duration
from b24migrate.messages.terminal import harmless, harmless_json, phrase, spoken, wrapped

if TYPE_CHECKING:
    from rich.console import Console

    from b24migrate.app import App
    from b24migrate.cli.run_plan import Output
    from b24migrate.engine.cutover import Cutover
    from b24migrate.engine.run import RunResult
    from b24migrate.insight.cutover import CutoverView, StepView
    from b24migrate.insight.forecast.freeze import FreezeForecast

MARKS = {"done": ("✓", "green"), "under_way": ("…", "yellow"), "open": ("·", "")}
STREAMS_SHOWN = 8
DELTAS_SHOWN = 3
CERTIFICATE = Path("certificate.jsonl")
Undo = Annotated[bool, typer.Option("--undo")]
Yes = Annotated[bool, typer.Option("--yes")]
By = Annotated[str, typer.Option("--by", metavar="NAME")]
cutover = typer.Typer(invoke_without_command=True)


@cutover.callback()
def show(context: typer.Context, as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Show the steps of the cutover and the next one."""
    if context.invoked_subcommand:
        return
    from b24migrate.cli.open_app import open_to_read

    session: Session = context.obj
    with open_to_read(session) as app:
        view = _view(app)
    _print(session, view, as_json=as_json)


@cutover.command("rehearse")
def rehearse(
    context: typer.Context,
    *,
    undo: Undo = False,
    as_json: AsJson = False,
    metrics_port: Port = None,
    full: Full = False,
    accept_fidelity: AcceptFidelity = False,
    by: By = "",
) -> None:
    """Rehearse the freeze and forecast how long it will last."""
    session: Session = context.obj

    def step(made: Cutover, app: App) -> RunResult:
        return made.rehearse(lambda: _try_certificate(app, session))

    if undo:
        _undo(session, "rehearsal", as_json=as_json)
    else:
        _do(session, step, by, as_json=as_json, metrics_port=metrics_port, full=full, accept=accept_fidelity)


@cutover.command("freeze")
def freeze(
    context: typer.Context,
    *,
    yes: Yes = False,
    undo: Undo = False,
    as_json: AsJson = False,
    metrics_port: Port = None,
    full: Full = False,
    accept_fidelity: AcceptFidelity = False,
    by: By = "",
) -> None:
    """Start the freeze: users and integrations no longer work in the source. Shows who still writes."""
    session: Session = context.obj

    def step(made: Cutover, app: App) -> RunResult:
        made.require("freeze")
        if not (yes or made.state.is_frozen):
            _confirm(app, "freeze", silent=as_json)
        return made.freeze()

    if undo:
        _undo(session, "freeze", as_json=as_json)
    else:
        _do(session, step, by, as_json=as_json, metrics_port=metrics_port, full=full, accept=accept_fidelity)


@cutover.command("finish")
def finish(
    context: typer.Context,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE")] = CERTIFICATE,
    undo: Undo = False,
    as_json: AsJson = False,
    metrics_port: Port = None,
    full: Full = False,
    accept_fidelity: AcceptFidelity = False,
    by: By = "",
) -> None:
    """Import the last changes until a delta run finds nothing, then write the certificate."""
    session: Session = context.obj

    def step(made: Cutover, _: App) -> RunResult:
        return made.finish()

    if undo:
        _undo(session, "finish", as_json=as_json)
    else:
        _do(session, step, by, as_json=as_json, metrics_port=metrics_port, full=full, accept=accept_fidelity, out=out)


@cutover.command("live")
def live(context: typer.Context, yes: Yes = False, as_json: AsJson = False, by: By = "") -> None:
    """Users work on the box from now on. Cannot be undone."""
    from b24migrate.cli.open_app import open_to_read

    session: Session = context.obj
    with open_to_read(session) as app:
        made = _cutover(app, session, by, lambda: None, CERTIFICATE)
        if not made.state.is_live:
            made.require("live")
            if not yes:
                _confirm(app, "live", silent=as_json)
            made.go_live()
        view = _view(app)
    _print(session, view, as_json=as_json)


# ---------------------------------------------------------------- what the steps share


def _do(
    session: Session,
    step: Callable[[Cutover, App], RunResult],
    by: str,
    *,
    as_json: bool,
    metrics_port: int | None,
    full: bool,
    accept: bool,
    out: Path = CERTIFICATE,
) -> None:
    from b24migrate.cli.run_plan import conduct

    def act(app: App, tick: Callable[[], None]) -> RunResult:
        return step(_cutover(app, session, by, tick, out), app)

    def tell(app: App) -> Output:
        from b24migrate.cli.run_plan import Output

        view = _view(app)
        return Output({"cutover": view.to_json()}, lambda: _print(session, view, as_json=False))

    code = conduct(
        session,
        act,
        tell,
        as_json=as_json,
        metrics_port=metrics_port,
        verify_all=full,
        accept_fidelity=accept,
    )
    raise typer.Exit(code)


def _view(app: App) -> CutoverView:
    from b24migrate.insight import cutover as cutovers

    return cutovers.view(app.context, app.planned())


def _cutover(app: App, session: Session, by: str, tick: Callable[[], None], out: Path) -> Cutover:
    from b24migrate.cli.run_plan import run_plan
    from b24migrate.engine.cutover import Cutover
    from b24migrate.engine.phases.cutover_state import CertificateFile
    from b24migrate.insight.certificate import make

    sync = run_plan((), delta=True, deep=True)

    def run() -> RunResult:
        ended = sync(app, tick)
        assert ended is not None  # noqa: S101 (a plan that ran has a result)
        return ended

    def certify() -> CertificateFile:
        made = make(app.context, out, clean=_clean(session))
        return CertificateFile(str(out.absolute()), made.root, made.lines)

    return Cutover(app.context, app.planned(), by or local_user(), run, certify)


def _try_certificate(app: App, session: Session) -> None:
    """Written and thrown away: a rehearsal shows how long it takes and whether its totals match."""
    from b24migrate.insight.certificate import make

    with tempfile.TemporaryDirectory() as folder:
        make(app.context, Path(folder) / CERTIFICATE.name, clean=_clean(session))


def _clean(session: Session) -> Callable[[str], str]:
    from b24migrate.monitor.logs import mask_email

    return lambda text: mask_email(session.redact(text))


def _undo(session: Session, step: str, *, as_json: bool) -> None:
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.engine.cutover import undo_step

    with open_to_read(session) as app:
        undo_step(app.context, step)
        view = _view(app)
    _print(session, view, as_json=as_json)


def _confirm(app: App, step: str, *, silent: bool) -> None:
    """Raises NotNow unless the user confirms at the terminal."""
    from b24migrate.engine.cutover import not_confirmed

    if silent or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise not_confirmed()
    out = console()
    view = _view(app)
    if step == "freeze":
        wrapped(out, phrase("cutover.cli.machines"), style="bold")
        for one in view.machines:
            wrapped(out, spoken(one), first="□ ", indent="  ")
    elif finish_message := next(one.message for one in view.steps if one.name == "finish"):
        wrapped(out, harmless(finish_message), first="! ", style="yellow")
    typer.echo(phrase(f"cutover.cli.{step}_question"), nl=False)
    try:
        answer = input().strip().lower()
    except EOFError:
        answer = ""
    if answer not in YES:
        raise not_confirmed()


# ---------------------------------------------------------------- the checklist on a terminal


def _print(session: Session, view: CutoverView, *, as_json: bool) -> None:
    if as_json:
        text = json.dumps({"cutover": view.to_json()}, ensure_ascii=False)
        typer.echo(harmless_json(session.redact(text)))
        return
    out, words = console(), terminal.words()
    width = max(len(phrase(f"cutover.step.{one.name}")) for one in view.steps)
    wrapped(out, phrase("cutover.cli.title"), style="bold")
    for one in view.steps:
        _print_step(out, one, clock_time(words, one.ended or one.began, view.at), width, session.redact)
    if view.forecast and view.took_s is None:
        _print_forecast(out, words, view.forecast, view.tomorrow_s)
    elif view.took_s is not None:
        wrapped(out, phrase("cutover.cli.took", time=duration(words, view.took_s)))
    live = bool(view.watched_until)  # then `since` is the time of going live
    writers = view.late_writers if live else view.writers
    if writers:
        wrapped(out, phrase(f"cutover.cli.{'late_' if live else ''}writers", since=view.since), style="yellow")
        print_writers(writers, out, session.redact)
    for delta in view.deltas[:DELTAS_SHOWN]:
        key = "reported" if delta.report_only else "delta"
        at = clock_time(words, delta.started, view.at)
        wrapped(out, phrase(f"cutover.cli.{key}", at=at, changed=delta.changed, deleted=delta.deleted))
    if view.quiet and view.proven:
        wrapped(out, phrase("cutover.cli.quiet", as_of=view.quiet.as_of[:19], run=view.quiet.run), style="green")
    if view.certificate:
        wrapped(out, phrase("cutover.cli.certificate", file=view.certificate.file, root=view.certificate.root))
    if view.watched_until:
        wrapped(out, phrase("cutover.cli.watched", until=view.watched_until[:10]))
    if view.command:
        wrapped(out, phrase("cutover.cli.next", command=view.command))


def _print_step(out: Console, one: StepView, when: str, width: int, redact: Callable[[str], str]) -> None:
    from rich.text import Text

    mark, colour = MARKS[one.state]
    state = phrase("cutover.state.under_way") if one.state == "under_way" else ""
    details = "  ".join(part for part in (when if one.began else "", harmless(redact(one.by)), state) if part)
    name = phrase(f"cutover.step.{one.name}").ljust(width)
    out.print(Text.assemble((f"  {mark}", colour), f" {name}  {details}".rstrip()), soft_wrap=True)
    if one.message:
        wrapped(out, harmless(redact(one.message)), first="! ", indent="      ", style="yellow")


def _print_forecast(out: Console, words: Words, made: FreezeForecast, tomorrow_s: float | None) -> None:
    wrapped(out, phrase("cutover.cli.forecast", time=duration(words, made.total_s)), style="bold")
    parts = {name: duration(words, getattr(made, f"{name}_s")) for name in ("delta", "quiet", "certificate")}
    wrapped(out, phrase("cutover.cli.parts", **parts), indent="  ")
    changes, rate = round(made.changes), round(made.per_hour)
    wrapped(out, phrase("cutover.cli.changes", changes=changes, rate=rate), indent="  ")
    if made.waits_s >= 1:
        wrapped(out, phrase("cutover.cli.waits", time=duration(words, made.waits_s)), indent="  ")
    for one in made.streams[:STREAMS_SHOWN]:
        why = spoken(one.why) if one.why else phrase("cutover.cli.only_changes")
        name, time = words.named("stream", one.stream), duration(words, one.seconds)
        wrapped(out, phrase("cutover.cli.stream", stream=name, time=time, why=why), indent="    ")
    if tomorrow_s is not None:
        wrapped(out, phrase("cutover.cli.tomorrow", time=duration(words, tomorrow_s)), indent="  ")
    for sentence in made.basis:
        wrapped(out, spoken(sentence), indent="  ", style="dim")
