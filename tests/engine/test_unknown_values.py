"""What the portal refuses to tell is left out and said, never made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import World, world

from b24sim.company.chats import Chat
from b24sim.context import Context
from b24sim.methods.system import ALL_SCOPES
from b24sim.result import Result

REFUSED: dict[str, Any] = {"kind": "error", "code": "ACCESS_ERROR", "status": 403}
OF_WORKGROUPS = {"TYPE", "PROJECT_DATE_START", "PROJECT_DATE_FINISH", "SCRUM_MASTER_ID"}


def company_chats(made: World) -> list[Chat]:
    """Without those between two people, and those of tasks."""
    return [one for one in made.cloud.portal.company.chats.values() if one.kind not in "PX"]


def there(made: World, chat: Chat) -> dict[str, Any]:
    fields: dict[str, Any] = made.imported("chats")[f"source:chat:{chat.id}"]["fields"]
    return fields


def target(made: World, users: list[int]) -> set[str]:
    people = made.imported("users")
    return {people[f"source:users:{user}"]["id"] for user in users}


# ---------------------------------------------------------------- groups


def test_without_its_scope_nothing_is_said_about_projects(tmp_path: Path) -> None:
    with world(tmp_path, scopes=[scope for scope in ALL_SCOPES if scope != "socialnetwork"]) as made:
        assert made.run().exit_code == 0
        assert not OF_WORKGROUPS & {name for row in made.imported("groups").values() for name in row["fields"]}
        assert made.entity("groups").verified


def test_with_its_scope_everything_is_said_about_projects(talk: World) -> None:
    for row in talk.imported("groups").values():
        assert row["fields"].keys() >= OF_WORKGROUPS


# ---------------------------------------------------------------- who is in a chat


def test_participants_that_are_refused_are_asked_for_in_another_way(small: World) -> None:
    """As of the general chat. That way tells only those who are not dismissed."""
    small.strike_cloud({"method": "im.chat.user.list", **REFUSED})
    assert small.run().exit_code == 0
    company = small.cloud.portal.company
    for chat in company_chats(small):
        active = [user for user in chat.members if company.is_active(user)]
        assert set(there(small, chat)["users"]) == target(small, active)
    assert small.entity("chats").verified


def test_nobody_is_asked_for_in_another_way_too(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """To who may not look, the portal shows an empty list."""

    def nobody(_context: Context, _params: Any) -> Result:
        return Result([])

    method = small.cloud.portal.method("im.chat.user.list")
    silent = type(method)(method.name, method.scopes, nobody, method.upper)
    monkeypatch.setitem(small.cloud.portal.methods._methods, method.name, silent)
    assert small.run().exit_code == 0
    chat = company_chats(small)[0]
    assert set(there(small, chat)["users"]) == target(
        small, [user for user in chat.members if small.cloud.portal.company.is_active(user)]
    )


@pytest.mark.parametrize("listing", [False, True])
def test_participants_that_nobody_tells_are_left_out_and_named(tmp_path: Path, listing: bool) -> None:
    with world(tmp_path, listing_chats=listing) as made:
        made.strike_cloud({"method": "im.chat.user.list", **REFUSED}, {"method": "im.dialog.users.list", **REFUSED})
        ended = made.run()
        assert ended.exit_code == 5
        assert " incomplete" in ended.message
        notes = " ".join(made.entity("chats").notes)
        for chat in company_chats(made):
            assert "users" not in there(made, chat)
            assert f"the portal does not report the participants of chat {chat.id}" in notes
        made.strike_cloud()
        assert made.run().exit_code == 0
        for chat in company_chats(made):
            assert set(there(made, chat)["users"]) == target(made, chat.members)


# ---------------------------------------------------------------- chats that cannot be read


def test_a_chat_that_is_listed_but_cannot_be_read_is_named_and_counted(small: World) -> None:
    small.run("users")
    small.run("groups")
    small.strike_cloud({"method": "im.dialog.get", "at": [5], **REFUSED})
    assert small.run("chats").exit_code == 0
    staged = small.records("Chats").keys()
    (lost,) = {str(chat.id) for chat in small.cloud.portal.company.chats.values() if chat.kind != "X"} - staged
    about = small.stream("chats")
    # And those whose private chats nobody can read, and comments under the posts of a channel.
    assert about.impossible == 1 + 11 + 1
    ((why, reason),) = small.sql("SELECT Why, Reason FROM SetAside WHERE RowKey = ?", f"impossible:chats:{lost}")
    assert (why, "ACCESS_ERROR" in reason) == ("impossible", True)
    assert any(note.startswith(f"chats {lost} cannot be read") for note in small.entity("chats").notes)
    assert about.imported == len(small.imported("chats")) == len(staged)
    assert small.entity("chats").verified
