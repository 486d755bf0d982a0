"""Undo by the box's own methods: what is ours goes, what somebody changed stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.targets.everything import Move, moving
from tests.targets.test_lost_answers import otherwise

from b24migrate.model.errors import Transient
from b24migrate.model.records import Item
from b24migrate.targets.rest.target import RestTarget
from b24sim.methods.feed import FeedHabits
from b24sim.result import Result

PEOPLE = {"responsibleId": "1", "createdBy": "1", "status": "2"}
TASKS = [Item.make(f"source:tasks:{one}", {"title": f"Task {one}", **PEOPLE}) for one in range(3)]
ROOT = Item.make("source:departments:1", {"NAME": "Company", "SORT": 1})
ANN = Item.make("source:users:3", {"NAME": "Ann", "EMAIL": "ann@example.org", "ACTIVE": True, "UF_DEPARTMENT": ["1"]})


def test_only_what_nobody_changed_is_deleted_and_a_rehearsal_deletes_nothing(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "tasks") as move, move.app() as app:
        target, table = app.context.target, move.world.box.portal.company.tasks.table
        outcomes = target.send("tasks", "tasks", TASKS, run="r")
        changed = int(outcomes[1].target_id or 0)
        table.put(changed, table.row(changed) | {"TITLE": "Mine now"})
        keys = [*(item.key for item in TASKS), "source:tasks:99"]
        rehearsed = target.delete("tasks", "tasks", keys, dry_run=True)
        assert len(table) == 3
        assert target.delete("tasks", "tasks", keys, dry_run=False) == rehearsed
        assert [one.status for one in rehearsed] == ["deleted", "kept", "deleted", "absent"]
        assert rehearsed[1].reason == "changed after its import"
        assert list(table) == [changed]
        assert target.send("tasks", "tasks", TASKS[:1], run="r")[0].status == "created"


def test_people_stay_with_the_reason_and_the_root_is_not_ours(tmp_path: Path) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        target, company = app.context.target, move.world.box.portal.company
        target.send("users", "departments", [ROOT], run="r")
        target.send("users", "users", [ANN], run="r")
        (kept,) = target.delete("users", "users", [ANN.key], dry_run=False)
        assert kept.status == "kept"
        assert "Dismiss" in kept.reason
        (root,) = target.delete("users", "departments", [ROOT.key], dry_run=False)
        assert root.status == "deleted"
        assert len(company.departments) == 1


def commented(move: Move, target: RestTarget) -> list[str]:
    post = Item.make("source:feed_posts:9", {"DETAIL_TEXT": "Hello", "AUTHOR_ID": "1", "DEST": ["UA"]})
    (made,) = target.send("feed", "feed_posts", [post], run="r")
    fields = {"post_id": made.target_id, "author_id": "1", "date": "2024-01-01T10:00:00Z"}
    items = [Item.make(f"source:feed_comments:9:{one}", {**fields, "text": f"Words {one}"}) for one in range(3)]
    target.send("feed", "feed_comments", items, run="r")
    assert len(move.world.box.portal.company.feed_rows.comments) == 3
    return [one.key for one in items]


@pytest.mark.parametrize("lower", [False, True])
def test_comments_are_found_and_taken_back_however_the_box_spells_their_key(
    move: Move, target: RestTarget, lower: bool
) -> None:
    move.world.box.portal.feed_habits = FeedHabits(comments_name_post=True, lower_keys=lower)
    keys = commented(move, target)
    assert len(target.read("feed", "feed_comments", keys)) == 3
    assert {one.status for one in target.delete("feed", "feed_comments", keys, dry_run=False)} == {"deleted"}
    assert len(move.world.box.portal.company.feed_rows.comments) == 0


def test_what_the_box_answers_under_another_key_is_not_taken_for_gone(move: Move, target: RestTarget) -> None:
    """Forgotten, it would stay on the box, and the next run would write it once more."""
    keys = commented(move, target)
    otherwise(move.world.box.portal, "log.blogcomment.user.get", lambda *_: Result({"list": []}))
    for dry_run in (True, False):
        with pytest.raises(Transient) as raised:
            target.delete("feed", "feed_comments", keys, dry_run=dry_run)
        assert raised.value.code == "STRANGE_ANSWER"
    with pytest.raises(Transient):
        target.read("feed", "feed_comments", keys)
    assert len(target._journal.find("feed_comments", keys)) == 3


def test_members_that_the_box_does_not_tell_are_not_taken_for_none(move: Move, target: RestTarget) -> None:
    group = Item.make("source:groups:9", {"NAME": "Sales", "OWNER_ID": "1"})
    target.send("groups", "groups", [group], run="r")
    otherwise(move.world.box.portal, "socialnetwork.api.workgroup.get", lambda *_: Result({"ID": "9"}))
    with pytest.raises(Transient) as raised:
        target.delete("groups", "groups", [group.key], dry_run=True)
    assert raised.value.code == "STRANGE_ANSWER"
