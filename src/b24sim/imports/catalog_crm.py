"""The streams of the CRM: its structure, which is linked where the box has it, and its items."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from b24sim.imports.kinds import (
    BOOL,
    DATE,
    INT,
    NUM,
    TEXT,
    TIME,
    USER,
    Fields,
    Inspection,
    ItemFault,
    Kind,
    Lookup,
    Many,
    Ref,
    Shape,
    is_int,
)
from b24sim.imports.stream import Rule, Stream

DEAL_TYPE = "2"
DEFAULT_DEAL_CATEGORY = "0"
STATIC_TYPES = frozenset({"1", "2", "3", "4", "5", "6", "7", "31"})

SMART_TYPE = Ref("crm_types", "TYPE_NOT_FOUND")
ANY_TYPE = Ref("crm_types", "TYPE_NOT_FOUND", STATIC_TYPES)
COMPANY, CONTACT = Ref("crm_companies"), Ref("crm_contacts")
STREAM_OF_TYPE = {"1": "crm_leads", "2": "crm_deals", "3": "crm_contacts", "4": "crm_companies", "7": "crm_quotes",
                  "31": "crm_invoices"}  # fmt: skip
TYPE_OF_LETTER = {"D": "2", "C": "3", "CO": "4", "L": "1", "Q": "7", "SI": "31"}

STAGE_OF_CATEGORY = (
    # the dictionary's name; the prefix that its stages carry; both hold ids of the target; and whose it is
    (r"DEAL_STAGE_(?P<category>\d+)", "C{category}:", DEAL_TYPE),
    (r"SMART_INVOICE_STAGE_(?P<category>\d+)", "DT31_{category}:", "31"),
    (r"DYNAMIC_(?P<type>\d+)_STAGE_(?P<category>\d+)", "DT{type}_{category}:", ""),
)


@dataclass(frozen=True)
class ParentItem:
    """`parentId<n>`: an item of the type n, which the field's own name tells."""

    def check(self, value: object, seen: Inspection) -> None:
        if not isinstance(value, str):
            raise seen.refuse("an id must be a string")
        _refer_to_item(seen.field.removeprefix("parentId"), value, seen)


@dataclass(frozen=True)
class CrmBinding:
    """`D_12`, `C_12`, `CO_12`, and `T9c_12` for an item of the smart process 0x9c."""

    def check(self, value: object, seen: Inspection) -> None:
        match = re.fullmatch(r"(D|CO?|L|Q|SI|T([0-9a-f]{1,15}))_(\d+)", value) if isinstance(value, str) else None
        if match is None:
            raise seen.refuse(f"{value!r} is not a CRM link")
        type_id = str(int(match[2], 16)) if match[2] else TYPE_OF_LETTER[match[1]]
        _refer_to_item(type_id, match[3], seen)


@dataclass(frozen=True)
class Owner:
    """`{"ownerTypeId": 2, "ownerId": "12"}`: a record of the CRM, both numbers as they are here."""

    def check(self, value: object, seen: Inspection) -> None:
        if not isinstance(value, dict) or value.keys() != {"ownerTypeId", "ownerId"}:
            raise seen.refuse("must have ownerTypeId and ownerId")
        number, target_id = value["ownerTypeId"], value["ownerId"]
        if not is_int(number) or not isinstance(target_id, str):
            raise seen.refuse("ownerTypeId must be a whole number, and ownerId a string")
        _refer_to_item(str(number), target_id, seen)


def _refer_to_item(type_id: str, target_id: str, seen: Inspection) -> None:
    ANY_TYPE.check(type_id, seen)
    fields = seen.refer(STREAM_OF_TYPE.get(type_id, "crm_spitems"), target_id, "PARENT_NOT_FOUND")
    if type_id not in STREAM_OF_TYPE and fields.get("entityTypeId") != type_id:
        raise ItemFault("PARENT_NOT_FOUND", seen.field, f"{seen.field}: type {type_id} has no item {target_id}")


def _same_title(fields: Fields, box: Lookup) -> str | None:
    return box.find("crm_types", ("title",), (fields.get("title"),))


def _same_category(fields: Fields, box: Lookup) -> str | None:
    """By name in its type; and a default deal pipeline is the one every box has, which cannot be made twice."""
    type_id = fields.get("entityTypeId")
    if type_id == DEAL_TYPE and fields.get("isDefault") is True:
        return DEFAULT_DEAL_CATEGORY
    return box.find("crm_categories", ("entityTypeId", "name"), (type_id, fields.get("name")))


def _same_stage(fields: Fields, box: Lookup) -> str | None:
    dictionary = fields.get("ENTITY_ID")
    by_code = box.find("crm_stages", ("ENTITY_ID", "STATUS_ID"), (dictionary, fields.get("STATUS_ID")))
    return by_code or box.find("crm_stages", ("ENTITY_ID", "NAME"), (dictionary, fields.get("NAME")))


def _stage_is_in_its_category(fields: Fields, seen: Inspection) -> None:
    """The category and type in a dictionary's name exist, and the stage's own prefix names the same ones."""
    for pattern, prefix, owner in STAGE_OF_CATEGORY:
        match = re.fullmatch(pattern, str(fields["ENTITY_ID"]))
        if match is None:
            continue
        seen.field = "ENTITY_ID"
        parts = match.groupdict()
        if "type" in parts:
            SMART_TYPE.check(parts["type"], seen)
        _category_of(parts.get("type", owner), parts["category"], seen)
        seen.field = "STATUS_ID"
        if not str(fields["STATUS_ID"]).startswith(prefix.format(**parts)):
            raise seen.refuse(f"must begin with {prefix.format(**parts)}")


def _category_of(type_id: object, category: str, seen: Inspection) -> None:
    """Pipelines of different types are different things, even where the source counts them alike."""
    if seen.refer("crm_categories", category, "PARENT_NOT_FOUND").get("entityTypeId") != type_id:
        raise ItemFault("PARENT_NOT_FOUND", seen.field, f"{seen.field}: type {type_id} has no category {category}")


def in_category_of(type_id: str | None) -> Rule:
    """A record is in a pipeline of its own type; `0` is the one that every portal has."""

    def rule(fields: Fields, seen: Inspection) -> None:
        seen.field, category = "categoryId", fields.get("categoryId")
        if isinstance(category, str) and (category != DEFAULT_DEAL_CATEGORY or type_id is None):
            _category_of(type_id or fields.get("entityTypeId"), category, seen)

    return rule


def stage_exists(dictionary: str, fields: Fields, seen: Inspection) -> None:
    stage = fields.get("stageId")
    if stage is None:
        return
    found = seen.box.find("crm_stages", ("ENTITY_ID", "STATUS_ID"), (dictionary, stage))
    if found is None:
        raise ItemFault("STAGE_NOT_FOUND", "stageId", f"stageId: {dictionary} has no stage {stage}")
    seen.refers.add(("crm_stages", found))


def _deal_stage_exists(fields: Fields, seen: Inspection) -> None:
    category = fields.get("categoryId") or DEFAULT_DEAL_CATEGORY
    stage_exists("DEAL_STAGE" if category == DEFAULT_DEAL_CATEGORY else f"DEAL_STAGE_{category}", fields, seen)


def _smart_stage_exists(fields: Fields, seen: Inspection) -> None:
    """The prefix of its stage tells the type of an item without a category."""
    category = fields.get("categoryId")
    if category is None:
        match = re.fullmatch(r"DT\d+_(\d+):.*", str(fields.get("stageId")))
        category = match[1] if match else None
    stage_exists(f"DYNAMIC_{fields['entityTypeId']}_STAGE_{category}", fields, seen)


MULTIFIELD = Shape({"typeId": TEXT, "valueType": TEXT, "value": TEXT}, ("typeId", "value"))
PRODUCT_ROW = Shape(
    {
        "productId": Ref("crm_products"),
        "productName": TEXT,
        "price": NUM,
        "quantity": NUM,
        "discountTypeId": INT,
        "discountRate": NUM,
        "discountSum": NUM,
        "taxRate": NUM,
        "taxIncluded": BOOL,
        "measureCode": TEXT,
        "sort": INT,
    }
)
ITEM_FIELDS: Mapping[str, Kind] = {
    **dict.fromkeys(("title", "name", "lastName", "secondName", "comments", "sourceId", "currencyId"), TEXT),
    **dict.fromkeys(("assignedById", "createdBy", "updatedBy", "movedBy"), USER),
    **dict.fromkeys(("createdTime", "updatedTime", "movedTime"), TIME),
    **dict.fromkeys(("opened", "isManualOpportunity", "closed"), BOOL),
    **dict.fromkeys(("begindate", "closedate"), DATE),
    **dict.fromkeys(("utmSource", "utmMedium", "utmCampaign", "utmContent", "utmTerm"), TEXT),
    "isReturnCustomer": BOOL,
    "leadId": Ref("crm_leads"),
    "quoteId": Ref("crm_quotes"),
    "companyId": COMPANY,
    "companyIds": Many(COMPANY),
    "contactIds": Many(CONTACT),
    "observers": Many(USER),
    "categoryId": Ref("crm_categories", also=frozenset({DEFAULT_DEAL_CATEGORY})),
    "stageId": TEXT,
    "opportunity": NUM,
    "fm": Many(MULTIFIELD),
    "productRows": Many(PRODUCT_ROW),
}

PARENTS = ((r"parentId\d+", ParentItem()),)
"""Any record may hang on one of a smart process."""

CRM_STREAMS = (
    Stream(
        "crm_types",
        "crm",
        {"title": TEXT, "entityTypeId": TEXT, "code": TEXT},
        required=("title",),
        patterns=((r"is[A-Z]\w*Enabled", BOOL),),
        linked_to=_same_title,
        indexes=(("title",),),
    ),
    Stream(
        "crm_categories",
        "crm",
        {"entityTypeId": ANY_TYPE, "name": TEXT, "sort": INT, "isDefault": BOOL},
        required=("entityTypeId", "name"),
        linked_to=_same_category,
        indexes=(("entityTypeId", "name"),),
    ),
    Stream(
        "crm_stages",
        "crm",
        {**dict.fromkeys(("ENTITY_ID", "STATUS_ID", "NAME", "SEMANTICS", "COLOR"), TEXT), "SORT": INT},
        required=("ENTITY_ID", "STATUS_ID", "NAME"),
        rules=(_stage_is_in_its_category,),
        linked_to=_same_stage,
        indexes=(("ENTITY_ID", "STATUS_ID"), ("ENTITY_ID", "NAME")),
    ),
    Stream("crm_companies", "crm", ITEM_FIELDS, patterns=PARENTS, rules=(in_category_of("4"),)),
    Stream("crm_contacts", "crm", ITEM_FIELDS, patterns=PARENTS, rules=(in_category_of("3"),)),
    Stream(
        "crm_deals",
        "crm",
        {**ITEM_FIELDS, "isRecurring": BOOL},
        patterns=PARENTS,
        rules=(in_category_of(DEAL_TYPE), _deal_stage_exists),
    ),
    Stream(
        "crm_spitems",
        "crm",
        {**ITEM_FIELDS, "entityTypeId": SMART_TYPE},
        required=("entityTypeId",),
        patterns=PARENTS,
        rules=(in_category_of(None), _smart_stage_exists),
        typed_by="entityTypeId",
    ),
)
