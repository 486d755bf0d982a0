"""The tables beside the page, as CSV: for spreadsheets and for programs. Written row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from b24migrate.hosts.report.texts import Texts
from b24migrate.pipeline.reporting.tally import Cell
from b24migrate.private_files import open_private


class Write(Protocol):
    def __call__(self, cells: Sequence[Cell]) -> None: ...


@contextmanager
def sheet(file: Path, columns: Sequence[str], texts: Texts) -> Iterator[Write]:
    """Begins with the mark by which spreadsheets know UTF-8. Numbers are ours; texts are made harmless."""
    with open_private(file, "x", encoding="utf-8-sig", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(columns)

        def write(cells: Sequence[Cell]) -> None:
            writer.writerow([texts.cell(one) if isinstance(one, str) else one for one in cells])

        yield write
