"""Leads, quotes and invoices: every CRM has them; they are not migrated. Leads have the fields of crm-item-get.md."""

from b24sim.company.crm_ids import LEAD
from b24sim.company.crm_values import marks
from b24sim.company.crm_world import Made, Times, World, one_of, place_of
from b24sim.phpjson import encode
from b24sim.table import Row

EMPTY = (
    "dateCreateShort", "dateModifyShort", "isConvert", "statusDescription", "productId", "shortName", "address",
    "originatorId", "originId", "dateClosed", "login", "skype", "icq",
)  # fmt: skip
CHANNELS = (
    "phoneMobile", "phoneWork", "phoneMailing", "emailHome", "emailWork", "emailMailing", "imol", "email", "phone",
)  # fmt: skip


def lead(world: World, times: Times, entity_type_id: int, number: int) -> Made:
    """The same for all three types, with names and telephones for leads."""
    place = place_of(number)
    luck = times.luck(place)
    created, updated = (world.moments.iso(moment(place, luck)) for moment in (times.created, times.updated))
    who = one_of(world.staff, luck)
    own: Row = {
        "id": number, "title": f"№{number}", "createdTime": created, "updatedTime": updated, "movedTime": updated,
        "createdBy": who, "updatedBy": who, "movedBy": who, "assignedById": who, "lastActivityBy": who,
        "lastActivityTime": updated, "stageId": "NEW", "opportunity": luck % 10_000 / 4,
    }  # fmt: skip
    if entity_type_id == LEAD:
        own |= {"name": "Иван", "lastName": f"Петров {number}", "birthdate": world.day(times.created(place, luck))}
    return Made(encode(own), 0)


def lead_variants(entity_type_id: int) -> list[Row]:
    row: Row = {
        "entityTypeId": entity_type_id, "opened": "Y", "companyId": 0, "contactId": 0, "stageSemanticId": "P",
        "currencyId": "RUB", "sourceId": "WEB", "sourceDescription": "", "comments": "", "webformId": 0,
        "isManualOpportunity": "Y", "observers": [], "contactIds": [],
    }  # fmt: skip
    if entity_type_id == LEAD:
        phone = {"id": 1, "valueType": "WORK", "value": "+7 900 000-00-00", "typeId": "PHONE"}
        row |= {
            "secondName": "", "companyTitle": "", "post": "", "honorific": "", "hasPhone": "Y", "hasEmail": "N",
            "hasImol": "N", "isReturnCustomer": "N", "searchContent": "", "fm": [phone], **dict.fromkeys(EMPTY),
            **dict.fromkeys(CHANNELS, ""), "phoneWork": phone["value"], "phone": phone["value"],
        }  # fmt: skip
    return [row | marks(0)]
