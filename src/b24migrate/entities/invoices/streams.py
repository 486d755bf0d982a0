"""Invoices of the CRM: items of the type 31. The older invoices are another thing, which no target takes."""

from __future__ import annotations

from dataclasses import replace

from b24migrate.entities import probes
from b24migrate.entities.codes import SMART_INVOICE, STAGE_CODES, crm_code
from b24migrate.entities.crm.fields import CLIENTS, EVERY, LATER_PARENTS, MONEY, UTM, link_field, place_fields
from b24migrate.entities.crm.reader import FILE_KIND, MODERN
from b24migrate.entities.crm.streams import item_stream
from b24migrate.entities.custom_fields import config_fields
from b24migrate.messages import say
from b24migrate.model.fields import Kind, texts
from b24migrate.model.streams import CustomFields, Entity

FIELDS_OF = "CRM_SMART_INVOICE"

crm_invoices = item_stream(
    "crm_invoices",
    "CrmInvoices",
    number=SMART_INVOICE,
    page=f"type/{SMART_INVOICE}",
    fields=(
        *texts("title", "accountNumber"),
        *EVERY,
        *texts(*UTM, beyond=True),
        *CLIENTS,
        replace(link_field("mycompanyId", "crm_companies", Kind.REF), beyond=True),
        *place_fields(SMART_INVOICE),
        *MONEY,
        replace(LATER_PARENTS, beyond=False),
    ),
)

ENTITIES = (
    Entity(
        name="crm_invoices",
        wire="crm",
        scopes=("crm",),
        needs_admin=True,
        optional=True,
        streams=(crm_invoices,),
        optional_scopes={"userfieldconfig": say("loss.invoice_fields")},
        custom_fields=CustomFields(
            "crm_invoices",
            "userfieldconfig",
            config_fields(FIELDS_OF),
            files=FILE_KIND,
            codes=crm_code,
            statuses=STAGE_CODES,
        ),
        probes={MODERN: {"entityTypeId": SMART_INVOICE, "filter": {"<id": 1}, "select": ["id"], "start": -1}},
        habits=(probes.crm,),
    ),
)
