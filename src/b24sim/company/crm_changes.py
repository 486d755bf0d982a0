"""How CRM records appear, change and go while a portal is read."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from b24sim.company.crm import Items
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL
from b24sim.errors import RestError
from b24sim.table import Row

if TYPE_CHECKING:
    from b24sim.company.company import Company

STREAMS = {"crm_companies": COMPANY, "crm_contacts": CONTACT, "crm_deals": DEAL, "crm_spitems": 0}
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
    items, number = _known(company, wish)
    kept: Row = {"_productRows": company.crm.product_rows(items.entity_type_id, number)}
    items.put(number, items.row(number) | kept | {"updatedTime": company.moments.iso(now)} | _fields(wish))
    return [number]


def delete_item(company: "Company", _now: float, wish: dict[str, Any]) -> list[int]:
    items, number = _known(company, wish)
    items.remove(number)
    return [number]


def _fields(wish: dict[str, Any]) -> Row:
    """Product rows are kept apart: no method shows them with their record."""
    return {
        ("_productRows" if name == "productRows" else name): value for name, value in wish.get("fields", {}).items()
    }


def _known(company: "Company", wish: dict[str, Any]) -> tuple[Items, int]:
    items, number = _items(company, wish), int(str(wish.get("id", 0)).rpartition(":")[2])
    if number not in items:
        raise RestError("ERROR_NOT_FOUND", f"no {wish.get('stream')} {wish.get('id')}", 404)
    return items, number


def _items(company: "Company", wish: dict[str, Any]) -> Items:
    """An item of a smart process is told by `"type": 156`, or by `"id": "156:3"`; otherwise it is the first one."""
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
    for op, change in (("add", add_item), ("update", update_item), ("delete", delete_item))
}
