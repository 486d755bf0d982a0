"""`custom-fields`: what the target lacks, which field becomes which, and making them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from b24migrate.cli.completion import entities
from b24migrate.cli.run import custom_fields as create
from b24migrate.cli.session import Session
from b24migrate.messages.terminal import phrase

if TYPE_CHECKING:
    from b24migrate.engine.field_map import Compared

AsJson = Annotated[bool, typer.Option("--json")]
File = Annotated[Path, typer.Argument(metavar="FILE")]


class EntityOrCommand(TyperGroup):
    """`custom-fields users` is short for `custom-fields create users`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = next((text for text in args if not text.startswith("-")), "")
        return super().parse_args(ctx, ["create", *args] if named and named not in self.commands else args)


custom_fields = typer.Typer(
    cls=EntityOrCommand,
    no_args_is_help=True,
)
custom_fields.command("create")(create)


@custom_fields.command("diff")
def diff(
    context: typer.Context,
    entity: Annotated[
        list[str] | None,
        typer.Option("--entity", metavar="NAME", autocompletion=entities),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the custom fields of source and target. Nothing is changed."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.engine import field_map
    from b24migrate.entities import catalog
    from b24migrate.entities.names import entity_name
    from b24migrate.model.errors import Permanent

    session: Session = context.obj
    known = catalog()
    names = [entity_name(name, known) for name in entity or []]
    found: list[Compared] = []
    unread: dict[str, str] = {}
    with open_to_read(session, portals=True) as app:
        for one in app.catalog.entities:
            if one.custom_fields is None or one.name not in (names or app.planned()):
                continue
            try:
                found += field_map.compare(app.context, one)
            except Permanent as error:
                unread[one.name] = session.redact(str(error))
    if as_json:
        output = {"fields": [line._asdict() for line in found], "unread": unread}
        typer.echo(session.redact(json.dumps(output, ensure_ascii=False)))
    else:
        print_diff(found, unread)


def print_diff(found: list[Compared], unread: dict[str, str]) -> None:
    from rich.table import Table
    from rich.text import Text

    from b24migrate.cli.tables import console

    out = console()
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for name in ("entity", "field", "label", "type", "on_target", "becomes"):
        table.add_column(phrase(f"cli.fields.column.{name}"), no_wrap=True)
    table.add_column("", no_wrap=True)
    for one in found:
        kind = phrase("cli.fields.several", type=one.type) if one.multiple else one.type
        cells = (one.entity, one.field, one.label, kind, one.on_target, one.mapped_to, one.note)
        table.add_row(*map(Text, cells))
    if found:
        out.print(table)
    elif not unread:
        out.print(phrase("cli.fields.none"))
    for name, why in unread.items():
        out.print(Text(phrase("cli.fields.unread", name=name, why=why)))


@custom_fields.command("export")
def export(context: typer.Context, file: File, as_json: AsJson = False) -> None:
    """Write the field map as CSV."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.engine import field_map
    from b24migrate.report import csv_tables

    with open_to_read(context.obj) as app:
        rows = field_map.field_lines(app.context)
    csv_tables.write_csv(file, field_map.COLUMNS, rows)
    output = json.dumps({"fields": len(rows), "file": str(file)}, ensure_ascii=False)
    typer.echo(output if as_json else phrase("cli.fields.written", count=len(rows), file=file))


@custom_fields.command("load")
def load(context: typer.Context, file: File, as_json: AsJson = False) -> None:
    """Load an edited field map."""
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.engine import field_map
    from b24migrate.report import csv_tables

    with open_to_read(context.obj) as app:
        changed = field_map.load(app.context, csv_tables.read_lines(file, "custom-fields export"))
    output = json.dumps({"changed": changed})
    typer.echo(output if as_json else phrase("cli.fields.changed", count=changed))
