"""How records of the catalogue appear, change and go while a portal is read."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from b24sim.company.catalog import OFFERS, PRODUCTS, SIMPLE, SKU_PROPERTY
from b24sim.errors import RestError, known_number
from b24sim.table import Row, Table

if TYPE_CHECKING:
    from b24sim.company.company import Company

Change = Callable[["Company", float, dict[str, Any]], list[int]]
TABLES = {
    "crm_measures": "measures",
    "crm_vats": "vats",
    "crm_price_types": "price_types",
    "crm_catalog_sections": "sections",
    "crm_product_props": "properties",
    "crm_prices": "prices",
}
DATED = ("timestampX",)


def update_row(company: "Company", now: float, wish: dict[str, Any]) -> list[int]:
    """Of a table; what has a date of its last change gets this one."""
    table = _table(company, wish)
    number = known_number(table.ids, wish)
    row = table.row(number)
    table.put(number, row | _dates(company, now, row) | _fields(wish))
    return [number]


def add_row(company: "Company", now: float, wish: dict[str, Any]) -> list[int]:
    """Like the first one, under a new name."""
    table = _table(company, wish)
    number = int(wish.get("id") or table.next_id())
    pattern = table.row(table.ids[0])
    row = pattern | {name: None for name in ("code", "xmlId") if name in pattern}
    row |= {"name": f"Запись {number}"} if "name" in pattern else {}
    table.put(number, row | {"id": number} | _dates(company, now, pattern) | _fields(wish))
    return [number]


def delete_row(company: "Company", _now: float, wish: dict[str, Any]) -> list[int]:
    table = _table(company, wish)
    table.remove(known_number(table.ids, wish))
    return [int(_id(wish))]


def update_currency(company: "Company", now: float, wish: dict[str, Any]) -> list[int]:
    currencies, code = company.catalog.currencies, str(wish.get("id"))
    if code not in currencies:
        raise RestError("ERROR_NOT_FOUND", f"no currency {code}", 404)
    currencies[code] = currencies[code] | {"DATE_UPDATE": company.moments.iso(now)} | _fields(wish)
    return []


def add_product(company: "Company", now: float, wish: dict[str, Any]) -> list[int]:
    """A simple one, without pictures, prices or values of properties."""
    catalog = company.catalog
    number, table = int(wish.get("id") or catalog.next_element()), catalog.products[PRODUCTS]
    pattern = table.row(table.ids[0])
    row = {name: None if name.startswith("property") else value for name, value in pattern.items()}
    moment = company.moments.iso(now)
    row |= {
        "id": number, "name": f"Новый товар {number}", "type": SIMPLE, "code": None, "xmlId": str(number),
        "dateCreate": moment, "timestampX": moment, "previewPicture": None, "detailPicture": None,
    }  # fmt: skip
    table.put(number, row | _fields(wish))
    return [number]


def update_product(company: "Company", now: float, wish: dict[str, Any]) -> list[int]:
    """`"undated": true` is for values of properties that are written past the product."""
    number, catalog = int(_id(wish)), company.catalog
    iblock = catalog.iblock_of(number)
    if not iblock:
        raise RestError("ERROR_NOT_FOUND", f"no product {number}", 404)
    dated = {} if wish.get("undated") else {"timestampX": company.moments.iso(now)}
    catalog.products[iblock].put(number, catalog.products[iblock].row(number) | dated | _fields(wish))
    return [number]


def delete_product(company: "Company", _now: float, wish: dict[str, Any]) -> list[int]:
    """With its offers and prices."""
    number, catalog = int(_id(wish)), company.catalog
    iblock = catalog.iblock_of(number)
    if not iblock:
        raise RestError("ERROR_NOT_FOUND", f"no product {number}", 404)
    gone = [number, *offers_of(company, number)]
    for one in gone:
        catalog.products[catalog.iblock_of(one)].remove(one)
    for price in [one for one in catalog.prices if catalog.prices.row(one)["productId"] in gone]:
        catalog.prices.remove(price)
    return gone


def offers_of(company: "Company", number: int) -> list[int]:
    table = company.catalog.products[OFFERS]
    return [one for one in table if int((table.row(one)[f"property{SKU_PROPERTY}"] or {}).get("value", 0)) == number]


def _table(company: "Company", wish: Mapping[str, Any]) -> Table:
    found: Table = getattr(company.catalog, TABLES[str(wish["stream"])])
    return found


def _id(wish: Mapping[str, Any]) -> str:
    return str(wish.get("id", 0)).rpartition(":")[2]


def _dates(company: "Company", now: float, row: Row) -> Row:
    return {name: company.moments.iso(now) for name in DATED if name in row}


def _fields(wish: Mapping[str, Any]) -> Row:
    return dict(wish.get("fields", {}))


CATALOG_CHANGES: dict[tuple[str, str], Change] = {
    ("crm_currencies", "update"): update_currency,
    ("crm_products", "add"): add_product,
    ("crm_products", "update"): update_product,
    ("crm_products", "delete"): delete_product,
    **{(stream, "add"): add_row for stream in TABLES},
    **{(stream, "update"): update_row for stream in TABLES},
    **{(stream, "delete"): delete_row for stream in TABLES},
}
