"""Custom fields of the CRM: userfieldconfig.add and delete, and the older methods of each entity."""

from collections.abc import Callable
from dataclasses import replace

from b24sim.company.crm_fields import ENTITY_OF, Field, config_details
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.crm_items import required
from b24sim.methods.crm_userfields import require_module
from b24sim.native.crm_box import BoxItems, items_of
from b24sim.native.ledger import stamp_of
from b24sim.native.own_fields import OwnField, as_older, choices, is_code, labels, own_field
from b24sim.native.writing import created, flag, mapping, require_administrator
from b24sim.paging import whole
from b24sim.phpjson import Parts, encode
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

TYPES = {
    "string", "integer", "double", "date", "datetime", "boolean", "file", "enumeration", "url", "address", "money",
    "iblock_section", "iblock_element", "employee", "crm", "crm_status",
}  # fmt: skip
# Names of userfieldconfig.add; what is not among them it does not take.
CAMEL = {
    "xmlId": "XML_ID", "sort": "SORT", "multiple": "MULTIPLE", "mandatory": "MANDATORY", "showFilter": "SHOW_FILTER",
    "editInList": "EDIT_IN_LIST", "isSearchable": "IS_SEARCHABLE", "settings": "SETTINGS",
    "editFormLabel": "EDIT_FORM_LABEL", "userTypeId": "USER_TYPE_ID",
}  # fmt: skip


def config_add(context: Context, params: Params) -> Result:
    """The code must begin with `UF_<entityId>_`; an existing one is refused."""
    _allowed(context, params)
    field = mapping(params, "field")
    entity = str(field.get("entityId") or "")
    items, code = items_of(context.portal.company.crm, entity), str(field.get("fieldName") or "").upper()
    if items is None:
        raise RestError("", "Доступ запрещен")
    for name, value in (("USER_TYPE_ID", field.get("userTypeId")), ("FIELD_NAME", code)):
        if not value:
            raise RestError("", f"The '{name}' field is not found.")
    prefix = "UF_CRM_" if entity in ENTITY_OF.values() else f"UF_{entity}_"
    if not code.startswith(prefix):
        raise RestError("", "Вы не можете создавать пользовательские поля")
    sent = _older_names(field)
    return Result(Parts({"field": encode(config_details(_put(context, items, code, sent)))}))


def config_update(context: Context, params: Params) -> Result:
    _allowed(context, params)
    items, known = _known(context, whole(required(params, "id")))
    sent = _older_names(mapping(params, "field"))
    if sent.get("USER_TYPE_ID") != "enumeration":
        sent.pop("LIST", None)  # userfieldconfig-update.md: options change only together with their type
    changed = _changed(context, known, sent)
    _swap(context, items, known, changed)
    return Result(Parts({"field": encode(config_details(changed))}))


def config_delete(context: Context, params: Params) -> Result:
    _allowed(context, params)
    _remove(context, *_known(context, whole(required(params, "id"))))
    return Result(None)


def _older_add(number: int) -> Callable[[Context, Params], Result]:
    def add(context: Context, params: Params) -> Result:
        """The code is forced to `UF_CRM_<code>`."""
        require_administrator(context)
        sent = as_older(mapping(params, "FIELDS"))
        items = items_of(context.portal.company.crm, ENTITY_OF[number])
        bare = str(sent.get("FIELD_NAME") or "").upper()
        if items is None or not bare:
            raise RestError("", "The 'FIELD_NAME' field is not found.")
        if not sent.get("USER_TYPE_ID"):
            raise RestError("", "The 'USER_TYPE_ID' field is not found.")
        code = bare if bare.startswith("UF_CRM_") else f"UF_CRM_{bare.removeprefix('UF_')}"
        return Result(_put(context, items, code, sent).id)

    return add


def _older_update(context: Context, params: Params) -> Result:
    require_administrator(context)
    items, known = _known(context, whole(params.get("ID")))
    _swap(context, items, known, _changed(context, known, mapping(params, "FIELDS")))
    return Result(True)


def _older_delete(context: Context, params: Params) -> Result:
    require_administrator(context)
    _remove(context, *_known(context, whole(params.get("ID"))))
    return Result(True)


def _put(context: Context, items: BoxItems, code: str, sent: Row) -> OwnField:
    if not is_code(code):
        raise RestError("", f"Название поля «{code}» недопустимо")
    if any(field.code == code for field in items.fields):
        raise RestError("", f"Поле {code} для объекта {items.entity} уже существует.")
    if str(sent["USER_TYPE_ID"]) not in TYPES:
        raise RestError("", "Fail to create new user field.")
    field = own_field(context, items.entity, code, sent)
    items.fields.append(field)
    items.learn()
    created(context, "fields", field.id, stamp_of(items.entity, code))
    return field


def _older_names(field: Row) -> Row:
    sent = {older: field[name] for name, older in CAMEL.items() if name in field}
    if isinstance(field.get("enum"), (list, dict)):
        entries = field["enum"].values() if isinstance(field["enum"], dict) else field["enum"]
        names = {"value": "VALUE", "def": "DEF", "sort": "SORT", "xmlId": "XML_ID", "id": "ID", "del": "DEL"}
        sent["LIST"] = [{names.get(key, key): value for key, value in entry.items()} for entry in entries]
    return sent


def _changed(context: Context, known: OwnField, sent: Row) -> OwnField:
    """Options that are named by their id are changed or, marked DEL, deleted; the others are new."""
    offers = {str(choice.id): choice for choice in known.offers}
    for entry in sent.get("LIST") or []:
        number = str(entry.get("ID") or "")
        if number in offers and flag(entry.get("DEL")) == "Y":
            del offers[number]
        elif number in offers:
            old = offers[number]
            offers[number] = replace(
                old, value=str(entry.get("VALUE", old.value)), sort=whole(entry.get("SORT", old.sort))
            )
        else:
            offers |= {str(choice.id): choice for choice in choices(context, [entry])}
    named = "EDIT_FORM_LABEL" in sent or "LABEL" in sent
    return replace(
        known,
        offers=tuple(offers.values()),
        options=tuple((choice.id, choice.value) for choice in offers.values()),
        names=labels(sent, known.code) if named else known.names,
        order=whole(sent.get("SORT", known.order)),
    )


def _swap(context: Context, items: BoxItems, known: Field, changed: Field) -> None:
    items.fields[items.fields.index(known)] = changed
    items.learn()
    context.portal.native.updated("fields", known.id)


def _remove(context: Context, items: BoxItems, known: Field) -> None:
    items.fields.remove(known)
    items.learn()
    context.portal.native.deleted("fields", known.id)


def _known(context: Context, number: int) -> tuple[BoxItems, OwnField]:
    for items in context.portal.company.crm.items.values():
        for field in items.fields:
            if field.id == number and isinstance(items, BoxItems) and isinstance(field, OwnField):
                return items, field
    raise RestError("", "Поле не найдено")


def _allowed(context: Context, params: Params) -> None:
    require_module(context, params)
    require_administrator(context)


ENTITIES = {"deal": DEAL, "contact": CONTACT, "company": COMPANY}
METHODS = [
    Method("userfieldconfig.add", ("userfieldconfig",), config_add),
    Method("userfieldconfig.update", ("userfieldconfig",), config_update),
    Method("userfieldconfig.delete", ("userfieldconfig",), config_delete),
    *(
        Method(f"crm.{name}.userfield.add", ("crm",), _older_add(number), upper=True)
        for name, number in ENTITIES.items()
    ),
    *(Method(f"crm.{name}.userfield.update", ("crm",), _older_update, upper=True) for name in ENTITIES),
    *(Method(f"crm.{name}.userfield.delete", ("crm",), _older_delete, upper=True) for name in ENTITIES),
]
