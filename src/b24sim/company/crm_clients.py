"""Contacts and companies, made from their numbers."""

from b24sim.company import crm_fields as uf
from b24sim.company import names
from b24sim.company.crm_fields import Field
from b24sim.company.crm_files import PICTURE, file_id, files_of
from b24sim.company.crm_ids import COMPANY, CONTACT
from b24sim.company.crm_products import php_number
from b24sim.company.crm_structure import CURRENCIES, DICTIONARIES
from b24sim.company.crm_values import VARIANTS, comment, custom_values, marks
from b24sim.company.crm_world import Made, Times, World, deleted_among, one_of, place_of
from b24sim.company.plan import ANCHOR, DAY
from b24sim.phpjson import encode
from b24sim.table import Row

FIRMS = ("ООО «Ромашка»", "ЗАО 'Север & Ко'", "ИП Орлов <тест>", "Acme Ltd.", "АО «Заря» 🌅")
MY_COMPANY_PLACE = 2


def contact(world: World, times: Times, fields: list[Field], number: int) -> Made:
    place = place_of(number)
    luck = times.luck(place)
    companies = _companies(world, place, luck)
    female = luck % 2
    surname = names.SURNAMES[(luck >> 16) % len(names.SURNAMES)]
    own: Row = {"id": number} | _dated(world, times, place, luck)
    own |= {
        "name": (names.FEMALE if female else names.MALE)[(luck >> 8) % 12],
        "lastName": surname + ("а" if female and surname.endswith(("в", "н")) else ""),
        "honorific": DICTIONARIES["HONORIFIC"][female][0] if place % 3 else None,
        "birthdate": world.day(ANCHOR - (9_000 + (luck >> 5) % 9_000) * DAY) if place % 4 == 0 else None,
        # The primary company need not be the first of them.
        "companyId": companies[len(companies) // 2] if companies else 0,
        "companyIds": companies,
        fields[uf.TEXT].code: f"К-{number} <b>&</b>",
    }
    own |= _channels(CONTACT, number, place, luck)
    special: Row = {}
    if place % 25 == 6:
        special = files_of(CONTACT, None, number, fields)
    if place % 9 == 2:
        special["photo"] = file_id(CONTACT, None, number, PICTURE)
    special |= _converted(world, place)
    return Made(encode(own), place % VARIANTS, special or None)


def contact_variant(world: World, fields: list[Field], variant: int) -> Row:
    kinds, sources = DICTIONARIES["CONTACT_TYPE"], DICTIONARIES["SOURCE"]
    row: Row = {
        "entityTypeId": CONTACT, "categoryId": 0, "secondName": names.PATRONYMICS[variant % 5] or None,
        "photo": None, "typeId": kinds[variant % 3][0] if variant % 5 else None,
        "sourceId": sources[variant % 4][0], "sourceDescription": None, "address": None,
        "post": names.POSITIONS[variant % 8], "comments": comment(world, variant + 1),
        "opened": "Y" if variant % 4 else "N", "export": "Y", "leadId": None, "originatorId": None,
        "originId": None, "originVersion": None, "faceId": 0, "login": None, "webformId": 0,
        "observers": [one_of(world.staff, variant)] if variant % 6 == 1 else [],
    }  # fmt: skip
    return row | marks(variant) | custom_values(world, fields, variant)


def company(world: World, times: Times, fields: list[Field], number: int) -> Made:
    place = place_of(number)
    luck = times.luck(place)
    own: Row = {"id": number, "title": f"{FIRMS[luck % 5]} {number}"} | _dated(world, times, place, luck)
    own |= {
        "revenue": php_number((luck >> 6) % 900_000_000 / 100) if place % 3 else None,
        "currencyId": CURRENCIES[luck % 4 if place % 4 == 1 else 0][0],
        "isMyCompany": "Y" if place == MY_COMPANY_PLACE else "N",
        fields[uf.TEXT].code: f"Ю-{number} <b>&</b>",
    }
    own |= _channels(COMPANY, number, place, luck)
    special: Row = {}
    if place % 25 == 4:
        special = files_of(COMPANY, None, number, fields)
    if place % 7 == 3:
        special["logo"] = file_id(COMPANY, None, number, PICTURE)
    special |= _converted(world, place)
    return Made(encode(own), place % VARIANTS, special or None)


def company_variant(world: World, fields: list[Field], variant: int) -> Row:
    kinds, trades, sizes = (DICTIONARIES[name] for name in ("COMPANY_TYPE", "INDUSTRY", "EMPLOYEES"))
    row: Row = {
        "entityTypeId": COMPANY, "categoryId": 0, "logo": None, "typeId": kinds[variant % 3][0],
        "industry": trades[variant % 2][0] if variant % 3 else None, "employees": sizes[variant % 2][0],
        "bankingDetails": "р/с 40702810…, БИК 044525225" if variant % 4 == 1 else None, "addressLegal": None,
        "comments": comment(world, variant + 2), "opened": "Y" if variant % 4 else "N", "leadId": None,
        "originatorId": None, "originId": None, "originVersion": None, "webformId": 0, "ufLogo": None,
        "ufStamp": None, "ufDirectorSign": None, "ufAccountantSign": None,
        "observers": [one_of(world.staff, variant + 5)] if variant % 6 == 2 else [],
    }  # fmt: skip
    return row | marks(variant) | custom_values(world, fields, variant)


def _dated(world: World, times: Times, place: int, luck: int) -> Row:
    created, updated = times.created(place, luck), times.updated(place, luck)
    return {
        "createdTime": world.moments.iso(created),
        "updatedTime": world.moments.iso(updated),
        "createdBy": world.author(place, luck >> 3),
        "updatedBy": world.author(place + 7, luck >> 11),
        "assignedById": one_of(world.staff, luck >> 5),
        "lastActivityBy": one_of(world.staff, luck >> 8),
        "lastActivityTime": world.moments.iso(updated),
    }


def _converted(world: World, place: int) -> Row:
    """The lead that some came of; one of these is gone."""
    if not world.ids.lead_ids or place % 3 != 1:
        return {}
    return {"leadId": deleted_among(world.ids.lead_ids, place) if place == 4 else one_of(world.ids.lead_ids, place * 5)}


def _companies(world: World, place: int, luck: int) -> list[int]:
    """None, one or several; one of them may be gone."""
    known = world.ids.company_ids
    found = [one_of(known, luck >> shift) for shift in range(4, 4 + 6 * (place % 4), 6)] if known else []
    if place % 33 == 8:
        found.append(deleted_among(known, luck))
    return list(dict.fromkeys(found))


def _channels(entity_type_id: int, number: int, place: int, luck: int) -> Row:
    """Telephones and addresses: `fm` is the truth, the flat names show the first of each."""
    first = (number * 2 + entity_type_id - CONTACT) * 5
    channels = [("PHONE", "WORK", f"+7 495 {luck % 10**7:07d}")] if place % 6 else []
    if place % 3 == 1:
        channels.append(("PHONE", "MOBILE", f"8 (900) {luck % 1000:03d}-11-22 доб. 5"))
    if place % 5:
        channels.append(("EMAIL", "WORK", f"client{number}@{'firm' if entity_type_id == COMPANY else 'mail'}.example"))
    if place % 8 == 3:
        channels += [("WEB", "OTHER", f"https://client{number}.example/?a=1&b=2"), ("IM", "TELEGRAM", "@client")]
    kinds = [kind for kind, _, _ in channels]
    row: Row = {
        "hasPhone": "Y" if "PHONE" in kinds else "N",
        "hasEmail": "Y" if "EMAIL" in kinds else "N",
        "hasImol": "N",
    }
    row["phoneWork"] = next((value for kind, _, value in channels if kind == "PHONE"), "")
    row["emailWork"] = next((value for kind, _, value in channels if kind == "EMAIL"), "")
    row["fm"] = [
        {"id": first + slot, "typeId": kind, "valueType": sort, "value": value}
        for slot, (kind, sort, value) in enumerate(channels)
    ]
    return row
