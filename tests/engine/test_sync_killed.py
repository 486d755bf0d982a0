"""A delta run that is killed again and again ends with the box and the store of one that was not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.world import SMALL, World

from b24migrate.app import App
from b24migrate.engine.plan import Plan
from b24sim.company.crm_ids import COMPANY, CONTACT

Json = Any
PLAN = replace(
    SMALL, users=6, departments=2, groups=2, chats=0, messages=0, files=2, companies=6, contacts=8, deals=8, tasks=14
)
PLAN = replace(PLAN, smart_types=0, smart_items=0)
ENTITIES = ("users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "tasks")
SETTINGS = {
    "run": {"entities": list(ENTITIES), "user_coverage": 0.5, "deletions_limit": 50},
    "mapping": {"placeholder_user": "1", "policy": {"tasks.groupId": "drop", "tasks.ufCrmTask": "drop"}},
}
TABLES = {
    "crm_companies": "CrmCompanies",
    "crm_contacts": "CrmContacts",
    "crm_deals": "CrmDeals",
    "tasks": "Tasks",
    "task_checklists": "TaskChecklists",
    "task_comments": "TaskComments",
}
DYING = ("stage", "write", "mark_deleted", "settle", "discard", "erase")


class Killed(BaseException):
    """Nobody catches it."""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("killed"), PLAN, settings=SETTINGS) as taken_up:
        yield taken_up


def change(made: World) -> None:
    company = made.cloud.portal.company
    tasks = company.tasks.table.ids
    deals, companies = list(map(int, made.records("CrmDeals"))), list(company.crm.items[COMPANY])
    made.change("crm_deals", id=deals[0], fields={"title": "Другая"})
    made.change("crm_deals", "add", fields={"title": "Новая"})
    made.change("crm_deals", "delete", id=deals[1])
    linked = [one for one in companies if any(one in row["companyIds"] for row in rows(company.crm.items[CONTACT]))]
    made.change("crm_companies", "delete", id=linked[0])
    made.change("tasks", id=tasks[0], fields={"TITLE": "Другое"})
    made.change("tasks", "delete", id=next(one for one in tasks[1:] if company.tasks.checklist(one)))
    (new,) = made.change("tasks", "add", fields={"TITLE": "Новая"})
    made.change("task_checklists", "add", task=new, fields={"TITLE": "Пункт"})
    forum = next(one for one in tasks[2:] if one in company.tasks.table.ids and company.tasks.forum(one))
    made.change("task_comments", "add", task=forum, where="forum", fields={"POST_MESSAGE": "Ещё"})


def rows(items: Json) -> Iterator[Json]:
    return (items.row(one) for one in items)


def outcome(made: World) -> Json:
    """Without times: the changes of two worlds are made at other moments."""
    box = {
        name: {
            key: ({field: value for field, value in row["fields"].items() if not is_time(value)}, row["updated_count"])
            for key, row in made.imported(name).items()
        }
        for name in TABLES
    }
    columns = ("RowKey", "Status", "Revision", "DeletedUtc")
    staged = {
        name: [
            (one["RowKey"], one["Status"], one["Revision"], bool(one["DeletedUtc"]))
            for one in made.table(table, *columns)
        ]
        for name, table in TABLES.items()
    }
    told = {name: (one.source, one.read, one.excluded, one.deleted) for name in TABLES for one in [made.stream(name)]}
    return box, staged, told


def is_time(value: Json) -> bool:
    return isinstance(value, str) and value[4:5] == "-" and value[10:11] == "T"


def die(app: App, moment: int) -> None:
    """Before or after the n-th time that something is written."""
    writes = count(1)

    def dying(write: Json) -> Json:
        def written(*args: Json, **more: Json) -> Json:
            at = next(writes)
            if at == moment and at % 2:
                raise Killed
            done = write(*args, **more)
            if at == moment:
                raise Killed
            return done

        return written

    for name in DYING:
        setattr(app.context.store, name, dying(getattr(app.context.store, name)))


def marks(made: World) -> dict[str, Json]:
    return dict(made.sql("SELECT RowKey, MarkUtc FROM Passes WHERE RowKey LIKE 'mark:%'"))


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_again_and_again_it_loses_and_doubles_nothing(done: TakeUp, tmp_path: Path, workers: int) -> None:
    whole = done(tmp_path / "whole")
    change(whole)
    with whole.app() as app:
        assert app.runner.run(app.chosen(()), delta=True, tick=whole.leap()).exit_code == 0
    expected = outcome(whole)
    made = done(tmp_path / "killed")
    change(made)
    before, ended = marks(made), False
    for attempt in range(60):
        with made.app(run={"workers": workers}) as app, suppress(Killed):
            run = app.runner.begin(Plan(tuple(app.chosen(())), delta=True))
            die(app, 15 + 8 * attempt)
            app.runner.worker_pool(run).work_until_done(tick=made.leap())
            assert app.runner.conclude(run).exit_code == 0
            ended = True
        if ended:
            break
        moved = {marks(made)[name] > before[name] for name in before}
        assert len(moved) == 1  # all of them, or none
    assert ended
    assert attempt > 4
    assert outcome(made) == expected
    assert all(marks(made)[name] > before[name] for name in before)
