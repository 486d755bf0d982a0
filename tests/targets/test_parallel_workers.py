"""Several hands at the same box at the same time: nothing arrives twice, and nobody sees what is half done."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Thread
from typing import Any

import pytest
from tests.targets.everything import Move

from b24migrate.model.records import Item, Outcome
from b24migrate.ports import CUSTOM_FIELDS, RegisterRow
from b24migrate.targets.rest.box import Box, user_names
from b24migrate.targets.rest.target import RestTarget

MOMENT_S = 0.3  # in which a second hand would have done it


def test_two_hands_that_send_the_same_record_make_it_once(
    move: Move, target: RestTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = Item.make("source:chat:1", {"type": "chat", "name": "Plans", "users": []})
    outcomes: list[Outcome] = []
    call = Box.call

    def send() -> None:
        outcomes.extend(target.send("chats", "chats", [item], run="a run"))

    second = Thread(target=send)

    def begin_another(box: Box, method: str, params: Mapping[str, Any]) -> Any:
        if method == "im.chat.add" and second.ident is None:
            second.start()
            second.join(MOMENT_S)
        return call(box, method, params)

    monkeypatch.setattr(Box, "call", begin_another)
    send()
    second.join()
    assert [one.status for one in outcomes] == ["created", "unchanged"]
    assert len({one.target_id for one in outcomes}) == 1
    assert len(move.world.box.portal.native.alive("chats")) == 1


def test_nobody_is_nameless_while_another_hand_learns_his_name(
    target: RestTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, question = target._box, Box.question
    meanwhile: list[dict[str, str]] = []

    class Told(dict[str, Any]):
        """Of a person. Somebody else wants the name just when it is looked at."""

        def get(self, name: str, default: Any = None) -> Any:
            if not meanwhile:
                meanwhile.append({})
                meanwhile.append(user_names(box, ["1"]))
            return super().get(name, default)

    monkeypatch.setattr(Box, "question", lambda *asked: [Told(row) for row in question(*asked)])
    assert user_names(box, ["1"]) == meanwhile[1] != {}


def test_what_is_to_be_forgotten_while_it_is_asked_for_is_not_kept(target: RestTarget) -> None:
    box = target._box

    def outdated() -> str:
        box.forget("number of chats")
        return "one"

    assert box.kept("number of chats", outdated, 3600.0) == "one"
    assert box.kept("number of chats", lambda: "two", 3600.0) == "two"


def test_a_custom_field_is_known_as_soon_as_it_is_made(move: Move) -> None:
    with move.app() as app:
        target, code = app.context.target, "UF_SIZE"
        assert isinstance(target, RestTarget)
        assert target._box.custom_types("users") == {}
        wish = {"code": code, "type": "string", "multiple": False, "sort": 100, "label": {"en": "Size"}}
        (made,) = target.fields("users", "users", [{**wish, "mandatory": False, "settings": {}, "options": []}])
        values = {"Type": "string", "TargetField": made.target, "State": made.status}
        app.context.store.write(CUSTOM_FIELDS, [RegisterRow(code, values, partition="users")])
        assert list(target._box.custom_types("users")) == [made.target]
