"""How large a company is and how unpleasant."""

from dataclasses import dataclass, replace

# Companies are dated back from a fixed day, so that a seed gives the same bytes whenever it is grown.
ANCHOR = 1_790_812_800.0  # 2026-10-01T00:00:00Z
DAY = 86_400
LARGEST_GROUP = 150
UNIMPORTABLE_SHARE = 0.015
SMALLEST_WITH_UNIMPORTABLE = 70
CODE_TEMPLATES = 4
SMALLEST_WITH_CODE = 50
LONG_TEXT, LONGEST_TEXT, SMALLEST_WITH_LONGEST = 20_000, 2_000_000, 50
BY_USERS = -1
TASKS_PER_USER = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """Numbers of records. `bad_users` cannot be imported: no e-mail, no name, or the email of another user."""

    users: int = 20
    departments: int = 5
    groups: int = 6
    chats: int = 12
    messages: int = 300
    files: int = 10
    seed: int = 1
    timezone: str = "Europe/Moscow"
    bad_users: int | None = None
    bots: int = 0
    foreign_chats: float = 0.1  # share of the chats that the administrator is not in
    # The CRM; a number that is not given follows from the number of users, and comes on top of `sized`.
    companies: int | None = None
    contacts: int | None = None
    deals: int | None = None
    smart_types: int | None = None
    smart_items: int | None = None  # of each smart process
    recurring: int = 0  # schedules of recurring deals, each with a template among the deals
    requisites: int = 0  # with them come their templates, bank details, addresses and links
    # These come only where they are asked for.
    leads: int = 0
    quotes: int = 0
    invoices: int = 0
    # The feed and the workflow templates, likewise on top.
    posts: int | None = None
    comments_per_post: int | None = None  # on the average
    templates: int | None = None
    # Of these so many run PHP or have an activity of some vendor: one of each kind, unless another number is given.
    code_templates: int | None = None
    # Tasks come only where they are asked for, since their chats show among the others; BY_USERS: three for each user.
    tasks: int = 0
    # What hangs on CRM records comes only where it is asked for: it shows in no record that names it.
    calls: int = 0
    crm_activities: int = 0
    crm_comments: int = 0
    log_entries: int = 0
    crm_notes: bool = False  # beside some comments and activities
    new_card: bool = False  # all tasks are of the new card, whose comments are in chats; else some of each kind
    box: bool = False  # a box before the migration: its administrator, its root department, nothing else
    # Of the catalogue, without offers; a company without products has no catalogue.
    products: int = 0
    large_files: tuple[int, ...] = ()  # bytes of the first files of chats
    owner_zone: str = ""  # of everybody who has set none; empty: the server's
    long_text: int | None = None  # characters of the longest comment of a deal; the number of users decides

    @property
    def task_count(self) -> int:
        return TASKS_PER_USER * self.users if self.tasks == BY_USERS else self.tasks

    @property
    def unimportable(self) -> int:
        if self.bad_users is not None:
            return min(self.bad_users, max(0, self.users - 1))
        return int(self.users * UNIMPORTABLE_SHARE) if self.users >= SMALLEST_WITH_UNIMPORTABLE else 0

    @property
    def longest_text(self) -> int:
        if self.long_text is not None:
            return self.long_text
        return LONGEST_TEXT if self.users >= SMALLEST_WITH_LONGEST else LONG_TEXT

    @property
    def templates_with_code(self) -> int:
        if self.code_templates is not None:
            return self.code_templates
        return CODE_TEMPLATES if self.users >= SMALLEST_WITH_CODE else 0


def members_of(groups: int, users: int) -> list[int]:
    """How many members each group has, its owner included: most groups are small, a few are large."""
    return [
        min(users, 2 + (number * 7) % 11 + (min(users // 4, LARGEST_GROUP) if number % 17 == 5 else 0))
        for number in range(groups)
    ]


def sized(records: int, seed: int = 1, **changes: object) -> Plan:
    """A company of that many records in all, from 10 to 1,000,000: messages are most of them."""
    users = max(3, records // 60)
    departments = max(1, users // 15)
    groups = max(1, users // 8)
    chats = max(1, users * 2 // 3)
    fixed = users + departments + groups + chats + sum(members_of(groups, users))
    messages = max(0, records - fixed)
    files = min(messages // 20, 2_000)
    plan = Plan(users, departments, groups, chats, messages, files, seed)
    return changed(plan, **changes)


def changed(plan: Plan, **changes: object) -> Plan:
    """The plan with other numbers; None leaves a number as it is."""
    return replace(plan, **{name: value for name, value in changes.items() if value is not None})  # type: ignore[arg-type]
