"""Undo by the box's own methods: what people put into a record of ours would go with it, so it stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.targets.everything import Move, moving
from tests.targets.test_undo import rehearse, take

from b24migrate.model.records import Args, Item
from b24migrate.targets.rest.box import Box
from b24migrate.targets.rest.target import RestTarget
from b24sim import Portal
from b24sim.native.task_habits import TaskHabits

MINE = {"TITLE": "Mine", "RESPONSIBLE_ID": 1}
TASK = {"title": "Task", "responsibleId": "1", "createdBy": "1", "status": "2"}
DEPARTMENT = {"NAME": "Sales", "PARENT": "1", "SORT": 1}
ANN = {"NAME": "Ann", "EMAIL": "ann@example.org", "ACTIVE": "Y"}
PIPELINE = {"name": "Partners", "sort": 1, "entityTypeId": "2", "isDefault": False}
STAGE = {"ENTITY_ID": "DEAL_STAGE", "STATUS_ID": "WAITING", "NAME": "Waiting", "SORT": 15}
SMART = {"title": "Rent", "entityTypeId": "1050"}


class Case(NamedTuple):
    entity: str
    stream: str
    fields: Args
    act: Callable[[Box, str], object]  # what somebody does on the box with the id of ours
    reason: str


def deal(box: Box, number: int = 2, **fields: object) -> object:
    return box.call("crm.item.add", {"entityTypeId": number, "fields": {"title": "Mine", **fields}})


CASES = {
    "a comment in a task": Case(
        *("tasks", "tasks", TASK),
        lambda box, one: box.call("task.commentitem.add", {"TASKID": one, "FIELDS": {"POST_MESSAGE": "Mine"}}),
        "users commented on it",
    ),
    "an item in its checklist": Case(
        *("tasks", "tasks", TASK),
        lambda box, one: box.call("task.checklistitem.add", {"TASKID": one, "FIELDS": {"TITLE": "Mine"}}),
        "users added to its checklist",
    ),
    "a subtask": Case(
        *("tasks", "tasks", TASK),
        lambda box, one: box.call("tasks.task.add", {"fields": {**MINE, "PARENT_ID": one}}),
        "it has subtasks",
    ),
    "a comment under a post": Case(
        *("feed", "feed_posts", {"DETAIL_TEXT": "Hello", "DEST": ["UA"], "AUTHOR_ID": "1"}),
        lambda box, one: box.call("log.blogcomment.add", {"POST_ID": one, "TEXT": "Mine"}),
        "users commented on it",
    ),
    "a task in a group": Case(
        *("groups", "groups", {"NAME": "Team", "OWNER_ID": "1"}),
        lambda box, one: box.call("tasks.task.add", {"fields": {**MINE, "GROUP_ID": one}}),
        "users have tasks in it",
    ),
    "a member of a group": Case(
        *("groups", "groups", {"NAME": "Team", "OWNER_ID": "1"}),
        lambda box, one: box.call(
            "sonet_group.user.add",
            {"GROUP_ID": one, "USER_ID": box.call("user.add", {**ANN, "UF_DEPARTMENT": [1]})},
        ),
        "users joined it",
    ),
    "a file on a group's drive": Case(
        *("groups", "groups", {"NAME": "Team", "OWNER_ID": "1"}),
        lambda box, one: box.call("disk.folder.addsubfolder", {"id": drive_of(box, one), "data": {"NAME": "Mine"}}),
        "users have files on its Drive",
    ),
    "a person in a department": Case(
        *("users", "departments", DEPARTMENT),
        lambda box, one: box.call("user.add", {**ANN, "UF_DEPARTMENT": [one]}),
        "users are in it",
    ),
    "a department below": Case(
        *("users", "departments", DEPARTMENT),
        lambda box, one: box.call("department.add", {"NAME": "Mine", "PARENT": one}),
        "it has departments below it",
    ),
    "a deal in a pipeline": Case(
        *("crm", "crm_categories", PIPELINE),
        lambda box, one: deal(box, categoryId=one),
        "it has records of users",
    ),
    "a deal in a stage": Case(
        *("crm", "crm_stages", STAGE), lambda box, _: deal(box, stageId="WAITING"), "it has records of users"
    ),
    "an item of a smart process": Case(
        *("crm", "crm_types", SMART), lambda box, one: deal(box, int(one)), "it has records of users"
    ),
    "a deal of a company": Case(
        *("crm", "crm_companies", {"title": "Client"}),
        lambda box, one: deal(box, companyId=one),
        "users linked deals to it",
    ),
}


def drive_of(box: Box, group: str) -> str:
    (drive,) = box.call("disk.storage.getlist", {"filter": {"ENTITY_TYPE": "group", "ENTITY_ID": group}})
    return str(drive["ROOT_OBJECT_ID"])


def target_of(app: object) -> RestTarget:
    target = app.context.target  # type: ignore[attr-defined]
    assert isinstance(target, RestTarget)
    return target


@pytest.mark.parametrize("name", CASES)
def test_what_somebody_added_inside_keeps_the_record(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    with moving(tmp_path, "users") as move, move.app() as app:
        target = target_of(app)
        item = Item.make(f"source:{case.stream}:7", case.fields)
        (sent,) = target.send(case.entity, case.stream, [item], run="r")
        assert sent.target_id, sent
        (free,) = target.delete(case.entity, case.stream, [item.key], dry_run=True)
        assert free.status == "deleted", free.reason
        case.act(target._box, sent.target_id)
        for dry_run in (True, False):
            (kept,) = target.delete(case.entity, case.stream, [item.key], dry_run=dry_run)
            assert (kept.status, kept.reason) == ("kept", case.reason)
        assert item.key in target.read(case.entity, case.stream, [item.key])


def test_what_was_said_in_the_chat_of_a_task_keeps_it_and_what_the_box_says_does_not(tmp_path: Path) -> None:
    box = Portal(role="box", task_habits=TaskHabits(chats=True))
    with moving(tmp_path, "users", box=box) as move, move.app() as app:
        target = target_of(app)
        items = [Item.make(f"source:tasks:{one}", TASK) for one in (1, 2)]
        sent = [one.target_id for one in target.send("tasks", "tasks", items, run="r")]
        talk = {"task_id": sent[0], "author_id": "1", "text": "Ours", "date": "2024-01-01T00:00:00Z"}
        comment = Item.make("source:task_comments:1:5", talk)
        target.send("tasks", "task_comments", [comment], run="r")
        keys = [item.key for item in items]
        assert {one.status for one in target.delete("tasks", "tasks", keys, dry_run=True)} == {"deleted"}
        for one in sent:
            target._box.call("task.checklistitem.add", {"TASKID": one, "FIELDS": {"TITLE": "Gone again"}})
            (row,) = target._box.call("task.checklistitem.getlist", {"TASKID": one})
            target._box.call("task.checklistitem.delete", {"TASKID": one, "ITEMID": row["ID"]})
        target._box.call("task.commentitem.add", {"TASKID": sent[0], "FIELDS": {"POST_MESSAGE": "Mine"}})
        answers = target.delete("tasks", "tasks", keys, dry_run=False)
        assert [(one.status, one.reason) for one in answers] == [("kept", "users commented on it"), ("deleted", "")]


def test_a_parent_stays_with_a_child_of_the_same_call_and_goes_with_it(tmp_path: Path) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        target, table = target_of(app), move.world.box.portal.company.tasks.table
        (parent,) = target.send("tasks", "tasks", [Item.make("source:tasks:1", TASK)], run="r")
        below = Item.make("source:tasks:2", {**TASK, "parentId": parent.target_id})
        (child,) = target.send("tasks", "tasks", [below], run="r")
        keys = ["source:tasks:2", "source:tasks:1"]
        assert {one.status for one in target.delete("tasks", "tasks", keys, dry_run=True)} == {"deleted"}
        (alone,) = target.delete("tasks", "tasks", keys[1:], dry_run=False)
        assert (alone.status, alone.needed) == ("kept", True)
        number = int(child.target_id or 0)
        table.put(number, table.row(number) | {"TITLE": "Mine now"})
        both = target.delete("tasks", "tasks", keys, dry_run=False)
        assert [one.reason for one in both] == ["changed after its import", "it has subtasks"]
        table.put(number, table.row(number) | {"TITLE": "Task"})
        assert {one.status for one in target.delete("tasks", "tasks", keys, dry_run=False)} == {"deleted"}
        assert not list(table)


def test_a_copy_with_our_stamp_is_somebody_elses(tmp_path: Path) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        target = target_of(app)
        (sent,) = target.send("tasks", "tasks", [Item.make("source:tasks:1", TASK)], run="r")
        copied = {**MINE, "PARENT_ID": sent.target_id, "XML_ID": "b24migrate:source:tasks:1"}
        target._box.call("tasks.task.add", {"fields": copied})
        (kept,) = target.delete("tasks", "tasks", ["source:tasks:1"], dry_run=True)
        assert kept.status == "kept"


def test_of_a_whole_move_only_what_people_used_is_kept_and_the_rehearsal_says_so(tmp_path: Path) -> None:
    """With all that is ours still inside, and with what the box wrote into tasks by itself."""
    with moving(tmp_path, "users", "groups", "feed", "tasks") as move:
        move.run()
        task, post = newest(move, "Tasks"), newest(move, "FeedPosts")
        with move.app() as app:
            box = target_of(app)._box
            box.call("task.commentitem.add", {"TASKID": task, "FIELDS": {"POST_MESSAGE": "Mine"}})
            box.call("log.blogcomment.add", {"POST_ID": post, "TEXT": "Mine"})
            box.call("tasks.task.add", {"fields": {**MINE, "GROUP_ID": newest(move, "Groups")}})
        rehearsed, tallies = rehearse(move), take(move)
        counts = {name: (one.deleted, one.kept) for name, one in tallies.items()}
        del counts["group_members"]
        assert {name: rehearsed[name] for name in counts} == counts
        members = tallies["group_members"]
        assert rehearsed["group_members"] == (members.deleted, 0)
        assert (members.kept, members.absent > 0) == (1, True)  # the owner of that group; those whose group went
        assert "They are removed with the group" in members.reasons[0].reason
        assert (counts["tasks"][1], counts["feed_posts"][1]) == (1, 1)
        assert [why.reason for why in tallies["tasks"].reasons] == ["users commented on it"]
        assert tallies["task_comments"].kept == tallies["task_checklists"].kept == 0


def newest(move: Move, table: str) -> str:
    rows = move.world.table(table, "RowKey", "TargetId", "Status")
    return str(max((row for row in rows if row["Status"] == "IMPORT_OK"), key=lambda row: row["RowKey"])["TargetId"])
