"""The streams of the product catalogue: what every box has of it is linked, and its lists answer with their options."""

from dataclasses import dataclass

from b24sim.imports.kinds import (
    BOOL,
    FILE,
    INT,
    NUM,
    OBJECT,
    TEXT,
    TIME,
    USER,
    Fields,
    Inspection,
    Lookup,
    Many,
    Ref,
    Shape,
    one_of,
)
from b24sim.imports.stream import Linking, Stream

SECTION, PROPERTY, PRODUCT = Ref("crm_catalog_sections"), Ref("crm_product_props"), Ref("crm_products")
OPTION = Shape({"id": TEXT, "value": TEXT, "xmlId": TEXT, "sort": INT, "default": BOOL}, ("id", "value"))
LIST = "L"


@dataclass(frozen=True)
class Values:
    """An object by property: lists of its values; those of a list are ids of its options."""

    def check(self, value: object, seen: Inspection) -> None:
        if not isinstance(value, dict):
            raise seen.refuse("must be an object")
        for number, several in value.items():
            fields = seen.refer("crm_product_props", str(number), "PARENT_NOT_FOUND")
            if not isinstance(several, list):
                raise seen.refuse(f"values of {number} must be a list")
            for one in several if fields.get("propertyType") == LIST else ():
                option = seen.box.get("crm_product_options", str(one))
                if option is None or option["property"] != number:
                    raise seen.refuse(f"{number} has no option {one}")


def _same(stream: str, *names: str) -> Linking:
    def linking(fields: Fields, box: Lookup) -> str | None:
        return box.find(stream, names, tuple(fields.get(name) for name in names))

    return linking


def _same_vat(fields: Fields, box: Lookup) -> str | None:
    """A rate of nothing is no rate of 0 %, and a box has one entry without tax, whatever it is called."""
    if fields.get("rate") is None:
        rates = {number: (box.get("crm_vats", number) or {}).get("rate") for number in box.ids("crm_vats")}
        return min((number for number, rate in rates.items() if rate is None), key=int, default=None)
    return _same("crm_vats", "name", "rate")(fields, box)


def _same_price_type(fields: Fields, box: Lookup) -> str | None:
    """A box has one base price, whatever it is called."""
    base = box.find("crm_price_types", ("base",), (True,)) if fields.get("base") is True else None
    code = _same("crm_price_types", "xmlId")(fields, box) if fields.get("xmlId") else None
    return base or code or _same("crm_price_types", "name")(fields, box)


def _same_section(fields: Fields, box: Lookup) -> str | None:
    found = box.find("crm_catalog_sections", ("name",), (fields.get("name"),))
    parent = fields.get("iblockSectionId")
    if parent is not None:
        return _same("crm_catalog_sections", "iblockSectionId", "name")(fields, box)
    return found if found and (box.get("crm_catalog_sections", found) or {}).get("iblockSectionId") is None else None


def _same_property(fields: Fields, box: Lookup) -> str | None:
    """Among those of products or of offers: by code, or else by name, and by type."""
    name = "code" if fields.get("code") else "name"
    names = ("kind", name, "propertyType")
    return box.find("crm_product_props", names, tuple(fields.get(one) for one in names))


def _offer_has_a_product(fields: Fields, seen: Inspection) -> None:
    seen.field = "parentId"
    if fields.get("kind") == "offer" and fields.get("parentId") is None:
        raise seen.refuse("an offer is one of a product")


DICTIONARIES = (
    Stream(
        "crm_currencies",
        "crm",
        {
            "CURRENCY": TEXT,
            "FULL_NAME": TEXT,
            "AMOUNT": NUM,
            "AMOUNT_CNT": INT,
            "SORT": INT,
            "BASE": BOOL,
            "LANG": OBJECT,
        },
        required=("CURRENCY",),
        linked_to=_same("crm_currencies", "CURRENCY"),
        kept_when_linked=frozenset({"CURRENCY", "AMOUNT", "AMOUNT_CNT"}),
        never_written=frozenset({"BASE"}),
        indexes=(("CURRENCY",),),
    ),
    Stream(
        "crm_measures",
        "crm",
        {
            "code": INT,
            **dict.fromkeys(("measureTitle", "symbol", "symbolIntl", "symbolLetterIntl"), TEXT),
            "isDefault": BOOL,
        },
        required=("code",),
        linked_to=_same("crm_measures", "code"),
        kept_when_linked=frozenset({"code", "measureTitle", "symbol", "symbolIntl", "symbolLetterIntl", "isDefault"}),
        indexes=(("code",),),
    ),
    Stream(
        "crm_vats",
        "crm",
        {"name": TEXT, "rate": NUM, "sort": INT, "active": BOOL},
        required=("name",),
        linked_to=_same_vat,
        kept_when_linked=frozenset({"name", "rate", "sort", "active"}),
        indexes=(("name",), ("name", "rate")),
    ),
    Stream(
        "crm_price_types",
        "crm",
        {"name": TEXT, "base": BOOL, "sort": INT, "xmlId": TEXT},
        required=("name",),
        linked_to=_same_price_type,
        kept_when_linked=frozenset({"name", "base", "sort", "xmlId"}),
        indexes=(("base",), ("xmlId",), ("name",)),
    ),
)
CATALOG_STREAMS = (
    *DICTIONARIES,
    Stream(
        "crm_catalog_sections",
        "crm",
        {
            **dict.fromkeys(("name", "code", "xmlId", "description", "descriptionType"), TEXT),
            "sort": INT,
            "active": BOOL,
            "iblockSectionId": SECTION,
        },
        required=("name",),
        linked_to=_same_section,
        indexes=(("name",), ("iblockSectionId", "name")),
    ),
    Stream(
        "crm_product_props",
        "crm",
        {
            **dict.fromkeys(("name", "code", "xmlId", "propertyType", "userType"), TEXT),
            **dict.fromkeys(("multiple", "isRequired"), BOOL),
            "sort": INT,
            "options": Many(OPTION),
        },
        required=("name", "propertyType"),
        linked_to=_same_property,
        kept_when_linked=frozenset({"name", "code", "propertyType", "userType", "multiple"}),
        indexes=(("kind", "code", "propertyType"), ("kind", "name", "propertyType")),
        in_key=lambda key: {"kind": "offer" if ":offer:" in key else "product"},
        options="crm_product_options",
    ),
    Stream(
        "crm_products",
        "crm",
        {
            "kind": one_of("product", "service", "parent", "offer"),
            "parentId": PRODUCT,
            **dict.fromkeys(("name", "code", "xmlId", "previewText", "detailText", "purchasingCurrency"), TEXT),
            **dict.fromkeys(("previewTextType", "detailTextType"), TEXT),
            **dict.fromkeys(("active", "vatIncluded"), BOOL),
            "sort": INT,
            "iblockSectionId": SECTION,
            **dict.fromkeys(("previewPicture", "detailPicture"), FILE),
            "morePhoto": Many(FILE),
            "measure": Ref("crm_measures"),
            "vatId": Ref("crm_vats"),
            **dict.fromkeys(("weight", "width", "height", "length", "purchasingPrice"), NUM),
            **dict.fromkeys(("createdBy", "modifiedBy"), USER),
            **dict.fromkeys(("dateCreate", "timestampX"), TIME),
            "properties": Values(),
        },
        required=("name", "kind"),
        rules=(_offer_has_a_product,),
    ),
    Stream(
        "crm_prices",
        "crm",
        {
            "productId": PRODUCT,
            "catalogGroupId": Ref("crm_price_types"),
            "price": NUM,
            "currency": TEXT,
            "quantityFrom": NUM,
            "quantityTo": NUM,
        },
        required=("productId", "catalogGroupId"),
    ),
)
PRODUCT_OPTIONS = Stream(
    "crm_product_options",
    "",
    {"property": PROPERTY, "value": TEXT, "xmlId": TEXT},
    indexes=(("property",), ("property", "xmlId"), ("property", "value")),
)
