"""Daily changes of requisites and their bank details and addresses."""

from b24sim.company.crm_changes import STREAMS as ITEMS
from b24sim.company.crm_ids import COMPANY, DEAL
from b24sim.company.mutations import CHANGED, CREATED, CREATIONS, DELETED, DELETIONS, Day
from b24sim.company.requisites import LINK_FIELDS, PRIMARY, REQUISITE, key_of
from b24sim.company.requisites_changes import add, delete, update
from b24sim.table import Row

PLACES = range(PRIMARY, 12)  # types of addresses
NAMES = {"crm_addresses": "CITY", "crm_requisite_links": "REQUISITE_ID"}
DATED = ("crm_requisites", "crm_bank_details")


def begin_day(day: Day) -> None:
    """What went before was no work of this day."""
    day.company.requisites.gone.clear()
    day.company.requisites.unlinked.clear()


def change_requisites(day: Day) -> None:
    """The last of a day: by now clients and deals are gone, and what belonged to them."""
    requisites = day.company.requisites
    if not requisites.count:
        return
    for stream, table in requisites.tables.items():
        for number in day.some(table.ids):
            _change(day, stream, number)
        for _ in range(day.amount(len(table), CREATIONS)):
            fields = _new(day, stream)
            if fields is not None:
                (number,) = add(day.company, day.now(), {"stream": stream, "fields": fields})
                day.report.note(stream, CREATED, key_of(stream, table.row(number)))
        for number in day.some(_deletable(day, stream), DELETIONS):
            row = table.row(number)
            delete(day.company, day.now(), {"stream": stream, "id": key_of(stream, row)})
            if stream != "crm_requisites":
                day.report.note(stream, DELETED, key_of(stream, row))
    for stream, key in requisites.gone:
        day.report.note(stream, DELETED, key)
    there = {key_of("crm_requisite_links", requisites.links.row(one)) for one in requisites.links}
    for key in requisites.unlinked:
        if key in there:
            day.report.note("crm_requisite_links", CHANGED, key, "undated_stream")


def _change(day: Day, stream: str, number: int) -> None:
    table = day.company.requisites.tables[stream]
    row = table.row(number)
    chosen = row.get("REQUISITE_ID") != "0"
    fields: Row = {NAMES.get(stream, "NAME"): f"Название {day.word()}"}
    if stream == "crm_requisite_links":
        fields = {"REQUISITE_ID": "0", "BANK_DETAIL_ID": "0"} if chosen else {}
    if fields:
        update(day.company, day.now(), {"stream": stream, "id": key_of(stream, row), "fields": fields})
        day.report.note(stream, CHANGED, key_of(stream, row), "" if stream in DATED else "undated_stream")


def _new(day: Day, stream: str) -> Row | None:
    """Of owners that are there; None where none is left without."""
    company = day.company
    requisites, crm = company.requisites, company.crm
    fields: Row = {"NAME": f"Название {day.word()}"} if stream not in NAMES else {}
    if stream == "crm_requisites":
        clients, presets = crm.items[COMPANY].ids, requisites.presets.ids
        if not clients or not presets:
            return None
        owner = {"ENTITY_TYPE_ID": COMPANY, "ENTITY_ID": day.one(clients)}
        return fields | owner | {"PRESET_ID": day.one(presets)}
    if stream in ("crm_bank_details", "crm_addresses") and not requisites.requisites.ids:
        return None
    if stream == "crm_bank_details":
        return fields | {"ENTITY_ID": day.one(requisites.requisites.ids)}
    if stream == "crm_addresses":
        return _new_address(day)
    if stream == "crm_requisite_links":
        taken = {requisites.links.row(one)["ENTITY_ID"] for one in requisites.links}
        deals = crm.items[ITEMS["crm_deals"]]
        free = [one for one in deals if str(one) not in taken and deals.row(one).get("isRecurring") != "Y"]
        owner = {"ENTITY_TYPE_ID": DEAL, "ENTITY_ID": day.one(free)} if free else {}
        return {**owner, **dict.fromkeys(LINK_FIELDS, 0)} if owner else None
    return fields


def _new_address(day: Day) -> Row | None:
    requisites = day.company.requisites
    number = day.one(requisites.requisites.ids)
    owner = requisites.requisites.row(number)
    rows = map(requisites.addresses.row, requisites.addresses)
    taken = {row["TYPE_ID"] for row in rows if row["ENTITY_ID"] == str(number)}
    free = [kind for kind in PLACES if str(kind) not in taken]
    place = {"TYPE_ID": free[0], "ENTITY_TYPE_ID": REQUISITE, "ENTITY_ID": number} if free else {}
    anchor = {"ANCHOR_TYPE_ID": owner["ENTITY_TYPE_ID"], "ANCHOR_ID": owner["ENTITY_ID"]}
    return {**place, **anchor} if place else None


def _deletable(day: Day, stream: str) -> list[int]:
    """A template that is used stays."""
    requisites = day.company.requisites
    if stream != "crm_requisite_presets":
        return list(requisites.tables[stream].ids)
    used = {requisites.requisites.row(one)["PRESET_ID"] for one in requisites.requisites}
    return [one for one in requisites.presets if str(one) not in used]
