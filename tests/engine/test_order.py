"""Messages of one chat arrive in order, whatever fails on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.engine.world import World

from b24sim.company.chats import Chat
from b24sim.errors import RestError


def longest(made: World) -> Chat:
    return max(made.cloud.portal.company.chats.values(), key=len)


def key(number: int) -> str:
    return f"source:chat:msg:{number}"


def failing_twice(number: int) -> dict[str, Any]:
    return {"method": "import.chats.batch", "count": 2, "item": {"key": key(number), "code": "LOCKED", "retry": True}}


def taking(made: World, items: int) -> None:
    """A box that takes only so many items in a call."""
    box = made.box.portal.imports
    box._limits = replace(box._limits, items=items)


def calls_of(made: World, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The keys of each call that brings messages, in order."""
    portal = made.box.portal
    take = portal._import
    calls: list[list[str]] = []

    def watch(name: str, body: Mapping[str, Any], *size: Any) -> Any:
        if name.endswith(".batch") and body["stream"] == "chat_messages":
            calls.append([str(item["key"]) for item in body["items"]])
        return take(name, body, *size)  # type: ignore[arg-type]

    monkeypatch.setattr(portal, "_import", watch)
    return calls


@pytest.mark.parametrize(("items", "batch"), [(3, 100), (7, 10), (100, 100)])
def test_what_is_tried_again_is_never_sent_together_with_what_follows_it(
    small: World, monkeypatch: pytest.MonkeyPatch, items: int, batch: int
) -> None:
    chat = longest(small)
    numbers = [chat.id_at(place) for place in range(len(chat))]
    again = [numbers[place] for place in (4, 5, 17, len(chat) - 2)]
    taking(small, items)
    calls = calls_of(small, monkeypatch)
    small.strike_box(*(failing_twice(number) for number in again))
    assert small.run(entities={"chats": {"batch_messages": batch}}).exit_code == 0
    assert small.box.portal.imports.order_violations == 0
    assert max(map(len, calls)) <= items
    for number in again:
        mine = [call for call in calls if key(number) in call]
        assert len(mine) == 3
        later = {key(other) for other in numbers if other > number}
        for call in mine[1:]:
            assert not later & set(call)


def test_a_call_that_is_refused_as_a_whole_keeps_the_order_too(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its messages go one by one then; those behind one that has to wait do not go at all."""
    chat = longest(small)
    portal = small.box.portal
    take = portal._import

    def one_by_one(name: str, body: Mapping[str, Any], *size: Any) -> Any:
        if name.endswith(".batch") and body["stream"] == "chat_messages" and len(body["items"]) > 1:
            raise RestError("ERROR_ARGUMENT", "too many for me", 400)
        return take(name, body, *size)  # type: ignore[arg-type]

    monkeypatch.setattr(portal, "_import", one_by_one)
    small.strike_box(failing_twice(chat.id_at(4)), failing_twice(chat.id_at(9)))
    assert small.run(entities={"chats": {"batch_messages": 20}}).exit_code == 0
    assert portal.imports.order_violations == 0
    assert {one["Status"] for one in small.records("ChatMessages").values()} == {"IMPORT_OK"}
