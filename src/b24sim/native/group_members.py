"""sonet_group.user.add, update and delete: members from now on, all of them with the same role at first."""

from b24sim.company.groups import MEMBER, MODERATOR, OWNER, Group
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.groups import known_group, recount
from b24sim.native.said import announce
from b24sim.native.writing import created, listed
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result

EXTRANET = "extranet"


def add(context: Context, params: Params) -> Result:
    """Those who were not there before. The group's chat says so; nobody is invited."""
    group = _group(context, params)
    company, added = context.portal.company, []
    for user in _users(params):
        if user in company.users and user not in group.roles and _may_join(context, user):
            group.roles[user] = MEMBER
            added.append(str(user))
            created(context, "group_members", f"{group.id}:{user}", f"{group.id}:{user}")
    recount(context, group.id, **_opened_to_others(context, added))
    chat = company.chats.get(group.chat)
    if chat and added:
        names = ", ".join(f"[USER={user}]{company.name_of(int(user))}[/USER]" for user in added)
        announce(context, chat, f"К группе присоединились: {names}", "CHAT_JOIN")
    return Result(added)


def update(context: Context, params: Params) -> Result:
    """Never the owner; a member who has the role already is not named."""
    group, role = _group(context, params), str(params.get("ROLE") or "")
    if role not in {MODERATOR, MEMBER}:
        raise RestError("", "Incorrect role code")
    changed = [user for user in _users(params) if group.roles.get(user) not in {None, OWNER, role}]
    for user in changed:
        group.roles[user] = role
        context.portal.native.updated("group_members", f"{group.id}:{user}")
    recount(context, group.id)
    return Result([str(user) for user in changed])


def delete(context: Context, params: Params) -> Result:
    group = _group(context, params)
    master = whole(context.portal.company.groups.row(group.id).get("_SCRUM_MASTER_ID"))
    gone = [user for user in _users(params) if group.roles.get(user) not in {None, OWNER} and user != master]
    for user in gone:
        del group.roles[user]
        context.portal.native.deleted("group_members", f"{group.id}:{user}")
    recount(context, group.id)
    return Result([str(user) for user in gone])


def _may_join(context: Context, user: int) -> bool:
    return context.portal.company.users.row(user).get("USER_TYPE") in {"employee", EXTRANET}


def _opened_to_others(context: Context, added: list[str]) -> dict[str, str]:
    """The first from outside makes it a group of both."""
    users = context.portal.company.users
    return {"IS_EXTRANET": "Y"} if any(users.row(int(user)).get("USER_TYPE") == EXTRANET for user in added) else {}


def _group(context: Context, params: Params) -> Group:
    number = known_group(context, params.get("GROUP_ID"))
    if not context.caller.admin:
        raise RestError("", "User has no permissions to modify this group")
    return context.portal.company.groups_by_id[number]


def _users(params: Params) -> list[int]:
    users = [whole(user) for user in listed(params.get("USER_ID"))]
    if not users:
        raise RestError("", "Wrong user IDs")
    return list(dict.fromkeys(users))


METHODS = [
    Method("sonet_group.user.add", ("sonet_group",), add),
    Method("sonet_group.user.update", ("sonet_group",), update),
    Method("sonet_group.user.delete", ("sonet_group",), delete),
]
