"""A figure, its bar, and how both are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table. Without a bar it is there to be read."""

    section: str
    what: str
    value: str
    bar: str = ""
    ok: bool | None = None

    @property
    def verdict(self) -> str:
        return "" if self.ok is None else "PASS" if self.ok else "FAIL"


Section = Callable[[bool], Iterable[Figure]]  # whether quick


def at_least(section: str, what: str, value: float, bar: float, shown: str) -> Figure:
    return Figure(section, what, shown, f"≥ {bar:g}", value >= bar)


def at_most(section: str, what: str, value: float, bar: float, shown: str) -> Figure:
    return Figure(section, what, shown, f"≤ {bar:g}", value <= bar)


def table(figures: Sequence[Figure]) -> list[str]:
    """Markdown that also reads well on a terminal."""
    heads = ("", "what", "measured", "bar", "")
    cells = [(one.section, one.what, one.value, one.bar, one.verdict) for one in figures]
    widths = [max(len(row[place]) for row in [heads, *cells]) for place in range(len(heads))]
    ruled = ["| " + " | ".join("-" * width for width in widths) + " |"]
    lines = [
        "| " + " | ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) + " |"
        for row in [heads, *cells]
    ]
    return [lines[0], *ruled, *lines[1:]]
