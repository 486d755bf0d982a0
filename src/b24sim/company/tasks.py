"""The tasks of a company: their rows, checklists and comments, the chats they have, and the files on them."""

from typing import TYPE_CHECKING

from b24sim.company import tasks_checklists as checklists
from b24sim.company import tasks_comments as talks
from b24sim.company import tasks_rows as rows
from b24sim.company import tasks_texts as texts
from b24sim.company.attachments import OBJECT_BASE, Attachment, Family, own_object, place_in_family
from b24sim.company.chats import STRIDE, TASK, Chat
from b24sim.company.crm_ids import crm_ids
from b24sim.company.files import File
from b24sim.company.tasks_comments import Comment, Where
from b24sim.company.tasks_crew import acquainted, created_at, crew_of, luck_of, place_of, task_id
from b24sim.company.tasks_fields import SYSTEM, user_fields
from b24sim.table import Row, Table

if TYPE_CHECKING:
    from b24sim.company.company import Company

ENTITY = "TASKS_TASK"
OLD_ENTITY = "TASKS"  # of the old card (chats/im-chat-get.md)
# Above every other chat and message, so that a company with tasks has the same ones besides.
FIRST_CHAT_ID = 500_000
FIRST_MESSAGE_ID = 10_000_001
MOST_TALKS = 20_000
SLOTS = {Family.TASK: rows.MOST_FILES, Family.CHECKLIST: checklists.MOST, Family.TASK_COMMENT: talks.MOST}


class Tasks:
    """All tasks. Rows hold times as numbers; what people change later lies over what the seed gives."""

    def __init__(self, company: "Company"):
        self._company = company
        self._groups = tuple(company.groups_by_id)
        self._crm = crm_ids(company.plan)
        count = company.plan.task_count
        self.table = Table((task_id(company, place) for place in range(count)), self._row)
        # A box has what every portal has, before anything is moved to it.
        self.user_fields = user_fields()[: len(SYSTEM) if company.plan.box else None]
        self._talks: dict[int, list[Comment]] = {}
        # Tasks as they were told last, for clients that ask for the same ones again.
        self.told: dict[tuple[str, tuple[str, ...]], dict[int, bytes]] = {}
        self.told_versions = (-1, -1, -1)
        self._added = 0
        self.own_checklists: dict[int, list[Row]] = {}
        self.own_comments: dict[int, list[Row]] = {}
        self.recycled: dict[int, tuple[Row, Chat | None]] = {}  # the recycle bin, which no method shows
        for family, make in (
            (Family.TASK, self._on_task),
            (Family.CHECKLIST, self._on_checklist),
            (Family.TASK_COMMENT, self._on_comment),
        ):
            company.attachments.family(family, make, self._may_open)

    def grow_chats(self) -> dict[int, Chat]:
        """The chats of those tasks that have one."""
        company, chats, number = self._company, {}, FIRST_MESSAGE_ID
        for place in range(company.plan.task_count):
            talk = talks.talk_of(company, place)
            if talk.has_chat:
                members = acquainted(company, crew_of(company, place))
                chat = Chat(self.chat_id(place), 0, TASK, self._title(place), members[0], members)
                chat.entity_type, chat.entity_id = ENTITY, str(task_id(company, place))
                chat.count, chat.first_id, chat.started = talk.messages, number, created_at(company, place)
                chat.script = self._message
                chats[chat.id] = chat
                number += STRIDE * talk.messages
        return chats

    def forget(self) -> None:
        """Texts hold the portal's address."""
        self.table.forget_encodings()
        self._talks.clear()
        self.told.clear()

    def chat_id(self, place: int) -> int:
        return FIRST_CHAT_ID + 2 * place

    def chat_of(self, number: int) -> Chat | None:
        """The task's chat, if it has one."""
        if number not in self.table:
            return None
        place = place_of(self._company, number)
        chat = self._company.chats.get(self.table.row(number)["CHAT_ID"] if place is None else self.chat_id(place))
        return chat if chat and chat.entity_id == str(number) else None

    def visible_to(self, number: int, user: int) -> bool:
        """The user's own tasks, for everyone but administrators."""
        row = self.table.row(number)
        people = (row["CREATED_BY"], row["RESPONSIBLE_ID"], *row["ACCOMPLICES"], *row["AUDITORS"])
        return str(user) in people

    def checklist(self, number: int) -> list[Row]:
        """Items in order of id."""
        if number in self.own_checklists:
            return self.own_checklists[number]
        place = place_of(self._company, number)
        return checklists.items_of(self._company, place) if place is not None else []

    def forum(self, number: int) -> list[Row]:
        """The rows of `task.commentitem.getlist`, with times as numbers and attachments as IDs."""
        if number in self.own_comments:
            return self.own_comments[number]
        place = place_of(self._company, number)
        if place is None:
            return []
        old = self._talk(place)[: talks.talk_of(self._company, place).old]
        return [self._forum_row(place, comment) for comment in old]

    def message_of(self, number: int, comment: int) -> int | None:
        """The id under which the chat shows a forum comment of the task too."""
        place, chat = place_of(self._company, number), self.chat_of(number)
        if place is None or chat is None or talks.talk_of(self._company, place).where is not Where.COPIED:
            return None
        at = comment - talks.forum_id(place, 0)
        if not 0 <= at < talks.talk_of(self._company, place).old or chat.place_now(at + 1) is None:
            return None
        return chat.grown_id(at + 1)

    def checklist_size(self, number: int) -> int:
        place = place_of(self._company, number)
        if number in self.own_checklists or place is None:
            return len(self.checklist(number))
        return checklists.size_of(self._company, place)

    def comments_size(self, number: int) -> int:
        """How many comments there are when what is shown twice counts once."""
        place, chat = place_of(self._company, number), self.chat_of(number)
        talk = talks.talk_of(self._company, place) if place is not None else None
        if number in self.own_comments or talk is None:
            forum = [row["ID"] for row in self.forum(number)]
            old, copied = len(forum), sum(self.message_of(number, comment) is not None for comment in forum)
        else:
            shown = [chat.place_now(at + 1) is not None for at in range(talk.old)] if chat else []
            old, copied = talk.old, sum(shown) if talk.where is Where.COPIED else 0
        return old - copied + (len(chat) if chat else 0)

    def next_item(self) -> int:
        """An id for one more item of some checklist."""
        self._added += 1
        return checklists.item_id(self._company.plan.task_count, self._added)

    def next_comment(self) -> int:
        self._added += 1
        return talks.forum_id(self._company.plan.task_count, self._added)

    def file_in_chat(self, number: int) -> tuple[File, Chat, int] | None:
        """A file that was sent to a task's chat, with the place of its message."""
        found = self._company.attachments.of_object(number)
        if found is None or found.entity_type != "forum_message":
            return None
        place, comment = divmod(found.entity_id - talks.FIRST_FORUM_ID, talks.MOST)
        talk, chat = talks.talk_of(self._company, place), self.chat_of(task_id(self._company, place))
        at = 1 + comment - talk.first_in_chat
        file = self._company.attachments.file(number)
        shown = chat.place_now(at) if chat and 0 < at < talk.messages else None
        return (file, chat, shown) if file and chat and shown is not None else None

    def _row(self, number: int) -> Row:
        company, place = self._company, place_of(self._company, number)
        if place is None:
            raise KeyError(number)
        row = rows.task_row(company, self._groups, self._crm, place)
        chat = self.chat_of(number)
        service = sum(comment.system for comment in self._talk(place))
        return rows.derived(row | {"CHAT_ID": chat.id if chat else None, "SERVICE_COMMENTS_COUNT": str(service)})

    def _title(self, place: int) -> str:
        return f"{texts.TITLES[luck_of(self._company, 'task', place) % len(texts.TITLES)]} {place}"

    def _talk(self, place: int) -> list[Comment]:
        known = self._talks.get(place)
        if known is None:
            known = talks.comments_of(self._company, place)
            if len(self._talks) < MOST_TALKS:
                self._talks[place] = known
        return known

    def _forum_row(self, place: int, comment: Comment) -> Row:
        return {
            "ID": talks.forum_id(place, comment.number), "AUTHOR_ID": comment.author, "POST_DATE": comment.at,
            "POST_MESSAGE": comment.text,
            "ATTACHED": [talks.attachment_of(place, comment.number)] if comment.has_file else [],
        }  # fmt: skip

    def _message(self, chat: Chat, at: int) -> Row:
        """A message of a task's chat; the first tells that the chat was made."""
        company = self._company
        place = (chat.id - FIRST_CHAT_ID) // 2
        row = {"id": chat.grown_id(at), "chat_id": chat.id}
        if at == 0:
            text = texts.CHAT_MADE.format(user=crew_of(company, place).creator)
            comment = Comment(0, 0, chat.started, text, system=True)
        else:
            comment = self._talk(place)[talks.talk_of(company, place).first_in_chat + at - 1]
        # What the portal itself says has no author here; a copy keeps the one it had on the forum.
        author = 0 if comment.system and comment.number >= talks.talk_of(company, place).old else comment.author
        return row | {
            "author_id": author, "date": company.moments.iso(comment.at + comment.chat_delay_s), "text": comment.text,
            "unread": False, "uuid": f"{chat.id:08x}-{at:04x}-4000-8000-{chat.id:012x}" if author else None,
            "replaces": [], "params": self._params(place, comment) or [], "disappearing_date": None,
        }  # fmt: skip

    def _params(self, place: int, comment: Comment) -> Row:
        if comment.deleted:
            return {"IS_DELETED": "Y"}
        params: Row = {}
        if comment.has_file:
            params["FILE_ID"] = [talks.object_of(place, comment.number)]
        elif comment.number == max(1, talks.talk_of(self._company, place).old) and rows.files_of(self._company, place):
            # The file of the task is shown round once more in its chat.
            params["FILE_ID"] = [rows.object_of(self._company, place, 0)]
        if comment.liked_by:
            params["LIKE"] = [comment.liked_by]
        return params

    def _on_task(self, ordinal: int, number: int) -> Attachment | None:
        place, slot = divmod(ordinal, rows.MOST_FILES)
        if slot >= (rows.files_of(self._company, place) if self._exists(place) else 0):
            return None
        crew, task = crew_of(self._company, place), task_id(self._company, place)
        thing = rows.object_of(self._company, place, slot)
        if OBJECT_BASE < thing != own_object(number):
            self._company.attachments.shared.add(thing)
        guarded = place % 5 == 4 and thing == own_object(number)
        made = created_at(self._company, place)
        return Attachment(number, thing, "tasks", "tasks_task", task, crew.creator, made, guarded)

    def _on_checklist(self, ordinal: int, number: int) -> Attachment | None:
        place, slot = divmod(ordinal, checklists.MOST)
        if not self._exists(place) or not checklists.has_file(self._company, place, slot):
            return None
        item, made = checklists.item_id(place, slot), created_at(self._company, place)
        by = crew_of(self._company, place).creator
        return Attachment(number, own_object(number), "tasks", "task_checklist", item, by, made)

    def _on_comment(self, ordinal: int, number: int) -> Attachment | None:
        place, said = divmod(ordinal, talks.MOST)
        comment = (
            self._talk(place)[said] if self._exists(place) and talks.has_file(self._company, place, said) else None
        )
        if comment is None or not comment.has_file:
            return None
        thing, entity = own_object(number), talks.forum_id(place, said)
        guarded = place % 5 == 1
        return Attachment(number, thing, "forum", "forum_message", entity, comment.author, comment.at, guarded)

    def _exists(self, place: int) -> bool:
        return place < self._company.plan.task_count and task_id(self._company, place) in self.table

    def _may_open(self, attachment: Attachment, user: int, admin: bool) -> bool:
        ordinal, family = place_in_family(attachment.id)
        return admin or self.visible_to(task_id(self._company, ordinal // SLOTS[Family(family)]), user)
