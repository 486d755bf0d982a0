"""Schedules of recurring deals: each comes with its template, switched off, and no template comes without one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.skipped_records import closes, skipped
from tests.engine.test_sync import SETTINGS, sync
from tests.engine.world import SMALL, World, world

from b24migrate.entities.crm.streams import RECURRING

Json = Any
ENTITIES = ("users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems", "crm_recurring")
PLAN = replace(SMALL, chats=0, messages=0, companies=3, contacts=3, deals=16, smart_types=0, recurring=3)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    settings: Json = {**SETTINGS, "run": {"entities": list(ENTITIES), "user_coverage": 0.5}}
    with migrated(tmp_path_factory.mktemp("recurring"), PLAN, settings=settings) as taken_up:
        yield taken_up


@pytest.fixture
def made(done: TakeUp, tmp_path: Path) -> World:
    return done(tmp_path)


def schedules(made: World) -> dict[int, Json]:
    table = made.cloud.portal.company.schedules.table
    return {number: table.row(number) for number in table}


def on_box(made: World, stream: str) -> dict[str, Json]:
    return {key.rpartition(":")[2]: row for key, row in made.imported(stream).items()}


def test_a_schedule_comes_with_its_template_and_switched_off(made: World) -> None:
    deals, there = on_box(made, "crm_deals"), on_box(made, "crm_recurring")
    told = schedules(made)
    assert there.keys() == set(map(str, told))
    for number, row in told.items():
        fields = there[str(number)]["fields"]
        assert fields["DEAL_ID"] == deals[row["DEAL_ID"]]["id"]
        assert deals[row["DEAL_ID"]]["fields"]["isRecurring"] is True
        assert fields["BASED_ID"] == (deals[row["BASED_ID"]]["id"] if row["BASED_ID"] else None)
        assert (fields["ACTIVE"], fields["IS_LIMIT"], fields["PARAMS"]) == (False, row["IS_LIMIT"], row["PARAMS"])
        dates = ("START_DATE", "NEXT_EXECUTION", "LAST_EXECUTION", "LIMIT_DATE")
        assert [fields[name] for name in dates] == [row[name][:10] or None for name in dates]
        assert fields["LIMIT_REPEAT"] == (int(row["LIMIT_REPEAT"]) if row["LIMIT_REPEAT"] else None)
    assert (made.stream("crm_recurring").findings, made.stream("crm_deals").findings) == (0, 0)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Vladivostok"])
def test_a_day_of_a_schedule_is_the_same_wherever_the_owner_of_the_webhook_lives(tmp_path: Path, zone: str) -> None:
    settings: Json = {**SETTINGS, "run": {"entities": list(ENTITIES), "user_coverage": 0.5}}
    with world(tmp_path, replace(PLAN, owner_zone=zone)) as made:
        made.settings = settings
        made.run()
        there = on_box(made, "crm_recurring")
        for number, row in schedules(made).items():
            for name in ("NEXT_EXECUTION", "LAST_EXECUTION"):
                assert there[str(number)]["fields"][name] == (row[name][:10] or None)


def test_a_template_without_a_schedule_is_left_out(made: World) -> None:
    deals = made.cloud.portal.company.crm.items[2]
    templates = {str(number) for number in deals if deals.row(number)["isRecurring"] == "Y"}
    with_schedule = {row["DEAL_ID"] for row in schedules(made).values()}
    assert templates > with_schedule
    assert skipped(made, "crm_deals") == dict.fromkeys(templates - with_schedule, RECURRING)
    assert {key for key, row in on_box(made, "crm_deals").items() if row["fields"].get("isRecurring")} == with_schedule
    assert closes(made, "crm_deals")
    assert closes(made, "crm_recurring")
    assert made.entity("crm_deals").verified


def test_a_second_run_changes_nothing(made: World) -> None:
    before = {stream: made.imported(stream) for stream in ("crm_deals", "crm_recurring")}
    assert made.run().exit_code == 0
    assert {stream: made.imported(stream) for stream in before} == before
    assert closes(made, "crm_deals")
    assert made.entity("crm_recurring").verified


def test_a_delta_brings_new_changed_and_deleted_schedules(made: World) -> None:
    first, second, _ = schedules(made)
    gone = schedules(made)[second]["DEAL_ID"]
    made.change("crm_recurring", id=first, fields={"LIMIT_REPEAT": "40"})
    made.change("crm_recurring", "delete", id=second)
    (new,) = made.change("crm_recurring", "add")
    assert sync(made).exit_code == 0
    there = on_box(made, "crm_recurring")
    assert there[str(first)]["fields"]["LIMIT_REPEAT"] == 40
    assert there[str(new)]["fields"]["DEAL_ID"] == on_box(made, "crm_deals")[schedules(made)[new]["DEAL_ID"]]["id"]
    assert (made.stream("crm_recurring").deleted, made.stream("crm_deals").deleted) == (1, 1)
    assert made.records("CrmDeals")[gone]["Status"] == "IMPORT_OK"
    told = made.stream("crm_deals")
    assert told.source == told.read - 1


def test_a_schedule_whose_template_is_gone_fails_by_itself(made: World) -> None:
    made.change("crm_recurring", "add", fields={"DEAL_ID": "9999"})
    made.change("crm_recurring", "add", fields={"DEAL_ID": "", "PARAMS": []})
    assert made.run("crm_recurring").exit_code == 5
    rows = made.records("CrmRecurring")
    assert [row["LastErrorCode"] for row in rows.values()] == [None, None, None, "REFERENCE_MISSING", "VALIDATION"]
