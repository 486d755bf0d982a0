"""A CRM before 25.0 takes and tells custom fields only under names that it makes of their codes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.targets.everything import Move, moving
from tests.targets.test_lost_answers import call, send
from tests.targets.test_migration import assert_as_announced
from tests.targets.test_requests import count_calls

from b24migrate.model.records import Item
from b24migrate.targets.rest.target import RestTarget
from b24sim import Portal

CRM = ("crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems")
COMPANIES = 4


def older() -> Portal:
    return Portal(role="box", original_names=False)


@pytest.fixture(params=[True, False], ids=["newer", "older"])
def move(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Move]:
    with moving(tmp_path, "crm_companies", box=Portal(role="box", original_names=request.param)) as made:
        yield made


def declared(target: RestTarget, code: str) -> str:
    traits = {"type": "string", "multiple": False, "sort": 100, "label": {"en": code}, "settings": {}, "options": []}
    (outcome,) = target.fields("crm", "crm_companies", [{"code": code, **traits}])
    assert outcome.status == "created"
    return outcome.target


def company(number: int = 5, **custom: str) -> Item:
    return Item.make(f"source:crm_companies:{number}", {"title": "Oak", **custom})


def kept_values(move: Move, number: str | None) -> dict[str, Any]:
    """What the box has, under its own codes."""
    row = move.world.box.portal.company.crm.items[COMPANIES].row(int(number or 0))
    return {name: value for name, value in row.items() if name.startswith("UF_CRM_") and value is not None}


def test_everything_of_the_crm_arrives_as_announced(tmp_path: Path) -> None:
    with moving(tmp_path, "users", *CRM, box=older(), companies=4, contacts=5, deals=9, smart_items=4) as move:
        assert move.run().exit_code == 0
        assert_as_announced(move)
        assert count_calls(move, "crm.item.fields") <= 2 * len(CRM)


def test_a_custom_value_that_changed_on_the_source_is_changed_on_the_box(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "crm_structure", "crm_companies", box=older()) as move:
        assert move.run().exit_code == 0
        changed = next(iter(move.world.records("CrmCompanies")))
        move.world.change("crm_companies", id=changed, fields={"UF_CRM_1700000400": "Birch"})
        assert move.run().exit_code == 0
        assert move.unforeseen == []
        assert (
            kept_values(move, move.world.records("CrmCompanies")[changed]["TargetId"])["UF_CRM_1700000400"] == "Birch"
        )


def test_a_field_that_was_made_a_moment_ago_is_known(move: Move, target: RestTarget) -> None:
    first = declared(target, "UF_CRM_FIRST")
    _, number = send(target, "crm", company(UF_CRM_FIRST="one"))
    second = declared(target, "UF_CRM_SECOND_2")
    assert send(target, "crm", company(UF_CRM_FIRST="one", UF_CRM_SECOND_2="two"))[0] == "updated"
    assert kept_values(move, number) == {first: "one", second: "two"}
    there = target.read("crm", "crm_companies", [company().key])[company().key].fields
    assert (there[first], there[second]) == ("one", "two")


def test_a_field_that_another_worker_made_is_known(move: Move, target: RestTarget) -> None:
    declared(target, "UF_CRM_FIRST")
    send(target, "crm", company(UF_CRM_FIRST="one"))
    call(target, "crm.company.userfield.add", fields={"FIELD_NAME": "UF_CRM_SECOND_2", "USER_TYPE_ID": "string"})
    _, number = send(target, "crm", company(6, UF_CRM_SECOND_2="two"))
    assert kept_values(move, number) == {"UF_CRM_SECOND_2": "two"}


def test_a_field_that_another_worker_made_is_told_under_its_code(move: Move, target: RestTarget) -> None:
    declared(target, "UF_CRM_FIRST")
    _, number = send(target, "crm", company(UF_CRM_FIRST="one"))
    call(target, "crm.company.userfield.add", fields={"FIELD_NAME": "UF_CRM_SECOND_2", "USER_TYPE_ID": "string"})
    table = move.world.box.portal.company.crm.items[COMPANIES]
    table.put(int(number or 0), table.row(int(number or 0)) | {"UF_CRM_SECOND_2": "two"})
    there = target.read("crm", "crm_companies", [company().key])[company().key].fields
    assert there["UF_CRM_SECOND_2"] == "two"


def test_a_field_that_was_gone_and_came_back_is_known_again(move: Move, target: RestTarget) -> None:
    send(target, "crm", company(UF_CRM_FIRST="one"))
    assert declared(target, "UF_CRM_FIRST") == "UF_CRM_FIRST"
    _, number = send(target, "crm", company(6, UF_CRM_FIRST="two"))
    assert kept_values(move, number) == {"UF_CRM_FIRST": "two"}


def test_of_two_codes_that_would_get_one_name_each_keeps_its_value(move: Move, target: RestTarget) -> None:
    one, other = declared(target, "UF_CRM_CODE_WORD"), declared(target, "UF_CRM_CODE__WORD")
    _, number = send(target, "crm", company(UF_CRM_CODE_WORD="one", UF_CRM_CODE__WORD="other"))
    assert kept_values(move, number) == {one: "one", other: "other"}
    there = target.read("crm", "crm_companies", [company().key])[company().key].fields
    assert (there[one], there[other]) == ("one", "other")


def test_the_box_is_asked_once_for_names_that_it_does_not_tell(move: Move, target: RestTarget) -> None:
    for number in range(3):
        send(target, "crm", company(number, UF_CRM_NOWHERE="lost"))
    assert count_calls(move, "crm.item.fields") <= 2
