"""What was written through a box's own methods: every record with its fields, how often it was made, and the noise."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from b24sim.company.company import Company
from b24sim.company.crm_fields import config_details
from b24sim.company.crm_structure import category_row
from b24sim.dump_crm import item_fields
from b24sim.native.ledger import Entry
from b24sim.portal import Portal
from b24sim.table import Row, shown

Show = Callable[[Company, int], Row]


def native(portal: Portal, kind: str = "") -> Row:
    """Of one kind, or of all. `made` above 1 means that the same record was written more than once."""
    entries = [entry for entry in portal.native.entries.values() if kind in {"", entry.kind}]
    return {
        "records": [_record(portal, entry) for entry in entries],
        "noise": portal.native.noise(),
        "outbox": [asdict(noise) for noise in portal.native.outbox],
    }


def _record(portal: Portal, entry: Entry) -> Row:
    show = SHOWS.get(entry.kind)
    fields = show(portal.company, int(entry.number)) if show and not entry.deleted else None
    return {
        "kind": entry.kind, "id": entry.number, "stamp": entry.stamp, "by": entry.by, "at": entry.at,
        "made": portal.native.made(entry), "updates": entry.updates, "deleted": entry.deleted, "fields": fields,
    }  # fmt: skip


def _table(name: str) -> Show:
    def show(company: Company, number: int) -> Row:
        return shown(getattr(company, name).row(number))

    return show


def _item(company: Company, number: int) -> Row:
    return next(
        (item_fields(company.crm, items, number) for items in company.crm.items.values() if number in items), {}
    )


def _status(company: Company, number: int) -> Row:
    return next((row for row in company.crm.statuses if row["ID"] == str(number)), {})


def _category(company: Company, number: int) -> Row:
    return next((category_row(one) for one in company.crm.categories if one.id == number), {})


def _field(company: Company, number: int) -> Row:
    rows: list[dict[str, Any]] = [*company.user_fields, *company.tasks.user_fields]
    for row in rows:
        if row["ID"] == str(number):
            return shown(row)
    fields = (field for items in company.crm.items.values() for field in items.fields)
    return next((config_details(field) for field in fields if field.id == number), {})


def _type(company: Company, number: int) -> Row:
    smart = next(one for one in company.crm.smart_types if one.id == number)
    return company.crm.types.row(number) | company.crm.relations(smart)


SHOWS: dict[str, Show] = {
    "users": _table("users"),
    "departments": _table("departments"),
    "groups": _table("groups"),
    "items": _item,
    "statuses": _status,
    "categories": _category,
    "fields": _field,
    "types": _type,
}
