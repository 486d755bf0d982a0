"""catalog.*.add, update and delete: what a catalogue is built of, and prices; written now, by the caller."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from b24sim.company import catalog_dictionaries as dictionaries
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.crm_items import required
from b24sim.native.ledger import stamp_of
from b24sim.native.writing import created, flag, iso_now, mapping
from b24sim.paging import whole
from b24sim.phpjson import Parts, encode
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row, Table

DENIED = 200040300020
Check = Callable[[Context, Row, int], None]
_CODE = re.compile(r"[A-Za-z_]\w*")
KINDS = frozenset("NSLFEG")


@dataclass(frozen=True, slots=True)
class Kind:
    """Rows of one table: the name of its methods, the defaults, required and refused fields."""

    name: str
    table: str
    key: str
    blank: Mapping[str, Any]
    required: tuple[str, ...]
    check: Check = lambda _context, _row, _number: None
    flags: tuple[str, ...] = ()
    dated: bool = False
    untold: frozenset[str] = frozenset()

    def rows(self, context: Context) -> Table:
        found: Table = getattr(context.portal.company.catalog, self.table)
        return found

    def add(self, context: Context, params: Params) -> Result:
        administrator(context)
        fields = mapping({"fields": required(params, "fields")}, "fields")
        missing = [name for name in self.required if fields.get(name) in (None, "")]
        if missing:
            raise RestError(0, f"Required fields: {', '.join(missing)}")
        row = {**self.blank, **self._known(fields), **self._times(context)}
        self.check(context, row, 0)
        number = context.portal.native.number(self.table)
        self.rows(context).put(number, row | {"id": number})
        created(context, self.table, number, stamp_of(*(row.get(name) for name in self.required)))
        return self._answer(context, number)

    def update(self, context: Context, params: Params) -> Result:
        administrator(context)
        number = self._number(context, params)
        row = self.rows(context).row(number) | self._known(mapping(params, "fields")) | self._times(context)
        self.check(context, row, number)
        self.rows(context).put(number, row)
        context.portal.native.updated(self.table, number)
        return self._answer(context, number)

    def delete(self, context: Context, params: Params) -> Result:
        administrator(context)
        number = self._number(context, params)
        self.rows(context).remove(number)
        context.portal.native.deleted(self.table, number)
        return Result(True)

    def _known(self, fields: Row) -> Row:
        told = {name: value for name, value in fields.items() if name in self.blank}
        told.pop("id", None)
        return told | {name: flag(told[name]) for name in self.flags if name in told}

    def _times(self, context: Context) -> Row:
        return {"timestampX": iso_now(context)} if self.dated else {}

    def _number(self, context: Context, params: Params) -> int:
        number = whole(required(params, "id"))
        if number not in self.rows(context):
            raise RestError(0, f"{self.key} does not exist.")
        return number

    def _answer(self, context: Context, number: int) -> Result:
        row = self.rows(context).row(number)
        return Result(Parts({self.key: encode({name: row[name] for name in row if name not in self.untold})}))


def administrator(context: Context) -> None:
    if not context.caller.admin:
        raise RestError(DENIED, "Access Denied")


def _other_rows(context: Context, table: str, number: int) -> list[Row]:
    found: Table = getattr(context.portal.company.catalog, table)
    return [found.row(other) for other in found if other != number]


def _one_of_a_code(context: Context, row: Row, number: int) -> None:
    row["code"] = whole(row["code"])
    if any(other["code"] == row["code"] for other in _other_rows(context, "measures", number)):
        raise RestError(200600000000, "Measure with this code already exists")
    if row["isDefault"] == "Y" and any(other["isDefault"] == "Y" for other in _other_rows(context, "measures", number)):
        raise RestError(200600000010, "Default measure already exists")


def _section_of_a_catalogue(context: Context, row: Row, number: int) -> None:
    row["iblockId"] = _iblock(context, row)
    parent = row.get("iblockSectionId")
    row["iblockSectionId"] = whole(parent) if parent not in (None, "", 0, "0") else None
    if row["iblockSectionId"] and row["iblockSectionId"] not in context.portal.company.catalog.sections:
        raise RestError(200700300000, "Раздел не найден")
    if row.get("code") and any(other["code"] == row["code"] for other in _other_rows(context, "sections", number)):
        raise RestError(200700300040, "Section with this code already exists")


def _property_of_a_catalogue(context: Context, row: Row, _number: int) -> None:
    row["iblockId"] = _iblock(context, row)
    if str(row["propertyType"]) not in KINDS:
        raise RestError(0, "Invalid property type specified")
    if row.get("code") and not _CODE.fullmatch(str(row["code"])):
        raise RestError(0, "Property code cannot start with a digit")


def _value_of_a_list(context: Context, row: Row, number: int) -> None:
    row["propertyId"] = whole(row["propertyId"])
    properties = context.portal.company.catalog.properties
    if row["propertyId"] not in properties:
        raise RestError(0, "productPropertyEnum does not exist.")
    if properties.row(row["propertyId"])["propertyType"] != "L":
        raise RestError(0, "Only list properties are supported")
    own = [other for other in _other_rows(context, "enums", number) if other["propertyId"] == row["propertyId"]]
    if any(other["xmlId"] == row["xmlId"] for other in own):
        raise RestError(0, f"A value with xmlId '{row['xmlId']}' already exists.")


def _only_price_of_its_type(context: Context, row: Row, number: int) -> None:
    catalog = context.portal.company.catalog
    row["productId"], row["catalogGroupId"] = whole(row["productId"]), whole(row["catalogGroupId"])
    row["priceScale"] = row["price"] = float(row["price"])
    if row["catalogGroupId"] not in catalog.price_types:
        raise RestError(0, "Validate price error. Catalog price group is wrong")
    if not catalog.iblock_of(row["productId"]):
        raise RestError(0, "Product does not exist")
    same = (row["productId"], row["catalogGroupId"])
    if any((other["productId"], other["catalogGroupId"]) == same for other in _other_rows(context, "prices", number)):
        message = "Validate price error. Catalog product is allowed has only single price without ranges in price group"
        raise RestError(0, message)


def _iblock(context: Context, row: Row) -> int:
    number = whole(row["iblockId"])
    if number not in context.portal.company.catalog.products:
        raise RestError(200700300050, "The specified iblock is not a product catalog")
    return number


def _numbers(_context: Context, row: Row, _number: int) -> None:
    row["rate"] = None if row["rate"] in (None, "") else float(row["rate"])


def _one_base(context: Context, row: Row, number: int) -> None:
    if row["base"] == "Y" and any(other["base"] == "Y" for other in _other_rows(context, "price_types", number)):
        raise RestError(0, "the simulator refuses another base price: no client may set one")


MEASURE = Kind(
    "measure", "measures", "measure",
    {"code": None, "measureTitle": None, "symbol": None, "symbolIntl": None, "symbolLetterIntl": None,
     "isDefault": "N"},
    ("code", "measureTitle"), _one_of_a_code, ("isDefault",),
)  # fmt: skip
VAT = Kind(
    "vat", "vats", "vat", {"name": None, "rate": None, "active": "Y", "sort": 100}, ("name",), _numbers, ("active",),
    dated=True,
)  # fmt: skip
PRICE_TYPE = Kind(
    "priceType", "price_types", "priceType",
    {"name": None, "base": "N", "sort": 100, "xmlId": None, "createdBy": 1, "modifiedBy": 1,
     "dateCreate": dictionaries.BORN},
    ("name",), _one_base, ("base",), dated=True,
)  # fmt: skip
SECTION = Kind(
    "section", "sections", "section",
    {"iblockId": None, "iblockSectionId": None, "active": "Y", "name": None, "code": None, "xmlId": None, "sort": 500,
     "description": None, "descriptionType": "text"},
    ("iblockId", "name"), _section_of_a_catalogue, ("active",),
)  # fmt: skip
PROPERTY = Kind(
    "productProperty", "properties", "productProperty",
    dictionaries.property_row((0, 0, None, "S", None, "N", "")),
    ("iblockId", "name", "propertyType"), _property_of_a_catalogue, ("multiple", "isRequired", "active"), dated=True,
)  # fmt: skip
ENUM = Kind(
    "productPropertyEnum", "enums", "productPropertyEnum",
    {"propertyId": None, "value": None, "xmlId": None, "def": "N", "sort": 500}, ("propertyId", "value", "xmlId"),
    _value_of_a_list, ("def",),
)  # fmt: skip
PRICE = Kind(
    "price", "prices", "price",
    {"productId": None, "catalogGroupId": None, "price": None, "priceScale": None, "currency": None, "extraId": None,
     "quantityFrom": None, "quantityTo": None},
    ("productId", "catalogGroupId", "price", "currency"), _only_price_of_its_type,
    dated=True, untold=frozenset({"priceScale"}),
)  # fmt: skip

METHODS = [
    Method(f"catalog.{kind.name}.{verb}", ("catalog",), getattr(kind, verb))
    for kind in (MEASURE, VAT, PRICE_TYPE, SECTION, PROPERTY, ENUM, PRICE)
    for verb in ("add", "update", "delete")
]
