"""log.blogpost.*: posts, always as far as the caller himself may see them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from b24sim.company.feed import PUBLISHED, Post
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.paging import page_of_old_core, whole
from b24sim.phpjson import Rows, encode
from b24sim.request import Params
from b24sim.result import PAGE, Result
from b24sim.table import shown

LARGEST_PAGE = 200
MOST_READERS = 500


@dataclass(frozen=True, slots=True)
class FeedHabits:
    """How portals differ. An `old` one does not know dates and cursors and says nothing about it.

    A cursor is an entry of the feed (log-blogpost-get.md), or a post (`cursor_is_post`). Comments name that entry only
    (log-blogcomment-user-get.md), or their post (`comments_name_post`, kernel 25.100). The keys above them are
    capitals (kernel 25.100), or as the documentation shows them (`lower_keys`). Which posts beyond a cursor come, where
    there are more than LIMIT, is not documented: the newest, the nearest, or the last bumped (`order`)."""

    old: bool = False
    cursor_is_post: bool = False
    comments_name_post: bool = False
    lower_keys: bool = False
    order: str = "newest"


def get(context: Context, params: Params) -> Result:
    feed = context.portal.company.feed
    posts = _asked_for(feed.seen_with(context.portal.company.access_codes(context.caller.user)), params)
    habits = context.portal.feed_habits
    if not habits.old:
        posts = _published_between(context, posts, params)
        if params.get("FIRST_ID") is not None or params.get("LAST_ID") is not None:
            return _by_cursor(context, posts, params)
    return _by_page(context, posts, whole(params.get("START", 0)))


def _asked_for(posts: Sequence[Post], params: Params) -> Sequence[Post]:
    """POST_ID wins over LOG_RIGHTS."""
    number = whole(params.get("POST_ID"))
    if number > 0:
        return [post for post in posts if post.id == number]
    codes = params.get("LOG_RIGHTS")
    if not codes:
        return posts
    wanted = {str(code) for code in (codes if isinstance(codes, list) else [codes])}
    return [post for post in posts if post.rights & wanted]


def _published_between(context: Context, posts: Sequence[Post], params: Params) -> Sequence[Post]:
    since, until = (_moment(context, params, name) for name in ("LOG_DATE_FROM", "LOG_DATE_TO"))
    if since is None and until is None:
        return posts
    low, high = since or float("-inf"), float("inf") if until is None else until
    # Times are shown in whole seconds, and so they are compared.
    return [post for post in posts if low <= int(post.published) <= high]


def _moment(context: Context, params: Params, name: str) -> float | None:
    value = params.get(name)
    if value in (None, ""):
        return None
    moment = context.portal.company.moments.parse(value)
    if moment is None:
        raise RestError("ERROR_ARGUMENT", f"Wrong value of {name}", extra={"argument": name})
    return moment


def _by_cursor(context: Context, posts: Sequence[Post], params: Params) -> Result:
    """FIRST_ID goes up and wins, LAST_ID goes down; 0 starts at the edge. Nothing is counted, and no order is promised:
    the last bumped comes first, as on every other page."""
    habits = context.portal.feed_habits
    key: Callable[[Post], int] = _number if habits.cursor_is_post else _entry
    limit = min(max(whole(params.get("LIMIT", PAGE)) or PAGE, 1), LARGEST_PAGE)
    published = [post for post in posts if post.status == PUBLISHED]
    if params.get("FIRST_ID") is not None:
        first = whole(params["FIRST_ID"])
        found = sorted((post for post in published if key(post) > first), key=key, reverse=habits.order == "newest")
    else:
        last = whole(params["LAST_ID"])
        found = sorted((post for post in published if not last or key(post) < last), key=key, reverse=True)
    if habits.order == "bumped":
        found.sort(key=_bumped, reverse=True)
    page = sorted(found[:limit], key=_bumped, reverse=True)
    return Result(Rows(_encoded(context, post) for post in page))


def _by_page(context: Context, posts: Sequence[Post], start: int) -> Result:
    """The last bumped first. What waits for its moderator is counted, but dropped from the page."""
    by_id = {post.id: post for post in posts}
    page = page_of_old_core(list(by_id), start, lambda number: b"%d" % number)
    entries = (by_id[int(number)] for number in page.value)
    rows = Rows(_encoded(context, post) for post in entries if post.status == PUBLISHED)
    return Result(rows, page.total, page.next)


def _bumped(post: Post) -> tuple[float, int]:
    return post.updated, post.id


def _number(post: Post) -> int:
    return post.id


def _entry(post: Post) -> int:
    return post.log_id


def _encoded(context: Context, post: Post) -> bytes:
    rows = context.portal.company.feed_rows
    if not context.portal.feed_habits.old:
        return rows.posts.encoded(post.id)
    row: dict[str, Any] = shown(rows.posts.row(post.id))
    ends = row.get("UF_IMPRTANT_DATE_END", {}).get("VALUE")
    if ends:
        moments = context.portal.company.moments
        row["UF_IMPRTANT_DATE_END"] = row["UF_IMPRTANT_DATE_END"] | {"VALUE": moments.culture(moments.parse(ends) or 0)}
    return encode(row)


def users_important(context: Context, params: Params) -> Result:
    """Users who confirmed reading; none if the caller may not see the post."""
    company = context.portal.company
    number = whole(params.get("POST_ID"))
    if number <= 0:
        raise RestError("ERROR_ARGUMENT", "Wrong post ID", extra={"argument": "POST_ID"})
    post = company.feed.posts.get(number)
    codes = company.access_codes(context.caller.user)
    if post is None or not post.rights & codes or not company.feed_rows.posts.row(number)["_IMPORTANT"]:
        return Result([])
    readers = [user for user in company.feed.crowd(post) if (user + number) % 3 and company.is_active(user)]
    return Result([str(user) for user in readers[:MOST_READERS]])


METHODS = [
    Method("log.blogpost.get", ("log",), get, upper=True),
    Method("log.blogpost.getusers.important", ("log",), users_important, upper=True),
]
