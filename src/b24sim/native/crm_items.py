"""crm.item.add, import, batchImport, update and delete."""

from dataclasses import dataclass
from typing import Any

from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL
from b24sim.company.crm_structure import dictionary_of
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.crm_items import original_names, required, type_of, with_links
from b24sim.native.crm_box import BoxItems
from b24sim.native.crm_rows import multifields, new_multifields, not_valid, sent_fields, told
from b24sim.native.crm_times import history
from b24sim.native.ledger import stamp_of
from b24sim.native.requisites import noting_deletions
from b24sim.native.writing import access_denied, created, iso_now, listed, mapping, notify, now_of
from b24sim.paging import whole
from b24sim.phpjson import Parts, encode, encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

MOST_AT_ONCE = 20
# Fields that a smart process has only with its switch on.
SWITCHED = {
    "isClientEnabled": ("companyId", "contactId", "contactIds"),
    "isSourceEnabled": ("sourceId", "sourceDescription"),
    "isObserversEnabled": ("observers",),
    "isBeginCloseDatesEnabled": ("begindate", "closedate"),
    "isLinkWithProductsEnabled": ("opportunity", "currencyId", "isManualOpportunity"),
    "isStagesEnabled": ("stageId",),
    "isMycompanyEnabled": ("mycompanyId",),
}


@dataclass(frozen=True, slots=True)
class Sent:
    """A new record as it came; `original` says how custom fields are spelled in it."""

    fields: Row
    original: bool
    history: Row
    multifields: list[Row]


def item_import(context: Context, params: Params) -> Result:
    items, original = _items(context, params), original_names(context, params)
    required(params, "fields")
    number = _imported(context, items, mapping(params, "fields"), original)
    return Result({"item": {"id": number}})


def batch_import(context: Context, params: Params) -> Result:
    """One after another; a bad one leaves its error in its place."""
    items, original = _items(context, params), original_names(context, params)
    data = listed(required(params, "data"))
    if len(data) > MOST_AT_ONCE:
        raise RestError("MAX_IMPORT_BATCH_SIZE_EXCEEDED", "Нельзя импортировать больше 20 элементов")
    answers: list[Row] = []
    for fields in data:
        try:
            number = _imported(context, items, fields if isinstance(fields, dict) else {}, original)
            answers.append({"item": {"id": number}})
        except RestError as refusal:
            answers.append(refusal.body())
    return Result(Parts({"items": encode_all(answers)}))


def item_add(context: Context, params: Params) -> Result:
    """Created now, by the caller, in any case; robots start."""
    items, original = _items(context, params), original_names(context, params)
    required(params, "fields")
    fields = mapping(params, "fields")
    sent = Sent(fields, original, history(context, items, {}), new_multifields(context, fields))
    number = _put_new(context, items, sent)
    context.portal.native.tell("automation", number, f"type {items.entity_type_id}")
    return _item(context, items, number, original)


def item_update(context: Context, params: Params) -> Result:
    """Now, by the caller, and robots start here too."""
    items, original = _items(context, params), original_names(context, params)
    number, fields = _known(items, params), mapping(params, "fields")
    row = items.row(number)
    changes = _without_switched_off(context, items, sent_fields(context, items, fields, original))
    changed = _placed(context, items, row | changes)
    now, user = iso_now(context), context.caller.user
    changed |= {"updatedTime": now, "updatedBy": user}
    if changed.get("stageId") != row.get("stageId") and "movedTime" in row:
        changed |= {"movedTime": now, "movedBy": user, "previousStageId": row.get("stageId")}
    changed = _closed_today(context, items, row, changed)
    if "fm" in fields and "fm" in row:
        changed["fm"] = _changed_multifields(context, row["fm"], fields["fm"])
    items.put(number, told(changed))
    context.portal.native.updated("items", number)
    context.portal.native.tell("automation", number, f"type {items.entity_type_id}")
    return _item(context, items, number, original)


def item_delete(context: Context, params: Params) -> Result:
    items = _items(context, params)
    number = _known(items, params)
    items.remove(number)
    with noting_deletions(context):
        context.portal.company.requisites.forget_record(items.entity_type_id, number)
    context.portal.native.deleted("items", number)
    return Result([])


def _imported(context: Context, items: BoxItems, fields: Row, original: bool) -> int:
    """Robots stay still, but people are notified."""
    sent = Sent(fields, original, history(context, items, fields), multifields(context, fields))
    return _put_new(context, items, sent)


def _put_new(context: Context, items: BoxItems, sent: Sent) -> int:
    fields = _without_switched_off(context, items, sent_fields(context, items, sent.fields, sent.original))
    blank = items.ordinary(0)
    blank |= {name: None for name in _switched_off(context, items) if name in blank and blank[name] != []}
    row = blank | {"assignedById": context.caller.user} | fields
    row |= {name: value for name, value in sent.history.items() if name in blank}
    if "fm" in row:
        row["fm"] = sent.multifields
    _demand_required(items, row, sent)
    row = _closed_today(context, items, {}, told(_placed(context, items, row)))
    number = context.portal.native.number("items")
    items.put(number, row | {"id": number, "_productRows": []})
    created(context, "items", number, _stamp(items, row, number))
    if items.entity_type_id != COMPANY:
        notify(context, [row["assignedById"], *(row.get("observers") or [])], f"item {number}")
    return number


def _stamp(items: BoxItems, row: Row, number: int) -> str:
    word = row.get("xmlId") if "xmlId" in row else row.get("originId") and f"{row['originatorId']}:{row['originId']}"
    return stamp_of(items.entity_type_id, word or f"#{number}")


def _demand_required(items: BoxItems, row: Row, sent: Sent) -> None:
    if items.entity_type_id == COMPANY and not row.get("title"):
        raise RestError("CRM_FIELD_ERROR_REQUIRED", "Поле «Название компании» обязательно для заполнения")
    if items.entity_type_id == DEAL and "title" in sent.fields and not row.get("title"):
        raise RestError("CRM_FIELD_ERROR_REQUIRED", "Поле «Название» обязательно для заполнения")
    if items.entity_type_id == CONTACT and not (row.get("name") or row.get("lastName")):
        raise RestError("CRM_FIELD_ERROR_REQUIRED", "Поле «Имя» обязательно для заполнения")


def _placed(context: Context, items: BoxItems, row: Row) -> Row:
    """The pipeline and the stage: each that is not named is the first; a stage must be one of its pipeline."""
    crm, number = context.portal.company.crm, items.entity_type_id
    if number in {CONTACT, COMPANY}:
        return row | {"categoryId": row.get("categoryId") or 0}
    known = [category for category in crm.categories if category.entity_type_id == number]
    default = next(category for category in known if category.default)
    wanted = default.id if row.get("categoryId") is None else row["categoryId"]
    category = next((one for one in known if one.id == wanted), None)
    if category is None:
        raise not_valid("categoryId")
    row = row | {"categoryId": category.id}
    stages = [stage for stage in crm.statuses if stage["ENTITY_ID"] == dictionary_of(category)[0]]
    if not stages:
        return row
    codes = {stage["STATUS_ID"]: stage for stage in stages}
    if not row.get("stageId"):
        row["stageId"] = min(stages, key=lambda stage: whole(stage["SORT"]))["STATUS_ID"]
    if row["stageId"] not in codes:
        raise not_valid("stageId")
    if number == DEAL:
        meaning = codes[row["stageId"]]["SEMANTICS"] or "P"
        row |= {"stageSemanticId": meaning, "closed": "Y" if meaning != "P" else "N"}
    return row


def _closed_today(context: Context, items: BoxItems, before: Row, row: Row) -> Row:
    """A record that reaches a final stage is closed today, with any sent date (crm lib/Field/CloseDate.php). A new
    record was in no stage before."""
    was, now = (_meaning(context, items, one) for one in (before, row))
    if not context.portal.box_habits.closes_today or was == now or now not in {"S", "F"} or "closedate" not in row:
        return row
    if "closedate" in _switched_off(context, items):
        return row
    return row | {"closedate": context.portal.company.crm.world.day(now_of(context))}


def _meaning(context: Context, items: BoxItems, row: Row) -> str | None:
    """P, S or F of the stage that a record is in; None of one that is in none."""
    crm, code = context.portal.company.crm, row.get("stageId")
    for category in crm.categories:
        if category.entity_type_id == items.entity_type_id and category.id == row.get("categoryId"):
            entity = dictionary_of(category)[0]
            found = (one for one in crm.statuses if one["ENTITY_ID"] == entity and one["STATUS_ID"] == code)
            return next((str(one["SEMANTICS"] or "P") for one in found), None)
    return None


def _without_switched_off(context: Context, items: BoxItems, row: Row) -> Row:
    off = _switched_off(context, items)
    return {name: value for name, value in row.items() if name not in off}


def _switched_off(context: Context, items: BoxItems) -> set[str]:
    """Such fields are there all the same, and empty."""
    crm = context.portal.company.crm
    smart = crm.smart(items.entity_type_id)
    if smart is None:
        return set()
    switches = crm.types.row(smart.id)
    return {name for switch, names in SWITCHED.items() if switches[switch] != "Y" for name in names}


def _changed_multifields(context: Context, known: list[Row], asked: Any) -> list[Row]:
    """By record id; a new one has no number for its key, an empty value takes one away."""
    entries = asked if isinstance(asked, dict) else {f"n{place}": entry for place, entry in enumerate(listed(asked))}
    rows = {str(entry["id"]): entry for entry in known}
    for key, entry in entries.items():
        if key in rows and not entry.get("value"):
            del rows[key]
        elif key in rows:
            rows[key] = rows[key] | {"value": str(entry["value"])}
        else:
            rows |= {str(new["id"]): new for new in new_multifields(context, {"fm": [entry]})}
    return list(rows.values())


def _items(context: Context, params: Params) -> BoxItems:
    items = type_of(context, params)
    if not isinstance(items, BoxItems):
        raise RestError("ENTITY_TYPE_NOT_SUPPORTED", f"Тип {params['entityTypeId']} не поддерживается")
    if not context.caller.admin:
        raise access_denied()
    return items


def _known(items: BoxItems, params: Params) -> int:
    number = whole(required(params, "id"))
    if number not in items:
        raise RestError("NOT_FOUND", "Элемент не найден")
    return number


def _item(context: Context, items: BoxItems, number: int, original: bool) -> Result:
    row = items.schema.renamed(with_links(context, items, items.row(number)), original)
    return Result(Parts({"item": encode(row)}))


METHODS = [
    Method("crm.item.add", ("crm",), item_add),
    Method("crm.item.import", ("crm",), item_import),
    Method("crm.item.batchImport", ("crm",), batch_import),
    Method("crm.item.update", ("crm",), item_update),
    Method("crm.item.delete", ("crm",), item_delete),
]
