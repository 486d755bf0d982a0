"""sonet_group.* and socialnetwork.api.workgroup.*."""

from collections.abc import Callable, Sequence
from typing import Any

from b24sim.company.groups import MEMBER, MODERATOR, Group
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import matching, split
from b24sim.habits import as_read
from b24sim.paging import page_by_offset, page_of_old_core, whole, yes
from b24sim.phpjson import Parts, encode, encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

FILTERABLE = {
    "ID", "NAME", "OWNER_ID", "ACTIVE", "VISIBLE", "OPENED", "CLOSED", "DATE_CREATE", "DATE_UPDATE",
    "DATE_ACTIVITY", "IS_EXTRANET",
    "SUBJECT_ID", "PROJECT", "LANDING", "SCRUM_MASTER_ID", "PROJECT_DATE_START", "PROJECT_DATE_FINISH", "TYPE",
    "SITE_ID",
}  # fmt: skip

TIMES = {"DATE_CREATE", "DATE_UPDATE", "DATE_ACTIVITY", "PROJECT_DATE_START", "PROJECT_DATE_FINISH"}


def get(context: Context, params: Params) -> Result:
    """Parameter names count only in upper case here."""
    company = context.portal.company
    asked = dict(params["FILTER"]) if isinstance(params.get("FILTER"), dict) else {}
    conditions = {key: value for key, value in asked.items() if split(key)[1] in FILTERABLE}
    if "GROUP_ID" in params:
        conditions["ID"] = params["GROUP_ID"]
    conditions = as_read(context, conditions, context.portal.habits.other_dates, TIMES)
    ids = _visible(context, yes(params.get("IS_ADMIN")))
    ids = matching(company.groups, ids, conditions, company.moments)
    order = params["ORDER"] if isinstance(params.get("ORDER"), dict) else {"ID": "DESC"}
    start = whole(params.get("start", params.get("START", 0)))
    return page_of_old_core(_ordered(context, ids, order), start, company.groups.encoded)


def _visible(context: Context, as_admin: bool) -> Sequence[int]:
    """Secret groups are shown to their members, and to an administrator with IS_ADMIN."""
    company = context.portal.company
    if as_admin and context.caller.admin:
        return company.groups.ids
    user = context.caller.user
    return [
        n for n in company.groups if company.groups.row(n)["VISIBLE"] == "Y" or user in company.groups_by_id[n].roles
    ]


def _ordered(context: Context, ids: Sequence[int], order: dict[str, Any]) -> Sequence[int]:
    groups = context.portal.company.groups
    for name, direction in reversed(order.items()):
        descending = str(direction).upper() == "DESC"
        if name == "ID":
            ids = sorted(ids, reverse=descending)
        else:
            ids = sorted(ids, key=_key(groups.row, name), reverse=descending)
    return ids


def _key(row_of: Callable[[int], Row], name: str) -> Callable[[int], str]:
    return lambda number: str(row_of(number).get(name) or "")


def members(context: Context, params: Params) -> Result:
    """Active members only: the dismissed are kept from this list."""
    if not whole(params.get("ID")):
        raise RestError("", "Wrong socialnetwork group ID")
    number = whole(params["ID"])
    if number not in _visible(context, as_admin=True):
        raise RestError("", "Socialnetwork group not found")
    company = context.portal.company
    roles = company.groups_by_id[number].roles
    active = [{"USER_ID": str(user), "ROLE": role} for user, role in roles.items() if company.is_active(user)]
    return Result(context.portal.in_no_order(active))


def own_groups(context: Context, _params: Params) -> Result:
    company = context.portal.company
    rows = []
    for group in company.groups_of(context.caller.user):
        row = company.groups.row(group.id)
        entry = {
            "GROUP_ID": str(group.id), "GROUP_NAME": row["NAME"], "ROLE": group.roles[context.caller.user],
            "GROUP_IMAGE_ID": str(group.id) if "IMAGE" in row else None, "GROUP_IMAGE": row.get("IMAGE", ""),
        }  # fmt: skip
        rows.append(entry | ({"IS_EXTRANET": "Y"} if row["IS_EXTRANET"] == "Y" else {}))
    return Result(encode_all(context.portal.in_no_order(rows)))


def workgroup_list(context: Context, params: Params) -> Result:
    """Camel case, only the fields asked for, and only groups of one site."""
    company = context.portal.company
    options = params["params"] if isinstance(params.get("params"), dict) else {}
    conditions = dict(params["filter"]) if isinstance(params.get("filter"), dict) else {}
    conditions = as_read(context, conditions, context.portal.habits.other_dates, TIMES)
    site = str(options.get("siteId") or "s1")
    ids = _visible(context, yes(options.get("IS_ADMIN")))
    ids = matching(company.groups, ids, conditions | {"=SITE_ID": site}, company.moments)
    order = params.get("order")
    ids = _ordered(context, company.groups.in_no_order(ids), order if isinstance(order, dict) else {})
    select = [str(name) for name in params["select"]] if isinstance(params.get("select"), list) else ["ID"]
    with_chat, mobile = yes(options.get("shouldSelectDialogId")), options.get("mode") == "mobile"
    start = whole(params.get("start", 0))
    page = page_by_offset(ids, start, lambda number: encode(_camel_row(context, number, select, with_chat, mobile)))
    total = None if start < 0 else page.total
    return Result(Parts({"workgroups": page.value}), total, page.next)


def _camel_row(context: Context, number: int, select: list[str], with_chat: bool, mobile: bool) -> Row:
    company = context.portal.company
    row, group = company.groups.row(number), company.groups_by_id[number]
    values = {name.removeprefix("_"): value for name, value in row.items()} | _scrum(group)
    values |= {"IMAGE_ID": str(number) if "IMAGE" in row else "0", "AVATAR_TYPE": None, "AVATAR": row.get("IMAGE", "")}
    asked = ["ID", *select, *(("IMAGE_ID", "AVATAR_TYPE") if "AVATAR" in select else ())]
    shape = {_camel(name): values[name] for name in dict.fromkeys(asked) if name in values}
    if mobile:
        role = group.roles.get(context.caller.user, "")
        shape["additionalData"] = {"role": role, "initiatedByType": "U" if role else ""}
    return shape | ({"dialogId": f"chat{group.chat}" if group.chat else ""} if with_chat else {})


def _scrum(group: Group) -> Row:
    is_scrum = group.kind == "scrum"
    return {
        "SCRUM_OWNER_ID": str(group.owner) if is_scrum else "0",
        "SCRUM_SPRINT_DURATION": "604800" if is_scrum else "0",
        "SCRUM_TASK_RESPONSIBLE": "A" if is_scrum else "",
    }


def _camel(name: str) -> str:
    first, *rest = name.lower().split("_")
    return first + "".join(part.capitalize() for part in rest)


def workgroup_get(context: Context, params: Params) -> Result:
    """Everything about one group, the dismissed members too; dates in the portal's own format."""
    options = params["params"] if isinstance(params.get("params"), dict) else {}
    number = whole(options.get("groupId"))
    if not number:
        raise RestError("SONET_CONTROLLER_WORKGROUP_EMPTY", "Workgroup is not specified")
    if number not in _visible(context, as_admin=True):
        raise RestError("SONET_CONTROLLER_WORKGROUP_NOT_FOUND", "Workgroup not found")
    company = context.portal.company
    row, group = company.groups.row(number), company.groups_by_id[number]
    members = context.portal.in_no_order(group.roles)
    moderators = [user for user in members if group.roles[user] == MODERATOR]
    ordinary = [user for user in members if group.roles[user] == MEMBER]
    answer: Row = {
        "ID": number, "ACTIVE": row["ACTIVE"], "SITE_ID": row["SITE_ID"], "SUBJECT_ID": 1, "NAME": row["NAME"],
        "DESCRIPTION": row["DESCRIPTION"] or "", "KEYWORDS": row["KEYWORDS"], "CLOSED": row["CLOSED"],
        "VISIBLE": row["VISIBLE"],
        "OPENED": row["OPENED"], "DATE_CREATE": _culture(context, row["DATE_CREATE"]),
        "DATE_UPDATE": _culture(context, row["DATE_UPDATE"]), "DATE_ACTIVITY": _culture(context, row["DATE_ACTIVITY"]),
        "IMAGE_ID": number if "IMAGE" in row else 0, "AVATAR_TYPE": "folder", "OWNER_ID": int(row["OWNER_ID"]),
        "INITIATE_PERMS": "K",
        "NUMBER_OF_MEMBERS": len(group.roles), "NUMBER_OF_MODERATORS": len(moderators), "NUMBER_OF_MEMBERS_PLURAL": 2,
        "SEARCH_INDEX": "", "PROJECT": row["PROJECT"],
        "PROJECT_DATE_START": _culture(context, row.get("_PROJECT_DATE_START")),
        "PROJECT_DATE_FINISH": _culture(context, row.get("_PROJECT_DATE_FINISH")), "LANDING": "N",
        "SCRUM_OWNER_ID": group.owner if group.kind == "scrum" else 0,
        "SCRUM_MASTER_ID": whole(row.get("_SCRUM_MASTER_ID")),
        "SCRUM_SPRINT_DURATION": 604800 if group.kind == "scrum" else 0, "SCRUM_TASK_RESPONSIBLE": "",
        "TYPE": row.get("_TYPE", "group"), "MEMBERS": members, "MODERATOR_MEMBERS": moderators,
        "ORDINARY_MEMBERS": ordinary, "INVITED_MEMBERS": [], "CHAT_ID": group.chat,
        "DIALOG_ID": f"chat{group.chat}" if group.chat else "", "SITE_IDS": [row["SITE_ID"]],
    }  # fmt: skip
    select = options.get("select")
    return Result(answer | _selected(context, group, row, select if isinstance(select, list) else []))


def _selected(context: Context, group: Group, row: Row, select: list[Any]) -> Row:
    company = context.portal.company
    extras: dict[str, Callable[[], Row]] = {
        "TAGS": lambda: {"TAGS": [tag for tag in row["KEYWORDS"].split(", ") if tag]},
        "SUBJECT_DATA": lambda: {"SUBJECT_DATA": {"ID": 1, "NAME": row["SUBJECT_NAME"]}},
        "DEPARTMENTS": lambda: {"DEPARTMENTS": []},
        "FEATURES": lambda: {
            "FEATURES": [{"featureName": "tasks", "name": "Задачи", "customName": "", "id": 1, "active": True}]
        },
        "PRIVACY_TYPE": lambda: {
            "PRIVACY_CODE": "secret" if row["VISIBLE"] == "N" else "open" if row["OPENED"] == "Y" else "closed"
        },
        "LIST_OF_MEMBERS": lambda: {"LIST_OF_MEMBERS": [_member(context, group, user) for user in group.roles]},
        # A human phrase takes the place of the date.
        "DATE_CREATE": lambda: {"DATE_CREATE": "два года назад"},
        "PIN": lambda: {"IS_PIN": False},
        "OWNER_DATA": lambda: {"OWNER_DATA": {"ID": group.owner, "NAME_FORMATTED": company.name_of(group.owner)}},
        "AVATAR": lambda: {"AVATAR": row.get("IMAGE", "")},
    }
    answer: Row = {}
    for name in select:
        if name in extras:
            answer |= extras[name]()
    return answer


def _member(context: Context, group: Group, user: int) -> Row:
    row = context.portal.company.users.row(user)
    role = group.roles[user]
    return {
        "id": user, "isOwner": role == "A", "isModerator": role == "E", "isScrumMaster": False, "isAutoMember": False,
        "name": row["NAME"], "lastName": row["LAST_NAME"], "position": row.get("WORK_POSITION", ""),
        "photo": row.get("PERSONAL_PHOTO", ""),
    }  # fmt: skip


def _culture(context: Context, iso: str | None) -> str | None:
    moments = context.portal.company.moments
    unix = moments.parse(iso) if iso else None
    return None if unix is None else moments.culture(unix)


METHODS = [
    Method("sonet_group.get", ("sonet_group",), get),
    Method("sonet_group.user.get", ("sonet_group",), members),
    Method("sonet_group.user.groups", ("sonet_group",), own_groups),
    Method("socialnetwork.api.workgroup.list", ("socialnetwork",), workgroup_list),
    Method("socialnetwork.api.workgroup.get", ("socialnetwork",), workgroup_get),
]
