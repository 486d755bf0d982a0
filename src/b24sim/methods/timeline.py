"""crm.timeline.*: comments and entries of one CRM record at a time, and the note beside one of them."""

import re
from collections.abc import Callable

from b24sim.company.activities import Owner
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, QUOTE, SMART_INVOICE
from b24sim.company.timeline import SUSPENDED
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import Parts, Rows, encode, encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row, Table, shown

WORDS = {
    "lead": LEAD,
    "deal": DEAL,
    "contact": CONTACT,
    "company": COMPANY,
    "quote": QUOTE,
    "smart_invoice": SMART_INVOICE,
}
WORDS |= {"order": 14}
NAMES = {number: word for word, number in WORDS.items()}
DYNAMIC = "dynamic_"
LOG_PAGE = 10
HISTORY, ACTIVITY = 1, 2


def comment_list(context: Context, params: Params) -> Result:
    """Other conditions are ignored: there is no filter by ID or time."""
    company = context.portal.company
    asked = params["FILTER"] if isinstance(params.get("FILTER"), dict) else {}
    owner = _owner(asked.get("ENTITY_TYPE"), asked.get("ENTITY_ID"))
    _demand(context, owner)
    ids = _ordered(company.timeline.comments, company.timeline.comments_of(owner), params.get("ORDER"))
    return page_by_offset(ids, whole(params.get("START", 0)), lambda number: encode(_comment(context, number, owner)))


def comment_get(context: Context, params: Params) -> Result:
    number, timeline = whole(params.get("ID")), context.portal.company.timeline
    if number <= 0:
        raise RestError("", "ID is not defined or invalid.")
    if number in timeline.comments:
        return Result(encode(_comment(context, number, timeline.owners(number)[0])))
    owners, row = timeline.recycled.get(number, ([], None))
    if row is None or "COMMENT" not in row:
        raise RestError("", "Not found.")
    where = {"ENTITY_ID": str(owners[0][1]), "ENTITY_TYPE": _word_in_bin(owners[0][0])}
    return Result(encode({**_as_stored(row), **where}))


def binding_list(context: Context, params: Params) -> Result:
    """All records that a comment or an entry belongs to, also those in the recycle bin."""
    timeline = context.portal.company.timeline
    asked = params["FILTER"] if isinstance(params.get("FILTER"), dict) else {}
    number = whole(asked.get("OWNER_ID"))
    if number <= 0:
        raise RestError("", "OWNER_ID is not defined or invalid")
    owners = timeline.owners(number) if number in timeline.comments else []
    owners += [timeline.entry_owner(number)] if number in timeline.entries else []
    named = [(word_of(kind), record) for kind, record in owners]
    named += [(_word_in_bin(kind), record) for kind, record in timeline.recycled.get(number, ([], None))[0]]
    rows = [{"OWNER_ID": str(number), "ENTITY_ID": str(record), "ENTITY_TYPE": word} for word, record in named]
    return Result(encode_all(context.portal.in_no_order(rows)), total=len(rows))


def note_get(context: Context, params: Params) -> Result:
    """Of what is bound to the record that is named."""
    for name in ("ownerTypeId", "ownerId", "itemType", "itemId"):
        if name not in params:
            raise RestError(100, f"Could not find value for parameter {{{name}}}")
    kind, number = whole(params["itemType"]), whole(params["itemId"])
    company, owner = context.portal.company, (whole(params["ownerTypeId"]), whole(params["ownerId"]))
    of_comment = kind == HISTORY
    there = number in (company.timeline.comments if of_comment else company.activities.activities)
    owners = company.timeline.owners if of_comment else company.activities.bindings
    found = company.timeline.note(kind, number) if there and owner in owners(number) else None
    if found is None:
        raise RestError("NOT_FOUND", "Элемент не найден")
    return Result(encode(found))


def entry_list(context: Context, params: Params) -> Result:
    """Ten of them; the newest first where nothing else is asked for. Most read `offset` (kernel crm 24.1300)."""
    for name in ("entityTypeId", "entityId"):
        if name not in params:
            raise RestError(100, f"Could not find value for parameter {{{name}}}")
    timeline = context.portal.company.timeline
    owner = (whole(params["entityTypeId"]), whole(params["entityId"]))
    _demand(context, owner)
    ids = _ordered(timeline.entries, timeline.entries_of(owner), params.get("order") or {"id": "desc"})
    bare = context.portal.habits.bare_entries
    start = max(0, whole(params.get("start" if bare else "offset", 0)))
    rows = Rows(map(timeline.entries.encoded, ids[start : start + LOG_PAGE]))
    following = start + LOG_PAGE if start + LOG_PAGE < len(ids) else None
    return Result(rows if bare else Parts({"logMessages": rows}), len(ids), following)


def entry_get(context: Context, params: Params) -> Result:
    number, timeline = whole(params.get("id")), context.portal.company.timeline
    if number in timeline.entries:
        return Result(Parts({"logMessage": timeline.entries.encoded(number)}))
    _, row = timeline.recycled.get(number, ([], None))
    if row is None or "title" not in row:
        raise RestError("NOT_FOUND", "Элемент не найден")
    return Result(Parts({"logMessage": encode(row)}))


def _ordered(table: Table, ids: list[int], order: object) -> list[int]:
    """Only these fields are taken."""

    def key(name: str) -> Callable[[int], tuple[int, str]]:
        if name == "ID":
            return lambda number: (number, "")
        return lambda number: (0, str(table.row(number).get(name) or table.row(number).get(name.lower())))

    for asked, direction in reversed(list(order.items()) if isinstance(order, dict) else []):
        if (name := str(asked).upper()) in {"ID", "CREATED", "AUTHOR_ID"}:
            ids = sorted(ids, key=key(name), reverse=str(direction).upper() == "DESC")
    return list(ids)


def word_of(kind: int) -> str:
    return NAMES.get(kind) or f"{DYNAMIC}{kind}"


def _word_in_bin(kind: int) -> str:
    return f"{SUSPENDED}{word_of(kind)}"


def _owner(word: object, number: object) -> Owner:
    name = str(word or "").lower()
    kind = whole(name.removeprefix(DYNAMIC)) if name.startswith(DYNAMIC) else WORDS.get(name, 0)
    return kind, whole(number)


def _demand(context: Context, owner: Owner) -> None:
    """A record that is not there cannot be seen either."""
    crm = context.portal.company.crm
    items = crm.items.get(owner[0])
    if items is None or owner[1] not in items:
        raise RestError("", "Access denied.")


def _comment(context: Context, number: int, owner: Owner) -> Row:
    """As it is in the list of one record. Files only where there are any, in a map by the id of the Drive object."""
    row = context.portal.company.timeline.comments.row(number)
    made = {**_as_stored(row), "ENTITY_ID": str(owner[1]), "ENTITY_TYPE": word_of(owner[0])}
    files = {str(file): _file(context, file, row) for file in row["_FILES"]}
    return made | ({"FILES": files} if files else {})


def _as_stored(row: Row) -> Row:
    """The timeline writes emoji as the digits of their bytes, and these methods do not make them emoji again, unlike
    those of activities, notes and entries (kernel crm 24.1300, CommentEntry, TimelineTable)."""
    text = re.sub("[\U00010000-\U0010ffff]", lambda found: f":{found[0].encode().hex()}:", row["COMMENT"])
    return shown(row) | {"COMMENT": text}


def _file(context: Context, number: int, row: Row) -> Row:
    """The link is for a browser with a session."""
    company = context.portal.company
    file = company.drive_file(number)
    name, size = (file.name, file.size) if file else ("удалён.bin", 0)
    link = f"{company.portal_url}/disk/downloadFile/{number}/?&ncc=1&filename={number}"
    return {
        "id": number, "date": row["CREATED"], "type": "file", "name": name, "size": size,
        "authorId": int(row["AUTHOR_ID"]), "authorName": "Сотрудник", "urlDownload": link, "urlShow": link,
    }  # fmt: skip


METHODS = [
    Method("crm.timeline.comment.list", ("crm",), comment_list, upper=True),
    Method("crm.timeline.comment.get", ("crm",), comment_get, upper=True),
    Method("crm.timeline.bindings.list", ("crm",), binding_list, upper=True),
    Method("crm.timeline.note.get", ("crm",), note_get),
    Method("crm.timeline.logmessage.list", ("crm",), entry_list),
    Method("crm.timeline.logmessage.get", ("crm",), entry_get),
]
