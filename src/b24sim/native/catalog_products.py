"""catalog.product.add, update and delete, and the same for parents, offers and services."""

from collections.abc import Callable
from typing import Any

from b24sim.company.catalog import OFFER, OFFERS, PARENT, PRODUCTS, SERVICE, SIMPLE, SKU_PROPERTY, Uploaded
from b24sim.company.files import KeptFile
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.crm_items import required
from b24sim.native.catalog import administrator
from b24sim.native.ledger import stamp_of
from b24sim.native.writing import created, file_sent, flag, iso_now, listed, mapping, moment
from b24sim.paging import whole
from b24sim.phpjson import Parts, encode
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

KEYS = {SIMPLE: "element", PARENT: "sku", OFFER: "offer", SERVICE: "service"}
NAMES = {SIMPLE: "catalog.product", PARENT: "catalog.product.sku", OFFER: "catalog.product.offer",
         SERVICE: "catalog.product.service"}  # fmt: skip
OLD = frozenset({"barcodeMulti", "recurSchemeLength", "recurSchemeType", "trialPriceId", "withoutOrder"})
UNTOLD = {
    PARENT: frozenset({"quantityReserved", "quantityTrace"}),
    SERVICE: frozenset(
        {"canBuyZero", "height", "length", "measure", "purchasingCurrency", "purchasingPrice", "quantity",
         "quantityReserved", "quantityTrace", "subscribe", "weight", "width"}
    ),
}  # fmt: skip
PICTURES = {"previewPicture": "PREVIEW_PICTURE", "detailPicture": "DETAIL_PICTURE"}
FLAGS = ("active", "vatIncluded")
TIMES = ("dateCreate", "dateActiveFrom", "dateActiveTo")
PLAIN = (
    "name", "code", "xmlId", "sort", "previewText", "previewTextType", "detailText", "detailTextType",
    "purchasingCurrency",
)  # fmt: skip
SIZES = ("weight", "width", "height", "length", "purchasingPrice")
NUMBERS = ("iblockSectionId", "measure", "vatId", "createdBy", "modifiedBy")


def _adds(kind: int) -> Callable[[Context, Params], Result]:
    def add(context: Context, params: Params) -> Result:
        administrator(context)
        fields, catalog = mapping({"fields": required(params, "fields")}, "fields"), context.portal.company.catalog
        if not fields.get("name") or not fields.get("iblockId"):
            raise RestError(0, "Required fields: iblockId, name")
        iblock = whole(fields["iblockId"])
        if iblock != (OFFERS if kind == OFFER else PRODUCTS):
            raise RestError(200040300000, "Информационный блок не найден")
        number = context.portal.native.number("products")
        row = _blank(context, kind, iblock, number) | _stored_values(context, number, iblock, fields)
        _check(context, number, row)
        catalog.products[iblock].put(number, row)
        created(context, "products", number, stamp_of(kind, row["name"], row["xmlId"]))
        return _answer(context, kind, number)

    return add


def _updates(kind: int) -> Callable[[Context, Params], Result]:
    def update(context: Context, params: Params) -> Result:
        administrator(context)
        number = _known(context, params, kind)
        table = context.portal.company.catalog.products[_iblock(kind)]
        told = _stored_values(context, number, _iblock(kind), mapping(params, "fields"))
        row = table.row(number) | told | {"timestampX": iso_now(context)}
        _check(context, number, row)
        table.put(number, row)
        context.portal.native.updated("products", number)
        return _answer(context, kind, number)

    return update


def _deletes(kind: int) -> Callable[[Context, Params], Result]:
    def delete(context: Context, params: Params) -> Result:
        """Prices go with it."""
        administrator(context)
        number, catalog = _known(context, params, kind), context.portal.company.catalog
        for price in [one for one in catalog.prices if catalog.prices.row(one)["productId"] == number]:
            catalog.prices.remove(price)
            context.portal.native.deleted("prices", price)
        catalog.products[_iblock(kind)].remove(number)
        context.portal.native.deleted("products", number)
        return Result(True)

    return delete


def _blank(context: Context, kind: int, iblock: int, number: int) -> Row:
    row: Row = dict.fromkeys((*PLAIN, *SIZES, *NUMBERS, *PICTURES, *TIMES))
    row |= {
        "id": number, "iblockId": iblock, "type": kind, "active": "Y", "available": "Y", "bundle": "N",
        "barcodeMulti": "N", "canBuyZero": "N", "createdBy": context.caller.user, "modifiedBy": context.caller.user,
        "dateCreate": iso_now(context), "timestampX": iso_now(context), "sort": 500, "previewTextType": "text",
        "detailTextType": "text", "vatIncluded": "N", "quantity": None, "quantityReserved": None,
        "quantityTrace": "N", "subscribe": "Y", "recurSchemeLength": None, "recurSchemeType": "D",
        "trialPriceId": None, "withoutOrder": "N",
    }  # fmt: skip
    properties = context.portal.company.catalog.properties
    return row | {f"property{one}": None for one in properties if properties.row(one)["iblockId"] == iblock}


def _stored_values(context: Context, number: int, iblock: int, fields: Row) -> Row:
    """The known fields as they are shown; the time of the last change cannot be set."""
    told: Row = {name: fields[name] for name in PLAIN if name in fields}
    told |= {name: float(fields[name]) if fields[name] not in (None, "") else None for name in SIZES if name in fields}
    told |= {name: whole(fields[name]) or None for name in NUMBERS if name in fields}
    told |= {name: flag(fields[name]) for name in FLAGS if name in fields}
    for name in TIMES:
        at = moment(context, fields.get(name))
        if name in fields:
            told[name] = None if at is None else context.portal.company.moments.iso(at)
    for name, kind in PICTURES.items():
        if isinstance(fields.get(name), dict):
            told[name] = _picture(context, number, kind, fields[name])
    if iblock == OFFERS and "parentId" in fields:
        told[f"property{SKU_PROPERTY}"] = told["parentId"] = _value(context, str(whole(fields["parentId"])))
    before = context.portal.company.catalog.products[iblock]
    row = before.row(number) if number in before else {}
    properties = context.portal.company.catalog.properties
    for one in properties:
        name = f"property{one}"
        if name in fields and properties.row(one)["iblockId"] == iblock and one != SKU_PROPERTY:
            told[name] = _values(context, number, properties.row(one), fields[name], row.get(name))
    return told


def _values(context: Context, number: int, known: Row, sent: Any, before: Any) -> Any:
    several = known["multiple"] == "Y"
    if known["propertyType"] == "F":
        return _files(context, number, listed(sent) if isinstance(sent, list) else [sent], listed(before)) or None
    wanted = [one.get("value") if isinstance(one, dict) and "value" in one else one for one in _listed(sent)]
    wanted = [one for one in wanted if one not in (None, "")]
    if known["propertyType"] == "L":
        enums = context.portal.company.catalog.enums
        own = [str(one) for one in enums if enums.row(one)["propertyId"] == known["id"]]
        wanted = [str(one) for one in wanted if str(one) in own]
    made = [_value(context, str(one) if isinstance(one, int | float) else one) for one in wanted]
    return (made or None) if several else (made[0] if made else None)


def _listed(sent: Any) -> list[Any]:
    return sent if isinstance(sent, list) else [] if sent in (None, "") else [sent]


def _files(context: Context, number: int, sent: list[Any], before: list[Any]) -> list[Row]:
    """Values that are not named stay; one is taken away by its id."""
    gone = {str(one.get("valueId")) for one in sent if isinstance(one, dict) and flag(one.get("remove")) == "Y"}
    kept = [_value(context, one["value"]) for one in before if str(one["valueId"]) not in gone]
    files = [one.get("value", one) for one in sent if isinstance(one, dict) and "remove" not in one]
    made = [_picture(context, number, "MORE_PHOTO", one) for one in files if isinstance(one, dict)]
    return kept + [_value(context, one) for one in made if one]


def _picture(context: Context, number: int, kind: str, sent: Row) -> Row | None:
    file = file_sent(sent.get("fileData"))
    if file is None:
        return None
    catalog, made = context.portal.company.catalog, context.portal.native.number("product_files")
    catalog.uploads[made] = Uploaded(KeptFile(made, file[0], len(file[1]), file[1]), kind, number)
    return catalog.shown(number, made, kind)


def _value(context: Context, value: Any) -> Row:
    return {"value": value, "valueId": str(context.portal.native.number("property_values"))}


def _check(context: Context, number: int, row: Row) -> None:
    company = context.portal.company
    catalog = company.catalog
    for name, table in (("iblockSectionId", catalog.sections), ("vatId", catalog.vats), ("measure", catalog.measures)):
        if row.get(name) and row[name] not in table:
            raise RestError(0, f"{name} {row[name]} does not exist")
    for name in ("createdBy", "modifiedBy"):
        if row.get(name) and row[name] not in company.users:
            raise RestError(0, f"User {row[name]} does not exist")
    if row.get("purchasingCurrency") and row["purchasingCurrency"] not in catalog.currencies:
        raise RestError(0, "The specified purchasing price currency does not exist")
    table = catalog.products[row["iblockId"]]
    if row.get("code") and any(table.row(one)["code"] == row["code"] for one in table if one != number):
        raise RestError(0, "Элемент с таким символьным кодом уже существует.")


def _known(context: Context, params: Params, kind: int) -> int:
    number = whole(required(params, "id"))
    table = context.portal.company.catalog.products[_iblock(kind)]
    if number not in table or table.row(number)["type"] != kind:
        raise RestError(0, "The product does not exist")
    return number


def _iblock(kind: int) -> int:
    return OFFERS if kind == OFFER else PRODUCTS


def _answer(context: Context, kind: int, number: int) -> Result:
    """Other fields than a list shows, and the price as a text."""
    row = context.portal.company.catalog.products[_iblock(kind)].row(number)
    told = {name: row[name] for name in row if name not in UNTOLD.get(kind, ()) and name not in OLD}
    if told.get("purchasingPrice") is not None:
        told["purchasingPrice"] = f"{told['purchasingPrice']:.6f}"
    return Result(Parts({KEYS[kind]: encode(told)}))


METHODS = [
    Method(f"{name}.{verb}", ("catalog",), make(kind))
    for kind, name in NAMES.items()
    for verb, make in (("add", _adds), ("update", _updates), ("delete", _deletes))
]
