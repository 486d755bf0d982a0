"""`doctor`: checks both portals, the webhooks and the store."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.session import Session
from b24migrate.messages import say, terminal
from b24migrate.model.errors import BadConfiguration, Halted
from b24migrate.model.records import Json
from b24migrate.private_files import FILE, replace_private

if TYPE_CHECKING:
    from b24migrate.engine.diagnosis import Check
    from b24migrate.messages import Words


def doctor(
    context: typer.Context,
    *,
    probe: Annotated[bool, typer.Option("--probe")] = False,
    box: Annotated[
        bool,
        typer.Option("--box"),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE"),
    ] = None,
    language: Annotated[str, typer.Option("--lang", metavar="en|ru")] = "",
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Check portals, webhooks and store."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.cli.tables import print_checks, print_probe

    session: Session = context.obj
    session.choose_language(language)
    if out is not None and not probe:
        raise BadConfiguration(say("cli.doctor.out"), hint=say("cli.doctor.out_fix"))
    probed: dict[str, Json] | None = None
    with open_to_read(session, portals=True) as app:
        wanted = app.chosen()
        found = app.runner.examine([entity for entity in app.catalog.entities if entity.name in wanted], box=box)
        exposed = [exposed_file(path, terminal.words()) for path in app.settings.exposed_files]
        found = replace(found, checks=(*found.checks, *exposed))
        if probe and not any(check.name == "source" for check in found.failed):
            probed = app.runner.probe(found.facts.methods)
    found = replace(found, checks=tuple(rendered(check, terminal.language()) for check in found.checks))
    if as_json:
        checks = [{**asdict(check), "level": check.level} for check in found.checks]
        more = {"probe": probed} if probe else {}
        typer.echo(json.dumps({"checks": checks, **more, "exit_code": found.exit_code}, ensure_ascii=False))
    else:
        print_checks(found)
        if probed is not None:
            print_probe(probed, terminal.words())
    if out is not None and probed is not None:
        write(out, json.dumps(probed, indent=2) + "\n")
        if not as_json:
            typer.echo(terminal.words()("probe.written", file=out))
    raise typer.Exit(found.exit_code)


def rendered(check: Check, language: str) -> Check:
    """In the language of the reader."""
    from b24migrate.messages import render

    name, message, fix = (render(text, language) for text in (check.name, check.message, check.fix))
    return replace(check, name=name, message=message, fix=fix)


def exposed_file(path: Path, words: Words) -> Check:
    """The command is complete: it can be copied into a shell."""
    from b24migrate.engine.diagnosis import Check

    fix = words("doctor.exposed_fix", command=f"chmod 600 {shlex.quote(str(path))}")
    return Check(words("doctor.files"), False, words("doctor.exposed", file=path), fix)


def write(out: Path, text: str, permissions: int = FILE) -> None:
    """The file appears whole."""
    try:
        with replace_private(out, permissions=permissions, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Halted(say("cli.unwritable", path=out, why=error.strerror), hint=say("cli.other_place")) from None
