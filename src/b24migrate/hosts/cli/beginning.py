"""`init` and `doctor`: what comes before a migration."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.errors import BadConfiguration, Halted
from b24migrate.hosts.cli import speech
from b24migrate.hosts.cli.session import Session
from b24migrate.hosts.cli.speech import phrase
from b24migrate.messages import say
from b24migrate.private_files import FILE, replace_private
from b24migrate.records import Json

if TYPE_CHECKING:
    from b24migrate.messages import Words
    from b24migrate.pipeline.diagnosis import Check


def init(context: typer.Context) -> None:
    """Write a commented b24migrate.toml to fill in.

    It goes into this directory, or where --config says. An existing file is never overwritten.
    """
    from b24migrate.hosts.cli.template import TEMPLATE
    from b24migrate.private_files import open_private
    from b24migrate.settings import DEFAULT_FILE

    session: Session = context.obj
    path = session.config or Path(DEFAULT_FILE)
    try:
        with open_private(path, "x", encoding="utf-8") as file:
            file.write(TEMPLATE)
    except FileExistsError:
        hint = say("cli.init.taken_fix")
        raise BadConfiguration(say("cli.init.taken", path=path), hint=hint) from None
    except OSError as error:
        hint = say("cli.init.place_fix")
        raise Halted(say("cli.unwritable", path=path, why=error.strerror), hint=hint) from None
    typer.echo(f"Written: {path}")
    typer.echo(phrase("cli.init.next"))
    typer.echo(phrase("cli.init.next_more"))


def doctor(
    context: typer.Context,
    *,
    probe: Annotated[
        bool, typer.Option("--probe", help="Also show how the source behaves where portals differ (docs/probe.md).")
    ] = False,
    box: Annotated[
        bool,
        typer.Option("--box", help="Also try on the box what it keeps, with records that it deletes again."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="With --probe: write the answers as JSON, no personal data."),
    ] = None,
    language: Annotated[str, typer.Option("--lang", metavar="en|ru", help="Language of the output.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on stdout.")] = False,
) -> None:
    """Check portals, webhooks and store.

    Exit code 0: a run can begin. 3: a secret, a scope or the import module is missing. 4: a portal does not answer.
    """
    from b24migrate.hosts.cli.names import language_name
    from b24migrate.hosts.cli.opening import looking
    from b24migrate.hosts.cli.tables import print_checks, print_probe

    session: Session = context.obj
    if language:
        speech.choose(language_name(language))
    if out is not None and not probe:
        raise BadConfiguration(say("cli.doctor.out"), hint=say("cli.doctor.out_fix"))
    seen: dict[str, Json] | None = None
    with looking(session, portals=True) as app:
        wanted = app.chosen()
        found = app.runner.examine([entity for entity in app.catalog.entities if entity.name in wanted], box=box)
        exposed = [exposed_file(path, speech.words()) for path in app.settings.exposed_files]
        found = replace(found, checks=(*found.checks, *exposed))
        if probe and not any(check.name == "source" for check in found.failed):
            seen = app.runner.probe(found.facts.methods)
    found = replace(found, checks=tuple(rendered(check, speech.language()) for check in found.checks))
    if as_json:
        checks = [{**asdict(check), "level": check.level} for check in found.checks]
        more = {"probe": seen} if probe else {}
        typer.echo(json.dumps({"checks": checks, **more, "exit_code": found.exit_code}, ensure_ascii=False))
    else:
        print_checks(found)
        if seen is not None:
            print_probe(seen, speech.words())
    if out is not None and seen is not None:
        write(out, json.dumps(seen, indent=2) + "\n")
        if not as_json:
            typer.echo(speech.words()("probe.written", file=out))
    raise typer.Exit(found.exit_code)


def rendered(check: Check, language: str) -> Check:
    """As its reader sees it."""
    from b24migrate.messages import render

    name, message, fix = (render(text, language) for text in (check.name, check.message, check.fix))
    return replace(check, name=name, message=message, fix=fix)


def exposed_file(path: Path, words: Words) -> Check:
    """The command is complete: it can be copied into a shell."""
    from b24migrate.pipeline.diagnosis import Check

    fix = words("doctor.exposed_fix", command=f"chmod 600 {shlex.quote(str(path))}")
    return Check(words("doctor.files"), False, words("doctor.exposed", file=path), fix)


def write(out: Path, text: str, permissions: int = FILE) -> None:
    """The file appears whole."""
    try:
        with replace_private(out, permissions=permissions, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Halted(say("cli.unwritable", path=out, why=error.strerror), hint=say("cli.other_place")) from None
