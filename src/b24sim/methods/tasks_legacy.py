"""task.*: the older methods. They take their arguments by position, whatever the names say."""

import re
from collections.abc import Iterable
from typing import Any

from b24sim.company import tasks_fields as fields
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import condition, split
from b24sim.methods.tasks import found, may_see, ordered
from b24sim.methods.tasks_checklists import item_shape
from b24sim.methods.tasks_shape import attachments_shape, upper_shape
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import encode, encode_all
from b24sim.request import Params
from b24sim.result import PAGE, Result
from b24sim.table import Row, shown

NOT_ARGUMENTS = {"start", "auth", "halt"}
NOT_IN_LISTS = {"ACCOMPLICES", "AUDITORS"}
COMMENT_FILTER = {"ID", "AUTHOR_ID", "AUTHOR_NAME", "POST_DATE"}
CHECKLIST_ORDER = {"ID", "CREATED_BY", "TOGGLED_BY", "TOGGLED_DATE", "TITLE", "SORT_INDEX", "IS_COMPLETE"}
COMMENT_ORDER = {"ID", "AUTHOR_ID", "AUTHOR_NAME", "AUTHOR_EMAIL", "POST_DATE"}


def arguments(params: Params, count: int) -> list[Any]:
    """The values in the order they came; None where there are fewer."""
    values = [value for name, value in params.items() if name.lower() not in NOT_ARGUMENTS]
    return (values + [None] * count)[:count]


def item_list(context: Context, params: Params) -> Result:
    """ORDER, FILTER, PARAMS, SELECT. A filter that comes first is taken for an order and does nothing."""
    order, conditions, more, select = arguments(params, 4)
    wish = {name: way for name, way in _map(order).items() if name in fields.PLAIN}
    ids = ordered(context, found(context, conditions), wish)
    names = _names(context, select)
    company = context.portal.company
    start, size = _window(params, _map(_map(more).get("NAV_PARAMS")))

    def encoded(number: int) -> bytes:
        return encode(upper_shape(company.tasks.table.row(number), names, company.moments))

    if start < 0 or size == PAGE:
        return page_by_offset(ids, start, encoded)
    page = encode_all(
        upper_shape(company.tasks.table.row(n), names, company.moments) for n in ids[start : start + size]
    )
    return Result(page, len(ids), start + size if start + size < len(ids) else None)


def _window(params: Params, navigation: Row) -> tuple[int, int]:
    size = min(max(whole(navigation.get("nPageSize", PAGE)) or PAGE, 1), PAGE)
    if "iNumPage" in navigation:
        return size * max(0, whole(navigation["iNumPage"]) - 1), size
    return whole(params.get("start", 0)), size


def _names(context: Context, select: Any) -> list[str]:
    plain = [name for name in _plain(context) if name not in NOT_IN_LISTS]
    if not isinstance(select, list) or not select:
        return plain
    custom = [row["FIELD_NAME"] for row in context.portal.company.tasks.user_fields]
    asked = [*plain, *select] if "*" in select else ["ID", *select]
    asked += custom if "UF_*" in select else []
    return [name for name in dict.fromkeys(asked) if name in plain or name in custom]


def _plain(context: Context) -> list[str]:
    named = context.portal.task_habits.old_lists_name_chats
    return [name for name in fields.PLAIN if named or name != "CHAT_ID"]


def item_data(context: Context, params: Params) -> Result:
    row = _task(context, arguments(params, 1)[0])
    custom = [field["FIELD_NAME"] for field in context.portal.company.tasks.user_fields]
    shape = upper_shape(row, [*_plain(context), *custom], context.portal.company.moments)
    return Result(shape | {"TAGS": row["_TAGS"], "DEPENDS_ON": [], "FILES": []})


def item_tags(context: Context, params: Params) -> Result:
    return Result(list(_task(context, arguments(params, 1)[0])["_TAGS"]))


def checklist(context: Context, params: Params) -> Result:
    """TASKID, ORDER: everything at once, newest first unless told otherwise."""
    task, order = arguments(params, 2)
    items = context.portal.company.tasks.checklist(int(_task(context, task)["ID"]))
    wish = {name: way for name, way in _map(order).items() if name in CHECKLIST_ORDER} or {"ID": "desc"}
    return Result(encode_all(item_shape(context, item) for item in _sorted(items, wish)))


def comments(context: Context, params: Params) -> Result:
    """TASKID, ORDER, FILTER: the forum only. Tasks of the new card have nothing there, and nothing says so."""
    task, order, conditions = arguments(params, 3)
    company = context.portal.company
    rows = company.tasks.forum(int(_task(context, task)["ID"]))
    named = [row | {"AUTHOR_NAME": company.name_of(row["AUTHOR_ID"])} for row in rows]
    tests = [
        condition(*split(key), value, company.moments)
        for key, value in _map(conditions).items()
        if split(key)[1] in COMMENT_FILTER
    ]
    wish = {name: way for name, way in _map(order).items() if name in COMMENT_ORDER} or {"ID": "desc"}
    passing = [row for row in named if all(test(row) for test in tests)]
    return Result(encode_all(_comment(context, row) for row in _sorted(passing, wish)))


def _comment(context: Context, row: Row) -> Row:
    """Without attachments the key is missing, or an empty map of either spelling."""
    shape: Row = {
        "POST_MESSAGE_HTML": None, "ID": str(row["ID"]), "AUTHOR_ID": str(row["AUTHOR_ID"]),
        "AUTHOR_NAME": row["AUTHOR_NAME"], "AUTHOR_EMAIL": "",
        "POST_DATE": context.portal.company.moments.iso(row["POST_DATE"]),
        "POST_MESSAGE": _as_stored(row["POST_MESSAGE"]),
    }  # fmt: skip
    attached = attachments_shape(context, row["ATTACHED"], signed=True)
    if attached:
        return shape | {"ATTACHED_OBJECTS": attached}
    empty: tuple[Row, ...] = ({}, {"ATTACHED_OBJECTS": {}}, {"ATTACHED_OBJECTS": []})
    return {**shape, **empty[row["ID"] % 3]}


def elapsed(context: Context, params: Params) -> Result:
    """Nobody here writes down hours."""
    _task(context, arguments(params, 1)[0])
    return Result([], total=0)


def userfields(context: Context, params: Params) -> Result:
    """ORDER, FILTER; the total is 0 however many there are."""
    order, conditions = arguments(params, 2)
    asked = {key: value for key, value in _map(conditions).items() if key != "LANG"}
    tests = [condition(*split(key), value, context.portal.company.moments) for key, value in asked.items()]
    rows = [row for row in context.portal.company.tasks.user_fields if all(test(row) for test in tests)]
    mixed = context.portal.in_no_order(rows)
    wish = {name: way for name, way in _map(order).items() if name in {"ID", "FIELD_NAME", "SORT", "USER_TYPE_ID"}}
    for name, way in reversed(wish.items()):
        mixed.sort(key=lambda row: (len(row[name]), row[name]), reverse=str(way).lower() == "desc")
    return Result(encode_all(shown(row) for row in mixed), total=0)


def userfield(context: Context, params: Params) -> Result:
    number = whole(arguments(params, 1)[0])
    for row in context.portal.company.tasks.user_fields:
        if row["ID"] == str(number):
            labels = dict.fromkeys(("EDIT_FORM_LABEL", "LIST_COLUMN_LABEL", "LIST_FILTER_LABEL"), row["_LABELS"])
            labels |= dict.fromkeys(("ERROR_MESSAGE", "HELP_MESSAGE"), dict.fromkeys(row["_LABELS"], ""))
            return Result(shown(row) | labels, total=0)
    return Result([])


def _task(context: Context, argument: Any) -> Row:
    table, number = context.portal.company.tasks.table, whole(argument)
    if isinstance(argument, list | dict) or argument is None:
        raise _core("Param #0 (taskId) for method expected to be of type integer", 256, "WRONG_ARGUMENTS")
    if number not in table or not may_see(context, number):
        raise _core("TASKS_ERROR_EXCEPTION_#8; Action failed; not found or not accessible", 8, "TASK_NOT_FOUND")
    return table.row(number)


def _core(text: str, number: int, word: str) -> RestError:
    return RestError("ERROR_CORE", f"{text}; {number}/TE/{word}<br>")


def _map(value: Any) -> Row:
    return value if isinstance(value, dict) else {}


def _sorted(rows: Iterable[Row], wish: Row) -> list[Row]:
    found_rows = list(rows)
    for name, way in reversed(wish.items()):
        found_rows.sort(key=lambda row: _key(row.get(name)), reverse=str(way).lower() == "desc")
    return found_rows


def _key(value: Any) -> tuple[int, Any]:
    return (0, 0) if value is None else (2, value) if isinstance(value, str) else (1, value)


def _as_stored(text: str) -> str:
    """The forum writes emoji as the digits of their bytes (kernel forum/lib/message.php), and this method does not make
    them emoji again (tasks/classes/general/commentitem.php)."""
    return re.sub("[\U00010000-\U0010ffff]", lambda found: f":{found[0].encode().hex()}:", text)


METHODS = [
    Method("task.item.list", ("task",), item_list),
    Method("task.items.getlist", ("task",), item_list),
    Method("task.item.getdata", ("task",), item_data),
    Method("task.item.gettags", ("task",), item_tags),
    Method("task.item.userfield.getlist", ("task",), userfields),
    Method("task.item.userfield.get", ("task",), userfield),
    Method("task.checklistitem.getlist", ("task",), checklist),
    Method("task.commentitem.getlist", ("task",), comments),
    Method("task.elapseditem.getlist", ("task",), elapsed),
]
