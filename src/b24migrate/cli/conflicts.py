"""`conflicts`: records that changed on both sides, and `conflicts decide`: which version stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from b24migrate.cli.completion import streams
from b24migrate.cli.session import Session
from b24migrate.messages import say
from b24migrate.messages.terminal import phrase
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from b24migrate.app import App

conflicts = typer.Typer(invoke_without_command=True)
COLUMNS = ("stream", "source_id", "field", "sent", "target", "source", "decision", "at_utc")


@conflicts.callback()
def show(
    context: typer.Context,
    file: Annotated[Path | None, typer.Option("--csv", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """List the records that changed on both sides."""
    if context.invoked_subcommand:
        return
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.cli.tables import console
    from b24migrate.messages.terminal import harmless, harmless_json
    from b24migrate.report import csv_tables

    session: Session = context.obj
    with open_to_read(session) as app:
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in listed(app)]
    if file is not None:
        csv_tables.write_csv(file, COLUMNS, ([session.redact(cell) for cell in row.values()] for row in rows))
    if as_json:
        typer.echo(harmless_json(session.redact(json.dumps({"conflicts": rows}, ensure_ascii=False))))
        return
    if file is not None:
        typer.echo(phrase("cli.conflicts.written", count=len(rows), file=file))
        return
    out = console()
    for row in rows:
        decision = phrase(f"cli.conflicts.decision.{row['decision'] or 'open'}")
        text = phrase("cli.conflicts.line", **{**row, "decision": decision})
        out.print(harmless(session.redact(text)), markup=False, highlight=False, soft_wrap=True)
    typer.echo(phrase("cli.conflicts.count", count=len(rows)))


def listed(app: App) -> list[tuple[str, ...]]:
    from b24migrate.ports import CONFLICTS

    found = sorted(app.context.store.all_rows(CONFLICTS), key=lambda row: row.key)
    return [
        tuple(map(str, (row.values["Stream"], row.values["SourceId"], *field)))
        for row in found
        for field in row.values["Fields"] or ()
    ]


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
    from b24migrate.engine.phases import conflicts as engine
    from b24migrate.entities.names import stream_name
    from b24migrate.model.errors import BadConfiguration

    if (decision not in engine.DECISIONS or not stream or not ids) if file is None else bool(decision):
        raise BadConfiguration(say("cli.conflicts.usage"), hint=say("cli.conflicts.usage_fix"))
    with open_to_read(context.obj) as app:
        wanted = read_decisions(file) if file else {(decision, stream): list(dict.fromkeys(ids or ()))}
        done, left = 0, list[Json]()
        for (which, name), keys in wanted.items():
            known = stream_name(name, app.context.streams)
            count, unknown = engine.decide(app.context, which, app.context.streams[known], keys)
            done += count
            left += [{"stream": known, "source_id": key} for key in unknown]
    if as_json:
        typer.echo(json.dumps({"decided": done, "not_decided": left}, ensure_ascii=False))
        return
    typer.echo(phrase("cli.conflicts.decided", count=done))
    for one in left:
        typer.echo(phrase("cli.conflicts.not_decided", stream=one["stream"], id=one["source_id"]))


def read_decisions(file: Path) -> dict[tuple[str, str], list[str]]:
    """By decision and stream the IDs in a CSV that `conflicts --csv` wrote. Lines without a decision are skipped."""
    from b24migrate.engine.phases.conflicts import DECISIONS
    from b24migrate.model.errors import BadConfiguration
    from b24migrate.report import csv_tables

    lines = csv_tables.read_lines(file, "conflicts --csv")
    head = [cell.strip().lower() for cell in next(lines, [])]
    if not {"stream", "source_id", "decision"} <= set(head):
        raise BadConfiguration(say("cli.conflicts.columns", path=file), hint=say("cli.conflicts.usage_fix"))
    found: dict[tuple[str, str], dict[str, None]] = {}
    for cells in lines:
        row = dict(zip(head, (cell.strip() for cell in cells), strict=False))
        if row.get("decision") in DECISIONS:
            found.setdefault((row["decision"], row["stream"]), {})[row["source_id"]] = None
    return {key: list(ids) for key, ids in found.items()}
