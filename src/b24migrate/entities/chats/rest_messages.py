"""Messages as quotes of the webhook owner: with author, date and source ID."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from b24migrate.entities.chats import rest_import, rest_rules
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command
from b24migrate.targets.rest import files, values
from b24migrate.targets.rest.box import Box, rows_at, user_names
from b24migrate.targets.rest.journal import is_marked, set_mark
from b24migrate.targets.rest.values import add_header, format_number, header_number
from b24migrate.targets.rest.writer import UNEDITED, CreateResult, Known, Writer, choose_unclaimed, create_one

PAGE = 50
SYSTEM = "0"
SAID = "chat_messages"  # messages of all chats are counted together
UNCHANGEABLE = "CANT_EDIT_MESSAGE"
UNDELETABLE = say("keep.message")


def quote_message(box: Box, item: Item) -> str:
    fields = item.fields
    author = str(fields.get("author_id") or SYSTEM)
    name = user_names(box, [author]).get(author, "") if author != SYSTEM else ""
    return add_header(item.key, fields.get("date"), fields.get("text"), name)


def add_messages(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    for chat, some in groupby(items, lambda item: str(item.fields["chat_id"])):
        if rest_import.is_under_way(box, chat):
            yield from rest_import.add_messages(box, list(some))
            continue
        for item in some:
            if box.application is not None:
                set_mark(box, rest_import.QUOTED, SAID, item.key)
            yield show_files(box, item) if item.fields.get("files") else say_message(box, item)


def say_message(box: Box, item: Item) -> CreateResult:
    chat = f"chat{item.fields['chat_id']}"
    return create_one(
        box, item, "im.message.add", lambda one: {"DIALOG_ID": chat, "MESSAGE": quote_message(box, one)}, str
    )


def show_files(box: Box, item: Item) -> CreateResult:
    """With its files."""
    asked = {"CHAT_ID": item.fields["chat_id"], "FILE_ID": item.fields["files"]}
    return create_one(
        box,
        item,
        "im.disk.file.commit",
        lambda one: {**asked, "MESSAGE": quote_message(box, one)},
        lambda answer: str(answer["MESSAGE_ID"]),
    )


def find_messages(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    """Among what came to their chats since."""
    found: dict[str, str] = {}
    for chat in sorted({chat_of(trace) for trace in begun.values()}):
        found |= find_in_chat(box, chat, {key: trace for key, trace in begun.items() if chat_of(trace) == chat})
    return found


def find_in_chat(box: Box, chat: str, begun: Mapping[str, Args]) -> dict[str, str]:
    """The messages that are in the chat. A user may have forwarded one: its first lines are the same, but it is not
    ours. An imported message has no such lines and is identified by all sent values."""
    wanted = {format_number(key): key for key in begun}
    found: dict[str, str] = {}
    alike: dict[str, list[str]] = {}
    for row in newer_than(box, chat, min(int(trace.get("after") or 0) for trace in begun.values())):
        number = header_number(row.get("text"))
        if number in wanted and str(row.get("author_id")) == box.owner:
            found[wanted[number]] = str(row["id"])
            continue
        for key, trace in begun.items():
            if rest_import.is_candidate(row, trace):
                alike.setdefault(key, []).append(str(row["id"]))
    imported = {key: sorted(alike[key], key=int) for key in begun if key in alike and key not in found}
    return found | (choose_unclaimed(box, SAID, imported) if imported and rest_import.is_under_way(box, chat) else {})


def complete_message(box: Box, known: Known, item: Item) -> None:
    chat = str(item.fields["chat_id"])
    if len(item.fields.get("files") or ()) > 1 and rest_import.is_under_way(box, chat):
        rest_import.complete_files(box, chat, item, list(newer_than(box, chat, int(known.target_id) - 1)))


def update_message(box: Box, known: Known, item: Item) -> None:
    chat = str(item.fields["chat_id"])
    if is_quoted(box, chat, item.key):
        edit(box, SAID, known, item, quote_message(box, item))
    elif rest_import.is_under_way(box, chat):
        rest_import.update(box, chat, known.target_id, rest_import.message(box, chat, item))
    else:
        edit(box, SAID, known, item, str(item.fields.get("text") or ""))


def is_quoted(box: Box, chat: str, key: str) -> bool:
    imported = is_marked(box, rest_import.IMPORTED, "numbers", chat)
    return not imported or is_marked(box, rest_import.QUOTED, SAID, key)


def edit(box: Box, stream: str, known: Known, item: Item, text: str) -> None:
    """A box changes a message for three days, and only where it has a push server (im-message-update.md, kernel
    im_messenger.php CheckPossibilityUpdateMessage). Then it stays as it was, and the list says so."""
    done = True
    try:
        box.call("im.message.update", {"MESSAGE_ID": known.target_id, "MESSAGE": text})
    except Permanent as error:
        if error.code != UNCHANGEABLE:
            raise
        done = False
    set_mark(box, UNEDITED, stream, item.key, value=not done)


def delete_message(box: Box, known: Known) -> None:
    """One's own, where the box has a push server. Its place stays in the chat."""
    try:
        box.call("im.message.delete", {"MESSAGE_ID": known.target_id})
    except Permanent as error:
        if error.code != UNCHANGEABLE:
            raise
        raise Permanent(UNDELETABLE, code=error.code) from None


def read_messages(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    rows = read_rows(box, [(chat_of(one.trace), one.target_id) for one in wanted.values()])
    there = {key: rows[one.target_id] for key, one in wanted.items() if one.target_id in rows}
    return {key: with_originals(decode_message(row), wanted[key].trace) for key, row in there.items()}


def with_originals(told: Args, trace: Json) -> Args:
    """The box shows copies of files that it made in the folder of the chat (kernel im_disk.php, UploadFileFromDisk). As
    many as were sent stand for those."""
    sent = values.ids(trace.get("files") or [])
    return {**told, "files": sent} if len(sent) == len(told["files"]) else told


def read_rows(box: Box, places: Sequence[tuple[str, str]]) -> dict[str, Args]:
    """Of chats and messages: pages of each chat downwards from the highest that is not met yet, until the lowest is met
    or the chat ends. The place of a deleted one stays, and it is not there."""
    chats: dict[str, list[int]] = {}
    for chat, number in places:
        chats.setdefault(chat, []).append(int(number))
    known = {number for _, number in places}
    rows: dict[str, Args] = {}
    cursors = {chat: max(ids) + 1 for chat, ids in chats.items()}
    while cursors:
        asked = [Command("im.dialog.messages.get", newest(chat, last)) for chat, last in cursors.items()]
        pages = {
            chat: {str(row["id"]): row for row in rows_at(answer, "messages") if int(row["id"]) < cursors[chat]}
            for chat, answer in zip(cursors, box.questions(asked), strict=True)
            if answer is not None
        }
        rows |= {number: row for page in pages.values() for number, row in page.items() if number in known}
        reached = {chat: min(map(int, page)) for chat, page in pages.items() if page}
        further = {chat: [one for one in chats[chat] if one < lowest] for chat, lowest in reached.items()}
        cursors = {chat: max(ids) + 1 for chat, ids in further.items() if ids}
    return {number: row for number, row in rows.items() if not is_deleted(row)}


def page_before(box: Box, chat: str, last: int = 0) -> list[Args]:
    """The newest come first; 0: the newest of all."""
    return list(rows_at(box.question("im.dialog.messages.get", newest(chat, last)), "messages"))


def newest(chat: str, last: int = 0) -> Args:
    return {"DIALOG_ID": f"chat{chat}", "LAST_ID": last, "LIMIT": PAGE}


def newest_ids(box: Box, chat: str) -> list[str]:
    return [str(row["id"]) for row in page_before(box, chat)]


def newer_than(box: Box, chat: str, after: int) -> Iterator[Args]:
    """Later messages of the chat, the newest first."""
    page = page_before(box, chat)
    while page:
        yield from (row for row in page if int(row["id"]) > after)
        oldest = min(int(row["id"]) for row in page)
        older = page_before(box, chat, oldest) if oldest > after else []
        page = [row for row in older if int(row["id"]) < oldest]


def chat_of(trace: Json) -> str:
    return str(trace["chat"])


def is_deleted(row: Args) -> bool:
    return isinstance(row.get("params"), Mapping) and row["params"].get("IS_DELETED") == "Y"


def decode_message(row: Args) -> Args:
    params = row["params"] if isinstance(row.get("params"), Mapping) else {}
    return {
        "chat_id": str(row.get("chat_id")),
        "author_id": str(row.get("author_id") or SYSTEM),
        "date": values.utc(row.get("date")),
        "text": row.get("text"),
        "params": {name: value for name, value in params.items() if name not in ("FILE_ID", "LIKE", "IS_EDITED")},
        "files": values.ids(params.get("FILE_ID") or []),
        "reactions": {},
    }


def message_trace(item: Item) -> Args:
    place = {"chat": str(item.fields["chat_id"]), "files": item.fields.get("files") or []}
    return {**place, **rest_import.message_trace(item)}


MESSAGES = Writer(
    stream=SAID,
    entity="chats",
    needs=("im.message.add", "im.dialog.messages.get", *files.NEEDS),
    create=add_messages,
    trace=message_trace,
    before=lambda box, item: {"after": box.highest(SAID, lambda: newest_ids(box, str(item.fields["chat_id"])))},
    find=find_messages,
    finish=complete_message,
    update=update_message,
    read=read_messages,
    delete=delete_message,
    rules=rest_rules.message_rules,
)

WRITERS = (MESSAGES,)
