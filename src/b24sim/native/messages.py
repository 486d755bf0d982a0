"""im.message.* and files of chats: always in the caller's own name, always now."""

import binascii
from base64 import b64decode
from typing import Any

from b24sim.company.chats import PRIVATE, Chat
from b24sim.company.drive import DriveFile
from b24sim.company.message_changes import DELETED_TEXT
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.dialogs import access_error, dialog, dialog_id, file_shape
from b24sim.native.said import say
from b24sim.native.writing import flag, listed, now_of
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

LONGEST, TAIL = 20_000, " (...)"
EDITABLE_S = 259_200.0  # three days (im-message-update.md)
LARGEST_FILE = 100_000_000
FOLDER = 5_000


def add(context: Context, params: Params) -> Result:
    """A text that is too long is cut. SYSTEM hides who said it, in chats of several."""
    chat = _written_to(context, params)
    text = str(params.get("MESSAGE") or "")
    if not text and not params.get("ATTACH"):
        raise RestError("MESSAGE_EMPTY", "Message can't be empty")
    system = flag(params.get("SYSTEM")) == "Y" and chat.kind != PRIVATE
    return Result(say(context, chat, cut(text), author=0 if system else context.caller.user))


def update(context: Context, params: Params) -> Result:
    """Only one's own; an empty text deletes it."""
    chat, place = _message(context, params)
    row, text = chat.added[place], str(params.get("MESSAGE") or "")
    age_s = now_of(context) - (context.portal.company.moments.parse(row["date"]) or 0.0)
    if row["author_id"] != context.caller.user or age_s > EDITABLE_S or not context.portal.box_habits.push_server:
        raise RestError("CANT_EDIT_MESSAGE", "Time has expired for modification or you don't have access")
    if not text:
        return delete(context, params)
    chat.added[place] = row | {"text": cut(text), "params": dict(row["params"] or {}) | {"IS_EDITED": "Y"}}
    context.portal.company.chats_version += 1
    context.portal.native.updated("messages", row["id"])
    return Result(True)


def delete(context: Context, params: Params) -> Result:
    """Its place stays. An administrator may delete messages of dismissed users."""
    chat, place = _message(context, params)
    row = chat.added[place]
    mine = row["author_id"] == context.caller.user or (context.caller.admin and _dismissed(context, row["author_id"]))
    if not mine or not context.portal.box_habits.push_server:
        raise RestError("CANT_EDIT_MESSAGE", "Time has expired for modification or you don't have access")
    chat.added[place] = row | {"text": DELETED_TEXT, "params": {"IS_DELETED": "Y"}}
    context.portal.company.chats_version += 1
    context.portal.native.deleted("messages", row["id"])
    return Result(True)


def _dismissed(context: Context, user: int) -> bool:
    users = context.portal.company.users
    return user in users and not users.row(user)["ACTIVE"]


def like(context: Context, params: Params) -> Result:
    chat, place = _message(context, params)
    row, user = chat.added[place], context.caller.user
    known = dict(row["params"] or {})
    likes = list(known.get("LIKE", []))
    action = str(params.get("ACTION") or "auto")
    wanted = user not in likes if action == "auto" else action == "plus"
    if (user in likes) is wanted:
        raise RestError("WITHOUT_CHANGES", "Status is not changed")
    likes = [*likes, user] if wanted else [other for other in likes if other != user]
    known = {name: value for name, value in known.items() if name != "LIKE"} | ({"LIKE": likes} if likes else {})
    chat.added[place] = row | {"params": known or []}
    context.portal.company.chats_version += 1
    return Result(True)


def folder_get(context: Context, params: Params) -> Result:
    return Result({"ID": FOLDER + _written_to(context, params).id})


def file_commit(context: Context, params: Params) -> Result:
    """Shows files of the Drive in a chat, under the names they were asked for by. What lies elsewhere is copied into
    the chat's folder, and the message has the copy (im classes/general/im_disk.php, SaveFromLocalDisk)."""
    chat, drive = _written_to(context, params), context.portal.company.drive
    asked = {f"upload{whole(one)}": whole(one) for one in listed(params.get("UPLOAD_ID"))}
    asked |= {f"disk{whole(one)}": whole(one) for name in ("FILE_ID", "DISK_ID") for one in listed(params.get(name))}
    asked = {name: number for name, number in asked.items() if number in drive.files}
    if not asked:
        raise RestError("FILES_ERROR", "List of files is not correct")
    asked = {
        name: number if name.startswith("upload") else copied(context, chat, number) for name, number in asked.items()
    }
    numbers = list(asked.values())
    made = say(context, chat, cut(str(params.get("MESSAGE") or "")), author=context.caller.user, files=numbers)
    # Times come as empty objects here (chats/files/im-disk-file-commit.md).
    shapes = {name: (file_shape(context, number, chat.id) or {}) | {"date": {}} for name, number in asked.items()}
    models = {name: _model(context, number) for name, number in asked.items()}
    ids = [str(number) for number in numbers]
    return Result({"FILES": shapes, "DISK_ID": ids, "FILE_MODELS": models, "MESSAGE_ID": made})


def _model(context: Context, number: int) -> Row:
    """A file as the Drive itself thinks of it."""
    file, user = context.portal.company.drive_file(number), str(context.caller.user)
    return {
        "id": number, "name": file.name if file else "", "createTime": {}, "updateTime": {}, "deleteTime": None,
        "code": "", "xmlId": None, "storageId": 1, "realObjectId": number, "parentId": 1, "deletedType": 0,
        "createdBy": user, "updatedBy": user, "deletedBy": "0", "uniqueCode": "", "typeFile": 1,
        "globalContentVersion": 1, "fileId": number + 30_000, "size": file.size if file else 0, "etag": "",
        "links": dict.fromkeys(("download", "showInGrid", "preview"), ""),
    }  # fmt: skip


def file_upload(context: Context, params: Params) -> Result:
    """Newer than many boxes: a file and its message at once."""
    chat = _written_to(context, {"DIALOG_ID": params.get("dialogId")})
    fields: Row = params["fields"] if isinstance(params.get("fields"), dict) else {}
    data = _bytes(fields.get("content"))
    uploaded = _keep(context, chat, str(fields.get("name") or "file"), data)
    number = uploaded.file.id
    made = say(context, chat, cut(str(fields.get("message") or "")), author=context.caller.user, files=[number])
    shape = file_shape(context, number, chat.id)
    return Result(
        {"file": shape, "messageId": made, "chatId": chat.id, "dialogId": dialog_id(chat, context.caller.user)}
    )


def cut(text: str) -> str:
    """im classes/general/im_messenger.php, MESSAGE_LIMIT."""
    return text if len(text) <= LONGEST + len(TAIL) else text[:LONGEST] + TAIL


def _bytes(content: Any) -> bytes:
    try:
        data = b64decode(str(content or ""), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data or len(data) > LARGEST_FILE:
        raise RestError("FILE_ERROR", "File content is not correct")
    return data


def _keep(context: Context, chat: Chat, name: str, data: bytes) -> DriveFile:
    by, at = context.caller.user, now_of(context)
    return context.portal.company.drive.add_file(FOLDER + chat.id, name, data, by=by, at=at)


def copied(context: Context, chat: Chat, number: int) -> int:
    """The number of a file's copy in the folder of a chat."""
    drive = context.portal.company.drive
    original = drive.files[number]
    return _keep(context, chat, original.file.name, original.file.stretch(0, original.file.size)).file.id


def _written_to(context: Context, params: Params) -> Chat:
    """A chat to write in: one has to be in it. A colleague to whom nothing was said yet gets a dialog."""
    company, user, peer = context.portal.company, context.caller.user, str(params.get("DIALOG_ID") or "")
    if peer.isdigit() and int(peer) in company.users and int(peer) != user:
        pair = frozenset((user, int(peer)))
        if pair not in company.private_chats:
            number = context.portal.native.number("chats")
            company.chats[number] = Chat(
                number, 0, PRIVATE, company.name_of(int(peer)), user, [user, int(peer)], started=now_of(context)
            )
            company.chats_version += 1
            context.portal.native.created("private_chats", number, str(sorted(pair)), user, now_of(context))
    chat = dialog(context, params)
    if user not in chat.members:
        raise access_error()
    return chat


def _message(context: Context, params: Params) -> tuple[Chat, int]:
    number = whole(params.get("MESSAGE_ID", params.get("ID")))
    if not number:
        raise RestError("MESSAGE_ID_ERROR", "Message ID can't be empty")
    for chat in context.portal.company.chats.values():
        if context.caller.user in chat.members:
            place = next((place for place, row in enumerate(chat.added) if row["id"] == number), None)
            if place is not None:
                return chat, place
    raise access_error()


METHODS = [
    Method("im.message.add", ("im",), add, upper=True),
    Method("im.message.update", ("im",), update, upper=True),
    Method("im.message.delete", ("im",), delete, upper=True),
    Method("im.message.like", ("im",), like, upper=True),
    Method("im.disk.folder.get", ("im",), folder_get, upper=True),
    Method("im.disk.file.commit", ("im",), file_commit, upper=True),
    Method("im.v2.File.upload", ("im",), file_upload),
]
