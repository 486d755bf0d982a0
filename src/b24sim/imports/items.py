"""Leads, quotes and invoices: records of the CRM that came after the first version of the contract."""

from b24sim.imports.catalog_crm import COMPANY, ITEM_FIELDS, PARENTS, in_category_of, stage_exists
from b24sim.imports.kinds import DATE, FILE, INT, TEXT, TIME, Fields, Inspection, Many, Ref
from b24sim.imports.stream import Stream

INVOICE_TYPE = "31"


def _lead_stage_exists(fields: Fields, seen: Inspection) -> None:
    stage_exists("STATUS", fields, seen)


def _quote_stage_exists(fields: Fields, seen: Inspection) -> None:
    stage_exists("QUOTE_STATUS", fields, seen)


def _invoice_stage_exists(fields: Fields, seen: Inspection) -> None:
    stage_exists(f"SMART_INVOICE_STAGE_{fields.get('categoryId')}", fields, seen)


ITEMS = (
    Stream(
        "crm_leads",
        "crm",
        {
            **ITEM_FIELDS,
            **dict.fromkeys(("post", "companyTitle", "honorific", "statusDescription"), TEXT),
            "birthdate": DATE,
            "dateClosed": TIME,
        },
        patterns=PARENTS,
        rules=(_lead_stage_exists,),
    ),
    Stream(
        "crm_quotes",
        "crm",
        {
            **ITEM_FIELDS,
            **dict.fromkeys(("quoteNumber", "content", "terms"), TEXT),
            **dict.fromkeys(("commentsType", "contentType", "termsType"), INT),
            "dealId": Ref("crm_deals"),
            "mycompanyId": COMPANY,
            "actualDate": DATE,
            "storageElementIds": Many(FILE),
        },
        patterns=((r"client[A-Z]\w*", TEXT), *PARENTS),
        rules=(_quote_stage_exists,),
    ),
    Stream(
        "crm_invoices",
        "crm",
        {**ITEM_FIELDS, "accountNumber": TEXT, "xmlId": TEXT, "mycompanyId": COMPANY},
        patterns=PARENTS,
        rules=(in_category_of(INVOICE_TYPE), _invoice_stage_exists),
    ),
)
