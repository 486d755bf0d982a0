"""Leads, made from their number (crm/universal/crm-item-get.md, crm/leads)."""

from b24sim.company import crm_fields as uf
from b24sim.company import names
from b24sim.company.crm_fields import Field
from b24sim.company.crm_files import files_of
from b24sim.company.crm_ids import LEAD
from b24sim.company.crm_products import php_number, rows_in, worth
from b24sim.company.crm_structure import CURRENCIES, DICTIONARIES
from b24sim.company.crm_values import VARIANTS, comment, custom_values, marks
from b24sim.company.crm_world import Made, Times, World, deleted_among, one_of, place_of
from b24sim.phpjson import encode
from b24sim.table import Row

EMPTY = (
    "dateCreateShort", "dateModifyShort", "isConvert", "productId", "shortName", "address", "login", "skype", "icq",
)  # fmt: skip
CHANNELS = (
    "phoneMobile", "phoneWork", "phoneMailing", "emailHome", "emailWork", "emailMailing", "imol", "email", "phone",
)  # fmt: skip
# Codes of every portal: CONVERTED is the success, JUNK a failure (crm/leads/crm-lead-fields.md).
MEANINGS = {"CONVERTED": "S", "JUNK": "F"}
FIRST_CHANNEL = 40_000_000


def lead(world: World, times: Times, fields: list[Field], number: int) -> Made:
    place = place_of(number)
    luck = times.luck(place)
    created, updated = times.created(place, luck), times.updated(place, luck)
    moved = created + (updated - created) // 2
    stage = DICTIONARIES["STATUS"][(luck >> 13) % 4][0]
    meaning, products, iso = MEANINGS.get(stage, "P"), rows_in(place, luck), world.moments.iso
    contacts = _contacts(world, place, luck)
    own: Row = {
        "id": number, "title": f"Лид {number} «{luck % 1000}»" if place % 11 else "", "createdTime": iso(created),
        "updatedTime": iso(updated), "movedTime": iso(moved), "createdBy": world.author(place, luck >> 3),
        "updatedBy": world.author(place + 7, luck >> 11), "movedBy": world.author(place + 13, luck >> 17),
        "assignedById": one_of(world.staff, luck >> 5), "lastActivityBy": one_of(world.staff, luck >> 8),
        "lastActivityTime": iso(updated), "stageId": stage, "stageSemanticId": meaning,
        "dateClosed": iso(moved) if meaning != "P" else None,
        "opportunity": worth(place, luck) if products else php_number((luck >> 6) % 10_000_000 / 100),
        "isManualOpportunity": "N" if products else "Y", "currencyId": CURRENCIES[luck % 4][0],
        "name": names.MALE[(luck >> 8) % 12], "lastName": names.SURNAMES[(luck >> 16) % len(names.SURNAMES)],
        "birthdate": world.day(created) if place % 4 == 0 else None, "companyId": _company(world, place, luck),
        "contactId": contacts[0] if contacts else 0, "contactIds": contacts, **_channels(number, place, luck),
        "isReturnCustomer": "Y" if place % 6 == 1 else "N", fields[uf.TEXT].code: f"Л-{number} <b>&</b>",
    }  # fmt: skip
    return Made(encode(own), place % VARIANTS, files_of(LEAD, None, number, fields) if place % 25 == 3 else None)


def lead_variant(world: World, fields: list[Field], variant: int) -> Row:
    row: Row = {
        "entityTypeId": LEAD, "opened": "Y" if variant % 4 else "N",
        "sourceId": DICTIONARIES["SOURCE"][variant % 4][0], "sourceDescription": "",
        "statusDescription": "Ждёт звонка" if variant % 5 == 2 else None,
        "comments": comment(world, variant + 3), "webformId": 0, "secondName": names.PATRONYMICS[variant % 5] or "",
        "companyTitle": "ООО «Ромашка» & Ко" if variant % 3 else "", "post": names.POSITIONS[variant % 8],
        "honorific": DICTIONARIES["HONORIFIC"][0][0] if variant % 3 else "", "originatorId": None, "originId": None,
        "observers": [one_of(world.staff, variant + 2)] if variant % 6 == 3 else [], "searchContent": "",
        **dict.fromkeys(EMPTY), **dict.fromkeys((name for name in CHANNELS if not name.endswith("Work")), ""),
    }  # fmt: skip
    return row | marks(variant) | custom_values(world, fields, variant)


def _company(world: World, place: int, luck: int) -> int:
    """Of a converted lead the company that came of it; one may be gone."""
    if place % 17 == 5:
        return deleted_among(world.ids.company_ids, luck)
    return one_of(world.ids.company_ids, luck >> 4) if place % 4 == 1 else 0


def _contacts(world: World, place: int, luck: int) -> list[int]:
    known = world.ids.contact_ids
    found = [one_of(known, luck >> shift) for shift in range(7, 7 + 5 * (place % 4 // 2 * 2), 5)] if known else []
    if place % 19 == 7:
        found.append(deleted_among(known, luck))
    return list(dict.fromkeys(found))


def _channels(number: int, place: int, luck: int) -> Row:
    """Telephones and addresses: `fm` is the truth."""
    channels = [("PHONE", "WORK", f"+7 900 {luck % 10**7:07d}")] if place % 5 else []
    channels += [("EMAIL", "WORK", f"lead{number}@mail.example")] if place % 3 else []
    values = {kind: value for kind, _, value in channels}
    return {
        "hasPhone": "Y" if "PHONE" in values else "N", "hasEmail": "Y" if "EMAIL" in values else "N", "hasImol": "N",
        "phoneWork": values.get("PHONE", ""), "emailWork": values.get("EMAIL", ""),
        "fm": [
            {"id": FIRST_CHANNEL + number * 2 + slot, "typeId": kind, "valueType": sort, "value": value}
            for slot, (kind, sort, value) in enumerate(channels)
        ],
    }  # fmt: skip
