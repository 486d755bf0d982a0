"""im.*: messages."""

from collections.abc import Iterable
from random import Random
from typing import Any

from b24sim.company.chats import Chat
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.dialogs import chat_by_id, dialog, file_shape, user_shape
from b24sim.paging import whole
from b24sim.phpjson import Parts, Rows, decode, encode, encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

LIMIT, MAX_LIMIT = 20, 50
SEARCH_LIMIT, MAX_SEARCH_LIMIT = 50, 200
# Without a cursor a portal adds unread messages to the newest ones.
UNREAD = 3
MOST_PAGES = 2_000


def messages_get(context: Context, params: Params) -> Result:
    """LAST_ID goes down, newest first. FIRST_ID goes up, wins and has no order; neither gives the newest and then some.
    Facts: api-reference/chats/messages/im-dialog-messages-get.md; FIRST_ID=0: bitrix-tools/b24-rest-docs issue 344."""
    chat, habits = dialog(context, params), context.portal.message_habits
    first_visible = chat.places_up_to(chat.sees_from.get(context.caller.user, 0) - 1)
    limit = min(max(whole(params.get("LIMIT", LIMIT)) or LIMIT, 1), context.portal.habits.message_page)
    if params.get("FIRST_ID") is not None:
        places = _upwards(chat, _cursor(params, "FIRST_ID"), limit, first_visible, habits.plain_first_id)
        return Result(_made(context, chat, places))
    if params.get("LAST_ID") is None:
        return Result(_page(context, chat, _downwards(len(chat), limit + UNREAD, first_visible)))
    last = _cursor(params, "LAST_ID")
    end = chat.places_up_to(last - 1) if last and habits.pages != "stuck" else len(chat)
    limit = _shortened(chat, end, limit) if habits.pages == "short" else limit
    page = _downwards(end, limit, first_visible)
    if habits.order == "newest" and habits.pages != "unread":
        return Result(_page(context, chat, page))
    places = list(page[::-1] if habits.order == "oldest" else page)
    if habits.pages == "unread":
        places += _downwards(len(chat), 2, max(first_visible, end))
    if habits.order == "mixed":
        Random(chat.id * 31 + end).shuffle(places)
    return Result(_made(context, chat, places, unread_from=end if habits.pages == "unread" else None))


def _downwards(end: int, limit: int, first_visible: int) -> range:
    """A user who joined late sees no earlier messages, unless allowed."""
    return range(end - 1, max(end - limit, first_visible) - 1, -1)


def _upwards(chat: Chat, after: int, limit: int, first_visible: int, plain: bool) -> list[int]:
    start = max(chat.places_up_to(after), first_visible)
    places = list(range(start, min(start + limit, len(chat))))
    if plain:
        return places
    if after <= 0 and len(chat) > start + limit:
        places += range(max(start + limit, len(chat) - 1 - chat.id % 2), len(chat))
    Random(chat.id * 31 + start).shuffle(places)
    return places


def _shortened(chat: Chat, end: int, limit: int) -> int:
    """Some pages in the middle hold fewer rows than they might."""
    return max(1, limit - 1 - (end * 7 + chat.id) % 4)


def _page(context: Context, chat: Chat, places: range) -> Parts:
    """A page as it was made the first time, unless something changed since; benchmarks read the same pages often."""
    portal = context.portal
    versions = (portal.company.chats_version, portal.company.users.version)
    if portal.page_versions != versions or len(portal.pages) >= MOST_PAGES:
        portal.pages.clear()
        portal.page_versions = versions
    page = portal.pages.get((chat.id, places))
    if page is None:
        page = portal.pages[chat.id, places] = _made(context, chat, places)
    return page


def _made(context: Context, chat: Chat, places: Iterable[int], unread_from: int | None = None) -> Parts:
    correspondence = context.portal.company.correspondence
    rows = (
        correspondence.page(chat, places)
        if isinstance(places, range)
        else Rows(correspondence.encoded(chat, place) for place in places)
    )
    if unread_from is not None:
        rows = Rows(
            row.replace(b'"unread":false', b'"unread":true') if place >= unread_from else row
            for place, row in zip(places, rows, strict=True)
        )
    users, files = _authors(context, rows), _files(context, rows)
    return Parts({"chat_id": chat.id, "messages": rows, "users": users, "files": files})


def _cursor(params: Params, name: str) -> int:
    value = params[name]
    if isinstance(value, (list, dict)) or not str(value).lstrip("-").isdigit():
        raise RestError(f"{name}_STRING", f"{name} can't be string")
    return int(value)


def _authors(context: Context, rows: Rows) -> Rows:
    """Authors only, and only real ones."""
    authors: dict[bytes, None] = {}
    for row in rows:
        start = row.index(b'"author_id":') + 12
        authors[row[start : row.index(b",", start)]] = None
    portal = context.portal
    users = Rows()
    for number in authors:
        if number != b"0":
            shape = portal.faces.get(number)
            if shape is None or shape[0] != portal.company.users.version:
                shape = portal.faces[number] = (portal.company.users.version, encode(user_shape(context, int(number))))
            users.append(shape[1])
    return users


def _files(context: Context, rows: Rows) -> Rows:
    carrying = [decode(row) for row in rows if b'"FILE_ID":[' in row]
    numbers = [(number, row["chat_id"]) for row in carrying for number in row["params"]["FILE_ID"]]
    return encode_all(shape for number, chat in numbers if (shape := file_shape(context, number, chat)))


def message_list(context: Context, params: Params) -> Result:
    """The listing portals' way: offset and limit, oldest first, with a total."""
    chat = chat_by_id(context, params)
    limit = min(max(whole(params.get("LIMIT", MAX_LIMIT)) or MAX_LIMIT, 1), MAX_LIMIT)
    offset = max(0, whole(params.get("OFFSET", 0)))
    places = range(offset, min(offset + limit, len(chat)))
    rows = context.portal.company.correspondence.page(chat, places)
    return Result(Parts({"messages": rows, "files": _files(context, rows)}), total=len(chat))


def messages_search(context: Context, params: Params) -> Result:
    """Doubles as a pager of 200 rows with dates; rows are camel case here."""
    chat = chat_by_id(context, params)
    if context.portal.message_habits.search == "none":
        raise RestError("ERROR_METHOD_NOT_FOUND", "Method not found!", 404)
    rows = _found(context, chat, params)
    numbers = [number for row in rows for number in (row["params"] or {}).get("FILE_ID", [])]
    authors = {row["author_id"] for row in rows} - {0}
    answer: dict[str, Any] = {
        "messages": encode_all(_camel(row) for row in rows),
        "users": encode_all(_camel_keys(user_shape(context, number)) for number in sorted(authors)),
        "files": encode_all(shape for number in numbers if (shape := file_shape(context, number))),
        "additionalMessages": [],
        "copilot": None,
        "reactions": encode_all(_reactions(row) for row in rows if (row["params"] or {}).get("LIKE")),
        "usersShort": [],
        "stickers": [],
        "tariffRestrictions": {"isHistoryLimitExceeded": False},
    }
    return Result(Parts(answer))


def _found(context: Context, chat: Chat, params: Params) -> list[Row]:
    moments = context.portal.company.moments
    order = params.get("ORDER")
    ascending = isinstance(order, dict) and str(order.get("ID", "DESC")).upper() == "ASC"
    limit = min(max(whole(params.get("LIMIT", SEARCH_LIMIT)) or SEARCH_LIMIT, 1), MAX_SEARCH_LIMIT)
    since, until = (moments.parse(params[name]) if params.get(name) else None for name in ("DATE_FROM", "DATE_TO"))
    needle = str(params.get("SEARCH_MESSAGE") or "").casefold()
    found: list[Row] = []
    first_visible = chat.places_up_to(chat.sees_from.get(context.caller.user, 0) - 1)
    people_only = context.portal.message_habits.search == "people"
    for place in _walk(chat, whole(params.get("LAST_ID", 0)), ascending):
        row = context.portal.company.correspondence.row(chat, place)
        at = moments.parse(row["date"]) or 0.0
        in_time = (since is None or at >= since) and (until is None or at <= until)
        seen = place >= first_visible and (row["author_id"] or not people_only)
        if in_time and seen and needle in row["text"].casefold():
            found.append(row)
            if len(found) == limit:
                break
    return found


def _walk(chat: Chat, last: int, ascending: bool) -> range:
    if ascending:
        return range(chat.places_up_to(last) if last else 0, len(chat))
    return range((chat.places_up_to(last - 1) if last else len(chat)) - 1, -1, -1)


def _camel(row: Row) -> Row:
    known = {name: value for name, value in row.items() if name not in {"disappearing_date", "replaces"}}
    return known | {
        "authorId": row["author_id"], "chatId": row["chat_id"], "isSystem": row["author_id"] == 0, "forward": None,
        "viewed": True, "viewedByOthers": True, "viewedCount": 1, "block": None,
    }  # fmt: skip


def _camel_keys(row: Row) -> Row:
    parts = ((name.split("_"), value) for name, value in row.items())
    return {first + "".join(part.capitalize() for part in rest): value for (first, *rest), value in parts}


def _reactions(row: Row) -> dict[str, Any]:
    likes = row["params"]["LIKE"]
    return {
        "messageId": row["id"], "reactionCounters": {"LIKE": len(likes)}, "reactionUsers": {"LIKE": likes},
        "ownReactions": [],
    }  # fmt: skip


METHODS = [
    Method("im.dialog.messages.get", ("im",), messages_get, upper=True),
    Method("im.dialog.messages.search", ("im",), messages_search, upper=True, private=True),
]
LISTING_METHODS = [Method("im.chat.message.list", ("im",), message_list, upper=True)]
