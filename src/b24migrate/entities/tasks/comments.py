"""Comments of tasks, from the two places where a portal may keep them: the forum and the task's chat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from b24migrate.entities.attachments import drive_refs
from b24migrate.entities.chats.streams import attached_files as files_of_message
from b24migrate.entities.chats.streams import join_files
from b24migrate.entities.readers import NOTHING, mark_unread
from b24migrate.entities.unseen import UNSEEN_VERSIONS
from b24migrate.messages import say
from b24migrate.model.answers import decode_emoji, open_entry, unexpected_answer
from b24migrate.model.errors import GateUnmet, Permanent
from b24migrate.model.fields import Field, Kind, Policy, times
from b24migrate.model.readings import Again, Backward, JoinedList, Parents, PerParent, Reading, Twins, Webhooks, Whole
from b24migrate.model.records import Json, Row, SetAside, Table, order_key
from b24migrate.model.source_records import FileRef, SourceRecord
from b24migrate.model.streams import ChangeRules, Stream, Written
from b24migrate.model.values import objects
from b24migrate.ports import Answer, Command, Source

UNSEEN = say("skip.unseen_comments")
# Seconds between a comment on the forum and its copy in the chat: a user who writes the same text again takes longer.
APART = 10
CHAT_KINDS = ("TASKS_TASK", "TASKS")


def view_comment(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """A comment of the forum under the names that a message of a chat has."""
    if "POST_MESSAGE" not in payload:
        return payload
    return {
        "author_id": payload.get("AUTHOR_ID"),
        "date": payload.get("POST_DATE"),
        "text": decode_emoji(payload.get("POST_MESSAGE")),
        "ATTACHED_OBJECTS": payload.get("ATTACHED_OBJECTS"),
    }


def files_of_comment(record: SourceRecord) -> Iterable[FileRef]:
    if "ATTACHED_OBJECTS" in record.payload:
        return drive_refs(record.payload["ATTACHED_OBJECTS"])
    return (ref._replace(place=f"chat{record.payload.get('chat_id')}") for ref in files_of_message(record))


def behind_attachments(record: SourceRecord) -> Mapping[str, str]:
    """A comment of the forum contains the file behind an attachment."""
    listed = record.payload.get("ATTACHED_OBJECTS")
    files = objects(listed) if isinstance(listed, dict) else ()
    return {str(one.get("ATTACHMENT_ID")): f"disk:{one['FILE_ID']}" for one in files if one.get("FILE_ID")}


def what_counts(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """Links to files hold a secret and a token."""
    if "ATTACHED_OBJECTS" not in payload:
        return payload
    return {**payload, "ATTACHED_OBJECTS": [ref.key for ref in drive_refs(payload["ATTACHED_OBJECTS"])]}


def same_comment(message: SourceRecord, comment: SourceRecord) -> bool:
    """The portal may have copied the forum into the chat: the same words of the same person at about the same time."""
    ours, theirs = (
        (str(one.payload.get("author_id")), str(one.payload.get("text") or "").strip()) for one in (message, comment)
    )
    return ours == theirs and is_near_in_time(message.payload.get("date"), comment.payload.get("date"))


def is_near_in_time(one: Json, other: Json) -> bool:
    try:
        apart = datetime.fromisoformat(str(one)) - datetime.fromisoformat(str(other))
    except (ValueError, TypeError):
        return False
    return abs(apart.total_seconds()) <= APART


def chat_of(task: SourceRecord) -> str:
    return str(task.payload.get("chatId") or task.extras.get("chatId") or "")


def has_chat(task: SourceRecord) -> bool:
    """With the new card comments are in the chat, and the forum's list "does not work" (tasks/tasks-new.md): it is
    empty, without an error. Whether it still shows old comments is not documented."""
    return chat_of(task) not in ("", "0")


def is_open(task: SourceRecord) -> bool:
    """Completed is 5 (tasks/fields.md, STATUS)."""
    return str(task.payload.get("status")) != "5"


# A comment moves the date of the last activity or a count; which of them a message in the chat of a task moves is not
# documented. A deleted comment moves the count only.
COMMENTED = Again(("activityDate", "commentsCount", "serviceCommentsCount", "chatId", "changedDate"), is_open)


def has_forum_comments(task: SourceRecord) -> bool | None:
    """By `commentsCount` and `forumTopicId` (tasks/fields.md). The count is that of the forum topic (kernel tasks
    25.100); whether it counts messages of the chat, too, is not documented. Without a topic there is no comment."""
    fields = task.payload
    count = int(fields.get("commentsCount") or 0) if "commentsCount" in fields else None
    topic = str(fields["forumTopicId"] or 0) != "0" if "forumTopicId" in fields else None
    if topic is False and has_chat(task):
        return False
    return topic if count is None else count > 0


def with_chats(source: Source, rows: Sequence[Row]) -> list[Row]:
    """Each task with its chat, where the list that it came from does not name it: chats of the new card first, then
    those of the old one (chats/im-chat-get.md)."""
    found: dict[str, Row] = {row.source_id: row for row in rows}
    left = [row for row in rows if "CHAT_ID" not in msgspec.json.decode(row.payload)]
    for kind in CHAT_KINDS:
        asked = [Command("im.chat.get", {"ENTITY_TYPE": kind, "ENTITY_ID": row.source_id}) for row in left]
        answers = list(zip(left, source.batch(asked), strict=True))
        if any(isinstance(answer.error, GateUnmet) for _, answer in answers):
            break  # without the scope `im` chats cannot be read: `doctor` says so, and the comments count as unseen
        left = []
        for row, answer in answers:
            try:
                chat = chat_in(answer)
            except Permanent as error:
                found[row.source_id] = mark_unread(row, say("part.task_chat"), error)
                continue
            if chat:
                found[row.source_id] = row._replace(extras={**(row.extras or {}), "chatId": chat})
            else:
                left.append(row)
    return list(found.values())


def chat_in(answer: Answer) -> Json:
    """The chat that `im.chat.get` found, or None."""
    if answer.require() in NOTHING:
        return None
    chat = open_entry(answer.result, "ID", "im.chat.get")
    if chat and not isinstance(chat, str | int):
        raise unexpected_answer("im.chat.get", ("ID",))
    return chat


task_comments = Stream(
    name="task_comments",
    table=Table("TaskComments", "task_comments"),
    read=(
        PerParent(
            of="tasks",
            method="task.commentitem.getlist",
            params=lambda task: {"TASKID": task.id, "ORDER": {"ID": "asc"}, "FILTER": {">ID": 0}},
            paging=Whole(),
            id="ID",
            mark="f",
            parents=Parents(has_any=has_forum_comments, elsewhere=has_chat),
            again=COMMENTED,
        ),
    ),
    more=(
        PerParent(
            of="tasks",
            method="im.dialog.messages.get",
            params=lambda task: {"DIALOG_ID": f"chat{chat_of(task)}"},
            paging=Backward(),
            items=("messages",),
            joined=JoinedList("files", join_files),
            scope="im",
            parents=Parents(only=has_chat, uncounted=has_chat),
            webhooks=Webhooks(others=True),
            mark="m",
            twins=Twins("f", same_comment),
            again=COMMENTED,
        ),
    ),
    batch=50,
    batch_option="batch_comments",
    fields=(
        Field("task_id", Kind.REF, take=lambda record: record.parent, to="tasks", policy=Policy.REQUIRE),
        Field("author_id", Kind.REF, to="users", policy=Policy.PLACEHOLDER, keep=frozenset({"0"})),
        *times("date"),
        Field("text", Kind.RICH),
        Field("files", Kind.FILES, take=lambda record: [ref.key for ref in files_of_comment(record)]),
    ),
    stamp="date",
    written=(Written("author_id", "date"),),
    changes=ChangeRules(
        whole_payload=True,
        volatile=frozenset({"unread", "viewed", "viewed_by_others", "replaces"}),
        lasting=what_counts,
    ),
    view=view_comment,
    files=files_of_comment,
    attached=behind_attachments,
    title=("text", "POST_MESSAGE"),
    unseen=(say("delta.unseen.comments"), UNSEEN_VERSIONS),
)


def find_unseen_comments(
    _: Source, staged: Callable[[str], Iterable[SourceRecord]], __: Sequence[Reading]
) -> Iterator[SetAside]:
    """Tasks whose comments the portal counts and does not show. Both streams come in order of the task's id."""
    shown = (one.parent for one in staged("task_comments"))
    at = next(shown, None)
    for task in staged("tasks"):
        while at is not None and order_key(at) < order_key(task.id):
            at = next(shown, None)
        if at != task.id and int(task.payload.get("commentsCount") or 0) > 0:
            yield SetAside("task_comments", f"{task.id}:*", "impossible", UNSEEN, f"task {task.id}")
