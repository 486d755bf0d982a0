"""The fidelity list on a terminal: by kind, with the reason under each field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from b24migrate.cli.lanes import number
from b24migrate.insight.fidelity import Basis, Fidelity, Line
from b24migrate.messages import Words, render
from b24migrate.messages.safe_text import harmless, wrapped

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

COLOURS = {"lost": "red", "approximated": "yellow", "transformed": "cyan"}
LONGEST_NAME = 32


def print_fidelity(found: Fidelity, out: Console, words: Words) -> None:
    """First the verdict, last what to do."""
    if found.all_kept:
        wrapped(out, words("fidelity.all_kept"), style="green")
        return
    wrapped(out, words("fidelity.lead", count=number(len(found.lines))), style="bold")
    touching = [line for line in found.lines if not _touches_none(line)]
    widths = _widths(touching, words)
    counts = any(line.basis is not Basis.UNKNOWN for line in touching)  # else it is said once, below
    for stream, lines in groupby(touching, key=lambda line: line.stream):
        wrapped(out, f"{words.named('stream', stream)} ({stream})", style="bold")
        for reason, alike in _by_reason(lines):
            for line in alike:
                wrapped(out, _line(line, words, widths, counts), indent="  ")
            wrapped(out, harmless(render(reason, words.language)), indent="      ")
    if any(line.basis is Basis.UNKNOWN for line in touching):
        wrapped(out, words("fidelity.unknown_how"), style="dim")
    if idle := len(found.lines) - len(touching):
        wrapped(out, words("fidelity.idle", count=number(idle)), style="dim")
    if found.needs_acceptance:
        wrapped(out, words("fidelity.open"), style="yellow")
    elif found.accepted:
        by = harmless(render(found.accepted.by, words.language))
        wrapped(out, words("fidelity.accepted", by=by, at=found.accepted.at), style="green")


def _touches_none(line: Line) -> bool:
    """Every record was looked at, and none of them loses anything by it."""
    return line.basis is Basis.COUNTED and line.records == 0


def _by_reason(lines: Iterable[Line]) -> list[tuple[str, list[Line]]]:
    """Fields that fare alike stand together, so that the reason is said once; the worst first, as they come."""
    found: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        found.setdefault((line.keeping, line.reason), []).append(line)
    return [(reason, alike) for (_, reason), alike in found.items()]


def _line(line: Line, words: Words, widths: tuple[int, int], counts: bool) -> Text:
    from rich.text import Text

    keeping = words(f"fidelity.keeping.{line.keeping}").ljust(widths[1] * counts)
    said = Text.assemble(_field(line, words).ljust(widths[0]), "  ", (keeping, COLOURS.get(line.keeping, "")))
    return Text.assemble(said, "  ", records(line, words)) if counts else said


def records(line: Line, words: Words) -> str:
    count = {} if line.records is None else {"count": number(line.records)}
    return words(f"fidelity.records.{line.basis}", **count)


def _field(line: Line, words: Words) -> str:
    return harmless(line.field)[:LONGEST_NAME] or words("fidelity.whole")


def _widths(lines: Sequence[Line], words: Words) -> tuple[int, int]:
    fields = (len(_field(line, words)) for line in lines)
    keepings = (len(words(f"fidelity.keeping.{line.keeping}")) for line in lines)
    return max(fields, default=0), max(keepings, default=0)
