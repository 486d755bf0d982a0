"""How CRM records appear, change and go while a portal is read."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from b24sim.company.activities_changes import forget_owner
from b24sim.company.crm import Items, files_in
from b24sim.company.crm_files import crm_file
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, QUOTE, SMART_INVOICE
from b24sim.errors import RestError, known_number
from b24sim.table import Row

if TYPE_CHECKING:
    from b24sim.company.company import Company

STREAMS = {"crm_companies": COMPANY, "crm_contacts": CONTACT, "crm_deals": DEAL, "crm_leads": LEAD, "crm_quotes": QUOTE,
           "crm_invoices": SMART_INVOICE, "crm_spitems": 0}  # fmt: skip
Change = Callable[["Company", float, dict[str, Any]], list[int]]


def add_item(company: "Company", now: float, wish: dict[str, Any]) -> list[int]:
    items = _items(company, wish)
    number = int(wish.get("id") or items.next_id())
    moment = company.moments.iso(now)
    row = items.ordinary(number) | dict.fromkeys(("createdTime", "updatedTime", "lastActivityTime"), moment)
    if "movedTime" in row:
        row["movedTime"] = moment
    items.put(number, row | {"_productRows": []} | _fields(wish))
    return [number]


def update_item(company: "Company", now: float, wish: dict[str, Any]) -> list[int]:
    """`"undated": true` is for what is written past the record: a binding made in the card of the other side, product
    rows of the same sum by the old way, links of a deleted record (kernel 25.100)."""
    items, number = _known(company, wish)
    kept: Row = {"_productRows": company.crm.product_rows(items.entity_type_id, number)}
    dated = {} if wish.get("undated") else {"updatedTime": company.moments.iso(now)}
    items.put(number, items.row(number) | kept | dated | _fields(wish))
    return [number]


def delete_item(company: "Company", _now: float, wish: dict[str, Any]) -> list[int]:
    """`"links": false` leaves what names it to `unlink`."""
    items, number = _known(company, wish)
    rows = company.crm.product_rows(items.entity_type_id, number)
    items.recycled[number] = items.row(number) | {"_productRows": rows}
    items.remove(number)
    company.requisites.forget_record(items.entity_type_id, number)
    forget_owner(company, (items.entity_type_id, number))
    if wish.get("links", True):
        unlink(company, items.entity_type_id, {number})
    return [number]


def restore_item(company: "Company", _now: float, wish: dict[str, Any]) -> list[int]:
    """From the recycle bin: under a new id, with the dates it had (kernel 25.100)."""
    items, old = _items(company, wish), int(str(wish.get("id", 0)).rpartition(":")[2])
    if old not in items.recycled:
        raise RestError("ERROR_NOT_FOUND", f"no deleted {wish.get('stream')} {old}", 404)
    row, number = items.recycled.pop(old), items.next_id()
    for file in files_in(row):
        company.crm.own_files.setdefault(file, crm_file(company.crm.world.seed, file))
    rows = [one | {"ownerId": number} for one in row["_productRows"]]
    items.put(number, row | {"id": number, "_productRows": rows})
    return [number]


LINKS = {COMPANY: ("companyId", "companyIds"), CONTACT: ("contactId", "contactIds")}


def unlink(
    company: "Company", entity_type_id: int, gone: set[int], heirs: Mapping[int, int] | None = None
) -> list[tuple[int, int]]:
    """Links to deleted companies and contacts are taken out of all records, and those to merged ones name their heirs:
    in the tables and without a date (kernel 25.100). Answers the types and ids of those records."""
    new = heirs or {}
    one, several = LINKS.get(entity_type_id, ("", ""))
    touched: list[tuple[int, int]] = []
    for kind, items in company.crm.items.items() if one else ():
        for number in list(items):
            row = items.row(number)
            if row.get(one) in gone or not gone.isdisjoint(row.get(several) or ()):
                named = [new.get(other, other) for other in row.get(several) or () if other not in gone or other in new]
                left, own = list(dict.fromkeys(named)), row.get(one)
                first = own if own not in gone else new[own] if own in new else left[0] if left else 0
                fields = {one: first} | ({several: left} if several in row else {})
                kept: Row = {"_productRows": company.crm.product_rows(kind, number)}
                items.put(number, row | kept | fields)
                touched.append((kind, number))
    return touched


def _fields(wish: dict[str, Any]) -> Row:
    """Product rows are kept apart: no method shows them with their record."""
    return {
        ("_productRows" if name == "productRows" else name): value for name, value in wish.get("fields", {}).items()
    }


def _known(company: "Company", wish: dict[str, Any]) -> tuple[Items, int]:
    items = _items(company, wish)
    return items, known_number(items, wish)


def _items(company: "Company", wish: dict[str, Any]) -> Items:
    """An item of a smart process has `"type": 156`, or `"id": "156:3"`; otherwise it is the first one."""
    number = STREAMS[str(wish["stream"])]
    if not number:
        named = wish.get("type") or str(wish.get("id", "")).rpartition(":")[0]
        number = int(named or next((smart.entity_type_id for smart in company.crm.smart_types), 0))
    items = company.crm.items.get(number)
    if items is None:
        raise RestError("ERROR_NOT_FOUND", f"no type {number}", 404)
    return items


CRM_CHANGES: dict[tuple[str, str], Change] = {
    (stream, op): change
    for stream in STREAMS
    for op, change in (
        ("add", add_item),
        ("update", update_item),
        ("delete", delete_item),
        ("restore", restore_item),
    )
}
