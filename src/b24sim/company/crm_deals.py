"""Deals, made from their number."""

from b24sim.company import crm_fields as uf
from b24sim.company.crm_fields import Field
from b24sim.company.crm_files import files_of
from b24sim.company.crm_ids import DEAL
from b24sim.company.crm_products import php_number, rows_in, worth
from b24sim.company.crm_schema import EMPTY_FIELDS
from b24sim.company.crm_structure import CURRENCIES, DEAL_PIPELINES, DICTIONARIES, GONE_PIPELINE, STAGES
from b24sim.company.crm_values import VARIANTS, comment, custom_values, marks
from b24sim.company.crm_world import Made, Times, World, deleted_among, one_of, place_of
from b24sim.company.plan import DAY
from b24sim.phpjson import encode
from b24sim.table import Row

LONG_PLACE, LONG = 17, "Протокол <встречи> & итоги 📝. "
# Among the deals are templates that others are made from again and again (api-reference/crm/deals/recurring-deals).
TEMPLATE_EVERY, TEMPLATE_PLACE = 23, 14
TITLES = ("Поставка", "Ремонт 'под ключ'", "Сервис <24/7> &", "Аренда 🏢", "Сделка")
_TITLES = tuple(encode(f"{title} №").decode()[1:-1] for title in TITLES)
_CONTRACT = encode("Д <b>&</b> ").decode()[1:-1]
_MEANINGS = ("P", "P", "P", "P", "S", "F", "F")


def deal(world: World, times: Times, fields: list[Field], number: int) -> Made:
    place = place_of(number)
    luck = times.luck(place)
    created, updated = times.created(place, luck), times.updated(place, luck)
    moved = created + (updated - created) // 2
    category, stage, meaning = _where(place, luck)
    contacts = _contacts(world, place, luck)
    iso, products = world.moments.iso, rows_in(place, luck)
    company, parent, changed = _company(world, place, luck), _parent(world, place, luck), iso(updated)
    author, editor, mover = (world.author(place + n, luck >> n + 3) for n in (0, 7, 13))
    # Half a million of these are read in a benchmark, hence JSON at once and not by way of a dict.
    own = (
        f'{{"id":{number},"title":"{_TITLES[luck % 5]}{number}","createdTime":"{iso(created)}",'
        f'"updatedTime":"{changed}","movedTime":"{iso(moved)}","createdBy":{author},"updatedBy":{editor},'
        f'"movedBy":{mover},"assignedById":{one_of(world.staff, luck >> 5)},"categoryId":{category},'
        f'"stageId":"{stage}","stageSemanticId":"{meaning}","closed":"{"N" if meaning == "P" else "Y"}",'
        f'"opportunity":{worth(place, luck) if products else php_number((luck >> 6) % 10_000_000 / 100)},'
        f'"isManualOpportunity":"{"N" if products else "Y"}",'
        f'"currencyId":"{CURRENCIES[(luck >> 21) % 4 if luck % 3 == 1 else 0][0]}",'
        f'"companyId":{"null" if company is None else company},"contactId":{contacts[0] if contacts else 0},'
        f'"contactIds":{contacts},"begindate":"{world.day(created)}","closedate":"{world.day(created + 30 * DAY)}",'
        f'"lastActivityBy":{one_of(world.staff, luck >> 8)},"lastActivityTime":"{changed}",{parent}'
        f'"{fields[uf.TEXT].code}":"{_CONTRACT}{number}"}}'
    )
    return Made(own.encode(), place % VARIANTS, _special(world, fields, number, place))


def is_template(number: int) -> bool:
    return place_of(number) % TEMPLATE_EVERY == TEMPLATE_PLACE


def deal_variant(world: World, fields: list[Field], variant: int) -> Row:
    sources, kinds = DICTIONARIES["SOURCE"], DICTIONARIES["DEAL_TYPE"]
    watching = [one_of(world.staff, variant), one_of(world.staff, variant * 7 + 3)] if variant % 3 == 1 else []
    row: Row = {
        "entityTypeId": DEAL, "opened": "Y" if variant % 4 else "N", "typeId": kinds[variant % 3][0],
        "probability": 10 * (variant % 11) if variant % 2 else None, "taxValue": 0, "previousStageId": None,
        "isNew": "N", "isRecurring": "N", "isReturnCustomer": "Y" if variant % 6 == 0 else "N",
        "isRepeatedApproach": "N", "accountCurrencyId": "RUB", "comments": comment(world, variant),
        "sourceId": sources[variant % len(sources)][0] if variant % 8 else None, "sourceDescription": "",
        "observers": sorted(set(watching)), "leadId": 102 if variant == 9 else None, "quoteId": None,
        "mycompanyId": 0, "originatorId": None, "originId": None, "additionalInfo": None, "locationId": None,
        "webformId": 0,
    }  # fmt: skip
    row |= dict.fromkeys(EMPTY_FIELDS)
    row |= {f"parentId{smart.entity_type_id}": None for smart in world.ids.smart_types[1:]}
    return row | marks(variant) | custom_values(world, fields, variant)


def _where(place: int, luck: int) -> tuple[int, str, str]:
    """Pipeline, stage and meaning; some pipelines, and one stage, are gone."""
    if place % 97 == 30:
        return GONE_PIPELINE, f"C{GONE_PIPELINE}:NEW", "P"
    category = DEAL_PIPELINES[(luck >> 13) % len(DEAL_PIPELINES)][0]
    step = (luck >> 15) % len(STAGES)
    code = "UC_GONE00" if place % 211 == 45 else STAGES[step][0]
    return category, f"C{category}:{code}" if category else code, _MEANINGS[step]


def _company(world: World, place: int, luck: int) -> int | None:
    """Nobody is 0 on some deals and null on others."""
    if place % 29 == 7:
        return deleted_among(world.ids.company_ids, luck)
    if place % 8 == 6 or not world.ids.company_ids:
        return 0 if luck % 2 else None
    return one_of(world.ids.company_ids, luck >> 4)


def _contacts(world: World, place: int, luck: int) -> list[int]:
    known = world.ids.contact_ids
    found = [one_of(known, luck >> shift) for shift in range(7, 7 + 5 * (luck % 4), 5)] if known else []
    if place % 37 == 9:
        found.append(deleted_among(known, luck))
    return list(dict.fromkeys(found))


def _parent(world: World, place: int, luck: int) -> str:
    """Some deals hang on items of the first smart process."""
    if not world.ids.smart_types:
        return ""
    parent = one_of(world.ids.smart_item_ids, luck >> 5) if place % 31 == 4 else 0
    return f'"parentId{world.ids.smart_types[0].entity_type_id}":{parent or "null"},'


def _special(world: World, fields: list[Field], number: int, place: int) -> Row | None:
    special: Row = {}
    if place == LONG_PLACE:
        special["comments"] = (LONG * (world.longest_text // len(LONG) + 1))[: world.longest_text]
    if is_template(number):
        special["isRecurring"] = "Y"
    luck = place * 7
    if world.ids.lead_ids and place % 6 == 1:
        special["leadId"] = one_of(world.ids.lead_ids, luck)
    if world.ids.quote_ids and place % 5 == 2:
        special["quoteId"] = one_of(world.ids.quote_ids, luck)
    if place % 40 == 3:
        special |= files_of(DEAL, None, number, fields)
    return special or None
