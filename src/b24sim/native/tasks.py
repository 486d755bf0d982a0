"""tasks.task.add, update and delete: with their own dates as far as the box keeps them, and never silently."""

import uuid

from b24sim.company import tasks_fields as fields
from b24sim.company.chats import TASK, Chat
from b24sim.company.tasks import ENTITY
from b24sim.company.tasks_rows import DONE, derived
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.crm_items import required
from b24sim.methods.tasks import may_see
from b24sim.methods.tasks_checklists import tree
from b24sim.methods.tasks_shape import ACTIONS, camel_shape, selected
from b24sim.native.groups import stirred
from b24sim.native.task_talk import said_by_itself
from b24sim.native.task_values import attached, demand_sense, sent_values
from b24sim.native.writing import created, flag, mapping, notify, now_of
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

MAY_NOT_DELETE = "1048582"
# Told of every task that is written, and empty (tasks/tasks-task-add.md, tasks-task-update.md).
UNUSED: Row = {
    **dict.fromkeys(("durationFact", "exchangeId", "exchangeModified", "forkedByTemplateId", "sorting", "sprintId")),
    **dict.fromkeys(("backlogId", "viewedDate", "durationPlan")), "durationType": "days", "newCommentsCount": 0,
    "outlookVersion": "1", **dict.fromkeys(("isMuted", "isPinned", "isPinnedInGroup"), "N"),
}  # fmt: skip
OFF = ("MULTITASK", "NOT_VIEWED", "REPLICATE", "TASK_CONTROL", "MATCH_WORK_TIME", "FAVORITE", "ADD_IN_REPORT",
       "ALLOW_CHANGE_DEADLINE", "ALLOW_TIME_TRACKING", "SUBORDINATE")  # fmt: skip


def add(context: Context, params: Params) -> Result:
    """All users with a role in it are notified, and a comment of the portal itself says that it was made."""
    if not mapping(params, "fields"):
        raise RestError(100, "Could not find value for parameter {fields} (internal error)")
    sent = mapping(params, "fields")
    row = _blank(context) | sent_values(context, sent)
    demand_sense(context, row, sent)
    row |= _closed(row, context)
    number = context.portal.native.number("tasks")
    # The kernel takes the creator for the one who changed it last, whatever was sent.
    row |= {"ID": str(number), "CHANGED_BY": row["CREATED_BY"], "GUID": f"{{{uuid.UUID(int=number << 64 | number)}}}"}
    row[fields.FILES] = attached(context, sent.get(fields.FILES), number, whole(row["CREATED_BY"])) or False
    if context.portal.task_habits.chats:
        row["CHAT_ID"] = _open_chat(context, number, row)
    context.portal.company.tasks.table.put(number, derived(row))
    created(context, "tasks", number, str(row["XML_ID"] or f"#{number}"))
    notify(context, _crew(row), f"task {number}")
    if "DISABLE_BIZPROC_RUN" not in mapping(params, "params"):
        context.portal.native.tell("automation", number, "task")
    stirred(context, whole(row["GROUP_ID"]))
    said_by_itself(context, number, "Задача создана")
    return _task(context, number)


def update(context: Context, params: Params) -> Result:
    """A change of status sets its user and time; other times stay as sent."""
    number, sent = known(context, params), mapping(params, "fields")
    if not sent:
        raise RestError(100, "Could not find value for parameter {fields} (internal error)")
    table = context.portal.company.tasks.table
    old = table.row(number)
    now, user = int(now_of(context)), str(context.caller.user)
    row = old | {"CHANGED_DATE": now, "ACTIVITY_DATE": now, "CHANGED_BY": user} | sent_values(context, sent)
    if row["STATUS"] != old["STATUS"]:
        done = row["STATUS"] == str(DONE)
        row |= {"STATUS_CHANGED_BY": user, "STATUS_CHANGED_DATE": now}
        row |= {"CLOSED_BY": user if done else None, "CLOSED_DATE": now if done else None}
    demand_sense(context, row, sent)
    if fields.FILES in sent:
        row[fields.FILES] = attached(context, sent[fields.FILES], number, context.caller.user) or False
    table.put(number, derived(row))
    context.portal.native.updated("tasks", number)
    if flag(mapping(params, "params").get("SKIP_NOTIFICATION")) != "Y":
        notify(context, _crew(row), f"task {number}")
    return _task(context, number)


def delete(context: Context, params: Params) -> Result:
    number, company = known(context, params, MAY_NOT_DELETE), context.portal.company
    chat = company.tasks.chat_of(number)
    if chat:
        del company.chats[chat.id]
        company.chats_version += 1
        context.portal.native.deleted("task_chats", chat.id)
    company.tasks.table.remove(number)
    for kind, rows in (("checklists", company.tasks.own_checklists), ("task_comments", company.tasks.own_comments)):
        for item in rows.pop(number, []):
            context.portal.native.deleted(kind, item["ID"])
    context.portal.native.deleted("tasks", number)
    return Result({"task": True})


def attach_file(context: Context, params: Params) -> Result:
    number, company = known(context, params), context.portal.company
    new = attached(context, [f"n{whole(params.get('fileId'))}"], number, context.caller.user)
    if not new:
        raise RestError("0", "Файл не найден")
    row = company.tasks.table.row(number)
    touch(context, number, **{fields.FILES: [*(row[fields.FILES] or []), *new]})
    return Result({"attachmentId": new[0]})


def known(context: Context, params: Params, code: str = "0") -> int:
    number = whole(required(params, "taskId"))
    if number not in context.portal.company.tasks.table or not may_see(context, number):
        raise RestError(code, "Действие над задачей не разрешено")
    return number


def touch(context: Context, number: int, **changes: object) -> None:
    """Whatever is done to a task moves its times again."""
    table, now = context.portal.company.tasks.table, int(now_of(context))
    table.put(number, derived(table.row(number) | {"CHANGED_DATE": now, "ACTIVITY_DATE": now} | changes))


def _blank(context: Context) -> Row:
    now, user = int(now_of(context)), str(context.caller.user)
    row: Row = dict.fromkeys((*fields.PLAIN, *fields.SYSTEM)) | dict.fromkeys(OFF, "N")
    return row | {
        "DESCRIPTION": "", "DESCRIPTION_IN_BBCODE": "Y", "STATUS": "2", "PRIORITY": "1", "GROUP_ID": "0",
        "STAGE_ID": "0", "CREATED_BY": user, "CREATED_DATE": now, "CHANGED_DATE": now, "ACTIVITY_DATE": now,
        "STATUS_CHANGED_DATE": now, "STATUS_CHANGED_BY": user, "ACCOMPLICES": [], "AUDITORS": [],
        "COMMENTS_COUNT": "0", "SERVICE_COMMENTS_COUNT": "0", "TIME_ESTIMATE": "0", "SITE_ID": "s1", "_TAGS": [],
        fields.CRM: False, fields.FILES: False,
    }  # fmt: skip


def _closed(row: Row, context: Context) -> Row:
    """A task that is made closed keeps what it says about that."""
    if row["STATUS"] != str(DONE):
        return {"CLOSED_DATE": None, "CLOSED_BY": None}
    return {
        "CLOSED_DATE": row["CLOSED_DATE"] if row["CLOSED_DATE"] is not None else int(now_of(context)),
        "CLOSED_BY": row["CLOSED_BY"] or str(context.caller.user),
    }


def _crew(row: Row) -> list[str]:
    return [row["CREATED_BY"], row["RESPONSIBLE_ID"], *row["ACCOMPLICES"], *row["AUDITORS"]]


def _open_chat(context: Context, task: int, row: Row) -> int:
    company = context.portal.company
    members = [user for user in dict.fromkeys(whole(user) for user in _crew(row)) if user in company.users]
    number = context.portal.native.number("chats")
    chat = Chat(number, 0, TASK, row["TITLE"], members[0], members, started=now_of(context))
    chat.entity_type, chat.entity_id = ENTITY, str(task)
    company.chats[number] = chat
    company.chats_version += 1
    created(context, "task_chats", number, str(task))
    return number


def _task(context: Context, number: int) -> Result:
    row = context.portal.company.tasks.table.row(number)
    shape = camel_shape(context, row, selected(context, None)) | UNUSED | {"action": dict.fromkeys(ACTIONS, True)}
    return Result({"task": shape | {"checklist": [], "checkListTree": tree([]), "checkListCanAdd": True}})


METHODS = [
    Method("tasks.task.add", ("task",), add),
    Method("tasks.task.update", ("task",), update),
    Method("tasks.task.delete", ("task",), delete),
    Method("tasks.task.files.attach", ("task",), attach_file),
]
