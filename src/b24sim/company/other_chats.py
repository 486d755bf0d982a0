"""Chats of other kinds: open lines, collabs, conferences, comments under posts, talks with an assistant."""

from collections.abc import Callable, Iterable, Iterator

from b24sim.company.chats import (
    CHANNEL,
    CLOSED,
    COLLAB,
    COPILOT,
    LINE,
    OPEN_CHANNEL,
    STRIDE,
    SYSTEM,
    THREAD,
    Chat,
)
from b24sim.company.groups import Group
from b24sim.company.people import ADMIN, People
from b24sim.company.plan import ANCHOR, DAY
from b24sim.moments import Moments
from b24sim.table import Row

FIRST_CHAT_ID = 400_001
FIRST_MESSAGE_ID = 9_000_001
LEAST_CHATS = 10  # a company with fewer is too small for all of these
UNKNOWN = "G"  # a letter that no documentation explains
# kind, name, entity_type, entity_id
KINDS = (
    (LINE, "Иван из Telegram", "LINES", "telegrambot|1|205|1277"),
    (LINE, "Гость на сайте", "LIVECHAT", "1|1277"),
    (COPILOT, "Как составить письмо?", "", ""),
    (COPILOT, "Помощник", "AI_ASSISTANT_PRIVATE", "1"),
    (SYSTEM, "Уведомления", "", ""),
    (UNKNOWN, "Чат будущего", "", ""),
    (CLOSED, "Видеоконференция", "VIDEOCONF", "17"),
    (CLOSED, "Звонок с отделом", "CALL", "call-42"),
    (CLOSED, "Планёрка", "CALENDAR", "31"),
    (CLOSED, "Письмо от клиента", "MAIL", "8"),
    (CLOSED, "Объявления", "ANNOUNCEMENT", ""),
)
MESSAGES = 3


def other_chats(people: People, groups: Iterable[Group], chats: Iterable[Chat], moments: Moments) -> dict[int, Chat]:
    """Besides the planned ones; a box has none, and neither has a very small company."""
    if people.plan.box or people.plan.chats < LEAST_CHATS:
        return {}
    grown = list(_grown(people, groups, list(chats)))
    for place, chat in enumerate(grown):
        chat.count, chat.first_id = MESSAGES, FIRST_MESSAGE_ID + STRIDE * MESSAGES * place
        chat.started, chat.step_s = ANCHOR - (30 + place) * DAY, DAY
        chat.script = _script(moments)
    return {chat.id: chat for chat in grown}


def _grown(people: People, groups: Iterable[Group], chats: list[Chat]) -> Iterator[Chat]:
    crew = list(dict.fromkeys([ADMIN, *people.healthy[:3]]))
    number = FIRST_CHAT_ID
    for kind, name, entity, entity_id in KINDS:
        members = crew if kind in (CLOSED, LINE) else [ADMIN]
        chat = Chat(number, number, kind, name, members[-1], members, entity_type=entity, entity_id=entity_id)
        chat.entity_data = "Y|LEAD|1205|N|N|77|1790000000|0|0|0" if entity == "LINES" else ""
        yield chat
        number += 2
    group = next((one for one in groups if not one.chat and not one.secret), None)
    if group:
        group.kind, group.chat = "collab", number
        members = list(dict.fromkeys([ADMIN, *group.roles]))
        chat = Chat(number, number, COLLAB, "Коллаба с подрядчиком", group.owner, members)
        chat.entity_type, chat.entity_id = "SONET_GROUP", str(group.id)
        yield chat
        number += 2
    channel = next(
        (one for one in chats if one.kind in (CHANNEL, OPEN_CHANNEL) and ADMIN in one.members and len(one)), None
    )
    if channel:
        post = (channel.id, channel.id_at(0))
        yield Chat(number, number, THREAD, "", channel.owner, channel.members, parent=post)


def _script(moments: Moments) -> Callable[[Chat, int], Row]:
    def said(chat: Chat, place: int) -> Row:
        authors = chat.writers or chat.members
        author = authors[place % len(authors)]
        return {
            "id": chat.grown_id(place), "chat_id": chat.id, "author_id": author,
            "date": moments.iso(chat.started + place * chat.step_s), "text": f"{chat.name} {place}", "unread": False,
            "uuid": None, "replaces": [], "params": [], "disappearing_date": None,
        }  # fmt: skip

    return said
