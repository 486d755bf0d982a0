"""crm.type.*, crm.category.* and crm.status.*: what a CRM is built of."""

import re
from dataclasses import replace
from typing import Any

from b24sim.company import crm_structure as structure
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, QUOTE, SmartType
from b24sim.company.crm_structure import Category, category_row, dictionary_of
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.imports.furniture import DICTIONARIES, SEMANTICS
from b24sim.methods.crm_items import required, type_of
from b24sim.native.crm_box import COLOURS, stage_row, status_row
from b24sim.native.ledger import stamp_of
from b24sim.native.writing import access_denied, created, flag, mapping
from b24sim.paging import whole
from b24sim.phpjson import Parts, encode
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

LONGEST = {"STATUS": 21, "QUOTE_STATUS": 22}  # both are dictionaries of every box (crm-status-add.md)
DEAL_LONGEST, LONGEST_OTHER = 22, 50
_CODE = re.compile(r"[A-Za-z0-9_-]+")


def category_add(context: Context, params: Params) -> Result:
    """A new pipeline comes with the usual stages; its id cannot be chosen."""
    _administrator(context)
    number, fields = _with_pipelines(context, params), mapping(params, "fields")
    name = str(fields.get("name") or "").strip()
    if not name:
        raise RestError(0, "Поле 'NAME' обязательно для заполнения")
    crm = context.portal.company.crm
    default = flag(fields.get("isDefault")) == "Y" and number != DEAL
    if default and number in {CONTACT, COMPANY}:
        raise RestError(0, "Default client category does not support updating default state")
    sort = whole(fields.get("sort", 500))
    category = Category(context.portal.native.number("categories"), number, name, sort, default)
    crm.categories = [_demoted(other, category) for other in crm.categories] + [category]
    open_stages(context, category)
    created(context, "categories", category.id, stamp_of(number, name))
    return _category(category)


def category_update(context: Context, params: Params) -> Result:
    _administrator(context)
    category, fields = _known_category(context, params), mapping(params, "fields")
    default = category.default or (flag(fields.get("isDefault")) == "Y" and category.entity_type_id != DEAL)
    changed = replace(
        category,
        name=str(fields.get("name") or category.name),
        sort=whole(fields.get("sort", category.sort)),
        default=default,
    )
    crm = context.portal.company.crm
    crm.categories = [changed if other == category else _demoted(other, changed) for other in crm.categories]
    context.portal.native.updated("categories", category.id)
    return _category(changed)


def category_delete(context: Context, params: Params) -> Result:
    _administrator(context)
    crm, category = context.portal.company.crm, _known_category(context, params)
    items = crm.items.get(category.entity_type_id)
    used = items is not None and any(items.row(number).get("categoryId") == category.id for number in items)
    if category.default or used:
        raise RestError(0, "Нельзя удалить воронку, в которой есть элементы")
    crm.categories = [other for other in crm.categories if other != category]
    crm.statuses = [row for row in crm.statuses if row["ENTITY_ID"] != dictionary_of(category)[0]]
    context.portal.native.deleted("categories", category.id)
    return Result(None)


def category_get(context: Context, params: Params) -> Result:
    return _category(_known_category(context, params))


def status_add(context: Context, params: Params) -> Result:
    _administrator(context, "Access denied.")
    fields, crm = mapping(params, "FIELDS"), context.portal.company.crm
    entity, code, name = (str(fields.get(part) or "").strip() for part in ("ENTITY_ID", "STATUS_ID", "NAME"))
    for part, value in (("ENTITY_ID", entity), ("STATUS_ID", code)):
        if not value:
            raise RestError("", f"The field {part} is required.")
    category = next((one for one in crm.categories if _staged(one) and dictionary_of(one)[0] == entity), None)
    if category is None and entity not in (*structure.DICTIONARIES, *LONGEST):
        raise RestError("", "Specified entity type is not supported.")
    code = _code(category, entity, code)
    if any(row["ENTITY_ID"] == entity and row["STATUS_ID"] == code for row in crm.statuses):
        raise RestError("", "Duplicate STATUS_ID.")
    if not name:
        raise RestError("", "Не заполнено обязательное поле «Название»")
    number = context.portal.native.number("statuses")
    crm.statuses = [*crm.statuses, _status(crm.statuses, category, fields, number, code)]
    created(context, "statuses", number, stamp_of(entity, code))
    return Result(number)


def status_update(context: Context, params: Params) -> Result:
    _administrator(context, "Access denied.")
    row, fields, crm = _known_status(context, params), mapping(params, "FIELDS"), context.portal.company.crm
    changed = row | {name: str(fields[name]) for name in ("NAME", "SORT", "COLOR") if fields.get(name) is not None}
    if row.get("EXTRA") and fields.get("COLOR"):
        changed["EXTRA"] = row["EXTRA"] | {"COLOR": str(fields["COLOR"])}
    crm.statuses = [changed if other is row else other for other in crm.statuses]
    context.portal.native.updated("statuses", row["ID"])
    return Result(True)


def status_delete(context: Context, params: Params) -> Result:
    _administrator(context, "Access denied.")
    row, crm = _known_status(context, params), context.portal.company.crm
    forced = flag(mapping(params, "PARAMS").get("FORCED")) == "Y"
    if row["SYSTEM"] == "Y" and not forced:
        raise RestError("", "CRM System Status can be deleted only if parameter FORCED is specified and equal to 'Y'.")
    crm.statuses = [other for other in crm.statuses if other is not row]
    context.portal.native.deleted("statuses", row["ID"])
    return Result(True)


def open_stages(context: Context, category: Category) -> None:
    """The stages that a pipeline is born with."""
    crm = context.portal.company.crm
    if not _staged(category):
        return
    stages = (
        [(code, name, SEMANTICS.get(code, "")) for code, name in DICTIONARIES["DEAL_STAGE"].items()]
        if category.entity_type_id == DEAL
        else [(code, name, meaning) for code, name, meaning, _ in structure.SMART_STAGES]
    )
    for place, (code, name, meaning) in enumerate(stages, 1):
        number = context.portal.native.number("statuses")
        crm.statuses = [
            *crm.statuses,
            stage_row(category, number, code, name=name, meaning=meaning, colour=COLOURS[meaning], sort=10 * place),
        ]


def smart_of(context: Context, number: int) -> SmartType:
    smart = next((one for one in context.portal.company.crm.smart_types if one.id == number), None)
    if smart is None:
        raise RestError("NOT_FOUND", "Смарт-процесс не найден")
    return smart


def _staged(category: Category) -> bool:
    return category.entity_type_id not in {CONTACT, COMPANY}


def _code(category: Category | None, entity: str, code: str) -> str:
    prefix = dictionary_of(category)[1] if category else ""
    bare = code.removeprefix(prefix)
    most = LONGEST.get(entity, DEAL_LONGEST if entity.startswith("DEAL_STAGE") else LONGEST_OTHER)
    narrow = entity in LONGEST or entity.startswith("DEAL_STAGE")
    if len(prefix + bare) > most or (narrow and not _CODE.fullmatch(bare)):
        raise RestError("", "Invalid parameters.")
    return prefix + bare


def _status(rows: list[Row], category: Category | None, fields: Row, number: int, code: str) -> Row:
    sort, name = whole(fields.get("SORT", 10)), str(fields["NAME"])
    if category is None:
        return status_row(number, str(fields["ENTITY_ID"]), code, name=name, sort=sort, system=False)
    meaning = str(fields.get("SEMANTICS") or "")
    won = [whole(row["SORT"]) for row in rows if row["ENTITY_ID"] == fields["ENTITY_ID"] and row["SEMANTICS"] == "S"]
    if meaning == "S" and won:
        raise RestError("", "В воронке может быть только одна успешная стадия")  # crm lib/statustable.php, onBeforeAdd
    if meaning == "F" and won and sort <= min(won):
        raise RestError("", "Нельзя создать провальную стадию перед успешной")
    if meaning not in {"S", "F"} and won and sort >= min(won):
        raise RestError("", "Нельзя создать промежуточную стадию после успешной")
    colour = str(fields.get("COLOR") or COLOURS.get(meaning, COLOURS[""]))
    return stage_row(category, number, code, name=name, meaning=meaning, colour=colour, sort=sort)


def _demoted(other: Category, new: Category) -> Category:
    same = other.entity_type_id == new.entity_type_id and other.id != new.id
    return replace(other, default=False) if same and new.default else other


def _with_pipelines(context: Context, params: Params) -> int:
    number = whole(required(params, "entityTypeId"))
    if number in {LEAD, QUOTE}:
        raise RestError("ENTITY_TYPE_NOT_SUPPORTED", f"Тип {number} не поддерживается")
    type_of(context, params)
    return number


def _known_category(context: Context, params: Params) -> Category:
    number, wanted = _with_pipelines(context, params), whole(required(params, "id"))
    for category in context.portal.company.crm.categories:
        if (category.entity_type_id, category.id) == (number, wanted):
            return category
    raise RestError("NOT_FOUND", "Элемент не найден")


def _known_status(context: Context, params: Params) -> Row:
    number = str(whole(params.get("ID")))
    for row in context.portal.company.crm.statuses:
        if row["ID"] == number:
            return row
    raise RestError("", "CRM status is not found.")


def _category(category: Category) -> Result:
    return Result(Parts({"category": encode(category_row(category))}))


def _administrator(context: Context, words: str = "") -> None:
    if not context.caller.admin:
        raise RestError("", words) if words else access_denied()


def _get_status(context: Context, params: Params) -> Result:
    row: Any = _known_status(context, params)
    return Result(row)


METHODS = [
    Method("crm.category.add", ("crm",), category_add),
    Method("crm.category.get", ("crm",), category_get),
    Method("crm.category.update", ("crm",), category_update),
    Method("crm.category.delete", ("crm",), category_delete),
    Method("crm.status.add", ("crm",), status_add, upper=True),
    Method("crm.status.get", ("crm",), _get_status, upper=True),
    Method("crm.status.update", ("crm",), status_update, upper=True),
    Method("crm.status.delete", ("crm",), status_delete, upper=True),
]
