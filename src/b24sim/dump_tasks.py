"""The truth about tasks: who would merge the two lists of comments well has each comment once."""

import hashlib
from collections.abc import Iterator

from b24sim.company import tasks_fields as fields
from b24sim.company.files import File
from b24sim.context import Context
from b24sim.methods.tasks_checklists import item_shape
from b24sim.methods.tasks_shape import camel_shape
from b24sim.portal import Portal
from b24sim.table import Row, shown


def tasks(portal: Portal, user: int | None) -> Iterator[Row]:
    """With every field there is, whatever a client would select; `codes` are custom fields by their own names."""
    company, context = portal.company, _context(portal)
    custom = [row["FIELD_NAME"] for row in company.tasks.user_fields]
    for number in _visible(portal, user):
        row = company.tasks.table.row(number)
        shape = camel_shape(context, row, [*fields.PLAIN, "TAGS", *custom])
        yield {"id": str(number), "fields": shape, "codes": {name: shape[fields.camel(name)] for name in custom}}


def checklists(portal: Portal, user: int | None) -> Iterator[Row]:
    context = _context(portal)
    for task in _visible(portal, user):
        for item in portal.company.tasks.checklist(task):
            yield {"id": f"{task}:{item['ID']}", "fields": item_shape(context, item)}


def comments(portal: Portal, user: int | None) -> Iterator[Row]:
    """`forum` and `message` are the ids under which the two lists show it; a copied comment has both."""
    company = portal.company
    for task in _visible(portal, user):
        chat = company.tasks.chat_of(task)
        read = chat is not None and (user is None or company.readable(chat, user))
        copies = set()
        for row in company.tasks.forum(task):
            message = company.tasks.message_of(task, row["ID"]) if read else None
            copies.add(message)
            yield _comment(task, _forum_fields(portal, row), row["ID"], message)
        for place in range(len(chat) if chat and read else 0):
            in_chat = company.correspondence.row(chat, place) if chat else {}
            if in_chat["id"] not in copies:
                yield _comment(task, _chat_fields(in_chat), None, in_chat["id"])


def files(portal: Portal, user: int | None) -> Iterator[Row]:
    """Everything attached to tasks, their checklists and comments, with the digest of its bytes."""
    company = portal.company
    for task in _visible(portal, user):
        numbers = [int(str(n).lstrip("n")) for n in company.tasks.table.row(task)[fields.FILES] or []]
        numbers += [number for item in company.tasks.checklist(task) for number in item["ATTACHMENTS"]]
        numbers += [number for row in company.tasks.forum(task) for number in row["ATTACHED"]]
        for number in numbers:
            attachment = company.attachments.find(number)
            if attachment:
                file = company.drive_file(attachment.object_id) or File(attachment.object_id, "", 0)
                about = {"object_id": str(file.id), "name": file.name, "size": file.size, "task_id": str(task)}
                about["sha256"] = hashlib.sha256(file.content()).hexdigest()
                yield {"id": str(number), "fields": about, "guarded": attachment.guarded}


def custom_fields(portal: Portal, _user: int | None) -> Iterator[Row]:
    for row in portal.company.tasks.user_fields:
        yield {"id": row["FIELD_NAME"], "fields": shown(row) | {"hidden": {"LABELS": row["_LABELS"]}}}


def counts(portal: Portal) -> dict[str, int]:
    tasks_here = portal.company.tasks
    return {
        "tasks": len(tasks_here.table),
        "task_checklists": sum(map(tasks_here.checklist_size, tasks_here.table)),
        "task_comments": sum(map(tasks_here.comments_size, tasks_here.table)),
    }


MAKERS = {
    "tasks": tasks,
    "task_checklists": checklists,
    "task_comments": comments,
    "task_files": files,
    "task_fields": custom_fields,
}


def _visible(portal: Portal, user: int | None) -> Iterator[int]:
    here = portal.company.tasks
    return (n for n in here.table if user is None or user in portal.admins or here.visible_to(n, user))


def _comment(task: int, row: Row, forum: int | None, message: int | None) -> Row:
    key = f"f{forum}" if forum is not None else f"m{message}"
    return {"id": f"{task}:{key}", "fields": {"task_id": str(task)} | row, "forum": forum, "message": message}


def _forum_fields(portal: Portal, row: Row) -> Row:
    found = (portal.company.attachments.find(number) for number in row["ATTACHED"])
    return {
        "author_id": str(row["AUTHOR_ID"]), "date": portal.company.moments.iso(row["POST_DATE"]),
        "text": row["POST_MESSAGE"], "files": [str(attachment.object_id) for attachment in found if attachment],
    }  # fmt: skip


def _chat_fields(row: Row) -> Row:
    files_of_message = (row["params"] or {}).get("FILE_ID", [])
    shape = {"author_id": str(row["author_id"]), "date": row["date"], "text": row["text"]}
    return shape | {"files": [str(number) for number in files_of_message]}


def _context(portal: Portal) -> Context:
    return Context(portal, portal.caller(next(iter(portal.webhooks))))
