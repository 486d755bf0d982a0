"""Calls, activities, comments, notes and entries of the log belong to records of the CRM."""

import pytest
from tests.import_contract.client import JSON, NOON, Client

NOBODY = "871"
REQUIRED = {
    "crm_calls": ("CALL_ID", "CALL_TYPE", "CALL_START_DATE"),
    "crm_activities": ("OWNER", "TYPE_ID"),
    "crm_comments": ("OWNERS", "AUTHOR_ID", "CREATED"),
    "crm_notes": ("text",),
    "crm_logs": ("OWNER", "title"),
}


def deal(box: Client) -> JSON:
    return {"ownerTypeId": 2, "ownerId": box.make("crm_deals", "deal", title="Deal")}


def good_fields(box: Client, stream: str) -> JSON:
    if stream == "crm_calls":
        return {"CALL_ID": "externalCall.1", "CALL_TYPE": 1, "CALL_START_DATE": NOON}
    owner = deal(box)
    activity = {"OWNER": owner, "TYPE_ID": 6, "PROVIDER_ID": "CRM_TODO", "PROVIDER_TYPE_ID": "TODO", "SUBJECT": "Call"}
    if stream == "crm_notes":
        return {"activityId": box.make("crm_activities", "activity", **activity), "text": "Note"}
    found: dict[str, JSON] = {
        "crm_activities": activity,
        "crm_comments": {"OWNERS": [owner], "AUTHOR_ID": "1", "CREATED": NOON},
        "crm_logs": {"OWNER": owner, "title": "Exchange"},
    }
    return found[stream]


@pytest.mark.parametrize("stream", REQUIRED)
def test_the_required_fields_are_enough_and_each_must_be_there(box: Client, stream: str) -> None:
    fields = good_fields(box, stream)
    for name in REQUIRED[stream]:
        assert box.fault(stream, "k", **{**fields, name: None}) == ("VALIDATION", name)
    made = box.make(stream, "k", **fields)
    assert {name: box.rows(stream)[made][name] for name in fields} == fields
    assert box.delete(stream, "k") == ["deleted"]


@pytest.mark.parametrize(
    ("stream", "wrong", "code"),
    [
        ("crm_calls", {"PORTAL_USER_ID": NOBODY}, "USER_NOT_FOUND"),
        ("crm_calls", {"owner": {"ownerTypeId": 3, "ownerId": NOBODY}}, "PARENT_NOT_FOUND"),
        ("crm_calls", {"RECORD_FILE": NOBODY}, "FILE_NOT_FOUND"),
        ("crm_calls", {"CRM_ACTIVITY_ID": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_activities", {"OWNER": {"ownerTypeId": 2, "ownerId": NOBODY}}, "PARENT_NOT_FOUND"),
        ("crm_activities", {"OWNER": {"ownerTypeId": "2", "ownerId": "1"}}, "VALIDATION"),
        ("crm_activities", {"BINDINGS": [{"ownerTypeId": 4, "ownerId": NOBODY}]}, "PARENT_NOT_FOUND"),
        ("crm_activities", {"COMMUNICATIONS": [{"VALUE": "+7"}]}, "VALIDATION"),
        ("crm_activities", {"TYPE_ID": "6"}, "VALIDATION"),
        ("crm_activities", {"DEADLINE": "tomorrow"}, "VALIDATION"),
        ("crm_activities", {"RESPONSIBLE_ID": NOBODY}, "USER_NOT_FOUND"),
        ("crm_activities", {"FILES": [NOBODY]}, "FILE_NOT_FOUND"),
        ("crm_activities", {"SETTINGS": []}, "VALIDATION"),
        ("crm_comments", {"OWNERS": []}, "VALIDATION"),
        ("crm_comments", {"OWNERS": [{"ownerTypeId": 2, "ownerId": NOBODY}]}, "PARENT_NOT_FOUND"),
        ("crm_comments", {"AUTHOR_ID": NOBODY}, "USER_NOT_FOUND"),
        ("crm_notes", {"activityId": None}, "VALIDATION"),
        ("crm_notes", {"activityId": NOBODY}, "PARENT_NOT_FOUND"),
        ("crm_logs", {"OWNER": {"ownerTypeId": 2, "ownerId": NOBODY}}, "PARENT_NOT_FOUND"),
    ],
)
def test_what_is_wrong_is_refused_by_name(box: Client, stream: str, wrong: JSON, code: str) -> None:
    fields = good_fields(box, stream) | wrong
    assert box.fault(stream, "k", **fields) == (code, next(iter(wrong)))


def test_an_address_is_kept_without_its_record(box: Client) -> None:
    found = [{"TYPE": "EMAIL", "VALUE": "ann@client.example", "owner": None}]
    made = box.make("crm_activities", "a", **good_fields(box, "crm_activities"), COMMUNICATIONS=found)
    (kept,) = box.rows("crm_activities")[made]["COMMUNICATIONS"]
    assert (kept["TYPE"], kept["VALUE"], kept.get("owner")) == ("EMAIL", "ann@client.example", None)


def test_a_call_learns_of_its_activity_later(box: Client) -> None:
    call = good_fields(box, "crm_calls")
    box.make("crm_calls", "c", **call)
    activity = box.make(
        "crm_activities", "a", **{**good_fields(box, "crm_activities"), "TYPE_ID": 2, "ORIGIN_ID": "VI_externalCall.1"}
    )
    answer = box.send("crm_calls", "c", **call, CRM_ACTIVITY_ID=activity)
    assert answer["status"] == "updated"
    assert box.rows("crm_calls")[answer["id"]]["CRM_ACTIVITY_ID"] == activity


def test_a_comment_belongs_to_several_records(box: Client) -> None:
    fields = good_fields(box, "crm_comments") | {"COMMENT": "Text"}
    owners = [*fields["OWNERS"], {"ownerTypeId": 3, "ownerId": box.make("crm_contacts", "contact", name="Ann")}]
    made = box.make("crm_comments", "c", **{**fields, "OWNERS": owners})
    there = box.rows("crm_comments")[made]["OWNERS"]
    assert sorted((one["ownerTypeId"], one["ownerId"]) for one in there) == [
        (one["ownerTypeId"], one["ownerId"]) for one in owners
    ]
