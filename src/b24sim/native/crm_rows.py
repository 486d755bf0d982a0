"""Stores the fields that a client sends for a CRM record."""

from datetime import UTC, date, datetime
from typing import Any

from b24sim.company.crm_fields import Field
from b24sim.company.crm_schema import DATES, MANY, NUMBERS, READ_ONLY, USERS, WHOLE
from b24sim.company.crm_world import FileId
from b24sim.company.files import KeptFile
from b24sim.context import Context
from b24sim.errors import RestError
from b24sim.native.crm_box import FLAGS, BoxItems
from b24sim.native.writing import file_sent, flag, listed
from b24sim.paging import whole
from b24sim.table import Row

MULTIFIELDS = ("PHONE", "EMAIL", "WEB", "IM", "LINK")
PICTURES = {"photo", "logo", "ufLogo", "ufStamp", "ufDirectorSign", "ufAccountantSign"}
IDS = {"companyId", "contactId", "categoryId", "mycompanyId"}


def sent_fields(context: Context, items: BoxItems, fields: Row, original: bool) -> Row:
    """Under their own names. Unknown and read-only fields are ignored."""
    custom = {field.code: field for field in items.fields}
    row: Row = {}
    for sent, value in fields.items():
        name = items.schema.field(sent)
        if name is None or name in READ_ONLY or (name in custom and sent != items.schema.called(name, original)):
            continue
        row[name] = _custom(context, custom[name], value) if name in custom else _system(context, name, value)
    return _clients(items, row)


def multifields(context: Context, fields: Row) -> list[Row]:
    """The old spelling, which imports want: `"PHONE": [{"VALUE": .., "VALUE_TYPE": ..}]`."""
    found = []
    for kind in MULTIFIELDS:
        for entry in listed(fields.get(kind)):
            if isinstance(entry, dict) and str(entry.get("VALUE") or ""):
                found.append(_multifield(context, kind, entry.get("VALUE_TYPE"), entry["VALUE"]))
    return found


def new_multifields(context: Context, fields: Row) -> list[Row]:
    """The new spelling, which everything but imports wants: `"fm": [{"typeId", "valueType", "value"}]`."""
    entries = [entry for entry in listed(fields.get("fm")) if isinstance(entry, dict) and entry.get("value")]
    return [_multifield(context, str(one.get("typeId")), one.get("valueType"), one["value"]) for one in entries]


def told(row: Row) -> Row:
    """Adds values that follow from the others."""
    kinds = {entry["typeId"] for entry in row.get("fm") or []}
    if "hasPhone" in row:
        row = row | {"hasPhone": "Y" if "PHONE" in kinds else "N", "hasEmail": "Y" if "EMAIL" in kinds else "N"}
    return row


def not_valid(name: str) -> RestError:
    return RestError("CRM_FIELD_ERROR_VALUE_NOT_VALID", f"Недопустимое значение поля «{name}»")


def _multifield(context: Context, kind: str, value_type: Any, value: Any) -> Row:
    number = context.portal.native.number("multifields")
    return {"id": number, "typeId": kind, "valueType": str(value_type or "WORK"), "value": str(value)}


def _clients(items: BoxItems, row: Row) -> Row:
    """One of several is the first. Only contacts have several companies."""
    for one, many in (("companyId", "companyIds"), ("contactId", "contactIds")):
        if items.schema.field(many) is None:
            continue
        if row.get(many):
            row[one] = row[many][0]
        elif row.get(one):
            row.setdefault(many, [row[one]])
    return row


def _system(context: Context, name: str, value: Any) -> Any:
    if name in MANY:
        if not isinstance(value, (list, dict)) and value not in (None, ""):
            raise _not_iterable(value)
        return [whole(item) for item in listed(value)]
    if name in PICTURES:
        return _file(context, value)
    if name in FLAGS:
        return flag(value)
    if value in (None, ""):
        return None if name not in NUMBERS else 0
    if name in DATES:
        return _day(context, name, value)
    if name in NUMBERS:
        return _number(name, value)
    if name in IDS or name in USERS or name in WHOLE or name.startswith("parentId"):
        return whole(value)
    return str(value)


def _custom(context: Context, field: Field, value: Any) -> Any:
    if not field.multiple:
        return _value(context, field, value)
    if field.kind == "file" and file_sent(value):
        raise _not_iterable(value)
    if not isinstance(value, (list, dict)) and value not in (None, "", False):
        raise _not_iterable(value)
    return [item for item in (_value(context, field, one) for one in listed(value)) if item is not None]


def _value(context: Context, field: Field, value: Any) -> Any:
    if field.kind == "boolean":
        return flag(value)
    if field.kind == "file":
        return _file(context, value)
    if value in (None, ""):
        return None
    if field.kind == "date":
        return _midnight(context, field.code, value)
    if field.kind == "datetime":
        return _moment(context, field.code, value)
    if field.kind == "double":
        return _number(field.code, value)
    return whole(value) if field.kind in {"integer", "enumeration", "employee"} else str(value)


def _file(context: Context, value: Any) -> FileId | None:
    """A new file, or one that is kept by its number; other values are not files."""
    sent, crm = file_sent(value), context.portal.company.crm
    if sent is not None:
        number = FileId(context.portal.native.number("crm_files"))
        crm.own_files[number] = KeptFile(number, sent[0], len(sent[1]), sent[1])
        return number
    kept = whole(value.get("id")) if isinstance(value, dict) else 0
    return FileId(kept) if kept in crm.own_files else None


def _number(name: str, value: Any) -> float | int:
    try:
        number = float(str(value).replace(",", "."))
    except ValueError:
        raise not_valid(name) from None
    return int(number) if number == int(number) else number


def _unix_day(name: str, value: Any) -> float:
    try:
        day = date.fromisoformat(str(value)[:10])
    except ValueError:
        raise not_valid(name) from None
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def _day(context: Context, name: str, value: Any) -> str:
    return context.portal.company.crm.world.day(_unix_day(name, value))


def _midnight(context: Context, name: str, value: Any) -> str:
    return context.portal.company.crm.world.midnight(_unix_day(name, value))


def _moment(context: Context, name: str, value: Any) -> str:
    unix = context.portal.company.moments.parse(value)
    if unix is None:
        raise not_valid(name)
    return context.portal.company.moments.iso(unix)


def _not_iterable(value: Any) -> RestError:
    return RestError(100, f"Expected iterable value for multiple field, but got {type(value).__name__} instead")
