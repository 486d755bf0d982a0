"""A delta run finds records that are deleted in a row: the next ones, which it asks for beside them, are gone too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.world import SMALL, World

from b24migrate.engine.phases import deletions
from b24migrate.engine.run import RunResult

Json = Any
CRM = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems")
PLAN = replace(SMALL, chats=0, messages=0, deals=0, tasks=0)
PLANS = {
    "crm_deals": replace(PLAN, companies=9, contacts=9, deals=20, smart_types=2, smart_items=4),
    "tasks": replace(PLAN, users=6, departments=2, groups=2, files=2, tasks=40),
}
ENTITIES = {"crm_deals": CRM, "tasks": ("users", "tasks")}
POLICY = {"tasks.groupId": "drop", "tasks.ufCrmTask": "drop"}
TABLES = {"crm_deals": "CrmDeals", "crm_contacts": "CrmContacts", "tasks": "Tasks"}
MANY: dict[str, Json] = {"run": {"deletions_limit": 90}}


@pytest.fixture(scope="module", params=list(PLANS))
def done(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[tuple[str, TakeUp]]:
    stream = request.param
    mapping: Json = {"placeholder_user": "1"} | ({"policy": POLICY} if stream == "tasks" else {})
    settings = {"run": {"entities": list(ENTITIES[stream]), "user_coverage": 0.5}, "mapping": mapping}
    with migrated(tmp_path_factory.mktemp("row"), PLANS[stream], settings=settings) as taken_up:
        yield stream, taken_up


@pytest.fixture
def stream(done: tuple[str, TakeUp]) -> str:
    return done[0]


@pytest.fixture
def made(done: tuple[str, TakeUp], tmp_path: Path) -> World:
    return done[1](tmp_path)


def sync(made: World, **settings: Json) -> RunResult:
    with made.app(**settings) as app:
        return app.runner.run(app.chosen(()), delta=True, tick=made.leap())


def delete(made: World, stream: str, rows: slice) -> int:
    some = [int(key) for key in made.records(TABLES[stream])][rows]
    for one in some:
        made.change(stream, "delete", id=one)
    return len(some)


@pytest.mark.parametrize("rows", [slice(0, 8), slice(6, 14), slice(-8, None)], ids=["first", "between", "last"])
def test_records_deleted_in_a_row_are_found(made: World, stream: str, rows: slice) -> None:
    count = delete(made, stream, rows)
    assert sync(made, **MANY).exit_code == 0
    told = made.stream(stream)
    assert (told.deleted, told.drift, told.findings) == (count, 0, 0)


def test_a_row_that_is_longer_than_what_is_asked_for_at_once_is_found(
    made: World, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "ASKED", 4)
    count = delete(made, stream, slice(0, 15))
    assert sync(made, **MANY).exit_code == 0
    assert made.stream(stream).deleted == count


def test_what_was_not_asked_for_is_asked_when_more_may_be_gone(
    made: World, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stops asking as soon as too many are gone."""
    monkeypatch.setattr(deletions, "ASKED", 4)
    count = delete(made, stream, slice(5, 17))
    assert sync(made).exit_code == 4
    assert made.stream(stream).deleted == 0
    assert sync(made, **MANY).exit_code == 0
    assert made.stream(stream).deleted == count


def test_where_the_webhook_sees_nothing_any_more_nothing_is_believed(made: World, stream: str) -> None:
    delete(made, stream, slice(None))
    assert sync(made, run={"deletions_limit": 100}).exit_code == 5
    assert made.stream(stream).deleted == 0
    assert any("not counted as deleted" in note for note in map(str, made.entity(stream).notes))
