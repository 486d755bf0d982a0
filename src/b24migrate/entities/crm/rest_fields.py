"""One CRM record, from the wire to the box and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from b24migrate.model.records import Args, Json
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.fields import bare_file, decode_custom, encode_custom

PICTURES = ("logo", "photo")
# Fields that are sent in another form or derived from others.
APART = frozenset({"entityTypeId", "createdTime", "updatedTime", "movedTime", "fm", "productRows", *PICTURES})
APART |= {"closed", "isReturnCustomer"}
STAMPS = frozenset({"originatorId", "originId", "xmlId"})
LISTS = frozenset({"observers", "contactIds", "companyIds"})
DAYS = frozenset({"begindate", "closedate", "birthdate"})
FLAGS = frozenset({"opened", "closed", "isManualOpportunity", "isMyCompany", "export", "isReturnCustomer"})
NUMBERS = frozenset({"opportunity", "revenue", "probability"})
IDS = frozenset({"assignedById", "createdBy", "updatedBy", "movedBy", "companyId", "contactId", "leadId", "quoteId"})
_PRODUCT: dict[str, Callable[[Json], Json]] = {
    "productId": values.optional_id,
    "productName": values.text,
    "price": values.number,
    "quantity": values.number,
    "discountTypeId": values.whole,
    "discountRate": values.number,
    "discountSum": values.number,
    "taxRate": values.number,
    "taxIncluded": values.flag,
    "measureCode": values.text,
    "sort": values.whole,
}


def encode_fields(box: Box, stream: str, fields: Args) -> dict[str, Json]:
    own = {name: value for name, value in fields.items() if name not in APART | STAMPS} | _put_first_first(fields)
    pictures = {name: list(box.file(str(fields[name]))) for name in PICTURES if fields.get(name)}
    return {**encode_custom(box, stream, own, bare_file), **pictures}


def _put_first_first(fields: Args) -> dict[str, Json]:
    """The one of several that counts is the first of them."""
    pairs = ((fields.get(one), many) for one, many in (("companyId", "companyIds"), ("contactId", "contactIds")))
    return {
        many: [first, *(other for other in fields[many] if other != first)]
        for first, many in pairs
        if first and fields.get(many)
    }


def decode_fields(box: Box, stream: str, row: Args) -> dict[str, Json]:
    custom = {name: value for name, value in row.items() if name.startswith("UF_")}
    own = {name: _decode_value(name, value) for name, value in row.items() if name not in custom}
    return {**own, **decode_custom(box, stream, custom), "fm": multifields(row)}


def _decode_value(name: str, value: Json) -> Json:
    if name.endswith("Time"):
        return values.utc(value)
    if name in DAYS:
        return values.day(value)
    if name in FLAGS:
        return None if value is None else values.flag(value)
    if name in LISTS:
        return values.ids(value)
    if name in NUMBERS:
        return values.number(value)
    if name in IDS or name.startswith("parentId"):
        return values.optional_id(value)
    if name in PICTURES:
        return str(value["id"]) if isinstance(value, Mapping) else None
    return values.text(value)


# ---------------------------------------------------------------- multifields


def multifields(row: Args) -> list[Args]:
    return [
        {name: values.text(one.get(name)) for name in ("typeId", "valueType", "value")}
        for one in rows_at(row.get("fm"))
    ]


def old_multifields(fields: Args) -> dict[str, list[Args]]:
    """By type, with upper-case names: only the import needs these."""
    found: dict[str, list[Args]] = {}
    for one in fields.get("fm") or ():
        found.setdefault(str(one["typeId"]), []).append({"VALUE": one["value"], "VALUE_TYPE": one["valueType"]})
    return found


def changed_multifields(fields: Args, there: Args) -> dict[str, Json]:
    """Nothing where they are the same; else those that are there give way to the new ones."""
    wanted = fields.get("fm")
    if wanted is None or wanted == multifields(there):
        return {}
    gone = {str(one["id"]): {**one, "value": ""} for one in rows_at(there.get("fm"))}
    return {"fm": {**gone, **{f"n{place}": one for place, one in enumerate(wanted)}}}


# ---------------------------------------------------------------- product rows


def adds_up(fields: Args) -> bool:
    """Whether the box makes the sum of the product rows itself."""
    return bool(fields.get("productRows")) and not fields.get("isManualOpportunity")


def product_row(row: Args) -> Args:
    filled = {name: value for name, value in row.items() if value is not None}
    return {**filled, "taxIncluded": values.yes_or_no(row.get("taxIncluded"))}


def decode_product(row: Args) -> Args:
    return {name: told(row.get(name)) for name, told in _PRODUCT.items()}
