"""IDs in a spelling that no portal has: a record with one is not kept beside the real one, and no link leads to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.test_odd_values import GET, alter_answers, altering
from tests.engine.world import World

from b24migrate.entities.crm.reader import smart_items
from b24migrate.entities.custom_fields import type_fields
from b24migrate.model.errors import Permanent
from b24migrate.model.source_records import SourceRecord

Json = Any
SPELLINGS = ("{}.0", " {}", "{} ", "+{}", "-{}", "0{}", "{}e0", "{}\n", "{}\x00", "1e400")


def spelled(spelling: str, inside: str, name: str) -> Callable[[Json], Json]:
    """Writes the ID of the last record of each list so."""

    def change(answer: Json) -> Json:
        rows = answer[inside] if inside else answer
        if rows and rows[-1].get(name):
            rows[-1][name] = spelling.format(rows[-1][name])
        return answer

    return change


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    ("method", "table", "name"), [("department.get", "Departments", "ID"), ("user.get", "Users", "ID")]
)
def test_a_record_with_an_odd_id_is_left_out_and_told(
    small: World, method: str, table: str, name: str, spelling: str
) -> None:
    honest = altering(small, method, spelled(spelling, "", name))
    small.run("users", phases=GET)
    honest()
    assert method in " ".join(small.entity("users").notes)
    assert small.run("users").exit_code in (0, 5)
    assert all(key.isdecimal() and key[0] != "0" for key in small.records(table))


@pytest.mark.parametrize("spelling", [*SPELLINGS, "Array", "null", "None", "true"])
def test_a_box_that_answers_an_odd_id_once_is_asked_again(small: World, spelling: str) -> None:
    change, answers = spelled(spelling, "items", "id"), iter(range(100))
    alter_answers(small.box.portal, "import.groups.batch", lambda one: one if next(answers) else change(one))
    assert small.run("users", "groups").exit_code in (0, 5)
    linked = {str(row["TargetId"]) for row in small.records("Groups").values()}
    assert len(linked) == len(small.records("Groups"))
    assert all(one.isdecimal() and one[0] != "0" for one in linked)


def test_a_smart_process_without_its_number_hides_no_fields_of_the_others(small: World) -> None:
    types = [SourceRecord("13", {"id": 13, "title": "No number"}, {}), SourceRecord("x", {"id": "x"}, {})]
    with small.app() as app:
        assert type_fields("crm_types")(app.context.source, lambda _: types) == []


def test_the_id_of_another_file_is_not_taken_for_that_of_this_one(small: World) -> None:
    """The answer does not name the file. Of one that is complete, the box has received every byte."""
    answers = iter(range(100))

    def change(answer: Json) -> Json:
        return answer if next(answers) else {"received": 1, "id": "1"}

    alter_answers(small.box.portal, "import.files.put", change)
    assert small.run("users", "groups").exit_code in (0, 5)
    files = [row["TargetId"] for row in small.records("Files").values()]
    assert files
    assert "1" not in files


def test_a_file_that_the_box_made_smaller_is_taken(small: World) -> None:
    alter_answers(
        small.box.portal, "import.files.put", lambda one: {**one, "received": 1} if one["id"] is not None else one
    )
    assert small.run("users", "groups").exit_code in (0, 5)
    assert {row["Status"] for row in small.records("Files").values()} == {"IMPORT_OK"}


@pytest.mark.parametrize("number", [None, "x", [1], {"odd": 1}, "1.0", -5])
def test_items_of_a_smart_process_without_its_number_are_an_odd_answer(number: Json) -> None:
    with pytest.raises(Permanent, match="entityTypeId"):
        smart_items(SourceRecord("13", {"id": 13, "entityTypeId": number}, {}))
