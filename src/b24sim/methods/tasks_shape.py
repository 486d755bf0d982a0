"""The shapes of tasks: camel case with strings for the newer methods, upper case for the older ones."""

from collections.abc import Callable, Iterable
from typing import Any

from b24sim.company import tasks_fields as fields
from b24sim.context import Context
from b24sim.methods.disk import UF, attachment_link, file_of_attachment
from b24sim.moments import Moments
from b24sim.paging import truthy
from b24sim.table import Row

EVERYTHING = "*"
_COUNTERS = (
    "expired", "newComments", "projectExpired", "projectNewComments", "mutedExpired", "mutedNewComments",
)  # fmt: skip
# What is told on request (tasks/tasks-task-list.md): a name of `select`, or one of `params`.
ON_REQUEST: dict[str, Callable[[Row], Row]] = {
    "COUNTERS": lambda _row: {"counter": {"counters": dict.fromkeys(_COUNTERS, 0), "color": "gray", "value": 0}},
    "WITH_TIMER_INFO": lambda _row: {"timeElapsed": None, "timerIsRunningForCurrentUser": "N"},
    "WITH_RESULT_INFO": lambda _row: dict.fromkeys(("taskRequireResult", "taskHasOpenResult", "taskHasResult"), "N"),
    "WITH_PARSED_DESCRIPTION": lambda row: {"parsedDescription": row["DESCRIPTION"]},
}
ACTIONS = (
    "accept", "decline", "complete", "approve", "disapprove", "start", "pause", "delegate", "remove", "edit", "defer",
    "renew", "create", "changeDeadline", "checklistAddItems", "addFavorite", "deleteFavorite", "rate", "take",
    "edit.originator", "checklist.reorder", "elapsedtime.add", "dayplan.timer.toggle", "edit.plan", "checklist.add",
    "favorite.add", "favorite.delete",
)  # fmt: skip
TIMES = {*fields.TIMES, *fields.CUSTOM_TIMES}


def selected(context: Context, select: Any) -> list[str]:
    """Names count only in upper case. Nothing, or `*`, is every plain field; unknown names are ignored."""
    asked = [str(name) for name in select] if isinstance(select, list) and select else [EVERYTHING]
    names = list(fields.PLAIN) if EVERYTHING in asked else ["ID"]
    if any(name in fields.SYSTEM for name in asked):
        asked += fields.SYSTEM
    custom = {row["FIELD_NAME"] for row in context.portal.company.tasks.user_fields}
    known = {*fields.PLAIN, "TAGS", "SUB_STATUS", *custom}
    return list(dict.fromkeys([*names, *(name for name in asked if name in known)]))


def wished(select: Any, params: Any) -> list[str]:
    """The requested values besides the fields."""
    named = [str(name) for name in select] if isinstance(select, list) else []
    switched = [name for name, value in params.items() if truthy(value)] if isinstance(params, dict) else []
    return [name for name in ON_REQUEST if name in named or name in switched]


def details(row: Row, wishes: Iterable[str]) -> Row:
    return {name: value for wish in wishes for name, value in ON_REQUEST[wish](row).items()}


def camel_shape(context: Context, row: Row, names: Iterable[str]) -> Row:
    """A task of `tasks.task.list`; times are in the caller's zone."""
    moments = context.portal.company.moments_of(context.caller.user)
    shape: Row = {"group": []}
    for name in names:
        shape[fields.camel(name)] = _tags(row) if name == "TAGS" else value_of(row, name, moments)
        if name in _BESIDE:
            shape |= _BESIDE[name](context, row)
    return shape


def upper_shape(row: Row, names: Iterable[str], moments: Moments) -> Row:
    """A task as the older methods show it: STATUS is the one a person sees, REAL_STATUS the stored one."""
    shape = {name: value_of(row, name, moments) for name in names}
    return shape | {"STATUS": row["_STATUS"], "REAL_STATUS": row["STATUS"]} if "STATUS" in shape else shape


def value_of(row: Row, name: str, moments: Moments) -> Any:
    value = row["_STATUS"] if name == "SUB_STATUS" else row.get(name)
    return moments.iso(value) if name in TIMES and isinstance(value, int | float) else value


def attachments_shape(context: Context, numbers: Iterable[int], *, signed: bool) -> Row:
    """Attachments by id; links of checklists carry no secret, those of comments do."""
    attachments = context.portal.company.attachments
    shapes: Row = {}
    for number in numbers:
        found = attachments.find(number)
        if found:
            file = file_of_attachment(context, found)
            link = attachment_link(context, number) if signed else f"{UF}?attachedId={number}&action=download&ncc=1"
            shapes[str(number)] = {
                "ATTACHMENT_ID": str(number) if signed else number, "NAME": file.name, "SIZE": str(file.size),
                "FILE_ID": str(found.object_id), "DOWNLOAD_URL": link,
                "VIEW_URL": link.replace("action=download", "action=show"),
            }  # fmt: skip
    return shapes


def _tags(row: Row) -> Any:
    tags = {str(number): {"id": number, "title": title} for title in row["_TAGS"] if (number := _tag_id(title))}
    return tags or []


def _tag_id(title: str) -> int:
    return 30 + sum(title.encode()) % 9_000


def _person(context: Context, number: str) -> Row:
    company = context.portal.company
    row = company.users.row(int(number)) if int(number) in company.users else {}
    return {
        "id": number, "name": company.name_of(int(number)) if row else "",
        "link": f"/company/personal/user/{number}/", "icon": row.get("PERSONAL_PHOTO", ""),
        "workPosition": row.get("WORK_POSITION", ""),
    }  # fmt: skip


def _people(context: Context, numbers: list[str]) -> Any:
    return {number: _person(context, number) for number in numbers} or []


def _group(context: Context, row: Row) -> Row:
    groups, number = context.portal.company.groups, int(row["GROUP_ID"] or 0)
    if number not in groups:
        return {"group": []}
    name = groups.row(number)["NAME"]
    return {"group": {"id": str(number), "name": name, "opened": False, "membersCount": 1, "image": ""}}


_BESIDE: dict[str, Callable[[Context, Row], Row]] = {
    "DESCRIPTION": lambda _context, row: {"descriptionInBbcode": row["DESCRIPTION_IN_BBCODE"]},
    "DEADLINE": lambda _context, _row: {"lengthDeadline": "0"},
    "STATUS": lambda _context, row: {"subStatus": row["_STATUS"]},
    "GROUP_ID": _group,
    "CREATED_BY": lambda context, row: {"creator": _person(context, row["CREATED_BY"])},
    "RESPONSIBLE_ID": lambda context, row: {"responsible": _person(context, row["RESPONSIBLE_ID"])},
    "ACCOMPLICES": lambda context, row: {"accomplicesData": _people(context, row["ACCOMPLICES"])},
    "AUDITORS": lambda context, row: {"auditorsData": _people(context, row["AUDITORS"])},
}
