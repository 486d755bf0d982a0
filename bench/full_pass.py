"""k: how many requests a full pass takes for a company of 500 people, measured on a part of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from bench.bounds import full, pages
from bench.figures import Figure, at_most
from bench.processes import Portal, box, ours, portal

BAR = 6_000
SCALE = 10  # of a smaller part too many requests are not full
SAMPLED, SHARE = 400, 0.01  # of the tasks whose hints are checked
# What the simulator has and the company has not, or less: tasks whose page of comments is the largest that there is, so
# that it proves no end, and files of posts.
LONG, POST_FILES = 1 / 40, 0.392
UNCOUNTED = frozenset({"disk.file.get", "crm.item.get"})  # links of files, asked for with the downloads


class Company(NamedTuple):
    """Records by stream. People and groups are as many at any scale."""

    users: int = 500
    departments: int = 60
    groups: int = 200
    chats: int = 2_000
    messages: int = 1_000_000
    deals: int = 300_000
    contacts: int = 200_000
    tasks: int = 100_000
    posts: int = 20_000
    comments_per_post: int = 2
    long_talks: float = 0.0
    post_files: float = 0.2

    def part(self, scale: int) -> Company:
        names = ("chats", "messages", "deals", "contacts", "tasks", "posts")
        return self._replace(
            long_talks=LONG, post_files=POST_FILES, **{name: getattr(self, name) // scale for name in names}
        )

    @property
    def sampled(self) -> int:
        return min(self.tasks, max(SAMPLED, round(self.tasks * SHARE)))


class Part(NamedTuple):
    """Requests for one thing: whose methods they carry, how many before hints were used, and how many the arithmetic
    says. What is measured differs from that by a factor, which the whole company is believed to have as well."""

    name: str
    methods: tuple[str, ...]
    before: int
    requests: Callable[[Company], float]


PARTS = (
    Part("contacts", ("crm_contacts crm.item.list",), 82, lambda one: _listed(one.contacts)),
    Part("deals", ("crm_deals crm.item.list",), 122, lambda one: _listed(one.deals)),
    Part("product rows", ("crm_deals crm.item.productrow.list",), 240, lambda one: full(pages(one.deals))),
    Part("tasks", ("tasks tasks.task.list",), 42, lambda one: _listed(one.tasks)),
    Part("files of tasks", ("tasks disk.attachedObject.get",), 800, lambda one: full(one.tasks // 5)),
    Part("task checklists", ("tasks task.checklistitem.getlist",), 2_000, lambda one: full(one.tasks)),
    Part("task comments, forum", ("tasks task.commentitem.getlist",), 2_000, lambda one: full(one.sampled)),
    Part(
        "task comments, chat",
        ("tasks im.dialog.messages.get",),
        4_000,
        lambda one: full(round(one.tasks * (1 + one.long_talks)) + one.sampled),
    ),
    Part(
        "chats: lists, details",
        ("chats im.recent.list", "chats im.dialog.get", "chats im.dialog.users.list", "chats im.chat.user.list"),
        85,
        lambda one: full(2 * one.chats) + full(one.chats // 200),
    ),
    Part("chat messages", ("chats im.dialog.messages.get",), 440, lambda one: full(pages(one.messages) + one.chats)),
    Part("posts", ("feed log.blogpost.get",), 36, lambda one: full(pages(one.posts)) + full(one.users + one.groups)),
    Part("files of posts", ("feed disk.attachedObject.get",), 160, lambda one: full(round(one.posts * one.post_files))),
    Part(
        "feed comments",
        ("feed log.blogcomment.user.get",),
        30,
        lambda one: full(one.users + pages(one.posts * one.comments_per_post)),
    ),
)
OTHERS_BEFORE = 38  # people, groups, structure, custom fields, templates: as many at any scale
STEPS = (
    ("users", "get"),
    ("users", "set"),
    *((entity, "get") for entity in ("groups", "crm_structure", "crm_contacts", "crm_deals", "chats", "feed")),
    *((entity, "get") for entity in ("workflows", "tasks")),
)


def measured(_quick: bool) -> Iterator[Figure]:
    part_of_it = Company().part(SCALE)
    total = 0.0
    for name, requests, before, expected in extrapolate(read(part_of_it), part_of_it):
        total += requests
        yield Figure("k", f"full pass: {name}", f"{requests:,.0f} ({before:,} before){expected}")
    before = sum(part.before for part in PARTS) + OTHERS_BEFORE
    shown = f"{total:,.0f} requests, {total / 120:.0f} min at two a second ({before:,} before)"
    yield at_most("k", "full pass of 500 people", total, BAR, shown)


def extrapolate(found: Counter[str], company: Company) -> Iterator[tuple[str, float, int, str]]:
    """From what was measured on a part of the company to the whole: name, requests, how many before, and in words what
    was measured."""
    left = Counter(found)
    for part in PARTS:
        took = sum(left.pop(method, 0) for method in part.methods)
        needed = part.requests(company)
        requests = part.requests(Company()) * took / needed
        yield part.name, requests, part.before, f"; 1:{SCALE} took {took}, the arithmetic says {needed:,.0f}"
    others = sum(count for name, count in left.items() if name.split()[1] not in UNCOUNTED)
    yield "people, groups, structure", others, OTHERS_BEFORE, ""


def read(company: Company) -> Counter[str]:
    """Requests by entity and by what they carry; downloads are none."""
    with box() as target, source_of(company) as source:
        return carried(ours(source, target, *STEPS, per_second=0, operating_s=0))


def source_of(company: Company, **habits: object) -> AbstractContextManager[Portal]:
    sizes = {name: value for name, value in company._asdict().items() if name not in ("long_talks", "post_files")}
    nothing = {"companies": 0, "smart_types": 0, "files": 0, "bad_users": 0, "foreign_chats": 0}
    common = {"new_card": True, "plain_tasks": True, "many_owners": True, "limits": "off"}
    return portal(**sizes, **nothing, **common | habits)


def carried(done: Sequence[dict[str, Any]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (entity, phase), step in zip(STEPS, done, strict=True):
        if phase == "get":
            found.update({f"{entity} {method}": count for method, count in step["carried"].items()})
    return found


def _listed(records: int) -> int:
    """Chains of 50 pages of 50, and two more requests where they begin and end."""
    return full(pages(records)) + 2
