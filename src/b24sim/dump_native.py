"""Records written by a box's own methods: each with its fields, how often it was created, and notifications."""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from b24sim.company.company import Company
from b24sim.company.crm_fields import config_details
from b24sim.company.crm_structure import category_row
from b24sim.company.requisites_changes import REQUISITE_CHANGES
from b24sim.company.tasks_fields import TIMES
from b24sim.dump_crm import item_fields
from b24sim.native.ledger import Entry
from b24sim.portal import Portal
from b24sim.table import Row, shown

Show = Callable[[Company, int], Row]


def native(portal: Portal, kind: str = "") -> Row:
    """Of one kind, or of all. `made` above 1 means that the same record was written more than once."""
    entries = [entry for entry in portal.native.entries.values() if kind in {"", entry.kind}]
    shows = SHOWS | {"messages": _messages(portal.company)}
    return {
        "records": [_record(portal, entry, shows.get(entry.kind)) for entry in entries],
        "counts": dict(Counter(entry.kind for entry in entries if not entry.deleted)),
        "repeated": _repeated(portal, entries),
        "noise": portal.native.noise(),
        "outbox": [asdict(noise) for noise in portal.native.outbox],
    }


def _repeated(portal: Portal, entries: list[Entry]) -> list[Row]:
    stamps = {(entry.kind, entry.stamp): portal.native.made(entry) for entry in entries}
    return [{"kind": kind, "stamp": stamp, "made": made} for (kind, stamp), made in stamps.items() if made > 1]


def _record(portal: Portal, entry: Entry, show: Show | None) -> Row:
    fields = None
    if entry.kind == "group_members" and not entry.deleted:
        fields = _member(portal.company, entry.number)
    elif show and not entry.deleted:
        fields = show(portal.company, int(entry.number))
    return {
        "kind": entry.kind, "id": entry.number, "stamp": entry.stamp, "by": entry.by, "at": entry.at,
        "made": portal.native.made(entry), "updates": entry.updates, "deleted": entry.deleted, "fields": fields,
    }  # fmt: skip


def _member(company: Company, number: str) -> Row:
    group, _, user = number.partition(":")
    return {"GROUP_ID": group, "USER_ID": user, "ROLE": company.groups_by_id[int(group)].roles.get(int(user))}


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


def _task(company: Company, number: int) -> Row:
    row = company.tasks.table.row(number)
    files = _attached(company, row["UF_TASK_WEBDAV_FILES"])
    times = {name: company.moments.iso(row[name]) for name in TIMES if row[name] is not None}
    return shown(row) | times | {"TAGS": row["_TAGS"], "files": files}


def _below_task(name: str, when: str) -> Show:
    def show(company: Company, number: int) -> Row:
        rows = getattr(company.tasks, name)
        task, row = next((task, row) for task, items in rows.items() for row in items if row["ID"] == number)
        at = None if row[when] is None else company.moments.iso(row[when])
        files = _attached(company, row.get("ATTACHED"))
        return {**row, "TASK_ID": task, when: at, "files": files}

    return show


def _chat(company: Company, number: int) -> Row:
    chat = company.chats[number]
    return {
        "id": chat.id, "type": chat.type, "name": chat.name, "description": chat.description, "owner": chat.owner,
        "users": chat.members, "managers": chat.managers, "entity_type": chat.entity_type, "entity_id": chat.entity_id,
        "date_create": company.moments.iso(chat.started), "messages": len(chat), "sees_from": chat.sees_from,
    }  # fmt: skip


def _post(company: Company, number: int) -> Row:
    row = company.feed_rows.posts.row(number)
    return shown(row) | {"DEST": row["_DEST"], "files": _attached(company, row.get("FILES"))}


def _comment(company: Company, number: int) -> Row:
    row = company.feed_rows.comments.row(number)
    files = [_content(company, file) for file in row["attach"]]
    return shown(row) | {"post_id": row["_post_id"], "author_id": row["_author_id"], "files": files}


def _attached(company: Company, numbers: Any) -> list[Row]:
    """What the files behind attachments hold."""
    found = (company.attachments.find(number) for number in numbers or [])
    return [_content(company, attachment.object_id) for attachment in found if attachment]


def _content(company: Company, number: int) -> Row:
    file = company.drive_file(number)
    if file is None:
        return {"id": number}
    digest = hashlib.sha256(file.content()).hexdigest()
    return {"id": number, "name": file.name, "size": file.size, "sha256": digest}


def _file(company: Company, number: int) -> Row:
    uploaded = company.drive.files[number]
    return _content(company, number) | {
        "folder": uploaded.folder, "by": uploaded.by, "at": company.moments.iso(uploaded.at), "chat": uploaded.chat,
    }  # fmt: skip


def _messages(company: Company) -> Show:
    """Looked up once for all of them: there are many."""
    rows = {row["id"]: row for chat in company.chats.values() for row in chat.added}
    return lambda _company, number: rows.get(number, {})


def _requisites(stream: str) -> Show:
    return lambda company, number: company.requisites.tables[stream].row(number)


SHOWS: dict[str, Show] = {
    **{stream.removeprefix("crm_"): _requisites(stream) for stream, op in REQUISITE_CHANGES if op == "add"},
    "users": _table("users"),
    "departments": _table("departments"),
    "groups": _table("groups"),
    "items": _item,
    "statuses": _status,
    "categories": _category,
    "fields": _field,
    "types": _type,
    "tasks": _task,
    "checklists": _below_task("own_checklists", "TOGGLED_DATE"),
    "task_comments": _below_task("own_comments", "POST_DATE"),
    "posts": _post,
    "comments": _comment,
    "chats": _chat,
    "files": _file,
    "templates": lambda company, number: company.workflows.templates.row(number),
    "task_chats": _chat,
    "group_chats": _chat,
    "private_chats": _chat,
}
