"""`fidelity`: what the target does not keep, and who accepts it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.session import Session, local_user
from b24migrate.messages import Words, render, terminal
from b24migrate.messages.terminal import harmless, number, wrapped
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from b24migrate.insight.fidelity import Fidelity, Line

YES = frozenset({"y", "yes", "д", "да"})
AcceptFidelity = Annotated[bool, typer.Option("--accept-fidelity")]
COLOURS = {"lost": "red", "approximated": "yellow", "transformed": "cyan"}
LONGEST_NAME = 32


def fidelity(
    context: typer.Context,
    accept: Annotated[bool, typer.Option("--accept")] = False,
    language: Annotated[str, typer.Option("--lang", metavar="en|ru")] = "",
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """List what the target does not keep."""
    from b24migrate.cli.exit_codes import CLEAN, GATE
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.engine.doctor import wait_for_limits
    from b24migrate.insight import fidelity as fidelities

    session: Session = context.obj
    session.choose_language(language)
    with open_to_read(session, portals=True) as app:
        run_context = app.context
        rules = fidelities.relevant_rules(
            run_context, wait_for_limits(run_context.clock, lambda: fidelities.ask_target(run_context)), app.chosen()
        )
        if accept:
            fidelities.accept(run_context, rules, local_user())
        found = fidelities.make_list(run_context, rules)
    code = GATE if found.needs_acceptance else CLEAN
    if as_json:
        text = json.dumps({**to_json(found, terminal.words()), "exit_code": code}, ensure_ascii=False)
        typer.echo(session.redact(text))
    else:
        _show(found, terminal.words())
    raise typer.Exit(code)


def to_json(found: Fidelity, words: Words) -> dict[str, Json]:
    items = [{**asdict(line), "reason": render(line.reason, words.language)} for line in found.lines]
    about = {"hash": found.hash, "all_kept": found.all_kept, "needs_acceptance": found.needs_acceptance}
    return {**about, "accepted": asdict(found.accepted) if found.accepted else None, "items": items}


def _show(found: Fidelity, words: Words) -> None:
    from b24migrate.cli.tables import console

    out = console()
    print_fidelity(found, out, words)
    if found.needs_acceptance:
        wrapped(out, words("fidelity.open_how"))


def consent(*, given: bool, silent: bool) -> Callable[[Fidelity], str]:
    """The user who accepts the list with `--accept` or at the terminal; None if there is none."""

    def ask(found: Fidelity) -> str:
        if given:
            return local_user()
        if silent or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return ""
        return local_user() if _says_yes(found) else ""

    return ask


def _says_yes(found: Fidelity) -> bool:
    from b24migrate.cli.tables import console

    print_fidelity(found, console(), terminal.words())
    typer.echo(terminal.phrase("fidelity.question"), nl=False)
    try:
        return input().strip().lower() in YES
    except EOFError:
        return False


# ---------------------------------------------------------------- the list on a terminal


def print_fidelity(found: Fidelity, out: Console, words: Words) -> None:
    """First the verdict, last what to do."""
    from b24migrate.insight.fidelity import Basis

    if found.all_kept:
        wrapped(out, words("fidelity.all_kept"), style="green")
        return
    wrapped(out, words("fidelity.lead", count=number(len(found.lines))), style="bold")
    touching = [line for line in found.lines if not _touches_none(line)]
    widths = _widths(touching, words)
    counts = any(line.basis is not Basis.UNKNOWN for line in touching)  # otherwise one line below the list says so
    for stream, lines in groupby(touching, key=lambda line: line.stream):
        wrapped(out, f"{words.named('stream', stream)} ({stream})", style="bold")
        for reason, alike in _by_reason(lines):
            for line in alike:
                wrapped(out, _line(line, words, widths, counts), indent="  ")
            wrapped(out, harmless(render(reason, words.language)), indent="      ")
    if any(line.basis is Basis.UNKNOWN for line in touching):
        wrapped(out, words("fidelity.unknown_how"), style="dim")
    if idle := len(found.lines) - len(touching):
        wrapped(out, words("fidelity.idle", count=number(idle)), style="dim")
    if found.needs_acceptance:
        wrapped(out, words("fidelity.open"), style="yellow")
    elif found.accepted:
        by = harmless(render(found.accepted.by, words.language))
        wrapped(out, words("fidelity.accepted", by=by, at=found.accepted.at), style="green")


def _touches_none(line: Line) -> bool:
    """Every record was counted, and none loses anything."""
    from b24migrate.insight.fidelity import Basis

    return line.basis is Basis.COUNTED and line.records == 0


def _by_reason(lines: Iterable[Line]) -> list[tuple[str, list[Line]]]:
    """Fields with the same reason, in the order of the list: the worst first."""
    found: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        found.setdefault((line.keeping, line.reason), []).append(line)
    return [(reason, alike) for (_, reason), alike in found.items()]


def _line(line: Line, words: Words, widths: tuple[int, int], counts: bool) -> Text:
    from rich.text import Text

    keeping = words(f"fidelity.keeping.{line.keeping}").ljust(widths[1] * counts)
    text = Text.assemble(_field(line, words).ljust(widths[0]), "  ", (keeping, COLOURS.get(line.keeping, "")))
    return Text.assemble(text, "  ", records(line, words)) if counts else text


def records(line: Line, words: Words) -> str:
    count = {} if line.records is None else {"count": number(line.records)}
    return words(f"fidelity.records.{line.basis}", **count)


def _field(line: Line, words: Words) -> str:
    return harmless(line.field)[:LONGEST_NAME] or words("fidelity.whole")


def _widths(lines: Sequence[Line], words: Words) -> tuple[int, int]:
    fields = (len(_field(line, words)) for line in lines)
    keepings = (len(words(f"fidelity.keeping.{line.keeping}")) for line in lines)
    return max(fields, default=0), max(keepings, default=0)
