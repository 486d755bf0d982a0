"""Requests are full where the portal tells one record at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.engine.skipped_records import GONE
from tests.engine.world import World, small, world

Json = Any
OWNERS = ("crm_companies", "crm_contacts", "crm_deals")
NOBODY: dict[str, int] = {"smart_types": 0, "posts": 0, "templates": 0, "chats": 0, "messages": 0}
LIST, BINDINGS = "crm.timeline.comment.list", "crm.timeline.bindings.list"


@contextmanager
def opened(folder: Path, **numbers: int) -> Iterator[World]:
    with world(folder, small(**{**NOBODY, "companies": 2, "contacts": 2, "deals": 2, **numbers})) as made:
        made.settings = dict(GONE)
        assert made.run("users").exit_code == 0
        yield made


def read(made: World, *entities: str, **settings: Json) -> Counter[str]:
    """Requests by the method of their first command."""
    carried = made.cloud.portal.stats.carried
    before = Counter(carried)
    for entity in entities:
        assert made.run(entity, phases=("get",), **settings).exit_code == 0
    return carried - before


def test_comments_of_many_records_are_asked_about_together(tmp_path: Path) -> None:
    with opened(tmp_path, deals=500, crm_comments=200) as made:
        told = read(made, *OWNERS, "crm_comments")
        assert len(made.records("CrmComments")) > 190
    assert told[LIST] <= 13  # of 480 deals, and of 2 contacts and 2 companies
    assert told[BINDINGS] <= 6  # one for each would be 13


def test_a_request_that_fails_loses_none_of_those_before_it(tmp_path: Path) -> None:
    with opened(tmp_path, deals=500, crm_comments=200) as made:
        read(made, *OWNERS)
        asked = made.cloud.portal.stats.inner
        made.strike_cloud({"method": "batch", "kind": "reset", "at": [4], "inner": False})
        read(made, "crm_comments")
        assert len(made.records("CrmComments")) > 190
        assert made.cloud.portal.faults.rules[0].fired == 1
        assert asked[LIST] <= 500 + 50  # the request that failed, not those before it


def test_activities_that_rules_leave_out_do_not_thin_the_questions(tmp_path: Path) -> None:
    with opened(tmp_path, crm_activities=2_400) as made:
        table = made.cloud.portal.company.activities.activities
        tasks = [number for number in table if table.row(number)["PROVIDER_ID"] == "CRM_TASKS_TASK"]
        for number in tasks[::5]:  # in any five hundred there is another number of those that are left
            made.change("crm_activities", "delete", id=number)
        told, asked = read(made, "crm_activities"), made.cloud.portal.stats.inner
        kept = len(made.records("CrmActivities"))
    assert asked["crm.activity.binding.list"] == kept < 2_400
    assert told["crm.activity.binding.list"] <= kept / 50 + 2


@pytest.mark.parametrize("limit", [0, 120])
def test_pages_of_schedules_share_requests(tmp_path: Path, limit: int) -> None:
    with opened(tmp_path, recurring=260) as made:
        there = [str(number) for number in made.cloud.portal.company.schedules.table]
        stats = made.cloud.portal.stats
        before = Counter(stats.methods)
        told = read(made, "crm_recurring", run={"test_limit": limit})
        assert list(made.records("CrmRecurring")) == there[: limit or None]
        assert stats.methods["crm.deal.recurring.list"] - before["crm.deal.recurring.list"] == 1  # the first page
        assert told["crm.deal.recurring.list"] <= 2  # whether the portal has the method, and all others


def test_a_page_of_schedules_that_fails_is_asked_for_again(tmp_path: Path) -> None:
    with opened(tmp_path, recurring=260) as made:
        made.strike_cloud({"method": "crm.deal.recurring.list", "kind": "500", "at": [5]})
        read(made, "crm_recurring")
        assert len(made.records("CrmRecurring")) == 260
