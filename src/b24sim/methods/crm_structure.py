"""The structure of a CRM: crm.type.*, crm.category.list, crm.status.*, currencies and the like."""

from collections.abc import Sequence
from typing import Any

from b24sim.company import crm_structure as structure
from b24sim.company.crm_ids import LEAD, LETTERS, QUOTE
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import condition, split
from b24sim.habits import as_read
from b24sim.methods.crm_filters import direction_of
from b24sim.methods.crm_items import TIMES, required, type_of
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import Parts, encode, encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row, by_chance

CLASSIC_MODE, SIMPLE_MODE = 1, 2  # the second is without leads
OWNER_NAMES = {1: "LEAD", 2: "DEAL", 3: "CONTACT", 4: "COMPANY", 5: "INVOICE", 7: "QUOTE", 8: "REQUISITE",
               31: "SMART_INVOICE"}  # fmt: skip


def type_list(context: Context, params: Params) -> Result:
    types = context.portal.company.crm.types
    _administrator(context)
    asked = as_read(context, params.get("filter"), context.portal.habits.other_dates, TIMES)
    rows = chosen(context, [types.row(number) for number in types], asked, "filter")
    rows = in_order(in_some_order(rows, "id"), params.get("order"))
    page = page_by_offset(range(len(rows)), whole(params.get("start", 0)), lambda place: encode(rows[place]))
    return Result(Parts({"types": page.value}), page.total, page.next)


def type_get(context: Context, params: Params) -> Result:
    return _type(context, "id", whole(required(params, "id")))


def type_get_by_entity(context: Context, params: Params) -> Result:
    return _type(context, "entityTypeId", whole(required(params, "entityTypeId")))


def _type(context: Context, name: str, number: int) -> Result:
    crm = context.portal.company.crm
    _administrator(context)
    for smart in crm.smart_types:
        if number == (smart.id if name == "id" else smart.entity_type_id) and smart.id in crm.types:
            row = crm.types.row(smart.id) | crm.relations(smart)
            return Result(Parts({"type": encode(row)}))
    raise RestError(0, "Смарт-процесс не найден")


def category_list(context: Context, params: Params) -> Result:
    number = whole(required(params, "entityTypeId"))
    if number in {LEAD, QUOTE}:
        raise RestError("ENTITY_TYPE_NOT_SUPPORTED", f"Тип {OWNER_NAMES[number]} не поддерживается")
    type_of(context, params)
    hidden = set() if context.caller.admin else {(2, structure.SECRET_PIPELINE)}
    known = [
        category
        for category in context.portal.company.crm.categories
        if category.entity_type_id == number and (number, category.id) not in hidden
    ]
    rows = encode_all(structure.category_row(category) for category in context.portal.in_no_order(known))
    return Result(Parts({"categories": rows}), total=len(rows))


def status_list(context: Context, params: Params) -> Result:
    """All at once, however many: this method knows no pages."""
    rows = chosen(context, context.portal.company.crm.statuses, params.get("FILTER"))
    rows = in_order(context.portal.in_no_order(rows), params.get("ORDER"))
    return Result(encode_all(rows), total=len(rows))


def status_entity_types(context: Context, _params: Params) -> Result:
    crm = context.portal.company.crm
    dictionaries: dict[str, Row] = {
        name: {"ID": name, "NAME": name, "SEMANTIC_INFO": []} for name in structure.DICTIONARIES
    }
    for category in crm.categories:
        if category.entity_type_id in {3, 4}:
            continue
        name, prefix = structure.dictionary_of(category)
        dictionaries[name] = {
            "ID": name, "NAME": f"Стадии: {category.name}", "PARENT_ID": "", "CATEGORY_ID": str(category.id),
            "ENTITY_TYPE_ID": category.entity_type_id, "PREFIX": prefix.rstrip(":"), "FIELD_ATTRIBUTE_SCOPE": "",
            "SEMANTIC_INFO": {
                "START_FIELD": f"{prefix}NEW", "FINAL_SUCCESS_FIELD": f"{prefix}WON",
                "FINAL_UNSUCCESS_FIELD": f"{prefix}LOSE", "FINAL_SORT": 0,
            },
            "IS_ENABLED": True,
        }  # fmt: skip
    return Result(encode_all(context.portal.in_no_order(dictionaries.values())))


def owner_types(context: Context, _params: Params) -> Result:
    letters = LETTERS | {5: "I", 8: "RQ"}
    rows = [
        {"ID": number, "NAME": name, "SYMBOL_CODE": name, "SYMBOL_CODE_SHORT": letters[number]}
        for number, name in OWNER_NAMES.items()
    ]
    crm = context.portal.company.crm
    for smart in crm.smart_types:
        number = smart.entity_type_id
        title = crm.types.row(smart.id)["title"]
        rows.append(
            {"ID": number, "NAME": title, "SYMBOL_CODE": f"DYNAMIC_{number}", "SYMBOL_CODE_SHORT": f"T{number:x}"}
        )
    return Result(encode_all(rows))


def mode(context: Context, _params: Params) -> Result:
    """A box is as it was installed; a cloud with leads has the classic mode."""
    crm, box = context.portal.company.crm, context.portal.is_box
    classic = context.portal.box_habits.classic_crm if box else bool(crm.ids.lead_ids)
    return Result(CLASSIC_MODE if classic else SIMPLE_MODE)


def chosen(context: Context, rows: list[Row], asked: Any, strict: str = "") -> list[Row]:
    """The rows that pass; a strict method refuses names it does not know."""
    for key, value in asked.items() if isinstance(asked, dict) else ():
        operator, name = split(key)
        if strict and rows and name not in rows[0]:
            raise RestError("INVALID_ARG_VALUE", f"Invalid {strict}: field '{name}' is not allowed in {strict}")
        test = condition(operator, name, value, context.portal.company.moments)
        rows = [row for row in rows if test(row)]
    return rows


def in_some_order(rows: list[Row], key: str) -> list[Row]:
    """The same for every page, and not that of the ids."""
    return sorted(rows, key=lambda row: by_chance(int(row[key])))


def in_order(rows: list[Row], order: Any) -> list[Row]:
    for name, asked in reversed(order.items() if isinstance(order, dict) else ()):
        descending = direction_of(name, asked) == "DESC"
        rows = sorted(rows, key=lambda row, name=name: _natural(row.get(name)), reverse=descending)  # type: ignore[misc]
    return rows


def _natural(value: Any) -> tuple[int, str]:
    text = str(value or "")
    return (int(text), "") if text.isdigit() else (0, text)


def _administrator(context: Context) -> None:
    if not context.caller.admin:
        raise RestError("ACCESS_DENIED", "Доступ запрещен")


METHODS: Sequence[Method] = [
    Method("crm.type.list", ("crm",), type_list),
    Method("crm.type.get", ("crm",), type_get),
    Method("crm.type.getByEntityTypeId", ("crm",), type_get_by_entity),
    Method("crm.category.list", ("crm",), category_list),
    Method("crm.status.list", ("crm",), status_list, upper=True),
    Method("crm.status.entity.types", ("crm",), status_entity_types, upper=True),
    Method("crm.enum.ownertype", ("crm",), owner_types, upper=True),
    Method("crm.settings.mode.get", ("crm",), mode, upper=True),
]
