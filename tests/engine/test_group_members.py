"""Members of a group, the dismissed included."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.skipped_records import closes
from tests.engine.world import World, small, world

from b24migrate.entities.groups.streams import UNLISTED, dismissed_members
from b24migrate.model.source_records import SourceRecord
from b24sim.methods.system import ALL_SCOPES


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


def test_a_member_who_is_dismissed_when_another_joins_stays_one(small: World) -> None:
    """The list is as long as the number that was read before."""
    assert small.run("users", "groups").exit_code == 0
    group, user = dismiss(small)
    company = small.cloud.portal.company
    new = next(
        one for one in company.users.ids if company.is_active(one) and one not in company.groups_by_id[group].roles
    )
    small.change("group_members", "add", group=group, user=new)
    assert small.run("users", "groups").exit_code == 0
    keys = {f"source:group_members:{group}:{one}" for one in (user, new)}
    assert keys <= small.imported("group_members").keys()
    assert small.stream("group_members").deleted == 0


@pytest.mark.parametrize("granted", [True, False])
@pytest.mark.parametrize("secret", [False, True])
def test_a_member_who_left_meanwhile_is_nobody_to_miss(tmp_path: Path, secret: bool, granted: bool) -> None:
    """The group's count was read before the list of its members."""
    with world(tmp_path, small(groups=6)) as made, made.app() as app:
        company = made.cloud.portal.company
        groups = [one for one in company.groups_by_id.values() if one.secret == secret]
        group = next(one for one in groups if all(map(company.is_active, one.roles)))
        listed = {str(user) for user in group.roles}
        before = SourceRecord(str(group.id), {"NUMBER_OF_MEMBERS": str(len(listed) + 1)}, {})
        dismissed = dismissed_members(app.context.source, {before.id: (before, listed)}, lambda _: granted)
        assert (dismissed.rows, dismissed.aside) == ([], [])
