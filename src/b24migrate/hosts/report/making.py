"""Makes a report: the tables first, row by row, then the page from what was kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from b24migrate.hosts.logs import masked
from b24migrate.hosts.report.amounts import Amounts
from b24migrate.hosts.report.page import Page, sentence
from b24migrate.hosts.report.places import PAGE, writing
from b24migrate.hosts.report.settings import told
from b24migrate.hosts.report.sheets import sheet
from b24migrate.hosts.report.tables import TABLES, Line, Making, Table
from b24migrate.hosts.report.texts import Texts
from b24migrate.messages import render, words
from b24migrate.pipeline.reporting import Standing, Tally
from b24migrate.pipeline.reporting.gathering import gather
from b24migrate.pipeline.reporting.model import FileFacts
from b24migrate.private_files import open_private

if TYPE_CHECKING:
    from b24migrate.wiring import App

NAMES = (PAGE, *(table.file for table in TABLES))


@dataclass(frozen=True, slots=True)
class Request:
    out: Path
    language: str
    redact: Callable[[str], str]
    force: bool = False


class Written(NamedTuple):
    standing: Standing
    verdict: str
    rows: dict[str, int]  # by file
    root: str


def make(app: App, request: Request) -> Written:
    """Raises BadConfiguration where it cannot be written; else as the store does."""
    speech = words(request.language)
    texts = Texts(speech, request.redact)
    with writing(request.out, NAMES, force=request.force) as folder:
        facts = gather(app.work, folder, wanted=app.chosen(), clean=lambda text: masked(request.redact(text)))
        making = Making(app.work, folder, facts, FileFacts(), speech.language)
        tallies = {table.name: write(table, making, texts) for table in TABLES}
        page = Page(facts, making.files, tallies, told(app), app.work.people, app.work.options.verify_sample)
        amounts = Amounts(speech, app.settings.source.zone)
        with open_private(folder / PAGE, "x", encoding="utf-8", newline="\n") as out:
            out.write(request.redact(page.html(speech, amounts, texts)))
        counted = {table.file: tallies[table.name].count for table in TABLES}
        return Written(facts.standing, sentence(facts, speech, amounts), counted, facts.proof.root)


def write(table: Table, making: Making, texts: Texts) -> Tally:
    tally = Tally()
    with sheet(making.folder / table.file, table.columns, texts) as put:
        for line in cleaned(table.lines(making), texts.redact, making.language):
            tally.add(*line)
            put(line.cells)
    return tally


def cleaned(lines: Iterator[Line], redact: Callable[[str], str], language: str) -> Iterator[Line]:
    """Rendered for the reader; without secrets, before anything is cut: half a secret would not be recognized."""
    for line in lines:
        cells = [redact(render(one, language)) if isinstance(one, str) else one for one in line.cells]
        yield Line(cells, tuple(map(redact, line.group)), redact(line.example))
