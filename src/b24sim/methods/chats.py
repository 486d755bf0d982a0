"""im.*: which chats there are and who is in them."""

from datetime import timedelta
from typing import Any

from b24sim.company.chats import CHANNEL, LINE, OPEN_CHANNEL, PRIVATE, THREAD, Chat
from b24sim.company.chats import COPILOT as WITH_COPILOT
from b24sim.company.tasks import ENTITY, OLD_ENTITY
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.dialogs import (
    date_update,
    dialog,
    dialog_shape,
    is_pinned,
    last_activity,
    recent_shape,
    user_shape,
)
from b24sim.paging import whole, yes
from b24sim.phpjson import Parts, encode, encode_all
from b24sim.request import Params
from b24sim.result import PAGE, Result

RECENT_DAYS = 30
SYNC_DAYS = 7
COPILOT: dict[str, Any] = {"chats": None, "messages": None, "roles": [], "recommendedRoles": []}


def recent_list(context: Context, params: Params) -> Result:
    """One's own chats, pinned first, then by last activity. `next` counts items and misleads; `hasMore` does not."""
    limit = min(max(whole(params.get("LIMIT", 50)) or 50, 1), context.portal.habits.recent_page)
    offset = max(0, whole(params.get("OFFSET", 0)))
    chats = _wanted(_recent(context), params)
    until = params.get("LAST_MESSAGE_DATE")
    if until:
        moments = context.portal.company.moments
        mark, offset = moments.parse(until) or 0.0, 0
        chats = [chat for chat in chats if (moments.parse(last_activity(context, chat)) or 0.0) <= mark]
    page = chats[offset : offset + limit]
    more = offset + limit < len(chats)
    items = encode_all(recent_shape(context, chat) for chat in page)
    answer = {
        "items": items,
        "hasMore": more,
        "hasMorePages": more,
        "copilot": COPILOT,
        "messagesAutoDeleteConfigs": [],
    }
    return Result(Parts(answer), total=-1, next=offset + len(page) if more else None)


def recent_get(context: Context, params: Params) -> Result:
    """The last thirty days at most, a week when a date is given; one that cannot be read is ignored (kernel 25.100)."""
    moments, now = context.portal.company.moments, context.portal.clock.now()
    since = now - timedelta(days=RECENT_DAYS).total_seconds()
    asked = moments.parse(params["LAST_SYNC_DATE"]) if params.get("LAST_SYNC_DATE") else None
    if asked is not None:
        since = max(asked, now - timedelta(days=SYNC_DAYS).total_seconds())
    chats = _wanted(_recent(context), params)
    fresh = [chat for chat in chats if (moments.parse(date_update(context, chat)) or 0.0) >= since]
    return Result(encode_all(recent_shape(context, chat) for chat in fresh))


def _recent(context: Context) -> list[Chat]:
    """The order is worked out once per user, as long as no message is written."""
    company, user = context.portal.company, context.caller.user
    version, chats = context.portal.recent.get(user, (-1, []))
    if version != company.chats_version:
        # Chats with the same second have no order; comment chats of channels are in no list.
        mine = (chat for chat in company.chats.values() if user in chat.members and chat.kind != THREAD)
        chats = context.portal.in_no_order(chat for chat in mine if user not in chat.hidden_by)
        chats.sort(
            key=lambda chat: (is_pinned(chat), company.moments.parse(last_activity(context, chat)) or 0.0), reverse=True
        )
        context.portal.recent[user] = (company.chats_version, chats)
    return chats


def _wanted(chats: list[Chat], params: Params) -> list[Chat]:
    if yes(params.get("UNREAD_ONLY", "N")):
        return []
    only_copilot = yes(params.get("ONLY_COPILOT", "N"))  # and without it none of these
    chats = [chat for chat in chats if (chat.kind == WITH_COPILOT) == only_copilot]
    for name, kinds in (("SKIP_DIALOG", {PRIVATE}), ("SKIP_OPENLINES", {LINE})):
        if yes(params.get(name, "N")):
            chats = [chat for chat in chats if chat.kind not in kinds]
    if yes(params.get("SKIP_CHAT", "N")):
        chats = [chat for chat in chats if chat.kind == PRIVATE]
    if yes(params.get("ONLY_CHANNEL", "N")):
        chats = [chat for chat in chats if chat.kind in {CHANNEL, OPEN_CHANNEL}]
    return chats


def dialog_get(context: Context, params: Params) -> Result:
    return Result(dialog_shape(context, dialog(context, params)))


def chat_get(context: Context, params: Params) -> Result:
    """Resolves an entity to a chat id and does no more; some portals list chats under this name instead."""
    if params.get("DIALOG_ID"):
        return dialog_get(context, params)
    if context.portal.listing_chats and not params.get("ENTITY_TYPE"):
        return _listing(context, whole(params.get("START", 0)))
    kind, number = str(params.get("ENTITY_TYPE") or ""), str(params.get("ENTITY_ID") or "")
    chat_of_task = context.portal.company.tasks.chat_of(whole(number)) if kind in (ENTITY, OLD_ENTITY) else None
    if chat_of_task and chat_of_task.entity_type == kind:
        return Result({"ID": chat_of_task.id})
    for chat in context.portal.company.chats.values():
        if kind and chat.entity_type == kind and chat.entity_id == number:
            return Result({"ID": chat.id})
    return Result(None)


def _listing(context: Context, start: int) -> Result:
    company, user = context.portal.company, context.caller.user
    chats = [chat for chat in company.chats.values() if company.readable(chat, user)]
    page = chats[start : start + PAGE]
    following = start + PAGE if start + PAGE < len(chats) else None
    return Result(encode_all(dialog_shape(context, chat) for chat in page), len(chats), following)


def chat_users(context: Context, params: Params) -> Result:
    """Ids of all members; an empty list for who may not look."""
    if not params.get("CHAT_ID") and not params.get("DIALOG_ID"):
        raise RestError("CHAT_ID_EMPTY", "Chat ID can't be empty")
    try:
        return Result(context.portal.in_no_order(dialog(context, params).members))
    except RestError:
        return Result([])


def dialog_users(context: Context, params: Params) -> Result:
    """Members as objects; the dismissed are left out."""
    company = context.portal.company
    members = sorted(user for user in dialog(context, params).members if company.is_active(user))
    limit = min(max(whole(params.get("LIMIT", 50)) or 50, 1), 200)
    if params.get("LAST_ID") is not None:
        page = [user for user in members if user > whole(params["LAST_ID"])][:limit]
        return Result(encode_all(user_shape(context, user) for user in page))
    offset = max(0, whole(params.get("OFFSET", 0)))
    page = members[offset : offset + limit]
    following = offset + limit if offset + limit < len(members) else None
    return Result(encode_all(user_shape(context, user) for user in page), len(members), following)


def user_get(context: Context, params: Params) -> Result:
    number = whole(params.get("ID", context.caller.user))
    if not _exists(context, number):
        raise RestError("ID_EMPTY" if not number else "USER_NOT_EXISTS", "User doesn't exist")
    return Result(user_shape(context, number))


def user_list(context: Context, params: Params) -> Result:
    asked = params.get("ID") if isinstance(params.get("ID"), list) else []
    if not asked:
        raise RestError("ID_EMPTY", "User ID can't be empty")
    found = {str(whole(number)): _user_or_none(context, whole(number)) for number in asked}
    if params.get("RESULT_TYPE") == "array":
        return Result(context.portal.in_no_order(user for user in found.values() if user is not None))
    return Result(Parts({key: encode(value) for key, value in found.items()}))


def _user_or_none(context: Context, number: int) -> Any:
    return user_shape(context, number) if _exists(context, number) else None


def _exists(context: Context, number: int) -> bool:
    return number in context.portal.company.users or number in context.portal.company.bots


def search_chats(context: Context, params: Params) -> Result:
    """By the beginnings of words of the title and of the names of participants; without an index of the whole text
    (kernel 25.100) by the beginning of the title. Private dialogs are not in the index."""
    text = str(params.get("FIND") or "")
    if len(text) < 2:
        raise RestError("FIND_SHORT", "Too short a search phrase")
    company, user = context.portal.company, context.caller.user
    people = context.portal.message_habits.chats_by == "people"
    found = [
        chat
        for chat in company.chats.values()
        if chat.kind != PRIVATE
        and company.readable(chat, user)
        and (
            _has_words(text, [chat.name, *map(company.name_of, chat.members)])
            if people
            else chat.name.casefold().startswith(text.casefold())
        )
    ]
    found.sort(key=lambda chat: -chat.id)
    limit = min(max(whole(params.get("LIMIT", 10)) or 10, 1), 50)
    offset = max(0, whole(params.get("OFFSET", 0)))
    page = found[offset : offset + limit]
    following = offset + limit if offset + limit < len(found) else None
    return Result(encode_all(_found_shape(context, chat) for chat in page), len(found), following)


def _has_words(text: str, names: list[str]) -> bool:
    words = " ".join(names).casefold().split()
    return all(any(word.startswith(one) for word in words) for one in text.casefold().split())


def _found_shape(context: Context, chat: Chat) -> dict[str, Any]:
    """Fewer fields than `im.dialog.get` (chats/search/im-search-chat-list.md)."""
    missing = ("dialog_id", "last_message_views", "manager_list", "readed_list")
    return {name: value for name, value in dialog_shape(context, chat).items() if name not in missing}


METHODS = [
    Method("im.recent.list", ("im",), recent_list, upper=True),
    Method("im.recent.get", ("im",), recent_get, upper=True),
    Method("im.dialog.get", ("im",), dialog_get, upper=True),
    Method("im.chat.get", ("im",), chat_get, upper=True),
    Method("im.chat.user.list", ("im",), chat_users, upper=True),
    Method("im.dialog.users.list", ("im",), dialog_users, upper=True),
    Method("im.user.get", ("im",), user_get, upper=True),
    Method("im.user.list.get", ("im",), user_list, upper=True),
    Method("im.search.chat.list", ("im",), search_chats, upper=True),
]
