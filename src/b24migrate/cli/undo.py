"""`undo`: deletes imported records from the target, after a dry run."""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli import exit_codes
from b24migrate.cli.completion import entities
from b24migrate.cli.session import Session
from b24migrate.messages import say
from b24migrate.messages.terminal import harmless, number, phrase, wrapped
from b24migrate.model.errors import Halted, Stop
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from rich.console import Console

    from b24migrate.app import App
    from b24migrate.engine.undo import DryRun, Leftovers, Scope, Tally


WORD = "undo"
NOTHING = say("cli.undo.nothing")
UNASKED = say("cli.undo.no_terminal")
DRY = say("cli.undo.dry")
REFUSED = say("cli.undo.refused")
COLUMNS = ("deleted", "later", "absent", "kept", "not_ours", "other_runs")
MOST_REASONS = 3


def undo(
    context: typer.Context,
    *,
    entity: Annotated[
        list[str] | None,
        typer.Option("--entity", metavar="NAME", autocompletion=entities),
    ] = None,
    run: Annotated[str, typer.Option("--run", metavar="RUN")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
    yes: Annotated[bool, typer.Option("--yes")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE")] = None,
    same_box: Annotated[bool, typer.Option("--same-box")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Undo the import: delete imported records from the target."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.entities import catalog
    from b24migrate.entities.names import entity_name

    session: Session = context.obj
    known = catalog()
    names = [entity_name(name, known) for name in entity or []]
    try:
        with open_to_read(session, portals=True) as app:
            code = UndoCommand(app, session.redact, as_json, out).undo(
                names, run, ask=_confirmation(yes, as_json), dry_run=dry_run, same_box=same_box
            )
    except Stop as stop:
        if as_json:
            output = {"done": False, "exit_code": stop.exit_code, "message": session.redact(exit_codes.whole(stop))}
            typer.echo(json.dumps(output, ensure_ascii=False))
        raise
    raise typer.Exit(code)


def _confirmation(yes: bool, as_json: bool) -> Callable[[], str]:
    """Why it is not done; nothing when it is."""

    def ask() -> str:
        if yes:
            return ""
        if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return UNASKED
        try:
            answer = typer.prompt(phrase("cli.undo.confirm", word=WORD), default="", show_default=False)
        except typer.Abort:  # Ctrl-C and Ctrl-D are answers, too
            typer.echo()
            return REFUSED
        return "" if str(answer).strip() == WORD else REFUSED

    return ask


def _left_off(gone: int) -> Halted:
    """The message does not say "kept": in an undo, kept records stay on the target."""
    return Halted(
        say("cli.undo.stopped", gone=gone),
        hint=say("cli.undo.stopped_fix"),
    )


class UndoCommand:
    def __init__(self, app: App, redact: Callable[[str], str], as_json: bool, out: Path | None) -> None:
        self._context = app.context
        self._redact = redact
        self._as_json = as_json
        self._out = out

    def undo(self, names: list[str], run: str, *, ask: Callable[[], str], dry_run: bool, same_box: bool) -> int:
        from b24migrate.engine.undo import (
            DryRun,
            Undo,
            find_scope,
            refuse_busy,
            refuse_other_target,
            refuse_strange_box,
        )

        scope = find_scope(self._context, names, run)
        refuse_busy(self._context)
        if not same_box:
            refuse_other_target(self._context)
        rehearsal = DryRun(self._context, scope, self._say)
        try:
            self._rehearse(rehearsal, listed=dry_run)
        except KeyboardInterrupt:
            raise Halted(f"Stopped. {REFUSED}") from None
        if not same_box:
            refuse_strange_box(self._context, rehearsal.strange)
        if rehearsal.nothing:
            return self._end(scope, rehearsal, exit_codes.CLEAN, NOTHING)
        if dry_run:
            return self._end(scope, rehearsal, exit_codes.CLEAN, DRY)
        self._show(scope, rehearsal)
        if why := ask():
            return self._end(scope, rehearsal, exit_codes.GATE, why, shown=True)
        taking = Undo(self._context, scope, rehearsal, self._say)
        try:
            taking.take()
        except KeyboardInterrupt:
            raise _left_off(taking.gone) from None
        for name, tally in taking.tallies.items():  # the dry run has counted the records that are not ours
            before = rehearsal.tallies[name]
            tally.not_ours, tally.other_runs, tally.adopted = before.not_ours, before.other_runs, before.adopted
        rehearsal.tallies = taking.tallies
        self._write_kept({one.name for one in scope.streams})
        code = exit_codes.FINDINGS if taking.kept else exit_codes.CLEAN
        return self._end(scope, rehearsal, code, self._verdict(taking.kept), done=True)

    def _rehearse(self, rehearsal: DryRun, *, listed: bool) -> None:
        from b24migrate.engine.undo import COLUMNS
        from b24migrate.report import csv_tables

        if listed and self._out:
            csv_tables.write_csv(self._out, COLUMNS, rehearsal.walk())
        else:
            deque(rehearsal.walk(), maxlen=0)

    def _write_kept(self, streams: set[str]) -> None:
        from b24migrate.engine.undo import COLUMNS, kept_rows
        from b24migrate.report import csv_tables

        if self._out:
            csv_tables.write_csv(
                self._out, COLUMNS, (one for one in kept_rows(self._context.store) if one.stream in streams)
            )

    def _verdict(self, kept: int) -> str:
        if not kept:
            return say("cli.undo.done")
        if self._out:
            return say("cli.undo.except_listed", kept=kept, file=self._out)
        return say("cli.undo.except", kept=kept)

    def _end(
        self, scope: Scope, dry_run: DryRun, code: int, message: str, *, done: bool = False, shown: bool = False
    ) -> int:
        if self._as_json:
            typer.echo(self._redact(json.dumps(self._json(scope, dry_run, code, message, done), ensure_ascii=False)))
            return code
        if not shown:
            self._show(scope, dry_run, done=done)
        typer.echo(message)
        return code

    def _json(self, scope: Scope, dry_run: DryRun, code: int, message: str, done: bool) -> dict[str, Json]:
        from b24migrate.engine.undo import count_dependants, count_leftovers

        tallies = list(dry_run.tallies.values())
        return {
            "done": done,
            "run": scope.window.run if scope.window else "",
            "streams": [one.to_json() for one in tallies if one.ours or one.not_ours or one.other_runs],
            "dependants": count_dependants(self._context, scope),
            "stays": count_leftovers(self._context, scope, tallies)._asdict(),
            "exit_code": code,
            "message": message,
        }

    def _show(self, scope: Scope, dry_run: DryRun, *, done: bool = False) -> None:
        from b24migrate.engine.undo import count_dependants, count_leftovers

        if self._as_json:
            return
        tallies = list(dry_run.tallies.values())
        left = count_leftovers(self._context, scope, tallies)
        print_undo(tallies, count_dependants(self._context, scope), left, self._redact, done=done)

    def _say(self, line: str) -> None:
        if not self._as_json:
            typer.echo(line, err=True)


# ---------------------------------------------------------------- the table, and what is not deleted


def print_undo(
    tallies: Sequence[Tally],
    dependants: Mapping[str, int],
    left: Leftovers,
    redact: Callable[[str], str],
    *,
    done: bool,
) -> None:
    from b24migrate.cli.tables import console

    out = console()
    shown = [one for one in tallies if one.ours or one.not_ours or one.other_runs]
    if shown:
        _print_table(out, shown, done=done)
    for tally in shown:
        for why in tally.reasons[:MOST_REASONS]:
            line = phrase(
                "cli.undo.kept",
                stream=tally.stream,
                records=number(why.records),
                example=why.example,
                reason=why.reason,
            )
            wrapped(out, harmless(redact(line)), first="! ")
    if any(one.later for one in shown):
        wrapped(out, phrase("cli.undo.later"))
    if dependants:
        named = ", ".join(f"{name} ({number(count)})" for name, count in dependants.items())
        wrapped(out, phrase("cli.undo.needed", named=named), first="! ")
    for line in _stays(left):
        wrapped(out, line, first="- ")


def _print_table(out: Console, tallies: Sequence[Tally], *, done: bool) -> None:
    from rich.table import Table

    wanted = [name for name in COLUMNS if name in ("deleted", "kept") or any(getattr(one, name) for one in tallies)]
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("", no_wrap=True)
    for name in wanted:
        title = "to_delete" if name == "deleted" and not done else name
        table.add_column(phrase(f"cli.undo.column.{title}"), justify="right", no_wrap=True)
    for one in tallies:
        table.add_row(one.stream, *(number(getattr(one, name)) for name in wanted))
    out.print(table)


def _stays(left: Leftovers) -> list[str]:
    """Lists records that an undo never deletes."""
    lines = []
    if left.linked:
        named = ", ".join(f"{number(count)} {stream}" for stream, count in left.linked.items())
        lines.append(phrase("cli.undo.not_ours", named=named))
    if left.adopted:
        named = ", ".join(f"{number(count)} {stream}" for stream, count in left.adopted.items())
        lines.append(phrase("cli.undo.adopted", named=named))
    if left.files:
        lines.append(phrase("cli.undo.files", files=number(left.files)))
    if left.custom_fields:
        lines.append(phrase("cli.undo.fields", count=number(left.custom_fields)))
    return lines
