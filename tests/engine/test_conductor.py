"""What the conductor keeps of a plan when its phases end."""

from __future__ import annotations

from tests.engine.world import World

from b24migrate.ports import PASSES


def test_a_delta_pass_begins_only_where_a_get_came_to_its_end(small: World) -> None:
    small.strike_cloud({"method": "sonet_group.get", "kind": "error", "code": "SOMETHING_STRANGE"})
    assert small.run("users", "groups").exit_code == 4
    with small.app() as app:
        marks = {row.key for row in app.context.store.rows(PASSES, "mark:")}
    assert {"mark:departments", "mark:users"} <= marks
    assert "mark:groups" not in marks
