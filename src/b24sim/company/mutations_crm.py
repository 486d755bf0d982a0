"""Daily changes of the CRM: types, pipelines, stages, fields and records."""

from dataclasses import replace
from typing import Any

from b24sim.company.crm import Items
from b24sim.company.crm_changes import STREAMS, add_item, delete_item, restore_item, unlink, update_item
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, QUOTE, SMART_INVOICE
from b24sim.company.crm_structure import Category, dictionary_of
from b24sim.company.mutations import CHANGED, CREATED, CREATIONS, DELETED, DELETIONS, RESTORED, Day
from b24sim.company.plan import DAY
from b24sim.table import Row

NEW_PIPELINE, NEW_STATUS = "Новая воронка", "UC_NEW"
FIRST_STAGES = (("NEW", "Начало", None), ("WON", "Успех", "S"), ("LOSE", "Провал", "F"))
STREAM_OF = {number: stream for stream, number in STREAMS.items() if number}
IMPORTED_AGO = 400 * DAY
MERGED = 0.4  # of the days on which a company or a contact goes
COMMIT_S = 60  # a request takes no longer (documented)
OPTIONS_A_DAY = 10  # times the share of changes: how likely an option of a list is deleted


def change_structure(day: Day) -> None:
    crm = day.company.crm
    for number in day.some(crm.types.ids):
        moved = {"title": f"Процесс {day.word()}", "updatedTime": day.company.moments.iso(day.now())}
        crm.types.put(number, crm.types.row(number) | moved)
        day.report.note("crm_types", CHANGED, number)
    _change_pipelines(day)
    _change_stages(day)
    if day.wants("option_deleted") and day.chance.random() < min(0.25, day.share * OPTIONS_A_DAY):
        _drop_option(day)


def _change_pipelines(day: Day) -> None:
    known = day.company.crm.categories
    for place in day.some(range(len(known))):
        stem = NEW_PIPELINE if known[place].name.startswith(NEW_PIPELINE) else "Воронка"
        known[place] = replace(known[place], name=f"{stem} {day.word()}")
        day.report.note("crm_categories", CHANGED, _pipeline(known[place]), "undated_stream")
    for _ in range(day.amount(len(known), CREATIONS)):
        number = 1 + max(one.id for one in known if one.entity_type_id == DEAL)
        made = Category(number, DEAL, f"{NEW_PIPELINE} {day.word()}", 900, False)
        known.append(made)
        day.report.note("crm_categories", CREATED, _pipeline(made), "undated_stream")
        entity, prefix = dictionary_of(made)
        for code, name, meaning in FIRST_STAGES:
            _add_status(day, entity, prefix + code, name, {"CATEGORY_ID": str(number), "SEMANTICS": meaning})
    # Nobody has put a deal into the newest of these yet, and its number is not given again as long as it is there.
    empty = [one for one in known[:-1] if one.name.startswith(NEW_PIPELINE)]
    for one in day.some(empty, CREATIONS):
        known.remove(one)
        day.report.note("crm_categories", DELETED, _pipeline(one))
        _remove_statuses(day, [row for row in day.company.crm.statuses if row["ENTITY_ID"] == dictionary_of(one)[0]])


def _change_stages(day: Day) -> None:
    statuses = day.company.crm.statuses
    for place in day.some(range(len(statuses))):
        fields = day.one(({"NAME": f"Стадия {day.word()}"}, {"SORT": str(day.chance.randrange(10, 990))}))
        if statuses[place] != statuses[place] | fields:
            statuses[place] = statuses[place] | fields
            day.report.note("crm_stages", CHANGED, _status(statuses[place]), "undated_stream")
    for _ in range(day.amount(len(statuses), CREATIONS)):
        _add_status(day, "SOURCE", f"{NEW_STATUS}{day.word().upper()}", f"Источник {day.word()}", {})
    own = [row for row in statuses if row["STATUS_ID"].startswith(NEW_STATUS)]
    _remove_statuses(day, day.some(own, DELETIONS))


def _add_status(day: Day, entity: str, code: str, name: str, more: Row) -> None:
    statuses = day.company.crm.statuses
    row: Row = {
        "ID": str(2 + max(int(one["ID"]) for one in statuses)), "ENTITY_ID": entity, "STATUS_ID": code, "NAME": name,
        "NAME_INIT": "", "SORT": "500", "SYSTEM": "N", "CATEGORY_ID": None, "COLOR": None, "SEMANTICS": None,
    }  # fmt: skip
    statuses.append(row | more)
    day.report.note("crm_stages", CREATED, _status(row), "undated_stream")


def _remove_statuses(day: Day, rows: list[Row]) -> None:
    for row in rows:
        day.company.crm.statuses.remove(row)
        day.report.note("crm_stages", DELETED, _status(row))


def _pipeline(category: Category) -> str:
    return f"{category.entity_type_id}:{category.id}"


def _status(row: Row) -> str:
    return f"{row['ENTITY_ID']}:{row['STATUS_ID']}"


def _drop_option(day: Day) -> None:
    lists = [(items, field) for items in day.company.crm.items.values() for field in items.fields if field.options[1:]]
    if lists:
        items, field = day.one(lists)
        day.report.note("crm_fields", CHANGED, f"{field.entity}:{field.code}", "undated_stream")
        for number in items.drop_option(field, day.one(field.options)[0]):
            _note(day, items, CHANGED, number, "option_deleted")


# ---------------------------------------------------------------- records


def change_items(day: Day) -> None:
    """Companies and contacts before what names them; their deletions are worked into all others at the end."""
    gone: dict[int, set[int]] = {}
    crm = day.company.crm
    later = [kind for kind in (LEAD, QUOTE, SMART_INVOICE) if kind in crm.items]
    for kind in (COMPANY, CONTACT, DEAL, *(number for number in crm.items if number not in STREAM_OF), *later):
        items = crm.items[kind]
        for number in day.some(items.ids):
            _change(day, items, number)
        for _ in range(day.amount(len(items), CREATIONS)):
            _create(day, items)
        templates = day.company.schedules.templates() if kind == DEAL else set()
        for number in day.some([one for one in items.ids if one not in templates], DELETIONS):
            delete_item(day.company, day.now(), _wish(items, id=_key(items, number), links=False))
            _note(day, items, DELETED, number)
            gone.setdefault(kind, set()).add(number)
        kept = [number for number in sorted(items.recycled) if number not in gone.get(kind, ())]
        for number in kept[: day.amount(len(items), RESTORED)] if day.wants("restored") else ():
            (again,) = restore_item(day.company, day.now(), _wish(items, id=_key(items, number)))
            _clean(day, items, again)
            _note(day, items, CREATED, again, "restored")
    for kind, numbers in gone.items():
        heirs = _heirs(day, crm.items[kind], numbers)
        for entity_type_id, number in unlink(day.company, kind, numbers, heirs):
            _note(day, crm.items[entity_type_id], CHANGED, number, "merged" if heirs else "links_rewritten")


def _heirs(day: Day, items: Items, gone: set[int]) -> dict[int, int]:
    """The others into which these were merged; nothing where they were only deleted."""
    merged = day.wants("merged") and len(items) and day.chance.random() < MERGED
    return {number: day.one(items.ids) for number in sorted(gone)} if merged else {}


def _change(day: Day, items: Items, number: int) -> None:
    company, kind = day.company, items.entity_type_id
    row, rows = items.row(number), company.crm.product_rows(kind, number)
    kinds = ["fields", "fields", "timeline", "late_commit"]
    kinds += ["rows", "rows_same_sum"] if rows else []
    kinds += ["bound_from_company"] if kind == CONTACT else []
    kinds += ["stage"] if row.get("stageId") else []
    change = day.kind(kinds)
    now, trap = day.now(), change if change in ("rows_same_sum", "bound_from_company", "late_commit") else ""
    if change == "timeline":
        moment = company.moments.iso(now)
        update_item(company, now, _wish(items, id=_key(items, number), fields={"lastActivityTime": moment}))
        day.report.moved(_stream(items), _key(items, number), "an entry of the timeline moves updatedTime")
        return
    fields = _fields(day, items, row, rows, change)
    if fields:
        undated = trap in ("rows_same_sum", "bound_from_company")
        now -= day.chance.randrange(1, COMMIT_S) if trap == "late_commit" else 0
        update_item(company, now, _wish(items, id=_key(items, number), fields=fields, undated=undated))
        _note(day, items, CHANGED, number, trap)


def _fields(day: Day, items: Items, row: Row, rows: list[Row], change: str) -> Row:
    if change == "rows_same_sum":
        return {"productRows": [rows[0] | {"productName": f"Товар {day.word()}"}, *rows[1:]]}
    if change == "rows":
        more = rows[0]["price"]
        first = rows[0] | {"quantity": rows[0]["quantity"] + 1}
        return {"productRows": [first, *rows[1:]], "opportunity": round((row.get("opportunity") or 0) + more, 2)}
    if change == "bound_from_company":
        known, bound = day.company.crm.items[COMPANY].ids, list(row["companyIds"])
        new = day.one(known) if known else 0
        bound = [one for one in bound if one != new] if new in bound else [*bound, new]
        primary = row["companyId"] if row["companyId"] in bound else bound[0] if bound else 0
        return {"companyIds": bound, "companyId": primary}
    if change == "stage":
        return _stage(day, row)
    name = "name" if items.entity_type_id == CONTACT else "title"
    return {name: f"Название {day.word()}", "assignedById": day.one(day.company.crm.world.staff)}


def _stage(day: Day, row: Row) -> Row:
    """Another stage of the same pipeline."""
    own = next((one["ENTITY_ID"] for one in day.company.crm.statuses if one["STATUS_ID"] == row["stageId"]), None)
    stages = [one for one in day.company.crm.statuses if own and one["ENTITY_ID"] == own]
    others = [one for one in stages if one["STATUS_ID"] != row["stageId"]]
    if not others:
        return {}
    new = day.one(others)
    meaning = new["SEMANTICS"] or "P"
    fields: Row = {"stageId": new["STATUS_ID"]}
    fields |= {"movedTime": day.company.moments.iso(day.now())} if "movedTime" in row else {}
    closed = {"stageSemanticId": meaning, "closed": "N" if meaning == "P" else "Y"}
    return fields | {name: value for name, value in closed.items() if name in row}


def _create(day: Day, items: Items) -> None:
    trap = day.kind(("", "", "imported"))
    name = "name" if items.entity_type_id == CONTACT else "title"
    fields: Row = {name: f"Название {day.word()}"}
    if trap:
        then = day.company.moments.iso(day.now() - day.chance.randrange(30 * DAY, IMPORTED_AGO))
        fields |= dict.fromkeys(("createdTime", "updatedTime", "lastActivityTime"), then)
    (number,) = add_item(day.company, day.now(), _wish(items, fields=fields))
    _clean(day, items, number)
    _note(day, items, CREATED, number, trap)


def _clean(day: Day, items: Items, number: int) -> None:
    """No link is created to what is gone."""
    crm, row = day.company.crm, items.row(number)
    fields: Row = {}
    for one, several, kind in (("companyId", "companyIds", COMPANY), ("contactId", "contactIds", CONTACT)):
        left = [other for other in row.get(several) or () if other in crm.items[kind]]
        if several in row:
            fields[several] = left
        if row.get(one) and row[one] not in crm.items[kind]:
            fields[one] = left[0] if left else 0
    if any(row.get(name) != value for name, value in fields.items()):
        update_item(day.company, day.now(), _wish(items, id=_key(items, number), fields=fields, undated=True))


def _wish(items: Items, **more: Any) -> dict[str, Any]:
    return {"stream": _stream(items), "type": items.entity_type_id, **more}


def _stream(items: Items) -> str:
    return STREAM_OF.get(items.entity_type_id, "crm_spitems")


def _key(items: Items, number: int) -> str:
    return str(number) if items.entity_type_id in STREAM_OF else f"{items.entity_type_id}:{number}"


def _note(day: Day, items: Items, done: str, number: int, trap: str = "") -> None:
    day.report.note(_stream(items), done, _key(items, number), trap)
