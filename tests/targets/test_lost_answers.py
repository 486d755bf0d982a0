"""A record whose answer got lost: it is looked for among all that came since, and nobody else's is taken for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.targets.everything import Move, moving

from b24migrate.entities.feed import rest_comments
from b24migrate.model.errors import Limited, Transient
from b24migrate.model.records import Item
from b24migrate.targets.rest import send as sending
from b24migrate.targets.rest.journal import State
from b24migrate.targets.rest.target import RestTarget
from b24migrate.targets.rest.values import format_number
from b24sim import Portal
from b24sim.context import Context, Method
from b24sim.request import Params
from b24sim.result import Result

PEOPLE = {"responsibleId": "1", "createdBy": "1", "status": "2"}


def call(target: RestTarget, method: str, **params: Any) -> Any:
    return target._box.call(method, params)


def send(target: RestTarget, entity: str, item: Item) -> tuple[str, str | None]:
    (outcome,) = target.send(entity, stream_of(item), [item], run="r")
    return outcome.status, outcome.target_id


def struck_down(move: Move, target: RestTarget, method: str, entity: str, *items: Item) -> None:
    """The create arrives, and nobody is left to hear of it."""
    in_vain(move, target, entity, *items, fault={"method": method, "kind": "lost", "always": True})


def in_vain(move: Move, target: RestTarget, entity: str, *items: Item, fault: dict[str, Any]) -> None:
    """One try only, and no look for what came of it."""
    move.world.strike_box(fault)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sending, "PAUSES_S", ())
        patch.setattr(sending, "look_for", lambda *_: {})
        outcomes = target.send(entity, stream_of(items[0]), items, run="r")
    assert {one.status for one in outcomes} == {"failed"}
    move.world.strike_box()


def stream_of(item: Item) -> str:
    return "chat_messages" if ":msg:" in item.key else item.key.split(":")[1]


def chat(target: RestTarget) -> str:
    made = call(target, "im.chat.add", TITLE="Talk", USERS=[])
    return str(made)


def message_item(chat_id: str, number: int) -> Item:
    fields = {"chat_id": chat_id, "author_id": "1", "date": "2024-01-01T10:00:00Z", "text": f"Words {number}"}
    return Item.make(f"source:chat:msg:{number}", fields)


def messages(move: Move, chat_id: str) -> list[str]:
    rows = move.world.box.portal.company.chats[int(chat_id)].added
    return [row["text"] for row in rows if "Words" in row["text"]]


def test_a_message_is_found_however_much_was_said_in_the_chat_since(move: Move, target: RestTarget) -> None:
    room = chat(target)
    struck_down(move, target, "im.message.add", "chats", message_item(room, 5))
    for number in range(120):
        call(target, "im.message.add", DIALOG_ID=f"chat{room}", MESSAGE=f"Lunch {number}?")
    assert send(target, "chats", message_item(room, 5))[0] == "created"
    assert len(messages(move, room)) == 1


def test_a_message_that_somebody_passed_on_is_not_ours(move: Move, target: RestTarget) -> None:
    room = chat(target)
    in_vain(
        move, target, "chats", message_item(room, 5), fault={"method": "im.message.add", "kind": "500", "always": True}
    )
    company = move.world.box.portal.company
    call(target, "im.message.add", DIALOG_ID=f"chat{room}", MESSAGE=f"[B]Ann · {format_number('msg:5')}[/B]\nWords 5")
    row = company.chats[int(room)].added[-1]
    row["author_id"] = 30_000_009
    assert send(target, "chats", message_item(room, 5))[1] != str(row["id"])
    assert len(messages(move, room)) == 2


def test_a_task_is_found_behind_any_number_of_newer_ones(move: Move, target: RestTarget) -> None:
    """On a box that does not filter by the field of the stamp."""

    def unfiltered(known: Method, context: Context, params: Params) -> Result:
        wanted = {name: value for name, value in dict(params.get("filter") or {}).items() if name != "XML_ID"}
        return known.call(context, {**params, "filter": wanted})

    otherwise(move.world.box.portal, "tasks.task.list", unfiltered)
    lost = Item.make("source:tasks:5", {"title": "Call", **PEOPLE})
    struck_down(move, target, "tasks.task.add", "tasks", lost)
    for number in range(60):
        call(target, "tasks.task.add", fields={"TITLE": f"Other {number}", "RESPONSIBLE_ID": 1})
    assert send(target, "tasks", lost)[0] == "created"
    table = move.world.box.portal.company.tasks.table
    assert [table.row(one)["TITLE"] for one in table].count("Call") == 1


def test_of_a_task_and_its_copies_the_first_is_ours(move: Move, target: RestTarget) -> None:
    lost = Item.make("source:tasks:5", {"title": "Call", **PEOPLE})
    struck_down(move, target, "tasks.task.add", "tasks", lost)
    (first,) = move.world.box.portal.native.alive("tasks")
    copied = {"TITLE": "Call", "RESPONSIBLE_ID": 1, "XML_ID": "b24migrate:source:tasks:5"}
    call(target, "tasks.task.add", fields=copied)
    assert send(target, "tasks", lost) == ("created", str(first))


def test_somebody_with_the_same_mail_and_code_who_was_there_before_is_not_taken_over(
    move: Move, target: RestTarget
) -> None:
    there = call(target, "user.add", EMAIL="ann@example.org", XML_ID="hr-7", UF_DEPARTMENT=[1])
    ann = {"EMAIL": "ann@example.org", "XML_ID": "hr-7", "ACTIVE": False, "UF_DEPARTMENT": ["1"]}
    item = Item.make("source:users:3", ann)
    assert [send(target, "users", item)[0] for _ in range(2)] == ["failed", "failed"]
    assert move.world.box.portal.company.users.row(int(there))["ACTIVE"] is True


def test_a_post_is_found_behind_any_number_of_newer_ones(move: Move, target: RestTarget) -> None:
    lost = Item.make("source:feed_posts:5", {"DETAIL_TEXT": "News", "AUTHOR_ID": "1", "DEST": ["UA"]})
    struck_down(move, target, "log.blogpost.add", "feed", lost)
    for number in range(160):
        call(target, "log.blogpost.add", POST_MESSAGE=f"Other {number}")
    assert send(target, "feed", lost)[0] == "created"
    posts = move.world.box.portal.company.feed.posts.values()
    assert sum("News" in str(post.extra.get("DETAIL_TEXT")) for post in posts) == 1


def test_a_comment_without_a_date_or_an_author_is_found(move: Move, target: RestTarget) -> None:
    task = call(target, "tasks.task.add", fields={"TITLE": "Call", "RESPONSIBLE_ID": 1})["task"]["id"]
    fields: dict[str, Any] = {"task_id": str(task), "text": "Done", "author_id": None, "date": None, "files": []}
    lost = Item.make("source:task_comments:1:f7", fields)
    struck_down(move, target, "task.commentitem.add", "tasks", lost)
    assert send(target, "tasks", lost)[0] == "created"
    assert len(move.world.box.portal.native.alive("task_comments")) == 1


def test_of_comments_that_the_box_does_not_show_each_is_its_own(move: Move, target: RestTarget) -> None:
    """The texts of others are hidden: the one before, whose answer came, looks just like the lost one."""
    somebody = call(target, "user.add", EMAIL="ann@example.org", UF_DEPARTMENT=[1])
    post = call(target, "log.blogpost.add", POST_MESSAGE="News", DEST=["UA"])
    fields = {"post_id": str(post), "author_id": str(somebody), "date": "2024-01-01T10:00:00Z", "files": []}
    items = [Item.make(f"source:feed_comments:1:{one}", {**fields, "text": f"Words {one}"}) for one in range(5, 9)]
    move.world.strike_box({"method": "log.blogcomment.add", "kind": "lost", "at": [2]})
    outcomes = target.send("feed", "feed_comments", items, run="r")
    comments = move.world.box.portal.company.feed_rows.comments
    texts = {str(row["comment_id"]): row["text"] for row in map(comments.row, comments)}
    assert [texts[str(one.target_id)].partition("\n")[2] for one in outcomes] == [f"Words {one}" for one in range(5, 9)]
    assert len(texts) == 4


@pytest.fixture
def by_ann(target: RestTarget) -> Callable[[int], Item]:
    """Comments whose texts the box hides."""
    ann = call(target, "user.add", EMAIL="ann@example.org", UF_DEPARTMENT=[1])
    post = call(target, "log.blogpost.add", POST_MESSAGE="News", DEST=["UA"])
    fields = {"post_id": str(post), "author_id": str(ann), "date": "2024-01-01T10:00:00Z", "files": []}
    return lambda number: Item.make(f"source:feed_comments:1:{number}", {**fields, "text": f"Words {number}"})


def comments(move: Move) -> dict[str, str]:
    """The texts on the box, by id."""
    rows = move.world.box.portal.company.feed_rows.comments
    return {str(row["comment_id"]): row["text"].partition("\n")[2] for row in map(rows.row, rows)}


def insist(target: RestTarget, item: Item) -> str | None:
    """As the jobs of a run do."""
    for _ in range(3):
        with suppress(Transient):
            return send(target, "feed", item)[1]
    return None


LOST = {"method": "log.blogcomment.add", "kind": "lost", "at": [1]}


def test_a_lost_comment_is_not_taken_for_another_lost_one(
    move: Move, target: RestTarget, by_ann: Callable[[int], Item]
) -> None:
    struck_down(move, target, "log.blogcomment.add", "feed", by_ann(5))
    move.world.strike_box(LOST)
    ids = [insist(target, by_ann(number)) for number in (6, 5)]
    assert [comments(move)[str(one)] for one in ids] == ["Words 6", "Words 5"]
    assert len(comments(move)) == 2


def test_a_comment_that_the_box_has_already_is_found_when_it_refuses_a_duplicate(
    move: Move, target: RestTarget, by_ann: Callable[[int], Item]
) -> None:
    """One that was sent before it and did not arrive looks like it."""
    in_vain(move, target, "feed", by_ann(5), fault={"method": "log.blogcomment.add", "kind": "500", "always": True})
    move.world.strike_box(LOST)
    ids = [insist(target, by_ann(number)) for number in (6, 5)]
    assert [comments(move)[str(one)] for one in ids] == ["Words 6", "Words 5"]
    assert len(comments(move)) == 2


def test_a_comment_that_was_refused_is_not_looked_for(
    move: Move, target: RestTarget, by_ann: Callable[[int], Item]
) -> None:
    move.world.strike_box({"method": "log.blogcomment.add", "kind": "error", "code": "", "status": 400, "at": [1]})
    assert send(target, "feed", by_ann(5))[0] == "failed"
    move.world.strike_box()
    struck_down(move, target, "log.blogcomment.add", "feed", by_ann(6))
    outcomes = target.send("feed", "feed_comments", [by_ann(5), by_ann(6)], run="r")
    found = [comments(move)[str(one.target_id)] for one in outcomes]
    assert found == ["Words 5", "Words 6"]
    assert len(comments(move)) == 2


def test_a_record_whose_last_try_arrived_is_found(move: Move, target: RestTarget) -> None:
    add = "tasks.task.add"
    move.world.strike_box({"method": add, "kind": "500", "at": [1, 2]}, {"method": add, "kind": "lost", "at": [3]})
    assert send(target, "tasks", Item.make("source:tasks:5", {"title": "Call", **PEOPLE}))[0] == "created"
    assert len(move.world.box.portal.native.alive("tasks")) == 1


def test_a_comment_whose_answer_was_lost_is_found_below_many_others(move: Move, target: RestTarget) -> None:
    """The box returns the newest comments first, whichever cursor is given."""
    post = call(target, "log.blogpost.add", POST_MESSAGE="News")
    fields = {"post_id": str(post), "author_id": "1", "date": "2024-01-01T10:00:00Z", "files": []}
    lost = Item.make("source:feed_comments:1:7", {**fields, "text": "Words"})
    struck_down(move, target, "log.blogcomment.add", "feed", lost)
    for number in range(250):
        call(target, "log.blogcomment.add", POST_ID=post, TEXT=f"Later {number}")
    assert send(target, "feed", lost)[0] == "created"
    assert len(move.world.box.portal.company.feed_rows.comments) == 251


def test_of_several_lost_comments_that_look_alike_the_oldest_is_the_first_that_was_sent(
    move: Move, target: RestTarget
) -> None:
    somebody = call(target, "user.add", EMAIL="ann@example.org", UF_DEPARTMENT=[1])
    post = call(target, "log.blogpost.add", POST_MESSAGE="News", DEST=["UA"])
    trace = {"author": str(somebody), "post": str(post), "after": 0}
    made = [
        str(call(target, "log.blogcomment.add", POST_ID=post, USER_ID=somebody, TEXT=f"Words {number}"))
        for number in range(3)
    ]
    keys = [f"source:feed_comments:1:{number}" for number in range(3)]
    assert rest_comments.find_comments(target._box, dict.fromkeys(keys, trace)) == dict(zip(keys, made, strict=True))


# ---------------------------------------------------------------- what is known already


def test_what_was_answered_before_a_limit_is_remembered(move: Move, target: RestTarget) -> None:
    room = chat(target)
    move.world.strike_box({"method": "im.message.add", "kind": "query_limit", "at": [3]})
    items = [message_item(room, number) for number in range(1, 5)]
    with pytest.raises(Limited):
        target.send("chats", "chat_messages", items, run="r")
    known = target._journal.find("chat_messages", [item.key for item in items])
    assert [bool(known[item.key].target_id) for item in items] == [True, True, False, False]


STRUCTURE = (
    ("crm_types", "crm.type.list", Item.make("source:crm_types:9", {"title": "Orders", "entityTypeId": "180"})),
    (
        "crm_categories",
        "crm.category.list",
        Item.make("source:crm_categories:2:0", {"name": "Main", "entityTypeId": "2"}),
    ),
    ("crm_stages", "crm.status.list", Item.make("source:crm_stages:7", {"ENTITY_ID": "SOURCE", "STATUS_ID": "WEB"})),
)


@pytest.mark.parametrize(("stream", "question", "item"), STRUCTURE, ids=[one[0] for one in STRUCTURE])
def test_what_was_there_before_is_not_ours_to_delete_whichever_answer_gets_lost(
    move: Move, target: RestTarget, stream: str, question: str, item: Item
) -> None:
    call(target, "crm.type.add", fields={"title": "Orders"})
    call(target, "crm.category.add", entityTypeId=2, fields={"name": "Main"})
    rows = call(target, "crm.status.list", filter={"ENTITY_ID": "SOURCE"})
    if "WEB" not in {row["STATUS_ID"] for row in rows}:
        call(target, "crm.status.add", fields={"ENTITY_ID": "SOURCE", "STATUS_ID": "WEB", "NAME": "Web"})
    move.world.strike_box({"method": question, "kind": "500", "at": [1, 2, 3]})
    for _ in range(5):
        with suppress(Transient):
            target.send("crm", stream, [item], run="r")
    (known,) = target._journal.find(stream, [item.key]).values()
    assert known.state is State.LINKED


def test_a_success_without_a_number_is_looked_up(tmp_path: Path) -> None:
    """Older boxes answer `true` to a new post."""
    box = Portal(role="box")
    with moving(tmp_path, "users", "feed", box=box) as move, move.app() as app:
        answering(box, "log.blogpost.add", True)
        item = Item.make("source:feed_posts:5", {"DETAIL_TEXT": "News", "AUTHOR_ID": "1", "DEST": ["UA"]})
        (outcome,) = app.context.target.send("feed", "feed_posts", [item], run="r")
        assert outcome.status == "created"
        assert {outcome.target_id} == {str(one) for one in move.world.box.portal.native.alive("posts")}


@pytest.mark.parametrize("nonsense", [None, 0, {"task": []}])
def test_an_answer_without_sense_is_said_in_a_sentence(tmp_path: Path, nonsense: Any) -> None:
    box = Portal(role="box")
    with moving(tmp_path, "users", "tasks", box=box) as move, move.app() as app:
        answering(box, "tasks.task.add", nonsense, acts=False)
        item = Item.make("source:tasks:5", {"title": "Call", **PEOPLE})
        (outcome,) = app.context.target.send("tasks", "tasks", [item], run="r")
    assert (outcome.status, outcome.error_code, outcome.retry) == ("failed", "STRANGE_ANSWER", True)
    assert outcome.error.startswith("The box's answer does not match ")


def answering(box: Portal, method: str, answer: Any, *, acts: bool = True) -> None:
    """A box of another version: it does the same, or nothing, and says something else."""

    def another(known: Method, context: Context, params: Params) -> Result:
        if acts:
            known.call(context, params)
        return Result(answer)

    otherwise(box, method, another)


def otherwise(box: Portal, method: str, act: Callable[[Method, Context, Params], Result]) -> None:
    known = box.methods.by_lower_name(method.lower())
    assert known is not None
    box.methods._methods[known.name] = replace(known, call=partial(act, known))
