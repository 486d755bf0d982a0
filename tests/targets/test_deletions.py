"""Records that are deleted at the source, on a box that has nothing but its own methods."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.targets.everything import Move, moving
from tests.targets.test_undo import alive, rehearse, take

from b24migrate.engine.phases import removal


@pytest.fixture
def sales(tmp_path: Path) -> Iterator[Move]:
    entities = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals")
    with moving(tmp_path, *entities, smart_items=0, chats=0, messages=0, files=0, deals=6) as made:
        made.world.change("crm_companies", "add", fields={"title": "Nobody names it"})
        assert made.run().exit_code == 0
        yield made


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Move]:
    """Without the CRM."""
    with moving(tmp_path, "users", "groups") as made:
        assert made.run().exit_code == 0
        yield made


def kept_reasons(made: Move) -> dict[str, str]:
    rows = made.world.sql("SELECT RowKey, Reason FROM Deletions WHERE RowKey LIKE 'kept:%'")
    return {str(key).removeprefix("kept:"): str(why) for key, why in rows}


def status(made: Move, table: str, key: str) -> str:
    return str(made.world.records(table)[key]["Status"])


@pytest.mark.parametrize("role", ["K", "E"])
def test_a_member_who_left_is_removed_by_the_method_of_the_box(team: Move, role: str) -> None:
    """Whatever role somebody gave him there."""
    world, company = team.world, team.world.cloud.portal.company
    group, user = next(
        (one, user)
        for one in company.groups_by_id.values()
        for user, own in one.roles.items()
        if own == "K" and user != 1 and company.is_active(user)
    )
    there = world.records("GroupMembers")[f"{group.id}:{user}"]["TargetId"]
    box_group, box_user = map(int, there.split(":"))
    groups = world.box.portal.company.groups_by_id
    groups[box_group].roles[box_user] = role
    world.change("group_members", "delete", group=group.id, user=user)
    assert team.run("users", "groups").exit_code == 0
    assert box_user not in groups[box_group].roles
    assert status(team, "GroupMembers", f"{group.id}:{user}") == "DELETED"
    assert world.stream("group_members").deleted == 1


def test_an_owner_who_handed_the_group_over_and_left_is_removed(team: Move) -> None:
    """The new owner is sent first, which changes the role of the old one on the box."""
    world, company = team.world, team.world.cloud.portal.company
    group = next(one for one in company.groups_by_id.values() if one.owner != 1)
    old, new = group.owner, next(user for user, role in group.roles.items() if role == "K" and company.is_active(user))
    there = world.records("GroupMembers")[f"{group.id}:{old}"]["TargetId"]
    box_group, box_user = map(int, there.split(":"))
    world.change("groups", id=group.id, fields={"OWNER_ID": str(new)})
    group.owner = new
    world.change("group_members", "add", group=group.id, user=new, fields={"ROLE": "A"})
    world.change("group_members", "delete", group=group.id, user=old)
    assert team.run("users", "groups").exit_code == 0
    assert box_user not in world.box.portal.company.groups_by_id[box_group].roles
    assert kept_reasons(team) == {}


def test_an_undo_after_a_group_was_handed_over_counts_no_change_of_a_user(team: Move) -> None:
    """The box itself changes the role of the former owner."""
    world, company = team.world, team.world.cloud.portal.company
    group = next(one for one in company.groups_by_id.values() if one.owner != 1)
    old, new = group.owner, next(user for user, role in group.roles.items() if role == "K" and company.is_active(user))
    world.change("groups", id=group.id, fields={"OWNER_ID": str(new)})
    group.owner = new
    world.change("group_members", "add", group=group.id, user=new, fields={"ROLE": "A"})
    world.change("group_members", "add", group=group.id, user=old, fields={"ROLE": "K"})
    assert team.run("users", "groups").exit_code == 0
    tallies = take(team)
    assert {name: tallies[name].reasons for name in ("groups", "group_members")} == {"groups": [], "group_members": []}
    assert alive(team)["groups"] == 0


def test_what_others_need_stays_and_the_rest_goes(sales: Move, monkeypatch: pytest.MonkeyPatch) -> None:
    """The box's own method would delete a company under its deals. One removable record is in memory at a time."""
    monkeypatch.setattr(removal, "WALKED_AT_ONCE", 1)
    monkeypatch.setattr(removal, "REMOVABLE_AT_ONCE", 1)
    world = sales.world
    named = {
        str(company)
        for table in ("CrmDeals", "CrmContacts")
        for row in world.table(table, "Payload")
        for company in [json.loads(row["Payload"]).get("companyId"), *json.loads(row["Payload"]).get("companyIds", [])]
        if company
    }
    companies = list(world.records("CrmCompanies"))
    needed = [one for one in companies if one in named][:2]
    free = next(one for one in companies if one not in named)
    deal = next(iter(world.records("CrmDeals")))
    gone = [*(("crm_companies", one) for one in (*needed, free)), ("crm_deals", deal)]
    for stream, key in gone:
        world.change(stream, "delete", id=int(key), links=False)
    world.settings["run"]["deletions"] = "delete"
    before = alive(sales)
    sales.run()
    assert kept_reasons(sales) == {f"crm_companies:{one}": "other records that stay depend on it" for one in needed}
    assert {status(sales, "CrmCompanies", one) for one in needed} == {"IMPORT_OK"}
    assert (status(sales, "CrmCompanies", free), status(sales, "CrmDeals", deal)) == ("DELETED", "DELETED")
    assert sum((before - alive(sales)).values()) == 2  # one company and one deal


def test_the_owner_of_a_deleted_group_leaves_with_it_and_not_before(team: Move) -> None:
    """`sonet_group.user.delete` leaves the owner out of its answer."""
    world = team.world
    group = next(one for one in world.cloud.portal.company.groups_by_id.values() if one.owner != 1)
    owner = f"{group.id}:{group.owner}"
    box_group, box_owner = map(int, world.records("GroupMembers")[owner]["TargetId"].split(":"))
    world.change("groups", "delete", id=group.id)
    assert team.run("users", "groups").exit_code == 0
    assert list(world.box.portal.company.groups_by_id[box_group].roles) == [box_owner]
    assert list(kept_reasons(team)) == [f"group_members:{owner}"]
    assert status(team, "GroupMembers", owner) == "IMPORT_OK"
    world.settings["run"]["deletions"] = "delete"
    assert team.run("users", "groups").exit_code == 0
    assert box_group not in world.box.portal.company.groups_by_id
    assert (kept_reasons(team), status(team, "GroupMembers", owner)) == ({}, "DELETED")


@pytest.mark.parametrize("role", ["K", "E"])
def test_an_undo_counts_a_scrum_master_who_is_not_the_owner_as_gone_with_the_group(tmp_path: Path, role: str) -> None:
    """`sonet_group.user.delete` leaves him out of its answer, too."""
    with moving(tmp_path, "users", "groups", groups=12) as made:
        company = made.world.cloud.portal.company
        group = next(one for one in company.groups_by_id.values() if one.kind == "scrum")
        master = next(user for user, own in group.roles.items() if own != "A" and user != 1 and company.is_active(user))
        made.world.change("group_members", "add", group=group.id, user=master, fields={"ROLE": role})
        company.groups.put(group.id, company.groups.row(group.id) | {"_SCRUM_MASTER_ID": str(master)})
        assert made.run().exit_code == 0
        members, groups = (len(made.world.records(name)) for name in ("GroupMembers", "Groups"))
        assert rehearse(made)["group_members"][1] == 0
        tallies = take(made)
        assert (tallies["groups"].deleted, tallies["groups"].kept) == (groups, 0)
        counted = tallies["group_members"]
        assert (counted.deleted + counted.absent, counted.kept) == (members, 0)
        assert alive(made)["groups"] == 0
