"""Tables that a person reads: the state of every stream, and the checks of the doctor."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from b24migrate.hosts.cli import endings
from b24migrate.hosts.cli.pace import at, number
from b24migrate.hosts.cli.progress import shortened
from b24migrate.records import Json

if TYPE_CHECKING:
    from rich.console import Console

    from b24migrate.pipeline.diagnosis import Diagnosis

PIPE_WIDTH = 1000
NOTES_OF_EACH = 2  # at the end of a run; a tired reader wants the verdict
MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red")}
COLUMNS = (
    ("source", "reported"),
    ("read", "retrieved"),
    ("imported", "import_ok"),
    ("failed", "import_err"),
    ("wait", "waiting"),
    ("aside", "aside"),
    ("differ", "mismatch"),
)
ENDINGS = {
    endings.CLEAN: ("Done and clean.", "green"),
    endings.GATE: ("Stopped by a gate.", "red"),
    endings.INCOMPLETE: ("Not complete.", "red"),
    endings.FINDINGS: ("Finished with findings.", "yellow"),
}
NEXT = {
    endings.GATE: "Do what it says, then run the same command again.",
    endings.INCOMPLETE: "Everything so far is kept: see `b24migrate errors`, then run the same command again.",
    endings.FINDINGS: "See `b24migrate errors` for causes and fixes, then `b24migrate retry`.",
}


def console() -> Console:
    from rich.console import Console

    # In a pipe lines are as long as they are: somebody may look for words in them.
    return Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def print_summary(status: Mapping[str, Json], code: int, message: str) -> None:
    from rich.markup import escape

    out = console()
    print_status(status, out, notes=NOTES_OF_EACH)
    words, colour = ENDINGS[code]
    out.print(f"[{colour}]{words}[/] {escape(message)}".rstrip())
    if code in NEXT:
        out.print(NEXT[code])


def print_status(status: Mapping[str, Json], out: Console, *, notes: int = 0) -> None:
    """With so many notes of each entity; 0: with all of them."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column("phase", no_wrap=True)
    for title, _ in COLUMNS:
        table.add_column(title, justify="right", no_wrap=True)
    for entity in status["entities"].values():
        phase, state = at(entity["phases"])
        if state == "pending":
            continue
        done = "[green]verified ✓[/]" if entity["verified"] else f"{phase} {state}"
        for index, (stream, counts) in enumerate(entity["streams"].items()):
            table.add_row(stream, "" if index else done, *(cell(counts, column) for _, column in COLUMNS))
    if table.row_count:
        out.print(table)
    else:
        out.print("Nothing has been read yet. Begin with `b24migrate doctor`, then `b24migrate run`.")
    print_notes(status, out, notes)


def cell(counts: Mapping[str, int | None], column: str) -> str:
    sums = {"waiting": ("new", "error_retry"), "aside": ("excluded", "impossible")}
    if column in sums:
        value: int | None = sum(counts[one] or 0 for one in sums[column])
    else:
        value = counts[column]
    if value is None:
        return "?"
    text = number(value)
    return f"[red]{text}[/]" if value and column in ("import_err", "mismatch") else text


def print_notes(status: Mapping[str, Json], out: Console, most: int) -> None:
    from rich.text import Text

    hidden = 0
    for name, entity in status["entities"].items():
        shown = entity["notes"][:most] if most else entity["notes"]
        hidden += len(entity["notes"]) - len(shown)
        for note in shown:
            out.print(Text(shortened(f"! {name}: {note}")))
    if hidden:
        out.print(f"… and {hidden} notes more: `b24migrate status`")


def print_checks(found: Diagnosis) -> None:
    from rich.text import Text

    out = console()
    for check in found.checks:
        mark, colour = MARKS[check.level]
        out.print(Text.assemble((f"{mark} ", colour), (f"{check.name}: ", "bold"), check.message))
        if check.fix and not check.ok:
            out.print(Text(f"    → {check.fix}"))
    if found.exit_code:
        out.print(Text("A run cannot begin yet: see ✗ above.", style="red"))
    else:
        out.print(Text("Ready: `b24migrate run`.", style="green"))
