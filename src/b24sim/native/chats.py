"""im.chat.*: the user who makes a chat owns it, until another becomes its owner."""

import binascii
from base64 import b64decode
from typing import Any

from b24sim.company.chats import CLOSED, OPEN, PRIVATE, Chat
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.dialogs import access_error, chat_by_id, dialog
from b24sim.native.ledger import stamp_of
from b24sim.native.said import announce, say
from b24sim.native.writing import created, flag, listed, now_of
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result

COLOURS = {
    "RED", "GREEN", "MINT", "LIGHT_BLUE", "DARK_BLUE", "PURPLE", "AQUA", "PINK", "LIME", "BROWN", "AZURE", "KHAKI",
    "SAND", "MARENGO", "GRAY", "GRAPHITE",
}  # fmt: skip


def add(context: Context, params: Params) -> Result:
    """Made now, by the caller, who is in it; a pair of entity names is kept and looked up by."""
    company, user = context.portal.company, context.caller.user
    members = list(dict.fromkeys([user, *_known(context, params.get("USERS"))]))
    number = context.portal.native.number("chats")
    kind = OPEN if str(params.get("TYPE", "")).upper() == "OPEN" else CLOSED
    chat = Chat(number, 0, kind, str(params.get("TITLE") or f"Чат {number}"), user, members, started=now_of(context))
    chat.description = str(params.get("DESCRIPTION") or "")
    chat.entity_type, chat.entity_id = (str(params.get(name) or "") for name in ("ENTITY_TYPE", "ENTITY_ID"))
    company.chats[number] = chat
    picture(context, chat, params.get("AVATAR"))
    stamp = stamp_of(chat.entity_type, chat.entity_id) if chat.entity_type else f"#{number}"
    created(context, "chats", number, stamp)
    announce(context, chat, f"{_name(context, user)} создал чат", "CHAT_JOIN")
    if chat.description:
        say(context, chat, chat.description, author=user)  # im lib/V2/Chat/GroupChat.php, sendDescriptionMessage
    if params.get("MESSAGE"):
        say(context, chat, str(params["MESSAGE"]), author=user)
    return Result(number)


def user_add(context: Context, params: Params) -> Result:
    """The new ones see nothing of what was said before, unless HIDE_HISTORY is N. Dismissed people are left out without
    a word (im lib/V2/Chat.php), though not by im.chat.add."""
    chat, users = _own_chat(context, params), context.portal.company.users
    asked = [user for user in _known(context, params.get("USERS")) if users.row(user)["ACTIVE"]]
    new = [user for user in asked if user not in chat.members]
    if not new:
        return Result(False)
    first_shown = (
        0 if flag(params.get("HIDE_HISTORY"), "Y") == "N" else chat.id_at(len(chat) - 1) + 1 if len(chat) else 0
    )
    chat.members.extend(new)
    chat.sees_from |= dict.fromkeys(new, first_shown)
    names = ", ".join(_name(context, user) for user in new)
    announce(context, chat, f"{_name(context, context.caller.user)} пригласил {names} в чат", "CHAT_JOIN")
    context.portal.native.updated("chats", chat.id)
    return Result(True)


def user_delete(context: Context, params: Params) -> Result:
    """By who may exclude participants (chat-users/im-chat-user-delete.md): a manager, where nobody has set otherwise
    (`manageUsersDelete` in imopenlines/openlines/sessions/imopenlines-session-history-get.md)."""
    chat, user = _own_chat(context, params), whole(params.get("USER_ID"))
    if context.caller.user not in (user, chat.owner, *chat.managers):
        raise access_error()
    if user not in chat.members or (user == chat.owner and user != context.caller.user):
        raise RestError("WRONG_REQUEST", "You don't have access or user isn't member in chat")
    _without(context, chat, user)
    return Result(True)


def leave(context: Context, params: Params) -> Result:
    chat = _own_chat(context, params)
    _without(context, chat, context.caller.user)
    return Result(True)


def set_owner(context: Context, params: Params) -> Result:
    chat, user = _own_chat(context, params), whole(params.get("USER_ID"))
    if not user:
        raise RestError("USER_ID_EMPTY", "User ID can't be empty")
    if chat.owner != context.caller.user or user not in chat.members:
        raise RestError("WRONG_REQUEST", "Change owner can only owner and user must be member in chat")
    chat.owner = user
    _changed(context, chat)
    return Result(True)


def set_manager(context: Context, params: Params) -> Result:
    """Not in the documents, but in the kernel."""
    chat, user = _own_chat(context, params), whole(params.get("USER_ID"))
    if chat.owner != context.caller.user or user not in chat.members:
        raise RestError("WRONG_REQUEST", "Change manager can only owner and user must be member in chat")
    others = [manager for manager in chat.managers if manager != user]
    chat.managers = [*others, user] if flag(params.get("IS_MANAGER"), "Y") == "Y" else others
    _changed(context, chat)
    return Result(True)


def update_title(context: Context, params: Params) -> Result:
    chat, title = _own_chat(context, params), str(params.get("TITLE") or "")
    if not title:
        raise RestError("TITLE_EMPTY", "Title can't be empty")
    chat.name = title
    announce(context, chat, f"{_name(context, context.caller.user)} изменил название чата на «{title}»", "CHAT_RENAME")
    _changed(context, chat)
    return Result(True)


def update_color(context: Context, params: Params) -> Result:
    chat = _own_chat(context, params)
    if str(params.get("COLOR", "")).upper() not in COLOURS:
        raise RestError("WRONG_COLOR", "This color currently unavailable")
    _changed(context, chat)
    return Result(True)


def update_avatar(context: Context, params: Params) -> Result:
    chat = _own_chat(context, params)
    if not picture(context, chat, params.get("AVATAR")):
        raise RestError("AVATAR_ERROR", "Avatar incorrect")
    _changed(context, chat)
    return Result(True)


def _own_chat(context: Context, params: Params) -> Chat:
    """A chat the caller is in; private dialogs have neither owners nor titles."""
    chat = dialog(context, params) if params.get("DIALOG_ID") else chat_by_id(context, params)
    if chat.kind == PRIVATE or context.caller.user not in chat.members:
        raise access_error()
    return chat


def _known(context: Context, users: Any) -> list[int]:
    return [user for user in (whole(one) for one in listed(users)) if user in context.portal.company.users]


def _without(context: Context, chat: Chat, user: int) -> None:
    """An owner who goes leaves the chat to the next."""
    chat.members.remove(user)
    chat.managers = [manager for manager in chat.managers if manager != user]
    if chat.owner == user:
        chat.owner = chat.members[0] if chat.members else 0
    announce(context, chat, f"{_name(context, user)} покинул чат", "CHAT_LEAVE")
    _changed(context, chat)


def _changed(context: Context, chat: Chat) -> None:
    context.portal.company.chats_version += 1
    context.portal.native.updated("chats", chat.id)


def picture(context: Context, chat: Chat, sent: Any) -> bool:
    try:
        data = b64decode(sent, validate=True) if isinstance(sent, str) else b""
    except (binascii.Error, ValueError):
        return False
    if data:
        context.portal.company.pictures["im", chat.id] = data
        chat.pictured = True
    return bool(data)


def _name(context: Context, user: int) -> str:
    return f"[USER={user} REPLACE]{context.portal.company.name_of(user)}[/USER]"


METHODS = [
    Method("im.chat.add", ("im",), add, upper=True),
    Method("im.chat.user.add", ("im",), user_add, upper=True),
    Method("im.chat.user.delete", ("im",), user_delete, upper=True),
    Method("im.chat.leave", ("im",), leave, upper=True),
    Method("im.chat.setowner", ("im",), set_owner, upper=True),
    Method("im.chat.setmanager", ("im",), set_manager, upper=True),
    Method("im.chat.updatetitle", ("im",), update_title, upper=True),
    Method("im.chat.updatecolor", ("im",), update_color, upper=True),
    Method("im.chat.updateavatar", ("im",), update_avatar, upper=True),
]
