"""Messages appear, change and go while chats are read."""

from typing import Any

from b24sim.company.chats import Chat
from b24sim.company.company import Company
from b24sim.errors import RestError
from b24sim.table import Row

DELETED_TEXT = "Сообщение удалено"


def add_message(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    chat = chat_named(company, wish.get("chat", next(iter(company.chats), None)))
    number = company.next_message(chat)
    row = {
        "id": number, "chat_id": chat.id, "author_id": chat.members[0], "date": company.moments.iso(now),
        "text": f"Новое сообщение {number}", "unread": False, "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "replaces": [], "params": [], "disappearing_date": None,
    }  # fmt: skip
    chat.added.append(row | wish.get("fields", {}))
    company.chats_version += 1
    return [number]


def update_message(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """An edit moves no cursor. It leaves its mark in the parameters only where others had seen the message (`seen`,
    true unless said otherwise), and moves the date of the chat only where it is the last one (kernel 25.100)."""
    row = _message_row(company, wish)
    params = (row["params"] or {}) | {"IS_EDITED": "Y"} if wish.get("seen", True) else row["params"]
    _replace_message(company, wish, row | {"params": params} | wish.get("fields", {}))
    _touch_chat(company, now, wish)
    return [int(wish["id"])]


def delete_message(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """A deleted message stays as a placeholder; with `"for_good": true` its row is gone."""
    if wish.get("for_good"):
        chat, place = _message(company, wish)
        chat.erase(place)
        chat.touched = 0.0  # the date of the chat goes back to that of the message before
        company.chats_version += 1
        return [int(wish["id"])]
    row = _message_row(company, wish)
    _replace_message(company, wish, row | {"text": DELETED_TEXT, "params": {"IS_DELETED": "Y"}})
    _touch_chat(company, now, wish)
    return [int(wish["id"])]


def _touch_chat(company: Company, now: float, wish: dict[str, Any]) -> None:
    chat, place = _message(company, wish)
    if place == len(chat) - 1:
        chat.touched = now


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
        chat.edits[chat.grown_in(place)] = row
