"""What the box should hold, worked out from the source's own dumps alone: nothing of b24migrate is used here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tests.chaos.portals import Portal

from b24sim.company.files import noise, picture

Json = Any
Fields = dict[str, Json]
TargetId = Callable[[str], str | None]  # idempotency key -> target id
ME = "1"  # the owner of the source's webhook


class Custom(NamedTuple):
    """A custom field, and which list value became which."""

    code: str
    kind: str
    options: Mapping[str, str]


@dataclass(slots=True)
class Source:
    """Everything the source has, as far as the webhook's owner may see it."""

    departments: dict[str, Fields]
    users: dict[str, Fields]
    groups: dict[str, Fields]
    members: dict[str, Fields]
    chats: dict[str, Fields]
    messages: dict[str, Fields]
    files: dict[str, Fields]
    custom: dict[str, Fields]
    linked: dict[str, str] = field(default_factory=dict)  # users that the box has already: source id -> target id
    placeholder: str = ""

    @property
    def unimportable(self) -> dict[str, str]:
        """Users that cannot be imported, and the code that says why."""
        found: dict[str, str] = {}
        taken: set[str] = set()
        for number, user in sorted(self.users.items(), key=lambda entry: int(entry[0])):
            email = str(user.get("EMAIL") or "").strip().lower()
            if not email or not str(user.get("NAME") or "").strip():
                found[number] = "VALIDATION"
            elif email in taken:
                found[number] = "DUPLICATE_EMAIL"
            taken |= {email} - {""}
        return found

    @property
    def task_chats(self) -> set[str]:
        return {number for number, chat in self.chats.items() if chat["message_type"] == "X"}


def source_of(cloud: Portal) -> Source:
    def rows(stream: str, keep: Callable[[Json], bool] = lambda _: True) -> dict[str, Fields]:
        return {one["id"]: one["fields"] for one in cloud.dump(stream, visible_to=ME) if keep(one)}

    chats = rows("chats", lambda one: int(ME) in one["recent_for"])
    return Source(
        rows("departments"),
        rows("users"),
        rows("groups"),
        rows("group_members", lambda one: one["active"]),
        chats,
        {key: row for key, row in rows("chat_messages").items() if key.partition(":")[0] in chats},
        rows("files"),
        rows("user_fields"),
    )


# ---------------------------------------------------------------- every record that must be there


def expected(
    source: Source, target: TargetId, options: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, Fields]]:
    """stream -> key -> fields. `options`: custom field -> source option -> target option."""
    bad, linked = source.unimportable, source.linked
    customs = [Custom(code, row["USER_TYPE_ID"], options.get(code, {})) for code, row in source.custom.items()]

    def user(number: Json) -> str | None:
        return linked.get(str(number)) or target(f"source:users:{number}")

    return {
        "departments": {
            f"source:departments:{number}": _department(row, target, user) for number, row in source.departments.items()
        },
        "users": {
            f"source:users:{number}": _user(number, row, target, user, customs)
            for number, row in source.users.items()
            if number not in bad and number not in linked
        },
        "groups": {
            f"source:groups:{number}": _group(number, row, target, user) for number, row in source.groups.items()
        },
        "group_members": {
            f"source:group_members:{number}": {
                "GROUP_ID": target(f"source:groups:{row['GROUP_ID']}"),
                "USER_ID": user(row["USER_ID"]),
                "ROLE": row["ROLE"],
            }
            for number, row in source.members.items()
        },
        "chats": {
            f"source:chat:{number}": _chat(number, row, target, user)
            for number, row in source.chats.items()
            if number not in source.task_chats
        },
        "chat_messages": {
            f"source:chat:msg:{number.partition(':')[2]}": _message(row, target, user, source)
            for number, row in source.messages.items()
            if number.partition(":")[0] not in source.task_chats
        },
        "files": dict(_files(source)),
    }


def _department(row: Fields, target: TargetId, user: Callable[[Json], str | None]) -> Fields:
    if not row.get("PARENT"):
        return {"UF_HEAD": user(row["UF_HEAD"])} if row.get("UF_HEAD") else {}  # the box keeps its root's own name
    return {
        "NAME": row["NAME"],
        "PARENT": target(f"source:departments:{row['PARENT']}"),
        "SORT": row["SORT"],
        "UF_HEAD": user(row["UF_HEAD"]) if row.get("UF_HEAD") else None,
    }


def _user(
    number: str, row: Fields, target: TargetId, user: Callable[[Json], str | None], customs: list[Custom]
) -> Fields:
    same = ("NAME", "LAST_NAME", "SECOND_NAME", "EMAIL", "ACTIVE", "XML_ID", "USER_TYPE", "TIME_ZONE")
    more = ("PERSONAL_MOBILE", "PERSONAL_CITY", "PERSONAL_STREET", "WORK_POSITION", "WORK_PHONE", "UF_PHONE_INNER")
    made: Fields = {name: row.get(name) for name in (*same, *more)}
    made["UF_DEPARTMENT"] = [target(f"source:departments:{one}") for one in row["UF_DEPARTMENT"]]
    made |= {name: day(row.get(name)) for name in ("DATE_REGISTER", "PERSONAL_BIRTHDAY", "UF_EMPLOYMENT_DATE")}
    made["PERSONAL_PHOTO"] = target(f"source:file:user:{number}") if row.get("PERSONAL_PHOTO") else None
    for custom in customs:
        value = row.get(custom.code)
        if value not in (None, "", []):
            made[custom.code] = _custom(custom, value, user)
    return made


def _custom(custom: Custom, value: Json, user: Callable[[Json], str | None]) -> Json:
    if isinstance(value, list):
        return [_custom(custom, one, user) for one in value]
    convert: dict[str, Callable[[Json], Json]] = {
        "enumeration": lambda one: custom.options.get(str(one)),
        "employee": user,
        "date": day,
        "boolean": lambda one: one == "1",
    }
    return convert.get(custom.kind, lambda one: one)(value)


def _group(number: str, row: Fields, target: TargetId, user: Callable[[Json], str | None]) -> Fields:
    made: Fields = {name: row.get(name) for name in ("NAME", "DESCRIPTION", "SUBJECT_NAME", "KEYWORDS")}
    made |= {name: row[name] == "Y" for name in ("ACTIVE", "VISIBLE", "OPENED", "CLOSED", "PROJECT")}
    made |= {name: utc(row[name]) for name in ("DATE_CREATE", "DATE_UPDATE", "DATE_ACTIVITY")}
    made["OWNER_ID"] = user(row["OWNER_ID"])
    made["IMAGE"] = target(f"source:file:group:{number}") if row.get("IMAGE") else None
    if row["SITE_ID"] == "s1":  # the newer method, which knows these, lists the groups of one site only
        hidden = row["hidden"]
        made["TYPE"] = hidden["TYPE"]
        made |= {name: utc(hidden[name]) for name in ("PROJECT_DATE_START", "PROJECT_DATE_FINISH") if hidden.get(name)}
        made["SCRUM_MASTER_ID"] = user(hidden["SCRUM_MASTER_ID"]) if hidden["SCRUM_MASTER_ID"] != "0" else None
    return made


def _chat(number: str, row: Fields, target: TargetId, user: Callable[[Json], str | None]) -> Fields:
    bound = row["entity_type"] == "SONET_GROUP"
    return {
        "type": row["type"],
        "name": row["name"],
        "description": row["description"],
        "owner": user(row["owner"]),
        "manager_list": {user(one) for one in row["manager_list"]},
        "users": {user(one) for one in row["users"]},
        "date_create": utc(row["date_create"]),
        "color": row["color"],
        "avatar": target(f"source:file:chat:{number}") if row.get("avatar") else None,
        "entity_type": row["entity_type"],
        "entity_id": target(f"source:groups:{row['entity_id']}") if bound else row["entity_id"],
    }


def _message(row: Fields, target: TargetId, user: Callable[[Json], str | None], source: Source) -> Fields:
    params = row["params"] or {}
    author = str(row["author_id"])
    return {
        "chat_id": target(f"source:chat:{row['chat_id']}"),
        "author_id": "0" if author == "0" else user(author) or source.placeholder,
        "date": utc(row["date"]),
        "text": _rewritten(row["text"], target, user),
        "params": {name: value for name, value in params.items() if name not in ("FILE_ID", "LIKE")},
        "files": [target(f"source:file:disk:{one}") for one in params.get("FILE_ID", [])],
        "reactions": {"LIKE": len(params["LIKE"])} if params.get("LIKE") else {},
    }


def _rewritten(text: str, target: TargetId, user: Callable[[Json], str | None]) -> str:
    """What the target does not have stays as it was."""
    text = re.sub(r"\[USER=(\d+)", lambda found: f"[USER={user(found[1]) or found[1]}", text)
    text = re.sub(r"\[DISK=(\d+)", lambda found: f"[DISK={target(f'source:file:disk:{found[1]}') or found[1]}", text)
    return re.sub(r"\[CHAT=(\d+)", lambda found: f"[CHAT={target(f'source:chat:{found[1]}') or found[1]}", text)


def _files(source: Source) -> Iterator[tuple[str, Fields]]:
    """By their SHA-256: of the bytes that the source serves, made here once more."""
    pictures = [
        *(("user", "main", number) for number, row in source.users.items() if row.get("PERSONAL_PHOTO")),
        *(("group", "sonet", number) for number, row in source.groups.items() if row.get("IMAGE")),
        *(
            ("chat", "im", number)
            for number, row in source.chats.items()
            if row.get("avatar") and number not in source.task_chats
        ),
    ]
    for kind, folder, number in pictures:
        yield f"source:file:{kind}:{number}", _file(picture(f"{folder}:{number}:"))
    wanted = {
        str(one)
        for key, row in source.messages.items()
        if key.partition(":")[0] not in source.task_chats
        for one in (row["params"] or {}).get("FILE_ID", [])
    }
    for number in wanted:
        about = source.files[number]
        yield f"source:file:disk:{number}", {**_file(noise(f"file:{number}", about["size"])), "name": about["name"]}


def _file(content: bytes) -> Fields:
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def utc(stamp: str | None) -> str | None:
    return datetime.fromisoformat(stamp).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if stamp else None


def day(stamp: str | None) -> str | None:
    """A day comes as a time whose clock part equals its offset."""
    return datetime.fromisoformat(stamp).astimezone(UTC).date().isoformat() if stamp else None
