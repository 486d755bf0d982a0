"""The commands by name. Each file beside this one holds a group of them and imports the rest only when called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from b24migrate import __version__
from b24migrate.hosts.cli import (
    accepting,
    analyzing,
    beginning,
    box,
    certifying,
    completing,
    explaining,
    fields,
    labouring,
    looking,
    mending,
    moving,
    pausing,
    reporting,
    running,
    serving,
    showing,
    speech,
    trying,
    undoing,
)
from b24migrate.hosts.cli.names import language_name
from b24migrate.hosts.cli.session import Session

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
        speech.choose(language_name(lang))


app.command("init")(beginning.init)
app.command("doctor")(beginning.doctor)
app.command("analyze")(analyzing.analyze)
app.command("fidelity")(accepting.fidelity)
app.command("run")(running.run)
app.command("do")(running.do)
app.command("get")(running.get)
app.command("set")(running.set_)
app.command("verify")(running.verify)
app.add_typer(fields.custom_fields, name="custom-fields")
app.command("pause")(pausing.pause)
app.command("resume")(pausing.resume)
app.command("status")(looking.status)
app.command("errors")(explaining.errors)
app.command("places")(looking.places)
app.command("show")(showing.show)
app.command("find")(showing.find)
app.command("retry")(mending.retry)
app.command("undo")(undoing.undo)
app.add_typer(mending.users, name="users")
app.command("metrics")(looking.metrics)
app.command("report")(reporting.report)
app.add_typer(certifying.certificate, name="certificate")
app.add_typer(moving.store, name="store")
app.add_typer(box.box, name="box")
app.command("worker")(labouring.worker)
app.command("serve")(serving.serve)
app.command("demo")(trying.demo)
app.command("completion")(completing.completion)
