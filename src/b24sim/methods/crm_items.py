"""crm.item.list, get and fields: one API for all types."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from b24sim.company.crm import Items
from b24sim.company.crm_ids import DEAL, LEAD, QUOTE, SMART_INVOICE
from b24sim.company.crm_schema import Schema, upper
from b24sim.company.crm_structure import SECRET_PIPELINE
from b24sim.company.crm_world import FileId
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import Test
from b24sim.habits import ASCENDING, DESCENDING, NO_ORDER, as_read
from b24sim.methods.crm_filters import direction_of, first_passing, found, ordered, passing
from b24sim.methods.disk import signature
from b24sim.paging import page_by_offset, whole, yes
from b24sim.phpjson import Parts, Rows, encode
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row, shown

GET_FILE = "crm.controller.item.getFile"
OLD_INVOICE, REQUISITE = 5, 8
OWN_ORDER = {NO_ORDER: {}, ASCENDING: {"id": "ASC"}, DESCENDING: {"id": "DESC"}}
_TIMES = ("createdTime", "updatedTime", "movedTime", "lastActivityTime")
TIMES = {*_TIMES, *map(upper, _TIMES)}
EMPTY_TYPES = {LEAD, QUOTE, SMART_INVOICE}


def item_list(context: Context, params: Params) -> Result:
    items = type_of(context, params)
    if items is None:
        return Result(Parts({"items": Rows()}), total=0)
    schema, start = items.schema, whole(params.get("start", 0))
    asked = as_read(context, params.get("filter"), context.portal.habits.crm_dates, TIMES)
    ids, tests = found(items, asked, _moments(context), _named(schema, "filter"))
    tests += rights(context, items)
    order = _order(schema, params.get("order")) or OWN_ORDER[context.portal.habits.crm_order]
    show = _shown(context, items, params)
    if start < 0:
        page = first_passing(items, ordered(items, ids, order), tests)
        return Result(Parts({"items": Rows(map(show, page))}), total=0)
    pages = page_by_offset(ordered(items, passing(items, ids, tests), order), start, show)
    return Result(Parts({"items": pages.value}), pages.total, pages.next)


def item_get(context: Context, params: Params) -> Result:
    items = type_of(context, params)
    number = whole(required(params, "id"))
    if items is None or number not in items:
        raise RestError("NOT_FOUND", "Элемент не найден")
    row = items.row(number)
    if not all(test(row) for test in rights(context, items)):
        raise RestError("ACCESS_DENIED", "Доступ запрещен", 403)
    schema, original = items.schema, original_names(context, params)
    return Result(Parts({"item": encode(schema.renamed(with_links(context, items, row), original))}))


def item_fields(context: Context, params: Params) -> Result:
    items = type_of(context, params)
    described = {} if items is None else items.schema.description(original_names(context, params))
    return Result(Parts({"fields": Parts(described)}))


def required(params: Params, name: str) -> Any:
    if name not in params:
        raise RestError(100, f"Could not find value for parameter {{{name}}}")
    return params[name]


def original_names(context: Context, params: Params) -> bool:
    """Whether custom fields are called as they were made. The CRM before 25.0 knows nothing of that wish."""
    return context.portal.original_names and yes(params.get("useOriginalUfNames"))


def type_of(context: Context, params: Params) -> Items | None:
    """The records of a type; None for types that exist but hold nothing here, as on a fresh box."""
    number = whole(required(params, "entityTypeId"))
    if number in {OLD_INVOICE, REQUISITE}:
        raise RestError("ENTITY_TYPE_NOT_SUPPORTED", f"Тип {number} не поддерживается")
    crm = context.portal.company.crm
    items = crm.items.get(number)
    if items is None and number not in EMPTY_TYPES:
        raise RestError("NOT_FOUND", "Смарт-процесс не найден")
    return items


def rights(context: Context, items: Items) -> list[Test]:
    """One pipeline of deals is for administrators only."""
    tests: list[Test] = [lambda row: row["id"] not in items.refused] if items.refused else []
    if context.caller.admin or items.entity_type_id != DEAL:
        return tests
    return [*tests, lambda row: row.get("categoryId") != SECRET_PIPELINE]


def with_links(context: Context, items: Items, row: Row) -> Row:
    """The record as it is shown: numbers of files become links."""
    return {name: _linked(context, items, row, name, value) for name, value in shown(row).items()}


def _linked(context: Context, items: Items, row: Row, name: str, value: Any) -> Any:
    if isinstance(value, FileId):
        return _file(context, items.entity_type_id, row["id"], name, value)
    if isinstance(value, list) and value and isinstance(value[0], FileId):
        return [_file(context, items.entity_type_id, row["id"], name, file) for file in value]
    return value


def _file(context: Context, entity_type_id: int, owner: int, name: str, file: FileId) -> Row:
    """Two links: one for a browser with a session, one for a machine with the webhook."""
    caller, portal = context.caller, context.portal.company.portal_url
    place = f"entityTypeId={entity_type_id}&id={owner}&fieldName={name}&fileId={file}"
    token = quote(f"crm|{file}|{signature(caller.secret, file)}", safe="")
    return {
        "id": int(file),
        "url": f"{portal}/bitrix/services/main/ajax.php?action={GET_FILE}&SITE_ID=s1&{place}",
        "urlMachine": f"{portal}/rest/{caller.user}/{caller.secret}/{GET_FILE}/?token={token}",
    }


def _shown(context: Context, items: Items, params: Params) -> Callable[[int], bytes]:
    select, original = params.get("select"), original_names(context, params)
    names = [str(name) for name in select] if isinstance(select, list) and select else ["*"]
    schema = items.schema
    if "*" not in names:
        known = (schema.field(name) for name in names)
        wanted = ["id", *(field for field in known if field is not None and field != "id")]
        return lambda number: encode(schema.renamed(_part(context, items, items.row(number), wanted), original))

    def whole_row(number: int) -> bytes:
        plain = items.plain(number) if original else None
        return plain or encode(schema.renamed(with_links(context, items, items.row(number)), original))

    return whole_row


def _part(context: Context, items: Items, row: Row, wanted: Sequence[str]) -> Row:
    return {name: _linked(context, items, row, name, row.get(name)) for name in wanted}


def _named(schema: Schema, where: str) -> Callable[[str], str]:
    def field(name: str) -> str:
        known = schema.field(name)
        if known is None:
            raise RestError("INVALID_ARG_VALUE", f"Invalid {where}: field '{name}' is not allowed in {where}")
        return known

    return field


def _order(schema: Schema, asked: Any) -> dict[str, str]:
    named = _named(schema, "order")
    entries = asked.items() if isinstance(asked, dict) else ()
    return {named(name): direction_of(name, direction) for name, direction in entries}


def _moments(context: Context) -> Any:
    return context.portal.company.moments


METHODS = [
    Method("crm.item.list", ("crm",), item_list),
    Method("crm.item.get", ("crm",), item_get),
    Method("crm.item.fields", ("crm",), item_fields),
]
