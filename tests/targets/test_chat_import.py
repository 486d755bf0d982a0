"""Chats by an application that has the scope im.import: authors and dates are kept, and nobody hears of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.targets.everything import Move, moving
from tests.targets.test_workflows import configure

from b24migrate.model.records import Item
from b24sim import Portal
from b24sim.company.chats import Chat
from b24sim.native.applications import LocalApplication
from b24sim.native.box_habits import BoxHabits

ADD = "im.v2.Import.Message.add"
LONG = "lorem ipsum " * 2000
CHAT = {"name": "Sales", "type": "chat", "users": ["1"], "owner": "1", "manager_list": []}


@contextmanager
def importing(folder: Path, **box: Any) -> Iterator[Move]:
    portal = Portal(role="box", application=LocalApplication(), **box)
    with moving(folder, "users", "groups", "chats", box=portal) as move:
        configure(move)
        yield move


def chats(move: Move) -> list[Chat]:
    portal = move.world.box.portal
    return [portal.company.chats[number] for number in sorted(portal.native.alive("chats"))]


def send(move: Move, stream: str, *items: Item) -> list[str]:
    return [one.target_id or one.error_code or "" for one in move.send("chats", stream, *items)]


def message(number: int, chat: str, text: str, date: str = "2024-05-06T07:08:09Z", **fields: Any) -> Item:
    columns = {"chat_id": chat, "author_id": "1", "date": date, "text": text, "files": [], **fields}
    return Item.make(f"source:chat:msg:{number}", columns)


@pytest.mark.parametrize("shifts", [True, False])
def test_messages_keep_their_authors_and_dates_and_nobody_is_told(tmp_path: Path, shifts: bool) -> None:
    with importing(tmp_path, box_habits=BoxHabits(import_shift=shifts)) as move:
        assert move.run().exit_code == 0
        assert move.unforeseen == []
        wrong = {(one.stream, one.field) for one in move.announced() if one.expected != one.seen and one.by_the_record}
        assert wrong <= {("chat_messages", "text")}  # of which there are several rules
        assert move.foreseen()["chat_messages", "author_id"] == move.foreseen()["chat_messages", "date"] == 0
        assert move.foreseen()["chat_messages", "text"] == 1  # which is too long
        assert move.twice() == []
        notices = [one for one in move.world.box.portal.native.outbox if one.about.startswith("message in chat")]
        assert notices == []
        assert {chat.entity_type for chat in chats(move)} == {"IMPORT_GROUP_FINISH"}
        assert all(len(set(chat.members)) == len(chat.members) for chat in chats(move))


def test_lost_answers_bring_nothing_twice(tmp_path: Path) -> None:
    with importing(tmp_path) as move:
        move.world.strike_box(
            *(
                {"method": one, "kind": "lost", "every": 3}
                for one in ("im.v2.Import.*", "disk.file.copyto", "im.chat.*")
            )
        )
        assert move.run().exit_code == 0
        assert move.unforeseen == []
        assert move.twice() == []
        assert len(chats(move)) == len(
            [row for row in move.world.records("Chats").values() if row["Status"] == "IMPORT_OK"]
        )


def test_a_message_that_comes_when_the_import_is_over_is_quoted_and_the_list_says_so(tmp_path: Path) -> None:
    with importing(tmp_path) as move:
        (chat,) = send(move, "chats", Item.make("source:chat:7", CHAT))
        send(move, "chat_messages", message(1, chat, "before"))
        move.finalize()
        send(move, "chat_messages", message(2, chat, "after"))
        (found,) = chats(move)
        assert [row["text"].partition("\n")[2] or row["text"] for row in found.added if row["author_id"]] == [
            "before",
            "after",
        ]
        with move.app() as app:
            rules = [
                one for one in app.context.target.fidelity() if (one.stream, one.field) == ("chat_messages", "date")
            ]
            keys = {number: {"": f"source:chat:msg:{number}", "chat_id": "7", "date": "2024"} for number in (1, 2, 3)}
            assert {number: rules[0].judge()(draft) for number, draft in keys.items()} == {1: False, 2: True, 3: True}


def test_a_message_before_an_earlier_one_keeps_its_date_and_text(tmp_path: Path) -> None:
    """The box puts a stub for it, which gets the text."""
    with importing(tmp_path) as move:
        (chat,) = send(move, "chats", Item.make("source:chat:7", CHAT))
        late, early = message(1, chat, "late"), message(2, chat, "early", "2023-01-02T03:04:05Z")
        numbers = send(move, "chat_messages", late, early)
        (found,) = chats(move)
        assert [(str(row["id"]), row["text"]) for row in found.added] == list(
            zip(numbers, ["late", "early"], strict=True)
        )
        moments = move.world.box.portal.company.moments
        assert moments.parse(found.added[1]["date"]) == moments.parse("2023-01-02T03:04:05Z")


def test_a_chat_shows_nothing_and_belongs_to_nobody_else_until_the_end(tmp_path: Path) -> None:
    with importing(tmp_path) as move:
        assert move.run("users", phases=("get", "set")).exit_code == 0
        person = str(max(move.world.box.portal.native.alive("users")))
        fields = {**CHAT, "users": ["1", person], "owner": person}
        (chat,) = send(move, "chats", Item.make("source:chat:7", fields))
        send(move, "chat_messages", message(1, chat, "hi", author_id=person))
        (found,) = chats(move)
        assert (found.members, found.owner) == ([1], 1)
        for _ in range(2):  # a repeated end changes nothing
            move.finalize()
            assert (found.members, found.owner) == ([1, int(person)], int(person))


def test_a_further_run_changes_nothing(tmp_path: Path) -> None:
    with importing(tmp_path) as move:
        assert move.run().exit_code == 0
        before = {key: one.updates for key, one in move.world.box.portal.native.entries.items()}
        assert move.run().exit_code == 0
        assert {key: one.updates for key, one in move.world.box.portal.native.entries.items()} == before


def test_a_lost_answer_does_not_double_a_message_that_the_box_cuts(tmp_path: Path) -> None:
    with importing(tmp_path) as move:
        (chat,) = send(move, "chats", Item.make("source:chat:7", CHAT))
        send(move, "chat_messages", message(1, chat, "before"))
        move.world.strike_box({"method": ADD, "kind": "lost", "count": 1})
        (number,) = send(move, "chat_messages", message(2, chat, LONG))
        (found,) = chats(move)
        assert [str(row["id"]) for row in found.added[1:]] == [number]
        assert len(found.added[1]["text"]) < len(LONG)


def test_several_files_become_several_messages_and_a_lost_answer_doubles_none(tmp_path: Path) -> None:
    with importing(tmp_path) as move:
        portal = move.world.box.portal
        (chat,) = send(move, "chats", Item.make("source:chat:7", CHAT))
        root = portal.company.drive.storage_of("user", 1).root
        files = [
            str(portal.company.drive.add_file(root, f"{name}.txt", text.encode(), by=1, at=0.0).file.id)
            for name, text in (("a", "x"), ("b", "xx"), ("a", "xxx"))
        ]
        move.world.strike_box(
            {"method": ADD, "kind": "lost", "count": 1}, {"method": "*copyto", "kind": "lost", "every": 2}
        )
        send(move, "chat_messages", message(1, chat, "see", files=files))
        (found,) = chats(move)
        shown = [(row["text"], [portal.company.drive.files[one].file.name for one in row["params"]["FILE_ID"]])
                 for row in found.added]  # fmt: skip
        assert shown == [("see", ["a.txt"]), ("", ["b.txt"]), ("", ["a (1).txt"])]


@pytest.mark.parametrize(
    ("application", "why"),
    [
        (LocalApplication(scopes=("bizproc", "user")), "lacks the scope `im.import`"),
        (LocalApplication(user=2), "belong to different users"),
    ],
)
def test_without_the_right_messages_are_quoted_and_the_doctor_says_why(
    tmp_path: Path, application: LocalApplication, why: str
) -> None:
    with moving(tmp_path, "users", "chats", box=Portal(role="box", application=application)) as move:
        configure(move)
        with move.app() as app:
            assert why in app.context.target.info().checks["chats"].message
        (chat,) = send(move, "chats", Item.make("source:chat:7", CHAT))
        send(move, "chat_messages", message(1, chat, "hi"))
        (found,) = chats(move)
        assert found.entity_type == "B24MIGRATE"
        assert found.added[-1]["text"].startswith("[B]")


def test_an_imported_message_is_changed_only_while_the_import_lasts(tmp_path: Path) -> None:
    with importing(tmp_path) as move:
        (chat,) = send(move, "chats", Item.make("source:chat:7", CHAT))
        send(move, "chat_messages", message(1, chat, "one"))
        send(move, "chat_messages", message(1, chat, "two"))
        (found,) = chats(move)
        assert [row["text"] for row in found.added] == ["two"]
        move.finalize()
        send(move, "chat_messages", message(1, chat, "three"))  # written long ago, says the box
        assert [row["text"] for row in found.added if row["author_id"]] == ["two"]
        with move.app() as app:
            rules = [
                one for one in app.context.target.fidelity() if (one.stream, one.field) == ("chat_messages", "text")
            ]
            draft = {"": "source:chat:msg:1", "chat_id": "7", "text": "three"}
            assert [one.reason[:21] for one in rules if one.judge()(draft)] == ["The box changes messa"]
