"""crm.requisite.userfield.*: custom fields of requisites, of four types only."""

from dataclasses import replace

from b24sim.company.requisites import ENTITY
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.custom_values import value_of
from b24sim.native.ledger import stamp_of
from b24sim.native.own_fields import OwnField, as_older, is_code, labels, own_field
from b24sim.native.writing import created, mapping, require_administrator
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result

TYPES = {"string", "boolean", "double", "datetime"}  # crm-requisite-userfield-add.md


def add(context: Context, params: Params) -> Result:
    require_administrator(context)
    sent, requisites = as_older(mapping(params, "FIELDS")), context.portal.company.requisites
    bare = str(sent.get("FIELD_NAME") or "").upper()
    for name, value in (("FIELD_NAME", bare), ("USER_TYPE_ID", sent.get("USER_TYPE_ID"))):
        if not value:
            raise RestError("", f"The '{name}' field is not found.")
    code = bare if bare.startswith("UF_CRM_") else f"UF_CRM_{bare.removeprefix('UF_')}"
    if any(one.code == code for one in requisites.fields):
        raise RestError("ERROR_CORE", f"The field {code} for the {ENTITY} object already exists.")
    if not is_code(code) or str(sent["USER_TYPE_ID"]) not in TYPES:
        raise RestError("ERROR_CORE", "Fail to create new user field.")
    field = own_field(context, ENTITY, code, sent)
    requisites.fields.append(field)
    empty = value_of(context, field.kind, field.multiple, None)
    for number in requisites.requisites.ids:
        requisites.requisites.put(number, {code: empty} | requisites.requisites.row(number))
    created(context, "fields", field.id, stamp_of(ENTITY, code))
    return Result(field.id)


def update(context: Context, params: Params) -> Result:
    require_administrator(context)
    known, sent = _known(context, whole(params.get("ID"))), mapping(params, "FIELDS")
    fields = context.portal.company.requisites.fields
    names = labels(sent, known.code) if "EDIT_FORM_LABEL" in sent else known.names
    fields[fields.index(known)] = replace(known, names=names, order=whole(sent.get("SORT", known.order)))
    context.portal.native.updated("fields", known.id)
    return Result(True)


def delete(context: Context, params: Params) -> Result:
    require_administrator(context)
    known = _known(context, whole(params.get("ID")))
    context.portal.company.requisites.fields.remove(known)
    context.portal.native.deleted("fields", known.id)
    return Result(True)


def _known(context: Context, number: int) -> OwnField:
    for field in context.portal.company.requisites.fields:
        if field.id == number and isinstance(field, OwnField):
            return field
    raise RestError("", "Поле не найдено")


FIELD_METHODS = [
    Method("crm.requisite.userfield.add", ("crm",), add, upper=True),
    Method("crm.requisite.userfield.update", ("crm",), update, upper=True),
    Method("crm.requisite.userfield.delete", ("crm",), delete, upper=True),
]
