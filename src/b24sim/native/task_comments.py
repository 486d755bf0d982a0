"""task.commentitem.*: on the forum with author and date; in the chat of newer boxes as the caller's own words, now."""

from typing import Any

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.tasks_legacy import arguments
from b24sim.native.checklists import demand_known, task_of
from b24sim.native.disk_rights import may_open
from b24sim.native.ledger import stamp_of
from b24sim.native.said import say
from b24sim.native.task_values import core
from b24sim.native.tasks import touch
from b24sim.native.writing import created, listed, moment, notify, now_of
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

KNOWN = {"POST_MESSAGE", "AUTHOR_ID", "POST_DATE", "UF_FORUM_MESSAGE_DOC"}


def add(context: Context, params: Params) -> Result:
    """Anybody may write in anybody's name, but only in that of somebody who sees the task and may open the files."""
    task, sent = arguments(params, 2)
    number, sent = task_of(context, task), sent if isinstance(sent, dict) else {}
    demand_known(sent, KNOWN, "ctaskcommentitem::add()")
    text = str(sent.get("POST_MESSAGE") or "")
    if not text.strip():
        raise core("Не указан текст комментария")
    chat = context.portal.company.tasks.chat_of(number)
    author = context.caller.user if chat else _author(context, number, sent)
    files = _files(context, sent.get("UF_FORUM_MESSAGE_DOC"), author)
    if chat:
        made = say(context, chat, text, author=author, files=files)
    else:
        made = _on_forum(context, number, author, sent, files)
    _counted(context, number, text)
    return Result(made)


def update(context: Context, params: Params) -> Result:
    task, item, sent = arguments(params, 3)
    number = task_of(context, task)
    rows, place = _rows(context, number), _place(context, number, item)
    if isinstance(sent, dict) and sent.get("POST_MESSAGE"):
        rows[place] = rows[place] | {"POST_MESSAGE": str(sent["POST_MESSAGE"])}
    context.portal.native.updated("task_comments", rows[place]["ID"])
    return Result(True)


def delete(context: Context, params: Params) -> Result:
    task, item = arguments(params, 2)
    number = task_of(context, task)
    gone = _rows(context, number).pop(_place(context, number, item))
    context.portal.native.deleted("task_comments", gone["ID"])
    return Result(True)


def _author(context: Context, task: int, sent: Row) -> int:
    author, portal = whole(sent.get("AUTHOR_ID")) or context.caller.user, context.portal
    sees = author in portal.admins or portal.company.tasks.visible_to(task, author)
    if author not in portal.company.users or not sees:
        raise core("Недостаточно прав для добавления комментария")
    return author


def _on_forum(context: Context, task: int, author: int, sent: Row, files: list[int]) -> int:
    company, text = context.portal.company, str(sent["POST_MESSAGE"])
    _demand_new(context, task, text)
    number = context.portal.native.number("task_comments")
    at = moment(context, sent.get("POST_DATE"))
    at = now_of(context) if at is None else at
    attachments = [
        company.attachments.attach("forum", "forum_message", number, by=author, at=at, file=file).id for file in files
    ]
    row: Row = {"ID": number, "AUTHOR_ID": author, "POST_DATE": int(at), "POST_MESSAGE": text, "ATTACHED": attachments}
    _rows(context, task).append(row)
    created(context, "task_comments", number, stamp_of(task, author, int(at), text))
    return number


def _demand_new(context: Context, task: int, text: str) -> None:
    """Of any author, and with any files (forum lib/message.php, getLastMessageHashInTopic)."""
    rows = _rows(context, task)
    if context.portal.box_habits.deduplicates and rows and max(rows, key=lambda row: row["ID"])["POST_MESSAGE"] == text:
        raise core("Такое сообщение уже существует")


def _counted(context: Context, task: int, text: str) -> None:
    """A comment moves the times of its task as any other change does."""
    row = context.portal.company.tasks.table.row(task)
    touch(context, task, COMMENTS_COUNT=str(whole(row["COMMENTS_COUNT"]) + 1))
    crew = [row["CREATED_BY"], row["RESPONSIBLE_ID"], *row["ACCOMPLICES"], *row["AUDITORS"]]
    notify(context, crew, f"comment of task {task}: {text[:40]}")


def _files(context: Context, sent: Any, author: int) -> list[int]:
    numbers = [whole(str(name).removeprefix("n")) for name in listed(sent)]
    for number in numbers:
        if context.portal.company.drive_file(number) is None or not may_open(context, number, author):
            raise core("Файл не найден")
    return numbers


def _rows(context: Context, task: int) -> list[Row]:
    return context.portal.company.tasks.own_comments.setdefault(task, [])


def _place(context: Context, task: int, item: Any) -> int:
    for place, row in enumerate(_rows(context, task)):
        if row["ID"] == whole(item):
            return place
    raise RestError("ERROR_CORE", "Комментарий не найден<br>")


METHODS = [
    Method("task.commentitem.add", ("task",), add),
    Method("task.commentitem.update", ("task",), update),
    Method("task.commentitem.delete", ("task",), delete),
]
