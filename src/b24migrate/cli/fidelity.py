"""`fidelity`: what the target does not keep, and who accepts it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.session import Session, local_user
from b24migrate.messages import terminal
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from b24migrate.insight.fidelity import Fidelity
    from b24migrate.messages import Words

YES = frozenset({"y", "yes", "д", "да"})
AcceptFidelity = Annotated[bool, typer.Option("--accept-fidelity")]


def fidelity(
    context: typer.Context,
    accept: Annotated[bool, typer.Option("--accept")] = False,
    language: Annotated[str, typer.Option("--lang", metavar="en|ru")] = "",
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """List what the target does not keep."""
    from b24migrate.cli.exit_codes import CLEAN, GATE
    from b24migrate.cli.open_app import looking
    from b24migrate.engine.doctor import wait_for_limits
    from b24migrate.entities.names import language_name
    from b24migrate.insight import fidelity as fidelities

    session: Session = context.obj
    if language:
        terminal.choose(language_name(language))
    with looking(session, portals=True) as app:
        run_context = app.context
        rules = fidelities.relevant_rules(
            run_context, wait_for_limits(run_context.clock, lambda: fidelities.ask_target(run_context)), app.chosen()
        )
        if accept:
            fidelities.accept(run_context, rules, local_user())
        found = fidelities.make_list(run_context, rules)
    code = GATE if found.needs_acceptance else CLEAN
    if as_json:
        told = json.dumps({**as_told(found, terminal.words()), "exit_code": code}, ensure_ascii=False)
        typer.echo(session.redact(told))
    else:
        _show(found, terminal.words())
    raise typer.Exit(code)


def as_told(found: Fidelity, words: Words) -> dict[str, Json]:
    from b24migrate.messages import render

    items = [{**asdict(line), "reason": render(line.reason, words.language)} for line in found.lines]
    about = {"hash": found.hash, "all_kept": found.all_kept, "needs_acceptance": found.needs_acceptance}
    return {**about, "accepted": asdict(found.accepted) if found.accepted else None, "items": items}


def _show(found: Fidelity, words: Words) -> None:
    from b24migrate.cli.fidelity_table import print_fidelity
    from b24migrate.cli.tables import console
    from b24migrate.messages.safe_text import wrapped

    out = console()
    print_fidelity(found, out, words)
    if found.needs_acceptance:
        wrapped(out, words("fidelity.open_how"))


def consent(*, given: bool, silent: bool) -> Callable[[Fidelity], str]:
    """Who accepts the list: the user who gave `--accept` or confirmed at the terminal; None otherwise."""

    def ask(found: Fidelity) -> str:
        if given:
            return local_user()
        if silent or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return ""
        return local_user() if _says_yes(found) else ""

    return ask


def _says_yes(found: Fidelity) -> bool:
    from b24migrate.cli.fidelity_table import print_fidelity
    from b24migrate.cli.tables import console

    print_fidelity(found, console(), terminal.words())
    typer.echo(terminal.phrase("fidelity.question"), nl=False)
    try:
        return input().strip().lower() in YES
    except EOFError:
        return False
