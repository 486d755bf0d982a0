"""The state of every stream in columns, as wide as the terminal: what does not fit is said shorter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from b24migrate.cli.lanes import brief, current_phase, number
from b24migrate.cli.progress import MARKS
from b24migrate.messages.terminal import phrase
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from rich.text import Text

COLUMNS = (
    ("source", ("reported",)),
    ("read", ("retrieved",)),
    ("imported", ("import_ok",)),
    ("failed", ("import_err",)),
    ("pending", ("new", "error_retry")),
    ("skipped", ("excluded", "impossible")),
    ("different", ("mismatch",)),
)
ALWAYS = 4  # so many columns are shown even when nothing is in them
BAD = ("failed", "different")


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


LAYOUTS = (
    Layout(),
    Layout(" ", empty=False, brief=True),
    Layout(" ", empty=False, spaced=False, brief=True),
    Layout(" ", empty=False, spaced=False, headed=True),
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
        for index in range(len(COLUMNS))
        if layout.empty or index < ALWAYS or any(row.values[index] for row in rows)
    ]
    columns = [COLUMNS[index][0] for index in shown]
    titles = [phrase(f"cli.status.column.{name}") for name in columns]
    cells = [[_number(row.values[index], layout) for index in shown] for row in rows]
    widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    phases = [_phase(row.entity, layout) for row in rows]
    names = max(len(row.stream) for row in rows) + 2 * layout.headed
    beside = 0 if layout.headed else max(5, *(len(text) for text, _ in phases))
    head = [] if layout.headed else [phrase("cli.status.column.phase").ljust(beside)]
    right = [title.rjust(size) for title, size in zip(titles, widths, strict=True)]
    lines = [Text(layout.gap.join([" " * names, *head, *right]), "bold")]
    for row, (phase, style), several in zip(rows, phases, cells, strict=True):
        line = Text(f"{'  ' * layout.headed}{row.stream}".ljust(names))
        if layout.headed and phase:
            lines.append(Text(phase, style))
        elif not layout.headed:
            line.append(layout.gap).append(phase.ljust(beside), style)
        for name, text, size in zip(columns, several, widths, strict=True):
            bad = name in BAD and text not in ("0", "?")
            line.append(layout.gap).append(text.rjust(size), "red" if bad else "")
        lines.append(line)
    return lines


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
