"""Makes a report: the tables first, row by row, then the page from what was kept of them."""

from __future__ import annotations

import csv
import errno
import os
import platform
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple, Protocol

from b24migrate import __version__
from b24migrate.insight.report import Standing, Tally
from b24migrate.insight.report.data import gather
from b24migrate.insight.report.model import Cell, FileFacts
from b24migrate.messages import render, say, words
from b24migrate.model.errors import BadConfiguration
from b24migrate.monitor.logs import mask_email
from b24migrate.private_files import FOLDER, make_folder, open_private
from b24migrate.report.page import A_FILE, NONE, Formats, Page, Site, Texts, verdict_sentence
from b24migrate.report.tables import TABLES, Line, Sources, Table

if TYPE_CHECKING:
    from b24migrate.app import App

PAGE = "report.html"
MARK = b'<meta name="generator" content="b24migrate '
WITHIN = 2000  # bytes of the page's beginning that have the mark
CODE = "REPORT_NOT_WRITTEN"
FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def write_folder(out: Path, names: Sequence[str], *, force: bool) -> Iterator[Path]:
    """Gives a folder to write into. When the block ends without an error, its files appear in `out`, the page last;
    otherwise nothing is there that was not there before. Raises BadConfiguration."""
    fresh = None
    try:
        _refuse_others(out, names, force=force)
        beside = out if out.is_dir() else _parent(out)
        fresh = beside / f".b24migrate-report-{token_hex(4)}"
        fresh.mkdir(FOLDER)
        yield fresh
        _appear(fresh, out, names)
    except OSError as error:
        if error.errno in FULL:
            raise
        reason = error.strerror or str(error)
        raise BadConfiguration(
            say("report.place.unwritable", out=out, reason=reason), code=CODE, hint=say("report.place.other")
        ) from None
    finally:
        if fresh is not None:
            shutil.rmtree(fresh, ignore_errors=True)


def _parent(out: Path) -> Path:
    make_folder(out.parent)
    return out.parent


def _refuse_others(out: Path, names: Sequence[str], *, force: bool) -> None:
    """An earlier report may be replaced; a file that only has the name of ours may not."""
    if os.path.lexists(out) and not out.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if any((out / name).is_dir() for name in names):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not out.is_dir() or force or is_ours(out / PAGE):
        return
    if taken := [name for name in names if os.path.lexists(out / name)]:
        raise BadConfiguration(
            say("report.place.taken", file=out / taken[0]),
            code=CODE,
            hint=say("report.place.taken_fix"),
        )


def is_ours(page: Path) -> bool:
    try:
        with page.open("rb") as file:
            return MARK in file.read(WITHIN)
    except OSError:
        return False


def _appear(fresh: Path, out: Path, names: Sequence[str]) -> None:
    for name in names:
        with (fresh / name).open("rb") as file:
            os.fsync(file.fileno())
    for rest in set(fresh.iterdir()) - {fresh / name for name in names}:
        rest.unlink()
    if not out.is_dir():
        fresh.rename(out)
        return
    for name in sorted(names, key=lambda one: one == PAGE):
        (fresh / name).replace(out / name)


NAMES = (PAGE, *(table.file for table in TABLES))


@dataclass(frozen=True, slots=True)
class Request:
    out: Path
    language: str
    redact: Callable[[str], str]
    force: bool = False
    site: Site = A_FILE


class Written(NamedTuple):
    standing: Standing
    verdict: str
    rows: dict[str, int]  # by file
    root: str


def make_report(app: App, request: Request) -> Written:
    """Raises BadConfiguration where it cannot be written; else as the store does."""
    speech = words(request.language)
    texts = Texts(speech, request.redact)
    with write_folder(request.out, NAMES, force=request.force) as folder:
        facts = gather(app.context, folder, wanted=app.planned(), clean=lambda text: mask_email(request.redact(text)))
        making = Sources(app.context, folder, facts, FileFacts(), speech.language)
        tallies = {table.name: write_table(table, making, texts) for table in TABLES}
        page = Page(
            facts, making.files, tallies, list_settings(app), app.context.people, app.context.options.verify_sample
        )
        amounts = Formats(speech, app.settings.source.zone)
        with open_private(folder / PAGE, "x", encoding="utf-8", newline="\n") as out:
            out.write(request.redact(page.html(speech, amounts, texts, request.site)))
        counted = {table.file: tallies[table.name].count for table in TABLES}
        return Written(facts.standing, verdict_sentence(facts, speech, amounts), counted, facts.proof.root)


def write_table(table: Table, making: Sources, texts: Texts) -> Tally:
    tally = Tally()
    with open_sheet(making.folder / table.file, table.columns, texts) as put:
        for line in clean_lines(table.lines(making), texts.redact, making.language):
            tally.add(*line)
            put(line.cells)
    return tally


def clean_lines(lines: Iterator[Line], redact: Callable[[str], str], language: str) -> Iterator[Line]:
    """Rendered for the reader; without secrets, before anything is cut: half a secret would not be recognized."""
    for line in lines:
        cells = [redact(render(one, language)) if isinstance(one, str) else one for one in line.cells]
        yield Line(cells, tuple(map(redact, line.group)), redact(line.example))


class Write(Protocol):
    def __call__(self, cells: Sequence[Cell]) -> None: ...


@contextmanager
def open_sheet(file: Path, columns: Sequence[str], texts: Texts) -> Iterator[Write]:
    """Begins with the mark by which spreadsheets know UTF-8. Numbers are ours; texts are made harmless."""
    with open_private(file, "x", encoding="utf-8-sig", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(columns)

        def write_table(cells: Sequence[Cell]) -> None:
            writer.writerow([texts.for_cell(one) if isinstance(one, str) else one for one in cells])

        yield write_table


def list_settings(app: App) -> list[tuple[str, str]]:
    """Named as in the configuration."""
    settings = app.settings
    source, target, run, mapping = settings.source, settings.target, settings.run, settings.mapping
    about = app.context.store.describe()
    found: list[tuple[str, object]] = [
        ("b24migrate", __version__),
        ("Python", platform.python_version()),
        ("source", NONE if "source" in settings.absent else source.webhooks[0].host),
        ("source.webhook, source.more_webhooks", len(source.webhooks)),
        ("source.timezone", source.timezone),
        ("source.requests_per_second", source.requests_per_second),
        ("source.bucket", source.bucket),
        ("source.operating_seconds", source.operating_seconds),
        ("target", NONE if "target" in settings.absent else target.parsed.host),
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
