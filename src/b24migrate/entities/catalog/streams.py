"""Currencies, measures, taxes, price types, sections, properties, products with their offers, and prices."""

from __future__ import annotations

from b24migrate.entities.catalog.properties import gather_values, take_values, value_code
from b24migrate.entities.catalog.reader import (
    BY_ID,
    CATALOGS,
    FILE_KIND,
    OFFER,
    PHOTOS,
    PRICES,
    add_localizations,
    drop_links,
    fetch_currencies,
    fetch_of,
    photos,
    pictures,
    products_of,
    properties_of,
    read_catalogs,
    sections,
    travels,
    values_at,
)
from b24migrate.entities.readers import fetch_together
from b24migrate.entities.unseen import UNSEEN_COUNTED
from b24migrate.entities.user_refs import person
from b24migrate.messages import say
from b24migrate.model.fields import ABSENT, Field, Kind, Policy, Take, flags, texts, times, wholes
from b24migrate.model.readings import Each, Enrichment, Gather, Listing, Offset, Whole
from b24migrate.model.records import Args, Json, Table
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Alike, ChangeRules, Entity, Mention, NaturalKey, Stream, Written
from b24migrate.model.values import flag, reference, text, whole

PROPERTY_LINKS = say("skip.property_links")
PROPERTY_PHOTOS = say("skip.property_photos")
UNSEEN_VALUES = say("delta.unseen.product_values")
PARENTS, SERVICES = frozenset({"3", "6"}), frozenset({"7"})  # types of products (api-reference/catalog/data-types.md)


# ---------------------------------------------------------------- what everything else is built of

crm_currencies = Stream(
    name="crm_currencies",
    table=Table("CrmCurrencies", "crm_currencies"),
    read=(Listing("crm.currency.list", Whole(), id="CURRENCY", enrich=Enrichment(add_localizations, "crm")),),
    fields=(
        *texts("CURRENCY"),
        Field("AMOUNT", Kind.NUMBER),
        *wholes("AMOUNT_CNT", "SORT"),
        *flags("BASE"),
        Field("FULL_NAME", beyond=True),
        Field("LANG", Kind.AS_IS, take=lambda seen: seen.extras.get("LANG", ABSENT)),
    ),
    adopted=lambda _: True,
    fetch=fetch_currencies,
    title=("FULL_NAME", "CURRENCY"),
)


def dictionary(name: str, table: str, method: str, key: str, fields: tuple[Field, ...]) -> Stream:
    """A short list. The target has some of its entries already: those are linked."""
    return Stream(
        name=name,
        table=Table(table, name),
        read=(Listing(method, Offset(), params=BY_ID, items=(key,), id="id"),),
        fields=fields,
        adopted=lambda _: True,
        fetch=fetch_together(method, lambda ids: {"filter": {"@id": ids}, **BY_ID}, items=(key,), id_field="id"),
        title=("measureTitle", "name"),
    )


crm_measures = dictionary(
    "crm_measures",
    "CrmMeasures",
    "catalog.measure.list",
    "measures",
    (
        *wholes("code"),
        *texts("measureTitle", "symbol", "symbolIntl", "symbolLetterIntl"),
        *flags("isDefault"),
    ),
)
crm_vats = dictionary(
    "crm_vats",
    "CrmVats",
    "catalog.vat.list",
    "vats",
    (*texts("name"), Field("rate", Kind.NUMBER), *wholes("sort"), *flags("active")),
)
crm_price_types = dictionary(
    "crm_price_types",
    "CrmPriceTypes",
    "catalog.priceType.list",
    "priceTypes",
    (*texts("name"), *flags("base"), *wholes("sort"), *texts("xmlId")),
)


# ---------------------------------------------------------------- sections and properties


def in_section(seen: SourceRecord) -> Json:
    """A section of the same information block."""
    number = reference(seen.payload.get("iblockSectionId"))
    return number and f"{seen.parent}:{number}"


crm_catalogs = Stream(
    name=CATALOGS,
    table=Table("CrmCatalogs", CATALOGS),
    read=(Gather("catalog.catalog.list", read_catalogs),),
    fields=(*texts("iblockId"), Field("properties", Kind.AS_IS)),
)

crm_catalog_sections = Stream(
    name="crm_catalog_sections",
    table=Table("CrmCatalogSections", "crm_catalog_sections"),
    read=(Each(CATALOGS, "catalog.section.list", sections, lambda one: one.id),),
    key="source:crm_catalog_sections:{child}",
    fields=(
        *texts("name", "code", "xmlId"),
        *wholes("sort"),
        *flags("active"),
        Field("description", Kind.RICH),
        Field("descriptionType", beyond=True),
        Field("iblockSectionId", Kind.REF, take=in_section, to="crm_catalog_sections", waits=True),
    ),
    adopted=lambda _: True,
    fetch=fetch_of(sections),
    covered=("iblockSectionId",),
)


def options(seen: SourceRecord) -> Json:
    return [option(one) for one in seen.extras.get("options") or ()]


def option(row: Args) -> Args:
    return {
        "id": str(row["id"]),
        "value": text(row.get("value")),
        "xmlId": text(row.get("xmlId")),
        "sort": whole(row.get("sort")),
        "default": bool(flag(row.get("def"))),
    }


def stays_here(seen: SourceRecord) -> str | None:
    known = (seen.payload.get("propertyType"), seen.payload.get("userType"), seen.payload.get("code"))
    if seen.payload.get("code") == PHOTOS:
        return PROPERTY_PHOTOS
    return None if travels(*known) else PROPERTY_LINKS


crm_product_props = Stream(
    name="crm_product_props",
    table=Table("CrmProductProps", "crm_product_props"),
    read=(Each(CATALOGS, "catalog.productProperty.list", properties_of, lambda one: one.id),),
    fields=(
        *texts("name", "code", "xmlId", "propertyType", "userType"),
        *flags("multiple", "isRequired"),
        *wholes("sort"),
        Field("options", Kind.AS_IS, take=options),
    ),
    options="options",
    exclude=stays_here,
    adopted=lambda _: True,
    fetch=fetch_of(properties_of, at_once=1),
)


# ---------------------------------------------------------------- products and offers


def kind_of(seen: SourceRecord) -> Json:
    """Products and offers differ by their catalog: an offer without a product has another type."""
    if seen.parent == OFFER:
        return OFFER
    number = str(seen.payload.get("type"))
    return "parent" if number in PARENTS else "service" if number in SERVICES else "product"


def parent_of(seen: SourceRecord) -> Json:
    """A property of the offer names its product."""
    number = seen.extras.get("parent")
    named = values_at(seen.payload.get(f"property{number}")) if number else []
    return reference(named[0].get("value")) if named else None


def picture(name: str) -> Take:
    def take(seen: SourceRecord) -> Json:
        return keys_of([seen.payload[name]]) if name in seen.payload else ABSENT

    return take


def keys_of(shown: list[Json]) -> list[str]:
    return [f"{FILE_KIND}:{one['id']}" for one in shown if isinstance(one, dict) and one.get("id")]


crm_products = Stream(
    name="crm_products",
    table=Table("CrmProducts", "crm_products"),
    read=(Each(CATALOGS, "catalog.product.list", products_of, lambda one: one.id),),
    key="source:crm_products:{child}",
    natural=NaturalKey("id", links_use_it=True),  # other records name products and offers by one number
    batch=20,
    fields=(
        Field("kind", take=kind_of),
        Field("parentId", Kind.REF, take=parent_of, to="crm_products", policy=Policy.REQUIRE, waits=True),
        *texts("name", "code", "xmlId"),
        *flags("active"),
        *wholes("sort"),
        Field("iblockSectionId", Kind.REF, take=in_section, to="crm_catalog_sections"),
        Field("previewText", Kind.RICH),
        Field("detailText", Kind.RICH),
        *texts("previewTextType", "detailTextType", beyond=True),
        Field("previewPicture", Kind.FILE, take=picture("previewPicture")),
        Field("detailPicture", Kind.FILE, take=picture("detailPicture")),
        Field("morePhoto", Kind.FILES, take=lambda seen: keys_of(photos(seen))),
        Field("measure", Kind.REF, to="crm_measures"),
        Field("vatId", Kind.REF, to="crm_vats"),
        *flags("vatIncluded"),
        *(Field(name, Kind.NUMBER) for name in ("weight", "width", "height", "length", "purchasingPrice")),
        *texts("purchasingCurrency"),
        person("createdBy", Policy.PLACEHOLDER),
        person("modifiedBy"),
        *times("dateCreate", "timestampX"),
        Field(
            "properties",
            Kind.CODED,
            take=take_values,
            code=value_code,
            names=("crm_product_props", "users"),
        ),
    ),
    stamp="dateCreate",
    changes=ChangeRules(whole_payload=True, noted_in=frozenset({"timestampX", "modifiedBy"}), lasting=drop_links),
    written=(Written("createdBy", "dateCreate"), Written("modifiedBy", "timestampX")),
    at_last=gather_values,
    files=pictures,
    required=("name",),
    fetch=fetch_of(products_of, sign=""),
    mentions=(Mention(r"/crm/product/show/(\d+)(?=/?(?:[^\w/?&#-]|$))", link=True),),
    covered=("parentId",),
    unseen=(UNSEEN_VALUES, UNSEEN_COUNTED),
)

crm_prices = Stream(
    name="crm_prices",
    table=Table("CrmPrices", "crm_prices"),
    read=(PRICES,),
    fields=(
        Field("productId", Kind.REF, to="crm_products", policy=Policy.REQUIRE),
        Field("catalogGroupId", Kind.REF, to="crm_price_types", policy=Policy.REQUIRE),
        Field("price", Kind.NUMBER),
        *texts("currency"),
        Field("quantityFrom", Kind.NUMBER),
        Field("quantityTo", Kind.NUMBER),
    ),
    changes=ChangeRules(noted_in=frozenset({"timestampX"})),
    fetch=fetch_together(
        PRICES.method, lambda ids: {**PRICES.params, "filter": {"@id": ids}, **BY_ID}, items=("prices",), id_field="id"
    ),
    covered=("productId", "catalogGroupId"),
    unseen=(UNSEEN_COUNTED,),
)


def other_base(ours: str, theirs: str) -> str:
    """Rates are those to the base currency, and the amounts of deals in it are computed when they are imported."""
    return say("gate.base_currency", source=ours, target=theirs)


def fix_base(ours: str, _: str) -> str:
    return say("gate.base_currency_fix", source=ours)


ENTITIES = (
    Entity(
        name="crm_catalog",
        wire="crm",
        scopes=("crm", "catalog"),
        needs_admin=True,
        optional=True,
        probes={"crm.currency.list": {}, "catalog.product.list": {}, "catalog.price.list": {"select": ["id"]}},
        alike=(Alike("crm.currency.base.get", other_base, fix_base),),
        aids=(crm_catalogs,),
        streams=(
            crm_currencies,
            crm_measures,
            crm_vats,
            crm_price_types,
            crm_catalog_sections,
            crm_product_props,
            crm_products,
            crm_prices,
        ),
    ),
)
