"""Items of smart processes, made from their numbers."""

from b24sim.company import crm_fields as uf
from b24sim.company.crm_fields import Field
from b24sim.company.crm_files import files_of
from b24sim.company.crm_ids import DEAL, SmartType
from b24sim.company.crm_products import php_number, rows_in, worth
from b24sim.company.crm_structure import CURRENCIES, DICTIONARIES, SMART_STAGES, has, parents_of
from b24sim.company.crm_values import VARIANTS, comment, custom_values, marks
from b24sim.company.crm_world import Made, Times, World, deleted_among, one_of, place_of
from b24sim.company.plan import DAY
from b24sim.phpjson import encode
from b24sim.table import Row


def smart_item(world: World, times: Times, fields: list[Field], smart: SmartType, number: int) -> Made:
    place = place_of(number)
    luck = times.luck(place)
    created, updated = times.created(place, luck), times.updated(place, luck)
    iso, sold = world.moments.iso, has(smart, "isLinkWithProductsEnabled")
    products = rows_in(place, luck) if sold else 0
    dated = has(smart, "isBeginCloseDatesEnabled")
    own: Row = {
        "id": number,
        "title": f"Элемент {number} «{luck % 1000}»",
        "xmlId": f"ext-{number}" if place % 7 == 2 else "",
        "createdTime": iso(created),
        "updatedTime": iso(updated),
        "movedTime": iso(created + (updated - created) // 2),
        "createdBy": world.author(place, luck >> 3),
        "updatedBy": world.author(place + 7, luck >> 11),
        "movedBy": world.author(place + 13, luck >> 17),
        "assignedById": one_of(world.staff, luck >> 5),
        **_where(smart, place, luck),
        "opportunity": (worth(place, luck) if products else php_number(luck % 5_000_000 / 100)) if sold else None,
        "isManualOpportunity": ("N" if products else "Y") if sold else None,
        "currencyId": CURRENCIES[luck % 4][0] if sold else None,
        **_clients(world, smart, place, luck),
        "begindate": world.day(created) if dated else None,
        "closedate": world.day(created + 14 * DAY) if dated else None,
        "lastActivityBy": one_of(world.staff, luck >> 8),
        "lastActivityTime": iso(updated),
        **_parents(world, smart, number, place, luck),
        fields[uf.TEXT].code: comment(world, place) or f"С-{number} <b>&</b>",
    }
    special = files_of(smart.entity_type_id, smart, number, fields) if place % 20 == 3 else None
    return Made(encode(own), place % VARIANTS, special)


def smart_variant(world: World, fields: list[Field], smart: SmartType, variant: int) -> Row:
    sources, sourced = DICTIONARIES["SOURCE"], has(smart, "isSourceEnabled")
    watched = has(smart, "isObserversEnabled")
    row: Row = {
        "entityTypeId": smart.entity_type_id, "opened": "Y" if variant % 4 else "N", "previousStageId": "",
        "taxValue": 0, "opportunityAccount": 0, "taxValueAccount": 0, "accountCurrencyId": "RUB", "mycompanyId": 0,
        "sourceId": sources[variant % 4][0] if sourced else None, "sourceDescription": "" if sourced else None,
        "webformId": 0, "observers": [one_of(world.staff, variant)] if watched and variant % 2 else [],
    }  # fmt: skip
    return row | marks(variant) | custom_values(world, fields, variant)


def _where(smart: SmartType, place: int, luck: int) -> Row:
    """Without stages there is none; without pipelines there is still the one that everything is in."""
    category = 7 + 4 * smart.place + (2 if has(smart, "isCategoriesEnabled") and place % 3 == 1 else 0)
    if not has(smart, "isStagesEnabled"):
        return {"categoryId": category, "stageId": None}
    code = SMART_STAGES[(luck >> 13) % len(SMART_STAGES)][0]
    return {"categoryId": category, "stageId": f"DT{smart.entity_type_id}_{category}:{code}"}


def _clients(world: World, smart: SmartType, place: int, luck: int) -> Row:
    if not has(smart, "isClientEnabled"):
        return {"companyId": None, "contactId": None, "contactIds": []}
    contacts = [one_of(world.ids.contact_ids, luck >> 6)] if world.ids.contact_ids and place % 3 else []
    company = (
        deleted_among(world.ids.company_ids, luck) if place % 19 == 6 else one_of(world.ids.company_ids, luck >> 4)
    )
    return {"companyId": company, "contactId": contacts[0] if contacts else 0, "contactIds": contacts}


def _parents(world: World, smart: SmartType, number: int, place: int, luck: int) -> Row:
    """Some parents come later than their children, some are gone."""
    row: Row = {}
    items = world.ids.smart_item_ids
    for parent in parents_of(smart, world.ids.smart_types):
        known = world.ids.deal_ids if parent == DEAL else items
        value = deleted_among(known, luck) if place % 17 == 9 else one_of(known, luck >> 9)
        if parent == smart.entity_type_id:
            value = items[place + 1] if place + 1 < len(items) and place % 2 else one_of(items[:place], luck)
        row[f"parentId{parent}"] = value if value and place % 5 and value != number else None
    return row
