"""Calls, activities and comments appear, change and go."""

from collections.abc import Callable
from typing import Any

from b24sim.company.activities import Owner
from b24sim.company.company import Company
from b24sim.errors import known_number
from b24sim.table import Row, Table


def add_activity(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """`fields` are those of crm.activity.list; `owners` are pairs, the first one is the main owner."""
    activities = company.activities
    number = int(wish.get("id") or activities.activities.next_id())
    owners = _owners(company, wish)
    at = company.moments.iso(now)
    row: Row = {
        "ID": str(number), "OWNER_ID": str(owners[0][1]), "OWNER_TYPE_ID": str(owners[0][0]), "TYPE_ID": "6",
        "PROVIDER_ID": "CRM_TODO", "PROVIDER_TYPE_ID": "TODO", "PROVIDER_GROUP_ID": None, "ASSOCIATED_ENTITY_ID": "0",
        "SUBJECT": f"Новое дело {number}", "CREATED": at, "LAST_UPDATED": at, "START_TIME": at, "END_TIME": at,
        "DEADLINE": at, "COMPLETED": "N", "STATUS": "1", "RESPONSIBLE_ID": "1", "PRIORITY": "2", "NOTIFY_TYPE": "0",
        "NOTIFY_VALUE": "0", "DESCRIPTION": "", "DESCRIPTION_TYPE": "1", "DIRECTION": "0", "LOCATION": "",
        "SETTINGS": [], "ORIGINATOR_ID": None, "ORIGIN_ID": None, "AUTHOR_ID": "1", "EDITOR_ID": "1",
        "PROVIDER_PARAMS": [], "PROVIDER_DATA": None, "RESULT_MARK": "0", "RESULT_VALUE": None, "RESULT_SUM": None,
        "RESULT_CURRENCY_ID": None, "RESULT_STATUS": "0", "RESULT_STREAM": "0", "RESULT_SOURCE_ID": None,
        "AUTOCOMPLETE_RULE": "0", "IS_INCOMING_CHANNEL": "N", "_FILES": [], "_COMMUNICATIONS": [],
    }  # fmt: skip
    activities.bind(number, owners)
    activities.activities.put(number, row | wish.get("fields", {}))
    return [number]


def update_activity(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """Every write moves LAST_UPDATED; one more owner does not."""
    table = company.activities.activities
    number = known_number(table, wish)
    if "owners" in wish:
        company.activities.bind(number, _owners(company, wish))
    if "fields" in wish:
        table.put(number, table.row(number) | {"LAST_UPDATED": company.moments.iso(now)} | wish["fields"])
    return [number]


def add_call(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    table = company.activities.calls
    number = int(wish.get("id") or table.next_id())
    pattern = table.row(table.ids[0])
    row = pattern | {
        "ID": str(number), "CALL_ID": f"externalCall.new.{number}", "CALL_START_DATE": company.moments.iso(now),
        "CRM_ACTIVITY_ID": None, "RECORD_FILE_ID": None, "CALL_RECORD_URL": None, "RECORD_DURATION": None,
    }  # fmt: skip
    table.put(number, row | wish.get("fields", {}))
    return [number]


def update_call(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """No date tells of it."""
    table = company.activities.calls
    number = known_number(table, wish)
    table.put(number, table.row(number) | wish.get("fields", {}))
    return [number]


def add_comment(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    timeline = company.timeline
    number = int(wish.get("id") or timeline.comments.next_id())
    row: Row = {
        "ID": str(number), "CREATED": company.moments.iso(now), "COMMENT": f"Новый комментарий {number}",
        "AUTHOR_ID": "1", "_FILES": [],
    }  # fmt: skip
    timeline.bind(number, _owners(company, wish))
    timeline.comments.put(number, row | wish.get("fields", {}))
    return [number]


def update_comment(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """No date tells of it."""
    table = company.timeline.comments
    number = known_number(table, wish)
    if "owners" in wish:
        company.timeline.bind(number, _owners(company, wish))
    table.put(number, table.row(number) | wish.get("fields", {}))
    return [number]


def add_entry(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    timeline = company.timeline
    number = int(wish.get("id") or timeline.entries.next_id())
    row: Row = {
        "id": number, "created": company.moments.iso(now), "authorId": 1, "title": f"Новая запись {number}",
        "text": "", "iconCode": "info",
    }  # fmt: skip
    timeline.own_entry(number, _owners(company, wish)[0])
    timeline.entries.put(number, row | wish.get("fields", {}))
    return [number]


def update_entry(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    table = company.timeline.entries
    number = known_number(table, wish)
    table.put(number, table.row(number) | wish.get("fields", {}))
    return [number]


def _delete_from(table_of: Callable[[Company], Table]) -> Callable[[Company, float, dict[str, Any]], list[int]]:
    def delete(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
        table = table_of(company)
        number = known_number(table, wish)
        table.remove(number)
        return [number]

    return delete


delete_activity = _delete_from(lambda company: company.activities.activities)
delete_call = _delete_from(lambda company: company.activities.calls)
delete_comment = _delete_from(lambda company: company.timeline.comments)
delete_entry = _delete_from(lambda company: company.timeline.entries)


def write_note(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """`id` is `c<comment>` or `a<activity>`; there is one note beside each."""
    kind, number = _stream_and_id(wish)
    at = company.moments.iso(now)
    row = {"text": "Новая заметка", "createdById": 1, "createdTime": at, "updatedById": 1, "updatedTime": at}
    row |= company.timeline.note(kind, number) or {}
    company.timeline.own_notes[kind, number] = row | {"updatedTime": at} | wish.get("fields", {})
    return [number]


def delete_note(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    kind, number = _stream_and_id(wish)
    company.timeline.own_notes[kind, number] = None
    return [number]


def forget_owner(company: Company, owner: Owner) -> None:
    """A deleted record also deletes data that belongs to no other record. The rest belongs to the others from then on,
    and no date changes (kernel crm 24.1300, CCrmActivity::DeleteByOwner and TimelineEntry::deleteByOwner)."""
    activities, timeline, forgotten = company.activities, company.timeline, company.forgotten
    for number in [one for one in activities.activities.ids if owner in activities.bindings(one)]:
        left = [one for one in activities.bindings(number) if one != owner and is_there(company, one)]
        if left:
            activities.bind(number, left)
            main = {"OWNER_TYPE_ID": str(left[0][0]), "OWNER_ID": str(left[0][1])}
            activities.activities.put(number, activities.activities.row(number) | main)
        else:
            activities.activities.remove(number)
        forgotten.append(("crm_activities", "changed" if left else "deleted", str(number)))
        _forget_note(company, "a", 2, number, gone=not left)
    for stream, number, gone in timeline.recycle(owner):
        forgotten.append((stream, "deleted" if gone else "changed", str(number)))
        if stream == "crm_comments":
            _forget_note(company, "c", 1, number, gone=gone)


def is_there(company: Company, owner: Owner) -> bool:
    crm = company.crm
    items = crm.items.get(owner[0])
    return items is not None and owner[1] in items


def _forget_note(company: Company, mark: str, kind: int, number: int, *, gone: bool) -> None:
    if gone and company.timeline.note(kind, number):
        company.timeline.own_notes[kind, number] = None
        company.forgotten.append(("crm_notes", "deleted", f"{mark}{number}"))


def _stream_and_id(wish: dict[str, Any]) -> tuple[int, int]:
    key = str(wish["id"])
    return {"c": 1, "a": 2}[key[0]], int(key[1:])


def _owners(company: Company, wish: dict[str, Any]) -> list[Owner]:
    asked = wish.get("owners") or [company.activities.owners.any(0)]
    return [(int(kind), int(number)) for kind, number in asked]


ACTIVITY_CHANGES = {
    ("crm_activities", "add"): add_activity,
    ("crm_activities", "update"): update_activity,
    ("crm_activities", "delete"): delete_activity,
    ("crm_calls", "add"): add_call,
    ("crm_calls", "update"): update_call,
    ("crm_calls", "delete"): delete_call,
    ("crm_comments", "add"): add_comment,
    ("crm_comments", "update"): update_comment,
    ("crm_comments", "delete"): delete_comment,
    ("crm_logs", "add"): add_entry,
    ("crm_logs", "update"): update_entry,
    ("crm_logs", "delete"): delete_entry,
    ("crm_notes", "add"): write_note,
    ("crm_notes", "update"): write_note,
    ("crm_notes", "delete"): delete_note,
}
