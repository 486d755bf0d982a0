"""Messages appear, change and go while chats are read."""

from typing import Any

from b24sim.company.chats import Chat
from b24sim.company.company import Company
from b24sim.errors import RestError
from b24sim.table import Row

DELETED_TEXT = "Сообщение удалено"


def add_message(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    chat = chat_named(company, wish.get("chat", next(iter(company.chats), None)))
    last = [chat.added[-1]["id"] for chat in company.chats.values() if chat.added]
    number = 1 + max([company.correspondence.messages * 3 + 200, *last, chat.id_at(len(chat) - 1) if len(chat) else 0])
    row = {
        "id": number, "chat_id": chat.id, "author_id": chat.members[0], "date": company.moments.iso(now),
        "text": f"Новое сообщение {number}", "unread": False, "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "replaces": [], "params": [], "disappearing_date": None,
    }  # fmt: skip
    chat.added.append(row | wish.get("fields", {}))
    company.chats_version += 1
    return [number]


def update_message(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """An edit leaves its mark in the parameters and moves no cursor."""
    row = _message_row(company, wish)
    params = (row["params"] or {}) | {"IS_EDITED": "Y"}
    _replace_message(company, wish, row | {"params": params} | wish.get("fields", {}))
    return [int(wish["id"])]


def delete_message(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """A deleted message stays as a placeholder."""
    row = _message_row(company, wish)
    _replace_message(company, wish, row | {"text": DELETED_TEXT, "params": {"IS_DELETED": "Y"}})
    return [int(wish["id"])]


def chat_named(company: Company, number: Any) -> Chat:
    chat = company.chats.get(int(number or 0))
    if chat is None:
        raise RestError("ERROR_NOT_FOUND", f"no chat {number}", 404)
    return chat


def _message_row(company: Company, wish: dict[str, Any]) -> Row:
    chat, place = _message(company, wish)
    return company.correspondence.row(chat, place)


def _message(company: Company, wish: dict[str, Any]) -> tuple[Chat, int]:
    for chat in company.chats.values() if "chat" not in wish else [chat_named(company, wish["chat"])]:
        place = chat.place_of(int(wish["id"]))
        if place is not None:
            return chat, place
    raise RestError("ERROR_NOT_FOUND", f"no message {wish['id']}", 404)


def _replace_message(company: Company, wish: dict[str, Any], row: Row) -> None:
    chat, place = _message(company, wish)
    company.chats_version += 1
    if place >= chat.count:
        chat.added[place - chat.count] = row
    else:
        chat.edits[place] = row
