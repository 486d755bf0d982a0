"""Children are asked for where the parent may have some; a hint that is wrong loses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import SMALL, World, world

from b24migrate.app import App
from b24migrate.engine.phases import hints, parent_lanes
from b24migrate.engine.phases.hints import is_sampled, sampled_share
from b24migrate.messages import render
from b24migrate.ports import CHECKPOINTS
from b24sim.dump import dump
from b24sim.habits import Habits
from b24sim.message_habits import MessageHabits
from b24sim.native.task_habits import TaskHabits

Json = Any
TASKS = 100
CHECKLISTS, FORUM, CHAT = "task.checklistitem.getlist", "task.commentitem.getlist", "im.dialog.messages.get"
RIGHT = TaskHabits(list_checklists="told")
WRONG = TaskHabits(list_checklists="empty", comment_counts="zero")


@pytest.fixture(autouse=True)
def _small_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a company of a hundred tasks has some that are not in it."""
    monkeypatch.setattr(hints, "LEAST_SAMPLED", 16)


@contextmanager
def company(folder: Path, habits: TaskHabits, portal: Json = None, **more: Json) -> Iterator[World]:
    plan = replace(SMALL, **{"chats": 1, "messages": 2, "files": 0, "tasks": TASKS, **more})
    with world(folder, plan, task_habits=habits, **(portal or {})) as made:
        made.settings["run"] = {"entities": ["users", "groups", "tasks"]}
        assert made.run("users", "groups").exit_code == 0
        yield made


def get(made: World, **settings: dict[str, Json]) -> dict[str, int]:
    """How often each method was called."""
    made.cloud.portal.stats.reset()
    assert made.run("tasks", phases=("get",), **settings).exit_code == 0
    calls: dict[str, int] = made.cloud.portal.stats.summary()["calls"]
    return calls


def truth(made: World, stream: str) -> set[str]:
    return {str(record["id"]) for record in dump(made.cloud.portal, stream)}


def read_all(made: World) -> bool:
    staged = {stream: set(made.records(table)) for stream, table in TABLES.items()}
    return staged == {stream: truth(made, stream) for stream in TABLES} and all(staged.values())


TABLES = {"task_checklists": "TaskChecklists", "task_comments": "TaskComments"}


def notes(made: World) -> list[str]:
    return [note for note in made.entity("tasks").notes if "by the portal's own data" in note]


def test_tasks_that_have_none_are_asked_only_in_a_sample(tmp_path: Path) -> None:
    with company(tmp_path, RIGHT, new_card=True) as made:
        calls = get(made)
        assert read_all(made)
        have = len({one.partition(":")[0] for one in truth(made, "task_checklists")})
        sampled = sum(is_sampled(str(one), TASKS) for one in made.cloud.portal.company.tasks.table)
        assert sampled < TASKS // 4
        assert have <= calls[CHECKLISTS] <= have + sampled < TASKS * 0.6
        assert calls[FORUM] == sampled  # the forum of the new card is empty, as the sample shows
        assert not notes(made)


def test_the_short_page_of_a_task_s_chat_is_its_end(tmp_path: Path) -> None:
    with company(tmp_path, RIGHT, new_card=True, tasks=200) as made:
        calls = get(made)
        assert read_all(made)
        pages = sum(1 + len(chat) // 50 for chat in made.cloud.portal.company.chats.values() if chat.entity_type)
        assert pages <= calls[CHAT] < pages * 1.4  # and not twice


@pytest.mark.parametrize(
    "habits",
    [{"habits": Habits(message_page=20)}, {"message_habits": MessageHabits(pages="short")}],
    ids=("pages of 20", "short pages"),
)
def test_pages_that_end_nothing_lose_nothing(
    tmp_path: Path, habits: dict[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if no chat were in the sample."""
    monkeypatch.setattr(hints, "is_sampled", lambda *_: False)
    with company(tmp_path, RIGHT, habits, new_card=True) as made:
        get(made)
        assert set(made.records("TaskComments")) == truth(made, "task_comments")
        assert made.sql("SELECT RowKey FROM Checkpoints WHERE RowKey LIKE 'gap:task_comments:%'")


def test_files_of_tasks_are_asked_about_once(tmp_path: Path) -> None:
    """Whether their objects may be read shows when their links are asked for."""
    with company(tmp_path, RIGHT, new_card=True) as made:
        calls = get(made)
        files = [key for key in made.records("Files") if key.startswith("disk:")]
        assert len(files) > TASKS // 2
        assert calls["disk.file.get"] < len(files) * 1.1  # once more for a few, to see why others are refused


def test_a_forum_that_has_comments_is_read_where_tasks_count_some(tmp_path: Path) -> None:
    with company(tmp_path, RIGHT) as made:
        calls = get(made)
        assert read_all(made)
        counted = sum(bool(made.cloud.portal.company.tasks.forum(one)) for one in made.cloud.portal.company.tasks.table)
        assert counted <= calls[FORUM] < TASKS * 0.8
        assert not notes(made)


def test_wrong_hints_lose_nothing_and_are_not_trusted_again(tmp_path: Path) -> None:
    with company(tmp_path, WRONG) as made:
        calls = get(made)
        assert read_all(made)
        assert calls[CHECKLISTS] == calls[FORUM] == TASKS  # each task once, in the sample or after it
        assert len(notes(made)) == 2
        assert all("по данным портала" in render(note, "ru") for note in notes(made))
        again = get(made)  # another process
        assert again[CHECKLISTS] == again[FORUM] == TASKS
        assert read_all(made)


def test_the_first_comment_and_item_of_a_task_come_with_a_later_pass(tmp_path: Path) -> None:
    """Counts of a task are no change of it, so those of the store are old."""
    with company(tmp_path, RIGHT) as made:
        get(made)
        tasks = made.cloud.portal.company.tasks
        having = {one.partition(":")[0] for stream in TABLES for one in truth(made, stream)}
        empty = [str(one) for one in tasks.table if str(one) not in having and not is_sampled(str(one), TASKS)]
        made.change("task_comments", "add", task=int(empty[0]), where="forum", fields={"POST_MESSAGE": "The first"})
        made.change("task_checklists", "add", task=int(empty[1]), fields={"TITLE": "The first"})
        get(made)
        assert read_all(made)
        assert any(one.startswith(f"{empty[0]}:") for one in made.records("TaskComments"))


def test_lists_without_counts_are_no_hint(tmp_path: Path) -> None:
    with company(tmp_path, TaskHabits(comment_counts="absent")) as made:
        calls = get(made)
        assert read_all(made)
        assert calls[CHECKLISTS] == TASKS
        assert not notes(made)


def test_requests_are_full_though_parents_come_in_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent_lanes, "PARENTS_AT_ONCE", 70)
    monkeypatch.setattr(parent_lanes, "PACK_PARENTS", 100)
    with company(tmp_path, TaskHabits(), new_card=True, tasks=200) as made:  # each stretch by itself would take 6
        get(made)
        assert read_all(made)
        assert made.cloud.portal.stats.carried[CHECKLISTS] <= 5
        assert made.cloud.portal.stats.carried[FORUM] <= 2  # its sample


class Killed(BaseException):
    """Nobody catches it."""


def kill_at(app: App, moment: int, *, before: bool) -> None:
    """From the moment a hint is refuted, at the n-th page that is staged; 0: when the refutation is written."""
    store = app.context.store
    write, stage, pages = store.write, store.stage, count(1)
    refuted: list[bool] = []

    def dying_write(register: Json, rows: Json) -> None:
        is_refuted = register is CHECKPOINTS and any(row.key.startswith("hint:") for row in rows)
        if is_refuted and moment == 0 and before:
            raise Killed
        write(register, rows)
        if is_refuted and moment == 0:
            raise Killed
        refuted.extend([True] * is_refuted)

    def dying_stage(*args: Json, **more: Json) -> Json:
        dies = refuted and next(pages) == moment
        if dies and before:
            raise Killed
        done = stage(*args, **more)
        if dies:
            raise Killed
        return done

    store.write, store.stage = dying_write, dying_stage  # type: ignore[method-assign]


@pytest.mark.parametrize("before", [True, False], ids=("before", "after"))
@pytest.mark.parametrize("moment", [0, 1, 3])
def test_a_kill_while_the_other_parents_are_asked_loses_nothing(tmp_path: Path, moment: int, before: bool) -> None:
    with company(tmp_path, WRONG) as made:
        with made.app(run={"workers": 1}) as app:
            kill_at(app, moment, before=before)
            with pytest.raises(Killed):
                app.runner.run(app.chosen(("tasks",)), ("get",), tick=made.leap())
        assert not read_all(made)
        get(made)
        assert read_all(made)
        assert len(notes(made)) == 2


def test_the_sample_is_spread_over_all_ids_and_large_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for parents in (1, 400, 5_000, 100_000):
        ids = range(7, 7 + parents)
        chosen = [one for one in ids if is_sampled(str(one), parents)]
        assert len(chosen) >= min(parents, 360)
        assert abs(len(chosen) - sampled_share(parents) * parents) <= 0.15 * len(chosen)
        halves = sum(one < 7 + parents // 2 for one in chosen) / len(chosen)
        assert parents == 1 or 0.4 < halves < 0.6
