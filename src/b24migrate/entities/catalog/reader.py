"""How the catalog is read: its information blocks first, then what each of them holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

import msgspec

from b24migrate.entities.readers import IDS_AT_ONCE
from b24migrate.messages import say
from b24migrate.model.answers import id_of, open_list, row_in
from b24migrate.model.readings import Changes, Enrichment, Keyset, Listing, Offset
from b24migrate.model.records import Args, Json, Page, PageEntry, Row, SetAside, digest
from b24migrate.model.source_records import Fetch, FileRef, Known, SourceRecord
from b24migrate.model.streams import FileKind
from b24migrate.model.values import reference
from b24migrate.ports import Answer, Command, Source

PRODUCT, OFFER = "product", "offer"  # the two information blocks, by what they hold
CATALOGS = "crm_catalogs"
FILE_KIND = "catalog"
BY_ID = {"order": {"id": "ASC"}}
CRM_TYPE = "CRM_PRODUCT_CATALOG"
PHOTOS = "MORE_PHOTO"
LINKS = frozenset({"E", "G"})  # types of properties whose values are elements or sections of any information block
UNKNOWN_HERE = frozenset({"directory", "DiskFile", "ECrm", "SKU"})  # user types whose values mean something elsewhere
OTHER_CATALOG = say("skip.other_catalog")
KEYS = Keyset("filter", "id", {"order": {"id": "ASC"}}, {"order": {"id": "DESC"}})
# as the page of catalog.product.list names them: neither all fields nor all properties have a common name there
FIELDS = (
    *("id", "iblockId", "type", "name", "active", "code", "xmlId", "sort", "iblockSectionId", "measure"),
    *("previewText", "previewTextType", "detailText", "detailTextType", "previewPicture", "detailPicture"),
    *("vatId", "vatIncluded", "weight", "width", "height", "length", "purchasingPrice", "purchasingCurrency"),
    *("createdBy", "modifiedBy", "dateCreate", "timestampX", "dateActiveFrom", "dateActiveTo"),
)
PRICE_FIELDS = ("id", "productId", "catalogGroupId", "price", "currency", "quantityFrom", "quantityTo", "timestampX")


# ---------------------------------------------------------------- the information blocks


def read_catalogs(source: Source, _: Args, _limit: int) -> Page:
    """The catalog of products and that of their offers, each with its properties. A portal may have others, which
    belong to shops and not to the CRM."""
    started = datetime.now(UTC)
    answers = source.batch([Command("catalog.catalog.list", BY_ID), properties_from(0)])
    known = [numbered_row(raw, "catalog.catalog.list", "iblockId") for raw in rows_of(answers[0], "catalogs")]
    properties = list(every_property(source, answers[1]))
    chosen = choose_catalogs(known)
    rows = [describe(kind, one, properties) for kind, one in chosen.items()]
    taken = [iblock_of(one) for one in chosen.values()]
    aside = [
        SetAside(CATALOGS, str(one["iblockId"]), "excluded", OTHER_CATALOG, str(one.get("name") or ""))
        for one in known
        if iblock_of(one) not in taken
    ]
    entry = PageEntry(0, len(known), len(rows), digest(BY_ID), started, datetime.now(UTC))
    return Page(rows=rows, reported=len(known), log=[entry], aside=aside)


def rows_of(answer: Answer, key: str) -> list[msgspec.Raw]:
    return open_list(answer.require(), (key,), key).items


def numbered_row(raw: msgspec.Raw, method: str, field: str = "id") -> Args:
    """An object with an id. Raises the error of an answer that makes no sense."""
    id_of(raw, field, method)
    return row_in(raw, method)


def choose_catalogs(known: Sequence[Args]) -> dict[str, Args]:
    """The catalog of offers names that of their products. Portals with several catalogs name the type of the CRM's."""
    ours = [one for one in known if one.get("iblockTypeId") == CRM_TYPE] or list(known)
    offers = next((one for one in ours if reference(one.get("productIblockId"))), None)
    products = [one for one in ours if not reference(one.get("productIblockId"))]
    wanted = reference(offers["productIblockId"]) if offers else None
    product = next((one for one in products if iblock_of(one) == wanted), next(iter(products), None))
    return {kind: one for kind, one in ((PRODUCT, product), (OFFER, offers)) if one is not None}


def iblock_of(row: Args) -> str | None:
    """Numbers in some answers, texts in others."""
    return reference(row.get("iblockId"))


def properties_from(start: int) -> Command:
    return Command("catalog.productProperty.list", {**BY_ID, "start": start})


def every_property(source: Source, first: Answer) -> Iterator[Args]:
    answer = first
    while True:
        yield from (numbered_row(raw, "catalog.productProperty.list") for raw in rows_of(answer, "productProperties"))
        if not answer.next:
            return
        (answer,) = source.batch([properties_from(answer.next)])


def describe(kind: str, catalog: Args, properties: Sequence[Args]) -> Row:
    """A row of `catalog.catalog.list` with what the values of its products need: of each property by id its type."""
    mine = {
        str(one["id"]): [one.get("propertyType"), one.get("userType") or "", one.get("code") or ""]
        for one in properties
        if iblock_of(one) == iblock_of(catalog)
    }
    return Row(kind, msgspec.json.encode({**catalog, "properties": mine}))


def travels(kind: Json, user_type: Json, code: Json) -> bool:
    """Whether values of a property can be written on another portal. The pictures of a product are a field of it."""
    if code == PHOTOS or kind == "F":
        return False
    return kind not in LINKS and user_type not in UNKNOWN_HERE


# ---------------------------------------------------------------- what they hold


def iblock(catalog: SourceRecord) -> Json:
    return catalog.payload["iblockId"]


def sections(catalog: SourceRecord) -> Listing:
    params = {"filter": {"iblockId": iblock(catalog)}}
    return Listing("catalog.section.list", KEYS, params=params, items=("sections",), id="id")


def properties_of(catalog: SourceRecord) -> Listing:
    return Listing(
        "catalog.productProperty.list",
        Offset(),
        params={"filter": {"iblockId": iblock(catalog)}, **BY_ID},
        items=("productProperties",),
        id="id",
        enrich=Enrichment(add_options, "catalog"),
    )


def products_of(catalog: SourceRecord) -> Listing:
    names = [f"property{number}" for number in catalog.payload["properties"]]
    params = {"select": [*FIELDS, *names], "filter": {"iblockId": iblock(catalog)}}
    return Listing(
        "catalog.product.list",
        KEYS,
        params=params,
        items=("products",),
        id="id",
        enrich=Enrichment(partial(add_types, catalog), "catalog"),
        changes=Changes(
            "timestampX", {"order": {"timestampX": "DESC"}}, {"select": ["id", "iblockId", "timestampX"]}, shifted=True
        ),
    )


PRICES = Listing(
    "catalog.price.list",
    KEYS,
    params={"select": list(PRICE_FIELDS)},
    items=("prices",),
    id="id",
    changes=Changes("timestampX", {"order": {"timestampX": "DESC"}}, {"select": ["id", "timestampX"]}, shifted=True),
)


def add_options(source: Source, rows: Sequence[Row]) -> list[Row]:
    """The values of lists, of all properties of a page together."""
    lists = [row for row in rows if row_in(row.payload, "catalog.productProperty.list").get("propertyType") == "L"]
    numbers = [row.source_id for row in lists]
    found = dict(zip(numbers, options_of(source, numbers), strict=True))
    return [
        row._replace(extras={**(row.extras or {}), "options": found[row.source_id]}) if row.source_id in found else row
        for row in rows
    ]


def options_of(source: Source, numbers: Sequence[str]) -> list[list[Args]]:
    """Page by page of all of them at once."""
    found: dict[str, list[Args]] = {number: [] for number in numbers}
    starts = dict.fromkeys(numbers, 0)
    while starts:
        asked = [
            Command("catalog.productPropertyEnum.list", {"filter": {"propertyId": number}, **BY_ID, "start": start})
            for number, start in starts.items()
        ]
        following: dict[str, int] = {}
        for number, answer in zip(starts, source.batch(asked), strict=True):
            raws = rows_of(answer, "productPropertyEnums")
            found[number] += [numbered_row(raw, "catalog.productPropertyEnum.list") for raw in raws]
            if raws and answer.next:
                following[number] = answer.next
        starts = following
    return list(found.values())


def add_types(catalog: SourceRecord, _source: Source, rows: Sequence[Row]) -> list[Row]:
    """Of the properties that are filled their types, and which one names the product of an offer: no request is needed.
    A product is not another one because there is a new property."""
    known, parent = catalog.payload["properties"], reference(catalog.payload.get("skuPropertyId"))

    def types(row: Row) -> Args:
        payload = row_in(row.payload, "catalog.product.list")
        return {number: kind for number, kind in known.items() if not is_nothing(payload.get(f"property{number}"))}

    return [row._replace(extras={**(row.extras or {}), "types": types(row), "parent": parent}) for row in rows]


def add_localizations(source: Source, rows: Sequence[Row]) -> list[Row]:
    """How each language writes a currency."""
    method = "crm.currency.localizations.get"
    answers = source.batch([Command(method, {"id": row.source_id}) for row in rows])
    done = []
    for row, answer in zip(rows, answers, strict=True):
        told: Json = answer.decode()
        done.append(row._replace(extras={**(row.extras or {}), "LANG": told if isinstance(told, dict) else {}}))
    return done


# ---------------------------------------------------------------- reading again, by id


def fetch_of(listing: Callable[[SourceRecord], Listing], sign: str = "@", at_once: int = IDS_AT_ONCE) -> Fetch:
    """Products by ID. If the ID has the name of an information block in front, only that block is queried, otherwise
    both. `sign`: the mark of a list of IDs in the method's filter."""

    def fetch(source: Source, wanted: Sequence[SourceRecord], known: Known) -> dict[str, Row]:
        catalogs = known.lookup(CATALOGS, (PRODUCT, OFFER))
        asked = [
            (kind, some)
            for kind in catalogs
            for some in in_groups([one.child for one in wanted if one.parent in ("", kind)], at_once)
        ]
        commands = [by_ids(listing(catalogs[kind]), sign, some) for kind, some in asked]
        found: dict[str, Row] = {}
        names = {one.id for one in wanted}
        for (kind, _), command, answer in zip(asked, commands, source.batch(commands), strict=True):
            for raw in rows_of(answer, listing(catalogs[kind]).items[0]):
                number = id_of(raw, "id", command.method)
                name = number if number in names else f"{kind}:{number}"
                if name in names:
                    found[name] = Row(f"{kind}:{number}", bytes(raw))
        return found

    return fetch


def by_ids(listing: Listing, sign: str, ids: Sequence[str]) -> Command:
    named: Args = {f"{sign}id": list(ids)} if len(ids) > 1 else {"id": ids[0]}
    asked = {**listing.params.get("filter", {}), **named}
    return Command(listing.method, {**listing.params, "filter": asked, **BY_ID, "start": -1})


def in_groups(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (ids[at : at + size] for at in range(0, len(ids), size))


def fetch_currencies(source: Source, wanted: Sequence[SourceRecord], _: Known) -> dict[str, Row]:
    """There are few, and one answer has them all."""
    codes = {one.id for one in wanted}
    answer = source.call("crm.currency.list", {})
    raws = open_list(answer.result, (), "crm.currency.list").items
    rows = {str(row_in(raw, "crm.currency.list").get("CURRENCY")): Row("", bytes(raw)) for raw in raws}
    return {code: row._replace(source_id=code) for code, row in rows.items() if code in codes}


# ---------------------------------------------------------------- pictures


def pictures(seen: SourceRecord) -> Iterator[FileRef]:
    """A picture is an object with an id; the links in it need a session, so others are requested for the product."""
    named = [seen.payload.get("previewPicture"), seen.payload.get("detailPicture"), *photos(seen)]
    for one in named:
        if isinstance(one, dict) and one.get("id"):
            yield FileRef(FILE_KIND, str(one["id"]), place=seen.child)


def photos(seen: SourceRecord) -> list[Json]:
    """The values of the property that holds the other pictures."""
    number = next((key for key, (_, _, code) in types_of(seen).items() if code == PHOTOS), "")
    return [one.get("value") for one in values_at(seen.payload.get(f"property{number}"))] if number else []


def types_of(seen: SourceRecord) -> Mapping[str, Sequence[Json]]:
    found: Mapping[str, Sequence[Json]] = seen.extras.get("types") or {}
    return found


def is_nothing(value: Json) -> bool:
    """Zero is a value, although Python takes it for false."""
    return value is None or value is False or value in ("", [], {})


def values_at(value: Json) -> list[Args]:
    """Of a property with one value or several, each with an id of its own."""
    several = value if isinstance(value, list) else [value]
    return [one for one in several if isinstance(one, dict)]


def links(source: Source, refs: Sequence[FileRef]) -> dict[str, str]:
    """By the product of each. The links hold a token, so they are requested right before the download."""
    owners = sorted({ref.place for ref in refs})
    found: dict[str, str] = {}
    for answer in source.batch([Command("catalog.productImage.list", {"productId": owner}) for owner in owners]):
        answer.raise_if_unheard()
        if answer.error is not None:
            continue
        for raw in open_list(answer.result, ("productImages",), "catalog.productImage.list").items:
            row = row_in(raw, "catalog.productImage.list")
            found[f"{FILE_KIND}:{row.get('id')}"] = str(row.get("downloadUrl") or "")
    return {ref.key: found[ref.key] for ref in refs if found.get(ref.key)}


CATALOG_FILES = FileKind(FILE_KIND, links)


def drop_links(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """A payload without what differs each time: links, and ids of values, which are new after every save."""
    return {name: bare(value) if isinstance(value, dict | list) else value for name, value in payload.items()}


def bare(value: Json) -> Json:
    if isinstance(value, list):
        return [bare(one) for one in value]
    if isinstance(value, dict) and "valueId" in value:
        return bare(value.get("value"))
    return value["id"] if isinstance(value, dict) and "urlMachine" in value else value
