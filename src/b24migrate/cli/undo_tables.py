"""What an undo would do or did, for a person: a table, why something is kept, and what stays in any case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from b24migrate.cli.lanes import number
from b24migrate.messages.safe_text import harmless, wrapped
from b24migrate.messages.terminal import phrase

if TYPE_CHECKING:
    from rich.console import Console

    from b24migrate.engine.undo import Leftovers, Tally

COLUMNS = ("deleted", "later", "absent", "kept", "not_ours", "other_runs")
MOST_REASONS = 3


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
        _table(out, shown, done=done)
    for tally in shown:
        for why in tally.reasons[:MOST_REASONS]:
            said = phrase(
                "cli.undo.kept",
                stream=tally.stream,
                records=number(why.records),
                example=why.example,
                reason=why.reason,
            )
            wrapped(out, harmless(redact(said)), first="! ")
    if any(one.later for one in shown):
        wrapped(out, phrase("cli.undo.later"))
    if dependants:
        named = ", ".join(f"{name} ({number(count)})" for name, count in dependants.items())
        wrapped(out, phrase("cli.undo.needed", named=named), first="! ")
    for line in _stays(left):
        wrapped(out, line, first="- ")


def _table(out: Console, tallies: Sequence[Tally], *, done: bool) -> None:
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
    """In any case, whatever is taken back."""
    told = []
    if left.linked:
        named = ", ".join(f"{number(count)} {stream}" for stream, count in left.linked.items())
        told.append(phrase("cli.undo.not_ours", named=named))
    if left.adopted:
        named = ", ".join(f"{number(count)} {stream}" for stream, count in left.adopted.items())
        told.append(phrase("cli.undo.adopted", named=named))
    if left.files:
        told.append(phrase("cli.undo.files", files=number(left.files)))
    if left.custom_fields:
        told.append(phrase("cli.undo.fields", count=number(left.custom_fields)))
    return told
