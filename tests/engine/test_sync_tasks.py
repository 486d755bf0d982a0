"""A delta run compares all tasks by a few fields, and reads checklists and comments where something moved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.world import SMALL, World

from b24migrate.engine.run import RunResult
from b24sim.dump import dump

Json = Any
PLAN = replace(SMALL, users=6, departments=2, groups=2, chats=0, messages=0, files=2, deals=0, tasks=24)
SETTINGS = {
    "run": {"entities": ["users", "tasks"], "user_coverage": 0.5},
    "mapping": {"placeholder_user": "1", "policy": {"tasks.groupId": "drop", "tasks.ufCrmTask": "drop"}},
}
STREAMS = ("tasks", "task_checklists", "task_comments")
ASKED = ("tasks.task.list", "task.checklistitem.getlist", "task.commentitem.getlist", "im.dialog.messages.get")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("tasks"), PLAN, settings=SETTINGS) as taken_up:
        yield taken_up


@pytest.fixture
def tasks(done: TakeUp, tmp_path: Path) -> World:
    return done(tmp_path)


def sync(made: World, **more: Json) -> RunResult:
    with made.app() as app:
        return app.runner.run(app.chosen(()), delta=True, tick=made.leap(), **more)


def asked(made: World) -> dict[str, int]:
    """How often each method was called since the last look."""
    stats = made.cloud.portal.stats
    counts = {name: int(stats.methods[name] + stats.inner[name]) for name in ASKED}
    stats.reset()
    return counts


def box(made: World) -> dict[str, dict[str, Json]]:
    return {name: {key: row["fields"] for key, row in made.imported(name).items()} for name in STREAMS}


def deleted(made: World) -> dict[str, set[str]]:
    tables = {"tasks": "Tasks", "task_checklists": "TaskChecklists", "task_comments": "TaskComments"}
    return {
        name: {row["RowKey"] for row in made.table(table, "RowKey", "DeletedUtc") if row["DeletedUtc"]}
        for name, table in tables.items()
    }


def equals_a_full_pass(made: World) -> None:
    """What the delta run brought is what a full run finds: it sends nothing and finds nothing deleted."""
    before, gone = box(made), deleted(made)
    assert made.run().exit_code == 0
    assert (box(made), deleted(made)) == (before, gone)


def on_the_forum(made: World) -> list[int]:
    company = made.cloud.portal.company
    return [one for one in company.tasks.table.ids if company.tasks.chat_of(one) is None]


def whole(made: World) -> list[str]:
    return [note for note in map(str, made.entity("tasks").notes) if "read whole" in note]


# ---------------------------------------------------------------- what arrives


def test_tasks_and_what_belongs_to_them_follow(tasks: World) -> None:
    company = tasks.cloud.portal.company
    table, with_items = company.tasks.table, [one for one in company.tasks.table.ids if company.tasks.checklist(one)]
    renamed, dated, gone = with_items[:3]
    talked = [one for one in on_the_forum(tasks) if company.tasks.forum(one) and one not in (renamed, dated, gone)]
    commented, thinned = talked[:2]
    item, comment = company.tasks.checklist(renamed)[-1]["ID"], company.tasks.forum(thinned)[-1]["ID"]
    earlier = int(table.row(dated)["CHANGED_DATE"]) - 90_000
    tasks.change("tasks", id=renamed, fields={"TITLE": "Другое"})
    tasks.change("task_checklists", "delete", task=renamed, id=item)
    tasks.change("tasks", id=dated, fields={"TITLE": "Задним числом", "CHANGED_DATE": earlier})
    tasks.change("tasks", "delete", id=gone)
    tasks.change("task_comments", "add", task=commented, fields={"POST_MESSAGE": "Новый"})
    tasks.change("task_comments", "delete", task=thinned, id=comment, where="forum")
    (new,) = tasks.change("tasks", "add", fields={"TITLE": "Новая"})
    tasks.change("task_checklists", "add", task=new, fields={"TITLE": "Пункт"})
    assert sync(tasks).exit_code == 0
    assert whole(tasks) == []
    there = box(tasks)
    titles = [there["tasks"][f"source:tasks:{one}"]["title"] for one in (renamed, dated, new)]
    assert titles == ["Другое", "Задним числом", "Новая"]
    assert "Новый" in {one["text"] for one in there["task_comments"].values()}
    assert [one for one in there["task_checklists"] if one.startswith(f"source:task_checklists:{new}:")]
    lost = deleted(tasks)
    assert lost["tasks"] == {str(gone)}
    assert f"{renamed}:{item}" in lost["task_checklists"]
    assert lost["task_comments"] >= {f"{thinned}:f{comment}"}
    assert {one for one in lost["task_checklists"] if not one.startswith(f"{gone}:")} == {f"{renamed}:{item}"}
    told = tasks.stream("tasks")
    assert (told.deleted, told.drift, told.findings) == (1, 0, 0)
    tasks.change("tasks", "restore", id=gone)
    assert sync(tasks).exit_code == 0
    assert deleted(tasks)["tasks"] == set()
    assert {one for one in deleted(tasks)["task_checklists"] if one.startswith(f"{gone}:")} == set()
    equals_a_full_pass(tasks)


def test_subtasks_of_a_deleted_task_lose_it(tasks: World) -> None:
    company = tasks.cloud.portal.company
    table = company.tasks.table
    child = next(one for one in table.ids if int(table.row(one)["PARENT_ID"] or 0))
    above = int(table.row(child)["PARENT_ID"])
    tasks.change("tasks", "delete", id=above)
    assert sync(tasks).exit_code == 0
    parent = table.row(child)["PARENT_ID"]
    sent = box(tasks)["tasks"][f"source:tasks:{child}"]["parentId"]
    links = {row["RowKey"]: row["TargetId"] for row in tasks.table("Tasks", "RowKey", "TargetId")}
    assert str(sent or 0) == str(links[str(parent)] if int(parent or 0) else 0)


# ---------------------------------------------------------------- what it costs


def test_only_tasks_that_moved_are_asked(tasks: World) -> None:
    sync(tasks)
    asked(tasks)
    assert sync(tasks).exit_code == 0
    quiet = asked(tasks)
    assert quiet == {**dict.fromkeys(ASKED, 0), "tasks.task.list": quiet["tasks.task.list"]}
    assert quiet["tasks.task.list"] <= 6  # what is new, twice; one range; a count; the probe of the method
    one = on_the_forum(tasks)[0]
    tasks.change("task_comments", "add", task=one, fields={"POST_MESSAGE": "Ещё"})
    revision = tasks.records("Tasks")[str(one)]["Revision"]
    assert sync(tasks).exit_code == 0
    moved = asked(tasks)
    assert moved["task.commentitem.getlist"] == 1
    assert sync(tasks).exit_code == 0
    assert asked(tasks) == quiet  # its new activity is known
    assert tasks.records("Tasks")[str(one)]["Revision"] == revision


def test_only_new_attachments_are_asked_for(tasks: World) -> None:
    """An attachment keeps its file."""
    files = {key: one["ufTaskWebdavFiles"] for key, one in box(tasks)["tasks"].items() if one["ufTaskWebdavFiles"]}
    key, sent = next(iter(files.items()))
    number = int(key.rpartition(":")[2])
    tasks.change("tasks", id=number, fields={"TITLE": "Другое"})
    tasks.cloud.portal.stats.reset()
    assert sync(tasks).exit_code == 0
    assert tasks.cloud.portal.stats.inner["disk.attachedObject.get"] == 0
    there = box(tasks)["tasks"][key]
    assert (there["title"], there["ufTaskWebdavFiles"]) == ("Другое", sent)
    equals_a_full_pass(tasks)
    tasks.change("tasks", id=number, fields={"UF_TASK_WEBDAV_FILES": []})
    assert sync(tasks).exit_code == 0
    assert not box(tasks)["tasks"][key]["ufTaskWebdavFiles"]


def test_what_moves_nothing_is_seen_when_it_looks_deep(tasks: World) -> None:
    company = tasks.cloud.portal.company
    open_ones = [one for one in company.tasks.table.ids if company.tasks.table.row(one)["STATUS"] != "5"]
    ticked = next(one for one in open_ones if company.tasks.checklist(one))
    talked = next(one for one in open_ones if company.tasks.chat_of(one))
    item = company.tasks.checklist(ticked)[-1]
    tasks.change("task_checklists", task=ticked, id=item["ID"], fields={"IS_COMPLETE": not item["IS_COMPLETE"]})
    (message,) = tasks.change("task_comments", "add", task=talked, fields={"text": "В чате", "author_id": 1})
    before = box(tasks)
    assert sync(tasks).exit_code == 0
    assert box(tasks) == before
    assert sync(tasks, deep=True).exit_code == 0
    there = box(tasks)
    assert there["task_comments"][f"source:task_comments:{talked}:m{message}"]["text"] == "В чате"
    key = f"source:task_checklists:{ticked}:{item['ID']}"
    assert there["task_checklists"][key]["IS_COMPLETE"] != before["task_checklists"][key]["IS_COMPLETE"]
    equals_a_full_pass(tasks)


# ---------------------------------------------------------------- a pass that is cut off


def test_what_a_cut_off_pass_staged_is_not_lost(tasks: World) -> None:
    """It had the task's new activity already, and not the comment."""
    one = on_the_forum(tasks)[0]
    tasks.change("task_comments", "add", task=one, fields={"POST_MESSAGE": "Между"})
    tasks.strike_cloud({"kind": "error", "method": "task.commentitem.getlist", "status": 500})
    assert sync(tasks).exit_code == 4
    tasks.strike_cloud()
    assert tasks.run("users").exit_code == 0  # another run takes its place
    assert sync(tasks).exit_code == 0
    assert "Между" in {row["text"] for row in box(tasks)["task_comments"].values()}
    assert whole(tasks) == []


def test_after_a_full_pass_that_was_cut_off_everything_is_read(tasks: World) -> None:
    one = on_the_forum(tasks)[0]
    tasks.change("task_comments", "add", task=one, fields={"POST_MESSAGE": "Между"})
    tasks.strike_cloud({"kind": "error", "method": "task.commentitem.getlist", "status": 500})
    assert tasks.run().exit_code == 4
    tasks.strike_cloud()
    assert sync(tasks).exit_code == 0
    assert "Между" in {row["text"] for row in box(tasks)["task_comments"].values()}
    assert any("not completed" in note for note in whole(tasks))


def test_a_copy_in_the_chat_stays_when_the_comment_on_the_forum_is_deleted(tasks: World) -> None:
    """It is a comment of its own from now on."""
    both = (one for one in dump(tasks.cloud.portal, "task_comments") if one["forum"] and one["message"])
    copy = next(both)
    task, _, number = copy["id"].partition(":")
    twin = f"source:task_comments:{task}:m{copy['message']}"
    assert twin not in tasks.imported("task_comments")
    tasks.change("task_comments", "delete", task=task, id=int(number.lstrip("f")), where="forum")
    for _ in range(2):  # the chat is read before it is known that the comment is gone
        assert sync(tasks).exit_code == 0
    assert copy["id"] in deleted(tasks)["task_comments"]
    assert twin in tasks.imported("task_comments")
    equals_a_full_pass(tasks)
