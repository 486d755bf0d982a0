"""A box as its own REST methods show it: what it had before, and what was imported since."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from b24sim.company.chats import TYPES, Chat
from b24sim.company.company import Company
from b24sim.company.groups import Group
from b24sim.imports import Imports
from b24sim.native.ledger import Ledger
from b24sim.table import Row

USER_FIELDS = ("NAME", "LAST_NAME", "EMAIL", "ACTIVE", "UF_DEPARTMENT")
DATES = ("DATE_REGISTER", "PERSONAL_BIRTHDAY", "UF_EMPLOYMENT_DATE")
FLAGS = ("ACTIVE", "VISIBLE", "OPENED", "CLOSED", "PROJECT")
KINDS = {name: kind for kind, name in TYPES.items()} | {"sonetGroup": "C"}


def furniture(company: Company) -> dict[str, Any]:
    """The records that imports find on the box when they come."""
    if not company.plan.box:
        return {}
    users = {str(number): _as_imported(company.users.row(number)) for number in company.users}
    root = company.departments.row(company.people.departments[0])
    fields = {"NAME": root["NAME"], "PARENT": None, "SORT": root["SORT"]}
    return {"existing_users": users, "root_department": {root["ID"]: fields}}


def refresh(company: Company, imports: Imports, native: Ledger) -> None:
    """Puts imported records into the tables of the read methods, next to natively written ones."""
    _departments(company, imports.rows("departments"))
    _users(company, imports.rows("users"), native.alive("users"))
    _groups(company, imports.rows("groups"), imports.rows("group_members"), native.alive("groups"))
    _chats(company, imports.rows("chats"), imports.rows("chat_messages"), _chats_written(native))
    written = native.alive("fields")
    company.user_fields = [row for row in company.user_fields if int(row["ID"]) in written] + [
        _user_field(place, field) for place, field in enumerate(imports.custom_fields("users").values())
    ]


def _chats_written(native: Ledger) -> set[int]:
    kinds = ("chats", "task_chats", "group_chats", "private_chats")
    return {number for kind in kinds for number in native.alive(kind)}


def _as_imported(row: Row) -> Row:
    fields = {name: row[name] for name in USER_FIELDS if name in row}
    return fields | {"UF_DEPARTMENT": [str(number) for number in row["UF_DEPARTMENT"]]}


def _departments(company: Company, rows: Mapping[str, Any]) -> None:
    for number, fields in rows.items():
        row: Row = {"ID": number, "NAME": fields.get("NAME", ""), "SORT": fields.get("SORT") or 500}
        row |= {name: str(fields[name]) for name in ("PARENT", "UF_HEAD") if fields.get(name)}
        company.departments.put(int(number), row)


def _users(company: Company, rows: Mapping[str, Any], written: set[int]) -> None:
    own = set(company.people.ids) | written
    for gone in [user for user in company.users if user not in own and str(user) not in rows]:
        company.users.remove(gone)
    for number, fields in rows.items():
        if int(number) not in own:
            company.users.put(int(number), _user(company, number, fields))


def _user(company: Company, number: str, fields: Mapping[str, Any]) -> Row:
    row: Row = {
        "ID": number,
        "ACTIVE": True,
        "NAME": "",
        "LAST_NAME": "",
        "EMAIL": "",
        "IS_ONLINE": "N",
        "TIMESTAMP_X": {},
    }
    row |= {name: value for name, value in fields.items() if value is not None}
    row["UF_DEPARTMENT"] = [int(department) for department in fields.get("UF_DEPARTMENT") or []]
    row.setdefault("USER_TYPE", "employee")
    for name in DATES:
        if row.get(name):
            row[name] = company.moments.day(date.fromisoformat(str(row[name])[:10]))
    if row.get("PERSONAL_PHOTO"):
        row["PERSONAL_PHOTO"] = f"{company.portal_url}/upload/files/{row['PERSONAL_PHOTO']}/photo.png"
    return row


def _groups(company: Company, rows: Mapping[str, Any], members: Mapping[str, Any], written: set[int]) -> None:
    for gone in set(company.groups.ids) - {int(number) for number in rows} - written:
        company.groups.remove(gone)
        company.groups_by_id.pop(gone, None)
    for number, fields in rows.items():
        owner = int(fields.get("OWNER_ID") or 1)
        company.groups_by_id[int(number)] = Group(int(number), 0, owner, str(fields.get("TYPE") or "group"), {})
        company.groups.put(int(number), _group(company, number, fields))
    for fields in members.values():
        group = company.groups_by_id.get(int(fields["GROUP_ID"]))
        if group:
            group.roles[int(fields["USER_ID"])] = str(fields["ROLE"])


def _group(company: Company, number: str, fields: Mapping[str, Any]) -> Row:
    row: Row = {
        "ID": number,
        "SITE_ID": "s1",
        "DESCRIPTION": None,
        "KEYWORDS": "",
        "IS_EXTRANET": "N",
        "SUBJECT_NAME": "",
    }
    row |= {
        name: value for name, value in fields.items() if name != "TYPE" and not name.startswith(("SCRUM", "PROJECT_"))
    }
    row |= {name: "Y" if fields.get(name, name in {"ACTIVE", "VISIBLE"}) in (True, "Y") else "N" for name in FLAGS}
    for name in ("DATE_CREATE", "DATE_UPDATE", "DATE_ACTIVITY"):
        row[name] = _local(company, fields.get(name)) or company.moments.iso(0)
    row["_TYPE"] = fields.get("TYPE") or "group"
    return row


def _chats(company: Company, rows: Mapping[str, Any], messages: Mapping[str, Any], written: set[int]) -> None:
    kept = {number: chat for number, chat in company.chats.items() if number in written}
    company.chats = kept | {int(number): _chat(company, number, fields) for number, fields in rows.items()}
    for number, fields in sorted(messages.items(), key=lambda entry: int(entry[0])):
        chat = company.chats.get(int(fields["chat_id"]))
        if chat is not None:
            chat.added.append(_message(company, number, fields))
    for chat in company.chats.values():
        group = company.groups_by_id.get(int(chat.entity_id or 0)) if chat.entity_type == "SONET_GROUP" else None
        if group:
            group.chat = chat.id
    company.chats_version += 1


def _chat(company: Company, number: str, fields: Mapping[str, Any]) -> Chat:
    members = [int(user) for user in fields.get("users") or []]
    owner = int(fields.get("owner") or (members[0] if members else 0))
    chat = Chat(int(number), 0, KINDS.get(str(fields.get("type")), "C"), str(fields.get("name") or ""), owner, members)
    chat.managers = [int(user) for user in fields.get("manager_list") or []]
    chat.description = str(fields.get("description") or "")
    chat.entity_type, chat.entity_id = str(fields.get("entity_type") or ""), str(fields.get("entity_id") or "")
    chat.started = company.moments.parse(fields.get("date_create")) or 0.0
    return chat


def _message(company: Company, number: str, fields: Mapping[str, Any]) -> Row:
    params = dict(fields.get("params") or {})
    if fields.get("files"):
        params["FILE_ID"] = [int(file) for file in fields["files"]]
    return {
        "id": int(number), "chat_id": int(fields["chat_id"]), "author_id": int(fields.get("author_id") or 0),
        "date": _local(company, fields.get("date")), "text": fields.get("text") or "", "unread": False, "uuid": None,
        "replaces": [], "params": params or [], "disappearing_date": None,
    }  # fmt: skip


def _local(company: Company, moment: Any) -> str | None:
    unix = company.moments.parse(moment) if moment else None
    return None if unix is None else company.moments.iso(unix)


def _user_field(place: int, field: Any) -> Row:
    row: Row = {
        "ID": str(place + 1), "ENTITY_ID": "USER", "FIELD_NAME": field.code, "USER_TYPE_ID": field.type, "XML_ID": None,
        "SORT": "100", "MULTIPLE": "Y" if field.multiple else "N", "MANDATORY": "N", "SHOW_FILTER": "E",
        "SHOW_IN_LIST": "Y",
        "EDIT_IN_LIST": "Y", "IS_SEARCHABLE": "N", "SETTINGS": [], "_LABELS": {},
    }  # fmt: skip
    return row
