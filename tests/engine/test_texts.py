"""Ids inside texts and parameters, when what they name comes later, fails, or is not known at all."""

from __future__ import annotations

from typing import Any

from tests.engine.world import World


def old(made: World, group: object) -> str:
    return f"{made.cloud.portal.company.portal_url}/workgroups/group/{group}/"


def new(made: World, group: object) -> str:
    there = made.imported("groups")[f"source:groups:{group}"]["id"]
    return f"{made.box.portal.company.portal_url}/workgroups/group/{there}/"


def ids(made: World, stream: str, prefix: str) -> dict[int, str]:
    rows = made.imported(stream).items()
    return {int(key.removeprefix(prefix)): str(row["id"]) for key, row in rows}


def counter(made: World, name: str) -> float:
    counters: dict[str, float] = dict(made.sql("SELECT Name, Value FROM Counters"))
    return counters.get(name, 0)


def say(made: World, **fields: Any) -> str:
    """A new message in a group chat; its key on the box."""
    chat = next(one for one in made.cloud.portal.company.chats.values() if one.kind != "P")
    (number,) = made.change("chat_messages", "add", chat=chat.id, fields=fields)
    return f"source:chat:msg:{number}"


def sent(made: World) -> set[str]:
    return {name for name in made.box.portal.stats.methods if name.endswith((".batch", ".put"))}


# ---------------------------------------------------------------- records of the same stream


def test_a_group_may_name_itself_a_later_group_and_an_earlier_one(small: World) -> None:
    first, second, third, *_ = small.cloud.portal.company.groups.ids
    text = " and ".join(old(small, group) for group in (second, third, first))
    small.change("groups", id=second, fields={"DESCRIPTION": text})
    assert small.run().exit_code == 0
    there = small.imported("groups")[f"source:groups:{second}"]
    wanted = " and ".join(new(small, group) for group in (second, third, first))
    assert there["fields"]["DESCRIPTION"] == wanted
    assert (there["created_count"], there["updated_count"]) == (1, 1)
    assert small.entity("groups").verified
    assert small.box.portal.imports.digest_mismatches == 0


def test_a_chat_may_name_a_later_chat(small: World) -> None:
    chats = [one.id for one in small.cloud.portal.company.chats.values() if one.kind not in "PX"]
    small.change("chats", id=chats[0], fields={"description": f"moved to [CHAT={chats[-1]}]there[/CHAT]"})
    assert small.run().exit_code == 0
    there = small.imported("chats")[f"source:chat:{chats[0]}"]["fields"]["description"]
    assert there == f"moved to [CHAT={ids(small, 'chats', 'source:chat:')[chats[-1]]}]there[/CHAT]"
    assert small.entity("chats").verified


def test_what_was_completed_is_not_sent_again(small: World) -> None:
    first, *_, last = small.cloud.portal.company.groups.ids
    small.change("groups", id=first, fields={"DESCRIPTION": old(small, last)})
    small.run()
    before = small.effects()
    small.box.portal.stats.reset()
    assert small.run().exit_code == 0
    assert sent(small) == set()
    assert small.effects() == before


def test_a_text_that_names_a_failed_record_is_completed_when_that_has_come(small: World) -> None:
    group = small.cloud.portal.company.groups.ids[1]
    message = say(small, text=f"see {old(small, group)}")
    small.strike_box({"method": "import.groups.batch", "item": {"key": f"source:groups:{group}", "code": "VALIDATION"}})
    assert small.run().exit_code == 5
    assert small.imported("chat_messages")[message]["fields"]["text"] == f"see {old(small, group)}"
    small.strike_box()
    assert small.retry("groups").exit_code == 0
    assert small.run().exit_code == 0
    assert small.imported("chat_messages")[message]["fields"]["text"] == f"see {new(small, group)}"
    assert small.entity("chats").verified
    assert {created for created, _ in small.effects().values()} == {1}


# ---------------------------------------------------------------- parameters of messages


def test_people_in_parameters_are_those_of_the_target(small: World) -> None:
    message = say(small, params={"CHAT_USER": [2, 3], "NOTIFY": {"0": 4, "2": "5"}, "LARGE_FONT": "Y"})
    assert small.run().exit_code == 0
    people = ids(small, "users", "source:users:")
    assert small.imported("chat_messages")[message]["fields"]["params"] == {
        "CHAT_USER": [int(people[2]), int(people[3])],
        "NOTIFY": [int(people[4]), int(people[5])],
        "LARGE_FONT": "Y",
    }


def test_people_in_parameters_whom_nobody_knows_are_dropped_and_counted(small: World) -> None:
    before = say(small, params={"CHAT_USER": [2, 9001], "NOTIFY": [9002, 9002]})
    plain = say(small, params={"NOTIFY": "N"})
    assert small.run().exit_code == 0
    people = ids(small, "users", "source:users:")
    messages = small.imported("chat_messages")
    assert messages[before]["fields"]["params"] == {"CHAT_USER": [int(people[2])], "NOTIFY": []}
    assert messages[plain]["fields"]["params"] == {"NOTIFY": "N"}
    assert counter(small, "references_dropped:chat_messages") == 2


def test_texts_in_attachments_are_rewritten(small: World) -> None:
    group = small.cloud.portal.company.groups.ids[0]
    blocks = [{"MESSAGE": "[USER=2]Ann[/USER]"}, {"LINK": {"NAME": "it", "LINK": old(small, group)}}, {"DELIMITER": {}}]
    message = say(small, params={"ATTACH": [{"ID": 1, "COLOR": "#29619b", "BLOCKS": blocks}]})
    assert small.run().exit_code == 0
    (attach,) = small.imported("chat_messages")[message]["fields"]["params"]["ATTACH"]
    text, link, _ = attach["BLOCKS"]
    assert text == {"MESSAGE": f"[USER={ids(small, 'users', 'source:users:')[2]}]Ann[/USER]"}
    assert link == {"LINK": {"NAME": "it", "LINK": new(small, group)}}
    assert (attach["ID"], attach["COLOR"]) == (1, "#29619b")


def test_a_text_names_what_stands_in_it_and_nothing_else(small: World) -> None:
    with small.app() as app:
        names = app.context.memory.texts.mentioned
        assert list(names("[USER=5]Anna[/USER]")) == [("users", "5")]
        assert list(names("[CHAT=2]there[/CHAT]")) == [("chats", "2")]
        assert not list(names("[URL=7]"))
