"""Makes a report: the tables first, row by row, then the page from what was kept of them."""

from __future__ import annotations

import csv
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from b24migrate import __version__
from b24migrate.insight.report import Standing, Tally
from b24migrate.insight.report.data import gather
from b24migrate.insight.report.model import FileFacts
from b24migrate.insight.report.tally import Cell
from b24migrate.messages import render, words
from b24migrate.monitor.logs import masked
from b24migrate.private_files import open_private
from b24migrate.report.numbers import Amounts
from b24migrate.report.page import Page, sentence
from b24migrate.report.paths import PAGE, writing
from b24migrate.report.tables import TABLES, Line, Making, Table
from b24migrate.report.texts import Texts

if TYPE_CHECKING:
    from b24migrate.app import App

if TYPE_CHECKING:
    from b24migrate.app import App
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
        facts = gather(app.context, folder, wanted=app.chosen(), clean=lambda text: masked(request.redact(text)))
        making = Making(app.context, folder, facts, FileFacts(), speech.language)
        tallies = {table.name: write(table, making, texts) for table in TABLES}
        page = Page(facts, making.files, tallies, told(app), app.context.people, app.context.options.verify_sample)
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


def told(app: App) -> list[tuple[str, str]]:
    """Named as in the configuration."""
    settings = app.settings
    source, target, run, mapping = settings.source, settings.target, settings.run, settings.mapping
    about = app.context.store.describe()
    found: list[tuple[str, object]] = [
        ("b24migrate", __version__),
        ("Python", platform.python_version()),
        ("source", source.webhooks[0].host),
        ("source.webhook, source.more_webhooks", len(source.webhooks)),
        ("source.timezone", source.timezone),
        ("source.requests_per_second", source.requests_per_second),
        ("source.bucket", source.bucket),
        ("source.operating_seconds", source.operating_seconds),
        ("target", target.parsed.host),
        ("target.portal_url", target.portal_url),
        ("store", f"{about['kind']} {about['place']}"),
        *((f"run.{name}", value) for name, value in run),
        ("mapping.placeholder_user", mapping.placeholder_user),
        ("mapping.existing_users", mapping.existing_users),
        *((f"mapping.policy.{name}", policy.value) for name, policy in mapping.policy.items()),
        *((f"entities.{name}.enabled", one.enabled) for name, one in settings.entities.items()),
        *((f"entities.{name}.{key}", n) for name, one in settings.entities.items() for key, n in one.batches.items()),
    ]
    return [(name, _value(value)) for name, value in found]


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
