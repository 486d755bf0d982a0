"""A company as a portal holds it: tables of records, all grown from one plan."""

from functools import cached_property

from b24sim.company import people as staff
from b24sim.company.activities import Activities
from b24sim.company.attachments import Attachment, Attachments, Family
from b24sim.company.catalog import Catalog
from b24sim.company.chats import PRIVATE, TASK, Chat, grow_chats
from b24sim.company.crm import Crm
from b24sim.company.drive import Drive
from b24sim.company.feed import ALL, Feed, circles
from b24sim.company.feed_files import FeedFiles
from b24sim.company.feed_rows import FeedRows
from b24sim.company.files import File, file_of
from b24sim.company.groups import Group, extranet_members, group_row, grow_groups
from b24sim.company.messages import FILE_BASE, correspondence
from b24sim.company.other_chats import other_chats
from b24sim.company.plan import Plan, sized
from b24sim.company.recurring import Schedules
from b24sim.company.requisites import Requisites
from b24sim.company.tasks import Tasks
from b24sim.company.timeline import Timeline
from b24sim.company.workflows import Workflows
from b24sim.moments import Moments
from b24sim.table import Row, Table


class Company:
    """All data of the portal. Deterministic: the same plan gives the same records."""

    def __init__(self, plan: Plan | None = None):
        self.plan = plan or Plan()
        self.moments = Moments(self.plan.timezone)
        self.portal_url = ""
        self.people = staff.people(self.plan, self.moments)
        self.users = Table(self.people.ids, self._user)
        self._tree = {number: place for place, number in enumerate(self.people.departments)}
        self.departments = Table(self.people.departments, self._department)
        self.user_fields = staff.user_fields() if not self.plan.box else []
        self.groups_by_id = {group.id: group for group in grow_groups(self.people)}
        self.groups = Table(self.groups_by_id, self._group)
        grown = grow_chats(self.people, list(self.groups_by_id.values()))
        self.chats = {chat.id: chat for chat in grown}
        self.chats_version = 0
        last = self.people.ids[-1]
        self.bots = tuple(range(last + 10, last + 10 + self.plan.bots))
        self.correspondence = correspondence(self.plan, self.moments, grown, self.bots)
        self.crm = Crm(self.people)
        self.catalog = Catalog(self.people)
        self.schedules = Schedules(self.crm, self.plan.recurring)
        self.requisites = Requisites(self.crm, self.plan.requisites, box=self.plan.box)
        self.attachments = Attachments(self.plan.seed)
        self.drive = Drive()
        self.tasks = Tasks(self)
        self.chats |= other_chats(self.people, self.groups_by_id.values(), grown, self.moments)
        self.chats |= self.tasks.grow_chats()
        # The highest numbers there ever were: a portal gives none twice.
        self._highest_chat = max(self.chats, default=4)
        ends = (chat.grown_id(chat.count - 1) for chat in self.chats.values() if chat.count)
        self._highest_message = max(self.correspondence.messages * 3 + 200, *ends, 0)
        # Pictures that were sent to the portal, by kind and owner; others are drawn when they are asked for.
        self.pictures: dict[tuple[str, int], bytes] = {}
        # Users who read the chats of all tasks; a portal that lets administrators do so names them here.
        self.task_chat_readers: frozenset[int] = frozenset()
        # Effect of a message in a task's chat on the task: "nothing", its "count" of comments, also the date of
        # "activity".
        self.task_chat_moves = "nothing"
        self.feed = Feed(self.plan, self.people, circles(self.groups_by_id.values()))
        self.feed_files = FeedFiles(self.feed, self.attachments, self.correspondence)
        self.attachments.family(Family.POST, self.feed_files.of_post_at, self._sees_post)
        self.attachments.family(Family.POST_COMMENT, self.feed_files.of_comment_at, self._sees_post)
        self.activities = Activities(self.plan, self.crm, self.attachments, lambda: self.portal_url)
        # What went or changed with CRM records that were deleted, until a request asks for it: stream, what, id.
        self.forgotten: list[tuple[str, str, str]] = []
        self.timeline = Timeline(self.plan, self.crm, self.activities, self.attachments, lambda: self.portal_url)
        self.workflows = Workflows(self.people, self.groups_by_id, self.crm.smart_types)
        # Users without a zone have that of the portal, which need not be the server's.
        self._zones = {"": Moments(self.plan.owner_zone) if self.plan.owner_zone else self.moments}
        self._pairs: tuple[int, dict[frozenset[int], int]] = (-1, {})
        self._visible: dict[int, tuple[int, list[int]]] = {}

    @classmethod
    def sized(cls, records: int, seed: int = 1, **changes: object) -> "Company":
        return cls(sized(records, seed, **changes))

    @classmethod
    def empty_box(cls, timezone: str = "Europe/Moscow", seed: int = 1) -> "Company":
        """A box before anything was moved to it: its administrator and the root of its departments."""
        return cls(Plan(1, 1, 0, 0, 0, 0, seed, timezone, 0, box=True))

    def settle(self, portal_url: str) -> None:
        """Rows contain absolute links, so the company gets its address before the first call."""
        self.portal_url = portal_url
        self.users.forget_encodings()
        self.groups.forget_encodings()
        self.tasks.forget()
        self.crm.settle(portal_url)
        self.catalog.settle(portal_url)
        self.activities.activities.forget_encodings()
        self.timeline.comments.forget_encodings()
        if "feed_rows" in vars(self):
            self.feed_rows.forget_encodings()

    def warm(self, most: int = 50_000) -> None:
        """Make rows beforehand that a benchmark would otherwise wait for."""
        for number in self.users.ids[:most]:
            self.users.encoded(number)
        for number in self.groups.ids[:most]:
            self.groups.encoded(number)

    @cached_property
    def feed_rows(self) -> FeedRows:
        return FeedRows(self.feed, self.feed_files, self.moments, lambda: self.portal_url)

    def users_visible_to(self, user: int) -> list[int]:
        """Without ADMIN_MODE: people with a department, oneself, and extranet users of one's groups."""
        version, known = self._visible.get(user, (-1, []))
        if version != self.users.version:
            met = {number for group in self.groups_of(user) for number in extranet_members(self.people, group)}
            known = [n for n in self.users if self.users.row(n)["UF_DEPARTMENT"] or n == user or n in met]
            self._visible[user] = (self.users.version, known)
        return known

    @property
    def private_chats(self) -> dict[frozenset[int], int]:
        """Which chat two people talk in."""
        version, pairs = self._pairs
        if version != self.chats_version:
            pairs = {frozenset(chat.members): chat.id for chat in self.chats.values() if chat.kind == PRIVATE}
            self._pairs = (self.chats_version, pairs)
        return pairs

    def next_chat(self) -> int:
        self._highest_chat = max(self._highest_chat, max(self.chats, default=0)) + 1
        return self._highest_chat

    def next_message(self, chat: Chat) -> int:
        last = chat.id_at(len(chat) - 1) if len(chat) else 0
        self._highest_message = max(self._highest_message, last) + 1
        return self._highest_message

    def groups_of(self, user: int) -> list[Group]:
        return [group for group in self.groups_by_id.values() if user in group.roles]

    def access_codes(self, user: int) -> frozenset[str]:
        """The recipients that include this user: the user, the user's groups, the departments up to the root, all."""
        departments: list[int] = list(self.users.row(user)["UF_DEPARTMENT"]) if user in self.users else []
        for number in departments:
            parent = self.departments.row(number).get("PARENT") if number in self.departments else None
            departments += [int(parent)] if parent and int(parent) not in departments else []
        codes = [f"U{user}", *(f"SG{group.id}" for group in self.groups_of(user)), *(f"DR{n}" for n in departments)]
        return frozenset(codes if self.is_extranet(user) else [ALL, *codes])

    def _sees_post(self, attachment: Attachment, user: int, _admin: bool) -> bool:
        post = self.feed.posts.get(attachment.entity_id)
        return post is not None and bool(post.rights & self.access_codes(user))

    def moments_of(self, user: int) -> Moments:
        """Times in the user's own zone, if one is set."""
        zone = str(self.users.row(user).get("TIME_ZONE") or "") if user in self.users else ""
        if zone not in self._zones:
            self._zones[zone] = Moments(zone)
        return self._zones[zone]

    def is_active(self, user: int) -> bool:
        return user in self.users and bool(self.users.row(user)["ACTIVE"])

    def is_extranet(self, user: int) -> bool:
        return user in self.users and self.users.row(user).get("USER_TYPE") == "extranet"

    def name_of(self, user: int) -> str:
        if user not in self.users:
            return f"Бот {user}"
        row = self.users.row(user)
        return " ".join(str(row[part]) for part in ("NAME", "LAST_NAME") if row.get(part))

    def readable(self, chat: Chat, user: int) -> bool:
        """Closed chats are for their members; open ones for every employee. Nobody is above this, but for tasks."""
        if chat.kind == TASK and user in self.task_chat_readers:
            return True
        return user in chat.members or (chat.readable_by(user) and not self.is_extranet(user))

    def file(self, number: int) -> tuple[File, Chat, int] | None:
        """A file with the chat and the place of the message it was sent in."""
        if number in self.drive.files:
            return self._shown_in_chat(number)
        found = self.correspondence.place_of_file(number)
        if found is None:
            return self.tasks.file_in_chat(number)
        sequence = number - FILE_BASE
        ordinal = sequence * self.correspondence.files // self.correspondence.messages
        return file_of(self.plan.seed, number, ordinal, self.plan.large_files), *found

    def drive_file(self, number: int) -> File | None:
        """A file by its id on the Drive, wherever it was put."""
        if number in self.drive.files:
            return self.drive.files[number].file
        found = self.file(number)
        return found[0] if found else self.attachments.file(number) or self.crm.drive_file(number)

    def _shown_in_chat(self, number: int) -> tuple[File, Chat, int] | None:
        uploaded = self.drive.files[number]
        chat = self.chats.get(uploaded.chat)
        place = chat.place_of(uploaded.message) if chat else None
        return (uploaded.file, chat, place) if chat and place is not None else None

    def _user(self, number: int) -> Row:
        return staff.user_row(self.people, number, self.portal_url)

    def _department(self, number: int) -> Row:
        return staff.department_row(self.people, self._tree[number])

    def _group(self, number: int) -> Row:
        return group_row(self.people, self.groups_by_id[number], self.portal_url)
