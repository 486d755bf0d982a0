"""Tables that people edit in a spreadsheet: written as CSV, read again however it was saved."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, Halted
from b24migrate.private_files import replace_private

FORMULA = frozenset(("=", "+", "-", "@", "\N{MINUS SIGN}"))
BREAKS = "\t\r\n"


def write_csv(file: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    """How many rows were written."""
    count = 0
    try:
        with replace_private(file, encoding="utf-8-sig", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(columns)
            for row in rows:
                writer.writerow([harmless(cell) for cell in row])
                count += 1
    except OSError as error:
        raise Halted(say("cli.unwritable", path=file, why=error.strerror), hint=say("cli.other_place")) from None
    return count


def harmless(cell: str) -> str:
    """A spreadsheet would run a name that begins like a formula. Some take full-width and small signs for the plain
    ones, and skip blanks and invisible characters before them. `unquote` takes the apostrophe away again."""
    return f"'{cell}" if is_formula(cell.lstrip("'")) else cell


def is_formula(cell: str) -> bool:
    first = cell[:1]
    if first.isalnum() or not first:  # nearly all of a million
        return False
    if first in BREAKS:
        return True
    mark = next((one for one in cell if not one.isspace() and unicodedata.category(one) != "Cf"), "")
    return unicodedata.normalize("NFKC", mark) in FORMULA


def unquote(cell: str) -> str:
    """The text that was given to `harmless`."""
    return cell[1:] if cell.startswith("'") and is_formula(cell.lstrip("'")) else cell


def read_lines(file: Path, written_by: str) -> Iterator[list[str]]:
    """Spreadsheets separate by comma, semicolon or tab, as they like."""
    try:
        text = file.read_text("utf-8-sig")
    except OSError as error:
        hint = say("cli.sheet.fix", command=written_by)
        raise BadConfiguration(say("cli.unreadable", path=file, why=error.strerror), hint=hint) from None
    except UnicodeDecodeError:
        raise BadConfiguration(say("cli.not_utf8", path=file), hint=say("cli.not_utf8_fix")) from None
    yield from parse_lines(text)


def parse_lines(text: str) -> Iterator[list[str]]:
    """Raises BadConfiguration if the text is not a table."""
    head = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    try:
        for row in rows:
            yield [unquote(cell) for cell in row]
    except csv.Error as error:
        raise BadConfiguration(say("cli.no_table", number=rows.line_num, why=error)) from None


def format_lines(rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([harmless(cell) for cell in row] for row in rows)
    return out.getvalue()
