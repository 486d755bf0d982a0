"""Chats: who is in them, and how long each has become."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from b24sim.company import names
from b24sim.company.chance import chance
from b24sim.company.groups import Group
from b24sim.company.people import ADMIN, People, full_name
from b24sim.company.plan import ANCHOR, DAY, LARGEST_GROUP
from b24sim.table import Row

# The letters of `message_type`: api-reference/chat-bots/outdated/chats/events/on-imbot-join-chat.md.
PRIVATE, CLOSED, OPEN, CHANNEL, OPEN_CHANNEL, TASK = "P", "C", "O", "N", "J", "X"
LINE, COLLAB, COPILOT, THREAD, SYSTEM = "L", "B", "A", "T", "S"
READABLE_BY_ALL = {OPEN, OPEN_CHANNEL}
TYPES = {
    PRIVATE: "private",
    CLOSED: "chat",
    OPEN: "open",
    CHANNEL: "channel",
    OPEN_CHANNEL: "openChannel",
    TASK: "tasksTask",
    LINE: "lines",
    COLLAB: "collab",
    COPILOT: "copilot",
    THREAD: "comment",
    SYSTEM: "notify",
}
# What a chat is about makes its type, in camel case.
TYPES_BY_ENTITY = {
    "SONET_GROUP": "sonetGroup",
    "LIVECHAT": "livechat",
    "VIDEOCONF": "videoconf",
    "CALL": "call",
    "CALENDAR": "calendar",
    "MAIL": "mail",
    "ANNOUNCEMENT": "announcement",
    "BOOKING": "booking",
    "AI_ASSISTANT_PRIVATE": "aiAssistantPrivate",
}
# Ids of messages leave gaps, as on a portal where every chat draws from one counter.
STRIDE = 3


@dataclass(slots=True)
class Chat:
    """One chat. Its messages are numbered by place; those added later follow the ones it was grown with."""

    id: int
    place: int
    kind: str
    name: str
    owner: int
    members: list[int]
    managers: list[int] = field(default_factory=list)
    entity_type: str = ""
    entity_id: str = ""
    entity_data: str = ""
    parent: tuple[int, int] = (0, 0)  # of comments: the channel, and the message that is commented on
    count: int = 0
    first_id: int = 0
    first_number: int = 0
    started: float = 0.0
    step_s: float = 0.0
    description: str = ""
    added: list[Row] = field(default_factory=list)
    edits: dict[int, Row] = field(default_factory=dict)  # by the place a message was grown in
    gone: list[int] = field(default_factory=list)  # places of grown messages that were deleted for good, ascending
    touched: float = 0.0  # when its last message was edited, or the caller read it: `date_update` moves
    extra: Row = field(default_factory=dict)
    # Members and owner at the time of its messages; empty: the current ones.
    writers: list[int] = field(default_factory=list)
    founder: int = 0
    # Members who joined late and see only messages from such an id on.
    sees_from: dict[int, int] = field(default_factory=dict)
    pictured: bool = False
    # Members who took it off their recent list: they can read it as before (im-recent-hide.md).
    hidden_by: list[int] = field(default_factory=list)
    # Writes the messages of chats that do not follow from chance alone.
    script: "Callable[[Chat, int], Row] | None" = None

    def __len__(self) -> int:
        return self.count + len(self.added)

    def __bool__(self) -> bool:
        """A chat without messages is a chat, too."""
        return True

    @property
    def type(self) -> str:
        return (
            TYPES[COLLAB]
            if self.kind == COLLAB
            else TYPES_BY_ENTITY.get(self.entity_type) or TYPES.get(self.kind, "chat")
        )

    @property
    def dialog_id(self) -> str:
        return f"chat{self.id}"

    @property
    def has_avatar(self) -> bool:
        return self.pictured or (self.kind != PRIVATE and self.place % 7 == 3)

    def id_at(self, place: int) -> int:
        """The id of the message at a place, ascending."""
        if place >= self.count:
            return int(self.added[place - self.count]["id"])
        return self.grown_id(self.grown_in(place))

    def grown_id(self, grown: int) -> int:
        return self.first_id + STRIDE * grown + (grown * 7 + self.id) % STRIDE

    def grown_in(self, place: int) -> int:
        """The place a message was grown in, before any of them was deleted for good."""
        for gone in self.gone:
            if gone > place:
                break
            place += 1
        return place

    def place_now(self, grown: int) -> int | None:
        """The current place of a generated message; None if it was deleted permanently."""
        before = bisect_left(self.gone, grown)
        return None if grown in self.gone[before : before + 1] else grown - before

    def erase(self, place: int) -> None:
        """Deletes a message permanently: its row disappears, and the count decreases."""
        if place >= self.count:
            del self.added[place - self.count]
            return
        insort(self.gone, self.grown_in(place))
        self.count -= 1

    def places_up_to(self, message: int) -> int:
        """How many messages have ids not above the given one: the place where newer ones begin."""
        if not self.count or message < self.first_id:
            grown = 0
        else:
            grown = min(self.count + len(self.gone), (message - self.first_id) // STRIDE + 1)
            if grown and self.grown_id(grown - 1) > message:
                grown -= 1
            grown -= bisect_left(self.gone, grown)
        return grown + bisect_right(self.added, message, key=lambda row: int(row["id"]))

    def place_of(self, message: int) -> int | None:
        place = self.places_up_to(message) - 1
        return place if place >= 0 and self.id_at(place) == message else None

    def readable_by(self, user: int) -> bool:
        return self.kind in READABLE_BY_ALL or user in self.members


def grow_chats(people: People, groups: list[Group]) -> list[Chat]:
    chats = list(_kinds(people, groups))
    _fill(chats, people.plan.messages)
    return chats


def _kinds(people: People, groups: list[Group]) -> Iterator[Chat]:
    staff = people.healthy
    unbound = iter([group for group in groups if not group.secret or group.owner == ADMIN])
    peers = iter([number for number in staff if number != ADMIN])
    share = people.plan.foreign_chats
    talking: set[frozenset[int]] = set()
    for place in range(people.plan.chats):
        luck = chance(people.plan.seed, "chat", place)
        number = 5 + place * 2 + (luck % 2 if place else 0)
        foreign = int((place + 1) * share) > int(place * share) and len(staff) > 3
        if foreign:
            yield _foreign(people, number, place, luck, talking)
            continue
        group = next(unbound, None) if place % 10 == 5 else None
        peer = next(peers, None) if place % 10 in {1, 4} else None
        if group:
            yield _of_group(number, place, group)
        elif peer:
            yield Chat(number, place, PRIVATE, _name(people, peer), ADMIN, [ADMIN, peer])
        else:
            yield _together(people, number, place, luck)


def _together(people: People, number: int, place: int, luck: int) -> Chat:
    staff = people.healthy
    kind = {3: OPEN, 7: OPEN_CHANNEL if place % 20 == 7 else CHANNEL, 8: TASK}.get(place % 10, CLOSED)
    size = min(len(staff), 2 + luck % 9 + (min(len(staff) // 3, LARGEST_GROUP) if place % 23 == 2 else 0))
    start = luck % len(staff)
    members = list(dict.fromkeys([ADMIN, *(staff[(start + step) % len(staff)] for step in range(size))]))[:size]
    chat = Chat(
        number, place, kind, f"{names.CHATS[place % len(names.CHATS)]} {place}", members[luck % len(members)], members
    )
    chat.managers = members[1:2] if luck % 3 == 0 else []
    chat.description = "Правила: <не> флудить & 'уважать'" if luck % 5 == 0 else ""
    if kind == TASK:
        chat.entity_type, chat.entity_id = "TASKS_TASK", str(500 + place)
    return chat


def _of_group(number: int, place: int, group: Group) -> Chat:
    members = list(dict.fromkeys([ADMIN, *group.roles]))
    group.chat = number
    title = f"{names.GROUPS[group.place % len(names.GROUPS)]} {group.place}"
    chat = Chat(number, place, CLOSED, title, group.owner, members, entity_type="SONET_GROUP", entity_id=str(group.id))
    chat.managers = [user for user, role in group.roles.items() if role == "E"]
    return chat


def _foreign(people: People, number: int, place: int, luck: int, talking: set[frozenset[int]]) -> Chat:
    """A chat the administrator is not in, and cannot get into."""
    others = people.healthy[1:]
    first = others[luck % len(others)]
    second = others[(luck % len(others) + 1 + place % (len(others) - 1)) % len(others)]
    pair = frozenset((first, second))
    if luck % 2 and pair not in talking:
        talking.add(pair)
        return Chat(number, place, PRIVATE, _name(people, second), first, [first, second])
    return Chat(number, place, CLOSED, f"Без начальства {place}", first, [first, second])


def _name(people: People, user: int) -> str:
    return " ".join(part for part in full_name(people, user) if part)


def _fill(chats: list[Chat], messages: int) -> None:
    """Share out the messages very unevenly: the first chats are long, some are empty."""
    weights = [0.0 if chat.place % 13 == 12 else _foreign_weight(chat) / (chat.place + 1) ** 0.9 for chat in chats]
    total = sum(weights)
    if not total:
        return
    ends = [round(part / total * messages) for part in accumulate(weights)]
    for chat, start, end in zip(chats, [0, *ends], ends, strict=False):
        chat.count, chat.first_number = end - start, start
        chat.first_id = 101 + start * STRIDE
        luck = chance(chat.id, "chat time", chat.place)
        chat.started = ANCHOR - (40 + luck % 900) * DAY
        chat.step_s = (ANCHOR - luck % (30 * DAY) - chat.started) / max(1, chat.count)


def _foreign_weight(chat: Chat) -> float:
    return 1.0 if ADMIN in chat.members else 0.2
