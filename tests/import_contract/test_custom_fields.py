"""Making custom fields, and the values they then take."""

import re
from typing import Any

import pytest
from tests.import_contract.client import Client

CHANNEL = "UF_CRM_1700000001"
SITE = {"id": "26", "value": "Сайт", "xml_id": "web", "sort": 10, "default": False}
CALL = {"id": "27", "value": "Звонок", "xml_id": "call", "sort": 20, "default": False}


def spec(code: str, kind: str, *options: dict[str, Any], multiple: bool = False) -> dict[str, Any]:
    label = {"ru": "Канал", "en": "Channel"}
    facts = {"mandatory": False, "sort": 100, "label": label, "settings": {}}
    return {"code": code, "type": kind, "multiple": multiple, "options": list(options), **facts}


def declare(box: Client, *fields: dict[str, Any], stream: str = "crm_deals", smart: str | None = None) -> list[Any]:
    """In the order in which they were asked for: the answers may come in any."""
    answers = {answer["code"]: answer for answer in box.declare(stream, fields, smart)}
    return [answers[field["code"]] for field in fields]


def test_a_new_field_is_created_with_new_option_ids(box: Client) -> None:
    (answer,) = declare(box, spec(CHANNEL, "enumeration", SITE, CALL))
    options = answer.pop("options")
    assert answer == {"code": CHANNEL, "target": CHANNEL, "status": "created", "error": None}
    assert options.keys() == {"26", "27"}
    assert len(set(options.values()) - {"26", "27"}) == 2


def test_declaring_twice_changes_nothing(box: Client) -> None:
    (first,) = declare(box, spec(CHANNEL, "enumeration", SITE, CALL))
    before = box.snapshot()
    (second,) = declare(box, spec(CHANNEL, "enumeration", SITE, CALL))
    assert second == first | {"status": "exists"}
    assert box.snapshot() == before


def test_missing_options_are_added(box: Client) -> None:
    (first,) = declare(box, spec(CHANNEL, "enumeration", SITE))
    (second,) = declare(box, spec(CHANNEL, "enumeration", CALL, SITE))
    assert second["status"] == "exists"
    assert second["options"]["26"] == first["options"]["26"]
    assert second["options"].keys() == {"26", "27"}


def test_options_spelled_alike_stay_two(box: Client) -> None:
    twin = SITE | {"id": "30", "xml_id": "web2"}
    (first,) = declare(box, spec(CHANNEL, "enumeration", SITE, twin))
    assert first["options"]["26"] != first["options"]["30"]
    (again,) = declare(box, spec(CHANNEL, "enumeration", twin, SITE))
    assert again["options"] == first["options"]


def test_options_without_xml_id_are_found_by_value(box: Client) -> None:
    (first,) = declare(box, spec(CHANNEL, "enumeration", SITE | {"xml_id": ""}))
    (again,) = declare(box, spec(CHANNEL, "enumeration", SITE | {"xml_id": None}))
    assert again["options"] == first["options"]


@pytest.mark.parametrize(
    ("kind", "code"),
    [("string", "TYPE_MISMATCH"), ("rest_5_rating", "TYPE_UNSUPPORTED"), ("hlblock", "TYPE_UNSUPPORTED")],
)
def test_a_field_that_cannot_be_made_fails_alone(box: Client, kind: str, code: str) -> None:
    declare(box, spec(CHANNEL, "integer"))
    bad, good = declare(box, spec(CHANNEL, kind), spec("UF_CRM_2", "string"))
    assert (bad["status"], bad["target"], bad["error"]["code"], bad["options"]) == ("failed", None, code, {})
    assert bad["error"]["message"]
    assert good["status"] == "created"


def test_an_empty_list_makes_nothing(box: Client) -> None:
    before = box.snapshot()
    assert declare(box) == []
    assert box.snapshot() == before


def test_fields_of_every_box_exist_already(box: Client) -> None:
    (answer,) = declare(box, spec("UF_DEPARTMENT", "iblock_section"), stream="users")
    assert (answer["status"], answer["target"]) == ("exists", "UF_DEPARTMENT")


def test_fields_of_one_stream_are_unknown_to_another(box: Client) -> None:
    declare(box, spec(CHANNEL, "string"))
    assert box.send("crm_deals", "d", **{CHANNEL: "x"})["ignored"] == []
    assert box.send("crm_contacts", "c", **{CHANNEL: "x"})["ignored"] == [CHANNEL]


def test_smart_processes_have_fields_of_their_own_with_their_number_in_the_code(box: Client) -> None:
    contracts, claims = box.smart_type("Contracts"), box.smart_type("Claims")
    (answer,) = declare(box, spec("UF_CRM_12_1700000001", "string"), stream="crm_spitems", smart=contracts)
    target = answer["target"]
    assert re.fullmatch(r"UF_CRM_\d+_1700000001", target)
    assert box.send("crm_spitems", "a", entityTypeId=contracts, **{target: "x"})["ignored"] == []
    assert box.send("crm_spitems", "b", entityTypeId=claims, **{target: "x"})["ignored"] == [target]


@pytest.mark.parametrize("smart", [None, "180"])
def test_fields_of_an_unknown_smart_process_fail(box: Client, smart: str | None) -> None:
    (answer,) = declare(box, spec("UF_CRM_12_1", "string"), stream="crm_spitems", smart=smart)
    assert answer["error"]["code"] == "TYPE_NOT_FOUND"


@pytest.mark.parametrize(
    "body",
    [
        {"fields": None},
        {"fields": [{"type": "string"}]},
        {"fields": [{"code": CHANNEL}]},
        {"fields": [{"code": CHANNEL, "type": "enumeration", "options": [{"value": "x"}]}]},
        {"fields": [], "type": "180"},
    ],
)
def test_a_malformed_declaration_is_refused(raw: Client, body: dict[str, object]) -> None:
    raw.refused("import.crm.fields", stream="crm_deals", **body)


def test_a_list_value_must_be_one_of_the_targets_own(box: Client) -> None:
    (answer,) = declare(box, spec(CHANNEL, "enumeration", SITE, multiple=True))
    assert box.fault("crm_deals", "d", **{CHANNEL: ["26"]}) == ("VALIDATION", CHANNEL)
    assert box.make("crm_deals", "d", **{CHANNEL: [answer["options"]["26"]]})


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        ("boolean", "1", "VALIDATION"),
        ("date", "01.03.2024", "VALIDATION"),
        ("datetime", "2024-03-01T12:00:00+03:00", "VALIDATION"),
        ("file", "871", "FILE_NOT_FOUND"),
        ("employee", "871", "USER_NOT_FOUND"),
        ("string", ["x"], "VALIDATION"),
        ("integer", True, "VALIDATION"),
    ],
)
def test_custom_values_have_the_fields_type(box: Client, kind: str, value: object, code: str) -> None:
    declare(box, spec(CHANNEL, kind))
    assert box.fault("crm_deals", "d", **{CHANNEL: value}) == (code, CHANNEL)


def test_a_file_field_takes_a_file_id_or_a_list_of_them(box: Client) -> None:
    file = box.file()
    declare(box, spec("UF_ONE", "file"), spec("UF_MANY", "file", multiple=True))
    assert box.make("crm_deals", "d", UF_ONE=file, UF_MANY=[file, file])
