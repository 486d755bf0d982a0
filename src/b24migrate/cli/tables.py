"""Tables that a person reads: the state of every stream, and the checks of the doctor."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from b24migrate.cli import exit_codes
from b24migrate.cli.columns import status_lines
from b24migrate.cli.progress import shortened
from b24migrate.messages import say
from b24migrate.messages.safe_text import harmless, wrapped
from b24migrate.messages.terminal import phrase, spoken
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from rich.console import Console

    from b24migrate.engine.diagnosis import Diagnosis
    from b24migrate.messages import Words

PIPE_WIDTH = 1000
NOTES_OF_EACH = 2  # at the end of a run; a tired reader wants the verdict
MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red")}
ENDINGS = {
    exit_codes.CLEAN: (say("cli.ending.clean"), "green"),
    exit_codes.GATE: (say("cli.ending.gate"), "red"),
    exit_codes.INCOMPLETE: (say("cli.ending.incomplete"), "red"),
    exit_codes.FINDINGS: (say("cli.ending.findings"), "yellow"),
}
NEXT = {
    exit_codes.GATE: say("cli.advice.gate"),
    exit_codes.INCOMPLETE: say("cli.advice.incomplete"),
    exit_codes.FINDINGS: say("cli.advice.findings"),
}


def console() -> Console:
    from rich.console import Console

    # In a pipe lines are as long as they are: somebody may look for words in them.
    return Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def print_summary(status: Mapping[str, Json], code: int, message: str, chain: str = "") -> None:
    """The table and its notes, how it ended, and what to do. `chain`: which failures follow from others."""
    from rich.text import Text

    out = console()
    print_status(status, out, notes=NOTES_OF_EACH)
    words, colour = ENDINGS[code]
    wrapped(out, Text.assemble((spoken(words), colour), f" {harmless(message)}" if message else ""))
    if chain:
        wrapped(out, chain)
    if code in NEXT:
        wrapped(out, NEXT[code])


def print_status(status: Mapping[str, Json], out: Console, *, notes: int = 0) -> None:
    """With so many notes of each entity; 0: with all of them. On a terminal these come first, since they may be more
    than the screen holds."""
    before = out.is_terminal and not notes
    if before:
        print_notes(status, out, notes)
    lines = status_lines(status, out.width)
    for line in lines:
        out.print(line, soft_wrap=True)
    if not lines:
        wrapped(out, phrase("cli.status.nothing"))
    if not before:
        print_notes(status, out, notes)


def print_notes(status: Mapping[str, Json], out: Console, most: int) -> None:
    hidden = 0
    for name, host in status.get("moved", {}).items():
        wrapped(out, harmless(phrase("cli.status.moved", portal=name, host=host)), first="! ")
    for name, entity in status["entities"].items():
        shown = entity["notes"][:most] if most else entity["notes"]
        hidden += len(entity["notes"]) - len(shown)
        for note in shown:
            wrapped(out, shortened(harmless(f"{name}: {spoken(note)}")), first="! ")
    if hidden:
        wrapped(out, phrase("cli.status.more_notes", count=hidden))


def print_checks(found: Diagnosis) -> None:
    from rich.text import Text

    out = console()
    for check in found.checks:
        mark, colour = MARKS[check.level]
        told = Text.assemble((f"{harmless(check.name)}: ", "bold"), harmless(check.message))
        wrapped(out, told, first=f"{mark} ", style=colour)
        if check.fix and not check.ok:
            wrapped(out, harmless(check.fix), indent="    ", first="→ ")
    if found.exit_code:
        out.print(Text(phrase("cli.doctor.not_ready"), style="red"))
    else:
        out.print(Text(phrase("cli.doctor.ready"), style="green"))


def print_probe(seen: Mapping[str, Json], words: Words) -> None:
    """What is asked, and the answer; a dash where the portal gave nothing to judge."""
    out = console()
    out.print(words("probe.title"), style="bold")
    shown = {**seen["answers"], "plan": seen["plan"]}
    labels = {key: words(f"probe.key.{key}") for key in shown}
    width = max(map(len, labels.values()))
    for key, value in shown.items():
        out.print(f"  {labels[key].ljust(width)}  {'–' if value is None else value}", soft_wrap=True)
