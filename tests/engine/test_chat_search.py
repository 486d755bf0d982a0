"""A delta run asks a search about many chats at once, and about each chat where the search may be wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from tests.engine.test_sync_chats import GET, age, chats, is_sound, message, say, sync
from tests.engine.world import World

from b24migrate.entities.chats import search
from b24sim.company.chats import Chat
from b24sim.context import Context
from b24sim.message_habits import MessageHabits
from b24sim.methods import chats as methods

Shape = Callable[[Context, Chat], dict[str, Any]]
DETAILS, SEARCH = "im.dialog.get", "im.search.chat.list"
SAMPLED = 1


@pytest.fixture(autouse=True)
def few_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"WORTH": 0, "COMMANDS": 1, "SAMPLED": SAMPLED}.items():
        monkeypatch.setattr(search, name, value)


def shown_otherwise(monkeypatch: pytest.MonkeyPatch, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
    shape: Shape = methods._found_shape
    monkeypatch.setattr(methods, "_found_shape", lambda context, chat: {**(row := shape(context, chat)), **change(row)})


def delete_and_write(made: World) -> tuple[str, int, Chat]:
    """In three chats: one loses an old message, one gets a new one, one another name."""
    lost, written, renamed, *_ = chats(made)
    number = lost.id_at(3)
    made.change("chat_messages", "delete", id=number, chat=lost.id, for_good=True)
    made.change("chats", id=renamed.id, fields={"name": "Другой чат"})
    (new,) = say(made, written)
    return f"{lost.id}:{number}", new, renamed


def arrived(made: World, done: tuple[str, int, Chat]) -> bool:
    erased, new, renamed = done
    assert sync(made).exit_code == 0
    assert made.deleted("ChatMessages") == {erased}
    assert message(made, new)["text"].startswith("Новое")
    assert made.imported("chats")[f"source:chat:{renamed.id}"]["fields"]["name"] == "Другой чат"
    return is_sound(made)


def test_chats_without_news_are_not_asked_about(talk: World) -> None:
    age(talk)
    assert sync(talk).exit_code == 0
    talk.take_calls()
    assert sync(talk, phases=GET).exit_code == 0
    calls = talk.take_calls()
    assert calls[SEARCH]
    assert calls[DETAILS] < len(talk.records("Chats")) / 2
    done = delete_and_write(talk)
    talk.take_calls()
    assert sync(talk, phases=GET).exit_code == 0
    later = talk.take_calls()
    assert later[DETAILS] <= calls[DETAILS] + 1  # the one with another name
    assert arrived(talk, done)


@pytest.mark.parametrize("number", ["message_count", "last_message_id"])
def test_a_search_with_wrong_numbers_is_not_asked_twice(
    talk: World, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    shown_otherwise(monkeypatch, lambda row: {number: row[number] - 1})
    age(talk)
    done = delete_and_write(talk)
    talk.take_calls()
    assert arrived(talk, done)
    assert talk.take_calls()[SEARCH]
    assert sync(talk, phases=GET).exit_code == 0
    calls = talk.take_calls()
    assert not calls[SEARCH]
    assert calls[DETAILS] >= len(talk.records("Chats"))


def test_a_search_that_is_late_is_not_believed(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its numbers are those of the last pass. The list of recent chats shows it, as soon as somebody writes."""
    before: dict[int, dict[str, Any]] = {}

    def late(row: Mapping[str, Any]) -> Mapping[str, Any]:
        return before.setdefault(row["id"], {name: row[name] for name in search.NUMBERS})

    shown_otherwise(monkeypatch, late)
    age(talk)
    assert sync(talk).exit_code == 0
    assert before
    assert arrived(talk, delete_and_write(talk))


@pytest.mark.parametrize("missing", ["description", "message_count", "avatar"])
def test_a_search_that_tells_less_is_no_answer(talk: World, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    shape: Shape = methods._found_shape
    monkeypatch.setattr(
        methods,
        "_found_shape",
        lambda context, chat: {name: value for name, value in shape(context, chat).items() if name != missing},
    )
    age(talk)
    assert arrived(talk, delete_and_write(talk))


def test_chats_that_a_search_does_not_find_are_asked_about(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk.cloud.portal, "message_habits", MessageHabits(chats_by="titles"))
    age(talk)
    assert arrived(talk, delete_and_write(talk))


def test_a_portal_may_have_no_search(talk: World) -> None:
    portal = talk.cloud.portal
    portal.methods = portal._make_methods(False, (SEARCH,))
    age(talk)
    assert arrived(talk, delete_and_write(talk))


@pytest.mark.parametrize(("wanted", "requests", "shown"), [((1, 6), 3, 5), ((0, 3), 1, 2), ((4, 6), 1, 0)])
def test_a_search_goes_on_as_long_as_it_saves_questions(
    talk: World, monkeypatch: pytest.MonkeyPatch, wanted: tuple[int, int], requests: int, shown: int
) -> None:
    """The newest chats come first, and others between them, such as chats of tasks."""
    monkeypatch.setattr(search, "PAGE", 2)
    portal = talk.cloud.portal
    word = str(portal.company.users.row(1)["LAST_NAME"])

    def found(wanted: Iterable[int]) -> list[int]:
        pages = search.search(app.context.source, dict.fromkeys(wanted), word, 0)
        return [chat for page in pages for chat in page]

    with talk.app() as app:
        every = found(range(10_000))
        before = portal.stats.carried[SEARCH]
        assert len(found(every[slice(*wanted)])) == shown
    assert (len(every), portal.stats.carried[SEARCH] - before) == (6, requests)
