"""The streams of requisites: templates are linked where the box has them; addresses and links have no id of their own
on a portal, and are found by what they belong to."""

from collections.abc import Mapping

from b24sim.imports.kinds import (
    BOOL,
    INT,
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
)
from b24sim.imports.stream import Rule, Stream

REQUISITE, BANK_DETAIL = Ref("crm_requisites"), Ref("crm_bank_details")
OWNERS = {1: "crm_leads", 2: "crm_deals", 3: "crm_contacts", 4: "crm_companies", 7: "crm_quotes", 8: "crm_requisites"}
OWNERS[31] = "crm_invoices"
FIRST_SMART_TYPE = 128
OF_REQUISITES, OF_ADDRESSES, OF_LINKS = (3, 4), (1, 8), (2, 7, 31)
PRESET_FIELD = Shape({"FIELD_NAME": TEXT, "FIELD_TITLE": TEXT, "SORT": INT, "IN_SHORT_LIST": BOOL}, ("FIELD_NAME",))
COMMON: Mapping[str, Kind] = {
    **dict.fromkeys(("NAME", "CODE", "XML_ID", "ORIGINATOR_ID"), TEXT),
    **dict.fromkeys(("CREATED_BY_ID", "MODIFY_BY_ID"), USER),
    **dict.fromkeys(("DATE_CREATE", "DATE_MODIFY"), TIME),
    "ACTIVE": BOOL,
    "SORT": INT,
}
DETAILS = ((r"RQ_[A-Z0-9_]+", TEXT),)


def refer_to_owner(number: object, target_id: object, seen: Inspection) -> None:
    """A record of the type that another field names."""
    if not isinstance(number, int) or not isinstance(target_id, str):
        raise seen.refuse("an owner is a number and an id")
    stream = OWNERS.get(number, "crm_spitems")
    if number not in OWNERS and number < FIRST_SMART_TYPE:
        raise seen.refuse(f"{number} is not a type")
    found = seen.refer(stream, target_id, "PARENT_NOT_FOUND")
    if stream == "crm_spitems" and found.get("entityTypeId") != str(number):
        raise ItemFault("PARENT_NOT_FOUND", seen.field, f"{seen.field}: type {number} has no item {target_id}")


def _owned_by(*numbers: int, smart: bool = False) -> Rule:
    def rule(fields: Fields, seen: Inspection) -> None:
        seen.field, number = "ENTITY_TYPE_ID", fields["ENTITY_TYPE_ID"]
        if number not in numbers and not (smart and isinstance(number, int) and number >= FIRST_SMART_TYPE):
            raise seen.refuse(f"{number} cannot be an owner here")
        seen.field = "ENTITY_ID"
        refer_to_owner(number, fields["ENTITY_ID"], seen)

    return rule


def _anchor_exists(fields: Fields, seen: Inspection) -> None:
    seen.field = "ANCHOR_ID"
    if fields.get("ANCHOR_ID") is not None:
        refer_to_owner(fields.get("ANCHOR_TYPE_ID"), fields["ANCHOR_ID"], seen)


def _same_preset(fields: Fields, box: Lookup) -> str | None:
    """By its external code, or by country and name."""
    code, named = fields.get("XML_ID"), ("COUNTRY_ID", "NAME")
    by_code = box.find("crm_requisite_presets", ("XML_ID",), (code,)) if code else None
    return by_code or box.find("crm_requisite_presets", named, tuple(fields.get(name) for name in named))


REQUISITE_STREAMS = (
    Stream(
        "crm_requisite_presets",
        "crm",
        {"NAME": TEXT, "COUNTRY_ID": INT, "ACTIVE": BOOL, "SORT": INT, "XML_ID": TEXT, "fields": Many(PRESET_FIELD)},
        required=("NAME", "COUNTRY_ID"),
        linked_to=_same_preset,
        kept_when_linked=frozenset({"NAME", "COUNTRY_ID", "ACTIVE", "SORT", "XML_ID", "fields"}),
        indexes=(("XML_ID",), ("COUNTRY_ID", "NAME")),
    ),
    Stream(
        "crm_requisites",
        "crm",
        {
            **COMMON,
            "ENTITY_TYPE_ID": INT,
            "ENTITY_ID": TEXT,
            "PRESET_ID": Ref("crm_requisite_presets"),
            "ADDRESS_ONLY": BOOL,
        },
        required=("ENTITY_TYPE_ID", "ENTITY_ID", "PRESET_ID"),
        patterns=DETAILS,
        rules=(_owned_by(*OF_REQUISITES),),
    ),
    Stream(
        "crm_bank_details",
        "crm",
        {**COMMON, "ENTITY_ID": REQUISITE, "COUNTRY_ID": INT, "COMMENTS": TEXT},
        required=("ENTITY_ID",),
        patterns=DETAILS,
    ),
    Stream(
        "crm_addresses",
        "crm",
        {
            **dict.fromkeys(("ADDRESS_1", "ADDRESS_2", "CITY", "POSTAL_CODE", "REGION", "PROVINCE"), TEXT),
            **dict.fromkeys(("ENTITY_ID", "ANCHOR_ID", "COUNTRY", "COUNTRY_CODE"), TEXT),
            **dict.fromkeys(("ENTITY_TYPE_ID", "TYPE_ID", "ANCHOR_TYPE_ID"), INT),
        },
        required=("ENTITY_TYPE_ID", "ENTITY_ID", "TYPE_ID"),
        rules=(_owned_by(*OF_ADDRESSES), _anchor_exists),
    ),
    Stream(
        "crm_requisite_links",
        "crm",
        {
            **dict.fromkeys(("REQUISITE_ID", "MC_REQUISITE_ID"), REQUISITE),
            **dict.fromkeys(("BANK_DETAIL_ID", "MC_BANK_DETAIL_ID"), BANK_DETAIL),
            "ENTITY_TYPE_ID": INT,
            "ENTITY_ID": TEXT,
        },
        required=("ENTITY_TYPE_ID", "ENTITY_ID"),
        rules=(_owned_by(*OF_LINKS, smart=True),),
    ),
)
