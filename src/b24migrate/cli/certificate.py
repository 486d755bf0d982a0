"""`certificate`: writes the result of every record; also checks such a file on any machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.session import Session
from b24migrate.messages.terminal import phrase
from b24migrate.model.errors import Stop

if TYPE_CHECKING:
    from b24migrate.insight.certificate import Made

AsJson = Annotated[bool, typer.Option("--json")]
CLASSES = ("verified", "migrated", "failed", "excluded", "impossible")  # each has a name: `cli.certificate.class.…`
certificate = typer.Typer()


@certificate.callback(invoke_without_command=True)
def write(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", metavar="FILE")] = Path("certificate.jsonl"),
    as_json: AsJson = False,
) -> None:
    """Write the certificate: every source ID in exactly one class, and one root hash."""
    if context.invoked_subcommand is not None:
        return
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.insight.certificate import make
    from b24migrate.monitor.logs import mask_email

    session: Session = context.obj

    def made() -> Made:
        with open_to_read(session, portals=True) as app:  # their names are in it
            return make(app.context, out, clean=lambda text: mask_email(session.redact(text)))

    _print_result(session, out, made, f"Written: {out}", as_json=as_json)


@certificate.command("check")
def check(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    as_json: AsJson = False,
) -> None:
    """Check a certificate. Needs only the file."""
    from b24migrate.insight import certificate as certificates

    _print_result(
        context.obj, file, lambda: certificates.check(file), phrase("cli.certificate.valid", file=file), as_json=as_json
    )


def _print_result(session: Session, file: Path, act: Callable[[], Made], heading: str, *, as_json: bool) -> None:
    try:
        made = act()
    except Stop as stop:
        if as_json:
            failure = {"file": str(file), "holds": False, "exit_code": stop.exit_code, "code": stop.code}
            typer.echo(session.redact(json.dumps({**failure, "message": str(stop)}, ensure_ascii=False)))
        raise
    if as_json:
        typer.echo(json.dumps({"file": str(file), "holds": True, "exit_code": 0, **to_json(made)}, ensure_ascii=False))
        return
    sums = totals(made)
    typer.echo(
        phrase(
            "cli.certificate.about", said=heading, run=made.head.run, source=made.head.source, target=made.head.target
        )
    )
    classes = ", ".join(f"{sums[name]:,} {phrase(f'cli.certificate.class.{name}')}" for name in CLASSES)
    typer.echo("  " + phrase("cli.certificate.ids", total=f"{sum(sums.values()):,}", classes=classes))
    if deleted := sum(one.deleted for one in made.head.streams):
        typer.echo("  " + phrase("cli.certificate.deleted", count=deleted))
    if made.head.foreseen:
        typer.echo("  " + phrase("cli.certificate.foreseen", count=made.head.foreseen))
    if quiet := made.head.quiet:
        typer.echo("  " + phrase("cutover.cli.as_of", as_of=quiet.as_of[:19], deltas=quiet.deltas, freeze=quiet.freeze))
    typer.echo("  " + phrase("cli.certificate.root", root=made.root))


def totals(made: Made) -> dict[str, int]:
    return {name: sum(getattr(one, name) for one in made.head.streams) for name in CLASSES}


def to_json(made: Made) -> dict[str, object]:
    head = made.head
    streams = {
        one.stream: {name: getattr(one, name) for name in ("reported", "retrieved", "deleted", *CLASSES)}
        for one in head.streams
    }
    about = {"run": head.run, "made_at": head.made_at, "source": head.source, "target": head.target}
    return {
        **about,
        "root": made.root,
        "lines": made.lines,
        "sums": totals(made),
        "foreseen": head.foreseen,
        "as_of": head.quiet.as_of if head.quiet else None,
        "streams": streams,
    }
