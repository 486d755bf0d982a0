"""What an undo would do or did, for a person: a table, why something is kept, and what stays in any case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from b24migrate.hosts.cli.pace import number
from b24migrate.hosts.cli.plain import harmless, wrapped

if TYPE_CHECKING:
    from rich.console import Console

    from b24migrate.pipeline.undo import Leftovers, Tally

COLUMNS = ("deleted", "later", "absent", "kept", "not_ours", "other_runs")
TITLES = {"later": "after others", "not_ours": "not ours", "other_runs": "of other runs"}
MOST_REASONS = 3


def print_undo(
    tallies: Sequence[Tally],
    dependants: Mapping[str, int],
    left: Leftovers,
    redact: Callable[[str], str],
    *,
    done: bool,
) -> None:
    from b24migrate.hosts.cli.tables import console

    out = console()
    shown = [one for one in tallies if one.ours or one.not_ours or one.other_runs]
    if shown:
        _table(out, shown, done=done)
    for tally in shown:
        for why in tally.reasons[:MOST_REASONS]:
            said = f"{tally.stream}: {number(why.records)} kept, such as {why.example}: {why.reason}"
            wrapped(out, harmless(redact(said)), first="! ")
    if any(one.later for one in shown):
        wrapped(out, "“After others”: others depend on these now; they go when those are gone, else they are kept.")
    if dependants:
        named = ", ".join(f"{name} ({number(count)})" for name, count in dependants.items())
        wrapped(out, f"What these refer to is kept, since they stay: {named}.", first="! ")
    for line in _stays(left):
        wrapped(out, line, first="- ")


def _table(out: Console, tallies: Sequence[Tally], *, done: bool) -> None:
    from rich.table import Table

    wanted = [name for name in COLUMNS if name in ("deleted", "kept") or any(getattr(one, name) for one in tallies)]
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("", no_wrap=True)
    for name in wanted:
        title = "to delete" if name == "deleted" and not done else TITLES.get(name, name)
        table.add_column(title, justify="right", no_wrap=True)
    for one in tallies:
        table.add_row(one.stream, *(number(getattr(one, name)) for name in wanted))
    out.print(table)


def _stays(left: Leftovers) -> list[str]:
    """In any case, whatever is taken back."""
    told = []
    if left.linked:
        named = ", ".join(f"{number(count)} {stream}" for stream, count in left.linked.items())
        told.append(f"Not ours, so never touched: {named} that the box had before or that were linked by hand.")
    if left.adopted:
        named = ", ".join(f"{number(count)} {stream}" for stream, count in left.adopted.items())
        told.append(f"Of {named} the box keeps what it had before the import, and only forgets that it was linked.")
    if left.files:
        told.append(
            f"{number(left.files)} uploaded files stay in the Drive of the box: an undo deletes no files."
            " Their ids there are in the id map of `b24migrate report`; a new run uses them again."
        )
    if left.custom_fields:
        told.append(
            f"{number(left.custom_fields)} custom fields stay in the settings of the box: `b24migrate custom-fields"
            " export FILE` lists them. Deleting one there deletes its values everywhere."
        )
    return told
