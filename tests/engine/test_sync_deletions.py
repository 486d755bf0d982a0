"""A delta run finds records that are deleted in a row: the next ones, which it asks for beside them, are gone too. What
a portal only refuses to show is not deleted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.world import SMALL, World, small, world

from b24migrate.engine import analysis
from b24migrate.engine.phases import deletions
from b24migrate.engine.run import RunResult
from b24sim.company.crm_ids import DEAL
from b24sim.methods.system import ALL_SCOPES

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
GO: dict[str, Json] = {"run": {"deletions": "delete"}}


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


def test_where_the_webhook_sees_nothing_any_more_the_user_decides(made: World, stream: str) -> None:
    """No neighbour proves that all are deleted, or that the last one of a few is."""
    count = delete(made, stream, slice(None))
    assert sync(made, run={"deletions_limit": 99}).exit_code == 4
    assert made.stream(stream).deleted == 0
    assert sync(made, run={"deletions_limit": 100}).exit_code == 0
    told = made.stream(stream)
    assert (told.deleted, told.drift, told.findings) == (count, 0, 0)
    assert made.entity(stream).verified


# ---------------------------------------------------------------- refused


@pytest.fixture
def crm(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, PLANS["crm_deals"]) as made:
        made.settings = {"run": {"entities": list(CRM), "user_coverage": 0.5}, "mapping": {"placeholder_user": "1"}}
        assert made.run().exit_code == 0
        yield made


@pytest.mark.parametrize("delta", [True, False], ids=["delta", "full"])
def test_what_the_portal_refuses_to_show_is_not_deleted(crm: World, delta: bool) -> None:
    """The list leaves it out, and so does a filter by its id. Asked for it alone, the portal says ACCESS_DENIED."""
    items = crm.cloud.portal.company.crm.items[DEAL]
    refused, gone = set(items.ids[3:6]), items.ids[6]
    items.refused = refused
    crm.change("crm_deals", "delete", id=gone)
    assert (sync(crm, **GO) if delta else crm.run(**GO)).exit_code == 5
    assert crm.deleted("CrmDeals") == {str(gone)}
    assert {f"source:crm_deals:{one}" for one in refused} <= crm.imported("crm_deals").keys()
    assert any("may not read them any more" in note for note in map(str, crm.entity("crm_deals").notes))
    assert not crm.entity("crm_deals").verified
    items.refused = set()
    assert sync(crm, **GO).exit_code == 0
    assert crm.entity("crm_deals").verified


@pytest.mark.parametrize(
    ("admin", "refused", "sampled"),
    [(True, (), True), (True, (2,), False), (False, (), False)],
    ids=["sampled", "a refusal in the sample", "no administrator"],
)
def test_of_many_an_administrator_is_asked_about_a_sample(
    crm: World, monkeypatch: pytest.MonkeyPatch, admin: bool, refused: tuple[int, ...], sampled: bool
) -> None:
    """Half of eight; and one neighbor with each request."""
    monkeypatch.setattr(deletions, "SLICE", 4)
    monkeypatch.setattr(deletions, "NEIGHBOURS", 1)
    if not admin:
        for_phases = analysis.Analysis.for_phases.__get__
        monkeypatch.setattr(
            analysis.Analysis, "for_phases", property(lambda known: for_phases(known)._replace(admin=False))
        )
    items = crm.cloud.portal.company.crm.items[DEAL]
    hidden = {items.ids[place] for place in refused}
    items.refused = hidden
    gone = [one for one in items.ids[:8] if one not in hidden]
    for one in gone:
        crm.change("crm_deals", "delete", id=one)
    asked = crm.cloud.portal.stats.inner["crm.item.get"]
    assert sync(crm, **MANY).exit_code == (5 if refused else 0)
    assert crm.deleted("CrmDeals") == set(map(str, gone))
    requested = crm.cloud.portal.stats.inner["crm.item.get"] - asked
    assert requested == 4 + 1 if sampled else requested >= 8 + 2


def test_when_many_are_refused_the_get_stops(crm: World) -> None:
    items = crm.cloud.portal.company.crm.items[DEAL]
    items.refused = set(items.ids[4:12])
    assert sync(crm, **GO).exit_code == 4
    assert crm.deleted("CrmDeals") == set()


def test_a_portal_without_the_method_is_believed_as_before(crm: World) -> None:
    gone = crm.cloud.portal.company.crm.items[DEAL].ids[6]
    crm.change("crm_deals", "delete", id=gone)
    crm.strike_cloud({"method": "crm.item.get", "kind": "error", "code": "ERROR_METHOD_NOT_FOUND"})
    assert sync(crm, **GO).exit_code == 0
    assert crm.deleted("CrmDeals") == {str(gone)}


# ---------------------------------------------------------------- dismissed


@pytest.mark.parametrize("dismissed", [True, False], ids=["dismissed", "left"])
def test_many_memberships_that_end_with_a_dismissal_stop_nothing(tmp_path: Path, dismissed: bool) -> None:
    """`sonet_group.user.get` lists active members only: who is dismissed is out of all lists at once. The same number
    of people who left looks like a webhook that lost rights."""
    scopes = [scope for scope in ALL_SCOPES if scope != "socialnetwork"]
    with world(tmp_path, small(chats=0, messages=0, groups=8), scopes=scopes) as made:
        made.settings = {"run": {"entities": ["users", "groups"], "user_coverage": 0.5}}
        made.settings["mapping"] = {"placeholder_user": "1"}
        company = made.cloud.portal.company
        owners = {
            role_of for group in company.groups_by_id.values() for role_of, role in group.roles.items() if role == "A"
        }
        user = next(one for one in company.users.ids if company.is_active(one) and one not in owners)
        for group in company.groups_by_id:
            made.change("group_members", "add", group=group, user=user)
        assert made.run().exit_code == 0
        before = made.stream("group_members").deleted
        if dismissed:
            made.change("users", id=user, fields={"ACTIVE": False})
        else:
            for group in company.groups_by_id:
                made.change("group_members", "delete", group=group, user=user)
        assert sync(made, run={"deletions_limit": 1}).exit_code == (0 if dismissed else 4)
        assert made.stream("group_members").deleted - before == (8 if dismissed else 0)
        there = {key for key in made.imported("group_members") if key.endswith(f":{user}")}
        assert len(there) == (0 if dismissed else 8)


# ---------------------------------------------------------------- what failed


def test_a_delta_run_that_failed_reads_again_what_is_corrected_by_now(tmp_path: Path) -> None:
    """Two users swap their emails: the box refuses both, and what needs the users is blocked."""
    with world(tmp_path, small(chats=0, messages=0)) as made:
        made.settings = {"run": {"entities": ["users", "groups"]}}
        company = made.cloud.portal.company
        assert made.run(run={"user_coverage": 0.5}, mapping={"placeholder_user": "1"}).exit_code == 0
        one, other = [user for user in company.users.ids if company.is_active(user)][2:4]
        first, second = (company.users.row(user)["EMAIL"] for user in (one, other))
        made.change("users", id=one, fields={"EMAIL": second})
        made.change("users", id=other, fields={"EMAIL": first})
        strict: dict[str, Json] = {"run": {"user_coverage": 1.0}, "mapping": {"placeholder_user": "1"}}
        assert sync(made, **strict).exit_code == 3
        group = next(iter(company.groups_by_id))
        made.change("users", id=one, fields={"EMAIL": "new@company.example"})
        made.change("groups", id=group, fields={"NAME": "Meanwhile"})
        sync(made, **strict)
        assert made.imported("users")[f"source:users:{one}"]["fields"]["EMAIL"] == "new@company.example"
        assert made.retry(**strict).exit_code == 0  # the other user's email is free now
        assert made.imported("groups")[f"source:groups:{group}"]["fields"]["NAME"] == "Meanwhile"
