"""The commands by name. Each file of this package has a group of them; it imports the rest only when called."""

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
    conflicts,
    custom_fields,
    cutover,
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
    sync,
    undo,
    users,
    worker,
)
from b24migrate.cli.session import Session

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
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE")] = None,
    lang: Annotated[str, typer.Option("--lang", metavar="en|ru")] = "",
    _version: Annotated[bool, typer.Option("--version", callback=version, is_eager=True)] = False,
) -> None:
    """Migrate a company from Bitrix24 Cloud to Bitrix24 On-Premise and account for every record."""
    session: Session = context.obj
    session.config = config
    session.choose_language(lang)


app.command("init")(init.init)
app.command("doctor")(doctor.doctor)
app.command("analyze")(analyze.analyze)
app.command("fidelity")(fidelity.fidelity)
app.command("run")(run.run)
app.command("sync")(sync.sync)
app.add_typer(cutover.cutover, name="cutover")
app.command("do")(run.do)
app.command("get")(run.get)
app.command("set")(run.set_)
app.command("verify")(run.verify)
app.add_typer(custom_fields.custom_fields, name="custom-fields")
app.command("pause")(pause.pause)
app.command("resume")(pause.resume)
app.command("status")(status.status)
app.command("errors")(errors.errors)
app.add_typer(conflicts.conflicts, name="conflicts")
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
