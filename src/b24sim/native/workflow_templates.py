"""bizproc.workflow.template.add, update and delete: for applications only, each for what it made itself.

From the pages of the methods and bizproc/lib/restservice.php: who changed a template and when cannot be said, whether
it starts by itself must be said in a text, and whatever the file says of fields is not looked at here."""

from typing import Any

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.bpt import checked, unpacked
from b24sim.native.writing import created, file_sent, iso_now
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row, Table

KIND = "templates"
STARTS = ("0", "1", "2", "3")


def add(context: Context, params: Params) -> Result:
    code = _application(context)
    document = params.get("DOCUMENT_TYPE")
    if not (isinstance(document, list) and len(document) == 3 and all(document)):
        raise _invalid("Incorrect field DOCUMENT_TYPE!")
    row = {
        **dict(zip(("MODULE_ID", "ENTITY", "DOCUMENT_TYPE"), map(str, document), strict=True)),
        "NAME": _name(params.get("NAME")), "DESCRIPTION": str(params.get("DESCRIPTION") or ""),
        "AUTO_EXECUTE": _start(params.get("AUTO_EXECUTE", "0")), **_body(context, params.get("TEMPLATE_DATA")),
        "SYSTEM_CODE": code, "IS_MODIFIED": "N",
    }  # fmt: skip
    number = context.portal.native.number(KIND)
    _put(context, number, row)
    created(context, KIND, number, row["NAME"])
    return Result(number)


def update(context: Context, params: Params) -> Result:
    code = _application(context)
    fields = params.get("FIELDS")
    if not isinstance(fields, dict) or not fields:
        raise _invalid("No fields to update.")
    number, row = _own_template(context, params, code, "update")
    changed: Row = {}
    if "NAME" in fields:
        changed["NAME"] = _name(fields["NAME"])
    if "DESCRIPTION" in fields:
        changed["DESCRIPTION"] = str(fields["DESCRIPTION"] or "")
    if "AUTO_EXECUTE" in fields:
        changed["AUTO_EXECUTE"] = _start(fields["AUTO_EXECUTE"])
    if "TEMPLATE_DATA" in fields:
        changed |= _body(context, fields["TEMPLATE_DATA"])
    _put(context, number, row | changed)
    context.portal.native.updated(KIND, number)
    return Result(number)


def delete(context: Context, params: Params) -> Result:
    number, _ = _own_template(context, params, _application(context), "delete")
    _templates(context).remove(number)
    context.portal.native.deleted(KIND, number)
    return Result(None)


def _application(context: Context) -> str:
    """The mark of templates of this application."""
    if not context.caller.application:
        raise RestError("ACCESS_DENIED", "Application context required", 403)
    if not context.caller.admin:
        raise RestError("ACCESS_DENIED", "Access denied!", 403)
    return f"rest_app_{context.caller.application}"


def _own_template(context: Context, params: Params, code: str, act: str) -> tuple[int, Row]:
    number = whole(params.get("ID"))
    if number not in _templates(context):
        raise RestError("ERROR_TEMPLATE_NOT_FOUND", "Workflow template not found.")
    row = _templates(context).row(number)
    if row["SYSTEM_CODE"] != code:
        words = f"You can {act} ONLY templates created by current application"
        raise RestError("ERROR_TEMPLATE_NOT_OWNER", words)
    return number, row


def _put(context: Context, number: int, row: Row) -> None:
    user, now = str(context.caller.user), iso_now(context)
    _templates(context).put(number, {**row, "ID": str(number), "USER_ID": user, "MODIFIED": now})


def _templates(context: Context) -> Table:
    return context.portal.company.workflows.templates


def _name(value: Any) -> str:
    if not value:
        raise _invalid("Empty template name!")
    return str(value)


def _start(value: Any) -> str:
    """Kernels compare it as a text, so a number in JSON matches none."""
    if not isinstance(value, str) or value not in STARTS:
        raise _invalid("Incorrect field AUTO_EXECUTE!")
    return value


def _body(context: Context, sent: Any) -> Row:
    file = file_sent(sent)
    if file is None:
        raise _invalid("Incorrect field TEMPLATE_DATA!")
    try:
        parts = unpacked(file[1])
    except ValueError as complaint:
        raise RestError("ERROR_CORE", f"Неверные данные шаблона ({complaint}).") from None
    if not isinstance(parts["TEMPLATE"], list) or not parts["TEMPLATE"]:
        raise RestError("ERROR_CORE", "Пустой шаблон.")
    checked(parts["TEMPLATE"], context.portal.activities)
    return parts


def _invalid(words: str) -> RestError:
    return RestError("ERROR_TEMPLATE_VALIDATION_FAILURE", words)


METHODS = [
    Method("bizproc.workflow.template.add", ("bizproc",), add, upper=True),
    Method("bizproc.workflow.template.update", ("bizproc",), update, upper=True),
    Method("bizproc.workflow.template.delete", ("bizproc",), delete, upper=True),
]
