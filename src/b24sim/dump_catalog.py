"""The truth about a catalogue: every record of its streams, pictures by name, size and digest. Sections, properties and
products are of products or of offers: `product:9601`."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from b24sim.company.catalog import OFFERS, PRODUCTS, Catalog
from b24sim.portal import Portal
from b24sim.table import Row, Table, shown

KINDS = {PRODUCTS: "product", OFFERS: "offer"}


def counts(portal: Portal) -> dict[str, int]:
    catalog = portal.company.catalog
    return {
        "crm_currencies": len(catalog.currencies),
        "crm_measures": len(catalog.measures),
        "crm_vats": len(catalog.vats),
        "crm_price_types": len(catalog.price_types),
        "crm_catalog_sections": len(catalog.sections),
        "crm_product_props": len(catalog.properties),
        "crm_products": sum(len(table) for table in catalog.products.values()),
        "crm_prices": len(catalog.prices),
    }


def _currencies(portal: Portal, _user: int | None) -> Iterator[Row]:
    for code, row in portal.company.catalog.currencies.items():
        yield {"id": code, "fields": shown(row) | {"LANG": row["_LANG"]}}


def _table(name: str) -> Callable[[Portal, int | None], Iterator[Row]]:
    def rows(portal: Portal, _user: int | None) -> Iterator[Row]:
        table: Table = getattr(portal.company.catalog, name)
        for number in table:
            yield {"id": str(number), "fields": shown(table.row(number))}

    return rows


def _sections(portal: Portal, _user: int | None) -> Iterator[Row]:
    table = portal.company.catalog.sections
    for number in table:
        yield {"id": f"{KINDS[table.row(number)['iblockId']]}:{number}", "fields": table.row(number)}


def _properties(portal: Portal, _user: int | None) -> Iterator[Row]:
    catalog = portal.company.catalog
    for number in catalog.properties:
        row = catalog.properties.row(number)
        options = [catalog.enums.row(one) for one in catalog.enums if catalog.enums.row(one)["propertyId"] == number]
        yield {"id": f"{KINDS[row['iblockId']]}:{number}", "fields": row | {"options": options}}


def _products(portal: Portal, _user: int | None) -> Iterator[Row]:
    catalog = portal.company.catalog
    for iblock, table in catalog.products.items():
        for number in table:
            yield {"id": f"{KINDS[iblock]}:{number}", "fields": product_fields(catalog, iblock, number)}


def product_fields(catalog: Catalog, iblock: int, number: int) -> Row:
    files = [_file(catalog, file, kind) for file, kind in catalog.pictures(number)]
    return shown(catalog.products[iblock].row(number)) | {"pictures": files}


def _file(catalog: Catalog, number: int, kind: str) -> Row:
    file = catalog.file(number)
    data = file.content() if file else b""
    name = file.name if file else ""
    return {"id": number, "type": kind, "name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


MAKERS: dict[str, Any] = {
    "crm_currencies": _currencies,
    "crm_measures": _table("measures"),
    "crm_vats": _table("vats"),
    "crm_price_types": _table("price_types"),
    "crm_catalog_sections": _sections,
    "crm_product_props": _properties,
    "crm_products": _products,
    "crm_prices": _table("prices"),
}
