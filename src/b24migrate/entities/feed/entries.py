"""Which post an entry of the feed is, and how a portal counts in the cursors of log.blogpost.get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from b24migrate.entities import probes
from b24migrate.messages import say
from b24migrate.model.answers import id_of, open_list
from b24migrate.model.readings import ANY, Named
from b24migrate.model.records import Row
from b24migrate.model.streams import Asking, Probe
from b24migrate.model.values import is_number
from b24migrate.ports import Answer, Command, Source

METHOD = "log.blogpost.get"
BY_POST = say("skip.by_post")
NO_CURSOR = say("skip.no_cursor")
UNSEEN = say("skip.unseen_post")

# Comments name their post (kernel 25.100) or only its entry in the feed (documentation of log.blogcomment.user.get),
# and posts do not name their entry. The documentation of log.blogpost.get calls its cursors ids of entries, and an old
# portal knows none. It names no order, so which of several posts one gets is not known. But whatever the order is: the
# one from the entry on is the entry's own if the one behind it is another, and so it is downwards. Where the nearest
# comes first, upwards or downwards, that finds every post; it never finds a wrong one.


class Cursor(StrEnum):
    """The unit of FIRST_ID and LAST_ID of log.blogpost.get on a portal."""

    ENTRY = "entry"
    POST = "post"
    NONE = "ignored"  # and everything is answered
    UNKNOWN = "unknown"  # no visible post shows it


BEYOND = 2**31 - 1  # no post follows it: a portal that returns one ignores cursors
ENTRIES_AT_ONCE = 16  # three commands each, and one that proves that cursors are obeyed: one request
POSTS_TRIED = 9  # five commands each
POSTS_PROBED = 2  # at the start of a run


def page_at(start: int) -> Command:
    return Command(METHOD, {"start": start})


def require_answers(answers: Sequence[Answer]) -> Sequence[Answer]:
    for answer in answers:
        answer.require()
    return answers


def posts_in(answer: Answer) -> list[Row]:
    raws = open_list(answer.result, (), METHOD).items
    return [Row(id_of(raw, "ID", METHOD), bytes(raw)) for raw in raws]


def first_behind(number: int) -> Command:
    return Command(METHOD, {"FIRST_ID": number, "LIMIT": 1})


def last_before(number: int) -> Command:
    return Command(METHOD, {"LAST_ID": number, "LIMIT": 1})


def upwards(number: int) -> list[Command]:
    """From it on, and behind it."""
    return [first_behind(number - 1), first_behind(number)]


def downwards(number: int) -> list[Command]:
    """Up to it, and before it."""
    return [last_before(number + 1), last_before(number)]


def ids_by_cursor(source: Source, commands: Sequence[Command], via: int) -> list[list[str]] | None:
    """The posts that each command finds; None where the portal ignores cursors."""
    answers = require_answers(source.batch([*commands, first_behind(BEYOND)], via=via))
    return check_cursors([[row.source_id for row in posts_in(answer)] for answer in answers])


def check_cursors(found: Sequence[list[str]]) -> list[list[str]] | None:
    """Without the last, which asks beyond everything; None if the portal ignores cursors."""
    *pages, beyond = found
    return None if beyond or any(len(one) > 1 for one in pages) else pages


def about_posts(posts: Sequence[str]) -> list[Command]:
    asked = [[*upwards(int(one)), *downwards(int(one)), Command(METHOD, {"POST_ID": int(one)})] for one in posts]
    return [command for some in asked for command in some]


def judge_cursor(posts: Sequence[str], found: Sequence[list[str]] | None) -> Cursor:
    """A cursor that counts posts finds each of them by its id, one that counts entries finds others, or such as ought
    to lie on its other side. Finding some and not others proves nothing: the order may hide them. A post that went
    meanwhile says nothing."""
    if found is None:
        return Cursor.NONE
    quintets = [found[place : place + 5] for place in range(0, len(found), 5)]
    hits: list[bool] = []
    for one, (start, behind, end, before, itself) in zip(posts, quintets, strict=True):
        if itself != [one]:
            continue
        above, below = [*map(int, behind)], [*map(int, before)]
        if any(post <= int(one) for post in above) or any(post >= int(one) for post in below):
            return Cursor.ENTRY
        hits.append(one in (post_at(start, behind), post_at(end, before)))
    if not hits or (any(hits) and not all(hits)):
        return Cursor.UNKNOWN
    return Cursor.POST if all(hits) else Cursor.ENTRY


def post_at(including: Sequence[str], beyond: Sequence[str]) -> str:
    """The post at a number, from the posts with it and beyond it; empty if they do not show it."""
    return including[0] if including and including != beyond else ""


def cursor_kind(source: Source, via: int = 0) -> Cursor:
    """The result of the probes; else of one page and one request with known posts."""
    if source.habits.get("feed_cursor"):
        return Cursor(str(source.habits["feed_cursor"]))
    (page,) = require_answers(source.batch([page_at(0)], via=via))
    posts = [row.source_id for row in posts_in(page)][:POSTS_TRIED]
    return judge_cursor(posts, ids_by_cursor(source, about_posts(posts), via))


def ask_feed(wide: bool) -> Asking:
    """Which id the cursors of log.blogpost.get take, and how comments name their post."""
    first, own = yield [page_at(0), comments_by(None)]
    rows = [row for row in probes.list_at(first) if str(row.get("ID")).isdecimal()]
    posts = [str(row["ID"]) for row in rows][: POSTS_TRIED if wide else POSTS_PROBED]
    authors = list(dict.fromkeys(probes.numbers(rows, "AUTHOR_ID")))[: probes.MANY if wide else probes.FEW]
    asked = [*about_posts(posts), first_behind(BEYOND)] if posts else []
    answers = yield [*asked, *map(comments_by, authors)]
    pages, comments = answers[: len(asked)], [own, *answers[len(asked) :]]
    known = [one.known() for one in comments]
    keys = {key for one in known if isinstance(one, dict) for key in one if key.lower() == "comments"}
    named = [row for one in comments for key in keys for row in probes.list_at(one, key)]
    names = {"post" if row.get("post_id") else "entry" for row in named}
    kind = Cursor.UNKNOWN
    if posts and not any(one.error for one in pages):
        kind = judge_cursor(
            posts, check_cursors([[str(row.get("ID")) for row in probes.list_at(one)] for one in pages])
        )
    return {
        "feed_cursor": None if kind is Cursor.UNKNOWN else str(kind),
        "comments_name": names.pop() if len(names) == 1 else None,
        "comment_keys": {"comments": "lower", "COMMENTS": "upper"}.get(keys.pop()) if len(keys) == 1 else None,
    }


def comments_by(author: int | None) -> Command:
    return Command("log.blogcomment.user.get", {**({"USER_ID": author} if author else {}), "LIMIT": 1})


habits = Probe(
    {
        "feed_cursor": ("post", "entry", "ignored"),
        "comments_name": ("post", "entry"),
        "comment_keys": ("lower", "upper"),
    },
    ask_feed,
)


def posts_of_entries(source: Source, entries: Mapping[str, int]) -> dict[str, Named]:
    """The post of each entry, through the webhook that likely sees it, else through the others. If the cursor counts
    posts, the number of an entry returns a post of the same number or none. Any other post proves that it counts
    entries. Without a proof another request decides."""
    found: dict[str, str] = {}
    for via in sorted(set(entries.values())):
        for one in dict.fromkeys((via, *range(len(source.owners)))):
            left = [
                entry for entry, likely in entries.items() if likely == via and entry not in found and is_number(entry)
            ]
            posts = own_posts(source, left, one)
            if posts is None:
                return for_all(entries, Cursor.NONE)
            found |= posts
    if all(entry == post for entry, post in found.items()):
        kind = cursor_kind(source, min(entries.values()))
        if kind in (Cursor.POST, Cursor.NONE):
            return for_all(entries, kind)
        found = found if kind is Cursor.ENTRY else {}
    return {entry: Named(found[entry]) if entry in found else Named(why=UNSEEN) for entry in entries}


def for_all(entries: Iterable[str], kind: Cursor) -> dict[str, Named]:
    why = Named(why=BY_POST if kind is Cursor.POST else NO_CURSOR)
    return {ANY: why, **dict.fromkeys(entries, why)}


def own_posts(source: Source, entries: Sequence[str], via: int) -> dict[str, str] | None:
    """The post of each entry, of those that this webhook sees; None where the portal ignores cursors."""
    posts: dict[str, str] = {}
    left = entries
    for pair in (upwards, downwards):
        # The first command once more: what comes, goes or is bumped meanwhile must not pass for the entry's own.
        asked = [command for one in left for command in (*pair(int(one)), pair(int(one))[0])]
        found = ids_by_cursor(source, asked, via) if asked else []
        if found is None:
            return None
        answers = list(zip(left, found[::3], found[1::3], found[2::3], strict=True))
        posts |= {entry: post_at(some, beyond) for entry, some, beyond, again in answers if some == again}
        left = [entry for entry, some, _, again in answers if (some or again) and not posts.get(entry)]
    return {entry: post for entry, post in posts.items() if post}
