"""Leads. A lead names the clients that came of it, and they name the lead: their link is written last."""

from __future__ import annotations

from dataclasses import replace

from b24migrate.entities.codes import LEAD
from b24migrate.entities.crm.fields import AMOUNT, CLIENTS, EVERY, LATER_PARENTS, SOLD, UTM, in_stage, type_field
from b24migrate.entities.crm.reader import MULTIFIELDS, legacy_sold, multifields
from b24migrate.entities.crm.streams import item_entity, item_stream
from b24migrate.messages import say
from b24migrate.model.fields import Field, Kind, days, flags, texts, times
from b24migrate.model.streams import Alike

crm_leads = item_stream(
    "crm_leads",
    "CrmLeads",
    number=LEAD,
    fallback=legacy_sold("crm.lead", "L", MULTIFIELDS),
    page="lead",
    title=("title", "TITLE", "name", "NAME", "lastName", "LAST_NAME"),
    fields=(
        *texts("title", "name", "lastName", "secondName", "post", "companyTitle"),
        type_field("honorific", "HONORIFIC"),
        *days("birthdate"),
        *EVERY,
        *texts(*UTM),
        *CLIENTS,
        in_stage(LEAD),
        *times("dateClosed"),
        *AMOUNT,
        SOLD,
        Field("fm", Kind.AS_IS, take=multifields),
        *texts("statusDescription", beyond=True),
        *flags("isReturnCustomer", beyond=True),
        LATER_PARENTS,
    ),
)

CLASSIC, SIMPLE = "1", "2"  # api-reference/crm/crm-settings-mode-get.md


def hides_leads(ours: str, theirs: str) -> str:
    """A box in the simple mode takes leads and shows them nowhere."""
    return say("gate.simple_crm") if (ours, theirs) == (CLASSIC, SIMPLE) else ""


def show_leads(_: str, __: str) -> str:
    return say("gate.simple_crm_fix")


MODES = Alike("crm.settings.mode.get", hides_leads, show_leads)
ENTITIES = (replace(item_entity(crm_leads, LEAD, "crm.lead"), alike=(MODES,)),)
