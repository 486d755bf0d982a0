"""Entities in runs of their own, in whatever order: what an earlier one had to go without it gets when that has come."""

from __future__ import annotations

from pathlib import Path

from tests.engine.every_stream import everything
from tests.engine.world import World


def findings(made: World) -> list[tuple[str, ...]]:
    return made.sql("SELECT Stream, SourceId, Field, Expected, Actual FROM Findings")


def group_chat(made: World) -> tuple[str, str]:
    """A chat of a group: its key on the box, and the group's."""
    chat = next(one for one in made.cloud.portal.company.chats.values() if one.entity_type == "SONET_GROUP")
    return f"source:chat:{chat.id}", f"source:groups:{chat.entity_id}"


def test_a_chat_is_that_of_its_group_although_groups_were_read_only_later(small: World) -> None:
    chat, group = group_chat(small)
    assert small.run("users", "chats").exit_code == 0
    assert small.imported("chats")[chat]["fields"]["entity_id"] is None
    assert small.run().exit_code == 0
    assert small.imported("chats")[chat]["fields"]["entity_id"] == small.imported("groups")[group]["id"]
    assert findings(small) == []


def test_a_chat_is_that_of_its_group_although_the_group_came_after_groups_were_read(small: World) -> None:
    assert small.run("users", "groups").exit_code == 0
    (group,) = small.change("groups", "add", fields={"NAME": "New"})
    chat = next(one for one in small.cloud.portal.company.chats.values() if one.entity_type == "SONET_GROUP")
    chat.entity_id = str(group)
    small.cloud.portal.company.chats_version += 1
    assert small.run("users", "chats").exit_code == 0
    assert small.run().exit_code == 0
    there = small.imported("groups")[f"source:groups:{group}"]["id"]
    assert small.imported("chats")[f"source:chat:{chat.id}"]["fields"]["entity_id"] == there
    assert findings(small) == []


def test_posts_are_for_their_groups_although_groups_were_read_only_later(tmp_path: Path) -> None:
    with everything(tmp_path) as made:
        assert made.run("users", "feed").exit_code == 0
        before = [row["fields"]["DEST"] for row in made.imported("feed_posts").values()]
        assert not any(code.startswith("SG") for dest in before for code in dest)
        assert made.run("users", "groups", "feed").exit_code == 0
        after = [row["fields"]["DEST"] for row in made.imported("feed_posts").values()]
        assert any(code.startswith("SG") for dest in after for code in dest)
        assert findings(made) == []
