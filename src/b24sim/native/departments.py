"""department.add, update and delete: a tree with exactly one root."""

from typing import Any

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.ledger import stamp_of
from b24sim.native.writing import created
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

NODES_APART = 500_000  # between a department and its node in the company structure


def add(context: Context, params: Params) -> Result:
    _allowed(context)
    company = context.portal.company
    name = str(params.get("NAME") or "").strip()
    if not name:
        raise RestError("ERROR_CORE", "Не введено название раздела.<br>")
    _parent(context, params.get("PARENT"))
    number = context.portal.native.number("departments")
    row: Row = {"ID": str(number), "NAME": name, "SORT": 500}
    company.departments.put(number, _with(row, params))
    created(context, "departments", number, stamp_of(name, params.get("PARENT")))
    return Result(number + NODES_APART if context.portal.box_habits.node_ids else number)


def update(context: Context, params: Params) -> Result:
    _allowed(context)
    number, departments = _known(context, params), context.portal.company.departments
    row = departments.row(number)
    if "PARENT" in params and "PARENT" in row:
        _parent(context, params["PARENT"])
    elif "PARENT" in params:
        params = {name: value for name, value in params.items() if name != "PARENT"}
    # A kernel hands on a sort that was not sent as well.
    departments.put(number, _with(row | {"SORT": 500}, params))
    context.portal.native.updated("departments", number)
    return Result(True)


def delete(context: Context, params: Params) -> Result:
    _allowed(context)
    number = _known(context, params)
    context.portal.company.departments.remove(number)
    context.portal.native.deleted("departments", number)
    return Result(True)


def _allowed(context: Context) -> None:
    if not context.caller.admin:
        raise RestError("ERROR_CORE", "access_denied")


def _known(context: Context, params: Params) -> int:
    number = whole(params.get("ID"))
    if number not in context.portal.company.departments:
        raise RestError("ERROR_CORE", "Department not found")
    return number


def _parent(context: Context, value: Any) -> None:
    if not whole(value):
        raise RestError("ERROR_CORE", "only one top-level department is allowed")
    if whole(value) not in context.portal.company.departments:
        raise RestError("ERROR_CORE", "Неверный родительский раздел.<br>")


def _with(row: Row, params: Params) -> Row:
    changed: Row = {"SORT": whole(params["SORT"])} if params.get("SORT") not in (None, "") else {}
    if params.get("NAME"):
        changed["NAME"] = str(params["NAME"])
    changed |= {name: str(whole(params[name])) for name in ("PARENT", "UF_HEAD") if whole(params.get(name))}
    kept = {name: value for name, value in row.items() if name != "UF_HEAD" or "UF_HEAD" not in params}
    return kept | changed


METHODS = [
    Method("department.add", ("department",), add, upper=True),
    Method("department.update", ("department",), update, upper=True),
    Method("department.delete", ("department",), delete, upper=True),
]
