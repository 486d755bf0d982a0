"""The fields of CRM records under all their names: camel case, upper case, lossy, and those of the old methods."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from b24sim.company import crm_fields as uf
from b24sim.company.crm_fields import Field, camel_names
from b24sim.company.crm_ids import DEAL, LEAD, QUOTE, SMART_INVOICE
from b24sim.table import Row

USERS = {"createdBy", "updatedBy", "movedBy", "assignedById", "lastActivityBy", "observers"}
DATES = {"begindate", "closedate", "birthdate", "actualDate"}
NUMBERS = {"opportunity", "taxValue", "revenue", "opportunityAccount", "taxValueAccount"}
WHOLE = {"id", "probability", "webformId", "leadId", "quoteId", "dealId", "locationId", "faceId", "entityTypeId",
         "personTypeId", "storageTypeId", "commentsType", "contentType", "termsType"}  # fmt: skip
STATUSES = {"sourceId": "SOURCE", "honorific": "HONORIFIC", "industry": "INDUSTRY", "employees": "EMPLOYEES"}
LINKS = {"companyId": "crm_company", "companyIds": "crm_company", "mycompanyId": "crm_company",
         "contactId": "crm_contact", "contactIds": "crm_contact", "categoryId": "crm_category",
         "currencyId": "crm_currency", "photo": "file", "logo": "file"}  # fmt: skip
READ_ONLY = {"id", "createdTime", "updatedTime", "movedTime", "createdBy", "updatedBy", "movedBy", "lastActivityBy",
             "lastActivityTime", "stageSemanticId", "closed", "hasPhone", "hasEmail", "hasImol"}  # fmt: skip
MANY = {"observers", "contactIds", "companyIds", "storageElementIds"}
# Aliases of `fm` and what no filter knows.
# Shown by `crm.item.*` and always empty (crm/universal/crm-item-add.md).
EMPTY_FIELDS = (
    "dateCreateShort", "dateModifyShort", "productId", "begindateShort", "closedateShort", "eventDate",
    "eventDateShort", "eventId", "eventDescription", "searchContent", "orderStage", "isWork", "isWon", "isLose",
    "receivedAmount", "lostAmount", "hasProducts",
)  # fmt: skip
NOT_FIELDS = {"fm", "phoneWork", "emailWork", *EMPTY_FIELDS}
STAGES_OF = {DEAL: "DEAL_STAGE", LEAD: "STATUS", QUOTE: "QUOTE_STATUS", SMART_INVOICE: "SMART_INVOICE_STAGE"}
_TYPE_OF = {3: "CONTACT_TYPE", 4: "COMPANY_TYPE"}
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z0-9])")


@cache
def upper(name: str) -> str:
    """`parentId156` is `PARENT_ID_156`."""
    return name if name.startswith("UF_") else _WORDS.sub("_", name).upper()


class Schema:
    """The names that one type knows."""

    def __init__(self, entity_type_id: int, names: Iterable[str], fields: list[Field]):
        self.entity_type_id = entity_type_id
        self.names = list(names)
        self.fields = fields
        self.camel = camel_names(fields)
        self._known = {name: name for name in self.names if name not in NOT_FIELDS}
        self._known |= {upper(name): name for name in self._known}
        self._known |= {camel: code for code, camel in self.camel.items()}
        self.flags = {field.code for field in fields if field.purpose == uf.FLAG}

    def field(self, name: str) -> str | None:
        """The field's own name, whatever way it was spelled; None if there is no such field."""
        return self._known.get(name)

    def called(self, code: str, original: bool) -> str:
        return code if original else self.camel[code]

    def renamed(self, row: Row, original: bool) -> Row:
        return row if original else {self.camel.get(name, name): value for name, value in row.items()}

    def description(self, original: bool) -> dict[str, Any]:
        """`crm.item.fields`."""
        described = {name: _system(self.entity_type_id, name) for name in self.names if name in self._known}
        for field in self.fields:
            described.pop(field.code, None)
            described[self.called(field.code, original)] = _custom(field)
        return described


def _system(entity_type_id: int, name: str) -> Row:
    row: Row = {
        "type": _kind(name), "isRequired": False, "isReadOnly": name in READ_ONLY, "isImmutable": False,
        "isMultiple": name in MANY, "isDynamic": False, "title": name, "upperName": upper(name),
    }  # fmt: skip
    status = STATUSES.get(name)
    if name == "typeId":
        status = _TYPE_OF.get(entity_type_id, "DEAL_TYPE")
    if name == "stageId":
        status = STAGES_OF.get(entity_type_id, f"DYNAMIC_{entity_type_id}_STAGE")
    if status:
        row |= {"type": "crm_status", "statusType": status}
    if name.startswith("parentId"):
        row["settings"] = {"parentEntityTypeId": int(name.removeprefix("parentId"))}
    return row


def _kind(name: str) -> str:
    if name in LINKS or name.startswith("parentId"):
        return LINKS.get(name, "crm_entity")
    if name in USERS:
        return "user"
    if name in DATES or name.endswith("Time"):
        return "date" if name in DATES else "datetime"
    if name in NUMBERS or name in WHOLE:
        return "double" if name in NUMBERS else "integer"
    flag = name in {"opened", "closed", "export"} or re.match(r"(is|has)[A-Z]", name)
    return "boolean" if flag else "text" if name == "comments" else "string"


def _custom(field: Field) -> Row:
    label = field.labels["ru"]
    row: Row = {
        "type": field.kind, "isRequired": False, "isReadOnly": False, "isImmutable": False,
        "isMultiple": field.multiple, "isDynamic": True, "title": label, "listLabel": label, "formLabel": label,
        "filterLabel": label, "settings": field.settings, "upperName": field.code,
    }  # fmt: skip
    if field.options:
        row["items"] = [{"ID": str(number), "VALUE": text} for number, text in field.options]
    return row
