"""The shapes of the messenger: users, chats, recent items and files as im.* shows them."""

from b24sim.company import names
from b24sim.company.chats import LINE, PRIVATE, Chat
from b24sim.company.files import File
from b24sim.context import Context
from b24sim.errors import RestError
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.table import Row

# Which chats' counters have drifted, and by how much.
DRIFT_EVERY, DRIFTS = 74, (3, -2, -60)


def access_error() -> RestError:
    return RestError("ACCESS_ERROR", "You do not have access to the specified dialog", 403)


def chat_by_id(context: Context, params: Params) -> Chat:
    """The chat behind CHAT_ID, which takes numbers only."""
    number = whole(params.get("CHAT_ID"))
    if not number:
        raise RestError("CHAT_ID_EMPTY", "Chat ID can't be empty")
    return dialog(context, {"DIALOG_ID": f"chat{number}"})


def dialog(context: Context, params: Params) -> Chat:
    """The chat behind `chat12`, `47` (a colleague) or `sg17` (a workgroup); refusal for what one may not read."""
    company, user = context.portal.company, context.caller.user
    text = str(params.get("DIALOG_ID") or "")
    if not text and params.get("CHAT_ID"):
        text = f"chat{whole(params['CHAT_ID'])}"
    if not text:
        raise RestError("DIALOG_ID_EMPTY", "Dialog ID can't be empty")
    chat: Chat | None = None
    if text.startswith("chat"):
        chat = company.chats.get(whole(text.removeprefix("chat")))
    elif text.startswith("sg"):
        group = company.groups_by_id.get(whole(text.removeprefix("sg")))
        chat = company.chats.get(group.chat) if group else None
    elif text.isdigit():
        chat = private_chat(context, int(text))
    if chat is None or not company.readable(chat, user):
        raise access_error()
    return chat


def private_chat(context: Context, peer: int) -> Chat | None:
    company, user = context.portal.company, context.caller.user
    number = company.private_chats.get(frozenset((user, peer)))
    return company.chats.get(number) if number and peer != user else None


def peer_of(chat: Chat, user: int) -> int:
    return chat.members[1] if chat.members[0] == user else chat.members[0]


def dialog_id(chat: Chat, user: int) -> str:
    return str(peer_of(chat, user)) if chat.kind == PRIVATE else chat.dialog_id


def avatar(context: Context, chat: Chat) -> str:
    return f"{context.portal.company.portal_url}/upload/im/{chat.id}/avatar.png" if chat.has_avatar else ""


def user_shape(context: Context, number: int) -> Row:
    """A user as the messenger returns it; bots too, which user.get never shows."""
    company = context.portal.company
    is_bot = number not in company.users
    row = {} if is_bot else company.users.row(number)
    return {
        "id": number, "active": bool(row.get("ACTIVE", True)), "name": company.name_of(number),
        "first_name": row.get("NAME", company.name_of(number)), "last_name": row.get("LAST_NAME", ""),
        "work_position": row.get("WORK_POSITION") or None, "color": names.COLORS[number % len(names.COLORS)],
        "avatar": row.get("PERSONAL_PHOTO", ""), "avatar_hr": row.get("PERSONAL_PHOTO", ""),
        "gender": row.get("PERSONAL_GENDER") or "M", "birthday": "",
        "extranet": row.get("USER_TYPE") == "extranet", "network": False, "bot": is_bot, "connector": False,
        "external_auth_id": "bot" if is_bot else row.get("_EXTERNAL_AUTH_ID") or "default",
        "status": "online", "idle": False, "last_activity_date": _last_seen(context, row), "mobile_last_date": False,
        "desktop_last_date": False,
        "absent": False, "departments": row.get("UF_DEPARTMENT", []), "phones": _phones(row), "bot_data": None,
        "type": "bot" if is_bot else "user", "website": row.get("PERSONAL_WWW") or "", "email": row.get("EMAIL") or "",
    }  # fmt: skip


def _last_seen(context: Context, row: Row) -> str | bool:
    """False for people who never came."""
    at = row.get("_LAST_ACTIVITY_DATE")
    return context.portal.company.moments.iso(at) if at else False


def _phones(row: Row) -> Row | bool:
    names = {"work_phone": "WORK_PHONE", "personal_mobile": "PERSONAL_MOBILE", "inner_phone": "UF_PHONE_INNER"}
    return {name: str(row[field]) for name, field in names.items() if row.get(field)} or False


def chat_shape(context: Context, chat: Chat) -> Row:
    """The object inside recent items and search results."""
    role, user = _role(context, chat), context.caller.user
    name = context.portal.company.name_of(peer_of(chat, user)) if chat.kind == PRIVATE else chat.name
    return {
        "id": chat.id, "parent_chat_id": chat.parent[0], "parent_message_id": chat.parent[1], "name": name,
        "owner": chat.owner,
        "extranet": any(context.portal.company.is_extranet(user) for user in chat.members), "contains_collaber": False,
        "avatar": avatar(context, chat),
        "color": names.COLORS[chat.id % len(names.COLORS)], "type": chat.type, "entity_type": chat.entity_type,
        "entity_id": chat.entity_id, "entity_data_1": chat.entity_data, "entity_data_2": "", "entity_data_3": "",
        "mute_list": {str(context.caller.user): True} if chat.place % 9 == 4 else [], "manager_list": chat.managers,
        "date_create": context.portal.company.moments.iso(chat.started), "message_type": chat.kind,
        "user_counter": len(chat.members), "restrictions": _rights(), "role": role.upper(), "text_field_enabled": True,
        "background_id": None,
        "entity_link": {"type": chat.entity_type, "url": "", "id": chat.entity_id}, "permissions": _permissions(),
        "public": "",
    }  # fmt: skip


def dialog_shape(context: Context, chat: Chat) -> Row:
    """The flat answer of `im.dialog.get`."""
    last = chat.id_at(len(chat) - 1) if len(chat) else 0
    shape = chat_shape(context, chat)
    del shape["contains_collaber"]
    return shape | {
        "description": chat.description, "counter": 0, "message_count": counted(context, chat), "unread_id": 0,
        "restrictions": _rights() | {"path": f"/online/?IM_DIALOG={chat.dialog_id}", "path_title": ""},
        "last_message_id": last, "last_id": last, "marked_id": 0, "disk_folder_id": 5000 + chat.id,
        "role": _role(context, chat), "is_new": False, "readed_list": _readers(context, chat, last),
        "last_message_views": {"message_id": last, "first_viewers": [], "count_of_viewers": 0},
        "dialog_id": dialog_id(chat, context.caller.user),
    } | chat.extra  # fmt: skip


def counted(context: Context, chat: Chat) -> int:
    """The portal increments and decrements its counter and never recounts: it is not exact (bitrix24-rest-1 §D3)."""
    drifts = not context.portal.is_box and not context.portal.message_habits.exact_count
    if not drifts or chat.place % DRIFT_EVERY != 2:
        return len(chat)
    return max(0, len(chat) + DRIFTS[chat.place // DRIFT_EVERY % len(DRIFTS)])


def _rights() -> Row:
    names = ("avatar", "rename", "extend", "call", "mute", "leave", "leave_owner", "send", "user_list")
    return dict.fromkeys(names, True)


def _permissions() -> Row:
    names = ("manage_users_add", "manage_users_delete", "manage_ui", "manage_settings", "manage_messages", "can_post")
    return dict.fromkeys(names, "member")


def _readers(context: Context, chat: Chat, last: int) -> list[Row]:
    others = [user for user in chat.members if user != context.caller.user][:3]
    company = context.portal.company
    return [{"user_id": user, "user_name": company.name_of(user), "message_id": last, "date": None} for user in others]


def _role(context: Context, chat: Chat) -> str:
    user = context.caller.user
    if user == chat.owner:
        return "owner"
    if user in chat.managers:
        return "manager"
    return "member" if user in chat.members else "guest"


def recent_shape(context: Context, chat: Chat) -> Row:
    """A row of the recent list: private ones have the colleague's int id, chats a string."""
    user = context.caller.user
    is_private = chat.kind == PRIVATE
    at = last_activity(context, chat)
    peer = peer_of(chat, user) if is_private else chat.owner
    item: Row = {
        "id": peer if is_private else recent_id(chat), "chat_id": chat.id, "type": "user" if is_private else "chat",
        "title": context.portal.company.name_of(peer) if is_private else chat.name,
        "avatar": {"url": avatar(context, chat), "color": names.COLORS[chat.id % len(names.COLORS)]},
        "message": _last_message(context, chat), "counter": 0, "last_id": chat.id_at(len(chat) - 1) if len(chat) else 0,
        "pinned": is_pinned(chat), "unread": False, "has_reminder": False, "date_last_activity": at,
        "date_update": date_update(context, chat),
        "user": user_shape(context, peer), "options": [],
    }  # fmt: skip
    item["chat"] = (
        {"text_field_enabled": True, "background_id": None, "mute_list": []}
        if is_private
        else chat_shape(context, chat)
    )
    if chat.kind == LINE:
        item["lines"] = {"id": chat.id, "status": 25, "date_create": at}
    return item


def recent_id(chat: Chat) -> str:
    """The chat of a group goes by two names (api-reference/chats/index.md); which one a list has is not documented."""
    return f"sg{chat.entity_id}" if chat.entity_type == "SONET_GROUP" and chat.id % 2 else chat.dialog_id


def is_pinned(chat: Chat) -> bool:
    return chat.place % 29 == 6


def last_activity(context: Context, chat: Chat) -> str:
    company = context.portal.company
    return company.correspondence.at(chat, len(chat) - 1) if len(chat) else company.moments.iso(chat.started)


def date_update(context: Context, chat: Chat) -> str:
    """That of the last message, or later where that one was edited (kernel 25.100)."""
    moments = context.portal.company.moments
    at = moments.parse(last_activity(context, chat)) or 0.0
    return moments.iso(max(at, chat.touched))


def _last_message(context: Context, chat: Chat) -> Row:
    if not len(chat):
        return {
            "id": 0,
            "text": "",
            "file": False,
            "author_id": 0,
            "attach": False,
            "date": False,
            "sticker": None,
            "status": "received",
            "uuid": None,
        }
    row = context.portal.company.correspondence.row(chat, len(chat) - 1)
    return {
        "id": row["id"], "text": row["text"][:200], "file": "FILE_ID" in (row["params"] or {}),
        "author_id": row["author_id"],
        "attach": False, "sticker": None, "date": row["date"], "status": "received", "uuid": row["uuid"],
    }  # fmt: skip


def file_shape(context: Context, number: int, chat_id: int = 0) -> Row | None:
    """A file as messages carry it: camel case beside snake-case messages. One that hangs on something else as well
    is shown with the chat it is asked for."""
    company = context.portal.company
    found, attachment = company.file(number), company.attachments.of_object(number)
    if found is not None:
        file, chat, place = found
        row = company.correspondence.row(chat, place)
        chat_id, author, at = chat_id or chat.id, row["author_id"], row["date"]
    elif attachment is not None:
        file = company.attachments.file(number) or File(number, "", 0)
        author, at = attachment.created_by, company.moments.iso(attachment.created_at)
    else:
        return None
    ajax = f"{company.portal_url}/bitrix/services/main/ajax.php?action=disk.api.file.download&fileId={number}"
    return {
        "id": number, "chatId": chat_id, "date": at, "type": "image" if file.is_image else "file",
        "name": file.name,
        "extension": file.extension, "size": file.size, "image": {"height": 61,
        "width": 72} if file.is_image else False,
        "status": "done", "progress": 100, "authorId": author,
        "authorName": company.name_of(author),
        "urlPreview": f"{ajax}&preview=1" if file.is_image else "", "urlShow": ajax, "urlDownload": ajax,
        "viewerAttrs": _viewer(file, number, chat_id, ajax),
        "mediaUrl": {"preview": {"250": f"{ajax}&preview=1&width=250"}} if file.is_image else [],
        "isTranscribable": False, "isVideoNote": False, "isVoiceNote": False,
    }  # fmt: skip


def _viewer(file: File, number: int, chat_id: int, link: str) -> Row:
    """The link that the portal's own page uses for a file; pictures have another one."""
    more = {"viewerResized": ""} if file.is_image else {"unifiedLink": link}
    return {
        "viewer": "", "viewerType": "image" if file.is_image else "unknown", "src": link, "objectId": str(number),
        "viewerGroupBy": str(chat_id), "imChatId": chat_id, "title": file.name, "actions": "[]", **more,
    }  # fmt: skip
