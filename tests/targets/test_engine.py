"""What the store remembers of a box: whenever the process is killed, nothing arrives twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.targets.everything import Move, moving

from b24migrate.model.records import Item
from b24migrate.ports import RegisterRow
from b24migrate.targets import count_fitting
from b24migrate.targets.rest.target import RestTarget

DEPARTMENT = Item.make("source:departments:7", {"NAME": "Sales", "PARENT": "1", "SORT": 100})
TASK = Item.make("source:tasks:5", {"title": "Call", "responsibleId": "1", "createdBy": "1", "status": "2"})


class Died(Exception):
    """The process is no more."""


@pytest.fixture
def move(tmp_path: Path) -> Iterator[Move]:
    with moving(tmp_path, "users", "tasks") as made:
        yield made


def send(move: Move, entity: str, item: Item, *, dies_at: int = 0) -> str:
    """One life of a process: it writes so often to the store, and is gone."""
    with move.app() as app:
        target, writes = app.context.target, 0
        assert isinstance(target, RestTarget)
        write = app.context.store.write

        def mortal(register: object, rows: list[RegisterRow]) -> None:
            nonlocal writes
            writes += 1
            if writes == dies_at:
                raise Died
            write(register, rows)  # type: ignore[arg-type]

        app.context.store.write = mortal  # type: ignore[method-assign,assignment]
        (outcome,) = target.send(entity, item.key.split(":")[1], [item], run="r")
        return outcome.status


@pytest.mark.parametrize("dies_at", [1, 2, 3, 4])
@pytest.mark.parametrize(("entity", "item"), [("users", DEPARTMENT), ("tasks", TASK)])
def test_whoever_dies_at_any_write_leaves_one_record_behind(move: Move, entity: str, item: Item, dies_at: int) -> None:
    try:
        send(move, entity, item, dies_at=dies_at)
    except Died:
        assert send(move, entity, item) in ("created", "unchanged")
    kinds = {"users": "departments", "tasks": "tasks"}
    assert len(move.world.box.portal.native.alive(kinds[entity])) == 1
    assert send(move, entity, item) == "unchanged"


def test_the_same_key_with_other_fields_is_updated(move: Move) -> None:
    assert send(move, "tasks", TASK) == "created"
    other = Item.make(TASK.key, {**TASK.fields, "title": "Call again"})
    assert send(move, "tasks", other) == "updated"
    assert send(move, "tasks", other) == "unchanged"
    (number,) = move.world.box.portal.native.alive("tasks")
    assert move.world.box.portal.company.tasks.table.row(number)["TITLE"] == "Call again"


def test_an_answer_so_late_that_the_record_is_another_by_then_leaves_the_newer_one(move: Move) -> None:
    with pytest.raises(Died):
        send(move, "tasks", TASK, dies_at=2)  # the create is done, and nobody knows
    other = Item.make(TASK.key, {**TASK.fields, "title": "Call again"})
    assert send(move, "tasks", other) == "created"
    (number,) = move.world.box.portal.native.alive("tasks")
    assert move.world.box.portal.company.tasks.table.row(number)["TITLE"] == "Call again"


def test_what_the_box_refuses_is_told_and_hinders_nobody(move: Move) -> None:
    bad = Item.make("source:tasks:6", {**TASK.fields, "title": ""})
    with move.app() as app:
        refused, made = app.context.target.send("tasks", "tasks", [bad, TASK], run="r")
    assert (refused.status, refused.error_code, refused.retry) == ("failed", "ERROR_CORE", False)
    assert made.status == "created"


def test_a_call_that_is_full_before_its_first_item_takes_none() -> None:
    assert count_fitting([5, 5, 5], 12) == 2
    assert count_fitting([1], 10, 20) == 0


def test_reading_asks_the_box_and_not_the_memory(move: Move) -> None:
    assert send(move, "tasks", TASK) == "created"
    (number,) = move.world.box.portal.native.alive("tasks")
    with move.app() as app:
        target = app.context.target
        assert target.read("tasks", "tasks", [TASK.key])[TASK.key].fields["title"] == "Call"
        assert [one.key for one in target.listing("tasks", "tasks", "")[0]] == [TASK.key]
        move.world.box.portal.company.tasks.table.remove(number)
        assert target.read("tasks", "tasks", [TASK.key]) == {}
        assert target.listing("tasks", "tasks", "")[0] == []


def test_people_who_join_a_task_by_our_own_writes_are_no_change_by_somebody_else(move: Move) -> None:
    assert send(move, "tasks", TASK) == "created"
    (number,) = move.world.box.portal.native.alive("tasks")
    table = move.world.box.portal.company.tasks.table
    row = table.row(number)
    changes: list[dict[str, object]] = [
        {},
        {"AUDITORS": [*row["AUDITORS"], "7"], "ACCOMPLICES": ["8"]},
        {"AUDITORS": ["7"], "CHANGED_BY": "7"},
        {"AUDITORS": ["7"], "TITLE": "Call again"},
    ]
    found = []
    for change in changes:
        table.put(number, row | change)
        with move.app() as app:
            found.append(app.context.target.read("tasks", "tasks", [TASK.key])[TASK.key].changed)
    assert found == [False, False, True, True]
