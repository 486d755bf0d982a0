"""Contents that users added to our tasks: subtasks, checklist items, comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from b24migrate.entities.chats import rest_messages
from b24migrate.messages import say
from b24migrate.model.records import Args
from b24migrate.ports import Command
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.deletion import UNSEEN, child_keys, keys_with_prefix, select_tasks, stamped_key
from b24migrate.targets.rest.writer import Content, Known

STREAM = "task_comments"
SUBTASKS = say("keep.subtasks")
ITEMS = say("keep.checklist")
BELOW = say("keep.items")
COMMENTS = say("keep.comments")


def task_contents(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    keys = {one.target_id: key for key, one in wanted.items()}
    for row in select_tasks(box, {"PARENT_ID": list(keys)}, "PARENT_ID", "XML_ID"):
        if str(row.get("parentId")) in keys:
            mine = stamped_key(box, "tasks", row.get("xmlId"), str(row["id"]))
            yield Content(keys[str(row["parentId"])], SUBTASKS, mine)
    yield from _added_items(box, keys)
    yield from _comments(box, keys)


def _added_items(box: Box, keys: Mapping[str, str]) -> Iterator[Content]:
    said = box.questions([Command("task.checklistitem.getlist", {"TASKID": task}) for task in keys])
    for key, items in zip(keys.values(), said, strict=True):
        ours = child_keys(box, "task_checklists", key) if items else {}
        if items is None or any(str(row["ID"]) not in ours for row in rows_at(items)):
            yield Content(key, UNSEEN if items is None else ITEMS)


def _comments(box: Box, keys: Mapping[str, str]) -> Iterator[Content]:
    """On the forum or in chats: a box may have moved from the one to the other."""
    rows = {str(row["id"]): row for row in select_tasks(box, {"ID": list(keys)}, "CHAT_ID", "SERVICE_COMMENTS_COUNT")}
    forum = box.questions([Command("task.commentitem.getlist", {"TASKID": task}) for task in rows])
    for task, said in zip(rows, forum, strict=True):
        if said is None or _on_forum(box, keys[task], rows[task], [str(row["ID"]) for row in rows_at(said)]):
            yield Content(keys[task], UNSEEN if said is None else COMMENTS)
    chats = {task: str(row["chatId"]) for task, row in rows.items() if values.optional_id(row.get("chatId"))}
    newest = box.questions([Command("im.dialog.messages.get", rest_messages.newest(chat)) for chat in chats.values()])
    for (task, chat), said in zip(chats.items(), newest, strict=True):
        if said is None or _in_chat(box, keys[task], chat, list(rows_at(said, "messages"))):
            yield Content(keys[task], UNSEEN if said is None else COMMENTS)


def _on_forum(box: Box, key: str, row: Args, said: Sequence[str]) -> bool:
    """System comments look like any other comment, but the box counts them."""
    by_itself = values.whole(row.get("serviceCommentsCount")) or 0
    return len(said) > by_itself and len(set(said) - child_keys(box, STREAM, key).keys()) > by_itself


def _in_chat(box: Box, key: str, chat: str, page: Sequence[Args]) -> bool:
    """Usually the newest page is enough; older pages are read only if all comments on it are ours."""
    if not any(map(_is_comment, page)) and len(page) < rest_messages.PAGE:
        return False
    ours = child_keys(box, STREAM, key)
    rows = page if len(page) < rest_messages.PAGE else rest_messages.newer_than(box, chat, 0)
    return any(_is_comment(row) and str(row["id"]) not in ours for row in rows)


def _is_comment(row: Args) -> bool:
    """Written by a user, and not deleted."""
    return str(row.get("author_id") or rest_messages.SYSTEM) != rest_messages.SYSTEM and not rest_messages.is_deleted(
        row
    )


def item_contents(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    """Of a checklist: an item goes with all that is below it."""
    tasks = {str(one.trace["task"]): key.rpartition(":")[0] for key, one in wanted.items()}
    keys = {one.target_id: key for key, one in wanted.items()}
    asked = [Command("task.checklistitem.getlist", {"TASKID": task}) for task in tasks]
    for family, items in zip(tasks.values(), box.questions(asked), strict=True):
        below = [row for row in rows_at(items) if str(row.get("PARENT_ID")) in keys]
        ours = keys_with_prefix(box, "task_checklists", f"{family}:") if below else {}
        yield from (Content(keys[str(row["PARENT_ID"])], BELOW, ours.get(str(row["ID"]), "")) for row in below)
