"""The truth about a CRM: every record with its product rows, and its files by name, size and digest."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from b24sim.company.crm import Crm, Items
from b24sim.company.crm_fields import config_details
from b24sim.company.crm_files import content, crm_file
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, QUOTE, SMART_INVOICE
from b24sim.company.crm_structure import category_row
from b24sim.company.crm_world import FileId
from b24sim.company.requisites import key_of
from b24sim.company.requisites_changes import REQUISITE_CHANGES
from b24sim.portal import Portal
from b24sim.table import Row, shown

Maker = Callable[[Portal, int | None], Iterator[Row]]
# Of these a portal may have none.
MORE = {"crm_leads": LEAD, "crm_quotes": QUOTE, "crm_invoices": SMART_INVOICE}


def counts(portal: Portal) -> dict[str, int]:
    crm = portal.company.crm
    return {
        "crm_types": len(crm.types),
        "crm_categories": len(crm.categories),
        "crm_stages": len(crm.statuses),
        "crm_companies": len(crm.items[COMPANY]),
        "crm_contacts": len(crm.items[CONTACT]),
        "crm_deals": len(crm.items[DEAL]),
        "crm_spitems": sum(len(crm.items[smart.entity_type_id]) for smart in crm.smart_types),
        "crm_fields": sum(len(items.fields) for items in crm.items.values()) + len(portal.company.requisites.fields),
        "crm_recurring": len(portal.company.schedules.table),
        **{name: len(table) for name, table in portal.company.requisites.tables.items()},
        **{name: len(crm.items.get(number, ())) for name, number in MORE.items()},
    }


def _types(portal: Portal, _user: int | None) -> Iterator[Row]:
    crm = portal.company.crm
    for smart in crm.smart_types:
        yield {"id": str(smart.id), "fields": crm.types.row(smart.id) | crm.relations(smart)}


def _categories(portal: Portal, _user: int | None) -> Iterator[Row]:
    for category in portal.company.crm.categories:
        yield {"id": f"{category.entity_type_id}:{category.id}", "fields": category_row(category)}


def _stages(portal: Portal, _user: int | None) -> Iterator[Row]:
    for row in portal.company.crm.statuses:
        yield {"id": f"{row['ENTITY_ID']}:{row['STATUS_ID']}", "fields": row}


def _fields(portal: Portal, _user: int | None) -> Iterator[Row]:
    kinds = [items.fields for items in portal.company.crm.items.values()]
    for field in (field for fields in (*kinds, portal.company.requisites.fields) for field in fields):
        yield {"id": f"{field.entity}:{field.code}", "fields": config_details(field)}


def _companies(portal: Portal, _user: int | None) -> Iterator[Row]:
    return _items(portal, portal.company.crm.items[COMPANY])


def _contacts(portal: Portal, _user: int | None) -> Iterator[Row]:
    return _items(portal, portal.company.crm.items[CONTACT])


def _deals(portal: Portal, _user: int | None) -> Iterator[Row]:
    return _items(portal, portal.company.crm.items[DEAL])


def _items_of_type(number: int) -> Callable[[Portal, int | None], Iterator[Row]]:
    def rows(portal: Portal, _user: int | None) -> Iterator[Row]:
        items = portal.company.crm.items.get(number)
        return iter(()) if items is None else _items(portal, items)

    return rows


def _smart_items(portal: Portal, _user: int | None) -> Iterator[Row]:
    crm = portal.company.crm
    for smart in crm.smart_types:
        for record in _items(portal, crm.items[smart.entity_type_id]):
            yield record | {"id": f"{smart.entity_type_id}:{record['id']}"}


def _items(portal: Portal, items: Items) -> Iterator[Row]:
    for number in items:
        yield {"id": str(number), "fields": item_fields(portal.company.crm, items, number)}


def item_fields(crm: Crm, items: Items, number: int) -> Row:
    fields = {name: _describe_files(crm, value) for name, value in shown(items.row(number)).items()}
    return fields | {"productRows": crm.product_rows(items.entity_type_id, number)}


def _requisites(stream: str) -> Maker:
    def rows(portal: Portal, _user: int | None) -> Iterator[Row]:
        requisites = portal.company.requisites
        table = requisites.tables[stream]
        for number in table:
            fields = shown(table.row(number))
            fields |= {"fields": requisites.preset_fields[number]} if table is requisites.presets else {}
            yield {"id": key_of(stream, fields), "fields": fields}

    return rows


def _schedules(portal: Portal, _user: int | None) -> Iterator[Row]:
    table = portal.company.schedules.table
    yield from ({"id": str(number), "fields": table.row(number)} for number in table)


def _describe_files(crm: Crm, value: Any) -> Any:
    if isinstance(value, list):
        return [_describe_files(crm, item) for item in value]
    if not isinstance(value, FileId):
        return value
    file = crm.own_files.get(value) or crm_file(crm.world.seed, value)
    return {"id": int(value), "name": file.name, "size": file.size, "sha256": hashlib.sha256(content(file)).hexdigest()}


MAKERS = {
    "crm_types": _types,
    "crm_categories": _categories,
    "crm_stages": _stages,
    "crm_companies": _companies,
    "crm_contacts": _contacts,
    "crm_deals": _deals,
    "crm_spitems": _smart_items,
    **{name: _items_of_type(number) for name, number in MORE.items()},
    "crm_fields": _fields,
    "crm_recurring": _schedules,
    **{stream: _requisites(stream) for stream, _ in REQUISITE_CHANGES},
}
