"""Checklists and comments of tasks, the older methods, and chats of tasks."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.b24sim.client import batch, call, control, result, send

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.company.tasks_comments import Where, talk_of
from b24sim.company.tasks_crew import place_of, task_id

Json = dict[str, Any]
PLAN = Plan(users=60, groups=12, chats=30, messages=600, files=30, tasks=240, seed=3)


@pytest.fixture(scope="session")
def busy() -> Iterator[Running]:
    with serve(Portal(Company(PLAN), webhooks=(1, 2, 5), clock=ManualClock())) as running:
        yield running


@pytest.fixture
def changing() -> Iterator[Running]:
    with serve(Portal(Company(Plan(seed=5, tasks=30)), webhooks=(1, 2), clock=ManualClock())) as running:
        yield running


def _utc(text: str) -> str:
    return datetime.fromisoformat(text).astimezone(UTC).isoformat()


def forum(running: Running, task: int) -> list[Json]:
    rows: list[Json] = result(running, "task.commentitem.getlist", {"TASKID": task, "ORDER": {"ID": "asc"}})
    return rows


def chat(running: Running, task: int, user: int = 1) -> list[Json]:
    found = result(running, "im.chat.get", {"ENTITY_TYPE": "TASKS_TASK", "ENTITY_ID": str(task)}, user)
    rows: list[Json] = []
    while found:
        asked = {"DIALOG_ID": f"chat{found['ID']}", "LAST_ID": rows[0]["id"] if rows else 0, "LIMIT": 50}
        page = result(running, "im.dialog.messages.get", asked, user)["messages"]
        rows = page[::-1] + rows
        if not page:
            break
    return rows


def tasks_where(running: Running, where: Where) -> list[int]:
    company = running.portal.company
    return [
        task_id(company, place)
        for place in range(company.plan.task_count)
        if talk_of(company, place).where is where and talk_of(company, place).count
    ]


def test_checklists_are_trees_of_three_levels(busy: Running) -> None:
    levels: Counter[int] = Counter()
    members: list[Json] = []
    attachments: list[Json] = []
    toggled = set()
    for task in busy.portal.company.tasks.table.ids[:60]:
        items = result(busy, "task.checklistitem.getlist", {"TASKID": task})
        assert [item["ID"] for item in items] == sorted((item["ID"] for item in items), key=int, reverse=True)
        parents = {item["ID"]: item["PARENT_ID"] for item in items}
        for item in items:
            depth, above = 1, item["PARENT_ID"]
            while above != 0:
                depth, above = depth + 1, parents[above]
            levels[depth] += 1
            toggled.add((item["TOGGLED_BY"] is None, item["TOGGLED_DATE"] == ""))
            members += item["MEMBERS"]
            attachments += item["ATTACHMENTS"].values() if item["ATTACHMENTS"] else []
            assert item["ATTACHMENTS"] or item["ATTACHMENTS"] == []
    assert set(levels) == {1, 2, 3}
    assert toggled == {(True, True), (False, False)}
    assert {member["TYPE"] for member in members} == {"A", "U"}
    file = result(busy, "disk.file.get", {"id": attachments[0]["FILE_ID"]})
    assert file["NAME"] == attachments[0]["NAME"]
    link = busy.url + attachments[0]["DOWNLOAD_URL"]
    assert send(link, headers={"User-Agent": "test/1"}).body.startswith(b"<!DOCTYPE")


def test_checklists_can_be_ordered(busy: Running) -> None:
    task = busy.portal.company.tasks.table.ids[0]
    items = result(busy, "task.checklistitem.getlist", {"TASKID": task, "ORDER": {"ID": "asc"}})
    assert [int(item["ID"]) for item in items] == [item["ID"] for item in busy.portal.company.tasks.checklist(task)]


def test_old_tasks_are_talked_about_on_the_forum_only(busy: Running) -> None:
    counts, missing = 0, Counter[str]()
    for task in tasks_where(busy, Where.FORUM)[:40]:
        rows = forum(busy, task)
        about = result(busy, "tasks.task.get", {"taskId": task, "select": ["COMMENTS_COUNT", "CHAT_ID"]})["task"]
        assert (int(about["commentsCount"]), about["chatId"]) == (len(rows), None)
        assert result(busy, "im.chat.get", {"ENTITY_TYPE": "TASKS_TASK", "ENTITY_ID": str(task)}) is None
        counts += len(rows)
        for row in rows:
            attached = row.get("ATTACHED_OBJECTS", "none")
            missing["map" if attached else str(attached)] += 1
            missing["none"] += attached == "none"
            if attached and attached != "none":
                (entry,) = attached.values()
                link = busy.url + entry["DOWNLOAD_URL"]
                assert len(send(link, headers={"User-Agent": "test/1"}).body) == int(entry["SIZE"])
    assert counts > 100
    assert min(missing["map"], missing["{}"], missing["[]"], missing["none"]) > 0


def test_new_tasks_are_talked_about_in_their_chats_only(busy: Running) -> None:
    task = next(task for task in tasks_where(busy, Where.CHAT) if len(chat(busy, task)) > 100)
    rows = chat(busy, task)
    assert forum(busy, task) == []
    assert rows[0]["author_id"] == 0
    assert any("IS_DELETED" in row["params"] for row in rows)
    about = result(busy, "tasks.task.get", {"taskId": task})["task"]
    assert int(about["commentsCount"]) == len(rows) - 1
    dialog = result(busy, "im.dialog.get", {"DIALOG_ID": f"chat{about['chatId']}"})
    assert (dialog["entity_type"], dialog["entity_id"], dialog["type"]) == ("TASKS_TASK", str(task), "tasksTask")
    assert dialog["message_count"] == len(rows)


def as_digits(text: str) -> str:
    """As the forum writes emoji, unlike a chat."""
    return "".join(f":{one.encode().hex()}:" if ord(one) > 0xFFFF else one for one in text)


def test_copied_comments_are_in_both_lists_and_others_are_not(busy: Running) -> None:
    delays = Counter[float]()
    for task in tasks_where(busy, Where.COPIED):
        comments = {(row["author_id"], as_digits(row["text"]), row["date"]) for row in chat(busy, task)}
        for row in forum(busy, task):
            at = datetime.fromisoformat(row["POST_DATE"])
            gaps = [
                (datetime.fromisoformat(date) - at).total_seconds()
                for author, text, date in comments
                if (author, text) == (int(row["AUTHOR_ID"]), row["POST_MESSAGE"])
            ]
            delays[min(gaps, key=abs)] += 1
    assert set(delays) == {0.0, 2.0}
    split = tasks_where(busy, Where.SPLIT)[0]
    truth = [record for record in control(busy, "dump?stream=task_comments")["records"]
             if record["fields"]["task_id"] == str(split)]  # fmt: skip
    assert len(truth) == len(forum(busy, split)) + len(chat(busy, split))


def test_the_truth_has_every_comment_once(busy: Running) -> None:
    records = control(busy, "dump?stream=task_comments")["records"]
    by_task: dict[int, list[Json]] = {}
    for record in records:
        by_task.setdefault(int(record["fields"]["task_id"]), []).append(record)
    for task in busy.portal.company.tasks.table.ids[70:150]:
        mine = by_task.get(task, [])
        assert {record["forum"] for record in mine} - {None} == {int(row["ID"]) for row in forum(busy, task)}
        assert {record["message"] for record in mine} - {None} == {row["id"] for row in chat(busy, task)}
    assert any(record["forum"] and record["message"] for record in records)


def test_some_comments_are_counted_and_nowhere_to_be_found(busy: Running) -> None:
    for task in tasks_where(busy, Where.LOST):
        about = result(busy, "tasks.task.get", {"taskId": task, "select": ["COMMENTS_COUNT"]})["task"]
        assert int(about["commentsCount"]) > 0
        assert forum(busy, task) == chat(busy, task) == []


def test_the_same_words_twice_are_two_comments(busy: Running) -> None:
    twins = 0
    for record in tasks_where(busy, Where.CHAT):
        comments = [(row["author_id"], row["text"]) for row in chat(busy, record)]
        twins += any(count > 1 for count in Counter(comments).values())
    assert twins


def test_files_in_chats_of_tasks_can_be_fetched(busy: Running) -> None:
    kinds = set()
    for task in tasks_where(busy, Where.CHAT)[:40]:
        about = result(busy, "im.chat.get", {"ENTITY_TYPE": "TASKS_TASK", "ENTITY_ID": str(task)})
        asked = {"DIALOG_ID": f"chat{about['ID']}", "LAST_ID": 0, "LIMIT": 50}
        page = result(busy, "im.dialog.messages.get", asked)
        wanted = {number for row in page["messages"] for number in (row["params"] or {}).get("FILE_ID", [])}
        shown = {file["id"]: file for file in page["files"]}
        assert set(shown) == wanted
        assert {file["chatId"] for file in shown.values()} <= {about["ID"]}
        for number in wanted:
            file = call(busy, "disk.file.get", {"id": number}).json
            kinds.add("denied" if "error" in file else "fine")
    assert "fine" in kinds


def test_chats_of_tasks_are_among_the_recent_ones_of_their_people(busy: Running) -> None:
    company = busy.portal.company
    mine = {chat.id for chat in company.chats.values() if chat.entity_type == "TASKS_TASK" and 5 in chat.members}
    found: dict[int, Json] = {}
    while True:
        page = result(busy, "im.recent.list", {"OFFSET": len(found), "LIMIT": 200}, user=5)
        found |= {item["chat_id"]: item for item in page["items"]}
        if not page["hasMore"]:
            break
    of_tasks = {number for number, item in found.items() if item["chat"].get("entity_type") == "TASKS_TASK"}
    assert of_tasks == mine
    assert any(number >= 500_000 for number in mine)


def test_administrators_read_chats_of_tasks_where_the_portal_lets_them() -> None:
    company = Company(PLAN)
    foreign = next(c for c in company.chats.values() if c.id >= 500_000 and 1 not in c.members)
    for allowed, status in ((True, 200), (False, 403)):
        with serve(Portal(company, admins_read_task_chats=allowed, clock=ManualClock())) as running:
            assert call(running, "im.dialog.messages.get", {"DIALOG_ID": foreign.dialog_id}).status == status
            assert result(running, "im.chat.get", {"ENTITY_TYPE": "TASKS_TASK", "ENTITY_ID": foreign.entity_id})


def test_arguments_count_by_position(busy: Running) -> None:
    task = next(task for task in tasks_where(busy, Where.FORUM) if len(forum(busy, task)) > 3)
    last = int(forum(busy, task)[1]["ID"])
    right = {"TASKID": task, "ORDER": {"ID": "asc"}, "FILTER": {">ID": last}}
    assert len(result(busy, "task.commentitem.getlist", right)) == len(forum(busy, task)) - 2
    wrong = {"TASKID": task, "FILTER": {">ID": last}, "ORDER": {"ID": "asc"}}
    assert result(busy, "task.commentitem.getlist", wrong) == []
    first = {"FILTER": {">ID": last}, "TASKID": task}
    assert call(busy, "task.commentitem.getlist", first).json["error"] == "ERROR_CORE"
    nameless = call(busy, "task.commentitem.getlist", [task, {"ID": "asc"}, {">ID": last}]).json["result"]
    assert nameless == result(busy, "task.commentitem.getlist", right)
    inner = batch(busy, {"a": f"task.commentitem.getlist?TASKID={task}&ORDER[ID]=asc&FILTER[%3EID]={last}"})
    assert inner["result"]["a"] == nameless
    assert call(busy, "task.commentitem.getlist", {"TASKID": 1}).json["error"] == "ERROR_CORE"


def test_the_deprecated_list_gives_the_same_tasks(busy: Running) -> None:
    ids: list[int] = []
    for page in range(1, 8):
        params = {"NAV_PARAMS": {"nPageSize": 40, "iNumPage": page}}
        asked = {"ORDER": {"ID": "asc"}, "FILTER": {">ID": 20_100}, "PARAMS": params, "SELECT": ["ID", "TITLE", "UF_*"]}
        rows = result(busy, "task.item.list", asked)
        ids += [int(row["ID"]) for row in rows]
    assert ids == [number for number in busy.portal.company.tasks.table if number > 20_100]
    assert {"TITLE", "UF_CRM_TASK"} <= rows[0].keys() if rows else ids
    ignored = call(busy, "task.item.list", {"FILTER": {">ID": 20_100}}).json
    assert (ignored["total"], ignored["next"]) == (240, 50)
    data = result(busy, "task.item.getdata", {"TASKID": ids[0]})
    modern = result(busy, "tasks.task.get", {"taskId": ids[0], "select": ["*", "TAGS"]})["task"]
    assert (data["TITLE"], data["REAL_STATUS"]) == (modern["title"], modern["status"])
    assert data["TAGS"] == result(busy, "task.item.gettags", {"TASKID": ids[0]})
    assert result(busy, "task.elapseditem.getlist", {"TASKID": ids[0]}) == []


def test_custom_fields_are_listed_with_three_of_the_portals_own(busy: Running) -> None:
    reply = call(busy, "task.item.userfield.getlist", {"ORDER": {"ID": "asc"}}).json
    names = [row["FIELD_NAME"] for row in reply["result"]]
    assert reply["total"] == 0
    assert names[:3] == ["UF_CRM_TASK", "UF_TASK_WEBDAV_FILES", "UF_MAIL_MESSAGE"]
    assert {row["USER_TYPE_ID"] for row in reply["result"][3:]} == {"string", "double", "datetime", "boolean"}
    one = result(busy, "task.item.userfield.get", {"ID": reply["result"][4]["ID"]})
    assert one["EDIT_FORM_LABEL"] == {"ru": "Бюджет", "en": "Budget", "de": "Budget"}


def test_tasks_come_change_and_go(changing: Running) -> None:
    before = control(changing, "company")["counts"]["tasks"]
    wish = {
        "stream": "tasks",
        "op": "add",
        "fields": {"TITLE": "Fresh", "TAGS": ["new"], "DEADLINE": "2026-12-01T10:00:00Z"},
    }
    (number,) = control(changing, "mutate", wish)["ids"]
    task = result(changing, "tasks.task.list", {"filter": {"ID": number}, "select": ["*", "TAGS"]})["tasks"][0]
    assert (task["title"], _utc(task["deadline"])) == ("Fresh", "2026-12-01T10:00:00+00:00")
    assert [tag["title"] for tag in task["tags"].values()] == ["new"]
    assert result(changing, "im.chat.get", {"ENTITY_TYPE": "TASKS_TASK", "ENTITY_ID": number}) == {"ID": task["chatId"]}
    old = changing.portal.company.tasks.table.ids[0]
    control(changing, "mutate", {"stream": "tasks", "op": "update", "id": old, "fields": {"STATUS": "5"}})
    fresh = call(changing, "tasks.task.list", {"filter": {">=CHANGED_DATE": task["changedDate"]}}).json
    assert {int(row["id"]) for row in fresh["result"]["tasks"]} == {number, old}
    file = result(changing, "tasks.task.get", {"taskId": old, "select": ["UF_CRM_TASK"]})["task"]["ufTaskWebdavFiles"][
        0
    ]
    control(changing, "mutate", {"stream": "tasks", "op": "delete", "id": old})
    assert result(changing, "tasks.task.get", {"taskId": old}) == []
    assert call(changing, "disk.attachedObject.get", {"id": file}).json["error"] == "ERROR_NOT_FOUND"
    assert control(changing, "company")["counts"]["tasks"] == before
    assert control(changing, "mutate", {"stream": "tasks", "op": "update", "id": 1})["error"] == "ERROR_NOT_FOUND"


def test_checklists_change(changing: Running) -> None:
    task = changing.portal.company.tasks.table.ids[0]
    asked = {"TASKID": task, "ORDER": {"ID": "asc"}}
    before = result(changing, "task.checklistitem.getlist", asked)
    wish = {"stream": "task_checklists", "op": "add", "task": task,
            "fields": {"TITLE": "More", "PARENT_ID": before[0]["ID"], "MEMBERS": [{"ID": "2", "TYPE": "A"}]}}  # fmt: skip
    (added,) = control(changing, "mutate", wish)["ids"]
    second = before[1]["ID"]
    control(
        changing, "mutate", {"stream": "task_checklists", "task": task, "id": second, "fields": {"IS_COMPLETE": "Y"}}
    )
    control(changing, "mutate", {"stream": "task_checklists", "op": "delete", "task": task, "id": before[2]["ID"]})
    after = {item["ID"]: item for item in result(changing, "task.checklistitem.getlist", asked)}
    assert (after[str(added)]["TITLE"], after[str(added)]["PARENT_ID"]) == ("More", before[0]["ID"])
    assert [member["ID"] for member in after[str(added)]["MEMBERS"]] == ["2"]
    assert after[second]["IS_COMPLETE"] == "Y"
    assert before[2]["ID"] not in after
    assert control(changing, "company")["counts"]["task_checklists"] == len(
        control(changing, "dump?stream=task_checklists")["records"]
    )


def test_comments_change_on_the_forum_and_in_chats(changing: Running) -> None:
    company = changing.portal.company
    for where in (Where.FORUM, Where.CHAT, Where.COPIED):
        task = tasks_where(changing, where)[0]
        select = {"taskId": task, "select": ["CHANGED_DATE", "ACTIVITY_DATE", "COMMENTS_COUNT"]}
        before = result(changing, "tasks.task.get", select)["task"]
        fields = {"POST_MESSAGE": "later"} if where is Where.FORUM else {"text": "later"}
        (number,) = control(
            changing, "mutate", {"stream": "task_comments", "op": "add", "task": task, "fields": fields}
        )["ids"]
        last = forum(changing, task)[-1]["POST_MESSAGE"] if where is Where.FORUM else chat(changing, task)[-1]["text"]
        assert last == "later"
        after = result(changing, "tasks.task.get", select)["task"]
        on_forum = where is Where.FORUM  # what a message in a chat moves is another question
        assert after["changedDate"] == before["changedDate"]
        assert (after["activityDate"] > before["activityDate"]) is on_forum
        assert int(after["commentsCount"]) == int(before["commentsCount"]) + on_forum
        control(changing, "mutate", {"stream": "task_comments", "op": "delete", "task": task, "id": number})
        gone = [row["POST_MESSAGE"] for row in forum(changing, task)] + [row["text"] for row in chat(changing, task)]
        assert "later" not in gone
        assert place_of(company, task) is not None
    copied = tasks_where(changing, Where.COPIED)[0]
    control(
        changing,
        "mutate",
        {"stream": "task_comments", "op": "delete", "task": copied, "id": forum(changing, copied)[0]["ID"]},
    )
    assert control(changing, "company")["counts"]["task_comments"] == len(
        control(changing, "dump?stream=task_comments")["records"]
    )


def test_tasks_appear_while_they_are_read() -> None:
    script = [{"method": "tasks.task.list", "kind": "insert", "rows": 2, "at": [1]}]
    from b24sim.faults import Faults

    with serve(Portal(Company(Plan(tasks=20)), faults=Faults(script), clock=ManualClock())) as running:
        assert call(running, "tasks.task.list").json["total"] == 22


def test_a_new_chat_is_never_taken_for_that_of_a_task(changing: Running) -> None:
    tasks = changing.portal.company.tasks
    control(changing, "mutate", {"stream": "chats", "op": "add", "count": 70})
    for number in tasks.table:
        found = tasks.chat_of(number)
        assert found is None or found.entity_id == str(number)


def test_a_portal_without_tasks_still_has_their_fields(small: Running) -> None:
    assert len(result(small, "task.item.userfield.getlist")) == 8
    assert call(small, "tasks.task.list").json["total"] == 0
    (number,) = control(small, "mutate", {"stream": "tasks", "op": "add", "fields": {"UF_TASK_IS_VIP_2": "1"}})["ids"]
    task = result(small, "tasks.task.get", {"taskId": number, "select": ["UF_TASK_IS_VIP_2"]})["task"]
    assert task.keys() == {"id", "ufTaskIsVip2", "group", "favorite", "action"}
    assert (task["id"], task["ufTaskIsVip2"]) == (str(number), "1")
