"""Messages, made from their number when they are asked for; a million of them take no memory."""

from bisect import bisect_right
from collections.abc import Container
from dataclasses import dataclass

from b24sim.company import texts
from b24sim.company.chance import chance, mix
from b24sim.company.chats import PRIVATE, STRIDE, Chat
from b24sim.company.plan import Plan
from b24sim.company.texts import TEXTS
from b24sim.moments import Moments
from b24sim.phpjson import Rows, decode, encode
from b24sim.table import Row

FILE_BASE = 50_000
_ROW = (
    b'{"id":%d,"chat_id":%d,"author_id":%d,"date":"%b","text":%b,"unread":false,"uuid":%b,'
    b'"replaces":[],"params":%b,"disappearing_date":null}'
)
_UUID = b'"%08x-%04x-4%03x-8%03x-%012x"'
_NONE = b"[]"
_SYSTEM = b'{"CODE":["CHAT_JOIN"],"NOTIFY":"N"}'
(PLAIN, EDITED, DELETED, LIKED, MENTION, CHAT_LINK, DISK_LINK, SYSTEM) = range(8)
LONG_PLACE = 11


def _kind_of_each() -> list[int]:
    """One entry per chance out of 1024."""
    kinds = [PLAIN] * 1024
    for kind, shares in (
        (EDITED, 25),
        (DELETED, 11),
        (LIKED, 40),
        (MENTION, 50),
        (CHAT_LINK, 8),
        (DISK_LINK, 6),
        (SYSTEM, 12),
    ):
        start = kinds.index(PLAIN)
        kinds[start : start + shares] = [kind] * shares
    return kinds


KINDS = _kind_of_each()


@dataclass(slots=True)
class Correspondence:
    """All messages of a company. The bytes are the truth: everything else is read back from them."""

    seed: int
    moments: Moments
    chats: list[Chat]
    messages: int
    files: int
    bots: tuple[int, ...]
    first_numbers: list[int]
    long_text: bytes = b""

    def encoded(self, chat: Chat, place: int) -> bytes:
        """One row of `im.dialog.messages.get`."""
        if place >= chat.count:
            return encode(chat.added[place - chat.count])
        place = chat.grown_in(place)
        if chat.edits and place in chat.edits:
            return encode(chat.edits[place])
        if chat.script:
            return encode(chat.script(chat, place))
        number = chat.first_number + place
        luck = mix(self.seed * 7_919 + number)
        authors = chat.writers or chat.members
        author = authors[(luck >> 20) % len(authors)]
        kind = KINDS[luck & 1023]
        text = TEXTS[(luck >> 10) % len(TEXTS)]
        params = _NONE
        if kind or self.bots or place == 0:
            author, text, params = self._special(chat, place, luck, author, text)
        if self.has_file(number):
            params = b'{"FILE_ID":[%d]}' % (FILE_BASE + number)
            author, text = author or authors[0], TEXTS[luck % 7] if luck % 2 else texts.EMPTY
        elif chat.place == 0 and place == LONG_PLACE:
            text = self._long()
        at = chat.started + place * chat.step_s + luck % (int(chat.step_s * 0.6) or 1)
        uuid = (
            b"null"
            if author == 0
            else _UUID % (luck & 0xFFFFFFFF, luck >> 48, luck & 0xFFF, luck >> 52, luck & 0xFFFFFFFFFFFF)
        )
        return _ROW % (chat.grown_id(place), chat.id, author, self.moments.iso(at).encode(), text, uuid, params)

    def page(self, chat: Chat, places: range) -> Rows:
        """Many rows at once. Plain messages, which are most of them, are written out in this one loop, for speed."""
        rows = Rows()
        members, started, step = chat.writers or chat.members, chat.started, chat.step_s
        crowd = len(members)
        jitter, first, base, iso = int(step * 0.6) or 1, chat.first_number, self.seed * 7_919, self.moments.iso
        special = self._special_places(chat, places)
        for place in places:
            luck = mix(base + first + place)
            if KINDS[luck & 1023] or place in special:
                rows.append(self.encoded(chat, place))
                continue
            at = iso(started + place * step + luck % jitter).encode()
            author, text = members[(luck >> 20) % crowd], TEXTS[(luck >> 10) % len(TEXTS)]
            low = luck & 0xFFFFFFFFFFFF
            uuid = _UUID % (luck & 0xFFFFFFFF, luck >> 48, luck & 0xFFF, luck >> 52, low)
            number = chat.first_id + STRIDE * place + (place * 7 + chat.id) % STRIDE
            rows.append(_ROW % (number, chat.id, author, at, text, uuid, _NONE))
        return rows

    def _special_places(self, chat: Chat, places: range) -> Container[int]:
        """Where the plain way of writing will not do: the first message, the long one, files, later changes."""
        low, high = min(places, default=0), max(places, default=0)
        if self.bots or chat.script or chat.gone or high >= chat.count:
            return places
        start, end = chat.first_number + low, chat.first_number + high + 1
        ordinals = range(start * self.files // self.messages, end * self.files // self.messages)
        files = {self._number_of_file(ordinal) - chat.first_number for ordinal in ordinals}
        return {0, LONG_PLACE} | files | chat.edits.keys()

    def row(self, chat: Chat, place: int) -> Row:
        row: Row = decode(self.encoded(chat, place))
        return row

    def at(self, chat: Chat, place: int) -> str:
        """When the message was written; cheap, for lists of chats."""
        return str(self.row(chat, place)["date"])

    def has_file(self, number: int) -> bool:
        """Files are spread evenly over the messages, exactly as many as planned."""
        return (number + 1) * self.files // self.messages > number * self.files // self.messages

    def place_of_file(self, file: int) -> tuple[Chat, int] | None:
        number = file - FILE_BASE
        if not 0 <= number < self.messages or not self.has_file(number):
            return None
        chat = self.chats[bisect_right(self.first_numbers, number) - 1]
        place = chat.place_now(number - chat.first_number)
        return None if place is None else (chat, place)

    def _special(self, chat: Chat, place: int, luck: int, author: int, text: bytes) -> tuple[int, bytes, bytes]:
        kind, members = KINDS[luck & 1023], chat.writers or chat.members
        if place == 0 and chat.kind != PRIVATE:
            return 0, texts.CREATED_CHAT % (chat.founder or chat.owner), _SYSTEM
        if self.bots and luck % 97 == 0:
            return self.bots[luck % len(self.bots)], text, _NONE
        if kind == EDITED:
            return author, text, b'{"IS_EDITED":"Y"}'
        if kind == DELETED:
            return author, texts.DELETED, b'{"IS_DELETED":"Y"}'
        if kind == LIKED:
            return author, text, b'{"LIKE":[%d]}' % members[luck % len(members)]
        if kind == MENTION:
            return author, texts.MENTION % members[(luck >> 9) % len(members)], _NONE
        if kind == CHAT_LINK:
            return author, texts.CHAT_LINK % self.chats[luck % len(self.chats)].id, _NONE
        if kind == DISK_LINK and self.files:
            return author, texts.DISK_LINK % self.some_file(luck), _NONE
        if kind == SYSTEM and chat.kind != PRIVATE:
            return 0, texts.LEFT_CHAT % author, b'{"CODE":["CHAT_LEAVE"],"NOTIFY":"N"}'
        return author, text, _NONE

    def some_file(self, luck: int) -> int:
        return FILE_BASE + self._number_of_file(luck % self.files)

    def _number_of_file(self, ordinal: int) -> int:
        """The number of the message that carries a file, the inverse of `has_file`."""
        return -(-(ordinal + 1) * self.messages // self.files) - 1

    def _long(self) -> bytes:
        if not self.long_text:
            self.long_text = texts.long_text()
        return self.long_text


def correspondence(plan: Plan, moments: Moments, chats: list[Chat], bots: tuple[int, ...]) -> Correspondence:
    seed, files = chance(plan.seed, "messages", 0), min(plan.files, plan.messages)
    starts = [chat.first_number for chat in chats]
    return Correspondence(seed, moments, chats, max(1, plan.messages), files, bots, starts)
