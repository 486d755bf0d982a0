"""How requisites and what belongs to them appear, change and go while a portal is read."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from b24sim.company.requisites import KEYS, LINK_FIELDS, REQUISITE, key_of
from b24sim.errors import RestError
from b24sim.table import Row, Table

if TYPE_CHECKING:
    from b24sim.company.company import Company

Change = Callable[["Company", float, dict[str, Any]], list[int]]
WITH_IDS = ("crm_requisite_presets", "crm_requisites", "crm_bank_details")


def add(company: "Company", now: float, wish: dict[str, Any]) -> list[int]:
    """Like the first one that there is, and of the same owner where no other is named."""
    table, stream = _table(company, wish), str(wish["stream"])
    number = int(wish.get("id") or table.next_id())
    row = _pattern(company, table, stream) | _dated(company, stream, "CREATED_BY_ID", "DATE_CREATE", now)
    row |= {"DATE_MODIFY": "", "MODIFY_BY_ID": None, "ID": str(number)} if stream in WITH_IDS else {}
    table.put(number, row | _texts(wish))
    if stream == "crm_requisite_presets":
        company.requisites.preset_fields[number] = []
    return [number]


def update(company: "Company", now: float, wish: dict[str, Any]) -> list[int]:
    table, stream = _table(company, wish), str(wish["stream"])
    number = find_number(table, stream, wish)
    dated = _dated(company, stream, "MODIFY_BY_ID", "DATE_MODIFY", now)
    table.put(number, table.row(number) | dated | _texts(wish))
    return [number]


def delete(company: "Company", _now: float, wish: dict[str, Any]) -> list[int]:
    table, stream = _table(company, wish), str(wish["stream"])
    number = find_number(table, stream, wish)
    if stream == "crm_requisites":
        company.requisites.forget_requisite(number)
    elif stream == "crm_bank_details":
        company.requisites.forget_bank_detail(number)
    else:
        table.remove(number)
    return [number]


def find_number(table: Table, stream: str, wish: dict[str, Any]) -> int:
    """By the id, or by `8:12:1` and `2:7` where the portal has none."""
    wanted = str(wish.get("id", ""))
    if stream not in KEYS:
        number = int(wanted or 0) if int(wanted or 0) in table else 0
    else:
        number = next((one for one in table if key_of(stream, table.row(one)) == wanted), 0)
    if not number:
        raise RestError("ERROR_NOT_FOUND", f"no {stream} {wanted}", 404)
    return number


def _table(company: "Company", wish: dict[str, Any]) -> Table:
    return company.requisites.tables[str(wish["stream"])]


def _pattern(company: "Company", table: Table, stream: str) -> Row:
    """A template that is used has to be one that there is; requisites are nobody's twins."""
    row = dict(table.row(table.ids[0])) if table.ids else {}
    if stream == "crm_requisite_links":
        row |= dict.fromkeys(LINK_FIELDS, "0")
    if stream == "crm_addresses" and company.requisites.requisites.ids:
        row |= {"ENTITY_TYPE_ID": str(REQUISITE), "ENTITY_ID": str(company.requisites.requisites.ids[-1])}
    return row | ({"XML_ID": None} if stream in WITH_IDS else {})


def _dated(company: "Company", stream: str, who: str, when: str, now: float) -> Row:
    return {who: "1", when: company.moments.iso(now)} if stream in WITH_IDS else {}


def _texts(wish: dict[str, Any]) -> Row:
    fields = wish.get("fields", {}).items()
    return {name: value if value is None else str(value) for name, value in fields}


REQUISITE_CHANGES: dict[tuple[str, str], Change] = {
    (stream, op): change
    for stream in (*WITH_IDS, *KEYS)
    for op, change in (("add", add), ("update", update), ("delete", delete))
}
