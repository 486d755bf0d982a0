"""A delta run brings what happened in chats. It reads little of them, also where something was deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.engine.world import World

from b24migrate.engine.jobs import PERFORMERS, Performer
from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.engine.run import RunResult
from b24migrate.model.errors import Halted
from b24migrate.model.records import Job
from b24migrate.model.streams import PHASES
from b24sim.company.chats import Chat
from b24sim.message_habits import MessageHabits
from b24sim.methods import dialogs

Json = Any
GET = ("custom-fields-get", "get")
KINDS = ("pack", "read", "children", "seek-missing", "seek-children", "mark")


def sync(made: World, *, phases: Sequence[str] = PHASES, deep: bool = False, **settings: Json) -> RunResult:
    with made.app(**settings) as app:
        return app.runner.run(app.chosen(("chats",)), phases, delta=True, deep=deep, tick=made.leap())


def chats(made: World) -> list[Chat]:
    """Chats of several people that the webhook reads, the longest first."""
    known = made.records("Chats")
    found = [one for one in made.cloud.portal.company.chats.values() if str(one.id) in known]
    return sorted((one for one in found if len(one.members) > 3), key=len, reverse=True)


def members(made: World, chat: Chat) -> set[str]:
    """On the box, by their ids in the source."""
    there = {row["TargetId"]: key for key, row in made.records("Users").items()}
    return {there[str(one)] for one in made.imported("chats")[f"source:chat:{chat.id}"]["fields"]["users"]}


def message(made: World, number: int) -> dict[str, Json]:
    fields: dict[str, Json] = made.imported("chat_messages")[f"source:chat:msg:{number}"]["fields"]
    return fields


def say(made: World, chat: Chat, count: int = 1) -> list[int]:
    return made.change("chat_messages", "add", chat=chat.id, count=count)


def is_sound(made: World) -> bool:
    told = made.stream("chat_messages")
    assert (told.drift, told.findings, told.failed, told.waiting) == (0, 0, 0, 0)
    return made.entity("chats").verified


# ---------------------------------------------------------------- what arrives


def test_what_people_wrote_edited_and_deleted_arrives(talk: World) -> None:
    long, other, third, *_ = chats(talk)
    edited, liked, softly, for_good = say(talk, long, 4)
    assert sync(talk).exit_code == 0
    talk.change("chat_messages", id=edited, chat=long.id, seen=False, fields={"text": "Правка"})
    talk.change("chat_messages", id=liked, chat=long.id, seen=False, fields={"params": {"LIKE": [1]}})
    talk.change("chat_messages", "delete", id=softly, chat=long.id)
    talk.change("chat_messages", "delete", id=for_good, chat=long.id, for_good=True)
    old, same_count = other.id_at(3), third.id_at(2)
    talk.change("chat_messages", "delete", id=old, chat=other.id, for_good=True)
    talk.change("chat_messages", "delete", id=same_count, chat=third.id, for_good=True)
    (new,) = say(talk, third)
    assert sync(talk).exit_code == 0
    assert (message(talk, edited)["text"], message(talk, liked)["reactions"]) == ("Правка", {"LIKE": 1})
    assert message(talk, softly)["params"]["IS_DELETED"] == "Y"
    assert message(talk, new)["text"].startswith("Новое")
    assert talk.deleted("ChatMessages") == {f"{long.id}:{for_good}", f"{other.id}:{old}", f"{third.id}:{same_count}"}
    assert is_sound(talk)
    talk.take_calls()
    assert sync(talk, phases=GET).exit_code == 0
    assert talk.take_calls()["im.dialog.messages.get"] == 2  # the two in which somebody wrote today


def test_chats_and_participants_follow(talk: World) -> None:
    renamed, left, joined, *_ = chats(talk)
    who = next(user for user in left.members if user not in (1, left.owner))
    talk.change("chats", id=left.id, fields={"users": [one for one in left.members if one != who]})
    free = [int(one) for one in talk.records("Users") if int(one) not in joined.members]
    talk.change("chats", id=joined.id, fields={"users": [*joined.members, *free[:1]]})
    talk.change("chats", id=renamed.id, fields={"name": "Другой чат"})
    (new,) = talk.change("chats", "add", fields={"users": [1, 2, 3, 4], "name": "Новый"})
    (first,) = talk.change("chat_messages", "add", chat=new)
    talk.take_calls()
    assert sync(talk, phases=GET).exit_code == 0
    assert talk.take_calls()["im.chat.user.list"] == 4 - (not free)
    assert sync(talk).exit_code == 0
    assert talk.imported("chats")[f"source:chat:{renamed.id}"]["fields"]["name"] == "Другой чат"
    assert str(who) not in members(talk, left)
    assert set(map(str, free[:1])) <= members(talk, joined)
    assert message(talk, first)["text"]
    assert is_sound(talk)


def test_participants_are_asked_for_where_the_portal_itself_writes(talk: World) -> None:
    """One leaves and another joins: their number stays the same. What people write tells nothing about that."""
    swapped, other, *_ = (one for one in chats(talk) if len(one.members) < 12)
    out = next(user for user in swapped.members if user not in (1, swapped.owner))
    new = next(int(one) for one in talk.records("Users") if int(one) not in swapped.members)
    talk.change("chats", id=swapped.id, fields={"users": [new if one == out else one for one in swapped.members]})
    for text in ("Вышел", "Вошёл"):
        talk.change("chat_messages", "add", chat=swapped.id, fields={"text": text, "author_id": 0})
    say(talk, swapped)
    say(talk, other, 3)
    talk.take_calls()
    assert sync(talk, phases=GET).exit_code == 0
    assert talk.take_calls()["im.chat.user.list"] == 1
    assert sync(talk).exit_code == 0
    assert (str(out) in members(talk, swapped), str(new) in members(talk, swapped)) == (False, True)
    assert is_sound(talk)


def test_participants_are_asked_for_where_new_messages_are_not_shown(talk: World) -> None:
    chat = next(one for one in chats(talk) if len(one.members) < 12)
    out = next(user for user in chat.members if user not in (1, chat.owner))
    new = next(int(one) for one in talk.records("Users") if int(one) not in chat.members)
    talk.change("chats", id=chat.id, fields={"users": [new if one == out else one for one in chat.members]})
    say(talk, chat)
    talk.strike_cloud({"kind": "error", "method": "im.dialog.messages.get", "code": "ACCESS_ERROR", "status": 400})
    sync(talk)
    assert (str(out) in members(talk, chat), str(new) in members(talk, chat)) == (False, True)


def test_a_swap_without_a_word_is_seen_by_a_deep_run_only(talk: World) -> None:
    chat = next(one for one in chats(talk) if len(one.members) < 12)
    out = next(user for user in chat.members if user not in (1, chat.owner))
    new = next(int(one) for one in talk.records("Users") if int(one) not in chat.members)
    talk.change("chats", id=chat.id, fields={"users": [new if one == out else one for one in chat.members]})
    assert sync(talk).exit_code == 0
    assert str(out) in members(talk, chat)
    assert sync(talk, deep=True).exit_code == 0
    assert (str(out) in members(talk, chat), str(new) in members(talk, chat)) == (False, True)


def test_an_edit_outside_the_window_is_seen_by_a_full_run_only(talk: World) -> None:
    chat = chats(talk)[0]
    number = next(
        chat.id_at(place) for place in range(len(chat)) if message(talk, chat.id_at(place))["author_id"] != "0"
    )
    talk.change("chat_messages", id=number, chat=chat.id, fields={"text": "Поздняя правка"})
    assert sync(talk).exit_code == 0
    assert message(talk, number)["text"] != "Поздняя правка"
    assert talk.run("chats").exit_code == 0
    assert message(talk, number)["text"] == "Поздняя правка"


def test_a_chat_that_is_not_shown_any_more_is_not_deleted(talk: World) -> None:
    chat = chats(talk)[1]
    before = talk.stream("chat_messages")
    talk.change("chats", "delete", id=chat.id)
    sync(talk)
    assert (talk.stream("chats").deleted, talk.deleted("ChatMessages")) == (0, set())
    assert talk.stream("chat_messages").imported == before.imported


@pytest.mark.parametrize("delta", [True, False], ids=["delta", "full"])
def test_a_chat_that_the_owners_of_the_webhooks_hid_is_read_as_before(talk: World, delta: bool) -> None:
    """It is in no list (api-reference/chats/special-operations/im-recent-hide.md)."""
    chat = chats(talk)[1]
    left = next(user for user in chat.members if user not in (1, chat.owner))
    fields = {"hidden_by": list(talk.webhooks), "users": [user for user in chat.members if user != left]}
    talk.change("chats", id=chat.id, fields=fields)
    (new,) = say(talk, chat)
    assert (sync(talk) if delta else talk.run("chats")).exit_code == 0
    assert str(left) not in members(talk, chat)
    assert message(talk, new)
    told = talk.stream("chats")
    assert (told.findings, told.read) == (0, told.imported)
    assert is_sound(talk)


# ---------------------------------------------------------------- what it costs


def test_nothing_changed_costs_little_and_sends_nothing(talk: World) -> None:
    sync(talk)
    talk.box.portal.stats.reset()
    talk.take_calls()
    assert sync(talk, phases=(*GET, "set")).exit_code == 0
    calls, known = talk.take_calls(), len(talk.records("Chats"))
    assert calls["im.dialog.get"] == known
    assert (calls["im.chat.user.list"], calls["im.dialog.messages.get"]) == (0, 0)
    assert calls["batch"] == 3  # what the portal is like, the lists, and all chats
    assert not [name for name in talk.box.portal.stats.methods if name.endswith(".batch")]


def test_of_a_long_chat_only_the_end_is_read(talk: World) -> None:
    chat = chats(talk)[0]
    say(talk, chat, 230)
    age(talk)
    sync(talk)
    (new,) = say(talk, chat)
    talk.take_calls()
    assert sync(talk, phases=GET).exit_code == 0
    assert talk.take_calls()["im.dialog.messages.get"] == 1
    assert sync(talk).exit_code == 0
    assert message(talk, new)["text"]
    assert is_sound(talk)


@pytest.mark.parametrize("search", ["all", "people", "none"])
def test_what_is_deleted_far_up_is_found_by_its_number(
    talk: World, monkeypatch: pytest.MonkeyPatch, search: str
) -> None:
    """By a search, which proves nothing: where it does not show everything, or fails, the history itself is listed."""
    monkeypatch.setattr(talk.cloud.portal, "message_habits", MessageHabits(search=search))
    chat, other = chats(talk)[:2]
    numbers = say(talk, chat, 330)
    age(talk)
    talk.change("chats", id=other.id, fields={"name": "Другой чат"})
    sync(talk)
    erased = {numbers[-1], numbers[200], numbers[190]}
    for one in erased:
        talk.change("chat_messages", "delete", id=one, chat=chat.id, for_good=True)
    (new,) = say(talk, chat)
    talk.take_calls()
    assert sync(talk, phases=GET).exit_code == 0
    calls = talk.take_calls()
    assert talk.deleted("ChatMessages") == {f"{chat.id}:{one}" for one in erased}
    if search != "people":
        assert calls["im.dialog.messages.get"] <= 1 + (len(chat) // 50 + 1 if search == "none" else 0) + 3 + 5
        assert calls["im.dialog.messages.search"] <= 2
    assert sync(talk).exit_code == 0
    assert message(talk, new)["text"]
    assert is_sound(talk)
    talk.take_calls()
    assert sync(talk, phases=GET).exit_code == 0
    assert talk.take_calls()["im.dialog.messages.get"] == 1  # the new one may be edited
    assert len(talk.deleted("ChatMessages")) == len(erased)


def test_a_number_that_nothing_explains_makes_a_chat_be_read_whole(
    talk: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = chats(talk)[0]
    numbers = say(talk, chat, 230)
    age(talk)
    sync(talk)
    talk.change("chat_messages", "delete", id=numbers[3], chat=chat.id, for_good=True)
    talk.change("chat_messages", "delete", id=numbers[4], chat=chat.id, for_good=True)
    wrong = chat.id  # the portal's count of this one
    monkeypatch.setattr(dialogs, "counted", lambda _, one: len(one) + (one.id == wrong))
    talk.take_calls()
    assert sync(talk).exit_code == 0
    assert talk.take_calls()["im.dialog.messages.get"] >= len(chat) // 50
    assert talk.deleted("ChatMessages") == {f"{chat.id}:{one}" for one in numbers[3:5]}
    assert is_sound(talk)


def age(made: World) -> None:
    """The messages that came since the migration become older than any window."""
    company = made.cloud.portal.company
    for row in (row for chat in company.chats.values() for row in chat.added):
        row["date"] = f"2020{row['date'][4:]}"
    company.chats_version += 1


# ---------------------------------------------------------------- interruptions


def test_it_may_be_killed_after_every_job(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each job of the get is done twice: it was, and nobody wrote it down."""
    long, other, third, *_ = chats(talk)
    new, erased = say(talk, long, 120), other.id_at(1)
    talk.change("chat_messages", "delete", id=erased, chat=other.id, for_good=True)
    (last,) = say(talk, third)
    done: set[str] = set()
    for kind in KINDS:
        monkeypatch.setitem(PERFORMERS, kind, killed_once(PERFORMERS[kind], done))
    for _ in range(30):
        try:
            assert sync(talk, run={"workers": 1}).exit_code == 0
            break
        except Halted:
            pass
    assert {one.split(":")[1] for one in done} == set(KINDS)
    assert all(message(talk, one)["text"] for one in (*new, last))
    assert talk.deleted("ChatMessages") == {f"{other.id}:{erased}"}
    assert is_sound(talk)
    assert all(created == 1 for created, _ in talk.effects().values())


def test_what_a_cut_off_pass_found_deleted_is_found_again(talk: World) -> None:
    """It has read the chats, and marked nothing."""
    long, other, *_ = chats(talk)
    erased = other.id_at(1)
    talk.change("chat_messages", "delete", id=erased, chat=other.id, for_good=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PERFORMERS, "mark", killed_once(PERFORMERS["mark"], set(), before=True))
        with pytest.raises(Halted):
            sync(talk, run={"workers": 1})
    assert talk.run("users").exit_code == 0  # another run takes its place
    say(talk, long)
    assert sync(talk).exit_code == 0
    assert talk.deleted("ChatMessages") == {f"{other.id}:{erased}"}
    assert is_sound(talk)


def killed_once(perform: Performer, done: set[str], *, before: bool = False) -> Performer:
    def performed(context: RunContext, job: Job) -> Follow:
        follow = [] if before and job.id not in done else perform(context, job)
        if job.id not in done:
            done.add(job.id)
            raise Halted("killed")
        return follow

    return performed
