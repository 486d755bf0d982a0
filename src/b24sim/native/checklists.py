"""task.checklistitem.*: items belong to the caller, who ticks them, now."""

from typing import Any

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.tasks import may_see
from b24sim.methods.tasks_checklists import item_shape
from b24sim.methods.tasks_legacy import arguments
from b24sim.native.ledger import stamp_of
from b24sim.native.task_talk import said_by_itself
from b24sim.native.tasks import touch
from b24sim.native.writing import created, flag, now_of
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

ROLES = {"A": "ACCOMPLICES", "U": "AUDITORS"}
WRITABLE = {"TITLE", "PARENT_ID", "SORT_INDEX", "IS_COMPLETE", "IS_IMPORTANT", "MEMBERS"}


def add(context: Context, params: Params) -> Result:
    """Without a parent it joins the first list; a parent of 0, or one that is not there, makes a new list."""
    task, sent = arguments(params, 2)
    number = task_of(context, task)
    if not isinstance(sent, dict) or not sent:
        raise refusal("Param #1 (arFields) expected by method ctaskchecklistitem::add(), but not given.", 256)
    demand_known(sent, WRITABLE, "ctaskchecklistitem::add()")
    title = str(sent.get("TITLE") or "").strip()
    if not title:
        raise refusal("Не указано название пункта", 8)
    items = _items(context, number)
    item: Row = {
        "ID": context.portal.native.number("checklists"), "TASK_ID": number, "PARENT_ID": _parent(items, sent),
        "CREATED_BY": context.caller.user, "TITLE": title, "SORT_INDEX": len(items), "IS_COMPLETE": False,
        "IS_IMPORTANT": False, "TOGGLED_BY": 0, "TOGGLED_DATE": None, "MEMBERS": {}, "ATTACHMENTS": [],
    }  # fmt: skip
    items.append(item | _changes(context, item, sent))
    _join(context, number, items[-1]["MEMBERS"])
    created(context, "checklists", item["ID"], stamp_of(number, item["PARENT_ID"], title))
    said_by_itself(context, number, "Изменён чек-лист задачи")
    return Result(item["ID"])


def update(context: Context, params: Params) -> Result:
    """Says nothing where it succeeds."""
    task, item, sent = arguments(params, 3)
    number = task_of(context, task)
    items, place = _items(context, number), _place(context, number, item)
    sent = sent if isinstance(sent, dict) else {}
    demand_known(sent, WRITABLE, "ctaskchecklistitem::update()")
    items[place] = items[place] | _changes(context, items[place], sent) | _moved(items, items[place], sent)
    _join(context, number, items[place]["MEMBERS"])
    context.portal.native.updated("checklists", items[place]["ID"])
    return Result(None)


def delete(context: Context, params: Params) -> Result:
    """Items below it are deleted too."""
    task, item = arguments(params, 2)
    number = task_of(context, task)
    items, gone = _items(context, number), {_items(context, number)[_place(context, number, item)]["ID"]}
    for one in list(items):
        gone |= {one["ID"]} if one["PARENT_ID"] in gone else set()
    items[:] = [one for one in items if one["ID"] not in gone]
    for one in gone:
        context.portal.native.deleted("checklists", one)
    touch(context, number)
    return Result(True)


def get(context: Context, params: Params) -> Result:
    task, item = arguments(params, 2)
    number = task_of(context, task)
    return Result(item_shape(context, _items(context, number)[_place(context, number, item)]))


def complete(context: Context, params: Params) -> Result:
    return _toggled(context, params, "Y")


def renew(context: Context, params: Params) -> Result:
    return _toggled(context, params, "N")


def task_of(context: Context, argument: Any) -> int:
    if isinstance(argument, list | dict) or argument is None:
        raise refusal("Param #0 (taskId) for method expected to be of type integer", 256)
    number = whole(argument)
    if number not in context.portal.company.tasks.table or not may_see(context, number):
        raise refusal("Action failed; not found or not accessible", 8)
    return number


def refusal(text: str, number: int) -> RestError:
    word = "WRONG_ARGUMENTS" if number == 256 else "ACTION_FAILED_TO_BE_PROCESSED"
    return RestError("ERROR_CORE", f"TASKS_ERROR_EXCEPTION_#{number}; {text}; {number}/TE/{word}<br>")


def demand_known(sent: Row, known: set[str], method: str) -> None:
    """The older methods have a list of what may be written, and take nothing else."""
    for name in sent.keys() - known:
        raise refusal(f"Param #1 (arFields) for method {method} must not contain key {name}.", 256)


def _toggled(context: Context, params: Params, state: str) -> Result:
    task, item = arguments(params, 2)
    number = task_of(context, task)
    items, place = _items(context, number), _place(context, number, item)
    items[place] = items[place] | _changes(context, items[place], {"IS_COMPLETE": state})
    touch(context, number)
    return Result(True)


def _parent(items: list[Row], sent: Row) -> int:
    if "PARENT_ID" not in sent:
        return next((item["ID"] for item in items if not item["PARENT_ID"]), 0)
    wanted = whole(sent["PARENT_ID"])
    return wanted if any(item["ID"] == wanted for item in items) else 0


def _changes(context: Context, item: Row, sent: Row) -> Row:
    row: Row = {}
    if sent.get("TITLE"):
        row["TITLE"] = str(sent["TITLE"])
    if sent.get("SORT_INDEX") is not None:
        row["SORT_INDEX"] = whole(sent["SORT_INDEX"])
    if "IS_IMPORTANT" in sent:
        row["IS_IMPORTANT"] = flag(sent["IS_IMPORTANT"]) == "Y"
    if isinstance(sent.get("MEMBERS"), dict):
        row["MEMBERS"] = {whole(user): str(one.get("TYPE", "A")) for user, one in sent["MEMBERS"].items()}
    if "IS_COMPLETE" in sent and (flag(sent["IS_COMPLETE"]) == "Y") is not item["IS_COMPLETE"]:
        toggled = {"TOGGLED_BY": context.caller.user, "TOGGLED_DATE": int(now_of(context))}
        row |= {"IS_COMPLETE": not item["IS_COMPLETE"]} | toggled
    return row


def _moved(items: list[Row], item: Row, sent: Row) -> Row:
    """Under another item, or to a list of its own where there is none (task-checklist-item-update.md)."""
    if "PARENT_ID" not in sent:
        return {}
    above = whole(sent["PARENT_ID"])
    return {"PARENT_ID": above if above != item["ID"] and any(one["ID"] == above for one in items) else 0}


def _join(context: Context, task: int, members: dict[int, str]) -> None:
    """Members of an item become people of the task."""
    row = context.portal.company.tasks.table.row(task)
    changes = {}
    for kind, name in ROLES.items():
        new = [str(user) for user, role in members.items() if role == kind and str(user) not in row[name]]
        if new:
            changes[name] = [*row[name], *new]
    touch(context, task, **changes)


def _items(context: Context, task: int) -> list[Row]:
    return context.portal.company.tasks.own_checklists.setdefault(task, [])


def _place(context: Context, task: int, item: Any) -> int:
    for place, one in enumerate(_items(context, task)):
        if one["ID"] == whole(item):
            return place
    raise refusal("Item not found", 8)


METHODS = [
    Method("task.checklistitem.add", ("task",), add),
    Method("task.checklistitem.update", ("task",), update),
    Method("task.checklistitem.delete", ("task",), delete),
    Method("task.checklistitem.get", ("task",), get),
    Method("task.checklistitem.complete", ("task",), complete),
    Method("task.checklistitem.renew", ("task",), renew),
]
