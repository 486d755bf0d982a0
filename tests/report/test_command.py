"""`report` as a person types it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.command import SOURCE_SECRET, TARGET_SECRET, Scene
from tests.cli.conftest import company, hurried, scene
from tests.cli.test_bad_input import is_clear
from tests.report.report_reader import Report

from b24migrate.cli.open_app import open_to_read
from b24migrate.cli.session import Session
from b24migrate.insight.forecast import compare_forecast

__all__ = ["company", "hurried", "scene"]


def test_it_is_written_and_says_how_it_stands(company: Scene) -> None:
    assert company.run("run").code == 0
    result = company.run("report", "--out", "out")
    is_clear(result, 0, "completed without issues", "out/report.html", "15 tables")
    assert len(list(Path("out").iterdir())) == 16


def test_json_is_nothing_but_json(company: Scene) -> None:
    company.run("run")
    data = company.run("report", "--out", "out", "--json").json
    assert (data["file"], data["standing"]) == ("out/report.html", "done")
    made = company.run("certificate", "--json").json
    assert data["root"] == made["root"]
    assert data["tables"]["failed.csv"] == 0
    assert data["tables"]["links.csv"] == made["sums"]["verified"] + made["sums"]["migrated"]


def test_the_forecast_stands_beside_the_truth(company: Scene) -> None:
    company.run("run", "--test-limit", "2")
    assert company.run("analyze").code == 0
    assert company.run("run").code == 0
    company.run("report", "--out", "out")
    with open_to_read(session_of(company)) as app:
        known = compare_forecast(app.context.store)
    found = Report(Path("out"), None)  # type: ignore[arg-type]
    shown = found.cells("table-forecast")
    assert [row[:2] for row in shown[:2]] == [["Total", "Read"], ["Total", "the whole run"]]
    assert len(shown) == 2 + sum(one.phase in ("get", "set", "verify") for one in known if one.entity)
    rows = {(row["name"], row["phase"]): row for row in found.rows("timing") if row["kind"] == "phase"}
    for one in known:
        if one.entity:
            assert float(rows[one.entity, one.phase]["foretold_seconds"]) == round(one.foretold_s, 1)
    assert "The forecast of" in found.section("forecast")


def session_of(company: Scene) -> Session:
    session = Session()
    session.config = company.config
    return session


def test_before_anything_was_done(company: Scene) -> None:
    is_clear(company.run("report", "--out", "out", "--language", "ru"), 0, "Перенос ещё не запускался")
    assert "b24migrate doctor" in Path("out/report.html").read_text("utf-8")


def test_no_secret_is_in_any_file(company: Scene) -> None:
    """Wherever it got into the store: links of files, messages of portals, texts of people."""
    company.run("run")
    with closing(sqlite3.connect("b24migrate.db")) as connection, connection:
        sentence = f"https://cloud.example/rest/1/{SOURCE_SECRET}/disk.file.get {TARGET_SECRET}"
        connection.execute(
            "UPDATE Users SET Status = 'IMPORT_ERR', LastErrorCode = ?, LastError = ?", (sentence, "x" * 290 + sentence)
        )
        connection.execute("DELETE FROM Tallies WHERE TableName = 'Users' AND Status = 'IMPORT_ERR'")
        connection.execute(
            "UPDATE Tallies SET Status = 'IMPORT_ERR' WHERE TableName = 'Users' AND Status = 'IMPORT_OK'"
        )
        connection.execute("UPDATE EntitiesState SET Notes = ?", (json.dumps([sentence]),))
        connection.execute("UPDATE Runs SET Message = ?, State = 'active', ExitCode = 4", (sentence,))
        connection.execute("UPDATE IdMap SET TargetId = ? WHERE RowKey LIKE 'groups:%'", (sentence,))
    for language in ("en", "ru"):
        assert company.run("report", "--out", language, "--language", language).code == 0
        for path in Path(language).iterdir():
            text = path.read_text("utf-8-sig")
            for secret in (SOURCE_SECRET, TARGET_SECRET):
                assert secret not in text, path
                assert secret[:-4] not in text, path
    assert "/rest/1/" in Path("en/failed.csv").read_text("utf-8-sig")
    assert all(secret not in heard for secret in (SOURCE_SECRET, TARGET_SECRET) for heard in company.heard)


def test_mistakes_are_told_in_one_sentence(company: Scene) -> None:
    is_clear(company.run("report", "--language", "de"), 2, 'no language "de"', "en, ru")
    Path("taken").write_text("mine")
    is_clear(company.run("report", "--out", "taken"), 2, "cannot be written to taken", "--out")
    Path("folder").mkdir()
    Path("folder/failed.csv").write_text("mine")
    is_clear(company.run("report", "--out", "folder"), 2, "folder/failed.csv already exists", "--force")
    assert Path("folder/failed.csv").read_text() == "mine"
    assert company.run("report", "--out", "folder", "--force").code == 0


@pytest.mark.parametrize("word", ["--out", "--language", "en|ru", "--force"])
def test_help_names_every_option(scene: Scene, word: str) -> None:
    assert word in scene.run("report", "--help").out
