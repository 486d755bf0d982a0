"""Products, services, parents and offers, as a box's own methods take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from b24migrate.entities.catalog import rest_rules
from b24migrate.entities.catalog.reader import BY_ID, FIELDS, OFFER, PRODUCT
from b24migrate.entities.catalog.rest_box import (
    KEYS,
    METHODS,
    PARENT,
    RECORDS,
    SERVICE,
    Catalogs,
    catalogs,
    iblock_of,
    same_text,
)
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command
from b24migrate.targets.rest import files, values
from b24migrate.targets.rest.box import Box, in_chunks
from b24migrate.targets.rest.deletion import keys_with_prefix
from b24migrate.targets.rest.fields import wrapped_file
from b24migrate.targets.rest.values import Column, columns
from b24migrate.targets.rest.writer import Content, CreateResult, Known, Writer, choose_unclaimed, create_one

STREAM = "crm_products"
TYPES = {"7": SERVICE, "3": PARENT, "6": PARENT, "4": OFFER, "5": OFFER}
NUMBERS = ("weight", "width", "height", "length", "purchasingPrice")
TEXTS = ("name", "code", "xmlId", "previewText", "detailText", "purchasingCurrency")
FORMATS = ("previewTextType", "detailTextType")
REFERENCES = ("iblockSectionId", "measure", "vatId", "createdBy", "modifiedBy")
PICTURES = ("previewPicture", "detailPicture")
OF_PRODUCT = (
    *columns(((name, name) for name in TEXTS), lambda value: value or "", values.text),
    *columns(((name, name) for name in FORMATS), lambda value: value or "text", values.text),
    *columns((("active", "active"), ("vatIncluded", "vatIncluded")), values.yes_or_no, values.flag),
    Column("sort", "sort", back=values.whole),
    *columns(((name, name) for name in REFERENCES), lambda value: value or "", values.optional_id),
    *columns(((name, name) for name in NUMBERS), lambda value: "" if value is None else value, values.number),
    Column("dateCreate", "dateCreate", back=values.utc),
)
TOLD_ONLY = (Column("timestampX", "timestampX", back=values.utc),)


def kind_of(item: Item) -> str:
    return str(item.fields.get("kind") or PRODUCT)


def product_params(box: Box, item: Item) -> dict[str, Json]:
    kind = kind_of(item)
    fields = values.encode_columns(OF_PRODUCT, item.fields)
    if kind == SERVICE:
        fields = {name: value for name, value in fields.items() if name not in rest_rules.NOT_OF_SERVICES}
    if kind == OFFER and item.fields.get("parentId"):
        fields["parentId"] = item.fields["parentId"]
    fields |= property_values(item.fields.get("properties"))
    return {"iblockId": iblock_of(box, kind), **fields}


def property_values(properties: Json) -> Args:
    """One value as it is, several as a list, nothing as an empty text."""
    found = properties.items() if isinstance(properties, Mapping) else ()
    return {f"property{number}": value_of(several) for number, several in found}


def value_of(several: Sequence[Json]) -> Json:
    if len(several) == 1:
        return {"value": several[0]}
    return [{"value": one} for one in several] or ""


def picture_params(box: Box, item: Item, before: Json = None) -> dict[str, Json]:
    """Only those that are not there yet: each is sent with its bytes."""
    known = before if isinstance(before, Mapping) else {}
    sent: dict[str, Json] = {}
    for name in PICTURES:
        file = item.fields.get(name)
        if file and file != known.get(name):
            sent[name] = wrapped_file(*box.file(str(file)))
        elif not file and known.get(name):
            sent[name] = {"remove": "Y"}
    photos, number = item.fields.get("morePhoto") or [], photo_property(box, kind_of(item))
    if number and photos != (known.get("morePhoto") or []):
        sent[f"property{number}"] = [{"value": wrapped_file(*box.file(str(one)))} for one in photos]
    return sent


def photo_property(box: Box, kind: str) -> str:
    return catalogs(box).photos.get(OFFER if kind == OFFER else PRODUCT, "")


def add_products(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    """A code is unique on a box; a product whose code is taken has none."""
    for item in items:
        kind = kind_of(item)
        try:
            fields = product_params(box, item) | picture_params(box, item)
        except Permanent as error:
            yield CreateResult(item.key, error=error)
            continue
        made = add_product(box, item, kind, fields)
        if made.error is not None and fields.get("code") and has_code(box, fields):
            made = add_product(box, item, kind, {**fields, "code": ""})
        yield made


def add_product(box: Box, item: Item, kind: str, fields: Args) -> CreateResult:
    def made(said: Json) -> str:
        return str(said[KEYS[kind]]["id"])

    return create_one(box, item, f"{METHODS[kind]}.add", lambda _: {"fields": fields}, made)


def has_code(box: Box, fields: Args) -> bool:
    asked = {"select": ["id", "iblockId", "code"], "filter": {"iblockId": fields["iblockId"], "code": fields["code"]}}
    return next(box.pages("catalog.product.list", {**asked, **BY_ID}, "products"), None) is not None


def trace_of(item: Item) -> Args:
    named = ("kind", "name", "xmlId", "dateCreate", *PICTURES, "morePhoto")
    return {name: item.fields.get(name) for name in named}


def find_products(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    """By name, code of another system and date: two with the same three are the same product."""
    asked = [
        Command(
            "catalog.product.list",
            {
                "select": ["id", "iblockId", "name", "xmlId", "dateCreate"],
                "filter": {"iblockId": iblock_of(box, str(trace["kind"])), "name": trace["name"]},
                **BY_ID,
            },
        )
        for trace in begun.values()
    ]
    alike = {
        key: [str(row["id"]) for row in rows if is_same(row, trace)]
        for (key, trace), rows in zip(begun.items(), box.lists(asked, "products"), strict=True)
    }
    return choose_unclaimed(box, STREAM, alike)


def is_same(row: Args, trace: Args) -> bool:
    if not same_text(row.get("name"), trace["name"]):
        return False
    dated = trace.get("dateCreate")
    if dated and values.utc(row.get("dateCreate")) != dated:
        return False
    return not trace.get("xmlId") or same_text(row.get("xmlId"), trace["xmlId"])


def update_product(box: Box, known: Known, item: Item) -> None:
    """Files of a property that are not named stay, so that those that are there are taken away by their values
    (api-reference/files/how-to-update-files.md)."""
    kind, pictures = kind_of(item), picture_params(box, item, known.trace)
    number = photo_property(box, kind)
    name = f"property{number}"
    if name in pictures:
        there = rows_of(box, {kind: [known.target_id]}, [number]).get(known.target_id, {})
        gone = [{"valueId": one["valueId"], "remove": "Y"} for one in listed(there.get(name))]
        pictures[name] = [*gone, *pictures[name]]
    fields = {key: value for key, value in product_params(box, item).items() if key != "iblockId"} | pictures
    asked = {"id": known.target_id, "fields": fields}
    try:
        box.call(f"{METHODS[kind]}.update", asked)
    except Permanent:
        if not fields.get("code"):
            raise
        box.call(f"{METHODS[kind]}.update", {**asked, "fields": {**fields, "code": ""}})


def listed(value: Json) -> list[Args]:
    several = value if isinstance(value, list) else [value]
    return [one for one in several if isinstance(one, Mapping) and one.get("valueId")]


# ---------------------------------------------------------------- read back


def rows_of(box: Box, wanted: Mapping[str, Sequence[str]], properties: Sequence[str] = ()) -> dict[str, Args]:
    """Rows by ID, requested by type: products and offers are in two information blocks."""
    known = catalogs(box)
    asked = []
    for side in (PRODUCT, OFFER):
        ids = [one for kind, some in wanted.items() if (kind == OFFER) == (side == OFFER) for one in some]
        names = [f"property{number}" for number in properties]
        asked += [
            Command(
                "catalog.product.list",
                {"select": [*FIELDS, *names], "filter": {"iblockId": known.iblocks.get(side), "id": some}, **BY_ID},
            )
            for some in in_chunks(ids)
        ]
    return {str(row["id"]): row for rows in box.lists(asked, "products") for row in rows}


def read_products(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    known, ids = catalogs(box), dict[str, list[str]]()
    for one in wanted.values():
        ids.setdefault(str((one.trace or {}).get("kind") or PRODUCT), []).append(one.target_id)
    numbers = properties_of(box)
    there = rows_of(box, ids, numbers)
    pairs = ((key, there.get(one.target_id)) for key, one in wanted.items())
    return {key: decode_product(row, known, numbers) for key, row in pairs if row is not None}


def properties_of(box: Box) -> list[str]:
    """Of products and offers, by number: the box returns only those that are named."""

    def ask() -> list[str]:
        return [str(row["id"]) for row in box.pages("catalog.productProperty.list", BY_ID, "productProperties")]

    return box.kept("product properties", ask, 60.0)


def decode_product(row: Args, known: Catalogs, numbers: Sequence[str]) -> Args:
    kind = TYPES.get(str(row.get("type")), PRODUCT)
    fields = values.decode_columns((*OF_PRODUCT, *TOLD_ONLY), row)
    parents = listed(row.get(f"property{known.parent}")) if known.parent else []
    apart = {known.parent, *known.photos.values()}
    shown = {number: [one.get("value") for one in listed(row.get(f"property{number}"))] for number in numbers}
    photos = [value for number in known.photos.values() for value in shown.get(number, ())]
    return {
        **fields,
        "kind": kind,
        "parentId": values.optional_id(parents[0].get("value")) if parents else None,
        **{name: picture_id(row.get(name)) for name in PICTURES},
        "morePhoto": [picture_id(one) for one in photos],
        "properties": {number: several for number, several in shown.items() if several and number not in apart},
    }


def picture_id(value: Json) -> str | None:
    return str(value["id"]) if isinstance(value, Mapping) and value.get("id") else None


# ---------------------------------------------------------------- deleted again


def offers_below(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    """A product goes with its offers."""
    known = catalogs(box)
    keys = {one.target_id: key for key, one in wanted.items() if (one.trace or {}).get("kind") == PARENT}
    if not keys or OFFER not in known.iblocks:
        return
    ours, name = keys_with_prefix(box, STREAM), f"property{known.parent}"
    asked = {"select": ["id", "iblockId", name], "filter": {"iblockId": known.iblocks[OFFER], name: sorted(keys)}}
    for row in box.pages("catalog.product.list", {**asked, **BY_ID}, "products"):
        parent = next((str(one.get("value")) for one in listed(row.get(name))), "")
        if parent in keys:
            yield Content(keys[parent], RECORDS, by=ours.get(str(row["id"]), ""))


def delete_product(box: Box, known: Known) -> None:
    box.call(f"{METHODS[str(known.trace['kind'])]}.delete", {"id": known.target_id})


def methods(*verbs: str) -> Iterator[str]:
    return (f"{method}.{verb}" for method in METHODS.values() for verb in verbs)


PRODUCTS = Writer(
    stream=STREAM,
    entity="crm",
    needs=("catalog.catalog.list", "catalog.product.list", *methods("add", "update", "delete"), *files.NEEDS),
    optional=True,
    create=add_products,
    trace=trace_of,
    find=find_products,
    update=update_product,
    read=read_products,
    delete=delete_product,
    inside=offers_below,
    restless=frozenset({"timestampX"}),
    rules=rest_rules.product_rules,
)

WRITERS = (PRODUCTS,)
