"""verify asks the source again: what counts is what it says now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.engine.test_odd_values import altering
from tests.engine.world import World

from b24migrate.bitrix import http
from b24migrate.engine.phases.comparison import is_same
from b24migrate.engine.phases.read import SLOWLY
from b24migrate.engine.phases.verify import sample
from b24migrate.engine.run import RunResult
from b24migrate.model.records import Job


def verify_everything(made: World) -> RunResult:
    with made.app() as opened:
        app = opened.with_context(opened.context.with_options(verify_all=True))
        return app.runner.run(app.chosen(), ("verify",), tick=made.leap())


def findings(made: World) -> list[tuple[Any, ...]]:
    return made.sql("SELECT Stream, Fate, SourceId, Field, Expected FROM Findings ORDER BY RowKey")


def test_everything_is_as_the_source_says(talk: World) -> None:
    assert verify_everything(talk).exit_code == 0
    assert findings(talk) == []


def test_records_that_the_box_lost_are_named(talk: World) -> None:
    """All of them, also those that are not in the sample."""
    lost = sorted(talk.records("ChatMessages"))[3:5]
    keys = [f"source:chat:msg:{one.rpartition(':')[2]}" for one in lost]
    talk.box.portal.imports.handle("import.chats.delete", {"stream": "chat_messages", "keys": keys})
    with talk.app(run={"verify_sample": 0}) as app:
        assert app.runner.run(app.chosen(), ("verify",), tick=talk.leap()).exit_code == 5
    named = [(stream, fate, number) for stream, fate, number, _, _ in findings(talk) if number != "*"]
    assert sorted(named) == [("chat_messages", "missing", one) for one in lost]
    assert not talk.entity("chats").verified


def test_an_earlier_version_of_a_record_that_fails_now_is_no_record_too_many(talk: World) -> None:
    group = talk.cloud.portal.company.groups.ids[0]
    talk.change("groups", id=group, fields={"NAME": "Отдел кадров"})
    item = {"key": f"source:groups:{group}", "code": "VALIDATION"}
    talk.strike_box({"method": "import.groups.batch", "item": item})
    assert talk.run().exit_code == 5
    assert talk.records("Groups")[str(group)]["Status"] == "IMPORT_ERR"
    assert [one for one in findings(talk) if one[1] == "extra"] == []


@pytest.mark.parametrize("place", [2, -1])
def test_a_message_that_was_edited_after_it_was_read_differs(talk: World, place: int) -> None:
    chat = max(talk.cloud.portal.company.chats.values(), key=len)
    number = chat.id_at(range(len(chat))[place])
    talk.change("chat_messages", id=number, chat=chat.id, fields={"text": "Исправлено", "params": []})
    assert verify_everything(talk).exit_code == 5
    found = [one for one in findings(talk) if one[3] == "text"]
    assert found == [("chat_messages", "differs", f"{chat.id}:{number}", "text", "Исправлено")]
    assert not talk.entity("chats").verified
    assert talk.run().exit_code == 0


@pytest.mark.parametrize(
    "verify", [verify_everything, lambda made: made.run(phases=("verify",))], ids=["all", "sample"]
)
def test_a_group_that_was_renamed_after_it_was_read_differs(talk: World, verify: Callable[[World], RunResult]) -> None:
    group = talk.cloud.portal.company.groups.ids[0]
    talk.change("groups", id=group, fields={"NAME": "Переименована"})
    assert verify(talk).exit_code == 5
    assert ("groups", "differs", str(group), "NAME", "Переименована") in findings(talk)


def test_a_record_of_which_the_source_says_something_odd_by_now_differs(talk: World) -> None:
    group = talk.cloud.portal.company.groups.ids[0]

    def odd(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | {"NAME": {"odd": [1]}} if row["ID"] == str(group) else row for row in rows]

    altering(talk, "sonet_group.get", odd)
    assert verify_everything(talk).exit_code == 5
    found = talk.sql("SELECT Fate, SourceId, Field, Note FROM Findings WHERE Stream = 'groups' AND SourceId <> '*'")
    ((fate, number, field, note),) = found
    assert (fate, number, field) == ("differs", str(group), "")
    assert "NAME" in note


def test_a_record_that_is_too_large_to_be_read_again_does_not_keep_others_from_it(
    talk: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    large, renamed = talk.cloud.portal.company.groups.ids[:2]
    talk.change("groups", id=large, fields={"NAME": "Ж" * 300_000})
    talk.change("groups", id=renamed, fields={"NAME": "Переименована"})
    monkeypatch.setitem(http.Wire.exchange.__kwdefaults__ or {}, "most", 200_000)
    assert talk.run(phases=("verify",)).exit_code == 5
    assert [one for one in findings(talk) if one[0] == "groups"] == [
        ("groups", "differs", str(renamed), "NAME", "Переименована")
    ]
    assert any("too large" in str(note) for note in talk.entity("groups").notes)


def test_a_sample_goes_on_where_it_was_interrupted(talk: World) -> None:
    """Whoever has to leave compares a part first: otherwise nobody would ever get any further."""
    with talk.app(run={"verify_sample": 25}) as app:
        context = replace(app.context, run="r", leaving=lambda: True)
        job = Job("chats-verify", "sample", {"stream": "chat_messages", SLOWLY: 10})
        for done in (10, 20):
            (follow,) = sample(context, job)
            assert isinstance(follow, Job)
            assert follow.args["done"] == done
            job = follow
        assert sample(context, job) == []


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (None, "", True),
        ([], None, True),
        ("", "x", False),
        ("x", None, False),
        ([1, 2], ["2", "1"], True),
        ([{"a": 1, "b": 2}, {"a": 0}], [{"a": 0}, {"b": 2, "a": 1}], True),
        (0, "", False),
    ],
)
def test_empty_is_empty_in_any_spelling_and_nothing_else_is(expected: Any, actual: Any, same: bool) -> None:
    assert is_same(expected, actual, unordered=True) is same
