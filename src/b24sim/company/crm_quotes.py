"""Quotes, made from their number (crm/universal/object-fields.md, "Estimate")."""

from b24sim.company import crm_fields as uf
from b24sim.company.crm_fields import Field
from b24sim.company.crm_files import files_of
from b24sim.company.crm_ids import QUOTE
from b24sim.company.crm_products import php_number, rows_in, worth
from b24sim.company.crm_structure import CURRENCIES, QUOTE_STAGES
from b24sim.company.crm_values import VARIANTS, comment, custom_values, marks
from b24sim.company.crm_world import Made, Times, World, deleted_among, one_of, place_of
from b24sim.company.plan import DAY
from b24sim.phpjson import encode
from b24sim.table import Row

EMPTY = (
    "dateCreateShort", "dateModifyShort", "begindateShort", "closedateShort", "hasProducts", "searchContent",
    "clientTpId", "clientTpaId", "locationId",
)  # fmt: skip
FILE_BASE = 700_000_000  # Drive objects of quotes are numbered from here, by the quote
DISK = 3  # of `storageTypeId`: the ids are those of Drive objects


def quote(world: World, times: Times, fields: list[Field], number: int) -> Made:
    place = place_of(number)
    luck = times.luck(place)
    created, updated = times.created(place, luck), times.updated(place, luck)
    code, _, meaning, _ = QUOTE_STAGES[(luck >> 13) % len(QUOTE_STAGES)]
    contacts, products, iso = _contacts(world, place, luck), rows_in(place, luck), world.moments.iso
    own: Row = {
        "id": number, "title": f"Предложение {number} & <опт>",
        "createdTime": iso(created), "updatedTime": iso(updated),
        "createdBy": world.author(place, luck >> 3), "updatedBy": world.author(place + 7, luck >> 11),
        "assignedById": one_of(world.staff, luck >> 5), "lastActivityBy": one_of(world.staff, luck >> 8),
        "lastActivityTime": iso(updated), "stageId": code, "closed": "Y" if meaning else "N",
        "quoteNumber": f"КП-{number}/{luck % 90}",
        "opportunity": worth(place, luck) if products else php_number(luck % 5_000_000 / 100),
        "isManualOpportunity": "N" if products else "Y", "currencyId": CURRENCIES[luck % 4][0],
        "companyId": one_of(world.ids.company_ids, luck >> 4) if place % 3 == 2 else 0,
        "contactId": contacts[0] if contacts else 0, "contactIds": contacts, "begindate": world.day(created),
        "closedate": world.day(created + 20 * DAY), "actualDate": world.day(created + 40 * DAY),
        "leadId": (one_of(world.ids.lead_ids, luck >> 7) or None) if place % 4 == 3 else None,
        "dealId": _deal(world, place, luck),
        "storageElementIds": attached(number, place),
        fields[uf.TEXT].code: f"П-{number} <b>&</b>",
    }  # fmt: skip
    return Made(encode(own), place % VARIANTS, files_of(QUOTE, None, number, fields) if place % 20 == 3 else None)


def attached(number: int, place: int) -> list[int]:
    """Drive objects."""
    return [FILE_BASE + number] if place % 3 == 2 else []


def quote_variant(world: World, fields: list[Field], variant: int) -> Row:
    row: Row = {
        "entityTypeId": QUOTE, "opened": "Y" if variant % 4 else "N", "personTypeId": 1, "taxValue": 0,
        "mycompanyId": 0, "webformId": 0, "comments": comment(world, variant), "commentsType": 2,
        "content": "<p>Поставка & <b>монтаж</b></p>" if variant % 2 else "", "contentType": 3,
        "terms": f"Оплата в течение {variant % 9 + 1} дней" if variant % 3 else "", "termsType": 1,
        "storageTypeId": DISK, "clientTitle": "ООО «Ромашка»", "clientAddr": "",
        "clientContact": "", "clientEmail": "client@firm.example", "clientPhone": "", **dict.fromkeys(EMPTY),
    }  # fmt: skip
    return row | marks(variant) | custom_values(world, fields, variant)


def _deal(world: World, place: int, luck: int) -> int | None:
    if place % 7 == 5:
        return deleted_among(world.ids.deal_ids, luck)
    return one_of(world.ids.deal_ids, luck >> 9) or None if place % 4 == 1 else None


def _contacts(world: World, place: int, luck: int) -> list[int]:
    known = world.ids.contact_ids
    return [one_of(known, luck >> 6)] if known and place % 3 == 1 else []
