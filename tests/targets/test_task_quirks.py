"""Boxes treat tasks in ways that are written nowhere: whatever they do, each arrives once and as it was."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.engine.test_undo import take
from tests.targets.everything import Move, moving

from b24sim import Portal
from b24sim.native.task_habits import TaskHabits

TASKS = ("users", "groups", "tasks")
LATE = 1_617_390_000  # on a Friday evening


def test_a_lost_task_is_found_by_a_box_that_does_not_filter_by_its_stamp(tmp_path: Path) -> None:
    box = Portal(role="box", task_habits=TaskHabits(filters_xml_id=False))
    with moving(tmp_path, *TASKS, box=box) as move:
        move.lose(3, "tasks.task.add")
        assert move.run().exit_code == 0
        assert box.stats.faults["lost"] > 2
        assert move.twice() == []
        assert move.unforeseen == []


def test_a_deadline_outside_working_hours_stays_where_the_task_counts_them(tmp_path: Path) -> None:
    with moving(tmp_path, *TASKS, tasks=3) as move:
        table = move.world.cloud.portal.company.tasks.table
        number = table.ids[0]
        table.put(number, table.row(number) | {"MATCH_WORK_TIME": "Y", "DEADLINE": LATE, "TITLE": "Late"})
        assert move.run().exit_code == 0
        tasks = move.world.box.portal.company.tasks.table
        (row,) = [tasks.row(one) for one in tasks if tasks.row(one)["TITLE"] == "Late"]
        assert (row["MATCH_WORK_TIME"], row["DEADLINE"]) == ("Y", LATE)
        table.put(number, table.row(number) | {"TITLE": "Later", "CHANGED_DATE": LATE + 9e7})
        assert move.run().exit_code == 0
        row = tasks.row(int(row["ID"]))
        assert (row["TITLE"], row["MATCH_WORK_TIME"], row["DEADLINE"]) == ("Later", "Y", LATE)
        assert move.unforeseen == []


def test_lists_end_on_a_box_that_looks_for_their_start_in_the_address_only(tmp_path: Path) -> None:
    box = Portal(role="box", task_habits=TaskHabits(chats=True, start_from_address=True))
    with moving(tmp_path, *TASKS, box=box, tasks=51) as move:
        move.lose(9, "task.commentitem.add", "tasks.task.add")
        move.run()  # one file of so many tasks is gone from the source
        assert {*move.statuses()["tasks"], *move.statuses()["task_comments"]} == {"IMPORT_OK"}
        assert move.twice() == []
        assert move.unforeseen == []


def test_who_only_commented_is_let_in_and_leaves_nothing_behind_in_the_task(tmp_path: Path) -> None:
    """An author must see the task; he watches it for as long as its comments come."""
    with moving(tmp_path, *TASKS) as move:
        assert move.run().exit_code == 0
        errors = move.world.box.portal.stats.errors
        assert errors["ERROR_CORE"] > 0
        assert set(move.statuses()["task_comments"]) == {"IMPORT_OK"}
        assert [one for one in move.unforeseen if one[3] in ("auditors", "files", "author_id")] == []
        refused = errors["ERROR_CORE"]
        assert move.run().exit_code == 0
        assert errors["ERROR_CORE"] == refused


def test_comments_that_are_quoted_in_a_chat_arrive_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    box = Portal(role="box", task_habits=TaskHabits(chats=True))
    with moving(tmp_path, *TASKS, box=box, tasks=16) as move:
        move.world.settings["run"] |= {"workers": 8}
        assert move.run().exit_code in (0, 5)
        columns = ("RowKey", "SourceUtc", "TargetId")
        comments = [[one[name] for name in columns] for one in move.world.table("TaskComments", *columns)]
        for _, answers in groupby(comments, key=lambda one: one[0].partition(":")[0]):
            arrived = [int(target) for _, _, target in sorted(answers, key=lambda one: one[1])]
            assert arrived == sorted(arrived)
        assert len(comments) > 10


def test_tasks_outside_the_dates_of_their_project_arrive_also_when_those_are_set_already(tmp_path: Path) -> None:
    """A later run, and one after an undo, finds a box where everything has come to its end."""
    with moving(tmp_path, *TASKS, tasks=4) as move:
        cloud, box = move.world.cloud.portal.company, move.world.box.portal.company
        project = next(one for one in cloud.groups.ids if cloud.groups.row(one)["_PROJECT_DATE_START"])
        table = cloud.tasks.table
        outside, changed = table.ids[:2]
        for number in (outside, changed):
            table.put(number, table.row(number) | {"GROUP_ID": project, "DEADLINE": LATE, "TITLE": f"Old {number}"})
        assert move.run().exit_code == 0
        take(move.world, "tasks")
        table.put(changed, table.row(changed) | {"TITLE": "New", "CHANGED_DATE": LATE + 9e7, "DEADLINE": None})
        assert move.run().exit_code == 0
        table.put(changed, table.row(changed) | {"CHANGED_DATE": LATE + 9e7 + 5, "DEADLINE": LATE - 99})
        assert move.run().exit_code == 0
        assert set(move.statuses()["tasks"]) == {"IMPORT_OK"}
        assert move.unforeseen == []
        dated = {
            cloud.groups.row(one)["NAME"]: cloud.groups.row(one)["_PROJECT_DATE_START"] for one in cloud.groups.ids
        }
        for one in box.groups.ids:
            row = box.groups.row(one)
            assert (row["_PROJECT_DATE_START"] is None) == (dated[row["NAME"]] is None)


def test_a_task_that_was_closed_later_keeps_who_closed_it_and_when(tmp_path: Path) -> None:
    """A change of the status sets both, whatever is sent with it (kernel tasks, CTasks::Update)."""
    with moving(tmp_path, *TASKS, tasks=3) as move:
        table = move.world.cloud.portal.company.tasks.table
        number = next(one for one in table.ids if table.row(one)["STATUS"] != "5")
        closed = {"CLOSED_DATE": LATE, "CLOSED_BY": "2", "CHANGED_DATE": LATE + 9e7}
        table.put(number, table.row(number) | {"STATUS": "2", "TITLE": "Done", "CLOSED_DATE": None, "CLOSED_BY": None})
        assert move.run().exit_code == 0
        table.put(number, table.row(number) | {"STATUS": "5"} | closed)
        move.run()
        assert move.unforeseen == []
        tasks = move.world.box.portal.company.tasks.table
        (row,) = [tasks.row(one) for one in tasks if tasks.row(one)["TITLE"] == "Done"]
        assert (row["STATUS"], row["CLOSED_DATE"]) == ("5", LATE)
        assert row["CLOSED_BY"] == str(move.world.records("Users")["2"]["TargetId"])


def test_an_item_of_a_checklist_moves_below_another_one(tmp_path: Path) -> None:
    with moving(tmp_path, *TASKS) as move:
        tasks = move.world.cloud.portal.company.tasks
        task = next(one for one in tasks.table.ids if len(tasks.checklist(one)) > 3)
        items = [one["ID"] for one in tasks.checklist(task)]
        below = {one["PARENT_ID"] for one in tasks.checklist(task)}
        item = next(one for one in reversed(items) if one not in below)
        other = next(one for one in items if one not in below and one != item)
        assert move.run().exit_code == 0
        move.world.change("task_checklists", task=task, id=item, fields={"PARENT_ID": other})
        assert move.run().exit_code == 0
        assert move.unforeseen == []
        records = move.world.records("TaskChecklists")
        there = {one["ID"]: one for many in box_lists(move) for one in many}
        assert there[int(records[f"{task}:{item}"]["TargetId"])]["PARENT_ID"] == int(
            records[f"{task}:{other}"]["TargetId"]
        )


def box_lists(move: Move) -> Iterator[list[dict[str, Any]]]:
    tasks = move.world.box.portal.company.tasks
    return (tasks.checklist(one) for one in tasks.table.ids)
