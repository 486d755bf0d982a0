"""What the new portal does not keep stands in the report, in both languages, and in a table."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.engine.test_fidelity import PHONE, lossy, run
from tests.engine.world import world
from tests.report.report_reader import report

from b24migrate.insight import fidelity


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines))


def test_the_report_names_what_is_not_kept_and_what_was_found_so(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        lossy(here, PHONE)
        assert run(here).exit_code == 0
        with here.app() as app:
            fidelity.current_list(app.context)
        english, russian = report(here, "english"), report(here, "russian", language="ru")
    (line,) = rows(tmp_path / "english" / "fidelity.csv")
    found = rows(tmp_path / "english" / "foreseen.csv")
    assert (line["stream"], line["field"], line["keeping"], line["basis"]) == ("users", "WORK_PHONE", "lost", "counted")
    assert int(line["records"]) == len(found) > 0
    assert line["accepted"] == "yes"
    assert {one["fate"] for one in found} == {"foreseen"}
    page = (tmp_path / "english" / "report.html").read_text("utf-8")
    assert "The box has no such phone." in page
    assert "Accepted by a test" in page
    assert "теряется" in (tmp_path / "russian" / "report.html").read_text("utf-8")
    assert english
    assert russian


def test_the_report_says_in_one_sentence_that_everything_is_kept(tmp_path: Path) -> None:
    with world(tmp_path) as here:
        run(here, full=False)
        report(here, "english")
    assert "The target keeps every field of every record." in (tmp_path / "english" / "report.html").read_text("utf-8")
    assert rows(tmp_path / "english" / "fidelity.csv") == []
