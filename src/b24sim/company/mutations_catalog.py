"""Daily changes of the product catalog."""

from b24sim.company.catalog import BASE, OFFERS, PRODUCTS
from b24sim.company.catalog_changes import (
    TABLES,
    add_product,
    add_row,
    delete_product,
    delete_row,
    update_product,
    update_row,
)
from b24sim.company.catalog_dictionaries import currency_row
from b24sim.company.mutations import CHANGED, CREATED, CREATIONS, DELETED, DELETIONS, Day
from b24sim.table import Row, Table

NEW = "Новое"  # what was made in the last days, and no product names
BASIC = {"propertyType": "S", "userType": None, "multiple": "N", "iblockId": PRODUCTS}
SIDES = {PRODUCTS: "product", OFFERS: "offer"}


def change_catalog(day: Day) -> None:
    """A company without products has no catalogue."""
    catalog = day.company.catalog
    if not catalog.elements:
        return
    for stream, named in DICTIONARIES.items():
        _change_dictionary(day, stream, *named)
    _change_currencies(day)
    for number in day.some(catalog.prices.ids):
        _change(day, "crm_prices", number, {"price": day.chance.randrange(1, 10**6) / 100})
        day.report.note("crm_prices", CHANGED, number)
    for number in day.some([*catalog.products[PRODUCTS].ids, *catalog.products[OFFERS].ids]):
        _change_product(day, number)
    for _ in range(day.amount(len(catalog.products[PRODUCTS]), CREATIONS)):
        fields = {"name": f"Товар {day.word()}"}
        (number,) = add_product(day.company, day.now(), {"stream": "crm_products", "fields": fields})
        day.report.note("crm_products", CREATED, f"product:{number}")
        price = {"productId": number, "catalogGroupId": BASE, "quantityFrom": None, "quantityTo": None}
        (made,) = add_row(day.company, day.now(), {"stream": "crm_prices", "fields": price})
        day.report.note("crm_prices", CREATED, made)
    for number in day.some(catalog.products[PRODUCTS].ids, DELETIONS):
        _delete_product(day, number)


# By stream the field with the name, and what a new entry has besides.
DICTIONARIES: dict[str, tuple[str, Row]] = {
    "crm_measures": ("measureTitle", {"isDefault": "N"}),
    "crm_vats": ("name", {"rate": 7}),
    "crm_price_types": ("name", {"base": "N"}),
    "crm_catalog_sections": ("name", {"iblockSectionId": None}),
    "crm_product_props": ("name", BASIC),
}


def _change_dictionary(day: Day, stream: str, name: str, more: Row) -> None:
    """Entries that products name are only renamed."""
    table: Table = getattr(day.company.catalog, TABLES[stream])
    for number in day.some(table.ids):
        stem = NEW if str(table.row(number)[name]).startswith(NEW) else "Запись"
        _change(day, stream, number, {name: f"{stem} {day.word()}"})
        day.report.note(stream, CHANGED, _key(table.row(number)), "undated_stream")
    new = [number for number in table.ids if str(table.row(number)[name]).startswith(NEW)]
    for number in day.some(new, 3.0):
        key = _key(table.row(number))
        delete_row(day.company, day.now(), {"stream": stream, "id": number})
        day.report.note(stream, DELETED, key)
    for _ in range(day.amount(len(table), CREATIONS)):
        code = {"code": 900 + table.next_id()} if stream == "crm_measures" else {}
        fields = {name: f"{NEW} {day.word()}", **more, **code}
        (number,) = add_row(day.company, day.now(), {"stream": stream, "fields": fields})
        day.report.note(stream, CREATED, _key(table.row(number)))


def _change_currencies(day: Day) -> None:
    """New ones have codes that no money has."""
    known = day.company.catalog.currencies
    for code in day.some(list(known)):
        known[code] = known[code] | {"FULL_NAME": f"Валюта {day.word()}"}
        day.report.note("crm_currencies", CHANGED, code, "undated_stream")
    for code in day.some([code for code in known if code.startswith("X")], 3.0):
        del known[code]
        day.report.note("crm_currencies", DELETED, code)
    for _ in range(day.amount(len(known), CREATIONS)):
        code = f"X{chr(65 + day.chance.randrange(26))}{chr(65 + day.chance.randrange(26))}"
        if code not in known:
            known[code] = currency_row(len(known) + 1, code, "2.0000", "1", "N")
            day.report.note("crm_currencies", CREATED, code)


def _key(row: Row) -> str:
    """As it is dumped."""
    return f"{SIDES[row['iblockId']]}:{row['id']}" if "iblockId" in row else str(row["id"])


def _change_product(day: Day, number: int) -> None:
    """Values of properties may be written past the product."""
    catalog = day.company.catalog
    side = SIDES[catalog.iblock_of(number)]
    undated = side == "product" and day.wants("product_values") and day.chance.random() < 0.3
    fields: Row = {"property105": {"value": day.word(), "valueId": "1"}} if undated else {"name": f"Товар {day.word()}"}
    wish = {"stream": "crm_products", "id": number, "fields": fields, "undated": undated}
    update_product(day.company, day.now(), wish)
    day.report.note("crm_products", CHANGED, f"{side}:{number}", "product_values" if undated else "")


def _delete_product(day: Day, number: int) -> None:
    """With its offers and prices."""
    catalog = day.company.catalog
    before = {one: catalog.prices.row(one)["productId"] for one in catalog.prices}
    sides = {one: SIDES[iblock] for iblock, table in catalog.products.items() for one in table}
    gone = delete_product(day.company, day.now(), {"stream": "crm_products", "id": number})
    for one in gone:
        day.report.note("crm_products", DELETED, f"{sides[one]}:{one}")
    for price, product in before.items():
        if product in gone:
            day.report.note("crm_prices", DELETED, price)


def _change(day: Day, stream: str, number: int, fields: Row) -> None:
    update_row(day.company, day.now(), {"stream": stream, "id": number, "fields": fields})
