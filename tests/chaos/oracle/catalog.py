"""The product catalog: products refer to the other records. Entries that every box has are linked and keep their
names."""

from __future__ import annotations

from tests.chaos.oracle.ids import Ids, utc, yes
from tests.chaos.oracle.source import CATALOG, Fields, Json, Source
from tests.chaos.oracle.texts import rewritten

KINDS = {1: "product", 3: "parent", 4: "offer", 7: "service"}
PARENT_OF_AN_OFFER = "97"  # the property that names the product
PEOPLE, TIMES = ("employee",), ("DateTime",)
MEASURE = ("measureTitle", "symbol", "symbolIntl", "symbolLetterIntl")
SIZES = ("weight", "width", "height", "length", "purchasingPrice")


def streams(source: Source, ids: Ids) -> dict[str, dict[str, Fields]]:
    makers = {
        "crm_currencies": _currency,
        "crm_measures": lambda row, _: {**_same(row, "code", *MEASURE), "isDefault": yes(row["isDefault"])},
        "crm_vats": lambda row, _: {**_same(row, "name", "rate", "sort"), "active": yes(row["active"])},
        "crm_price_types": lambda row, _: {**_same(row, "name", "sort", "xmlId"), "base": yes(row["base"])},
        "crm_catalog_sections": _section,
        "crm_product_props": lambda row, _: _property(row),
        "crm_products": lambda row, known: _product(source, row, known),
        "crm_prices": _price,
    }
    assert makers.keys() == set(CATALOG)
    return {stream: {key: make(row, ids) for key, row in source[stream].items()} for stream, make in makers.items()}


def _currency(row: Fields, _: Ids) -> Fields:
    """The box keeps the rates of those that it had."""
    return {
        **_same(row, "CURRENCY", "FULL_NAME", "LANG"),
        "AMOUNT": float(row["AMOUNT"]),
        **{name: int(row[name]) for name in ("AMOUNT_CNT", "SORT")},
    }


def _same(row: Fields, *names: str) -> Fields:
    return {name: row[name] for name in names}


def _section(row: Fields, ids: Ids) -> Fields:
    parent = row["iblockSectionId"]
    return {
        **_same(row, "name", "code", "xmlId", "sort", "descriptionType"),
        "description": rewritten(ids, row["description"]),
        "active": yes(row["active"]),
        "iblockSectionId": parent and ids.record("crm_catalog_sections", parent),
    }


def _property(row: Fields) -> Fields:
    options = [
        {**_same(one, "value", "xmlId", "sort"), "id": str(one["id"]), "default": yes(one["def"])}
        for one in row["options"]
    ]
    return {
        **_same(row, "name", "code", "xmlId", "propertyType", "userType", "sort"),
        **{name: yes(row[name]) for name in ("multiple", "isRequired")},
        "options": options,
    }


def _product(source: Source, row: Fields, ids: Ids) -> Fields:
    side = "offer" if row["type"] == 4 else "product"
    parent = row.get(f"property{PARENT_OF_AN_OFFER}")
    shown = {kind: [one["id"] for one in row["pictures"] if one["type"] == kind] for kind in PICTURES}
    section = row["iblockSectionId"]
    return {
        **_same(row, "name", "code", "xmlId", "sort", "purchasingCurrency", *SIZES),
        **_same(row, "previewTextType", "detailTextType"),
        **{name: rewritten(ids, row[name]) for name in ("previewText", "detailText")},
        "vatIncluded": yes(row["vatIncluded"]),
        "kind": KINDS[row["type"]],
        "parentId": parent and ids.record("crm_products", parent["value"]),
        "active": yes(row["active"]),
        "iblockSectionId": section and ids.record("crm_catalog_sections", section),
        "measure": row["measure"] and ids.record("crm_measures", row["measure"]),
        "vatId": row["vatId"] and ids.record("crm_vats", row["vatId"]),
        "createdBy": ids.author(row["createdBy"]),
        "modifiedBy": ids.user(row["modifiedBy"]),
        "dateCreate": utc(row["dateCreate"]),
        "timestampX": utc(row["timestampX"]),
        **{name: next(iter(_files(ids, shown[kind])), None) for kind, name in SINGLE.items()},
        "morePhoto": _files(ids, shown["MORE_PHOTO"]),
        "properties": _properties(source, side, row, ids),
    }


SINGLE = {"PREVIEW_PICTURE": "previewPicture", "DETAIL_PICTURE": "detailPicture"}
PICTURES = (*SINGLE, "MORE_PHOTO")


def _files(ids: Ids, numbers: list[Json]) -> list[str]:
    return ids.files(f"catalog:{number}" for number in numbers)


def _properties(source: Source, side: str, row: Fields, ids: Ids) -> Fields:
    found: Fields = {}
    for name, value in row.items():
        known = source["crm_product_props"].get(f"{side}:{name.removeprefix('property')}")
        if not name.startswith("property") or known is None or not value:
            continue
        target = ids.record("crm_product_props", f"{side}:{known['id']}")
        values = [one["value"] for one in (value if isinstance(value, list) else [value])]
        if target:
            found[target] = [one for one in (_value(side, known, one, ids) for one in values) if one is not None]
    return found


def _value(side: str, known: Fields, value: Json, ids: Ids) -> Json:
    if known["propertyType"] == "L":
        return ids.option(f"{side}:{known['id']}", value)
    if known["userType"] in PEOPLE:
        return ids.user(value)
    if known["userType"] in TIMES:
        return utc(value)
    return str(value) if isinstance(value, int | float) else value


def _price(row: Fields, ids: Ids) -> Fields:
    return {
        "productId": ids.record("crm_products", row["productId"]),
        "catalogGroupId": ids.record("crm_price_types", row["catalogGroupId"]),
        **_same(row, "price", "currency", "quantityFrom", "quantityTo"),
    }
