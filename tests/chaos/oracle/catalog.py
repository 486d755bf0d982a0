"""The product catalogue: products name what the rest became. What every box has of it is linked and keeps its name."""

from __future__ import annotations

from tests.chaos.oracle.ids import Ids, utc, yes
from tests.chaos.oracle.source import CATALOG, Fields, Json, Source

KINDS = {1: "product", 3: "parent", 4: "offer", 7: "service"}
PARENT_OF_AN_OFFER = "97"  # the property that names the product
PEOPLE, TIMES = ("employee",), ("DateTime",)
SIZES = ("weight", "width", "height", "length", "purchasingPrice")


def streams(source: Source, ids: Ids) -> dict[str, dict[str, Fields]]:
    makers = {
        "crm_currencies": _currency,
        "crm_measures": lambda row, _: {"code": row["code"]},
        "crm_vats": lambda row, _: {"rate": row["rate"]},
        "crm_price_types": lambda row, _: {"base": yes(row["base"])},
        "crm_catalog_sections": _section,
        "crm_product_props": lambda row, _: {"name": row["name"], "propertyType": row["propertyType"]},
        "crm_products": lambda row, known: _product(source, row, known),
        "crm_prices": _price,
    }
    assert makers.keys() == set(CATALOG)
    return {stream: {key: make(row, ids) for key, row in source[stream].items()} for stream, make in makers.items()}


def _currency(row: Fields, _: Ids) -> Fields:
    """The box keeps the rates of those that it had."""
    return {"CURRENCY": row["CURRENCY"]}


def _section(row: Fields, ids: Ids) -> Fields:
    parent = row["iblockSectionId"]
    return {
        "name": row["name"],
        "active": yes(row["active"]),
        "iblockSectionId": parent and ids.record("crm_catalog_sections", parent),
    }


def _product(source: Source, row: Fields, ids: Ids) -> Fields:
    side = "offer" if row["type"] == 4 else "product"
    parent = row.get(f"property{PARENT_OF_AN_OFFER}")
    shown = {kind: [one["id"] for one in row["pictures"] if one["type"] == kind] for kind in PICTURES}
    section = row["iblockSectionId"]
    return {
        **{name: row[name] for name in ("name", "code", "xmlId", "sort", "purchasingCurrency", *SIZES)},
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
        **_properties(source, side, row, ids),
    }


SINGLE = {"PREVIEW_PICTURE": "previewPicture", "DETAIL_PICTURE": "detailPicture"}
PICTURES = (*SINGLE, "MORE_PHOTO")


def _files(ids: Ids, numbers: list[Json]) -> list[str]:
    return ids.files(f"catalog:{number}" for number in numbers)


def _properties(source: Source, side: str, row: Fields, ids: Ids) -> Fields:
    """Of products without values of lists: which option is which the box alone knows."""
    found: Fields = {}
    for name, value in row.items():
        known = source["crm_product_props"].get(f"{side}:{name.removeprefix('property')}")
        if not name.startswith("property") or known is None or not value:
            continue
        if known["propertyType"] == "L":
            return {}
        target = ids.record("crm_product_props", f"{side}:{known['id']}")
        values = [one["value"] for one in (value if isinstance(value, list) else [value])]
        if target:
            found[target] = [_value(known, one, ids) for one in values]
    return {"properties": found}


def _value(known: Fields, value: Json, ids: Ids) -> Json:
    if known["userType"] in PEOPLE:
        return ids.user(value)
    if known["userType"] in TIMES:
        return utc(value)
    return str(value) if isinstance(value, int | float) else value


def _price(row: Fields, ids: Ids) -> Fields:
    return {
        "productId": ids.record("crm_products", row["productId"]),
        "catalogGroupId": ids.record("crm_price_types", row["catalogGroupId"]),
        **{name: row[name] for name in ("price", "currency", "quantityFrom", "quantityTo")},
    }
