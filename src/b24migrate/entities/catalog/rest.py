"""Currencies, measures, taxes, price types and prices, as a box's own methods take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from b24migrate.entities.catalog import rest_rules
from b24migrate.entities.catalog.reader import BY_ID
from b24migrate.entities.catalog.rest_box import (
    RECORDS,
    Same,
    first_same,
    rows_by_id,
    same_text,
    used_by_others,
)
from b24migrate.model.errors import Permanent
from b24migrate.model.records import NOWHERE, Args, Item, Json
from b24migrate.ports import Command
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, in_chunks, rows_at
from b24migrate.targets.rest.deletion import keys_with_prefix
from b24migrate.targets.rest.values import Column
from b24migrate.targets.rest.writer import (
    Content,
    CreateResult,
    Inside,
    Known,
    Writer,
    create_one,
)

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


# ---------------------------------------------------------------- short lists; a box has some of their entries already


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
        return first_same(rows(box), {item.key: item.fields for item in items}, same)

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
        find=lambda box, begun: first_same(rows(box), begun, same),
        update=update,
        read=read,
        delete=lambda box, one: box.call(f"{method}.delete", {"id": one.target_id}),
        inside=inside,
    )


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

WRITERS = (CURRENCIES, MEASURES, VATS, PRICE_TYPES, PRICES)
