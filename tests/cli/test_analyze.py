"""`analyze` on the command line: readable on a small terminal, and for machines."""

from __future__ import annotations

from tests.cli.command import Scene, cloud


def test_the_tables_begin_with_the_verdict_and_fit_into_eighty_columns(company: Scene) -> None:
    result = company.run("analyze")
    lines = result.out.splitlines()
    assert result.code == 0
    assert lines[0].startswith("About ")
    assert max(map(len, lines)) <= 80
    assert any("Enterprise" in line for line in lines)
    assert any(line.startswith("chat_messages") for line in lines)


def test_json_has_every_number_with_its_basis(company: Scene) -> None:
    data = company.run("analyze", "--json", "--sample", "0.5").json
    users = next(one for one in data["streams"] if one["stream"] == "users")
    assert users["records"] == {"value": 12, "low": 12, "high": 12, "exact": True, "basis": "the portal's total"}
    assert {one["name"] for one in data["forecast"]["what_ifs"]} == {
        "enterprise",
        "night_only",
        "without_files",
        "without_chats",
    }
    assert data["forecast"]["basis"]


def test_there_is_nothing_to_compare_before_a_forecast(company: Scene) -> None:
    result = company.run("analyze", "--compare")
    assert result.code == 4
    assert "b24migrate analyze" in result.err


def test_after_a_run_the_forecast_stands_beside_what_it_took(company: Scene) -> None:
    company.run("analyze")
    assert "Nothing is done" in company.run("analyze", "--compare").out
    company.run("run", "--entity", "users")
    phases = company.run("analyze", "--compare", "--json").json["phases"]
    assert {(one["entity"], one["phase"]) for one in phases} >= {("users", "get"), ("users", "set"), ("", "run")}
    assert "forecast" in company.run("analyze", "--compare").out


def test_a_box_that_is_not_there_yet_is_no_hindrance(scene: Scene) -> None:
    with cloud() as source:
        scene.source, scene.target = source.webhook(), "http://127.0.0.1:9/rest/1/secret123/"
        result = scene.run("analyze")
    assert result.code == 0
    assert "the target" in result.out


def test_a_source_that_is_not_there_is_said(scene: Scene) -> None:
    scene.source, scene.target = "http://127.0.0.1:9/rest/1/secret123/", "http://127.0.0.1:7/rest/1/secret456/"
    result = scene.run("analyze")
    assert result.code == 4
    assert "secret123" not in result.all
