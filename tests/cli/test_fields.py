"""`custom-fields` as people call it: compare, write out, edit, load, create."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Scene, box, cloud

LEVEL, NUMBER = "UF_USR_1724228142162", "UF_USR_1724228142173"
HEAD = "entity,source_field,type,label,target_field,included\n"


def compared(scene: Scene, *arguments: str) -> dict[str, dict[str, Any]]:
    result = scene.run("custom-fields", "diff", "--entity", "users", "--json", *arguments)
    assert result.code == 0, result.all
    return {one["field"]: one for one in result.json["fields"]}


def edited(**choices: tuple[str, str]) -> None:
    """The exported file with other target fields and inclusions."""
    rows = list(csv.reader(Path("fields.csv").read_text("utf-8-sig").splitlines()))
    changed = [[*row[:4], *choices.get(row[1], row[4:])] for row in rows]
    with Path("fields.csv").open("w", encoding="utf-8-sig", newline="") as out:
        csv.writer(out, delimiter=";").writerows(changed)


def test_the_difference_is_shown_before_and_after(company: Scene) -> None:
    before = compared(company)[LEVEL]
    assert (before["label"], before["type"], before["multiple"]) == ("Level", "enumeration", True)
    assert (before["on_target"], before["mapped_to"]) == ("missing", "")
    assert company.run("custom-fields", "users").code == 0
    after = compared(company)[LEVEL]
    assert (after["on_target"], after["mapped_to"]) == ("exists", LEVEL)
    result = company.run("custom-fields", "diff", "--entity", "users")
    assert LEVEL in result.out
    assert "exists" in result.out


def test_a_target_that_does_not_tell_its_fields_is_not_guessed_at(scene: Scene) -> None:
    with cloud() as source, box("--scopes", "import") as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        assert compared(scene)[LEVEL]["on_target"] == "unknown until custom-fields-set"
        assert scene.run("custom-fields", "create", "users").code == 0
        assert compared(scene)[LEVEL]["on_target"] == "exists"


def test_a_source_that_does_not_tell_its_fields_is_named(scene: Scene) -> None:
    with cloud("--scopes", "user,department") as source, box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        result = scene.run("custom-fields", "diff", "--entity", "users", "--json")
        assert "user.userfield" in result.json["unread"]["users"]


@pytest.fixture
def exported(company: Scene) -> Scene:
    company.run("do", "users-custom-fields-get")
    assert company.run("custom-fields", "export", "fields.csv").code == 0
    return company


def test_fields_are_written_edited_and_loaded(exported: Scene) -> None:
    rows = list(csv.DictReader(Path("fields.csv").read_text("utf-8-sig").splitlines()))
    level = next(row for row in rows if row["source_field"] == LEVEL)
    assert level == {
        "entity": "users",
        "source_field": LEVEL,
        "type": "enumeration",
        "label": "Level",
        "target_field": "",
        "included": "yes",
    }
    edited(**{LEVEL: ("UF_USR_GRADE", "yes"), NUMBER: ("", "no")})
    assert exported.run("custom-fields", "load", "fields.csv", "--json").json == {"changed": 2}
    assert exported.run("custom-fields", "load", "fields.csv", "--json").json == {"changed": 0}
    assert exported.run("custom-fields", "users", "--json").code == 0
    found = compared(exported)
    assert (found[LEVEL]["on_target"], found[LEVEL]["mapped_to"]) == ("exists", "UF_USR_GRADE")
    assert found[NUMBER]["on_target"] == "excluded"
    exported.run("custom-fields", "export", "fields.csv")
    assert "UF_USR_GRADE,yes" in Path("fields.csv").read_text("utf-8-sig")


def test_there_is_nothing_to_write_before_anything_was_read(company: Scene) -> None:
    result = company.run("custom-fields", "export", "fields.csv")
    assert result.code == 3
    assert "custom-fields-get" in result.err


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("entity,source_field\nusers,x\n", ["Line 1", "target_field, included"]),
        (f"{HEAD}users,UF_USR_17242281421,,,,yes\n", ["Line 2", "did you mean"]),
        (f"{HEAD}people,{LEVEL},,,,yes\n", ["Line 2", "valid values: users"]),
        (f"{HEAD}users,{LEVEL},,,grade,yes\n", ["Line 2", '"grade"', "UF_"]),
        (f"{HEAD}users,{LEVEL},,,,maybe\n", ["Line 2", '"maybe"', "yes or no"]),
        (f"{HEAD}users,{LEVEL}\n", ["Line 2", "too few columns"]),
        (f"{HEAD}users,{LEVEL},,,,yes\nusers,{LEVEL},,,,no\n", ["Line 3", "line 2"]),
        (f"{HEAD}users,{LEVEL},,,{NUMBER},yes\n", ["Line 2", NUMBER, "would both become"]),
        (f"{HEAD}users,{LEVEL},,,a,yes\n\nusers,x,,,,yes\n", ["Line 2", "Line 4"]),
    ],
)
def test_a_mistake_in_the_file_is_one_clear_sentence(exported: Scene, text: str, wanted: list[str]) -> None:
    Path("fields.csv").write_text(text, "utf-8")
    result = exported.run("custom-fields", "load", "fields.csv")
    assert result.code == 2, result.all
    assert [word for word in wanted if word not in result.err] == []
    assert "Traceback" not in result.err
    assert all(one["mapped_to"] == "" for one in compared(exported).values()), "something was loaded"


def test_a_file_that_is_not_there(exported: Scene) -> None:
    result = exported.run("custom-fields", "load", "nowhere.csv")
    assert result.code == 2
    assert "custom-fields export" in result.err


def test_options_may_come_before_the_entity(company: Scene) -> None:
    assert company.run("custom-fields", "--json", "users").json["exit_code"] == 0
    assert company.run("custom-fields", "usres").code == 2
