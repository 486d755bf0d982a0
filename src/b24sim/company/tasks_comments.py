"""Comments of tasks: on the forum as long as there was one, in the task's chat since.

When a portal changes over, old comments may be copied into the chat, by the same author with the same words at about
the same time; or they may not.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from b24sim.company import tasks_texts as texts
from b24sim.company.attachments import Family, attachment_id, own_object
from b24sim.company.plan import DAY
from b24sim.company.tasks_crew import Crew, acquainted, created_at, crew_of, luck_of, task_id

if TYPE_CHECKING:
    from b24sim.company.company import Company

MOST = 128
FIRST_FORUM_ID = 3_000
LONG_TALK = 110


class Where(Enum):
    """The lists that show the comments of a task. LOST ones are counted, but no list shows them."""

    FORUM = "forum"
    COPIED = "copied"
    SPLIT = "split"
    CHAT = "chat"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Talk:
    """How much was said about a task, and where; the first `old` comments are those of the forum."""

    where: Where
    count: int
    old: int

    @property
    def has_chat(self) -> bool:
        return self.where in {Where.COPIED, Where.SPLIT, Where.CHAT}

    @property
    def first_in_chat(self) -> int:
        """The comment that follows the chat's own first message."""
        return self.old if self.where is Where.SPLIT else 0

    @property
    def messages(self) -> int:
        return 1 + self.count - self.first_in_chat if self.has_chat else 0


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment. `number` is its place in the talk; a system comment tells what somebody did."""

    number: int
    author: int
    at: float
    text: str
    system: bool = False
    deleted: bool = False
    has_file: bool = False
    liked_by: int = 0
    chat_delay_s: int = 0


def talk_of(company: "Company", place: int) -> Talk:
    luck, share = luck_of(company, "talk", place), place / max(1, company.plan.task_count)
    count = 0 if place % 9 == 1 else LONG_TALK if place % 40 == 3 else 1 + luck % 7
    if company.plan.new_card:
        return Talk(Where.CHAT, count, 0)
    if place % 21 == 10:
        return Talk(Where.LOST, max(1, count), 0)
    if share < 0.35:
        return Talk(Where.FORUM, count, count)
    if share < 0.6:
        return Talk(Where.COPIED if share < 0.5 else Where.SPLIT, count, (count + 1) // 2)
    return Talk(Where.CHAT, count, 0)


def comments_of(company: "Company", place: int) -> list[Comment]:
    """The whole talk in order of time, wherever it is shown."""
    scene = _Scene(company, place, talk_of(company, place), crew_of(company, place))
    made: list[Comment] = []
    for number in range(0 if scene.talk.where is Where.LOST else scene.talk.count):
        made.append(scene.comment(number, made))
    return made


def comment_at(company: "Company", place: int, talk: Talk, number: int) -> float:
    """Ascending: every comment has a stretch of its own."""
    step = 3 * DAY // (1 + talk.count)
    luck = luck_of(company, "said", place * MOST + number)
    return created_at(company, place) + 600 + step * number + luck % max(1, step // 2)


def forum_id(place: int, number: int) -> int:
    return FIRST_FORUM_ID + MOST * place + number


def attachment_of(place: int, number: int) -> int:
    return attachment_id(Family.TASK_COMMENT, MOST * place + number)


def object_of(place: int, number: int) -> int:
    return own_object(attachment_of(place, number))


def has_file(company: "Company", place: int, number: int) -> bool:
    talk = talk_of(company, place)
    exists = number < talk.count and talk.where is not Where.LOST
    return exists and luck_of(company, "comment file", place * MOST + number) % 6 == 0


@dataclass(frozen=True, slots=True)
class _Scene:
    """The task of a comment."""

    company: "Company"
    place: int
    talk: Talk
    crew: Crew

    def comment(self, number: int, earlier: list[Comment]) -> Comment:
        luck = luck_of(self.company, "comment", self.place * MOST + number)
        at = comment_at(self.company, self.place, self.talk, number)
        known = acquainted(self.company, self.crew)
        author = known[luck % len(known)]
        delay = (0, 2, 0)[number % 3] if self.talk.where is Where.COPIED and number < self.talk.old else 0
        if self.place % 5 == 2 and number == 3 and not earlier[-1].has_file:
            # Somebody says the same thing twice within a minute: two comments all the same.
            return Comment(number, earlier[-1].author, earlier[-1].at + 20, earlier[-1].text, chat_delay_s=delay)
        if luck % 10 == 7:
            text = texts.DEADLINE_MOVED.format(user=author)
            return Comment(number, author, at, text, system=True, chat_delay_s=delay)
        if self.talk.where is Where.CHAT and number % 11 == 6:
            return Comment(number, author, at, texts.DELETED, deleted=True)
        attached = has_file(self.company, self.place, number)
        text = self._attached(number, luck) if attached else self._words(number, luck, author)
        liked_by = author if luck % 9 == 4 else 0
        return Comment(number, author, at, text, has_file=attached, liked_by=liked_by, chat_delay_s=delay)

    def _attached(self, number: int, luck: int) -> str:
        return texts.ATTACHED.format(attachment=attachment_of(self.place, number)) if luck % 3 else ""

    def _words(self, number: int, luck: int, author: int) -> str:
        company = self.company
        if luck % 12 == 3:
            return texts.MENTION.format(user=author)
        if luck % 12 == 5:
            other = task_id(company, luck % company.plan.task_count)
            return texts.TASK_LINK.format(portal=company.portal_url, user=author, task=other)
        if self.place == 2 and number == 0:
            return texts.LONG
        return texts.EMOJI if luck % 12 == 8 else texts.COMMENTS[(luck >> 8) % len(texts.COMMENTS)]
