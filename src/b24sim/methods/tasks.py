"""tasks.task.*: fields are asked for in upper case and answered in camel case."""

from collections.abc import Sequence
from typing import Any

from b24sim.company import tasks_fields as fields
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import matching, split
from b24sim.habits import as_read
from b24sim.methods.tasks_checklists import item_shape, tree
from b24sim.methods.tasks_shape import (
    ACTIONS,
    EVERYTHING,
    TIMES,
    camel_shape,
    details,
    selected,
    wished,
)
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import Parts, encode
from b24sim.request import Params, parse_query
from b24sim.result import Result
from b24sim.table import Row

FILTERABLE = {
    "ID", "PARENT_ID", "GROUP_ID", "STAGE_ID", "STATUS", "REAL_STATUS", "TITLE", "TAG", "CREATED_BY", "RESPONSIBLE_ID",
    "ACCOMPLICE", "AUDITOR", "PRIORITY", "MARK", "XML_ID", "GUID", "CREATED_DATE", "CHANGED_DATE", "CLOSED_DATE",
    "DEADLINE", "DATE_START", "START_DATE_PLAN", "END_DATE_PLAN", "STATUS_CHANGED_DATE", "FORUM_TOPIC_ID",
    "UF_CRM_TASK", "CHANGED_BY", "CLOSED_BY",
    "ACTIVITY_DATE",  # in no list of the documentation, but taken (kernel 25.100)
}  # fmt: skip
NUMBERS = {"PRIORITY", "GROUP_ID", "CREATED_BY", "RESPONSIBLE_ID", "STATUS", "REAL_STATUS", "TIME_ESTIMATE"}
MOST_WAYS = 8
KINDS = {"DESCRIPTION": "string", "TITLE": "string", "GUID": "string", "XML_ID": "string"}


def task_list(context: Context, params: Params) -> Result:
    """Names of fields in lower case are ignored, with their conditions."""
    tasks = context.portal.company.tasks
    ids = ordered(context, found(context, params.get("filter")), params.get("order"))
    names = selected(context, params.get("select"))
    more = wished(params.get("select"), params.get("params"))
    listed = wants_checklists(context, params.get("select"))
    rows = _kept_rows(context, [*names, *more, *[CHECKLIST] * listed])

    def encoded(number: int) -> bytes:
        if number not in rows:
            row = tasks.table.row(number)
            shape = counted(context, number, camel_shape(context, row, names) | details(row, more))
            rows[number] = encode(shape | ({"checklist": _checklist(context, number)} if listed else {}))
        return rows[number]

    page = page_by_offset(ids, _start(context, params), encoded)
    return Result(Parts({"tasks": page.value}), page.total, page.next)


CHECKLIST = "CHECKLIST"
COUNTED = ("commentsCount", "serviceCommentsCount", "forumTopicId")


def wants_checklists(context: Context, select: Any) -> bool:
    return context.portal.task_habits.list_checklists != "ignored" and CHECKLIST in (select or ())


def _checklist(context: Context, number: int) -> Any:
    if context.portal.task_habits.list_checklists == "empty":
        return []
    items = [item_shape(context, item) for item in context.portal.company.tasks.checklist(number)]
    return {item["ID"]: _camel_item(item) for item in items} or []


def counted(context: Context, number: int, shape: Row) -> Row:
    """The requested values about comments."""
    way = context.portal.task_habits.comment_counts
    if way == "absent":
        return {name: value for name, value in shape.items() if name not in COUNTED}
    if way == "zero":
        return shape | {name: None for name in COUNTED if name in shape}
    if way == "forum" and "commentsCount" in shape:
        count = len(context.portal.company.tasks.forum(number))
        return shape | {"commentsCount": str(count) if shape.get("forumTopicId") else None}
    return shape


def _start(context: Context, params: Params) -> int:
    if not context.portal.task_habits.start_from_address:
        return whole(params.get("start", 0))
    return whole(parse_query(context.sent.query).get("start", 0)) if context.sent else 0


def _kept_rows(context: Context, names: list[str]) -> dict[int, bytes]:
    """Rows returned before for the same zone and names, as long as nothing has changed."""
    company, tasks = context.portal.company, context.portal.company.tasks
    versions = (tasks.table.version, company.users.version, company.groups.version)
    if tasks.told_versions != versions or len(tasks.told) >= MOST_WAYS:
        tasks.told.clear()
        tasks.told_versions = versions
    return tasks.told.setdefault((company.moments_of(context.caller.user).name, tuple(names)), {})


def task_get(context: Context, params: Params) -> Result:
    """A missing or hidden task gives an empty answer, not an error."""
    if "taskId" not in params:
        raise RestError(100, "Could not find value for parameter {taskId}")
    tasks, number = context.portal.company.tasks, whole(params["taskId"])
    if number not in tasks.table or not may_see(context, number):
        return Result([])
    select = params.get("select")
    shape = camel_shape(context, tasks.table.row(number), selected(context, select))
    shape |= {"favorite": shape.get("favorite", "N"), "action": dict.fromkeys(ACTIONS, True)}
    if not isinstance(select, list) or not select or EVERYTHING in select:
        items = [item_shape(context, item) for item in tasks.checklist(number)]
        shape |= {"checklist": {item["ID"]: _camel_item(item) for item in items} or [], "checkListTree": tree(items)}
    return Result({"task": shape})


def get_fields(context: Context, _params: Params) -> Result:
    known: Row = {name: _description(name) for name in dict.fromkeys((*fields.PLAIN, *fields.DESCRIBED))}
    known |= {"TAGS": {"title": "Теги", "type": "array"}}
    for row in context.portal.company.tasks.user_fields:
        known[row["FIELD_NAME"]] = {"title": row["_LABELS"]["ru"], "type": row["USER_TYPE_ID"]}
    return Result({"fields": known})


def may_see(context: Context, number: int) -> bool:
    return context.caller.admin or context.portal.company.tasks.visible_to(number, context.caller.user)


def found(context: Context, conditions: Any) -> Sequence[int]:
    """The tasks that the caller sees and that match; unknown conditions are ignored."""
    company = context.portal.company
    table = company.tasks.table
    asked = conditions if isinstance(conditions, dict) else {}
    if any(split(key)[1] == "CHANGED_DATE" for key in asked):
        # Together only one of the two counts, and nothing says so (kernel 25.100, module tasks).
        asked = {key: value for key, value in asked.items() if split(key)[1] != "ACTIVITY_DATE"}
    asked = as_read(context, asked, context.portal.habits.task_dates, TIMES)
    names = FILTERABLE if context.portal.task_habits.filters_xml_id else FILTERABLE - {"XML_ID"}
    known = {key: value for key, value in asked.items() if split(key)[1] in names}
    ids = matching(table, table.ids, known, company.moments_of(context.caller.user))
    return ids if context.caller.admin else [number for number in ids if may_see(context, number)]


def ordered(context: Context, ids: Sequence[int], order: Any) -> Sequence[int]:
    table = context.portal.company.tasks.table
    wish = order if isinstance(order, dict) and order else {}
    if not wish:
        return table.in_no_order(ids)
    if any(name not in fields.PLAIN for name in wish):
        raise RestError("0", "Неверное поле сортировки")
    for name, direction in reversed(wish.items()):
        descending = str(direction).lower().startswith("desc")
        if name == "ID":
            ids = ids[::-1] if descending and len(wish) == 1 else sorted(ids, reverse=descending)
        else:
            ids = sorted(ids, key=lambda number: _key(table.row(number)[name], name), reverse=descending)
    return ids


def _key(value: Any, name: str) -> tuple[bool, Any]:
    if value is None:
        return False, ""
    return True, value if name in TIMES else whole(value) if name in NUMBERS else str(value)


def _description(name: str) -> Row:
    """Title and type, and where there are any what it may be and what it is by default (tasks-task-get-fields.md)."""
    shape: Row = {"title": name, "type": _kind(name)}
    if name == "ID" or name in fields.REQUIRED:
        return shape | {"primary" if name == "ID" else "required": True}
    if name in fields.WITHOUT_DEFAULT:
        return shape
    if name in fields.VALUES:
        shape["values"] = fields.VALUES[name]
    return shape | {"default": fields.DEFAULTS.get(name)}


def _kind(name: str) -> str:
    return "datetime" if name in TIMES else KINDS.get(name, "integer" if name.endswith(("ID", "BY")) else "enum")


def _camel_item(item: Row) -> Row:
    return {fields.camel(name): value for name, value in item.items()}


METHODS = [
    Method("tasks.task.list", ("task",), task_list),
    Method("tasks.task.get", ("task",), task_get),
    Method("tasks.task.getFields", ("task",), get_fields),
]
