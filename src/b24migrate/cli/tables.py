"""Tables on a terminal: the status of every stream, and the checks of the doctor."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from b24migrate.cli import exit_codes
from b24migrate.cli.lanes import brief, current_phase
from b24migrate.cli.progress import MARKS, shortened
from b24migrate.messages import Message, say
from b24migrate.messages.terminal import harmless, number, phrase, spoken, wrapped
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from b24migrate.engine.diagnosis import Diagnosis
    from b24migrate.insight.cutover import WriterView
    from b24migrate.messages import Words

PIPE_WIDTH = 1000
NOTES_OF_EACH = 2  # at the end of a run; the verdict must stay visible
CHECK_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red")}
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
COLUMNS = (
    ("source", ("reported",)),
    ("read", ("retrieved",)),
    ("imported", ("import_ok",)),
    ("failed", ("import_err",)),
    ("pending", ("new", "error_retry")),
    ("skipped", ("excluded", "impossible")),
    ("different", ("mismatch",)),
    ("deleted", ("deleted",)),
)
ALWAYS = 4  # so many columns are shown even when nothing is in them
BAD = ("failed", "different")


def console() -> Console:
    from rich.console import Console

    # In a pipe lines are not wrapped, so that grep finds whole sentences.
    return Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def print_summary(status: Mapping[str, Json], code: int, message: str, chain: str) -> None:
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
    """With at most `notes` notes per entity; 0: all of them. On a terminal all notes come first, since they may fill
    the screen."""
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
    if begun := status.get("cutover"):
        wrapped(out, cutover_line(begun))


def cutover_line(begun: Mapping[str, Json]) -> str:
    """The latest step of the cutover, and the command that follows."""
    known = {name: phrase(f"cutover.{name}.{begun[name]}") for name in ("step", "state")}
    line = phrase("cutover.cli.line", since=begun["since"], **known)
    return f"{line} {phrase('cutover.cli.next', command=begun['command'])}" if begun["command"] else line


def print_notes(status: Mapping[str, Json], out: Console, most: int) -> None:
    hidden = 0
    for name, host in status.get("moved", {}).items():
        wrapped(out, harmless(phrase("cli.status.moved", portal=name, host=host)), first="! ")
    for name, entity in status["entities"].items():
        notes = sorted(entity["notes"], key=is_about_reading)
        shown = notes[:most] if most else notes
        hidden += len(entity["notes"]) - len(shown)
        for note in shown:
            wrapped(out, shortened(harmless(f"{name}: {spoken(note)}")), first="! ")
    if hidden:
        wrapped(out, phrase("cli.status.more_notes", count=hidden))


def is_about_reading(note: str) -> bool:
    """How a delta run reads a record type: less urgent than what it found."""
    return isinstance(note, Message) and note.key.startswith("note.read_")


def print_writers(writers: Sequence[WriterView], out: Console, redact: Callable[[str], str]) -> None:
    """The users who wrote in the source after the freeze, or after going live."""
    for one in writers:
        known = {"name": redact(spoken(one.name)), "stream": one.stream, "count": one.records, "last": one.last}
        key = "cutover.cli.writer" if one.last else "cutover.cli.writer_undated"
        wrapped(out, harmless(phrase(key, **known)), indent="  ")


def print_checks(found: Diagnosis) -> None:
    from rich.text import Text

    out = console()
    for check in found.checks:
        mark, colour = CHECK_MARKS[check.level]
        text = Text.assemble((f"{harmless(check.name)}: ", "bold"), harmless(check.message))
        wrapped(out, text, first=f"{mark} ", style=colour)
        if check.fix and not check.ok:
            wrapped(out, harmless(check.fix), indent="    ", first="→ ")
    if found.exit_code:
        out.print(Text(phrase("cli.doctor.not_ready"), style="red"))
    else:
        out.print(Text(phrase("cli.doctor.ready"), style="green"))


def print_probe(probe: Mapping[str, Json], words: Words) -> None:
    """Each question with its answer; a dash if the portal has too little data."""
    out = console()
    out.print(words("probe.title"), style="bold")
    shown = {**probe["answers"], "plan": probe["plan"]}
    labels = {key: words(f"probe.key.{key}") for key in shown}
    width = max(map(len, labels.values()))
    for key, value in shown.items():
        out.print(f"  {labels[key].ljust(width)}  {'–' if value is None else value}", soft_wrap=True)


# ---------------------------------------------------------------- the status of every stream


class Row(NamedTuple):
    stream: str
    entity: Mapping[str, Json] | None  # with the first stream of each
    values: tuple[int | None, ...]


class Layout(NamedTuple):
    gap: str = "  "
    empty: bool = True  # with columns in which there is nothing
    spaced: bool = True  # 9 999 999
    brief: bool = False  # get ✓
    headed: bool = False  # the phase in a line of its own
    last: bool = True  # with the last column
    cut: int = 0  # the most characters of a name


LAYOUTS = (
    Layout(),
    Layout(" ", empty=False, brief=True),
    Layout(" ", empty=False, spaced=False, brief=True),
    Layout(" ", empty=False, spaced=False, headed=True),
    Layout(" ", empty=False, spaced=False, headed=True, last=False),
    Layout(" ", empty=False, spaced=False, headed=True, last=False, cut=18),
)


def status_lines(status: Mapping[str, Json], width: int) -> list[Text]:
    """In the roomiest layout that fits."""
    rows = list(_rows(status))
    if not rows:
        return []
    lines: list[Text] = []
    for layout in LAYOUTS:
        lines = _laid_out(rows, layout)
        if max(line.cell_len for line in lines) <= width:
            break
    return lines


def _rows(status: Mapping[str, Json]) -> list[Row]:
    found = []
    for entity in status["entities"].values():
        if current_phase(entity["phases"])[1] == "pending":
            continue
        for index, (stream, counts) in enumerate(entity["streams"].items()):
            values = tuple(_sum(counts, names) for _, names in COLUMNS)
            found.append(Row(stream, None if index else entity, values))
    return found


def _sum(counts: Mapping[str, int | None], names: Sequence[str]) -> int | None:
    values = [counts[name] for name in names]
    return None if None in values else sum(value or 0 for value in values)


def _laid_out(rows: Sequence[Row], layout: Layout) -> list[Text]:
    from rich.text import Text

    shown = [
        index
        for index in range(len(COLUMNS) - (not layout.last))
        if layout.empty or index < ALWAYS or any(row.values[index] for row in rows)
    ]
    columns = [COLUMNS[index][0] for index in shown]
    titles = [phrase(f"cli.status.column.{name}") for name in columns]
    cells = [[_number(row.values[index], layout) for index in shown] for row in rows]
    widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    phases = [_phase(row.entity, layout) for row in rows]
    called = [_shortened(row.stream, layout.cut) for row in rows]
    names = max(map(len, called)) + 2 * layout.headed
    beside = 0 if layout.headed else max(5, *(len(text) for text, _ in phases))
    head = [] if layout.headed else [phrase("cli.status.column.phase").ljust(beside)]
    right = [title.rjust(size) for title, size in zip(titles, widths, strict=True)]
    lines = [Text(layout.gap.join([" " * names, *head, *right]), "bold")]
    for stream, (phase, style), several in zip(called, phases, cells, strict=True):
        line = Text(f"{'  ' * layout.headed}{stream}".ljust(names))
        if layout.headed and phase:
            lines.append(Text(phase, style))
        elif not layout.headed:
            line.append(layout.gap).append(phase.ljust(beside), style)
        for name, text, size in zip(columns, several, widths, strict=True):
            bad = name in BAD and text not in ("0", "?")
            line.append(layout.gap).append(text.rjust(size), "red" if bad else "")
        lines.append(line)
    return lines


def _shortened(name: str, most: int) -> str:
    return f"{name[: most - 1]}…" if 0 < most < len(name) else name


def _number(value: int | None, layout: Layout) -> str:
    if value is None:
        return "?"
    return number(value) if layout.spaced else str(value)


def _phase(entity: Mapping[str, Json] | None, layout: Layout) -> tuple[str, str]:
    if entity is None:
        return "", ""
    if entity["verified"]:
        return phrase("cli.status.verified"), "green"
    phase, state = current_phase(entity["phases"])
    style = "red" if state in ("failed", "blocked") else ""
    return (f"{brief(phase)} {MARKS[state]}" if layout.brief else f"{phase} {state}"), style
