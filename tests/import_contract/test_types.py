"""The JSON types of fields: wrong ones are refused by name, null is always "known to be empty"."""

import json

import pytest
from tests.import_contract.client import NOON, Client
from tests.import_contract.test_references import good_fields

DAY = "2024-03-01"
WRONG: list[tuple[str, str, object]] = [
    ("departments", "SORT", "100"),
    ("departments", "SORT", True),
    ("departments", "SORT", 1.5),
    ("departments", "PARENT", 1),
    ("users", "ACTIVE", "Y"),
    ("users", "ACTIVE", 1),
    ("users", "NAME", 5),
    ("users", "DATE_REGISTER", NOON),
    ("users", "DATE_REGISTER", "01.03.2024"),
    ("users", "PERSONAL_BIRTHDAY", "2024-02-30"),
    ("users", "PERSONAL_MOBILE", 79991234567),
    ("users", "UF_DEPARTMENT", "1"),
    ("users", "UF_DEPARTMENT", [1]),
    ("users", "UF_DEPARTMENT", [None]),
    ("groups", "DATE_CREATE", DAY),
    ("groups", "DATE_CREATE", "2024-03-01T12:00:00+03:00"),
    ("groups", "DATE_CREATE", "2024-03-01T25:00:00Z"),
    ("groups", "DATE_CREATE", "2024-03-01T09:00:00"),
    ("groups", "DATE_CREATE", ""),
    ("groups", "PROJECT_DATE_START", DAY),
    ("groups", "OWNER_ID", 1),
    ("group_members", "ROLE", "X"),
    ("chats", "users", {"0": "1"}),
    ("chat_messages", "params", []),
    ("chat_messages", "params", {"FILE_ID": ["1"]}),
    ("chat_messages", "params", {"LIKE": ["1"]}),
    ("chat_messages", "reactions", {"LIKE": "2"}),
    ("chat_messages", "reactions", {"LIKE": ["1"]}),
    ("chat_messages", "author_id", 0),
    ("feed_posts", "IMPORTANT", "N"),
    ("feed_posts", "TAGS", "a,b"),
    ("tasks", "timeEstimate", "3600"),
    ("tasks", "tags", [{"title": "x"}]),
    ("tasks", "status", 5),
    ("tasks", "deadline", DAY),
    ("task_checklists", "SORT_INDEX", "0"),
    ("task_checklists", "IS_COMPLETE", "Y"),
    ("task_checklists", "MEMBERS", ["1"]),
    ("workflow_templates", "AUTO_EXECUTE", "1"),
    ("workflow_templates", "DOCUMENT_TYPE", ["crm", "CCrmDocumentDeal", "DEAL"]),
    ("workflow_templates", "TEMPLATE", "[]"),
    ("feed_posts", "DEST", "UA"),
    ("feed_posts", "DATE_PUBLISH", "2024-03-01T12:00:00+03:00"),
    ("feed_comments", "post_id", 5),
    ("crm_types", "isCategoriesEnabled", "Y"),
    ("crm_types", "entityTypeId", 180),
    ("crm_categories", "isDefault", "N"),
    ("crm_categories", "sort", "500"),
    ("crm_deals", "opportunity", "10.5"),
    ("crm_deals", "begindate", NOON),
    ("crm_deals", "createdTime", DAY),
    ("crm_deals", "opened", "Y"),
    ("crm_deals", "companyId", 5),
    ("crm_deals", "productRows", [{"productName": "x", "price": "5"}]),
    ("crm_deals", "productRows", [{"productName": "x", "taxIncluded": "N"}]),
    ("crm_deals", "productRows", {}),
    ("crm_contacts", "fm", [{"typeId": "PHONE"}]),
    ("crm_contacts", "fm", [{"typeId": "PHONE", "valueType": "WORK", "value": 5}]),
    ("crm_spitems", "parentId2", 5),
]


@pytest.mark.parametrize(("stream", "name", "value"), WRONG)
def test_a_wrong_type_is_refused_with_the_fields_name(box: Client, stream: str, name: str, value: object) -> None:
    fields = good_fields(box, stream) | {name: value}
    assert box.fault(stream, f"source:{stream}:1", **fields) == ("VALIDATION", name)


@pytest.mark.parametrize(("stream", "name"), sorted({(stream, name) for stream, name, _ in WRONG}))
def test_null_is_a_value_of_every_field_that_is_not_required(box: Client, stream: str, name: str) -> None:
    fields = good_fields(box, stream)
    if name not in fields:
        target_id = box.make(stream, f"source:{stream}:1", **fields, **{name: None})
        assert box.rows(stream)[target_id][name] is None


def test_right_types_are_taken_as_they_are(box: Client) -> None:
    row = {"productName": "x", "price": 5, "quantity": 1.5, "discountRate": 0, "taxRate": None, "taxIncluded": True}
    fields = {
        "title": "Deal",
        "opportunity": 10.5,
        "begindate": DAY,
        "createdTime": "2024-03-01T09:00:00.250Z",
        "productRows": [row | {"measureCode": "796", "sort": 10}],
        "fm": [{"id": "5", "typeId": "PHONE", "valueType": "WORK", "value": "+7 999"}],
    }
    target_id = box.make("crm_deals", "source:crm_deals:1", **fields)
    assert box.rows("crm_deals")[target_id] == fields


def test_message_params_and_reactions_are_objects(box: Client) -> None:
    fields = {"chat_id": box.chat(), "author_id": "1", "date": NOON, "params": {}, "reactions": {"LIKE": 2}}
    assert box.make("chat_messages", "source:chat:msg:1", **fields)


def test_every_personal_and_work_field_of_a_user_is_known(box: Client) -> None:
    more = {"PERSONAL_MOBILE": "1", "WORK_POSITION": "Boss", "UF_PHONE_INNER": "12", "WORK_COMPANY": None}
    assert box.send("users", "source:users:1", NAME="A", EMAIL="a@example.org", **more)["ignored"] == []


def test_a_template_carries_any_json(box: Client) -> None:
    fields = {"MODULE_ID": "crm", "ENTITY": "Deal", "DOCUMENT_TYPE": "DEAL", "NAME": "Bill"}
    template = [{"Type": "SequentialWorkflowActivity", "Children": [], "n": 1.5, "b": True}]
    more: dict[str, object] = {
        "TEMPLATE": template,
        "PARAMETERS": {},
        "VARIABLES": [],
        "CONSTANTS": None,
        "AUTO_EXECUTE": 1,
    }
    target_id = box.make("workflow_templates", "w", **fields, **more)
    assert box.rows("workflow_templates")[target_id] == fields | more


NESTED: list[object] = [
    {},
    [],
    [{}],
    [[]],
    {"a": {}, "b": []},
    {"0": "x", "1": "y"},
    {"0": {"0": []}},
    {"": 1, " ": 2},
    {"a\u0000b": 1},
    [1, 1.0, 0.1, -0.0, 1e25, 2**53, 2**62, -5],
    [True, False, None, "", "0", "1.0", "null"],
    ["\ud7ff\ue000\U0001f600 \u2028 \u0000 \x7f </script> & \\u0041"],
]


@pytest.mark.parametrize("value", NESTED, ids=repr)
def test_any_json_comes_back_as_it_was(box: Client, value: object) -> None:
    fields = {"MODULE_ID": "crm", "ENTITY": "Deal", "DOCUMENT_TYPE": "DEAL", "NAME": "Bill", "CONSTANTS": value}
    box.make("workflow_templates", "w", **fields)
    (back,) = box.picked("workflow_templates", "w")
    assert json.dumps(back["fields"]["CONSTANTS"], sort_keys=True) == json.dumps(value, sort_keys=True)
