"""bizproc.workflow.*: templates with all that they do, and the few workflows under way."""

from collections.abc import Sequence
from typing import Any

from b24sim.company.workflows import ROBOTS
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import condition, matching, split
from b24sim.habits import as_read
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import encode
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

SELECTABLE = (
    "ID", "MODULE_ID", "ENTITY", "DOCUMENT_TYPE", "AUTO_EXECUTE", "NAME", "DESCRIPTION", "TEMPLATE", "PARAMETERS",
    "VARIABLES", "CONSTANTS", "MODIFIED", "IS_MODIFIED", "USER_ID", "SYSTEM_CODE",
)  # fmt: skip
FILTERABLE = set(SELECTABLE) - {"TEMPLATE", "PARAMETERS", "VARIABLES", "CONSTANTS", "DESCRIPTION"}
INSTANCE = (
    "ID", "MODIFIED", "OWNED_UNTIL", "MODULE_ID", "ENTITY", "DOCUMENT_ID", "STARTED", "STARTED_BY", "TEMPLATE_ID",
)  # fmt: skip
INSTANCE_BY_DEFAULT = INSTANCE[:6]
TIMES = {"MODIFIED", "STARTED", "OWNED_UNTIL"}


def template_list(context: Context, params: Params) -> Result:
    """Only ids, unless more is asked for. Robots are never shown, whatever the filter says."""
    _demand_admin(context)
    company = context.portal.company
    templates = company.workflows.templates
    conditions = _known(context, params.get("FILTER"), FILTERABLE) | {"<AUTO_EXECUTE": ROBOTS}
    ids = matching(templates, templates.ids, conditions, company.moments)
    ids = _ordered(ids, {number: templates.row(number) for number in ids}, params.get("ORDER"), {"ID": "ASC"})
    select = _selected(params.get("SELECT"), SELECTABLE, ("ID",))
    show = _template if context.portal.document_triples else _chosen
    return page_by_offset(
        ids, whole(params.get("START", 0)), lambda number: encode(show(templates.row(number), select))
    )


def instances(context: Context, params: Params) -> Result:
    _demand_admin(context)
    company = context.portal.company
    asked = _known(context, params.get("FILTER"), set(INSTANCE))
    tests = [condition(*split(key), value, company.moments) for key, value in asked.items()]
    rows = {place: row for place, row in enumerate(company.workflows.instances) if all(test(row) for test in tests)}
    places = _ordered(list(rows), rows, params.get("ORDER"), {"MODIFIED": "DESC"})
    select = _selected(params.get("SELECT"), INSTANCE, INSTANCE_BY_DEFAULT)
    return page_by_offset(places, whole(params.get("START", 0)), lambda place: encode(_chosen(rows[place], select)))


def for_applications_only(_context: Context, _params: Params) -> Result:
    raise RestError("ACCESS_DENIED", "Application context required", 403)


def _demand_admin(context: Context) -> None:
    if not context.caller.admin:
        raise RestError("ACCESS_DENIED", "Access denied!", 403)


def _known(context: Context, conditions: Any, names: set[str]) -> dict[str, Any]:
    """Names count only in upper case; what is not known is passed over."""
    asked = conditions if isinstance(conditions, dict) else {}
    known = {key: value for key, value in asked.items() if split(key)[1] in names}
    read: dict[str, Any] = as_read(context, known, context.portal.habits.other_dates, TIMES)
    return read


def _selected(select: Any, known: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
    asked = {str(name) for name in select} if isinstance(select, list) else set()
    return tuple(name for name in known if name in asked) or default


def _chosen(row: Row, names: tuple[str, ...]) -> Row:
    return {name: row[name] for name in names}


def _template(row: Row, names: tuple[str, ...]) -> Row:
    """The documentation calls DOCUMENT_TYPE a string; kernels put module, class and type there
    (CBPWorkflowTemplateResult::fetch)."""
    triple = [row["MODULE_ID"], row["ENTITY"], row["DOCUMENT_TYPE"]]
    return _chosen(row | {"DOCUMENT_TYPE": triple}, names)


def _ordered(ids: Sequence[int], rows: dict[int, Row], order: Any, default: dict[str, str]) -> Sequence[int]:
    wishes = order if isinstance(order, dict) and order else default
    for name, direction in reversed(list(wishes.items())):
        ids = sorted(ids, key=_key(rows, str(name).upper()), reverse=str(direction).upper() == "DESC")
    return ids


def _key(rows: dict[int, Row], name: str) -> Any:
    def key(number: int) -> tuple[int, str]:
        text = str(rows[number].get(name) or "")
        return (int(text), "") if text.isdigit() else (0, text)

    return key


METHODS = [
    Method("bizproc.workflow.template.list", ("bizproc",), template_list, upper=True),
    Method("bizproc.workflow.instances", ("bizproc",), instances, upper=True),
    *(
        Method(f"bizproc.workflow.template.{act}", ("bizproc",), for_applications_only)
        for act in ("add", "update", "delete")
    ),
]
