"""Undo on a box with the module: nothing of ours is left but files, and a run brings everything back, once."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from tests.engine.every_stream import STREAMS
from tests.engine.php_world import PhpWorld, everything_to_php

from b24migrate.engine import undo


def keys(made: PhpWorld) -> dict[str, set[str]]:
    return {stream: {str(row["key"]) for row in made.dump(stream)} for stream in STREAMS}


def test_what_the_module_imported_it_takes_back(tmp_path: Path) -> None:
    with everything_to_php(tmp_path) as made:
        own = made.on_the_box()
        assert made.run().exit_code == 0
        before = keys(made)
        with made.app() as app:
            scope = undo.find_scope(app.context, ())
            dry_run = undo.DryRun(app.context, scope)
            deque(dry_run.walk(), maxlen=0)
            assert not any(one.kept for one in dry_run.tallies.values())
            taking = undo.Undo(app.context, scope, dry_run)
            taking.take()
            assert taking.kept == 0
        left = {stream: rest for stream, there in made.on_the_box().items() if (rest := there - own[stream])}
        assert left.keys() == {"files"}
        assert made.run().exit_code == 0
        assert keys(made) == before
        assert made.strays(own) == {}


def test_what_is_deleted_at_the_source_goes_there_too(tmp_path: Path) -> None:
    """A member at once; a group as it is configured."""
    with everything_to_php(tmp_path) as made:
        assert made.run("users", "groups").exit_code == 0
        company = made.cloud.portal.company
        first, second, *_ = company.groups_by_id.values()
        member = next(user for user, role in first.roles.items() if role == "K" and company.is_active(user))
        made.change("group_members", "delete", group=first.id, user=member)
        made.change("groups", "delete", id=second.id)
        there = keys(made)
        assert made.run("users", "groups").exit_code == 0
        assert keys(made)["groups"] == there["groups"]
        gone = there["group_members"] - keys(made)["group_members"]
        assert f"source:group_members:{first.id}:{member}" in gone
        assert {key.split(":")[2] for key in gone} == {str(first.id), str(second.id)}
        assert made.run("users", "groups", run={"deletions": "delete"}).exit_code == 0
        assert keys(made)["groups"] == there["groups"] - {f"source:groups:{second.id}"}
