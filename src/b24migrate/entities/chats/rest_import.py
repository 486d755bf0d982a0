"""Chats with their authors and dates: `im.v2.Import.*`, which a box takes from an application only, and silently.

In no document; from kernel 25.100: im lib/V2/Controller/Import.php, Controller/Import/Message.php and lib/V2/Import. A
chat is under import until it is committed; messages that come later are quoted by the webhook's owner. The webhook's
owner owns the chat until then, since the webhook reads only chats of its owner. So the same user must install the
application. A chat of two is imported as one of several: `createPrivate` does not work on this kernel.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, timedelta
from typing import NamedTuple

from b24migrate.messages import say
from b24migrate.model.errors import GateUnmet, MigrationError, Permanent, Transient
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command, TargetCheck
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, ask_as_application, call_as_application, rows_at, unexpected_answer
from b24migrate.targets.rest.journal import Journal, JournalEntry, State, busy_error, is_marked, set_mark
from b24migrate.targets.rest.writer import LONGEST, STAMP, CreateResult

SCOPE = "im.import"
METHOD = "im.v2.Import.createGroup"
UNDER_IMPORT = "IMPORT_GROUP"
SHIFT, DRAFTS = "import shift", "drafts"
BEGINNING = 1000  # characters by which a text that the box cuts is known
COPIES = "copies"  # the stream under which files in the folders of chats are remembered
IMPORTED, COMMITTED, QUOTED = "imported", "committed", "quoted"  # the marks of chats and messages
KEPT_S = 60.0
OVER = "IMPORT_ACCESS_ERROR"  # this chat is not under import
SYSTEM = "0"
ABSENT = ("ERROR_METHOD_NOT_FOUND", "METHOD_NOT_FOUND", "22002")
TRIAL = "2020-01-15T12:00:00+00:00"
NO_SHIFT = say("check.chat_no_date")
_TAG = re.compile(r"\[[^\]]*\]")


class Rights(NamedTuple):
    granted: bool
    why: str = ""  # not
    error: MigrationError | None = None  # the application exists but does not answer


def rights(box: Box) -> Rights:
    if box.application is None:
        return Rights(granted=False)
    try:
        return box.kept("rights to import chats", lambda: _ask_rights(box), KEPT_S)
    except (GateUnmet, Transient) as error:
        return Rights(granted=True, error=error)


def is_import_available(box: Box) -> bool:
    """Whether chats are imported here. Raises the error if the application does not answer."""
    found = rights(box)
    if found.error is not None:
        raise found.error
    return found.granted


def _ask_rights(box: Box) -> Rights:
    profile, scopes = (ask_as_application(box, name, {}) for name in ("profile", "scope"))
    if isinstance(scopes, list) and SCOPE not in scopes:
        return Rights(granted=False, why=say("check.app_scope", scope=SCOPE))
    if isinstance(profile, Mapping) and str(profile.get("ID") or "") != box.owner:
        return Rights(granted=False, why=say("check.app_other"))
    if isinstance(profile, Mapping) and profile.get("ADMIN") is False:
        return Rights(granted=False, why=say("check.app_admin"))
    if not _is_there(box):
        return Rights(granted=False, why=say("check.no_method", method=METHOD))
    return Rights(granted=True)


def _is_there(box: Box) -> bool:
    """Calls the method that deletes a chat for one that does not exist: the error shows whether the method is there.
    `method.get` is wrong about names of controllers, whose case counts."""
    try:
        ask_as_application(box, "im.v2.Import.abort", {"chatId": 0})
    except Permanent as error:
        return error.code not in ABSENT
    return True


def check_import(box: Box) -> TargetCheck | None:
    """One line for people; none where no application is configured."""
    if box.application is None:
        return None
    found = rights(box)
    if found.granted:
        return TargetCheck(say("doctor.name.chats"), True, say("check.chat_kept"))
    fix = say("check.chat_import_fix")
    return TargetCheck(say("doctor.name.chats"), False, say("check.chat_quoted", why=found.why), fix)


# ---------------------------------------------------------------- chats


def create(box: Box, item: Item, title: str, avatar: str) -> str:
    fields = item.fields
    told: dict[str, Json] = {"title": title, "description": fields.get("description") or ""}
    told |= {"isOpen": values.yes_or_no(fields.get("type") == "open")}
    asked = {"ownerId": box.owner, "fields": told | ({"avatar": avatar} if avatar else {}), "externalId": item.key}
    return _number(call_as_application(box, METHOD, asked))


def _number(said: Json) -> str:
    number = str(said.get("chatId") or "") if isinstance(said, Mapping) else ""
    if not number.isdecimal():
        raise unexpected_answer(METHOD)
    return number


def remember(box: Box, key: str, chat: str) -> None:
    """That it is imported: its messages are not quoted."""
    set_mark(box, IMPORTED, "chats", key)
    set_mark(box, IMPORTED, "numbers", chat)


def was_imported(box: Box, key: str) -> bool:
    return is_marked(box, IMPORTED, "chats", key)


def is_under_way(box: Box, chat: str) -> bool:
    """Whether this chat accepts imported messages. Checked once: only `commit` changes it."""
    return (
        is_marked(box, IMPORTED, "numbers", chat)
        and is_import_available(box)
        and box.kept(_state(chat), lambda: _entity(box, chat) == UNDER_IMPORT, KEPT_S)
    )


def _entity(box: Box, chat: str) -> str:
    return str(box.question("im.dialog.get", {"DIALOG_ID": f"chat{chat}"}).get("entity_type") or "")


def _state(chat: str) -> str:
    return f"import of chat {chat}"


def commit(box: Box, chat: str, users: Sequence[str]) -> None:
    """The owner is in the chat already, and would be in it twice."""
    others = [user for user in users if str(user) != box.owner]
    call_as_application(box, "im.v2.Import.commitGroup", {"chatId": chat, "users": others})
    set_mark(box, COMMITTED, "numbers", chat)
    box.forget(_state(chat))


# ---------------------------------------------------------------- dates


def date_shift(box: Box) -> timedelta:
    """By how much the box moves the dates of messages. Kernels take them for the caller's local time
    (ImportSendingService); a draft of a chat shows it, and is taken back at once."""
    journal, name = Journal(box.store), f"{SHIFT} {_offset(box)}"
    kept = journal.note(name)
    if kept is None:
        with box.trial:
            kept = journal.note(name)
            if kept is None:
                _begin(box, journal)
                kept = _measure_offset(box)
                journal.keep(name, kept)
                with suppress(Transient):  # then the end takes it back
                    clear(box)
    return timedelta(seconds=int(kept))


def _offset(box: Box) -> str:
    """Of the caller's clock from the server's: another zone, or summer time, shifts it again."""

    def asked() -> str:
        profile = ask_as_application(box, "profile", {})
        return str(profile.get("TIME_ZONE_OFFSET") or 0) if isinstance(profile, Mapping) else ""

    return box.kept("time zone of the application", asked, KEPT_S)


def _begin(box: Box, journal: Journal) -> None:
    """Of several processes one tries, and the others wait for what it finds."""
    known = journal.find(DRAFTS, [SHIFT]).get(SHIFT)
    if known is not None:
        box.under_way.refuse({SHIFT: known.begun})
    intent = JournalEntry(SHIFT, State.BEGUN, begun=box.under_way.signature(), version=known.version if known else 0)
    if not journal.begin(DRAFTS, intent):
        raise busy_error()


def _measure_offset(box: Box) -> int:
    """May be repeated at any point: a draft that is left is used again."""
    chat = _create_draft(box)
    message = {"externalId": "1", "message": STAMP, "authorId": box.owner, "system": "N", "dateCreate": TRIAL}
    ask_as_application(box, "im.v2.Import.Message.add", {"chatId": chat, "messages": [message]})
    said = box.question("im.dialog.messages.get", {"DIALOG_ID": f"chat{chat}", "LIMIT": 50})
    dates = [values.parse_time(row.get("date")) for row in rows_at(said, "messages")]
    found, sent = next((one for one in dates if one is not None), None), values.parse_time(TRIAL)
    if found is None or sent is None:
        raise Permanent(NO_SHIFT, code="STRANGE_ANSWER")
    return int((found - sent).total_seconds())


def clear(box: Box) -> None:
    """Deletes a draft that is left."""
    left = _find_draft(box)
    if left:
        with suppress(Permanent):
            call_as_application(box, "im.v2.Import.abort", {"chatId": left})


def _find_draft(box: Box) -> str:
    (left,) = box.questions([Command("im.chat.get", {"ENTITY_TYPE": UNDER_IMPORT, "ENTITY_ID": STAMP})])
    return str(left["ID"]) if left else ""


def _create_draft(box: Box) -> str:
    left = _find_draft(box)
    if left:
        return left
    fields = {"title": STAMP, "isOpen": "N"}
    return _number(call_as_application(box, METHOD, {"ownerId": box.owner, "fields": fields, "externalId": STAMP}))


def sent_date(box: Box, value: Json) -> str:
    """The time in the form that the box converts correctly; without a time it is now."""
    when = values.parse_time(value) or box.portal.clock.now()
    return (when.astimezone(UTC).replace(microsecond=0) - date_shift(box)).isoformat()


# ---------------------------------------------------------------- messages


def add_messages(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    """All of one chat, in their order. One with several files becomes several messages, each with one of them."""
    chat = str(items[0].fields["chat_id"])
    plain: list[Item] = []
    for item in items:
        if len(item.fields.get("files") or ()) <= 1:
            plain.append(item)
            continue
        if plain:
            yield from _add_new(box, chat, plain)
            plain = []
        yield from _add_new(box, chat, [item])
    if plain:
        yield from _add_new(box, chat, plain)


def _add_new(box: Box, chat: str, items: Sequence[Item]) -> Iterator[CreateResult]:
    said: dict[str, Args] = {}
    more: list[Args] = []
    for item in items:
        try:
            first, others = message(box, chat, item), other_files(box, chat, item)
        except Permanent as error:  # one of its files
            yield CreateResult(item.key, error=error)
        else:
            said[item.key] = first
            more += others
    items = [item for item in items if item.key in said]
    if not items:
        return
    asked = {"chatId": chat, "messages": [*({"externalId": key, **one} for key, one in said.items()), *more]}
    try:
        answer = call_as_application(box, "im.v2.Import.Message.add", asked)
    except Permanent as error:
        if error.code == OVER:  # another process has ended it: then they are quoted
            box.forget(_state(chat))
            raise unexpected_answer("im.v2.Import.Message.add") from error
        yield from (CreateResult(item.key, error=error) for item in items)
        return
    done = {str(one["externalId"]): str(one["id"]) for one in rows_at(answer, "successResult")}
    stubs = {str(one["externalId"]): one for one in rows_at(answer, "errorResult")}
    for item in items:
        if item.key in done:
            yield CreateResult(item.key, done[item.key])
        else:
            yield _replace_stub(box, chat, item, said[item.key], stubs[item.key])


def _replace_stub(box: Box, chat: str, item: Item, sent: Args, stub: Args) -> CreateResult:
    """For a message that the box refuses (for instance with an earlier date than the message before it) it stores a
    stub with author and date. The stub gets the text and the file."""
    try:
        update(box, chat, str(stub["id"]), sent)
    except Permanent:
        code = str(stub.get("errorCode") or "EMPTY")
        return CreateResult(item.key, error=Permanent(str(stub.get("errorMessage") or code), code=code))
    return CreateResult(item.key, str(stub["id"]))


def message(box: Box, chat: str, item: Item) -> dict[str, Json]:
    fields = item.fields
    author = str(fields.get("author_id") or SYSTEM)
    files = [str(one) for one in fields.get("files") or ()]
    return {
        "message": fields.get("text") or "",
        "authorId": author,
        "system": values.yes_or_no(author == SYSTEM),
        "dateCreate": sent_date(box, fields.get("date")),
        **({"fileId": copy_of(box, chat, files[0])} if files else {}),
    }


def other_files(box: Box, chat: str, item: Item) -> list[Args]:
    first = message(box, chat, item) if len(item.fields.get("files") or ()) > 1 else {}
    return [
        {**first, "externalId": f"{item.key}#{place}", "message": "", "fileId": copy_of(box, chat, str(file))}
        for place, file in enumerate((item.fields.get("files") or ())[1:], 2)
    ]


def update(box: Box, chat: str, number: str, sent: Args) -> None:
    changed = {"id": number, **{name: sent[name] for name in ("message", "fileId") if name in sent}}
    answer = call_as_application(box, "im.v2.Import.Message.update", {"chatId": chat, "messages": [changed]})
    for one in rows_at(answer, "errorResult"):
        code = str(one.get("errorCode") or "EMPTY")
        raise Permanent(str(one.get("errorMessage") or code), code=code)


# ---------------------------------------------------------------- files


def copy_of(box: Box, chat: str, file: str) -> str:
    """The number of a file's copy in the folder of the chat: a message takes no file from elsewhere."""
    journal, key = Journal(box.store), f"{chat}:{file}"
    known = journal.find(COPIES, [key]).get(key)
    if known and known.state is State.DONE:
        return known.target_id
    folder = box.kept(f"folder of chat {chat}", lambda: _folder(box, chat), 3600.0)
    found = _find_copy(box, journal, chat, folder, file) if known else ""
    if not known:
        journal.write(COPIES, [JournalEntry(key, State.BEGUN, begun=box.under_way.signature())])
    copied = found or _copy_file(box, file, folder)
    return journal.first(COPIES, JournalEntry(key, State.DONE, copied)).target_id


def _copy_file(box: Box, file: str, folder: str) -> str:
    """A name that is taken there is refused (disk lib/rest/service/baseobject.php): then the content is sent again."""
    try:
        return str(box.call("disk.file.copyto", {"id": file, "targetFolderId": folder})["ID"])
    except Permanent:
        name, content = box.file(file)
        asked = {"id": folder, "data": {"NAME": name}, "fileContent": [name, content], "generateUniqueName": True}
        return str(box.call("disk.folder.uploadfile", asked)["ID"])


def _folder(box: Box, chat: str) -> str:
    return str(call_as_application(box, "im.v2.Import.getFolderId", {"chatId": chat})["chatFolderId"])


def _find_copy(box: Box, journal: Journal, chat: str, folder: str, file: str) -> str:
    """A copy whose answer was lost: one of the same size that belongs to no other file."""
    taken = {one.target_id for some in journal.walk(COPIES, f"{chat}:") for one in some}
    size = str(box.question("disk.file.get", {"id": file}).get("SIZE"))
    rows = box.pages("disk.folder.getchildren", {"id": folder, "order": {"ID": "ASC"}})
    return next((str(row["ID"]) for row in rows if str(row.get("SIZE")) == size and str(row["ID"]) not in taken), "")


def complete_files(box: Box, chat: str, item: Item, rows: Sequence[Args]) -> None:
    """Sends those of several files that are missing because an answer got lost. `rows`: what came to the chat since."""
    shown = {one for row in rows for one in values.ids(_files(row))}
    for one in other_files(box, chat, item):
        if str(one["fileId"]) not in shown:
            answer = call_as_application(box, "im.v2.Import.Message.add", {"chatId": chat, "messages": [one]})
            for stub in rows_at(answer, "errorResult"):
                update(box, chat, str(stub["id"]), one)


def _files(row: Args) -> Json:
    params = row.get("params")
    return params.get("FILE_ID") or [] if isinstance(params, Mapping) else []


# ---------------------------------------------------------------- finding


def message_trace(item: Item) -> Args:
    """Identifies a message after a lost answer, since it has no field for a stamp. If the box cuts a message, only its
    beginning is there (kernel im_messenger.php, MESSAGE_LIMIT)."""
    fields = item.fields
    author, text = str(fields.get("author_id") or SYSTEM), str(fields.get("text") or "")
    found = {"author": author, "date": fields.get("date"), "words": text_digest(text)}
    return found if len(text) <= LONGEST else {**found, "begins": text_digest(text, BEGINNING)}


def text_digest(text: Json, length: int | None = None) -> str:
    """A short word for a text, or for its beginning. Tags do not count: a box removes some, by the rights of the
    author."""
    head, end, tail = str(text or "").rpartition("]")  # behind it no tag is closed: none is searched for there
    plain = " ".join((_TAG.sub(" ", head + end) + tail).split())
    return hashlib.sha256(plain[:length].encode()).hexdigest()[:16]


def is_candidate(row: Args, trace: Args) -> bool:
    if "words" not in trace or (str(row.get("author_id") or SYSTEM), values.utc(row.get("date"))) != (
        trace["author"],
        values.utc(trace["date"]),
    ):
        return False
    text = row.get("text")
    return text_digest(text) == trace["words"] or (
        "begins" in trace and text_digest(text, BEGINNING) == trace["begins"]
    )
