"""im.v2.Import.*: a chat with its authors and dates, for applications of an administrator only.

In no document; from the kernel: im lib/V2/Controller/Import.php, lib/V2/Controller/Import/Message.php,
lib/V2/Import/ImportService.php and ImportSendingService.php. No user is notified until it is committed.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from b24sim.company.chats import CLOSED, OPEN, Chat
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.chats import picture
from b24sim.native.ledger import stamp_of
from b24sim.native.messages import FOLDER, cut
from b24sim.native.said import announce
from b24sim.native.writing import created, flag, listed, mapping, now_of
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

UNDER_WAY, FINISHED = "IMPORT_GROUP", "IMPORT_GROUP_FINISH"
MOST = 2_000
BROKEN = "Не удалось импортировать сообщение"


def create_group(context: Context, params: Params) -> Result:
    """Only its owner is a member at first."""
    company, fields, owner = context.portal.company, mapping(params, "fields"), whole(params.get("ownerId"))
    if owner not in company.users:
        raise RestError("CREATION_ERROR", "Chat creation error")
    number, kind = context.portal.native.number("chats"), OPEN if fields.get("isOpen") == "Y" else CLOSED
    chat = Chat(number, 0, kind, str(fields.get("title") or f"Чат {number}"), owner, [owner], started=now_of(context))
    chat.description = str(fields.get("description") or "")
    chat.entity_type, chat.entity_id = UNDER_WAY, str(params.get("externalId") or "")
    company.chats[number] = chat
    company.chats_version += 1
    picture(context, chat, fields.get("avatar"))
    created(context, "chats", number, stamp_of(UNDER_WAY, chat.entity_id or f"#{number}"))
    return Result({"chatId": number, "type": kind})


def create_private(_context: Context, _params: Params) -> Result:
    """The kernel's own chat of two wants more than this hands on, and its failure is taken for a success."""
    return Result({"chatId": False, "type": "P"})


def folder_id(context: Context, params: Params) -> Result:
    return Result({"chatFolderId": FOLDER + _under_way(context, params).id})


def abort(context: Context, params: Params) -> Result:
    chat, company = _under_way(context, params), context.portal.company
    del company.chats[chat.id]
    company.chats_version += 1
    context.portal.native.deleted("chats", chat.id)
    for row in chat.added:
        context.portal.native.deleted("messages", row["id"])
    return Result({"success": True})


def commit_group(context: Context, params: Params) -> Result:
    """Members join as they are named: the owner, who is there, would be in it twice. One message tells of the end."""
    chat = _under_way(context, params)
    chat.members = [*chat.members, *(whole(user) for user in listed(params.get("users")))]
    chat.entity_type, chat.entity_id = FINISHED, ""
    context.portal.company.chats_version += 1
    context.portal.native.updated("chats", chat.id)
    announce(context, chat, "Импорт завершён", "IMPORT_FINISH")
    return Result({"success": True})


def message_add(context: Context, params: Params) -> Result:
    """One after another; a stub takes the place of a bad one."""
    chat, good, bad = _under_way(context, params), [], []
    for place, message in enumerate(_messages(params)):
        known = str(message.get("externalId") or place)
        at, why = _accepted(context, chat, message)
        if at is None and not chat.added:
            raise RestError("IMPORT_DATETIME_ERROR_FIRST", "The date of the first message is not correct")
        text = BROKEN if why else cut(str(message.get("message") or ""))
        number = _put(context, chat, message, text, at, file=not why)
        if why:
            bad.append({"id": number, "externalId": known, "errorCode": why, "errorMessage": why})
        else:
            good.append({"id": number, "externalId": known})
    return Result({"successResult": good, "errorResult": bad})


def message_update(context: Context, params: Params) -> Result:
    chat, good, bad = _under_way(context, params), [], []
    places = {row["id"]: place for place, row in enumerate(chat.added)}
    for message in _messages(params):
        number, why = whole(message.get("id")), _bad_file(context, chat, message)
        if number not in places:
            why = "MESSAGE_NOT_FOUND"
        if why:
            bad.append({"id": number, "errorCode": why, "errorMessage": why})
            continue
        row = chat.added[places[number]]
        changed: Row = {"text": cut(str(message["message"]))} if message.get("message") is not None else {}
        if message.get("fileId"):
            changed["params"] = dict(row["params"] or {}) | {"FILE_ID": [whole(message["fileId"])]}
        chat.added[places[number]] = row | changed
        context.portal.native.updated("messages", number)
        good.append({"id": number})
    context.portal.company.chats_version += 1
    return Result({"successResult": good, "errorResult": bad})


def _accepted(context: Context, chat: Chat, message: Row) -> tuple[float | None, str]:
    """The given date of a message, and its error."""
    at = _moment(message.get("dateCreate"))
    if at is None:
        return None, "IMPORT_DATETIME_ERROR"
    last = max((context.portal.company.moments.parse(row["date"]) or 0.0 for row in chat.added), default=0.0)
    if _stored(context, at) < last:
        return at, "IMPORT_CHRONOLOGY_ERROR"
    return at, _bad_file(context, chat, message)


def _bad_file(context: Context, chat: Chat, message: Row) -> str:
    if not message.get("fileId"):
        return ""
    found = context.portal.company.drive.files.get(whole(message["fileId"]))
    if found is None:
        return "IMPORT_FILE_NOT_FOUND"
    return "" if found.folder == FOLDER + chat.id else "IMPORT_FILE_ACCESS_ERROR"


def _put(context: Context, chat: Chat, message: Row, text: str, at: float | None, *, file: bool) -> int:
    number, company = context.portal.native.number("messages"), context.portal.company
    author = 0 if flag(message.get("system")) == "Y" else whole(message.get("authorId"))
    files = [whole(message["fileId"])] if file and message.get("fileId") else []
    date = company.moments.iso(_stored(context, at)) if at is not None else chat.added[-1]["date"]
    chat.added.append({
        "id": number, "chat_id": chat.id, "author_id": author, "date": date, "text": text, "unread": False,
        "uuid": None, "replaces": [], "params": {"FILE_ID": files} if files else [], "disappearing_date": None,
    })  # fmt: skip
    for one in files:
        company.drive.files[one].chat, company.drive.files[one].message = chat.id, number
    company.chats_version += 1
    created(context, "messages", number, stamp_of(chat.id, author, date, text, *files))
    return number


def _stored(context: Context, at: float) -> float:
    """A date is turned into the caller's local time, and read as the server's."""
    if not context.portal.box_habits.import_shift:
        return at
    company, now = context.portal.company, now_of(context)
    own, server = company.moments_of(context.caller.user), company.moments
    return at + own.offset_s(now) - server.offset_s(now)


def _moment(value: Any) -> float | None:
    """RFC 3339, with an offset."""
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo else None


def _messages(params: Params) -> list[Row]:
    found = [one for one in listed(params.get("messages")) if isinstance(one, dict)]
    if len(found) > MOST:
        raise RestError("TOO_MANY_MESSAGES", "Too many messages")
    return found


def _under_way(context: Context, params: Params) -> Chat:
    chat = context.portal.company.chats.get(whole(params.get("chatId")))
    if chat is None:
        raise RestError("CHAT_NOT_FOUND", "Chat not found")
    if chat.entity_type != UNDER_WAY:
        raise RestError("IMPORT_ACCESS_ERROR", "You do not have access to the import")
    return chat


def _for_administrators(act: Callable[[Context, Params], Result]) -> Callable[[Context, Params], Result]:
    """A webhook is refused whatever it asks."""

    def guarded(context: Context, params: Params) -> Result:
        if not context.caller.application:
            raise RestError("insufficient_auth_type", "The current authorization type is denied for this method")
        if not context.caller.admin:
            raise RestError("IMPORT_ACCESS_ERROR", "You do not have access to the import")
        return act(context, params)

    return guarded


ACTS: dict[str, Callable[[Context, Params], Result]] = {
    "createGroup": create_group,
    "createPrivate": create_private,
    "getFolderId": folder_id,
    "abort": abort,
    "commitGroup": commit_group,
    "commitPrivate": commit_group,
    "Message.add": message_add,
    "Message.update": message_update,
}
METHODS = [Method(f"im.v2.Import.{name}", ("im.import",), _for_administrators(act)) for name, act in ACTS.items()]
