"""A box takes tasks, checklists and comments by its own methods, with what each of them keeps."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.b24sim.client import batch, call, control, result

from b24sim import ManualClock, Portal, Running, TaskHabits, serve

OLD, LATER = "2021-03-01T10:00:00+03:00", "2021-04-01T10:00:00+03:00"
CLOSED = {
    "TITLE": "Prepare", "RESPONSIBLE_ID": 1, "CREATED_BY": 1, "CREATED_DATE": OLD, "CHANGED_DATE": LATER, "STATUS": 5,
    "CLOSED_DATE": LATER, "CLOSED_BY": 1, "XML_ID": "src:8", "TAGS": ["a", "b"], "AUDITORS": [], "DEADLINE": LATER,
}  # fmt: skip


@pytest.fixture
def with_chats() -> Iterator[Running]:
    with serve(Portal(role="box", clock=ManualClock(), task_habits=TaskHabits(chats=True))) as running:
        yield running


def added(box: Running, **fields: Any) -> int:
    return int(result(box, "tasks.task.add", {"fields": CLOSED | fields})["task"]["id"])


def colleague(box: Running) -> int:
    person = {"EMAIL": "c@company.example", "UF_DEPARTMENT": [1], "NAME": "C"}
    return int(result(box, "user.add", person))


def test_a_task_made_closed_keeps_its_dates_and_is_found_by_its_stamp(box: Running) -> None:
    number = added(box, GUID="{mine}", ID=7)
    body = {"filter": {"XML_ID": "src:8"}, "select": ["*", "TAGS"]}
    task = result(box, "tasks.task.list", body)["tasks"][0]
    assert (task["id"], task["createdDate"], task["closedDate"]) == (str(number), OLD, LATER)
    assert (task["status"], task["xmlId"], task["deadline"]) == ("5", "src:8", LATER)
    assert [tag["title"] for tag in task["tags"].values()] == ["a", "b"]
    assert task["guid"] != "{mine}"


def test_dates_are_lost_where_a_box_does_not_keep_them() -> None:
    habits = TaskHabits(keeps_dates=False)
    with serve(Portal(role="box", clock=ManualClock(), task_habits=habits)) as running:
        task = result(running, "tasks.task.add", {"fields": CLOSED})["task"]
        assert task["createdDate"] == task["closedDate"] == result(running, "server.time")
        assert task["deadline"] == LATER


@pytest.mark.parametrize("wrong", [{"TITLE": ""}, {"RESPONSIBLE_ID": 99}, {"STATUS": 9}, {"PARENT_ID": 5}])
def test_a_task_that_makes_no_sense_is_refused(box: Running, wrong: dict[str, Any]) -> None:
    reply = call(box, "tasks.task.add", {"fields": CLOSED | wrong})
    assert (reply.status, reply.json["error"]) == (400, "ERROR_CORE")


def test_a_change_of_status_is_the_callers_and_happens_now(box: Running) -> None:
    number = added(box, STATUS=2, CLOSED_DATE=None)
    body = {"taskId": number, "fields": {"STATUS": 5, "CLOSED_DATE": OLD}}
    assert result(box, "tasks.task.update", body)["task"]["closedDate"] == result(box, "server.time")
    later = {"taskId": number, "fields": {"CHANGED_DATE": OLD}}
    assert result(box, "tasks.task.update", later)["task"]["changedDate"] == OLD


def test_people_of_a_task_are_notified(box: Running) -> None:
    other = colleague(box)
    added(box, RESPONSIBLE_ID=other)
    assert control(box, "native")["noise"] == {
        "invitation": 1,
        "notification": 1,
        "service comment": 1,
        "automation": 1,
    }


def test_a_checklist_hangs_together_and_brings_its_members_into_the_task(box: Running) -> None:
    task, other = added(box), colleague(box)
    root = result(box, "task.checklistitem.add", {"TASKID": task, "FIELDS": {"TITLE": "List", "PARENT_ID": 0}})
    fields = {"TITLE": "Item", "PARENT_ID": root, "IS_COMPLETE": "Y", "MEMBERS": {str(other): {"TYPE": "A"}}}
    result(box, "task.checklistitem.add", {"TASKID": task, "FIELDS": fields})
    stray = result(box, "task.checklistitem.add", {"TASKID": task, "FIELDS": {"TITLE": "Stray", "PARENT_ID": 5}})
    items = result(box, "task.checklistitem.getlist", {"TASKID": task, "ORDER": {"ID": "asc"}})
    assert [(i["TITLE"], i["PARENT_ID"]) for i in items] == [("List", 0), ("Item", str(root)), ("Stray", 0)]
    assert (items[1]["TOGGLED_BY"], items[1]["TOGGLED_DATE"]) == ("1", result(box, "server.time"))
    assert result(box, "tasks.task.get", {"taskId": task})["task"]["accomplices"] == [str(other)]
    assert result(box, "task.checklistitem.delete", {"TASKID": task, "ITEMID": stray}) is True
    assert call(box, "task.checklistitem.add", {"TASKID": task, "FIELDS": {}}).json["error"] == "ERROR_CORE"


def test_a_comment_on_the_forum_keeps_author_and_date(box: Running) -> None:
    other = colleague(box)
    task = added(box, AUDITORS=[other])
    fields = {"POST_MESSAGE": "said", "AUTHOR_ID": other, "POST_DATE": OLD}
    result(box, "task.commentitem.add", {"TASKID": task, "FIELDS": fields})
    row = result(box, "task.commentitem.getlist", {"TASKID": task})[0]
    assert (row["AUTHOR_ID"], row["POST_DATE"], row["POST_MESSAGE"]) == (str(other), OLD, "said")
    assert result(box, "tasks.task.get", {"taskId": task})["task"]["commentsCount"] == "1"
    missing = {"POST_MESSAGE": "x", "UF_FORUM_MESSAGE_DOC": ["n5"]}
    assert call(box, "task.commentitem.add", {"TASKID": task, "FIELDS": missing}).json["error"] == "ERROR_CORE"


def test_a_comment_in_a_chat_is_the_callers_and_said_now(with_chats: Running) -> None:
    task, other = added(with_chats), colleague(with_chats)
    fields = {"POST_MESSAGE": "said", "AUTHOR_ID": other, "POST_DATE": OLD}
    result(with_chats, "task.commentitem.add", {"TASKID": task, "FIELDS": fields})
    assert result(with_chats, "task.commentitem.getlist", {"TASKID": task}) == []
    chat = result(with_chats, "im.chat.get", {"ENTITY_TYPE": "TASKS_TASK", "ENTITY_ID": str(task)})["ID"]
    answer = result(with_chats, "im.dialog.messages.get", {"DIALOG_ID": f"chat{chat}", "LAST_ID": 0})["messages"]
    answer = [(row["author_id"], row["text"], row["date"]) for row in answer if row["author_id"]]
    assert answer == [(1, "said", result(with_chats, "server.time"))]


def test_custom_fields_of_tasks_are_of_four_types_only(box: Running) -> None:
    field = {"USER_TYPE_ID": "string", "FIELD_NAME": "REVIEW", "EDIT_FORM_LABEL": {"ru": "Проверка"}}
    assert result(box, "task.item.userfield.add", {"PARAMS": field}) > 0
    assert call(box, "task.item.userfield.add", {"PARAMS": field | {"USER_TYPE_ID": "enumeration"}}).status == 400
    codes = [row["FIELD_NAME"] for row in result(box, "task.item.userfield.getlist", [{"ID": "asc"}])]
    assert codes[-1] == "UF_REVIEW"
    number = added(box, UF_REVIEW="seen", UF_CRM_TASK=["D_5"])
    task = result(box, "tasks.task.get", {"taskId": number, "select": ["ID", "UF_REVIEW", "UF_CRM_TASK"]})["task"]
    assert (task["ufReview"], task["ufCrmTask"]) == ("seen", ["D_5"])


def test_a_deleted_task_is_gone_with_all_below_it(box: Running) -> None:
    task = added(box)
    result(box, "task.checklistitem.add", {"TASKID": task, "FIELDS": {"TITLE": "List"}})
    assert result(box, "tasks.task.delete", {"taskId": task}) == {"task": True}
    assert result(box, "tasks.task.get", {"taskId": task}) == []
    assert call(box, "tasks.task.delete", {"taskId": task}).json["error"] == "1048582"
    records = control(box, "native")["records"]
    assert {(record["kind"], record["deleted"]) for record in records} == {("tasks", True), ("checklists", True)}


def test_what_a_box_says_of_a_task_stands_among_the_comments(box: Running, with_chats: Running) -> None:
    task = added(box)
    result(box, "task.checklistitem.add", {"TASKID": task, "FIELDS": {"TITLE": "List"}})
    rows = result(box, "task.commentitem.getlist", {"TASKID": task, "ORDER": {"ID": "asc"}})
    assert [row["POST_MESSAGE"] for row in rows] == ["Задача создана", "Изменён чек-лист задачи"]
    assert control(box, "native")["noise"]["service comment"] == 2
    chat = result(with_chats, "tasks.task.get", {"taskId": added(with_chats)})["task"]["chatId"]
    answer = result(with_chats, "im.dialog.messages.get", {"DIALOG_ID": f"chat{chat}", "LAST_ID": 0})["messages"]
    assert [(row["author_id"], row["text"]) for row in answer] == [(0, "Задача создана")]


def test_comments_and_checklists_move_the_times_of_their_task(box: Running) -> None:
    comment = {"POST_MESSAGE": "said", "POST_DATE": OLD}
    for method, fields in (("commentitem", comment), ("checklistitem", {"TITLE": "List"})):
        task = added(box)
        result(box, f"task.{method}.add", {"TASKID": task, "FIELDS": fields})
        answer = result(box, "tasks.task.get", {"taskId": task})["task"]
        assert answer["changedDate"] == answer["activityDate"] == result(box, "server.time")


def test_a_checklist_takes_six_fields_and_refuses_others(box: Running) -> None:
    task = added(box)
    root = result(box, "task.checklistitem.add", {"TASKID": task, "FIELDS": {"TITLE": "List"}})
    for name in ("CREATED_BY", "TOGGLED_DATE", "ATTACHMENTS"):
        fields = {"TITLE": "x", name: 1}
        assert call(box, "task.checklistitem.add", {"TASKID": task, "FIELDS": fields}).json["error"] == "ERROR_CORE"
        wrong = {"TASKID": task, "ITEMID": root, "FIELDS": fields}
        assert call(box, "task.checklistitem.update", wrong).json["error"] == "ERROR_CORE"


def test_planned_times_come_together_or_not_at_all(box: Running) -> None:
    body = {"fields": CLOSED | {"START_DATE_PLAN": OLD}}
    assert call(box, "tasks.task.add", body).json["error"] == "ERROR_CORE"
    assert added(box, START_DATE_PLAN=OLD, END_DATE_PLAN=LATER)
    assert added(box, START_DATE_PLAN="", END_DATE_PLAN="")


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("2021-04-01T10:00:00+03:00", "2021-04-01T10:00:00+03:00"),
        ("2021-04-01T21:00:00+03:00", "2021-04-02T09:00:00+03:00"),
        ("2021-04-02T19:00:00+03:00", "2021-04-05T09:00:00+03:00"),
        ("2021-04-03T05:00:00+03:00", "2021-04-05T09:00:00+03:00"),
    ],
)
def test_a_deadline_is_moved_into_working_hours_where_they_count(box: Running, asked: str, kept: str) -> None:
    body = {"fields": CLOSED | {"DEADLINE": asked, "MATCH_WORK_TIME": "Y"}}
    assert result(box, "tasks.task.add", body)["task"]["deadline"] == kept
    number = added(box, DEADLINE=asked)
    later = {"taskId": number, "fields": {"MATCH_WORK_TIME": "Y"}}
    assert result(box, "tasks.task.update", later)["task"]["deadline"] == asked
    both = {"taskId": number, "fields": {"MATCH_WORK_TIME": "Y", "DEADLINE": asked}}
    assert result(box, "tasks.task.update", both)["task"]["deadline"] == kept


def test_a_box_may_not_filter_by_a_stamp_and_then_lists_everything() -> None:
    with serve(Portal(role="box", clock=ManualClock(), task_habits=TaskHabits(filters_xml_id=False))) as running:
        added(running)
        other = added(running, XML_ID="src:9")
        wish = {"filter": {"XML_ID": "src:8"}, "select": ["ID", "XML_ID"], "order": {"ID": "desc"}}
        rows = result(running, "tasks.task.list", wish)["tasks"]
        assert [row["xmlId"] for row in rows] == ["src:9", "src:8"]
        assert rows[0]["id"] == str(other)


def test_a_box_may_look_for_the_start_of_a_list_in_the_address_only() -> None:
    with serve(Portal(role="box", clock=ManualClock(), task_habits=TaskHabits(start_from_address=True))) as running:
        for number in range(51):
            added(running, XML_ID=f"src:{number}")
        asked = {"select": ["ID"], "order": {"ID": "asc"}, "start": 50}
        first = call(running, "tasks.task.list", asked).json
        assert (len(first["result"]["tasks"]), first["next"]) == (50, 50)
        assert len(result(running, "tasks.task.list?start=50", asked)["tasks"]) == 1
        inside = batch(running, {"c0": "tasks.task.list?select[]=ID&start=50"})
        assert len(inside["result"]["c0"]["tasks"]) == 50


def test_an_author_must_see_the_task_and_may_open_the_files(box: Running) -> None:
    task, other = added(box), colleague(box)
    comment = {"TASKID": task, "FIELDS": {"POST_MESSAGE": "said", "AUTHOR_ID": other}}
    assert "Недостаточно прав" in call(box, "task.commentitem.add", comment).json["error_description"]
    result(box, "tasks.task.update", {"taskId": task, "fields": {"AUDITORS": [other]}})
    assert result(box, "task.commentitem.add", comment) > 0
    own = result(box, "disk.storage.getlist", {"filter": {"ENTITY_TYPE": "user"}})[0]["ROOT_OBJECT_ID"]
    folder = result(box, "disk.folder.addsubfolder", {"id": own, "data": {"NAME": "x"}})["ID"]
    body = {"id": folder, "data": {"NAME": "a.txt"}, "fileContent": ["a.txt", "QQ=="]}
    file = result(box, "disk.folder.uploadfile", body)["ID"]
    comment["FIELDS"] = {"POST_MESSAGE": "see", "AUTHOR_ID": other, "UF_FORUM_MESSAGE_DOC": [f"n{file}"]}
    assert "Файл не найден" in call(box, "task.commentitem.add", comment).json["error_description"]
    sharing = {"id": folder, "userId": other, "taskName": "disk_access_read"}
    assert result(box, "disk.folder.shareToUser", sharing) is True
    assert result(box, "task.commentitem.add", comment) > 0
    assert call(box, "disk.folder.shareToUser", sharing | {"taskName": "x"}).json["error"] == "ACCESS_DENIED"
