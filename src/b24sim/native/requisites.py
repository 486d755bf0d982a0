"""crm.requisite.*.add, update and delete, crm.address.* and crm.requisite.link.*: the caller is the author, now is the
date, and what has no id of its own is named by what it belongs to."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from b24sim.company.crm_ids import COMPANY, CONTACT, LEAD
from b24sim.company.requisites import (
    ADDRESS_FIELDS,
    BANK_FIELDS,
    LINK_FIELDS,
    REQUISITE,
    RQ_FIELDS,
    Requisites,
)
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.custom_values import value_of
from b24sim.native.ledger import stamp_of
from b24sim.native.requisite_fields import FIELD_METHODS
from b24sim.native.writing import created, flag, iso_now, mapping
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row, Table

CLIENTS = (CONTACT, COMPANY)
TEXTS = ("NAME", "CODE", "XML_ID", "ORIGINATOR_ID")


def all_of(context: Context) -> Requisites:
    return context.portal.company.requisites


def invalid(name: str) -> RestError:
    return RestError("", f"{name} is not defined or invalid.")


def found(table: Table, number: int, words: str) -> int:
    if number not in table:
        raise RestError("", words)
    return number


# ---------------------------------------------------------------- templates


def preset_add(context: Context, params: Params) -> Result:
    fields = mapping(params, "FIELDS")
    if whole(fields.get("ENTITY_TYPE_ID")) != REQUISITE:
        raise invalid("ENTITY_TYPE_ID")
    if not fields.get("NAME") or not whole(fields.get("COUNTRY_ID")):
        raise RestError("", "Не заполнено обязательное поле")
    number = context.portal.native.number("requisite_presets")
    row = {"ID": str(number), "ENTITY_TYPE_ID": str(REQUISITE), "COUNTRY_ID": str(whole(fields["COUNTRY_ID"]))}
    row |= _born(context) | {"NAME": str(fields["NAME"]), "XML_ID": _text(fields.get("XML_ID"))}
    all_of(context).presets.put(number, row | _switches(fields, ("ACTIVE",)))
    all_of(context).preset_fields[number] = []
    created(context, "requisite_presets", number, stamp_of(row["COUNTRY_ID"], row["NAME"]))
    return Result(number)


def preset_update(context: Context, params: Params) -> Result:
    number, fields = _preset(context, whole(params.get("ID"))), mapping(params, "FIELDS")
    texts = {name: _text(fields[name]) for name in ("NAME", "XML_ID", "COUNTRY_ID") if name in fields}
    row = all_of(context).presets.row(number)
    all_of(context).presets.put(number, row | texts | _switches(fields, ("ACTIVE",), row) | _changed(context))
    context.portal.native.updated("requisite_presets", number)
    return Result(True)


def preset_delete(context: Context, params: Params) -> Result:
    number = _preset(context, whole(params.get("ID")))
    if any(row["PRESET_ID"] == str(number) for row in map(all_of(context).requisites.row, all_of(context).requisites)):
        raise RestError("", "Шаблон используется в реквизитах")
    all_of(context).presets.remove(number)
    context.portal.native.deleted("requisite_presets", number)
    return Result(True)


def field_add(context: Context, params: Params) -> Result:
    """A field may be in a template once."""
    fields, rows = mapping(params, "FIELDS"), _fields_of(context, params)
    name = str(fields.get("FIELD_NAME") or "")
    known = {*RQ_FIELDS, *(one.code for one in all_of(context).fields)}
    if name not in known or any(row["FIELD_NAME"] == name for row in rows):
        raise RestError("", f"The field '{name}' can not be added.")
    number = max((row["ID"] for row in rows), default=0) + 1
    rows.append({"ID": number, "FIELD_NAME": name, **_field_values(fields)})
    return Result(number)


def field_update(context: Context, params: Params) -> Result:
    row = _field(context, params)
    row |= _field_values({**row, **mapping(params, "FIELDS")})
    return Result(True)


def field_delete(context: Context, params: Params) -> Result:
    _fields_of(context, params).remove(_field(context, params))
    return Result(True)


def _preset(context: Context, number: int) -> int:
    return found(all_of(context).presets, number, f"The Preset with ID '{number}' is not found")


def _fields_of(context: Context, params: Params) -> list[Row]:
    named = {str(key).upper(): value for key, value in mapping(params, "PRESET").items()}
    return all_of(context).preset_fields.setdefault(_preset(context, whole(named.get("ID"))), [])


def _field(context: Context, params: Params) -> Row:
    number = whole(params.get("ID"))
    for row in _fields_of(context, params):
        if row["ID"] == number:
            return row
    raise RestError("", f"The PresetField with ID '{number}' is not found")


def _field_values(fields: Row) -> Row:
    return {
        "FIELD_TITLE": str(fields.get("FIELD_TITLE") or ""),
        "IN_SHORT_LIST": flag(fields.get("IN_SHORT_LIST")),
        "SORT": whole(fields.get("SORT", 500)),
    }


# ---------------------------------------------------------------- requisites and bank details


def requisite_add(context: Context, params: Params) -> Result:
    fields, requisites = mapping(params, "FIELDS"), all_of(context)
    kind, client = whole(fields.get("ENTITY_TYPE_ID")), whole(fields.get("ENTITY_ID"))
    for name, good in (("ENTITY_TYPE_ID", kind in CLIENTS), ("ENTITY_ID", client > 0)):
        if not good:
            raise invalid(name)
    if client not in context.portal.company.crm.items[kind]:
        raise RestError("", "Entity not found.")
    if whole(fields.get("PRESET_ID")) not in requisites.presets:
        raise invalid("PRESET_ID")
    number = context.portal.native.number("requisites")
    row: Row = {"ID": str(number), "ENTITY_TYPE_ID": str(kind), "ENTITY_ID": str(client), **dict.fromkeys(TEXTS)}
    row |= {"PRESET_ID": str(whole(fields["PRESET_ID"])), **_born(context), **dict.fromkeys(RQ_FIELDS)}
    row |= {one.code: value_of(context, one.kind, one.multiple, None) for one in requisites.fields}
    requisites.requisites.put(number, row | _switches(fields, ("ACTIVE", "ADDRESS_ONLY")) | _details(context, fields))
    created(context, "requisites", number, str(fields.get("ORIGINATOR_ID") or number))
    return Result(number)


def requisite_update(context: Context, params: Params) -> Result:
    table, fields = all_of(context).requisites, mapping(params, "FIELDS")
    number = _requisite(context, whole(params.get("ID")))
    row = table.row(number)
    changed = _switches(fields, ("ACTIVE", "ADDRESS_ONLY"), row) | _details(context, fields) | _changed(context)
    changed |= {name: str(whole(fields[name])) for name in ("PRESET_ID",) if name in fields}
    table.put(number, row | changed)
    context.portal.native.updated("requisites", number)
    return Result(True)


def requisite_delete(context: Context, params: Params) -> Result:
    """With bank details and addresses."""
    number = _requisite(context, whole(params.get("ID")))
    with noting_deletions(context):
        all_of(context).forget_requisite(number)
    return Result(True)


@contextmanager
def noting_deletions(context: Context) -> Iterator[None]:
    """Of all that goes with something."""
    tables = all_of(context).tables
    before = {name: set(table.ids) for name, table in tables.items()}
    yield
    for name, table in tables.items():
        for number in before[name] - set(table.ids):
            context.portal.native.deleted(name.removeprefix("crm_"), number)


def bank_detail_add(context: Context, params: Params) -> Result:
    """Of the country of the template."""
    fields, requisites = mapping(params, "FIELDS"), all_of(context)
    owner = whole(fields.get("ENTITY_ID"))
    if owner not in requisites.requisites:
        raise invalid("ENTITY_ID")
    preset = whole(requisites.requisites.row(owner)["PRESET_ID"])
    number = context.portal.native.number("bank_details")
    row: Row = {"ID": str(number), "ENTITY_ID": str(owner), **dict.fromkeys((*TEXTS, *BANK_FIELDS, "COMMENTS"))}
    row |= {"COUNTRY_ID": requisites.presets.row(preset)["COUNTRY_ID"], **_born(context)}
    requisites.bank_details.put(number, row | _switches(fields, ("ACTIVE",)) | _bank_values(fields))
    created(context, "bank_details", number, str(fields.get("ORIGINATOR_ID") or number))
    return Result(number)


def bank_detail_update(context: Context, params: Params) -> Result:
    table, fields = all_of(context).bank_details, mapping(params, "FIELDS")
    number = found(table, whole(params.get("ID")), "The BankDetail is not found")
    row = table.row(number)
    table.put(number, row | _switches(fields, ("ACTIVE",), row) | _bank_values(fields) | _changed(context))
    context.portal.native.updated("bank_details", number)
    return Result(True)


def bank_detail_delete(context: Context, params: Params) -> Result:
    number = found(all_of(context).bank_details, whole(params.get("ID")), "The BankDetail is not found")
    all_of(context).forget_bank_detail(number)
    context.portal.native.deleted("bank_details", number)
    return Result(True)


def _requisite(context: Context, number: int) -> int:
    return found(all_of(context).requisites, number, f"The Requisite with ID '{number}' is not found")


def _details(context: Context, fields: Row) -> Row:
    """One that is only for an address has nothing else."""
    texts = {name: _text(fields[name]) for name in TEXTS if name in fields}
    details = {name: _text(fields[name]) for name in RQ_FIELDS if name in fields}
    if flag(fields.get("ADDRESS_ONLY")) == "Y":
        details = dict.fromkeys(details)
    known = {one.code: one for one in all_of(context).fields if one.code in fields}
    custom = {code: value_of(context, one.kind, one.multiple, fields[code]) for code, one in known.items()}
    return texts | details | custom


def _bank_values(fields: Row) -> Row:
    return {name: _text(fields[name]) for name in (*TEXTS, *BANK_FIELDS, "COMMENTS") if name in fields}


def _switches(fields: Row, names: Sequence[str], row: Row | None = None) -> Row:
    before = row or {"SORT": "500", "ACTIVE": "Y", "ADDRESS_ONLY": "N"}
    switches = {name: flag(fields.get(name), before[name]) for name in names}
    return switches | {"SORT": str(whole(fields.get("SORT", before["SORT"])))}


def _text(value: object) -> str | None:
    return None if value in (None, "", False) else str(value)


def _born(context: Context) -> Row:
    who = str(context.caller.user)
    return {"DATE_CREATE": iso_now(context), "DATE_MODIFY": "", "CREATED_BY_ID": who, "MODIFY_BY_ID": None}


def _changed(context: Context) -> Row:
    return {"DATE_MODIFY": iso_now(context), "MODIFY_BY_ID": str(context.caller.user)}


# ---------------------------------------------------------------- addresses


def address_add(context: Context, params: Params) -> Result:
    fields, table = mapping(params, "FIELDS"), all_of(context).addresses
    place = _place(fields)
    if _address_at(table, place):
        raise RestError("", "TypeAddress exists")
    row = {**place, **dict.fromkeys(ADDRESS_FIELDS, ""), "LOC_ADDR_ID": "0", **_anchor(context, place)}
    number = context.portal.native.number("addresses")
    table.put(number, row | _lines(fields))
    created(context, "addresses", number, stamp_of(*place.values()))
    return Result(True)


def address_update(context: Context, params: Params) -> Result:
    fields, table = mapping(params, "FIELDS"), all_of(context).addresses
    number = _known_address(table, fields)
    table.put(number, table.row(number) | _lines(fields))
    context.portal.native.updated("addresses", number)
    return Result(True)


def address_delete(context: Context, params: Params) -> Result:
    table = all_of(context).addresses
    number = _known_address(table, mapping(params, "FIELDS"))
    table.remove(number)
    context.portal.native.deleted("addresses", number)
    return Result(True)


def _place(fields: Row) -> Row:
    place = {name: str(whole(fields.get(name))) for name in ("TYPE_ID", "ENTITY_TYPE_ID", "ENTITY_ID")}
    for name, value in place.items():
        if value == "0" or (name == "ENTITY_TYPE_ID" and int(value) not in (LEAD, REQUISITE)):
            raise invalid(name)
    return place


def _address_at(table: Table, place: Row) -> int:
    return next((one for one in table if place.items() <= table.row(one).items()), 0)


def _known_address(table: Table, fields: Row) -> int:
    number = _address_at(table, _place(fields))
    return found(table, number, "TypeAddress not found")


def _anchor(context: Context, place: Row) -> Row:
    """The client of a requisite; a lead is its own."""
    kind, owner = int(place["ENTITY_TYPE_ID"]), int(place["ENTITY_ID"])
    if kind == REQUISITE:
        row = all_of(context).requisites.row(_requisite(context, owner))
        return {"ANCHOR_TYPE_ID": row["ENTITY_TYPE_ID"], "ANCHOR_ID": row["ENTITY_ID"]}
    return {"ANCHOR_TYPE_ID": str(kind), "ANCHOR_ID": str(owner)}


def _lines(fields: Row) -> Row:
    return {name: str(fields[name] or "") for name in ADDRESS_FIELDS if name in fields}


# ---------------------------------------------------------------- links


def link_register(context: Context, params: Params) -> Result:
    """The chosen one must belong to the client of the record; 0 means none."""
    fields, requisites = mapping(params, "FIELDS"), all_of(context)
    kind, owner = whole(fields.get("ENTITY_TYPE_ID")), whole(fields.get("ENTITY_ID"))
    items = context.portal.company.crm.items.get(kind)
    if items is None or kind in CLIENTS:
        raise invalid("ENTITY_TYPE_ID")
    if owner not in items:
        raise RestError("", "Entity is not found")
    for name in LINK_FIELDS:
        if name not in fields:
            raise invalid(name)
    chosen = {name: whole(fields[name]) for name in LINK_FIELDS}
    _check_client(requisites, items.row(owner), chosen)
    numbers = (one for one in requisites.links if _is_of(requisites.links.row(one), kind, owner))
    known = next(numbers, 0)
    number = known or context.portal.native.number("requisite_links")
    row = {"ENTITY_TYPE_ID": str(kind), "ENTITY_ID": str(owner)} | {name: str(one) for name, one in chosen.items()}
    requisites.links.put(number, row)
    if known:
        context.portal.native.updated("requisite_links", known)
    else:
        created(context, "requisite_links", number, stamp_of(kind, owner))
    return Result(True)


def _check_client(requisites: Requisites, item: Row, chosen: Row) -> None:
    requisite, account = chosen["REQUISITE_ID"], chosen["BANK_DETAIL_ID"]
    if requisite:
        row = requisites.requisites.row(
            found(requisites.requisites, requisite, f"The Requisite with ID '{requisite}' is not found")
        )
        clients = {(COMPANY, item.get("companyId")), *((CONTACT, one) for one in item.get("contactIds") or ())}
        if (whole(row["ENTITY_TYPE_ID"]), whole(row["ENTITY_ID"])) not in clients:
            company = item.get("companyId")
            raise RestError("", f"The Requisite with ID '{requisite}' is not assigned to Company with ID '{company}'")
    if account:
        row = requisites.bank_details.row(
            found(requisites.bank_details, account, f"The BankDetail with ID '{account}' is not found")
        )
        if row["ENTITY_ID"] != str(requisite):
            message = f"The BankDetail with ID '{account}' is not assigned to Requisite with ID '{requisite}'"
            raise RestError("", message)


def _is_of(row: Row, kind: int, owner: int) -> bool:
    return (row["ENTITY_TYPE_ID"], row["ENTITY_ID"]) == (str(kind), str(owner))


def link_unregister(context: Context, params: Params) -> Result:
    kind, owner = whole(params.get("ENTITYTYPEID")), whole(params.get("ENTITYID"))
    for name, value in (("entityTypeId", kind), ("entityId", owner)):
        if value <= 0:
            raise invalid(name)
    table = all_of(context).links
    for number in [one for one in table if _is_of(table.row(one), kind, owner)]:
        table.remove(number)
        context.portal.native.deleted("requisite_links", number)
    return Result(True)


METHODS = [
    Method("crm.requisite.preset.add", ("crm",), preset_add, upper=True),
    Method("crm.requisite.preset.update", ("crm",), preset_update, upper=True),
    Method("crm.requisite.preset.delete", ("crm",), preset_delete, upper=True),
    Method("crm.requisite.preset.field.add", ("crm",), field_add, upper=True),
    Method("crm.requisite.preset.field.update", ("crm",), field_update, upper=True),
    Method("crm.requisite.preset.field.delete", ("crm",), field_delete, upper=True),
    Method("crm.requisite.add", ("crm",), requisite_add, upper=True),
    Method("crm.requisite.update", ("crm",), requisite_update, upper=True),
    Method("crm.requisite.delete", ("crm",), requisite_delete, upper=True),
    Method("crm.requisite.bankdetail.add", ("crm",), bank_detail_add, upper=True),
    Method("crm.requisite.bankdetail.update", ("crm",), bank_detail_update, upper=True),
    Method("crm.requisite.bankdetail.delete", ("crm",), bank_detail_delete, upper=True),
    Method("crm.address.add", ("crm",), address_add, upper=True),
    Method("crm.address.update", ("crm",), address_update, upper=True),
    Method("crm.address.delete", ("crm",), address_delete, upper=True),
    Method("crm.requisite.link.register", ("crm",), link_register, upper=True),
    Method("crm.requisite.link.unregister", ("crm",), link_unregister, upper=True),
    *FIELD_METHODS,
]
