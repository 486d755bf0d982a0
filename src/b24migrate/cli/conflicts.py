"""`conflicts`: records that changed on both sides, and `conflicts decide`: which version stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from b24migrate.cli.completion import streams
from b24migrate.cli.session import Session
from b24migrate.messages import say
from b24migrate.messages.terminal import harmless, harmless_json, phrase

conflicts = typer.Typer(invoke_without_command=True)


@conflicts.callback()
def show(
    context: typer.Context,
    file: Annotated[Path | None, typer.Option("--csv", metavar="FILE")] = None,
    undecided: Annotated[bool, typer.Option("--undecided")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """List the records that changed on both sides."""
    if context.invoked_subcommand:
        return
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.cli.tables import console
    from b24migrate.insight.conflicts import COLUMNS, walk_fields
    from b24migrate.report import csv_tables

    session: Session = context.obj
    count, out = 0, console()
    with open_to_read(session) as app:
        rows = walk_fields(app.context, undecided=undecided)
        if as_json:
            found = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
            typer.echo(harmless_json(session.redact(json.dumps({"conflicts": found}, ensure_ascii=False))))
            rows = (tuple(row.values()) for row in found)
        if file is not None:
            count = csv_tables.write_csv(file, COLUMNS, ([session.redact(cell) for cell in row] for row in rows))
        for row in rows if file is None and not as_json else ():
            count += 1
            values = dict(zip(COLUMNS, row, strict=True))
            decision = phrase(f"cli.conflicts.decision.{values['decision'] or 'open'}")
            text = phrase("cli.conflicts.line", **{**values, "decision": decision})
            out.print(harmless(session.redact(text)), markup=False, highlight=False, soft_wrap=True)
    if not as_json:
        typer.echo(phrase("cli.conflicts.written" if file else "cli.conflicts.count", count=count, file=file))


@conflicts.command("decide")
def decide(  # noqa: PLR0917 (typer passes them by name)
    context: typer.Context,
    decision: Annotated[str, typer.Argument(metavar="source|target")] = "",
    stream: Annotated[str, typer.Argument(metavar="STREAM", autocompletion=streams)] = "",
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID...")] = None,
    file: Annotated[Path | None, typer.Option("--from", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Decide which version stays: of these records, or by the column `decision` of a CSV."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.engine.phases.conflicts import DECISIONS
    from b24migrate.entities.names import stream_name
    from b24migrate.insight.conflicts import Decisions, Wanted, read_decisions
    from b24migrate.insight.conflicts import decide as decide_all
    from b24migrate.model.errors import BadConfiguration
    from b24migrate.report import csv_tables

    if (decision not in DECISIONS or not stream or not ids) if file is None else bool(decision):
        raise BadConfiguration(say("cli.conflicts.usage"), hint=say("conflicts.columns_fix"))
    with open_to_read(context.obj) as app:

        def known(name: str) -> str:
            return stream_name(name, app.context.streams)

        if file is None:
            table = Decisions({Wanted(decision, known(stream)): list(ids or ())}, [])
        else:
            table = read_decisions(app.context, csv_tables.read_lines(file, "conflicts --csv"), file, known)
        decided = decide_all(app.context, table.wanted)
    if as_json:
        left = [{"stream": name, "source_id": key} for name, key in (*decided.left, *table.outdated)]
        text = json.dumps({"decided": decided.done, "not_decided": left}, ensure_ascii=False)
        typer.echo(harmless_json(context.obj.redact(text)))
        return
    typer.echo(phrase("conflicts.decided", count=decided.done))
    for name, key in decided.left:
        typer.echo(harmless(context.obj.redact(phrase("cli.conflicts.not_decided", stream=name, id=key))))
    for name, key in table.outdated:
        typer.echo(harmless(context.obj.redact(phrase("cli.conflicts.outdated", stream=name, id=key))))
    if table.outdated:
        typer.echo(phrase("cli.conflicts.outdated_fix"))
