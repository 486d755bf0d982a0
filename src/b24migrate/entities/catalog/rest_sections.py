"""Sections and properties of the product catalog, as a box's own methods take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from b24migrate.entities.catalog import rest_rules
from b24migrate.entities.catalog.reader import BY_ID, OFFER, PRODUCT
from b24migrate.entities.catalog.rest_box import (
    first_same,
    iblock_of,
    same_text,
    unclaimed,
    used_by_others,
)
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.deletion import keys_with_prefix
from b24migrate.targets.rest.values import Column, columns
from b24migrate.targets.rest.writer import (
    Content,
    CreateResult,
    Known,
    Writer,
    choose_unclaimed,
    create_one,
)

# ---------------------------------------------------------------- sections

OF_SECTION = (
    *(Column(name, name, lambda value: value or "") for name in ("name", "code", "xmlId", "description")),
    Column("descriptionType", "descriptionType", lambda value: value or "text"),
    Column("sort", "sort", back=values.whole),
    Column("active", "active", values.yes_or_no, values.flag),
    Column("iblockSectionId", "iblockSectionId", values.id_or_none, values.optional_id),
)


def section_kind(key: str) -> str:
    """Sections of variations have no use of their own, and become those of products."""
    return OFFER if f":{OFFER}:" in key else PRODUCT


def all_sections(box: Box) -> list[Args]:
    asked = {"filter": {"iblockId": iblock_of(box, PRODUCT)}, **BY_ID}
    return list(box.pages("catalog.section.list", asked, "sections"))


def section_params(box: Box, item: Item) -> Args:
    fields = values.encode_columns(OF_SECTION, item.fields)
    return {"fields": {"iblockId": iblock_of(box, section_kind(item.key)), **fields}}


def add_sections(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    for item in items:
        made = create_one(box, item, "catalog.section.add", partial(section_params, box), section_id)
        if made.error is not None and item.fields.get("code") and is_code_taken(box, item.fields["code"]):
            yield create_one(box, item, "catalog.section.add", partial(without_code, box), section_id)
        else:
            yield made


def is_code_taken(box: Box, code: Json) -> bool:
    return any(same_text(row.get("code"), code) for row in all_sections(box))


def without_code(box: Box, item: Item) -> Args:
    """A code is unique on a box."""
    params = section_params(box, item)
    return {"fields": {name: value for name, value in params["fields"].items() if name != "code"}}


def section_id(said: Json) -> str:
    return str(said["section"]["id"])


def same_section(row: Args, fields: Args) -> bool:
    parent = values.optional_id(row.get("iblockSectionId")) == values.optional_id(fields.get("iblockSectionId"))
    return parent and same_text(row.get("name"), fields.get("name"))


def existing_sections(box: Box, items: Sequence[Item]) -> dict[str, str]:
    rows = unclaimed(box, "crm_catalog_sections", all_sections(box))
    return first_same(rows, {item.key: item.fields for item in items}, same_section)


def find_sections(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    rows = all_sections(box)
    same = {key: [str(row["id"]) for row in rows if same_section(row, trace)] for key, trace in begun.items()}
    return choose_unclaimed(box, "crm_catalog_sections", same)


def update_section(box: Box, known: Known, item: Item) -> None:
    asked = {"id": known.target_id, **section_params(box, item)}
    try:
        box.call("catalog.section.update", asked)
    except Permanent:
        if not item.fields.get("code") or not is_code_taken(box, item.fields["code"]):
            raise
        box.call("catalog.section.update", {**asked, **without_code(box, item)})


def read_sections(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    there = {str(row["id"]): row for row in all_sections(box)}
    pairs = ((key, there.get(one.target_id)) for key, one in wanted.items())
    return {key: values.decode_columns(OF_SECTION, row) for key, row in pairs if row is not None}


def section_contents(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    """A box deletes all that is in a section with it."""
    keys, ours = {one.target_id: key for key, one in wanted.items()}, keys_with_prefix(box, "crm_catalog_sections")
    for row in all_sections(box):
        parent = str(row.get("iblockSectionId"))
        if parent in keys:
            yield Content(keys[parent], say("keep.items"), by=ours.get(str(row["id"]), ""))
    yield from used_by_others(box, wanted, "iblockSectionId")


SECTIONS = Writer(
    stream="crm_catalog_sections",
    entity="crm",
    needs=tuple(f"catalog.{one}" for one in ("catalog.list", "section.list", "section.add", "section.update")),
    optional=True,
    create=add_sections,
    existing=existing_sections,
    trace=lambda item: {name: item.fields.get(name) for name in ("name", "iblockSectionId")},
    find=find_sections,
    update=update_section,
    read=read_sections,
    delete=lambda box, known: box.call("catalog.section.delete", {"id": known.target_id}),
    inside=section_contents,
    rules=rest_rules.section_rules,
)


# ---------------------------------------------------------------- properties and the values of their lists

OF_PROPERTY = (
    *(Column(name, name, lambda value: value or "") for name in ("name", "code", "xmlId", "userType")),
    Column("propertyType", "propertyType"),
    *columns((("multiple", "multiple"), ("isRequired", "isRequired")), values.yes_or_no, values.flag),
    Column("sort", "sort", back=values.whole),
)
LIST = "L"


def property_kind(key: str) -> str:
    return OFFER if f":{OFFER}:" in key else PRODUCT


def properties(box: Box) -> list[Args]:
    return list(box.pages("catalog.productProperty.list", BY_ID, "productProperties"))


def property_params(box: Box, item: Item) -> Args:
    """Not as a required one: products that lack it would be refused."""
    fields = {**values.encode_columns(OF_PROPERTY, item.fields), "isRequired": "N"}
    return {"fields": {"iblockId": iblock_of(box, property_kind(item.key)), **fields}}


def add_properties(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    for item in items:
        yield create_one(
            box,
            item,
            "catalog.productProperty.add",
            partial(property_params, box),
            lambda said: str(said["productProperty"]["id"]),
        )


def same_property(row: Args, fields: Args) -> bool:
    """By code, or else by name, and by type: values of another kind would spoil those of the box."""
    if row.get("iblockId") != fields["iblock"]:
        return False
    name = "code" if fields.get("code") else "name"
    return all(same_text(row.get(one), fields.get(one)) for one in (name, "propertyType"))


def property_trace(box: Box, item: Item) -> Args:
    named = {name: item.fields.get(name) for name in ("name", "code", "propertyType")}
    return {**named, "iblock": iblock_of(box, property_kind(item.key))}


def existing_properties(box: Box, items: Sequence[Item]) -> dict[str, str]:
    return first_same(properties(box), {item.key: property_trace(box, item) for item in items}, same_property)


def update_property(box: Box, known: Known, item: Item) -> None:
    params = property_params(box, item)["fields"]
    fields = {name: params[name] for name in params if name not in ("iblockId", "propertyType", "userType")}
    box.call("catalog.productProperty.update", {"id": known.target_id, "fields": fields})


def read_properties(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    there = {str(row["id"]): row for row in properties(box)}
    pairs = ((key, there.get(one.target_id)) for key, one in wanted.items())
    return {key: values.decode_columns(OF_PROPERTY, row) for key, row in pairs if row is not None}


def complete_options(box: Box, known: Known, item: Item) -> dict[str, str]:
    """The values of a list that are missing are added; of each of the source's the one of the box."""
    wanted = list(rows_at(item.fields.get("options"))) if item.fields.get("propertyType") == LIST else []
    if not wanted:
        return {}
    there = options(box, known)
    for one in (one for one in wanted if same_option(there, one) is None):
        fields = {
            "propertyId": known.target_id,
            "value": one["value"],
            "xmlId": one.get("xmlId") or f"b24migrate-{one['id']}",
            "sort": one.get("sort") or 500,
            "def": values.yes_or_no(one.get("default")),
        }
        box.call("catalog.productPropertyEnum.add", {"fields": fields})
    there = options(box, known)
    pairs = ((str(one["id"]), same_option(there, one)) for one in wanted)
    return {number: str(found["id"]) for number, found in pairs if found is not None}


def options(box: Box, known: Known) -> list[Args]:
    asked = {"filter": {"propertyId": known.target_id}, **BY_ID}
    return list(box.pages("catalog.productPropertyEnum.list", asked, "productPropertyEnums"))


def same_option(there: Sequence[Args], wanted: Args) -> Args | None:
    """By its own code, or else by what it is called."""
    code = wanted.get("xmlId")
    coded = [row for row in there if code and same_text(row.get("xmlId"), code)]
    return next(iter(coded or [row for row in there if same_text(row.get("value"), wanted.get("value"))]), None)


PROPERTIES = Writer(
    stream="crm_product_props",
    entity="crm",
    needs=tuple(
        f"catalog.{one}"
        for one in (
            "productProperty.list",
            "productProperty.add",
            "productPropertyEnum.list",
            "productPropertyEnum.add",
        )
    ),
    optional=True,
    create=add_properties,
    existing=existing_properties,
    trace=lambda item: {name: item.fields.get(name) for name in ("name", "code", "propertyType")},
    before=property_trace,
    find=lambda box, begun: first_same(properties(box), begun, same_property),
    update=update_property,
    read=read_properties,
    options=complete_options,
    stays=say("keep.property"),
    rules=rest_rules.property_rules,
)

WRITERS = (SECTIONS, PROPERTIES)
