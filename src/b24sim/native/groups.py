"""sonet_group.create, update, setowner and delete, and sonet_group_subject.get: what groups are about."""

import binascii
from base64 import b64decode
from typing import Any

from b24sim.company.chats import CLOSED, Chat
from b24sim.company.groups import MEMBER, OWNER, Group
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.said import announce
from b24sim.native.writing import created, file_sent, flag, iso_now, listed, moment, now_of
from b24sim.paging import page_of_old_core, whole
from b24sim.phpjson import encode
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

TEXTS = ("NAME", "DESCRIPTION", "KEYWORDS")
FLAGS = {"VISIBLE": "Y", "OPENED": "N", "CLOSED": "N", "PROJECT": "N"}
DATES = ("DATE_CREATE", "DATE_UPDATE", "DATE_ACTIVITY")
FIRST_SUBJECT, SUBJECT = 1, "Рабочие группы"
SITE_FORMAT_LENGTH = len("01.02.2026 10:20:30")


def create(context: Context, params: Params) -> Result:
    """Names count only in upper case. Its chat is made by the portal; only administrators name another owner."""
    company = context.portal.company
    if not str(params.get("NAME") or "").strip():
        raise RestError("", "Не указано название группы")
    owner = whole(params.get("OWNER_ID")) if context.caller.admin else 0
    owner = owner or context.caller.user
    if owner not in company.users:
        raise RestError("", "Не найден владелец группы")
    if whole(params.get("SUBJECT_ID", FIRST_SUBJECT)) != FIRST_SUBJECT:
        raise RestError("", "Тема группы не найдена")
    _demand_free_name(context, params)
    number, now = context.portal.native.number("groups"), iso_now(context)
    row: Row = {
        "ID": str(number), "SITE_ID": "s1", "NAME": "", "DESCRIPTION": None, **dict.fromkeys(DATES, now), "ACTIVE": "Y",
        **FLAGS, "SUBJECT_ID": str(FIRST_SUBJECT), "OWNER_ID": str(owner), "KEYWORDS": "",
        "NUMBER_OF_MEMBERS": "1", "SUBJECT_NAME": SUBJECT, "IS_EXTRANET": "N", "_INITIATE_PERMS": "K",
        "_SCRUM_MASTER_ID": "0", "_PROJECT_DATE_START": None, "_PROJECT_DATE_FINISH": None,
        "_NUMBER_OF_MODERATORS": "0", "_LANDING": "N",
    }  # fmt: skip
    row |= _dates_passed_through(context, params) | _sent(context, number, params)
    kind = "scrum" if whole(row["_SCRUM_MASTER_ID"]) else "project" if row["PROJECT"] == "Y" else "group"
    company.groups_by_id[number] = Group(number, 0, owner, kind, {owner: OWNER}, chat=_open_chat(context, number, row))
    company.groups.put(number, row | {"_TYPE": kind})
    created(context, "groups", number, row["NAME"])
    return Result(number)


def update(context: Context, params: Params) -> Result:
    """Whether it is a project stays as it was made."""
    number = known_group(context, params.get("GROUP_ID"))
    _demand_master(context, number)
    _demand_free_name(context, params, number)
    groups = context.portal.company.groups
    changes = _sent(context, number, {name: value for name, value in params.items() if name != "PROJECT"})
    row = groups.row(number) | changes | {"DATE_UPDATE": iso_now(context)}
    groups.put(number, {name: value for name, value in row.items() if name != "IMAGE" or value})
    context.portal.native.updated("groups", number)
    return Result(number)


def set_owner(context: Context, params: Params) -> Result:
    """The former owner stays as a member."""
    number, user = known_group(context, params.get("GROUP_ID")), whole(params.get("USER_ID"))
    _demand_master(context, number)
    company = context.portal.company
    if user not in company.users:
        raise RestError("", "Wrong user ID")
    group = company.groups_by_id[number]
    group.roles[group.owner] = MEMBER
    group.roles[user] = OWNER
    group.owner = user
    recount(context, number, OWNER_ID=str(user))
    context.portal.native.updated("groups", number)
    return Result(True)


def delete(context: Context, params: Params) -> Result:
    number = known_group(context, params.get("GROUP_ID"))
    _demand_master(context, number)
    company = context.portal.company
    group = company.groups_by_id.pop(number)
    company.groups.remove(number)
    company.chats.pop(group.chat, None)
    company.chats_version += 1
    context.portal.native.deleted("groups", number)
    context.portal.native.deleted("group_chats", group.chat)
    for user in group.roles:
        context.portal.native.deleted("group_members", f"{number}:{user}")
    return Result(True)


def known_group(context: Context, value: Any) -> int:
    number = whole(value)
    if not number:
        raise RestError("", "Wrong group ID")
    if number not in context.portal.company.groups:
        raise RestError("", "Socialnetwork group not found")
    return number


def recount(context: Context, number: int, **changes: str) -> None:
    """The values about members in a group's row."""
    groups, group = context.portal.company.groups, context.portal.company.groups_by_id[number]
    moderators = sum(role == "E" for role in group.roles.values())
    columns = {"NUMBER_OF_MEMBERS": str(len(group.roles)), "_NUMBER_OF_MODERATORS": str(moderators)}
    groups.put(number, groups.row(number) | columns | changes)
    chat = context.portal.company.chats.get(group.chat)
    if chat:
        chat.members, chat.owner = list(group.roles), group.owner
        chat.managers = [user for user, role in group.roles.items() if role == "E"]
        context.portal.company.chats_version += 1


def stirred(context: Context, number: int) -> None:
    """Whatever is done in a group counts as its activity."""
    groups = context.portal.company.groups
    if number in groups:
        groups.put(number, groups.row(number) | {"DATE_ACTIVITY": iso_now(context)})


def _demand_master(context: Context, number: int) -> None:
    if not context.caller.admin and context.portal.company.groups_by_id[number].owner != context.caller.user:
        raise RestError("", "User has no permissions to modify this group")


def _demand_free_name(context: Context, params: Params, own: int = 0) -> None:
    """socialnetwork classes/general/group.php; a database compares without regard to case."""
    groups, name = context.portal.company.groups, str(params.get("NAME") or "").strip().casefold()
    taken = (str(groups.row(number).get("NAME", "")).strip().casefold() for number in groups if number != own)
    if context.portal.box_habits.unique_group_names and name and name in taken:
        raise RestError("ERROR_CORE", "Группа с таким названием уже существует")


def _dates_passed_through(context: Context, params: Params) -> Row:
    """Not documented: a kernel takes them in the site's own format, and only so."""
    found = {}
    for name in DATES:
        text = str(params.get(name) or "")
        unix = moment(context, text) if len(text) == SITE_FORMAT_LENGTH and text[2:3] == "." else None
        if unix is not None:
            found[name] = context.portal.company.moments.iso(unix)
    return found


def _sent(context: Context, number: int, params: Params) -> Row:
    row: Row = {name: str(params[name]) for name in TEXTS if params.get(name) is not None}
    row |= {name: flag(params[name]) for name in FLAGS if name in params}
    for name in ("PROJECT_DATE_START", "PROJECT_DATE_FINISH"):
        if name in params:
            unix = moment(context, params[name])
            row[f"_{name}"] = None if unix is None else context.portal.company.moments.iso(unix)
    if str(params.get("INITIATE_PERMS", "")) in {"A", "E", "K"}:
        row["_INITIATE_PERMS"] = params["INITIATE_PERMS"]
    if whole(params.get("SCRUM_MASTER_ID")):
        row |= {"_SCRUM_MASTER_ID": str(whole(params["SCRUM_MASTER_ID"])), "PROJECT": "Y"}
    if listed(params.get("SITE_ID")):
        row["SITE_ID"] = str(listed(params["SITE_ID"])[0])
    return row | _image(context, number, params)


def _image(context: Context, number: int, params: Params) -> Row:
    """A name with base64, or base64 alone; IMAGE_FILE_ID of 0 takes it away."""
    company, sent = context.portal.company, params.get("IMAGE")
    pair = file_sent(sent)
    data = pair[1] if pair else _bare(sent)
    if data is not None:
        company.pictures["sonet", number] = data
        return {"IMAGE": f"{company.portal_url}/upload/sonet/{number}/g.png"}
    return {"IMAGE": ""} if str(params.get("IMAGE_FILE_ID", "")) == "0" else {}


def _bare(sent: Any) -> bytes | None:
    try:
        return b64decode(sent, validate=True) if isinstance(sent, str) and sent else None
    except (binascii.Error, ValueError):
        raise RestError("ERROR_IMAGE_ID", "Incorrect image") from None


def _open_chat(context: Context, number: int, row: Row) -> int:
    company, owner = context.portal.company, whole(row["OWNER_ID"])
    chat = Chat(context.portal.native.number("chats"), 0, CLOSED, row["NAME"], owner, [owner], started=now_of(context))
    chat.entity_type, chat.entity_id = "SONET_GROUP", str(number)
    company.chats[chat.id] = chat
    created(context, "group_chats", chat.id, str(number))
    announce(context, chat, f"[USER={owner}]{company.name_of(owner)}[/USER] создал чат группы", "CHAT_JOIN")
    return chat.id


def subjects(_context: Context, params: Params) -> Result:
    """Registered by the kernel, described nowhere."""
    rows: list[Row] = [{"ID": "1", "SITE_ID": "s1", "NAME": SUBJECT, "SORT": "100"}]
    return page_of_old_core(range(len(rows)), whole(params.get("start", 0)), lambda place: encode(rows[place]))


METHODS = [
    Method("sonet_group.create", ("sonet_group",), create),
    Method("sonet_group.update", ("sonet_group",), update),
    Method("sonet_group.setowner", ("sonet_group",), set_owner),
    Method("sonet_group.delete", ("sonet_group",), delete),
    Method("sonet_group_subject.get", ("sonet_group",), subjects),
]
