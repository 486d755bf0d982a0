"""user.userfield.add, update and delete."""

from typing import Any

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.crm_fields import TYPES
from b24sim.native.own_fields import as_older, choices, is_code, labels
from b24sim.native.writing import created, flag, listed, mapping, require_administrator
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row


def add(context: Context, params: Params) -> Result:
    """The code is forced to `UF_USR_<code>`; a few traits are dropped without a word."""
    require_administrator(context)
    sent, company = as_older(mapping(params, "FIELDS")), context.portal.company
    for name in ("FIELD_NAME", "USER_TYPE_ID"):
        if not sent.get(name):
            raise RestError("", f"The '{name}' field is not found.")
    code = code_of(str(sent["FIELD_NAME"]))
    if any(row["FIELD_NAME"] == code for row in company.user_fields):
        raise RestError("", f"Поле {code} для объекта USER уже существует.")
    if not is_code(code) or sent["USER_TYPE_ID"] not in TYPES:
        raise RestError("", "Fail to create new user field.")
    number = context.portal.native.number("fields")
    company.user_fields = [*company.user_fields, field_row(context, number, "USER", code, sent)]
    created(context, "fields", number, f"USER:{code}")
    return Result(number)


def update(context: Context, params: Params) -> Result:
    require_administrator(context)
    row, sent, company = _known(context, params), mapping(params, "FIELDS"), context.portal.company
    changed: Row = {"SORT": str(whole(sent["SORT"]))} if "SORT" in sent else {}
    if "EDIT_FORM_LABEL" in sent:
        changed["_LABELS"] = labels(sent, row["FIELD_NAME"])
    if "LIST" in sent and "LIST" in row:
        changed["LIST"] = _changed_options(context, row["LIST"], sent["LIST"])
    company.user_fields = [row | changed if other is row else other for other in company.user_fields]
    context.portal.native.updated("fields", row["ID"])
    return Result(True)


def delete(context: Context, params: Params) -> Result:
    require_administrator(context)
    row, company = _known(context, params), context.portal.company
    company.user_fields = [other for other in company.user_fields if other is not row]
    context.portal.native.deleted("fields", row["ID"])
    return Result(True)


def code_of(name: str) -> str:
    """`DEALS` and `UF_DEALS` become `UF_USR_DEALS`."""
    bare = name.upper()
    return bare if bare.startswith("UF_USR_") else f"UF_USR_{bare.removeprefix('UF_')}"


def field_row(context: Context, number: int, entity: str, code: str, sent: Row) -> Row:
    settings = sent.get("SETTINGS")
    row: Row = {
        "ID": str(number), "ENTITY_ID": entity, "FIELD_NAME": code, "USER_TYPE_ID": str(sent["USER_TYPE_ID"]),
        "XML_ID": sent.get("XML_ID"), "SORT": str(whole(sent.get("SORT", 100))), "MULTIPLE": flag(sent.get("MULTIPLE")),
        "MANDATORY": "N", "SHOW_FILTER": str(sent.get("SHOW_FILTER") or "N"), "SHOW_IN_LIST": "Y", "EDIT_IN_LIST": "Y",
        "IS_SEARCHABLE": "N", "SETTINGS": settings if isinstance(settings, dict) and settings else [],
        "_LABELS": labels(sent, code),
    }  # fmt: skip
    if row["USER_TYPE_ID"] == "enumeration":
        row["LIST"] = options(context, sent.get("LIST"))
    return row


def options(context: Context, sent: Any) -> list[Row]:
    return [
        {
            "ID": str(choice.id),
            "SORT": str(choice.sort),
            "VALUE": choice.value,
            "DEF": choice.default,
            "XML_ID": choice.xml_id,
        }
        for choice in choices(context, sent)
    ]


def _changed_options(context: Context, there: list[Row], sent: Any) -> list[Row]:
    """Those that are named by their number are changed, or deleted; the others are new."""
    rows = {row["ID"]: row for row in there}
    for entry in listed(sent):
        number = str(entry.get("ID") or "") if isinstance(entry, dict) else ""
        if number in rows and flag(entry.get("DEL")) == "Y":
            del rows[number]
        elif number in rows:
            rows[number] = rows[number] | {name: str(entry[name]) for name in ("VALUE", "SORT", "DEF") if name in entry}
        else:
            rows |= {new["ID"]: new for new in options(context, [entry])}
    return list(rows.values())


def _known(context: Context, params: Params) -> Row:
    number = str(whole(params.get("ID")))
    for row in context.portal.company.user_fields:
        if row["ID"] == number:
            return row
    raise RestError("", "ID is not defined or invalid.")


METHODS = [
    Method("user.userfield.add", ("user.userfield",), add, upper=True),
    Method("user.userfield.update", ("user.userfield",), update, upper=True),
    Method("user.userfield.delete", ("user.userfield",), delete, upper=True),
]
