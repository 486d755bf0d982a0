"""A box takes chats and messages in the name of its webhook's owner only, and only as of now."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from tests.b24sim.client import call, control, result, send

from b24sim import Company, ManualClock, Plan, Portal, Running, serve


@pytest.fixture
def box() -> Iterator[Running]:
    """Two people work on it already, each with a webhook."""
    company = Company(Plan(3, 1, 0, 0, 0, 0, bad_users=0, box=True))
    with serve(Portal(company, role="box", webhooks=(1, 2), clock=ManualClock())) as running:
        yield running


def chat(box: Running, **fields: Any) -> int:
    stamp = {"ENTITY_TYPE": "B24MIGRATE", "ENTITY_ID": "src:5"}
    return int(result(box, "im.chat.add", {"TITLE": "Talk", "USERS": [2]} | stamp | fields))


def messages(box: Running, number: int, user: int = 1) -> Any:
    body = {"DIALOG_ID": f"chat{number}", "LAST_ID": 0}
    return result(box, "im.dialog.messages.get", body, user)["messages"][::-1]


def test_a_chat_is_found_by_its_stamp_and_belongs_to_the_caller(box: Running) -> None:
    number = chat(box)
    assert result(box, "im.chat.get", {"ENTITY_TYPE": "B24MIGRATE", "ENTITY_ID": "src:5"}) == {"ID": number}
    answer = result(box, "im.dialog.get", {"DIALOG_ID": f"chat{number}"})
    assert (answer["owner"], answer["message_type"], answer["entity_id"]) == (1, "C", "src:5")
    assert answer["date_create"] == result(box, "server.time")
    assert set(result(box, "im.chat.user.list", {"CHAT_ID": number})) == {1, 2}
    record = control(box, "native?kind=chats")["records"][0]
    assert (record["stamp"], record["made"]) == ("B24MIGRATE:src:5", 1)


def test_only_the_owner_gives_a_chat_away_and_only_to_a_member(box: Running) -> None:
    number = chat(box)
    body = {"CHAT_ID": number, "USER_ID": 3}
    assert call(box, "im.chat.setOwner", body).json["error"] == "WRONG_REQUEST"
    assert result(box, "im.chat.user.add", {"CHAT_ID": number, "USERS": [3]}) is True
    assert result(box, "im.chat.setOwner", body) is True
    assert result(box, "im.dialog.get", {"DIALOG_ID": f"chat{number}"})["owner"] == 3
    assert call(box, "im.chat.setOwner", {"CHAT_ID": number, "USER_ID": 1}).json["error"] == "WRONG_REQUEST"
    assert control(box, "native?kind=chats")["records"][0]["fields"]["sees_from"].keys() == {"3"}


def test_who_joins_late_sees_what_was_said_before_only_if_he_is_let(box: Running) -> None:
    for hide, shown in (("Y", ["new"]), ("N", ["old", "new"])):
        number = chat(box, USERS=[])
        result(box, "im.message.add", {"DIALOG_ID": f"chat{number}", "MESSAGE": "old"})
        result(box, "im.chat.user.add", {"CHAT_ID": number, "USERS": [2], "HIDE_HISTORY": hide})
        result(box, "im.message.add", {"DIALOG_ID": f"chat{number}", "MESSAGE": "new"})
        assert [row["text"] for row in messages(box, number, 2) if row["author_id"]] == shown
        assert [row["text"] for row in messages(box, number, 1) if row["author_id"]] == ["old", "new"]


def test_a_message_is_the_callers_and_of_now_whatever_is_asked(box: Running) -> None:
    number = chat(box)
    fields = {"DIALOG_ID": f"chat{number}", "MESSAGE": "hi", "AUTHOR_ID": 2, "DATE": "2020-01-01"}
    first = result(box, "im.message.add", fields)
    result(box, "im.message.add", {"DIALOG_ID": f"chat{number}", "MESSAGE": "quoted", "SYSTEM": "Y"})
    rows = [row for row in messages(box, number) if "CODE" not in (row["params"] or {})]
    assert [(row["author_id"], row["text"]) for row in rows] == [(1, "hi"), (0, "quoted")]
    assert (rows[0]["id"], rows[0]["date"]) == (first, result(box, "server.time"))
    assert control(box, "native")["noise"]["notification"] == 2


def test_a_text_is_cut_at_twenty_thousand_characters(box: Running) -> None:
    number = chat(box)
    result(box, "im.message.add", {"DIALOG_ID": f"chat{number}", "MESSAGE": "ы" * 20_500})
    assert messages(box, number)[-1]["text"] == "ы" * 20_000 + " (...)"
    assert call(box, "im.message.add", {"DIALOG_ID": f"chat{number}"}).json["error"] == "MESSAGE_EMPTY"


def test_nobody_writes_where_he_is_not(box: Running) -> None:
    number = chat(box, USERS=[])
    reply = call(box, "im.message.add", {"DIALOG_ID": f"chat{number}", "MESSAGE": "x"}, user=2)
    assert (reply.status, reply.json["error"]) == (403, "ACCESS_ERROR")
    assert result(box, "im.message.add", {"DIALOG_ID": "2", "MESSAGE": "between us"}) > 0
    body = {"DIALOG_ID": "1", "LAST_ID": 0}
    assert result(box, "im.dialog.messages.get", body, 2)["messages"][0]["text"] == "between us"


def test_messages_are_changed_liked_and_deleted_by_those_who_may(box: Running) -> None:
    number = chat(box)
    answer = result(box, "im.message.add", {"DIALOG_ID": f"chat{number}", "MESSAGE": "hi"})
    assert call(box, "im.message.update", {"MESSAGE_ID": answer, "MESSAGE": "no"}, user=2).status == 400
    assert result(box, "im.message.update", {"MESSAGE_ID": answer, "MESSAGE": "ho"}) is True
    assert result(box, "im.message.like", {"MESSAGE_ID": answer, "ACTION": "plus"}, user=2) is True
    assert call(box, "im.message.like", {"MESSAGE_ID": answer, "ACTION": "plus"}, 2).json["error"] == "WITHOUT_CHANGES"
    row = messages(box, number)[-1]
    assert (row["text"], row["params"]) == ("ho", {"IS_EDITED": "Y", "LIKE": [2]})
    assert result(box, "im.message.delete", {"MESSAGE_ID": answer}) is True
    assert messages(box, number)[-1]["params"] == {"IS_DELETED": "Y"}


def test_the_import_of_chats_wants_an_application(box: Running) -> None:
    assert result(box, "method.get", {"name": "im.v2.import.creategroup"})["isExisting"] is True
    reply = call(box, "im.v2.Import.createGroup", {"ownerId": 1, "fields": {"title": "x"}})
    assert (reply.status, reply.json["error"]) == (400, "insufficient_auth_type")


def test_a_file_is_uploaded_into_a_chat(box: Running) -> None:
    number = chat(box)
    content = base64.b64encode(b"bytes").decode()
    body = {"dialogId": f"chat{number}", "fields": {"name": "a.txt", "content": content, "message": "see"}}
    made = result(box, "im.v2.File.upload", body)
    row = messages(box, number)[-1]
    assert (row["text"], row["params"]["FILE_ID"], row["id"]) == ("see", [made["file"]["id"]], made["messageId"])
    link = result(box, "disk.file.get", {"id": made["file"]["id"]})["DOWNLOAD_URL"]
    assert send(link, None, {"User-Agent": "t/1"}).body == b"bytes"
