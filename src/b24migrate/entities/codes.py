"""Codes with ids inside: CRM records, pipelines and stages, recipients."""

from __future__ import annotations

import re
from collections.abc import Callable

from b24migrate.model.fields import Code, Resolve, Unresolved
from b24migrate.model.records import Args, Json
from b24migrate.model.source_records import SourceRecord

Ids = Callable[[str, str], str]

LEAD, DEAL, CONTACT, COMPANY, ACTIVITY, QUOTE, SMART_INVOICE = 1, 2, 3, 4, 6, 7, 31
FIRST_SMART_TYPE = 128  # below it are the types that every portal has
LAST_OLD_SMART_TYPE, FIRST_NEW_SMART_TYPE = 192, 1030
# prefix of a CRM code -> the stream; types that are not migrated have a name for messages
CODED = {
    "D": "crm_deals",
    "C": "crm_contacts",
    "CO": "crm_companies",
    "L": "crm_leads",
    "Q": "crm_quotes",
    "I": "crm_old_invoices",
    "SI": "crm_invoices",
    "O": "crm_orders",
}
RECORDS_OF = {
    LEAD: "crm_leads",
    DEAL: "crm_deals",
    CONTACT: "crm_contacts",
    COMPANY: "crm_companies",
    QUOTE: "crm_quotes",
    SMART_INVOICE: "crm_invoices",
}
OWNER_STREAMS = (*RECORDS_OF.values(), "crm_spitems")  # whose records others belong to
STAGE_CODES = "crm_stages.STATUS_ID"
STAGES_WITHOUT_PIPELINE = {LEAD: "STATUS", QUOTE: "QUOTE_STATUS"}
DEFAULT_PIPELINE = "0"

_CRM = re.compile(r"(D|CO?|L|Q|SI|I|O|T([0-9a-f]+))_(\d+)", re.IGNORECASE)
_RECIPIENT = re.compile(r"(U|SG|DR|D)(\d+)(\D.*)?")
_RECIPIENTS = {"U": "users", "SG": "groups", "DR": "departments", "D": "departments"}
_DEAL_STAGES = re.compile(r"DEAL_STAGE(?:_(\d+))?")
_SMART_STAGES = re.compile(r"DYNAMIC_(\d+)_STAGE_(\d+)")
_INVOICE_STAGES = re.compile(r"SMART_INVOICE_STAGE_(\d+)")


def crm_code(value: str, resolve: Ids) -> str:
    """`D_12`, `CO_7`, or `T9c_3`: the third item of the smart process 0x9c. Anything else stays what it is."""
    found = _CRM.fullmatch(value)
    if found is None:
        return value
    kind, smart, source_id = found.groups()
    if smart is None:
        return f"{kind}_{resolve(CODED[kind.upper()], source_id)}"
    number = int(smart, 16)
    return f"T{int(type_id(number, resolve)):x}_{resolve('crm_spitems', f'{number}:{source_id}')}"


def crm_link(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
    return crm_code(str(value), resolve)


def type_id(number: int, resolve: Ids) -> str:
    """Of a CRM type; those that every portal has keep their numbers."""
    return str(number) if number < FIRST_SMART_TYPE else resolve("crm_types", str(number))


def is_smart_type(number: int) -> bool:
    """The other numbers are those of records in the recycle bin (crm-type-add.md; kernel crm 24.1300,
    CCrmOwnerType::isPossibleSuspendedDynamicTypeId)."""
    if number >= FIRST_NEW_SMART_TYPE:
        return number % 2 == 0
    return FIRST_SMART_TYPE <= number <= LAST_OLD_SMART_TYPE


def record_of(number: int, source_id: str, resolve: Ids) -> str:
    if number in RECORDS_OF:
        return resolve(RECORDS_OF[number], source_id)
    return resolve("crm_spitems", f"{number}:{source_id}")


def owner(number: int, source_id: str, resolve: Ids) -> Args:
    """The owner of a record, as the import contract spells it: both the type and the record of the target."""
    return {"ownerTypeId": int(type_id(number, resolve)), "ownerId": record_of(number, source_id, resolve)}


def recipient(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
    """`UA` is all users; `U12`, `SG4`, `DR5` are a person, a group, a department with all below it."""
    found = _RECIPIENT.fullmatch(str(value))
    if found is None:
        return str(value)
    kind, source_id, more = found.groups()
    return f"{kind}{resolve(_RECIPIENTS[kind], source_id)}{more or ''}"


# ---------------------------------------------------------------- pipelines and stages


def pipeline(number: int, category: str, resolve: Ids) -> str:
    """The default pipeline of deals has the same id on every portal."""
    try:
        return resolve("crm_categories", f"{number}:{category}")
    except Unresolved:
        if number == DEAL and category == DEFAULT_PIPELINE:
            return DEFAULT_PIPELINE
        raise


def stage_dictionary(number: int, category: Json) -> str:
    """The dictionary in which the stages of a pipeline are. Leads and quotes have no pipelines."""
    if number in STAGES_WITHOUT_PIPELINE:
        return STAGES_WITHOUT_PIPELINE[number]
    if number == DEAL:
        return "DEAL_STAGE" if str(category or 0) == DEFAULT_PIPELINE else f"DEAL_STAGE_{category}"
    return f"SMART_INVOICE_STAGE_{category}" if number == SMART_INVOICE else f"DYNAMIC_{number}_STAGE_{category}"


def dictionary(value: str, resolve: Ids) -> str:
    """An ENTITY_ID of `crm.status.list` with the target's ids in it."""
    if found := _DEAL_STAGES.fullmatch(value):
        return stage_dictionary(DEAL, pipeline(DEAL, found[1] or DEFAULT_PIPELINE, resolve))
    if found := _SMART_STAGES.fullmatch(value):
        number = int(found[1])
        return stage_dictionary(int(type_id(number, resolve)), pipeline(number, found[2], resolve))
    if found := _INVOICE_STAGES.fullmatch(value):
        return stage_dictionary(SMART_INVOICE, pipeline(SMART_INVOICE, found[1], resolve))
    return value


def stage(entity_id: str, value: str, resolve: Ids) -> str:
    """A STATUS_ID with the target's ids in its prefix: `C9:NEW`, `DT156_7:NEW`; the default pipeline has none."""
    name = value.partition(":")[2] or value
    if found := _DEAL_STAGES.fullmatch(entity_id):
        category = pipeline(DEAL, found[1] or DEFAULT_PIPELINE, resolve)
        return name if category == DEFAULT_PIPELINE else f"C{category}:{name}"
    if found := _SMART_STAGES.fullmatch(entity_id):
        number = int(found[1])
        return f"DT{type_id(number, resolve)}_{pipeline(number, found[2], resolve)}:{name}"
    if found := _INVOICE_STAGES.fullmatch(entity_id):
        return f"DT{SMART_INVOICE}_{pipeline(SMART_INVOICE, found[1], resolve)}:{name}"
    return value


def dictionary_entry(entity_id: str) -> Code:
    """An entry of a dictionary; one that the source itself does not list any more stays what it is."""

    def code(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
        if value in (None, ""):
            return None
        try:
            return resolve(STAGE_CODES, f"{entity_id}:{value}")
        except Unresolved:
            return str(value)

    return code
