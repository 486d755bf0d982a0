"""No cell of a CSV is a formula for a spreadsheet, however its first sign is written."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from b24migrate.messages import words
from b24migrate.model.errors import BadConfiguration
from b24migrate.report import csv_tables
from b24migrate.report.page import Texts

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"  # plain, full-width, small, and minus
BEFORE = ("", " ", "\u00a0", "\u3000", "\u200b", "\ufeff", "\u2060 ")


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("before", BEFORE, ids=ascii)
def test_a_formula_is_a_text(sign: str, before: str, tmp_path: Path) -> None:
    cell = f"{before}{sign}HYPERLINK(1)"
    assert csv_tables.harmless(cell) == f"'{cell}"
    csv_tables.write_csv(tmp_path / "a.csv", ["name"], [[cell]])
    written = list(csv.reader((tmp_path / "a.csv").read_text("utf-8-sig").splitlines()))
    assert written[1][0].startswith("'")
    shown = Texts(words("en"), str).for_cell(cell)  # of the report: invisible characters are written out
    assert shown.startswith(("'", "\\u"))


@pytest.mark.parametrize("cell", ["\t=1", "\r=1", "\n=1", "\tx"])
def test_a_cell_that_begins_with_a_break_is_a_text(cell: str) -> None:
    assert csv_tables.harmless(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "Иванов", "12", "a=b", "«=»", "(+7) 495", " x", "1-2", "…", "\u200b", "ё-ё"])
def test_any_other_text_stays_as_it_is(cell: str) -> None:
    assert csv_tables.harmless(cell) == cell


@pytest.mark.parametrize("cell", ["=1", "-5", "@x", "'quoted", "'=x", "", "plain", "\tx", "''", "''=x", "\uff1dx"])
def test_a_cell_is_read_as_it_was_before_it_was_made_harmless(cell: str, tmp_path: Path) -> None:
    csv_tables.write_csv(tmp_path / "a.csv", ["name", "more"], [[cell, "x"]])
    assert list(csv_tables.read_lines(tmp_path / "a.csv", "x"))[1:] == [[cell, "x"]]
    assert list(csv_tables.parse_lines(csv_tables.format_lines([[cell, "x"]]))) == [[cell, "x"]]


def test_what_is_no_table_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("stream,source_id\ngroups," + "1" * 200_000 + "\n")
    with pytest.raises(BadConfiguration, match="Line 2 cannot be read as CSV"):
        list(csv_tables.read_lines(tmp_path / "a.csv", "x"))
