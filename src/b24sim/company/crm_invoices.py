"""Invoices, made from their number: items of the type 31, which every portal has (crm/universal/invoice.md)."""

from collections.abc import Sequence

from b24sim.company import crm_fields as uf
from b24sim.company.crm_fields import Field
from b24sim.company.crm_files import files_of
from b24sim.company.crm_ids import DEAL, QUOTE, SMART_INVOICE
from b24sim.company.crm_products import php_number, rows_in, worth
from b24sim.company.crm_structure import CURRENCIES, DICTIONARIES, INVOICE_PIPELINE, SMART_STAGES
from b24sim.company.crm_values import VARIANTS, comment, custom_values, marks
from b24sim.company.crm_world import Made, Times, World, deleted_among, one_of, place_of
from b24sim.company.plan import DAY
from b24sim.phpjson import encode
from b24sim.table import Row


def invoice(world: World, times: Times, fields: list[Field], number: int) -> Made:
    place = place_of(number)
    luck = times.luck(place)
    created, updated = times.created(place, luck), times.updated(place, luck)
    code = SMART_STAGES[(luck >> 13) % len(SMART_STAGES)][0]
    contacts = [one_of(world.ids.contact_ids, luck >> 6)] if world.ids.contact_ids and place % 3 else []
    products, iso = rows_in(place, luck), world.moments.iso
    own: Row = {
        "id": number, "title": f"Счёт {number} «{luck % 1000}»", "xmlId": f"inv-{number}" if place % 5 == 2 else "",
        "createdTime": iso(created), "updatedTime": iso(updated), "movedTime": iso(created + (updated - created) // 2),
        "createdBy": world.author(place, luck >> 3), "updatedBy": world.author(place + 7, luck >> 11),
        "movedBy": world.author(place + 13, luck >> 17), "assignedById": one_of(world.staff, luck >> 5),
        "lastActivityBy": one_of(world.staff, luck >> 8), "lastActivityTime": iso(updated),
        "categoryId": INVOICE_PIPELINE, "stageId": f"DT{SMART_INVOICE}_{INVOICE_PIPELINE}:{code}",
        "accountNumber": f"{number}/{luck % 90}",
        "opportunity": worth(place, luck) if products else php_number(luck % 5_000_000 / 100),
        "isManualOpportunity": "N" if products else "Y", "currencyId": CURRENCIES[luck % 4][0],
        "companyId": one_of(world.ids.company_ids, luck >> 4), "contactId": contacts[0] if contacts else 0,
        "contactIds": contacts, "begindate": world.day(created), "closedate": world.day(created + 7 * DAY),
        f"parentId{DEAL}": _parent(world.ids.deal_ids, place, luck),
        f"parentId{QUOTE}": _parent(world.ids.quote_ids, place + 1, luck >> 5),
        fields[uf.TEXT].code: f"И-{number} <b>&</b>",
    }  # fmt: skip
    return Made(
        encode(own), place % VARIANTS, files_of(SMART_INVOICE, None, number, fields) if place % 20 == 4 else None
    )


def invoice_variant(world: World, fields: list[Field], variant: int) -> Row:
    sources = DICTIONARIES["SOURCE"]
    row: Row = {
        "entityTypeId": SMART_INVOICE, "opened": "Y" if variant % 4 else "N", "previousStageId": "", "taxValue": 0,
        "mycompanyId": 0, "sourceId": sources[variant % 4][0], "sourceDescription": "", "locationId": None,
        "comments": comment(world, variant + 1), "webformId": 0,
        "observers": [one_of(world.staff, variant)] if variant % 5 == 1 else [],
    }  # fmt: skip
    return row | marks(variant) | custom_values(world, fields, variant)


def _parent(ids: Sequence[int], place: int, luck: int) -> int | None:
    """One of them may be gone."""
    if place % 9 == 4:
        return deleted_among(ids, luck)
    return one_of(ids, luck >> 9) or None if place % 2 else None
