"""References and required fields of every stream: each is refused with its own code and field."""

from collections.abc import Mapping

import pytest
from tests.import_contract.client import NOON, Client

NOBODY = "871"
CASES: list[tuple[str, dict[str, object], str]] = [
    ("departments", {"PARENT": NOBODY}, "PARENT_NOT_FOUND"),
    ("departments", {"UF_HEAD": NOBODY}, "USER_NOT_FOUND"),
    ("users", {"UF_DEPARTMENT": ["1", NOBODY]}, "PARENT_NOT_FOUND"),
    ("users", {"PERSONAL_PHOTO": NOBODY}, "FILE_NOT_FOUND"),
    ("groups", {"OWNER_ID": NOBODY}, "OWNER_NOT_FOUND"),
    ("groups", {"SCRUM_MASTER_ID": NOBODY}, "USER_NOT_FOUND"),
    ("groups", {"IMAGE": NOBODY}, "FILE_NOT_FOUND"),
    ("group_members", {"GROUP_ID": NOBODY}, "PARENT_NOT_FOUND"),
    ("group_members", {"USER_ID": NOBODY}, "USER_NOT_FOUND"),
    ("chats", {"owner": NOBODY}, "OWNER_NOT_FOUND"),
    ("chats", {"owner": "0"}, "OWNER_NOT_FOUND"),
    ("chats", {"manager_list": [NOBODY]}, "USER_NOT_FOUND"),
    ("chats", {"users": ["1", NOBODY]}, "USER_NOT_FOUND"),
    ("chats", {"avatar": NOBODY}, "FILE_NOT_FOUND"),
    ("chats", {"entity_id": NOBODY, "entity_type": "SONET_GROUP"}, "PARENT_NOT_FOUND"),
    ("chat_messages", {"chat_id": NOBODY}, "CHAT_NOT_FOUND"),
    ("chat_messages", {"author_id": NOBODY}, "USER_NOT_FOUND"),
    ("chat_messages", {"files": [NOBODY]}, "FILE_NOT_FOUND"),
    ("feed_posts", {"AUTHOR_ID": NOBODY}, "USER_NOT_FOUND"),
    ("feed_posts", {"DEST": ["UA", f"U{NOBODY}"]}, "USER_NOT_FOUND"),
    ("feed_posts", {"DEST": [f"SG{NOBODY}"]}, "PARENT_NOT_FOUND"),
    ("feed_posts", {"DEST": [f"DR{NOBODY}"]}, "PARENT_NOT_FOUND"),
    ("feed_posts", {"DEST": ["X1"]}, "VALIDATION"),
    ("feed_posts", {"FILES": [NOBODY]}, "FILE_NOT_FOUND"),
    ("feed_comments", {"post_id": NOBODY}, "PARENT_NOT_FOUND"),
    ("feed_comments", {"author_id": "0"}, "USER_NOT_FOUND"),
    ("feed_comments", {"files": [NOBODY]}, "FILE_NOT_FOUND"),
    ("tasks", {"createdBy": NOBODY}, "USER_NOT_FOUND"),
    ("tasks", {"responsibleId": NOBODY}, "USER_NOT_FOUND"),
    ("tasks", {"changedBy": NOBODY}, "USER_NOT_FOUND"),
    ("tasks", {"closedBy": NOBODY}, "USER_NOT_FOUND"),
    ("tasks", {"accomplices": [NOBODY]}, "USER_NOT_FOUND"),
    ("tasks", {"auditors": [NOBODY]}, "USER_NOT_FOUND"),
    ("tasks", {"groupId": NOBODY}, "PARENT_NOT_FOUND"),
    ("tasks", {"parentId": NOBODY}, "PARENT_NOT_FOUND"),
    ("tasks", {"ufTaskWebdavFiles": [NOBODY]}, "FILE_NOT_FOUND"),
    ("tasks", {"ufCrmTask": [f"D_{NOBODY}"]}, "PARENT_NOT_FOUND"),
    ("tasks", {"ufCrmTask": [f"L_{NOBODY}"]}, "PARENT_NOT_FOUND"),
    ("tasks", {"ufCrmTask": [f"T9c_{NOBODY}"]}, "TYPE_NOT_FOUND"),
    ("tasks", {"ufCrmTask": ["D12"]}, "VALIDATION"),
    ("task_checklists", {"TASK_ID": NOBODY}, "PARENT_NOT_FOUND"),
    ("task_checklists", {"PARENT_ID": NOBODY}, "PARENT_NOT_FOUND"),
    ("task_checklists", {"CREATED_BY": NOBODY}, "USER_NOT_FOUND"),
    ("task_checklists", {"TOGGLED_BY": NOBODY}, "USER_NOT_FOUND"),
    ("task_checklists", {"MEMBERS": [{"ID": NOBODY, "TYPE": "A"}]}, "USER_NOT_FOUND"),
    ("task_checklists", {"MEMBERS": [{"TYPE": "A"}]}, "VALIDATION"),
    ("task_comments", {"task_id": NOBODY}, "PARENT_NOT_FOUND"),
    ("task_comments", {"author_id": NOBODY}, "USER_NOT_FOUND"),
    ("task_comments", {"files": [NOBODY]}, "FILE_NOT_FOUND"),
    ("workflow_templates", {"USER_ID": NOBODY}, "USER_NOT_FOUND"),
    ("crm_categories", {"entityTypeId": "180"}, "TYPE_NOT_FOUND"),
    ("crm_companies", {"assignedById": NOBODY}, "USER_NOT_FOUND"),
    ("crm_contacts", {"companyId": NOBODY}, "PARENT_NOT_FOUND"),
    ("crm_contacts", {"companyIds": [NOBODY]}, "PARENT_NOT_FOUND"),
    ("crm_deals", {"contactIds": [NOBODY]}, "PARENT_NOT_FOUND"),
    ("crm_deals", {"observers": [NOBODY]}, "USER_NOT_FOUND"),
    ("crm_deals", {"categoryId": NOBODY}, "PARENT_NOT_FOUND"),
    ("crm_deals", {"stageId": "C5:NEW"}, "STAGE_NOT_FOUND"),
    ("crm_spitems", {"entityTypeId": "180"}, "TYPE_NOT_FOUND"),
    ("crm_spitems", {"parentId2": NOBODY}, "PARENT_NOT_FOUND"),
    ("crm_spitems", {"parentId180": NOBODY}, "TYPE_NOT_FOUND"),
    ("crm_spitems", {"stageId": "DT180_1:NEW"}, "STAGE_NOT_FOUND"),
]


def good_fields(box: Client, stream: str) -> dict[str, object]:
    """What the stream requires, with everything it refers to on the box."""
    fields = {"author_id": "1", "date": NOON}
    make: dict[str, Mapping[str, object]] = {
        "departments": {"NAME": "Sales", "PARENT": "1"},
        "users": {"NAME": "Anna", "EMAIL": "anna@example.org"},
        "groups": {"NAME": "Sales", "OWNER_ID": "1"},
        "chats": {"type": "chat"},
        "feed_posts": {"AUTHOR_ID": "1", "DATE_PUBLISH": NOON},
        "tasks": {"title": "Do it", "createdBy": "1", "responsibleId": "1"},
        "workflow_templates": {"MODULE_ID": "crm", "ENTITY": "Deal", "DOCUMENT_TYPE": "DEAL", "NAME": "Bill"},
        "crm_types": {"title": "Claims"},
        "crm_categories": {"entityTypeId": "2", "name": "Retail"},
        "crm_stages": {"ENTITY_ID": "SOURCE", "STATUS_ID": "FAIR", "NAME": "Fair"},
    }
    parents = {
        "group_members": lambda: {"GROUP_ID": box.group(), "USER_ID": "1", "ROLE": "K"},
        "chat_messages": lambda: {"chat_id": box.chat(), **fields},
        "feed_comments": lambda: {"post_id": box.make("feed_posts", "p", **make["feed_posts"]), **fields},
        "task_checklists": lambda: {"TASK_ID": box.task(), "TITLE": "First"},
        "task_comments": lambda: {"task_id": box.task(), **fields},
        "crm_spitems": lambda: {"entityTypeId": box.smart_type()},
    }
    return dict(parents[stream]() if stream in parents else make.get(stream, {}))


@pytest.mark.parametrize(("stream", "wrong", "code"), CASES)
def test_a_reference_to_nothing_is_refused_by_name(
    box: Client, stream: str, wrong: dict[str, object], code: str
) -> None:
    fields = good_fields(box, stream) | wrong
    assert box.fault(stream, f"source:{stream}:1", **fields) == (code, next(iter(wrong)))


REQUIRED = {
    "departments": ("NAME",),
    "users": ("NAME", "EMAIL"),
    "groups": ("NAME", "OWNER_ID"),
    "group_members": ("GROUP_ID", "USER_ID", "ROLE"),
    "chats": ("type",),
    "chat_messages": ("chat_id", "author_id", "date"),
    "feed_posts": ("AUTHOR_ID", "DATE_PUBLISH"),
    "feed_comments": ("post_id", "author_id", "date"),
    "tasks": ("title", "createdBy", "responsibleId"),
    "task_checklists": ("TASK_ID", "TITLE"),
    "task_comments": ("task_id", "author_id", "date"),
    "workflow_templates": ("MODULE_ID", "ENTITY", "DOCUMENT_TYPE", "NAME"),
    "crm_types": ("title",),
    "crm_categories": ("entityTypeId", "name"),
    "crm_stages": ("ENTITY_ID", "STATUS_ID", "NAME"),
    "crm_spitems": ("entityTypeId",),
    "crm_companies": (),
    "crm_contacts": (),
    "crm_deals": (),
}


@pytest.mark.parametrize(("stream", "name"), [(stream, name) for stream, names in REQUIRED.items() for name in names])
@pytest.mark.parametrize("empty", [None, "absent", ""])
def test_what_a_stream_requires_must_be_there(box: Client, stream: str, name: str, empty: str | None) -> None:
    fields = good_fields(box, stream) | {name: empty}
    if empty == "absent":
        del fields[name]
    assert box.fault(stream, f"source:{stream}:1", **fields) == ("VALIDATION", name)


@pytest.mark.parametrize("stream", REQUIRED)
def test_the_required_fields_are_enough(box: Client, stream: str) -> None:
    fields = good_fields(box, stream)
    target_id = box.make(stream, f"source:{stream}:1", **fields)
    assert box.rows(stream)[target_id] == fields


@pytest.mark.parametrize("stream", ["chat_messages", "task_comments"])
def test_the_system_may_be_an_author(box: Client, stream: str) -> None:
    assert box.make(stream, "k", **good_fields(box, stream) | {"author_id": "0"})


def test_references_to_what_is_there_are_taken(box: Client) -> None:
    user, group, file = box.user(), box.group(), box.file()
    deal = box.make("crm_deals", "d", title="Deal", stageId="WON")
    smart = box.smart_type()
    claim = box.make("crm_spitems", "s", entityTypeId=smart, parentId2=deal)
    assert box.make("crm_spitems", "s2", entityTypeId=smart, **{f"parentId{smart}": claim})
    links = [f"D_{deal}", f"T{int(smart):x}_{claim}"]
    fields = {"title": "T", "createdBy": user, "responsibleId": user, "groupId": group, "ufTaskWebdavFiles": [file]}
    assert box.make("tasks", "t", ufCrmTask=links, **fields)
    dest = ["UA", f"U{user}", f"SG{group}", "DR1"]
    assert box.make("feed_posts", "p", AUTHOR_ID=user, DATE_PUBLISH=NOON, DEST=dest, FILES=[file])
    assert box.make("chats", "c", type="chat", owner=user, entity_type="SONET_GROUP", entity_id=group)


def test_an_item_of_another_smart_process_is_no_parent(box: Client) -> None:
    contracts, claims = box.smart_type("Contracts"), box.smart_type("Claims")
    claim = box.make("crm_spitems", "s", entityTypeId=claims)
    wrong = {f"parentId{contracts}": claim}
    assert box.fault("crm_spitems", "s2", entityTypeId=claims, **wrong) == ("PARENT_NOT_FOUND", f"parentId{contracts}")
