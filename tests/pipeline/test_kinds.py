"""Kinds of records that are not what their neighbours are: each is migrated, or skipped by a rule that is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.pipeline.world import World, small, world

from b24migrate.entities.crm import RECURRING
from b24migrate.entities.groups import UNLISTED, dismissed_members
from b24migrate.streams import Seen
from b24sim.methods.system import ALL_SCOPES

# The company names some people and groups that it has no longer; here they shall not keep anything from arriving.
GONE: dict[str, Any] = {"mapping": {"placeholder_user": "1", "policy": {"tasks.groupId": "drop"}}}
CRM = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals")


def skipped(made: World, stream: str) -> dict[str, str]:
    """Source id -> rule."""
    rows = made.sql("SELECT RowKey, Reason FROM SetAside WHERE Why = 'excluded'")
    return {str(key).split(":", 2)[2]: str(why) for key, why in rows if str(key).split(":", 2)[1] == stream}


def closes(made: World, name: str) -> bool:
    one = made.stream(name)
    return one.retrieved == one.import_ok + one.import_err + one.excluded and one.reported in (None, one.retrieved)


# ---------------------------------------------------------------- templates of recurring deals


def test_templates_of_recurring_deals_are_no_deals(tmp_path: Path) -> None:
    with world(tmp_path, small(deals=16, companies=3, contacts=3, smart_types=0, posts=0, templates=0)) as made:
        deals = made.cloud.portal.company.crm.items[2]
        templates = {str(number) for number in deals if deals.row(number)["isRecurring"] == "Y"}
        assert templates
        assert made.run(*CRM, **GONE).exit_code == 0
        assert skipped(made, "crm_deals") == dict.fromkeys(templates, RECURRING)
        assert {key.rpartition(":")[2] for key in made.imported("crm_deals")} == set(map(str, deals)) - templates
        assert f"crm_deals: {len(templates)} skipped by rule: {RECURRING}" in made.entity("crm_deals").notes
        assert closes(made, "crm_deals")
        assert made.entity("crm_deals").verified


def test_nobody_waits_for_the_template_of_a_recurring_deal(tmp_path: Path) -> None:
    """Also where it is the last of all deals, so that it might have come after the deals were read."""
    with world(tmp_path, small(deals=4, companies=3, contacts=3, tasks=3, posts=0, templates=0)) as made:
        made.change("crm_deals", "add", fields={"title": "Каждый месяц", "isRecurring": "Y"})
        last = max(made.cloud.portal.company.crm.items[2])
        for task in list(made.cloud.portal.company.tasks.table)[:1]:
            made.change("tasks", id=task, fields={"UF_CRM_TASK": [f"D_{last}"]})
        assert made.run(*CRM, "crm_spitems", "tasks", **GONE).exit_code == 0
        assert skipped(made, "crm_deals") == {str(last): RECURRING}
        assert made.entity("tasks").verified


def test_a_template_that_was_migrated_before_there_was_a_rule_stays_what_it_is(tmp_path: Path) -> None:
    with world(tmp_path, small(deals=4, companies=3, contacts=3, smart_types=0, posts=0, templates=0)) as made:
        assert made.run(*CRM, **GONE).exit_code == 0
        number = min(made.cloud.portal.company.crm.items[2])
        made.change("crm_deals", id=number, fields={"isRecurring": "Y"})
        assert made.run("crm_deals", **GONE).exit_code == 0
        assert skipped(made, "crm_deals") == {}
        assert closes(made, "crm_deals")


# ---------------------------------------------------------------- members that a group counts and no method lists


def unlisted(made: World) -> list[tuple[str, str]]:
    """Group and reason, once for each member that nobody could read."""
    rows = made.sql("SELECT RowKey, Reason FROM SetAside WHERE Why = 'impossible'")
    return [(str(key).split(":")[2], str(why)) for key, why in rows if str(key).split(":")[1] == "group_members"]


def dismiss(made: World) -> tuple[int, int]:
    """Of the first group that has some, one member who is neither its owner nor the administrator; group and user."""
    company = made.cloud.portal.company
    for group in company.groups_by_id.values():
        for user in group.roles:
            if user not in (group.owner, 1) and company.is_active(user):
                made.change("users", id=user, fields={"ACTIVE": False})
                return group.id, user
    raise AssertionError


def test_dismissed_members_are_read_with_their_roles(small: World) -> None:
    dismiss(small)
    assert small.run("users", "groups").exit_code == 0
    company = small.cloud.portal.company
    roles = {
        f"source:group_members:{group.id}:{user}": role
        for group in company.groups_by_id.values()
        for user, role in group.roles.items()
    }
    assert any(not company.is_active(int(key.rpartition(":")[2])) for key in roles)
    assert {key: row["fields"]["ROLE"] for key, row in small.imported("group_members").items()} == roles
    assert unlisted(small) == []
    assert small.entity("groups").verified


def test_members_that_no_method_lists_are_counted_as_impossible(tmp_path: Path) -> None:
    with world(tmp_path, scopes=[scope for scope in ALL_SCOPES if scope != "socialnetwork"]) as made:
        dismiss(made)
        assert made.run("users", "groups").exit_code == 0
        company = made.cloud.portal.company
        gone = [
            str(group.id)
            for group in company.groups_by_id.values()
            for user in group.roles
            if not company.is_active(user)
        ]
        assert sorted(unlisted(made)) == sorted((group, UNLISTED) for group in gone)
        assert made.stream("group_members").impossible == len(gone) > 0
        assert closes(made, "group_members")
        assert any(f"{UNLISTED} ({len(gone)})" in note for note in made.entity("groups").notes)
        assert made.entity("groups").verified


def test_a_member_who_left_meanwhile_is_nobody_to_miss(small: World) -> None:
    """The group's count was read before the list of its members."""
    company = small.cloud.portal.company
    group = next(one for one in company.groups_by_id.values() if all(map(company.is_active, one.roles)))
    listed = {str(user) for user in group.roles}
    before = Seen(str(group.id), {"NUMBER_OF_MEMBERS": str(len(listed) + 1)}, {})
    with small.app() as app:
        for granted in (True, False):
            told = dismissed_members(app.work.source, {before.id: (before, listed)}, lambda _, yes=granted: yes)  # type: ignore[misc]
            assert (told.rows, told.aside) == ([], [])
