"""Adds a message to a chat: now, in the caller's name."""

from b24sim.company.chats import Chat
from b24sim.context import Context
from b24sim.native.ledger import stamp_of
from b24sim.native.writing import created, iso_now, notify
from b24sim.table import Row


def say(context: Context, chat: Chat, text: str, *, author: int, files: list[int] | None = None) -> int:
    """Everybody in the chat hears of it. Without an author it is a message of the system."""
    company, number = context.portal.company, context.portal.native.number("messages")
    params: Row = {"FILE_ID": files} if files else {}
    row: Row = {
        "id": number, "chat_id": chat.id, "author_id": author, "date": iso_now(context), "text": text, "unread": False,
        "uuid": f"00000000-0000-4000-8000-{number:012d}" if author else None, "replaces": [], "params": params or [],
        "disappearing_date": None,
    }  # fmt: skip
    chat.added.append(row)
    company.chats_version += 1
    for file in files or []:
        if file in company.drive.files:
            company.drive.files[file].chat, company.drive.files[file].message = chat.id, number
    created(context, "messages", number, stamp_of(chat.id, author, text, *(files or [])))
    notify(context, chat.members, f"message in chat {chat.id}")
    return number


def announce(context: Context, chat: Chat, text: str, code: str) -> None:
    """A message of the portal itself about a chat."""
    number = context.portal.native.number("messages")
    row: Row = {
        "id": number, "chat_id": chat.id, "author_id": 0, "date": iso_now(context), "text": text, "unread": False,
        "uuid": None, "replaces": [], "params": {"CODE": [code], "NOTIFY": "N"}, "disappearing_date": None,
    }  # fmt: skip
    chat.added.append(row)
    context.portal.company.chats_version += 1
    context.portal.native.tell("system message", chat.id, code)
