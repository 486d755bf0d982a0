"""What is asked of a box: all of it, once, and no more of it than is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.targets.everything import Move, moving
from tests.targets.test_lost_answers import call, chat, message_item, otherwise, send

from b24migrate.engine.phases import verify
from b24migrate.model.records import Item
from b24migrate.targets.rest import journal
from b24migrate.targets.rest.box import Box, SourceFacts
from b24migrate.targets.rest.target import RestTarget
from b24migrate.targets.rest.values import add_header, format_number, header_number
from b24sim import Portal
from b24sim.context import Context, Method
from b24sim.methods.system import ALL_SCOPES
from b24sim.request import Params
from b24sim.result import Result

PEOPLE = {"responsibleId": "1", "createdBy": "1", "status": "2"}
TASK = Item.make("source:tasks:5", {"title": "Call", **PEOPLE})


def count_calls(move: Move, method: str) -> int:
    stats = move.world.box.portal.stats
    return stats.methods[method] + stats.inner[method]


# ---------------------------------------------------------------- all of it


def test_what_an_undo_is_about_is_read_page_by_page(target: RestTarget) -> None:
    people = [
        Item.make(f"source:users:{one}", {"EMAIL": f"u{one}@example.org", "ACTIVE": True, "UF_DEPARTMENT": ["1"]})
        for one in range(60)
    ]
    for start in range(0, 60, 20):
        target.send("users", "users", people[start : start + 20], run="r")
    answers = target.delete("users", "users", [one.key for one in people], dry_run=True)
    assert {one.status for one in answers} == {"kept"}


def test_a_stretch_of_what_was_deleted_again_is_not_the_end(move: Move, target: RestTarget) -> None:
    for start in range(0, 600, 100):
        target._journal.forget("tasks", [f"source:tasks:1{number:03}" for number in range(start, start + 100)])
        target._journal.forget("groups", [f"source:groups:1{number:03}" for number in range(start, start + 100)])
    item = Item.make(TASK.key, {**TASK.fields, "changedDate": "2024-01-01T10:00:00Z", "auditors": []})
    _, number = send(target, "tasks", item)
    listed, cursor = [], ""
    while True:
        page, after, _ = target.listing("tasks", "tasks", cursor)
        listed += [one.key for one in page]
        if after is None:
            break
        cursor = after
    assert listed == [TASK.key]
    table = move.world.box.portal.company.tasks.table
    call(target, "task.checklistitem.add", TASKID=number, FIELDS={"TITLE": "One"})
    moved = table.row(int(number or 0))["CHANGED_DATE"]
    finish(target)
    assert table.row(int(number or 0))["CHANGED_DATE"] < moved


def finish(target: RestTarget) -> None:
    cursor: str | None = ""
    while cursor is not None:
        cursor = target.finalize(cursor, run="r")


def test_what_a_box_does_not_count_is_leafed_through_and_may_be_left_off(
    move: Move, target: RestTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "AT_ONCE", 2)
    for number in range(5):
        send(target, "tasks", Item.make(f"source:tasks:{number}", {"title": f"Task {number}", **PEOPLE}))
    with move.app() as app:
        stream = app.catalog.streams["tasks"]
        assert verify.count_on_target(app.context, stream) == (5, "")
        there, after = verify.count_on_target(app.context, stream, enough=lambda: True)
        assert there == 2
        assert verify.count_on_target(app.context, stream, {"there": there, "after": after}) == (5, "")


# ---------------------------------------------------------------- no more than is needed


def test_messages_far_apart_are_read_without_what_lies_between(move: Move, target: RestTarget) -> None:
    room = chat(target)
    first = send(target, "chats", message_item(room, 1))[1]
    for number in range(160):
        call(target, "im.message.add", DIALOG_ID=f"chat{room}", MESSAGE=f"Lunch {number}?")
    last = send(target, "chats", message_item(room, 2))[1]
    before = count_calls(move, "im.dialog.messages.get")
    keys = [message_item(room, 1).key, message_item(room, 2).key]
    there = target.read("chats", "chat_messages", keys)
    assert [there[key].target_id for key in keys] == [first, last]
    assert count_calls(move, "im.dialog.messages.get") - before == 2


def comment(number: int, post: object) -> Item:
    fields = {"post_id": str(post), "author_id": "1", "date": "2024-01-01T10:00:00Z", "text": f"Yes {number}"}
    return Item.make(f"source:feed_comments:9:{number}", fields)


def test_comments_of_the_feed_are_not_all_read_again_for_every_new_one(move: Move, target: RestTarget) -> None:
    post = call(target, "log.blogpost.add", POST_MESSAGE="News")
    for number in range(320):
        call(target, "log.blogcomment.add", POST_ID=post, TEXT=f"Before {number}")
    send(target, "feed", comment(1, post))
    before = count_calls(move, "log.blogcomment.user.get")
    for number in range(2, 7):
        assert send(target, "feed", comment(number, post))[0] == "created"
    assert count_calls(move, "log.blogcomment.user.get") - before <= 10
    keys = [comment(number, post).key for number in range(1, 7)]
    assert len(target.read("feed", "feed_comments", keys)) == 6


def test_somebody_whom_the_box_does_not_show_is_not_asked_for_at_every_message(move: Move, target: RestTarget) -> None:
    room = chat(target)
    items = [
        Item.make(one.key, {**one.fields, "author_id": "987654"}) for one in (message_item(room, k) for k in range(5))
    ]
    target.send("chats", "chat_messages", items, run="r")
    assert count_calls(move, "user.get") <= 1


def test_the_store_is_asked_once_for_a_person_whom_many_records_name(target: RestTarget) -> None:
    looked_up: list[str] = []

    def staged(_stream: str, source_id: str) -> bool:
        looked_up.append(source_id)
        return source_id != "9"

    box = Box(target._portal, target._box.store, SourceFacts(staged))
    assert [box.staged("users", one) for one in ("3", "3", "9", "9", "3")] == [True, True, False, False, True]
    assert looked_up == ["3", "9", "9"]


# ---------------------------------------------------------------- what people did


def test_what_somebody_did_to_a_task_on_the_box_is_not_taken_back(move: Move, target: RestTarget) -> None:
    item = Item.make(
        TASK.key, {**TASK.fields, "changedDate": "2024-01-01T10:00:00Z", "auditors": [], "accomplices": []}
    )
    number = int(send(target, "tasks", item)[1] or 0)
    table = move.world.box.portal.company.tasks.table
    table.put(number, table.row(number) | {"AUDITORS": ["1"], "CHANGED_BY": "77"})
    finish(target)
    assert table.row(number)["AUDITORS"] == ["1"]


def test_a_change_is_seen_even_when_the_writer_died_before_he_looked(move: Move, target: RestTarget) -> None:
    number = int(send(target, "tasks", TASK)[1] or 0)
    (known,) = target._journal.find("tasks", [TASK.key]).values()
    target._journal.write("tasks", [known._replace(print="")])
    assert send(target, "tasks", TASK)[0] == "unchanged"
    table = move.world.box.portal.company.tasks.table
    table.put(number, table.row(number) | {"TITLE": "Mine now"})
    (answer,) = target.delete("tasks", "tasks", [TASK.key], dry_run=True)
    assert answer.status == "kept"


def test_whom_a_group_does_not_take_did_not_arrive(target: RestTarget) -> None:
    group = call(target, "sonet_group.create", NAME="Sales")
    stranger = Item.make("source:group_members:1:9", {"GROUP_ID": str(group), "USER_ID": "987654", "ROLE": "K"})
    (outcome,) = target.send("groups", "group_members", [stranger], run="r")
    assert (outcome.status, outcome.retry) == ("failed", False)
    owner = Item.make("source:group_members:1:1", {"GROUP_ID": str(group), "USER_ID": "1", "ROLE": "A"})
    assert send(target, "groups", owner)[0] == "created"


def test_a_post_to_a_group_that_its_author_has_left_can_be_changed_as_well(move: Move, target: RestTarget) -> None:
    author = call(target, "user.add", EMAIL="ann@example.org", UF_DEPARTMENT=[1])
    group = call(target, "sonet_group.create", NAME="Sales")
    fields = {"DETAIL_TEXT": "News", "AUTHOR_ID": str(author), "DEST": [f"SG{group}"]}
    assert send(target, "feed", Item.make("source:feed_posts:5", fields))[0] == "created"
    assert send(target, "feed", Item.make("source:feed_posts:5", {**fields, "DETAIL_TEXT": "Newer"}))[0] == "updated"


# ---------------------------------------------------------------- in a sentence


def test_a_box_without_a_topmost_department_says_so(move: Move, target: RestTarget) -> None:
    def none(_known: Method, _context: Context, _params: Params) -> Result:
        return Result([])

    otherwise(move.world.box.portal, "department.get", none)
    root = Item.make("source:departments:1", {"NAME": "Company", "PARENT": None})
    (outcome,) = target.send("users", "departments", [root], run="r")
    assert (outcome.status, outcome.error) == ("failed", "the box has no top department")


def test_a_list_that_never_gets_on_is_read_once(move: Move, target: RestTarget) -> None:
    def again(known: Method, context: Context, params: Params) -> Result:
        page = known.call(context, {**params, "START": 0})
        return Result(page.value, 999, 50)

    otherwise(move.world.box.portal, "department.get", again)
    rows: list[Any] = list(target._box.pages("department.get", {}))
    assert len(rows) == 2 * len(move.world.box.portal.company.departments)


def test_one_that_the_box_refuses_to_put_right_hinders_no_other(move: Move, target: RestTarget) -> None:
    old = {**TASK.fields, "changedDate": "2024-01-01T10:00:00Z"}
    numbers = [send(target, "tasks", Item.make(f"source:tasks:{one}", old))[1] for one in (5, 6)]
    for number in numbers:
        call(target, "task.checklistitem.add", TASKID=number, FIELDS={"TITLE": "One"})
    move.world.strike_box({"method": "tasks.task.update", "kind": "error", "code": "ERROR_CORE", "at": [1, 2]})
    table = move.world.box.portal.company.tasks.table
    moved = [table.row(int(one or 0))["CHANGED_DATE"] for one in numbers]
    finish(target)
    now = [table.row(int(one or 0))["CHANGED_DATE"] for one in numbers]
    assert now[0] == moved[0]
    assert now[1] < moved[1]


def test_a_scope_for_files_is_asked_for_before_anything_is_written(tmp_path: Path) -> None:
    box = Portal(role="box", scopes=[scope for scope in ALL_SCOPES if scope != "disk"])
    with moving(tmp_path, "users", "groups", box=box) as move, move.app() as app:
        assert "lacks the scope `disk`" in app.context.target.info().lacks["users"]


# ---------------------------------------------------------------- the line before a text


@pytest.mark.parametrize("name", ["Ann", "Ann\nLee", "[B]Ann", "Ann №7[/B]", " "])
def test_a_text_is_known_again_whatever_its_author_is_called(name: str) -> None:
    text = add_header("source:chat:msg:5", "2024-01-01T10:00:00Z", "Hello\n[B]№9[/B]", name)
    assert header_number(text) == format_number("source:chat:msg:5")
    assert header_number(text.replace("\n", "\r\n")) == format_number("source:chat:msg:5")


def test_the_line_says_the_time_of_greenwich_and_makes_no_tag() -> None:
    text = add_header("source:feed_posts:5", "2024-01-01T01:30:00+03:00", "Hello")
    assert text.splitlines()[0] == "[B]2023-12-31 22:30 UTC · №5[/B]"


def test_a_smart_process_whose_number_the_box_has_given_away_gets_another(tmp_path: Path) -> None:
    """The box says so by the code of its validator, not by that of a number out of range."""
    with moving(tmp_path, "crm_structure") as made, made.app() as app:
        target = app.context.target
        wished = {"entityTypeId": "156", "code": ""}
        items = [Item.make(f"source:crm_types:{name}", {"title": name, **wished}) for name in ("Orders", "Visits")]
        outcomes = [target.send("crm", "crm_types", [item], run="r")[0] for item in items]
        assert [one.status for one in outcomes] == ["created", "created"]
        assert outcomes[0].target_id == "156" != outcomes[1].target_id


def test_emoji_that_the_box_tells_as_digits_are_read_as_emoji(target: RestTarget) -> None:
    """Else a comment whose answer got lost would not be known again, and would come twice."""
    _, task = send(target, "tasks", TASK)
    fields = {"task_id": task, "author_id": "1", "date": "2024-01-01T10:00:00Z", "text": "Готово 😀"}
    comment = Item.make("source:task_comments:5:f1", fields)
    assert send(target, "tasks", comment)[0] == "created"
    rows = call(target, "task.commentitem.getlist", TASKID=task)
    assert [row for row in rows if ":f09f9880:" in row["POST_MESSAGE"]]
    assert str(target.read("tasks", "task_comments", [comment.key])[comment.key].fields["text"]).endswith("Готово 😀")
