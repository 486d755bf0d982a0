"""crm.type.add, update and delete: smart processes, whose entityTypeId may be chosen and whose id may not."""

from typing import Any

from b24sim.company.crm import Crm
from b24sim.company.crm_ids import COMPANY, CONTACT, SmartType
from b24sim.company.crm_structure import SWITCHES, Category
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.crm_items import required
from b24sim.native.crm_box import BoxItems, children_of
from b24sim.native.crm_structure import open_stages, smart_of
from b24sim.native.writing import access_denied, created, flag, iso_now, mapping
from b24sim.paging import whole
from b24sim.phpjson import Parts, encode
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

LOW, HIGH = range(128, 193), 1030
LINKED = ("CALENDAR_EVENT|UF_CRM_CAL_EVENT", "TASKS_TASK|UF_CRM_TASK", "TASKS_TASK_TEMPLATE|UF_CRM_TASK")


def add(context: Context, params: Params) -> Result:
    """It comes with a pipeline and its stages. Flags inside relations count only as the words true and false."""
    _administrator(context)
    required(params, "fields")
    fields, crm, ledger = mapping(params, "fields"), context.portal.company.crm, context.portal.native
    title = str(fields.get("title") or "").strip()
    if not title:
        raise RestError("BX_EMPTY_REQUIRED", 'Не заполнено обязательное поле "TITLE"')
    number = _entity_type_id(context, fields)
    smart = SmartType(ledger.number("types"), number, 0)
    crm.smart_types = (*crm.smart_types, smart)
    now, user = iso_now(context), context.caller.user
    row: Row = {"id": smart.id, "title": title, "code": str(fields.get("code") or ""), "createdBy": user,
                "entityTypeId": number, "customSectionId": None}  # fmt: skip
    row |= {switch: flag(fields.get(switch)) for switch in SWITCHES}
    crm.types.put(smart.id, row | {"createdTime": now, "updatedTime": now, "updatedBy": user})
    crm.own_relations[smart.id] = _relations(fields, row)
    crm.items[number] = BoxItems(number, f"CRM_{smart.id}", crm.names_of(smart), lambda: _parents(context, smart))
    category = Category(ledger.number("categories"), number, "Общая", 500, True)
    crm.categories = [*crm.categories, category]
    if row["isStagesEnabled"] == "Y":
        open_stages(context, category)
    _learn(context)
    created(context, "types", smart.id, str(number))
    return _type(context, smart)


def update(context: Context, params: Params) -> Result:
    _administrator(context)
    smart, fields, crm = smart_of(context, whole(required(params, "id"))), mapping(params, "fields"), _crm(context)
    row = crm.types.row(smart.id)
    changed: Row = {switch: flag(fields[switch]) for switch in SWITCHES if switch in fields}
    if fields.get("title"):
        changed["title"] = str(fields["title"])
    crm.types.put(smart.id, row | changed | {"updatedTime": iso_now(context), "updatedBy": context.caller.user})
    said = crm.own_relations[smart.id]
    told = _relations(fields, row | changed)
    crm.own_relations[smart.id] = said | {
        name: told[name] for name in ("relations", "linkedUserFields") if name in fields
    }
    if changed.get("isStagesEnabled") == "Y" and row["isStagesEnabled"] != "Y":
        for category in crm.categories:
            if category.entity_type_id == smart.entity_type_id:
                open_stages(context, category)
    _learn(context)
    context.portal.native.updated("types", smart.id)
    return _type(context, smart)


def delete(context: Context, params: Params) -> Result:
    _administrator(context)
    smart, crm = smart_of(context, whole(required(params, "id"))), _crm(context)
    if len(crm.items[smart.entity_type_id]):
        raise RestError(0, "Нельзя удалить смарт-процесс, у которого есть элементы")
    crm.smart_types = tuple(other for other in crm.smart_types if other != smart)
    crm.types.remove(smart.id)
    crm.items.pop(smart.entity_type_id)
    crm.categories = [one for one in crm.categories if one.entity_type_id != smart.entity_type_id]
    stages = f"DYNAMIC_{smart.entity_type_id}_STAGE_"
    crm.statuses = [row for row in crm.statuses if not row["ENTITY_ID"].startswith(stages)]
    del crm.own_relations[smart.id]
    _learn(context)
    context.portal.native.deleted("types", smart.id)
    return Result(None)


def _entity_type_id(context: Context, fields: Row) -> int:
    taken = set(_crm(context).items)
    if fields.get("entityTypeId") in (None, "", 0):
        return next(number for number in range(HIGH, 1_000_000, 2) if number not in taken)
    number = whole(fields["entityTypeId"])
    if number in taken:
        raise RestError("BX_INVALID_VALUE", "entityTypeId is taken")  # by the unique validator of the kernel's table
    if not (number in LOW or (number >= HIGH and number % 2 == 0)):
        raise RestError("INVALID_ARG_VALUE", "entityTypeId is out of allowed range")
    return number


def _relations(fields: Row, row: Row) -> Row:
    """Clients are parents by themselves; the rest was asked for."""
    asked = mapping(fields, "relations")
    clients = (CONTACT, COMPANY) if row["isClientEnabled"] == "Y" else ()
    parents = [{"entityTypeId": number, "isChildrenListEnabled": "Y", "isPredefined": "Y"} for number in clients]
    named, linked = _known(asked.get("parent")), mapping(fields, "linkedUserFields")
    return {
        "relations": {
            "parent": parents + [_relation(one) for one in named if one["entityTypeId"] not in clients],
            "child": [_relation(one) for one in _known(asked.get("child"))],
        },
        "linkedUserFields": {name: "Y" if str(linked.get(name)) == "true" else "N" for name in LINKED},
        "customSections": [],
    }  # fmt: skip


def _known(asked: Any) -> list[Row]:
    entries = asked.values() if isinstance(asked, dict) else asked if isinstance(asked, list) else ()
    return [one | {"entityTypeId": whole(one.get("entityTypeId"))} for one in entries if isinstance(one, dict)]


def _relation(one: Row) -> Row:
    shown = "Y" if str(one.get("isChildrenListEnabled")) == "true" else "N"
    return {"entityTypeId": one["entityTypeId"], "isChildrenListEnabled": shown, "isPredefined": "N"}


def _parents(context: Context, smart: SmartType) -> list[int]:
    """Those it names itself, and those that name it as their child."""
    crm = _crm(context)
    own = crm.own_relations[smart.id]["relations"]["parent"]
    named = [one["entityTypeId"] for one in own if one["isPredefined"] == "N"]
    others = [one.entity_type_id for one in crm.smart_types if smart.entity_type_id in children_of(crm, one.id)]
    return list(dict.fromkeys([*named, *others]))


def _learn(context: Context) -> None:
    for items in _crm(context).items.values():
        if isinstance(items, BoxItems):
            items.learn()


def _type(context: Context, smart: SmartType) -> Result:
    crm = _crm(context)
    return Result(Parts({"type": encode(crm.types.row(smart.id) | crm.relations(smart))}))


def _crm(context: Context) -> Crm:
    return context.portal.company.crm


def _administrator(context: Context) -> None:
    if not context.caller.admin:
        raise access_denied()


METHODS = [
    Method("crm.type.add", ("crm",), add),
    Method("crm.type.update", ("crm",), update),
    Method("crm.type.delete", ("crm",), delete),
]
