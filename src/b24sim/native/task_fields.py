"""task.item.userfield.add, update and delete: four types, whatever the list of types says."""

from b24sim.company.tasks_fields import SYSTEM
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.tasks_legacy import arguments
from b24sim.native.own_fields import is_code, labels
from b24sim.native.user_fields import field_row
from b24sim.native.writing import created, require_administrator
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

WORKING = {"string", "double", "datetime", "boolean"}


def add(context: Context, params: Params) -> Result:
    """A code without `UF_` gets it."""
    require_administrator(context)
    sent = arguments(params, 1)[0]
    sent = sent if isinstance(sent, dict) else {}
    code, tasks = str(sent.get("FIELD_NAME") or "").upper(), context.portal.company.tasks
    code = code if code.startswith("UF_") else f"UF_{code}"
    if not is_code(code) or sent.get("USER_TYPE_ID") not in WORKING:
        raise RestError("", "Fail to create new user field.")
    if any(row["FIELD_NAME"] == code for row in tasks.user_fields):
        raise RestError("", f"Поле {code} для объекта TASKS_TASK уже существует.")
    number = context.portal.native.number("fields")
    tasks.user_fields = [*tasks.user_fields, field_row(context, number, "TASKS_TASK", code, sent)]
    created(context, "fields", number, f"TASKS_TASK:{code}")
    return Result(number)


def update(context: Context, params: Params) -> Result:
    require_administrator(context)
    number, sent = arguments(params, 2)
    row, tasks = _known(context, whole(number)), context.portal.company.tasks
    named: Row = {"_LABELS": labels(sent, row["FIELD_NAME"])} if isinstance(sent, dict) else {}
    tasks.user_fields = [row | named if other is row else other for other in tasks.user_fields]
    context.portal.native.updated("fields", row["ID"])
    return Result(True)


def delete(context: Context, params: Params) -> Result:
    require_administrator(context)
    row, tasks = _known(context, whole(arguments(params, 1)[0])), context.portal.company.tasks
    tasks.user_fields = [other for other in tasks.user_fields if other is not row]
    context.portal.native.deleted("fields", row["ID"])
    return Result(True)


def _known(context: Context, number: int) -> Row:
    for row in context.portal.company.tasks.user_fields[len(SYSTEM) :]:
        if row["ID"] == str(number):
            return row
    raise RestError("", "ID is not defined or invalid.")


METHODS = [
    Method("task.item.userfield.add", ("task",), add),
    Method("task.item.userfield.update", ("task",), update),
    Method("task.item.userfield.delete", ("task",), delete),
]
