"""Stores the fields that a client sends for a task."""

from typing import Any

from b24sim.company import tasks_fields as fields
from b24sim.context import Context
from b24sim.errors import RestError
from b24sim.native.custom_values import value_of
from b24sim.native.working_hours import in_working_hours
from b24sim.native.writing import flag, listed, moment, now_of
from b24sim.paging import whole
from b24sim.table import Row

TITLE_LENGTH = 250
STATUSES = {2, 3, 4, 5, 6}
PEOPLE = ("CREATED_BY", "RESPONSIBLE_ID", "CLOSED_BY", "STATUS_CHANGED_BY")
TEXTS = ("DESCRIPTION", "XML_ID", "MARK", "SITE_ID")
NUMBERS = ("PRIORITY", "GROUP_ID", "STAGE_ID", "PARENT_ID", "TIME_ESTIMATE")
FLAGS = (
    "ALLOW_CHANGE_DEADLINE",
    "ALLOW_TIME_TRACKING",
    "TASK_CONTROL",
    "ADD_IN_REPORT",
    "MATCH_WORK_TIME",
    "MULTITASK",
)
OF_PEOPLE = ("DEADLINE", "START_DATE_PLAN", "END_DATE_PLAN")
OF_HISTORY = tuple(name for name in fields.TIMES if name not in OF_PEOPLE)


def core(text: str) -> RestError:
    return RestError("ERROR_CORE", f"{text}<br>")


def sent_values(context: Context, sent: Row) -> Row:
    """Names count in upper case. Unknown and read-only fields are ignored."""
    row: Row = {name: str(whole(sent[name])) for name in (*PEOPLE, *NUMBERS) if sent.get(name) not in (None, "")}
    row |= {name: str(sent[name] or "") for name in TEXTS if name in sent}
    row |= {name: flag(sent[name]) for name in FLAGS if name in sent}
    kept = (*OF_PEOPLE, *OF_HISTORY) if context.portal.task_habits.keeps_dates else OF_PEOPLE
    row |= {name: _time(context, sent[name]) for name in kept if name in sent}
    if row.get("MATCH_WORK_TIME") == "Y" and row.get("DEADLINE") is not None:
        row["DEADLINE"] = in_working_hours(row["DEADLINE"], context.portal.company.moments.zone)
    if "TITLE" in sent:
        row["TITLE"] = str(sent["TITLE"] or "")[:TITLE_LENGTH]
    for name in ("ACCOMPLICES", "AUDITORS"):
        if name in sent:
            row[name] = [str(whole(user)) for user in listed(sent[name])]
    if "TAGS" in sent:
        tags = sent["TAGS"].split(",") if isinstance(sent["TAGS"], str) else listed(sent["TAGS"])
        row["_TAGS"] = [text for text in (str(tag).strip() for tag in tags) if text]
    if fields.CRM in sent:
        row[fields.CRM] = [str(link) for link in listed(sent[fields.CRM])] or False
    return row | _status(sent) | _custom(context, sent)


def _status(sent: Row) -> Row:
    if sent.get("STATUS") in (None, ""):
        return {}
    status = whole(sent["STATUS"])
    if status != 1 and status not in STATUSES:
        raise core("Неверный статус")
    return {"STATUS": str(max(status, 2))}


def _custom(context: Context, sent: Row) -> Row:
    own = context.portal.company.tasks.user_fields[len(fields.SYSTEM) :]
    return {
        row["FIELD_NAME"]: value_of(context, row["USER_TYPE_ID"], row["MULTIPLE"] == "Y", sent[row["FIELD_NAME"]])
        for row in own
        if row["FIELD_NAME"] in sent
    }


def demand_sense(context: Context, row: Row, sent: Row) -> None:
    """The refusals of tasks.task.add, in the order in which a portal finds them; dates are judged when they come."""
    company = context.portal.company
    if not str(row.get("TITLE") or "").strip():
        raise core("Не указано название задачи")
    if not whole(row.get("RESPONSIBLE_ID")):
        raise core("Не указан исполнитель")
    if whole(row["RESPONSIBLE_ID"]) not in company.users:
        raise core("Не найден пользователь, указанный в поле «Исполнитель»")
    parent = whole(row.get("PARENT_ID"))
    if parent and parent not in company.tasks.table:
        raise core("Не найдена задача, указанная в поле «Базовая задача»")
    if parent and _hangs_on(context, parent, whole(row.get("ID"))):
        raise core("Задача не может быть подзадачей самой себя")
    if ("START_DATE_PLAN" in sent) is not ("END_DATE_PLAN" in sent):
        raise core("Начало и окончание планирования указываются вместе")
    start, end = row.get("START_DATE_PLAN"), row.get("END_DATE_PLAN")
    if start is not None and end is not None and end < start:
        raise core("Дата окончания указана раньше даты начала в планировании")
    if sent.keys() & {*OF_PEOPLE, "GROUP_ID"}:
        _within_project(context, row)


def _hangs_on(context: Context, task: int, wanted: int) -> bool:
    table, visited = context.portal.company.tasks.table, set[int]()
    while task and task in table and task not in visited:
        if task == wanted:
            return True
        visited.add(task)
        task = whole(table.row(task)["PARENT_ID"])
    return False


def _within_project(context: Context, row: Row) -> None:
    groups, number = context.portal.company.groups, whole(row.get("GROUP_ID"))
    if number not in groups:
        return
    project = groups.row(number)
    for name, later in (("_PROJECT_DATE_START", False), ("_PROJECT_DATE_FINISH", True)):
        bound = moment(context, project.get(name))
        times = [row[part] for part in OF_PEOPLE if row.get(part) is not None]
        if bound is not None and any((at > bound) if later else (at < bound) for at in times):
            raise core("Сроки задачи выходят за сроки проекта")


def attached(context: Context, sent: Any, task: int, by: int) -> list[int]:
    """Attachments for files of the Drive that are named with an n before their number; others are not taken."""
    company, numbers = context.portal.company, []
    for name in listed(sent):
        text = str(name)
        if text.startswith("n") and company.drive_file(whole(text[1:])):
            at = now_of(context)
            made = company.attachments.attach("tasks", "tasks_task", task, by=by, at=at, file=whole(text[1:]))
            numbers.append(made.id)
        elif company.attachments.find(whole(text)):
            numbers.append(whole(text))
    return numbers


def _time(context: Context, value: Any) -> int | None:
    unix = moment(context, value)
    return None if unix is None else int(unix)
