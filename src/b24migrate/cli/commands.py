"""The commands by name. Each file beside this one holds a group of them and imports the rest only when called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from b24migrate import __version__
from b24migrate.cli import (
    analyze,
    box,
    certificate,
    completion,
    custom_fields,
    demo,
    doctor,
    errors,
    fidelity,
    find,
    init,
    metrics,
    pause,
    places,
    report,
    retry,
    run,
    serve,
    show,
    status,
    store,
    undo,
    users,
    worker,
)
from b24migrate.cli.session import Session
from b24migrate.entities.names import language_name
from b24migrate.messages import terminal

app = typer.Typer(
    name="b24migrate",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


def version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"b24migrate {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Configuration; default: b24migrate.toml here.")
    ] = None,
    lang: Annotated[str, typer.Option("--lang", metavar="en|ru", help="Language of the output.")] = "",
    _version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Move a company from a Bitrix24 Cloud portal to its own Bitrix24 box, and prove that nothing was lost.

    \b
    First steps:
      b24migrate demo                     try it on simulated portals
      b24migrate init                     write a configuration to fill in
      b24migrate doctor                   check portals, rights and store
      b24migrate analyze                  what is there, and how long it takes
      b24migrate fidelity                 what this box does not keep
      b24migrate run --test-limit 20      a try-out
      b24migrate run                      everything
      b24migrate status                   how far it is
      b24migrate pause, resume            stop for a while, and go on
      b24migrate errors                   what failed, and what to do

    Exit codes: 0 done and clean, 2 usage or configuration, 3 stopped by a gate or paused, 4 stopped or incomplete
    because of an error, 5 finished with findings.
    """
    session: Session = context.obj
    session.config = config
    if lang:
        terminal.choose(language_name(lang))


app.command("init")(init.init)
app.command("doctor")(doctor.doctor)
app.command("analyze")(analyze.analyze)
app.command("fidelity")(fidelity.fidelity)
app.command("run")(run.run)
app.command("do")(run.do)
app.command("get")(run.get)
app.command("set")(run.set_)
app.command("verify")(run.verify)
app.add_typer(custom_fields.custom_fields, name="custom-fields")
app.command("pause")(pause.pause)
app.command("resume")(pause.resume)
app.command("status")(status.status)
app.command("errors")(errors.errors)
app.command("places")(places.places)
app.command("show")(show.show)
app.command("find")(find.find)
app.command("retry")(retry.retry)
app.command("undo")(undo.undo)
app.add_typer(users.users, name="users")
app.command("metrics")(metrics.metrics)
app.command("report")(report.report)
app.add_typer(certificate.certificate, name="certificate")
app.add_typer(store.store, name="store")
app.add_typer(box.box, name="box")
app.command("worker")(worker.worker)
app.command("serve")(serve.serve)
app.command("demo")(demo.demo)
app.command("completion")(completion.completion)
