"""The details of chats with their participants; and single chats and messages again, by ID."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from b24migrate.entities.readers import same_id
from b24migrate.messages import say
from b24migrate.model.answers import id_of, open_list, row_in, unexpected_answer
from b24migrate.model.errors import Forbidden, Permanent
from b24migrate.model.records import REFUSED, Args, Json, Page, PageEntry, Row, SetAside, digest, in_order
from b24migrate.model.source_records import Known, SourceRecord
from b24migrate.ports import Answer, Command, Source

AT_ONCE = 200  # participants in a page
CHANNELS = frozenset({"N", "J"})
COMMENTS = say("skip.thread_comments")
# Fields of lists and of `im.dialog.get`. If they are unchanged and no new message is one of the portal itself, no user
# joined or left: such a message usually shows it (kernel 25.100), otherwise the number of participants does.
TELLING = ("name", "owner", "manager_list", "user_counter")


class FoundChat(NamedTuple):
    """A chat in the recent list of a user: private dialogs are addressed by the other user's ID. `people`: whether its
    participants are requested."""

    chat_id: int
    dialog: str
    via: int
    people: bool = True


def read_details(source: Source, chats: Sequence[FoundChat], number: int, known: Known | None = None) -> Page:
    started = datetime.now(UTC)
    rows: list[Row] = []
    aside: list[SetAside] = []
    before = known.lookup("chats", [str(one.chat_id) for one in chats if not one.people]) if known else {}
    for via in sorted({chat.via for chat in chats}):
        mine = [chat for chat in chats if chat.via == via]
        answers = iter(source.batch([command for chat in mine for command in detail_commands(chat)], via=via))
        for chat in mine:
            dialog, *people = [next(answers) for _ in detail_commands(chat)]
            if isinstance(dialog.error, Forbidden):
                raise dialog.error.gate
            if isinstance(dialog.error, Permanent):
                reason = refusal_reason(source, via, dialog.error)
                aside.append(SetAside("chats", str(chat.chat_id), "impossible", reason))
            elif dialog.error is not None:
                raise dialog.error
            else:
                row = row_in(dialog.result, "im.dialog.get")
                users = users_before(chat, row, before.get(str(chat.chat_id)))
                users = participants(source, chat, *people) if users is None else users
                rows.append(chat_row(chat, dialog, users))
                aside += unlisted_comments(chat, row)
    log = PageEntry(number, len(chats), len(rows), digest(chats), started, datetime.now(UTC))
    return Page(rows=rows, aside=aside, log=[log], alarms=note_missing_participants(rows))


def users_before(chat: FoundChat, row: Mapping[str, Json], staged: SourceRecord | None) -> list[int] | None:
    """None if they must be requested, or if something changed since the chat was listed."""
    if chat.people or staged is None or not is_as_before(row, staged):
        return None
    return list(staged.extras["users"])


def unlisted_comments(chat: FoundChat, row: Mapping[str, Json]) -> list[SetAside]:
    """The comments under a post are a chat of their own, which is in no list; a message does not name it either
    (api-reference/chats/messages/im-dialog-messages-get.md). Each channel counts once: it is not known how many there
    are."""
    if row.get("message_type") not in CHANNELS:
        return []
    name = str(row.get("name") or chat.chat_id)
    return [SetAside("chats", f"comments:{chat.chat_id}", "impossible", COMMENTS, name)]


def note_missing_participants(rows: Sequence[Row]) -> list[str]:
    return [say("note.no_participants", id=row.source_id) for row in rows if "users" not in (row.extras or {})]


def detail_commands(chat: FoundChat) -> list[Command]:
    """The chats to request. The participants of a private dialog are known."""
    details = Command("im.dialog.get", {"DIALOG_ID": chat.dialog})
    return [details, ask_participants(chat)] if chat.dialog.startswith("chat") and chat.people else [details]


def ask_participants(chat: FoundChat) -> Command:
    return Command("im.chat.user.list", {"CHAT_ID": chat.chat_id})


def chat_row(chat: FoundChat, dialog: Answer, users: list[int] | None) -> Row:
    return Row(str(chat.chat_id), dialog.result or b"{}", chat_extras(chat.dialog, chat.via, users))


def chat_extras(dialog: str, via: int, users: list[int] | None) -> Args:
    """Participants that the portal does not return are omitted: unknown is not empty."""
    people = {REFUSED: say("note.participants")} if users is None else {"users": users}
    return {"via": via, "dialog": dialog, **people}


def participants(source: Source, chat: FoundChat, answer: Answer | None = None) -> list[int] | None:
    """A private dialog has its two users; for another chat the portal returns them. None if it refuses."""
    if answer is None and chat.dialog.isdecimal():
        return sorted({int(source.owners[chat.via]), int(chat.dialog)})
    if answer is None:
        (answer,) = source.batch([ask_participants(chat)], via=chat.via)
    if isinstance(answer.error, Permanent):
        return active_participants(source, chat)
    try:
        users = [msgspec.json.decode(raw, type=int, strict=False) for raw in people_in(answer, "im.chat.user.list")]
    except (msgspec.DecodeError, RecursionError):
        raise unexpected_answer("im.chat.user.list", ()) from None
    return users or active_participants(source, chat)  # the portal shows no one to a user without access, and no error


def people_in(answer: Answer, method: str) -> list[msgspec.Raw]:
    return open_list(answer.require(), (), method).items


def active_participants(source: Source, chat: FoundChat) -> list[int] | None:
    """The general chat refuses the plain list; this one returns those who are not dismissed."""
    found: list[int] = []
    while True:
        params = {"DIALOG_ID": chat.dialog, "LIMIT": AT_ONCE, "OFFSET": len(found)}
        try:
            answer = source.call("im.dialog.users.list", params, via=chat.via)
        except Forbidden as error:
            raise error.gate from None
        except Permanent:
            return None
        people = [id_of(raw, "id", "im.dialog.users.list") for raw in people_in(answer, "im.dialog.users.list")]
        found += map(int, people)
        if not people or len(people) < AT_ONCE:
            return found


def is_as_before(row: Mapping[str, Json], staged: SourceRecord | None) -> bool:
    if staged is None or "users" not in staged.extras:
        return False
    if any(name not in row for name in TELLING):
        return False
    return all(str(in_order(row[name])) == str(in_order(staged.payload.get(name))) for name in TELLING)


def refusal_reason(source: Source, via: int, error: Permanent) -> str:
    return say("skip.chat_refused", user=source.owners[via], code=error.code)


# ---------------------------------------------------------------- again, by ID


def reread_chats(source: Source, wanted: Sequence[SourceRecord], _: Known) -> dict[str, Row]:
    """With their participants."""
    chats = [
        FoundChat(int(one.id), str(one.extras.get("dialog") or f"chat{one.id}"), int(one.extras.get("via", 0)))
        for one in wanted
    ]
    return {row.source_id: row for row in read_details(source, chats, 0).rows}


def refetch_chats(source: Source, wanted: Sequence[SourceRecord], known: Known) -> dict[str, Row]:
    found = reread_chats(source, wanted, known)
    # Participants stay as they were when the chat was read, also if they were not returned: methods differ.
    return {
        one.id: found[one.id]._replace(extras=one.extras) if one.extras else found[one.id]
        for one in wanted
        if one.id in found
    }


def refetch_messages(source: Source, wanted: Sequence[SourceRecord], known: Known) -> dict[str, Row]:
    chats = known.lookup("chats", sorted({one.parent for one in wanted}))
    found: dict[str, Row] = {}
    for via in sorted({int(chat.extras.get("via", 0)) for chat in chats.values()}):
        mine = [one for one in wanted if one.parent in chats and int(chats[one.parent].extras.get("via", 0)) == via]
        asked = source.batch([ask_message(one, chats[one.parent]) for one in mine], via=via)
        for one, answer in zip(mine, asked, strict=True):
            for raw in open_list(answer.require(), ("messages",), "im.dialog.messages.get").items:
                if same_id(raw, "id", one.child):
                    found[one.id] = Row(one.id, bytes(raw), one.extras)
    return found


def ask_message(message: SourceRecord, chat: SourceRecord) -> Command:
    """The newest one below the next id. Only this direction has an order (bitrix24-rest-1 §D5)."""
    params = {"DIALOG_ID": dialog_of(chat), "LAST_ID": int(message.child) + 1, "LIMIT": 1}
    return Command("im.dialog.messages.get", params)


def dialog_of(chat: SourceRecord) -> str:
    return str(chat.extras.get("dialog") or f"chat{chat.id}")
