"""`init` and `doctor`: what comes before a migration."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.errors import BadConfiguration, Halted
from b24migrate.hosts.cli.session import Session
from b24migrate.private_files import FILE, replace_private
from b24migrate.records import Json

if TYPE_CHECKING:
    from b24migrate.hosts.words import Words
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
        hint = "Edit it, or name another: b24migrate --config FILE init."
        raise BadConfiguration(f"{path} is there already and stays as it is.", hint=hint) from None
    except OSError as error:
        hint = "Choose another place with --config."
        raise Halted(f"{path} cannot be written: {error.strerror}.", hint=hint) from None
    typer.echo(f"Written: {path}")
    typer.echo("Next: put the webhooks' addresses into the environment variables B24_SOURCE")
    typer.echo("and B24_TARGET, then run `b24migrate doctor`.")


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
    language: Annotated[
        str, typer.Option("--lang", metavar="en|ru", help="Language of --probe, --box and of warnings about files.")
    ] = "en",
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON on stdout.")] = False,
) -> None:
    """Check portals, webhooks and store.

    Exit code 0: a run can begin. 3: a secret, a scope or the import module is missing. 4: a portal does not answer.
    """
    from b24migrate.hosts.cli.names import misspelt
    from b24migrate.hosts.cli.opening import looking
    from b24migrate.hosts.cli.tables import print_checks, print_probe
    from b24migrate.hosts.words import LANGUAGES, words

    session: Session = context.obj
    if language not in LANGUAGES:
        raise misspelt(language, "language", LANGUAGES)
    if out is not None and not probe:
        raise BadConfiguration("--out works only with --probe.", hint="Run `b24migrate doctor --probe --out FILE`.")
    seen: dict[str, Json] | None = None
    with looking(session, portals=True) as app:
        wanted = app.chosen()
        found = app.runner.examine([entity for entity in app.catalog.entities if entity.name in wanted], box=box)
        if box:
            found = replace(found, checks=tuple(retold(found.checks, words(language))))
        exposed = [exposed_file(path, words(language)) for path in app.settings.exposed_files]
        found = replace(found, checks=(*found.checks, *exposed))
        if probe and not any(check.name == "source" for check in found.failed):
            seen = app.runner.probe(found.facts.methods)
    if as_json:
        checks = [{**asdict(check), "level": check.level} for check in found.checks]
        more = {"probe": seen} if probe else {}
        typer.echo(json.dumps({"checks": checks, **more, "exit_code": found.exit_code}, ensure_ascii=False))
    else:
        print_checks(found)
        if seen is not None:
            print_probe(seen, words(language))
    if out is not None and seen is not None:
        write(out, json.dumps(seen, indent=2) + "\n")
        if not as_json:
            typer.echo(words(language)("probe.written", file=out))
    raise typer.Exit(found.exit_code)


def retold(checks: Sequence[Check], words: Words) -> Iterator[Check]:
    """What the box has tried, in this language."""
    from b24migrate.hosts.report.sayings import Sayings
    from b24migrate.pipeline.doctor import SELFTEST

    told = Sayings(words)
    for check in checks:
        own = check.name.partition(":")[0] == SELFTEST
        yield replace(check, message=str(told(check.message)), fix=str(told(check.fix))) if own else check


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
        raise Halted(f"{out} cannot be written: {error.strerror}.", hint="Choose another place.") from None
