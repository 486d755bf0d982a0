"""A box takes tasks, their checklists and comments as the contract spells them; a portal may lack the newer methods."""

import hashlib
import json
from typing import Any

from tests.b24sim.client import call, result

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.native.task_habits import TaskHabits
from b24sim.options import parser
from b24sim.portal_setup import portal_from

AT = "2024-03-01T09:00:00Z"
TASK = {
    "title": "T", "description": "d", "status": "5", "priority": "1", "createdBy": "1", "responsibleId": "1",
    "changedBy": "1", "closedBy": None, "accomplices": ["1"], "auditors": [], "groupId": None, "parentId": None,
    "createdDate": AT, "changedDate": AT, "closedDate": AT, "dateStart": None, "deadline": AT, "startDatePlan": None,
    "endDatePlan": None, "timeEstimate": 3600, "tags": ["a", "b"], "ufCrmTask": [], "ufTaskWebdavFiles": [],
}  # fmt: skip


def sent(box: Running, stream: str, key: str, fields: dict[str, Any]) -> dict[str, Any]:
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    body = {"stream": stream, "run": "r", "dry_run": False, "items": [{"key": key, "digest": digest, "fields": fields}]}
    item: dict[str, Any] = result(box, "import.tasks.batch", body)["items"][0]
    return item


def test_a_box_takes_every_field_of_the_contract(box: Running) -> None:
    field = {"code": "UF_TASK_IS_VIP_2", "type": "boolean", "multiple": False, "mandatory": False, "sort": 100,
             "label": {}, "settings": {}, "options": []}  # fmt: skip
    made = result(box, "import.tasks.fields", {"stream": "tasks", "type": None, "fields": [field]})["fields"][0]
    assert made["status"] == "created"
    task = sent(box, "tasks", "s:tasks:1", TASK | {made["target"]: True})
    assert (task["status"], task["ignored"]) == ("created", [])
    late = sent(box, "tasks", "s:tasks:1", TASK | {"parentId": task["id"]})
    assert (late["status"], late["id"]) == ("updated", task["id"])
    root = {"TASK_ID": task["id"], "PARENT_ID": None, "TITLE": "List", "SORT_INDEX": 0, "IS_COMPLETE": False,
            "IS_IMPORTANT": True, "CREATED_BY": "1", "TOGGLED_BY": None, "TOGGLED_DATE": None,
            "MEMBERS": [{"ID": "1", "TYPE": "A"}]}  # fmt: skip
    parent = sent(box, "task_checklists", "s:task_checklists:1", root)
    child = sent(box, "task_checklists", "s:task_checklists:2", root | {"PARENT_ID": parent["id"], "TOGGLED_DATE": AT})
    assert (parent["ignored"], child["status"]) == ([], "created")
    fields = {"task_id": task["id"], "author_id": "0", "date": AT, "text": "", "files": []}
    comment = sent(box, "task_comments", "s:task_comments:1", fields)
    assert (comment["status"], comment["ignored"]) == ("created", [])


def test_a_box_refuses_what_refers_to_nothing(box: Running) -> None:
    refused = {
        "USER_NOT_FOUND": TASK | {"responsibleId": "999"},
        "PARENT_NOT_FOUND": TASK | {"ufCrmTask": ["D_12"]},
        "FILE_NOT_FOUND": TASK | {"ufTaskWebdavFiles": ["12"]},
        "VALIDATION": TASK | {"timeEstimate": "3600"},
    }
    for code, fields in refused.items():
        assert sent(box, "tasks", f"s:tasks:{code}", fields)["error"]["code"] == code
    columns = {"task_id": "999", "author_id": "1", "date": AT, "text": "x", "files": []}
    assert sent(box, "task_comments", "s:task_comments:9", columns)["error"]["code"] == "PARENT_NOT_FOUND"


def test_an_older_portal_has_only_the_older_list() -> None:
    portal = Portal(Company(Plan(tasks=20)), without=("tasks.*",), clock=ManualClock())
    with serve(portal) as running:
        assert result(running, "method.get", {"name": "tasks.task.list"})["isExisting"] is False
        assert call(running, "tasks.task.list").json["error"] == "ERROR_METHOD_NOT_FOUND"
        assert len(result(running, "task.item.list", {"ORDER": {"ID": "asc"}})) == 20


def test_the_older_lists_name_no_chats_unless_the_portal_does() -> None:
    for habits in (TaskHabits(), TaskHabits(old_lists_name_chats=True)):
        portal = Portal(Company(Plan(tasks=20)), clock=ManualClock(), task_habits=habits)
        with serve(portal) as running:
            listed = result(
                running, "task.item.list", {"ORDER": {"ID": "asc"}, "F": {}, "P": {}, "S": ["*", "CHAT_ID"]}
            )
            got = result(running, "task.item.getdata", {"TASKID": listed[0]["ID"]})
            assert [("CHAT_ID" in row) for row in (*listed, got)] == [habits.old_lists_name_chats] * 21
            shown = result(running, "tasks.task.list", {"select": ["CHAT_ID"]})["tasks"]
            assert any(row["chatId"] for row in shown)


def test_the_chat_of_a_task_is_found_by_the_kind_it_has() -> None:
    portal = Portal(Company(Plan(tasks=20)), clock=ManualClock())
    chat = next(chat for chat in portal.company.chats.values() if chat.id >= 500_000)
    with serve(portal) as running:
        for kind, other in (("TASKS_TASK", "TASKS"), ("TASKS", "TASKS_TASK")):
            chat.entity_type = kind
            asked = {"ENTITY_ID": chat.entity_id}
            assert result(running, "im.chat.get", {"ENTITY_TYPE": kind, **asked}) == {"ID": chat.id}
            assert result(running, "im.chat.get", {"ENTITY_TYPE": other, **asked}) is None


def test_tasks_on_the_command_line() -> None:
    for words, count in (([], 0), (["--tasks", "7"], 7), (["--tasks"], 60), (["--tasks", "0"], 0)):
        assert len(portal_from(parser().parse_args(["--users", "20", *words])).company.tasks.table) == count
    closed = portal_from(parser().parse_args(["--tasks", "9", "--closed-task-chats"]))
    assert closed.company.task_chat_readers == frozenset()
