"""The feed: authors, recipients and dates of posts. Texts and comments are generated on request."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from b24sim.company.chance import chance
from b24sim.company.groups import Group
from b24sim.company.people import ADMIN, People, is_active, is_extranet
from b24sim.company.plan import ANCHOR, DAY, Plan
from b24sim.table import Row

ALL = "UA"
PUBLISHED, DRAFT, MODERATED = "P", "D", "K"
# One case after another, so that even a small company has each of them.
AUDIENCES = ("all", "group", "all", "department", "users", "secret", "mixed", "private", "all", "group", "all", "wide")
CASES = (
    "plain", "titled", "important until", "hashtags", "tags", "inline file", "poll", "gratitude", "links", "mentions",
    "emoji", "long", "shared file", "important", "odd signs", "dismissed author", "unknown author",
)  # fmt: skip
COMMENTS_PER_POST = 3
POSTPONED_BY = 7
# The place of posts that were added later.
ADDED = -1


@dataclass(slots=True)
class Post:
    """One post. `log_id` is its entry in the feed, a number of its own; `updated` moves with every comment."""

    id: int
    log_id: int
    place: int
    author: int
    dest: tuple[str, ...]
    published: float
    updated: float
    comments: int
    status: str = PUBLISHED
    extra: Row = field(default_factory=dict)
    first_dest: tuple[str, ...] = ()  # whom it was for when its comments were written, where that is others now

    @property
    def case(self) -> str:
        return CASES[self.place % len(CASES)] if self.place != ADDED else CASES[0]

    @property
    def takes_comments(self) -> bool:
        return self.place == ADDED or self.place % 31 != 30

    @property
    def rights(self) -> frozenset[str]:
        """Users who may view it: the recipients, and the author even if not a recipient."""
        return frozenset((*self.dest, f"U{self.author}"))


@dataclass(frozen=True, slots=True)
class Circle:
    """A group as it was when the feed was grown: a member who joins later changes nothing that was written before."""

    id: int
    members: tuple[int, ...]
    secret: bool


def circles(groups: Iterable[Group]) -> list[Circle]:
    return [Circle(group.id, tuple(group.roles), group.secret) for group in groups]


@dataclass
class Feed:
    """All posts of a company, decided from the seed; `version` moves with every change."""

    plan: Plan
    people: People
    groups: Sequence[Circle]
    version: int = 0
    deleted: dict[int, Post] = field(default_factory=dict)
    _seen: dict[frozenset[str], tuple[int, list[Post]]] = field(default_factory=dict)

    @cached_property
    def posts(self) -> dict[int, Post]:
        return {post.id: post for post in map(self._grow, range(self.count))}

    @property
    def count(self) -> int:
        """How many posts the company was grown with."""
        if self.plan.posts is not None:
            return self.plan.posts
        return 0 if self.plan.box else 2 * self.plan.users

    @cached_property
    def staff(self) -> list[int]:
        return [number for number in self.people.healthy if not is_extranet(self.people, number)]

    @cached_property
    def others(self) -> list[int]:
        return [number for number in self.staff if number != ADMIN]

    @cached_property
    def secret_groups(self) -> Sequence[Circle]:
        return [group for group in self.groups if group.secret] or self.groups

    @cached_property
    def open_groups(self) -> Sequence[Circle]:
        return [group for group in self.groups if not group.secret] or self.groups

    @cached_property
    def dismissed(self) -> list[int]:
        return [number for number in self.staff if not is_active(self.people, number)]

    @cached_property
    def _members(self) -> dict[int, tuple[int, ...]]:
        return {group.id: group.members for group in self.groups}

    @cached_property
    def strangers(self) -> range:
        """Ids of people who were deleted: posts and comments still name them."""
        last = self.people.ids[-1] + 900
        return range(last, last + 3)

    @cached_property
    def first_comments(self) -> list[int]:
        """The number of the first comment of each post."""
        return [0, *accumulate(self._comments_of(place) for place in range(self.count))]

    def post_of_comment(self, number: int) -> tuple[int, int]:
        """The place of its post, and its own place among the comments there."""
        place = bisect_right(self.first_comments, number) - 1
        return place, number - self.first_comments[place]

    def id_at(self, place: int) -> int:
        return 3 + 2 * place + chance(self.plan.seed, "post id", place) % 2

    def at(self, place: int) -> Post | None:
        return self.posts.get(self.id_at(place))

    def seen_with(self, codes: frozenset[str]) -> list[Post]:
        """Posts for the holder of these access codes, the last bumped first. Moderated ones have an entry as well."""
        version, known = self._seen.get(codes, (-1, []))
        if version != self.version:
            entries = (post for post in self.posts.values() if post.status != DRAFT and post.rights & codes)
            known = sorted(entries, key=lambda post: (post.updated, post.id), reverse=True)
            self._seen[codes] = (self.version, known)
        return known

    def published_at(self, place: int) -> float:
        """In order of ids, but for posts that were written early and published late."""
        late = POSTPONED_BY if self.is_postponed(place) else 0
        step = 880 * DAY / max(1, self.count + POSTPONED_BY)
        jitter = chance(self.plan.seed, "post time", place) % 1000 / 1000
        return ANCHOR - 900 * DAY + (place + late + jitter * 0.9) * step

    def is_postponed(self, place: int) -> bool:
        return place % 29 == 13

    def last_comment_at(self, place: int) -> float:
        count = self._comments_of(place)
        return self.comment_at(place, count - 1) if count else self.published_at(place)

    def comment_at(self, place: int, turn: int) -> float:
        luck = chance(self.plan.seed, "comment time", place * 10_007 + turn)
        if place % 23 == 7 and turn == self._comments_of(place) - 1:
            return ANCHOR - luck % DAY  # a new comment moves an old post to the top
        return self.published_at(place) + turn * 7_200 + luck % 7_000

    def crowd(self, post: Post) -> Sequence[int]:
        """Users who may comment."""
        dest = post.first_dest or post.dest
        if ALL in dest:
            return self.staff
        met = [post.author]
        for code in dest:
            number = int(code.lstrip("USGDR") or 0)
            met += self._members.get(number, ()) if code.startswith("SG") else ()
            met += (number,) if code.startswith("U") else ()
        return [number for number in dict.fromkeys(met) if number not in self.strangers] or self.staff

    def files_of(self, place: int) -> int:
        """How many files hang on the post."""
        if place == ADDED:
            return 0
        case = CASES[place % len(CASES)]
        if case in {"inline file", "shared file"}:
            return 2
        return 1 if case in {"odd signs", "titled"} or place % 19 == 18 else 0

    def _comments_of(self, place: int) -> int:
        average = COMMENTS_PER_POST if self.plan.comments_per_post is None else self.plan.comments_per_post
        if not average or place % 5 == 4 or self._status(place) != PUBLISHED or place % 31 == 30:
            return 0
        luck = chance(self.plan.seed, "post comments", place)
        return luck % (2 * average) + 1 + (20 * average if place % 40 == 8 else 0)

    def _status(self, place: int) -> str:
        return {20: DRAFT, 35: MODERATED}.get(place % 37, PUBLISHED)

    def _grow(self, place: int) -> Post:
        luck = chance(self.plan.seed, "post", place)
        author, dest = _AUDIENCE[AUDIENCES[place % len(AUDIENCES)]](self, luck)
        case = CASES[place % len(CASES)]
        if case == "dismissed author" and self.dismissed:
            author = self.dismissed[luck % len(self.dismissed)]
        elif case == "unknown author":
            author = self.strangers[luck % len(self.strangers)]
        return Post(
            self.id_at(place),
            self._log_id(place),
            place,
            author,
            dest,
            self.published_at(place),
            self.last_comment_at(place),
            self._comments_of(place),
            self._status(place),
        )

    def _log_id(self, place: int) -> int:
        """Entries are numbered when they are published, together with those of tasks, events and other things. So many
        an entry has the number of another post."""
        if self.is_postponed(place):
            return 8 + 5 * (place + POSTPONED_BY)
        return 4 + 5 * place + chance(self.plan.seed, "log", place) % 4


Audience = Callable[[Feed, int], tuple[int, tuple[str, ...]]]


def _to_all(feed: Feed, luck: int) -> tuple[int, tuple[str, ...]]:
    return feed.staff[luck % len(feed.staff)], (ALL,)


def _to_group(feed: Feed, luck: int, secret: bool = False) -> tuple[int, tuple[str, ...]]:
    groups = feed.secret_groups if secret else feed.open_groups
    if not groups:
        return _to_all(feed, luck)
    group = groups[luck % len(groups)]
    return group.members[(luck >> 8) % len(group.members)], (f"SG{group.id}",)


def _to_department(feed: Feed, luck: int) -> tuple[int, tuple[str, ...]]:
    departments = feed.people.departments
    return feed.staff[(luck >> 8) % len(feed.staff)], (f"DR{departments[luck % len(departments)]}",)


def _to_users(feed: Feed, luck: int) -> tuple[int, tuple[str, ...]]:
    others = dict.fromkeys([ADMIN, *(feed.staff[(luck >> shift) % len(feed.staff)] for shift in (4, 12))])
    return feed.staff[luck % len(feed.staff)], tuple(f"U{number}" for number in others)


def _private(feed: Feed, luck: int) -> tuple[int, tuple[str, ...]]:
    """Between two people, none of them the administrator, who cannot see it."""
    others = feed.others
    if len(others) < 2:
        return _to_all(feed, luck)
    first = luck % len(others)
    return others[first], (f"U{others[(first + 1 + (luck >> 8) % (len(others) - 1)) % len(others)]}",)


def _wide(feed: Feed, luck: int) -> tuple[int, tuple[str, ...]]:
    author, group = _to_group(feed, luck)
    return author, tuple(dict.fromkeys((*group, *_to_department(feed, luck)[1], *_to_users(feed, luck)[1][1:])))


_AUDIENCE: dict[str, Audience] = {
    "all": _to_all,
    "group": _to_group,
    "department": _to_department,
    "users": _to_users,
    "secret": lambda feed, luck: _to_group(feed, luck, secret=True),
    "mixed": lambda feed, luck: (_to_all(feed, luck)[0], tuple(dict.fromkeys((ALL, *_to_group(feed, luck)[1])))),
    "private": _private,
    "wide": _wide,
}
