"""Currencies, measures, taxes, price types, sections, properties and prices, as a box's own methods take them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from b24migrate.entities.catalog import rest_rules
from b24migrate.entities.catalog.reader import BY_ID, OFFER, PRODUCT
from b24migrate.entities.catalog.rest_box import (
    RECORDS,
    iblock_of,
    rows_by_id,
    same_text,
    unclaimed,
    used_by_others,
)
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import NOWHERE, Args, Item, Json
from b24migrate.ports import Command
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, in_chunks, rows_at
from b24migrate.targets.rest.deletion import keys_with_prefix
from b24migrate.targets.rest.values import Column, columns
from b24migrate.targets.rest.writer import (
    Content,
    CreateResult,
    Inside,
    Known,
    Writer,
    choose_unclaimed,
    create_one,
)

Same: TypeAlias = Callable[[Args, Args], bool]  # whether a row of the box is what the fields say

# ---------------------------------------------------------------- currencies, whose id is their code

OF_CURRENCY = (
    Column("CURRENCY", "CURRENCY"),
    Column("AMOUNT", "AMOUNT", back=values.number),
    Column("AMOUNT_CNT", "AMOUNT_CNT", lambda value: value or 1, values.whole),
    Column("SORT", "SORT", back=values.whole),
)


def currencies(box: Box) -> dict[str, Args]:
    return {str(row["CURRENCY"]): row for row in rows_at(box.question("crm.currency.list", {}))}


def currency_params(item: Item) -> Args:
    """The base of a box is never another one: all its rates would be wrong
    (api-reference/crm/currency/crm-currency-add.md)."""
    lang = item.fields.get("LANG")
    return {**values.encode_columns(OF_CURRENCY, item.fields), "BASE": "N", **({"LANG": lang} if lang else {})}


def add_currencies(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    for item in items:
        try:
            yield CreateResult(item.key, str(box.call("crm.currency.add", {"fields": currency_params(item)})))
        except Permanent as error:
            yield CreateResult(item.key, error=error)


def existing_currencies(box: Box, items: Sequence[Item]) -> dict[str, str]:
    there = currencies(box)
    codes = {item.key: str(item.fields.get("CURRENCY")) for item in items}
    return {key: code for key, code in codes.items() if code in there}


def find_currencies(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    there = currencies(box)
    return {key: str(code) for key, code in begun.items() if str(code) in there}


def update_currency(box: Box, known: Known, item: Item) -> None:
    box.call("crm.currency.update", {"id": known.target_id, "fields": currency_params(item)})


def read_currencies(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    there = currencies(box)
    names = {key: one.target_id for key, one in wanted.items() if one.target_id in there}
    asked = [Command("crm.currency.localizations.get", {"id": code}) for code in names.values()]
    return {
        key: {
            **values.decode_columns(OF_CURRENCY, there[code]),
            "BASE": values.flag(there[code].get("BASE")),
            "LANG": lang if isinstance(lang, dict) else {},
        }
        for (key, code), lang in zip(names.items(), box.questions(asked), strict=True)
    }


def prices_in(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    """A currency that prices of users are in."""
    ours, keys = keys_with_prefix(box, "crm_prices"), {one.target_id: key for key, one in wanted.items()}
    asked = {"select": ["id", "currency"], "filter": {"@currency": sorted(keys)}, **BY_ID}
    for row in box.pages("catalog.price.list", asked, "prices"):
        if str(row["id"]) not in ours and row.get("currency") in keys:
            yield Content(keys[str(row["currency"])], RECORDS)


CURRENCIES = Writer(
    stream="crm_currencies",
    entity="crm",
    needs=("crm.currency.list", "crm.currency.add", "crm.currency.update", "crm.currency.localizations.get"),
    optional=True,
    create=add_currencies,
    existing=existing_currencies,
    trace=lambda item: item.fields.get("CURRENCY"),
    find=find_currencies,
    update=update_currency,
    read=read_currencies,
    delete=lambda box, known: box.call("crm.currency.delete", {"id": known.target_id}),
    inside=prices_in,
)


# ---------------------------------------------------------------- short lists of which a box has some entries already


def dictionary(stream: str, name: str, key: str, known: Sequence[Column], same: Same, *, inside: Inside) -> Writer:
    method = f"catalog.{name}"

    def rows(box: Box) -> list[Args]:
        return list(box.pages(f"{method}.list", BY_ID, key))

    def params(item: Item) -> Args:
        return {"fields": values.encode_columns(known, item.fields)}

    def create(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
        for item in items:
            yield create_one(box, item, f"{method}.add", params, lambda said: str(said[name]["id"]))

    def existing(box: Box, items: Sequence[Item]) -> dict[str, str]:
        return like(rows(box), {item.key: item.fields for item in items}, same)

    def update(box: Box, one: Known, item: Item) -> None:
        box.call(f"{method}.update", {"id": one.target_id, **params(item)})

    def read(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
        there = {str(row["id"]): row for row in rows(box)}
        pairs = ((key, there.get(one.target_id)) for key, one in wanted.items())
        return {key: values.decode_columns(known, row) for key, row in pairs if row is not None}

    return Writer(
        stream=stream,
        entity="crm",
        needs=tuple(f"{method}.{verb}" for verb in ("list", "add", "update")),
        optional=True,
        create=create,
        existing=existing,
        trace=lambda item: dict(item.fields),
        find=lambda box, begun: like(rows(box), begun, same),
        update=update,
        read=read,
        delete=lambda box, one: box.call(f"{method}.delete", {"id": one.target_id}),
        inside=inside,
    )


def like(rows: Sequence[Args], wanted: Mapping[str, Args], same: Same) -> dict[str, str]:
    """Of each the first row that is the same."""
    pairs = ((key, next((row for row in rows if same(row, fields)), None)) for key, fields in wanted.items())
    return {key: str(row["id"]) for key, row in pairs if row is not None}


def same_vat(row: Args, fields: Args) -> bool:
    """No rate is another thing than a rate of 0, and a box has one entry for it, whatever it is called."""
    rate = values.number(row.get("rate"))
    named = rate is None or same_text(row.get("name"), fields.get("name"))
    return rate == fields.get("rate") and named


def same_price_type(row: Args, fields: Args) -> bool:
    """There is one base price on a box, whatever it is called."""
    if fields.get("base"):
        return values.flag(row.get("base"))
    if fields.get("xmlId") and row.get("xmlId"):
        return same_text(row["xmlId"], fields["xmlId"])
    return same_text(row.get("name"), fields.get("name"))


def priced_by(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    """Price types that prices of users have."""
    ours, keys = keys_with_prefix(box, "crm_prices"), {one.target_id: key for key, one in wanted.items()}
    asked = {"select": ["id", "catalogGroupId"], "filter": {"@catalogGroupId": sorted(keys)}, **BY_ID}
    for row in box.pages("catalog.price.list", asked, "prices"):
        if str(row["id"]) not in ours and str(row.get("catalogGroupId")) in keys:
            yield Content(keys[str(row["catalogGroupId"])], RECORDS)


TEXTS = ("measureTitle", "symbol", "symbolIntl", "symbolLetterIntl")
MEASURES = dictionary(
    "crm_measures",
    "measure",
    "measures",
    (Column("code", "code", back=values.whole), *(Column(name, name, lambda value: value or "") for name in TEXTS)),
    lambda row, fields: values.whole(row.get("code")) == fields.get("code"),
    inside=partial(used_by_others, field="measure"),
)
VATS = dictionary(
    "crm_vats",
    "vat",
    "vats",
    (
        Column("name", "name"),
        Column("rate", "rate", lambda value: "" if value is None else value, values.number),
        Column("sort", "sort", back=values.whole),
        Column("active", "active", values.yes_or_no, values.flag),
    ),
    same_vat,
    inside=partial(used_by_others, field="vatId"),
)
PRICE_TYPES = dictionary(
    "crm_price_types",
    "priceType",
    "priceTypes",
    (Column("name", "name"), Column("sort", "sort", back=values.whole), Column("xmlId", "xmlId")),
    same_price_type,
    inside=priced_by,
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
    return like(rows, {item.key: item.fields for item in items}, same_section)


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
    return like(properties(box), {item.key: property_trace(box, item) for item in items}, same_property)


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
    find=lambda box, begun: like(properties(box), begun, same_property),
    update=update_property,
    read=read_properties,
    options=complete_options,
    stays=say("keep.property"),
    rules=rest_rules.property_rules,
)


# ---------------------------------------------------------------- prices

OF_PRICE = (
    Column("productId", "productId", back=values.optional_id),
    Column("catalogGroupId", "catalogGroupId", back=values.optional_id),
    Column("price", "price", back=values.number),
    Column("currency", "currency"),
)


def price_params(item: Item) -> Args:
    return {"fields": values.encode_columns(OF_PRICE, item.fields)}


def add_prices(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    """A box takes one price of a type, and none for a range of quantities (catalog/price/catalog-price-add.md)."""
    for item in items:
        if rest_rules.is_for_more(item.fields):
            yield CreateResult(item.key, NOWHERE)
        else:
            yield create_one(box, item, "catalog.price.add", price_params, lambda said: str(said["price"]["id"]))


def trace_price(item: Item) -> Args:
    same = {name: item.fields.get(name) for name in ("productId", "catalogGroupId")}
    return {**same, "more": rest_rules.is_for_more(item.fields)}


def find_prices(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    """That of a larger quantity was never sent, and the price of one has the same product and type."""
    sent = {key: trace for key, trace in begun.items() if not trace.get("more")}
    names = {(str(trace["productId"]), str(trace["catalogGroupId"])): key for key, trace in sent.items()}
    asked = [
        Command("catalog.price.list", {"filter": {"@productId": some}, **BY_ID})
        for some in in_chunks(sorted({product for product, _ in names}))
    ]
    rows = [row for rows in box.lists(asked, "prices") for row in rows]
    pairs = (((str(row["productId"]), str(row["catalogGroupId"])), row) for row in rows)
    return {names[pair]: str(row["id"]) for pair, row in pairs if pair in names}


def update_price(box: Box, known: Known, item: Item) -> None:
    if known.target_id != NOWHERE:
        box.call("catalog.price.update", {"id": known.target_id, **price_params(item)})


def read_prices(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    there = rows_by_id(box, "catalog.price.list", "prices", (one.target_id for one in wanted.values()))
    pairs = ((key, there.get(one.target_id)) for key, one in wanted.items())
    return {key: values.decode_columns(OF_PRICE, row) for key, row in pairs if row is not None}


def delete_price(box: Box, known: Known) -> None:
    if known.target_id != NOWHERE:
        box.call("catalog.price.delete", {"id": known.target_id})


PRICES = Writer(
    stream="crm_prices",
    entity="crm",
    needs=tuple(f"catalog.price.{verb}" for verb in ("list", "add", "update", "delete")),
    optional=True,
    create=add_prices,
    trace=trace_price,
    find=find_prices,
    update=update_price,
    read=read_prices,
    delete=delete_price,
    rules=rest_rules.price_rules,
)

WRITERS = (CURRENCIES, MEASURES, VATS, PRICE_TYPES, SECTIONS, PROPERTIES, PRICES)
