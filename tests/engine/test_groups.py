"""Groups: all of them, also those that show themselves to few."""

from __future__ import annotations

from pathlib import Path

from tests.engine.test_verify import findings, verify_everything
from tests.engine.world import small, world

ADMINISTRATOR = 1


def test_a_secret_group_arrives_although_the_administrator_is_not_in_it(tmp_path: Path) -> None:
    with world(tmp_path, small(groups=6)) as made:
        groups = made.cloud.portal.company.groups_by_id
        (secret,) = [group for group in groups.values() if group.secret]
        assert ADMINISTRATOR not in secret.roles
        secret.kind = "project"
        assert made.run("users", "groups").exit_code == 0
        arrived = made.imported("groups")
        assert arrived.keys() == {f"source:groups:{number}" for number in groups}
        fields = arrived[f"source:groups:{secret.id}"]["fields"]
        assert fields["TYPE"] == "project"
        assert fields["PROJECT_DATE_START"]
        members = {f"source:group_members:{secret.id}:{user}" for user in secret.roles}
        assert members <= made.imported("group_members").keys()
        made.settings["run"]["entities"] = ["users", "groups"]
        assert verify_everything(made).exit_code == 0
        assert findings(made) == []
        made.change("groups", id=secret.id, fields={"NAME": "Переименована"})
        assert verify_everything(made).exit_code == 5
        assert ("groups", "differs", str(secret.id), "NAME", "Переименована") in findings(made)
