"""Comments of posts. A box shows their texts to their authors only, so a lost one is known by its author and post.

A box refuses a text that the same author has written to the same post before, unless there are files with it
(api-reference/log/blogcomment/log-blogcomment-add.md; kernel blog lib/item/comment.php compares the last one only). The
line before the text holds the number of the comment: one that is refused as a duplicate is there already."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from b24migrate.bitrix.newest_first import NEWEST
from b24migrate.entities.feed import rest_rules
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json, order_key
from b24migrate.targets.rest import files, values
from b24migrate.targets.rest.box import Box, rows_at, unexpected_answer
from b24migrate.targets.rest.journal import Journal, State
from b24migrate.targets.rest.values import add_header, format_number, header_number
from b24migrate.targets.rest.writer import CreateResult, Known, Writer, choose_unclaimed, create_one

STREAM = "feed_comments"
READER = "log.blogcomment.user.get"
DUPLICATE = "Duplicate comment"
PAGE = 100
PLACES_S = 3600.0


def comment_params(box: Box, item: Item) -> dict[str, Json]:
    """The line before the text also keeps the box from taking a repeated +1 for a mistake."""
    fields = item.fields
    sent = {"POST_ID": fields["post_id"], "TEXT": add_header(item.key, fields.get("date"), fields.get("text"))}
    if fields.get("author_id"):
        sent["USER_ID"] = fields["author_id"]
    if fields.get("files"):
        sent["FILES"] = list(fit_files(box, fields["files"]))
    return sent


def fit_files(box: Box, files: Sequence[str]) -> Iterator[list[str]]:
    """Without those that no call can hold: `rules_feed` announces them."""
    for one in files:
        try:
            yield list(box.file(str(one)))
        except Permanent as error:
            if error.code != "TOO_LARGE":
                raise


def add_comments(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    """One that is refused is not there: nothing that looks like it is taken for it later."""
    for item in items:
        made = create_one(box, item, "log.blogcomment.add", lambda one: comment_params(box, one), str)
        if made.error is not None and DUPLICATE in made.error.message:
            there = find_duplicate(box, item)
            made = CreateResult(item.key, there) if there else made
        elif made.error is not None:
            Journal(box.store).forget(STREAM, [item.key])
        yield made


def find_duplicate(box: Box, item: Item) -> str:
    """The id of the comment that the box takes this one for: the last of its author on the post that no other key
    has."""
    trace = comment_trace(item)
    known = (one for some in Journal(box.store).walk(STREAM, family(item.key)) for one in some)
    taken = {one.target_id for one in known if one.key != item.key}
    for page in comments_by(box, trace["author"] or box.owner):
        free = (row for row in page if own_id(row) not in taken and is_candidate(row, item.key, trace))
        if last := max(free, key=lambda row: int(own_id(row)), default=None):
            return own_id(last)
    return ""


class Place(NamedTuple):
    """How far one has read: the number that pages are counted by, and the lowest of those that comments go by."""

    last: int = NEWEST
    lowest: int = NEWEST


def page_below(box: Box, author: str, last: int | None) -> list[Args]:
    asked = {"USER_ID": int(author), **({} if last is None else {"LAST_ID": last}), "LIMIT": PAGE}
    return list(rows_at(box.question(READER, asked), "comments"))


def comments_by(box: Box, author: str, up_to: int = NEWEST) -> Iterator[list[Args]]:
    """One user's comments, page by page, the newest first, from about this number down; each page in any order.

    FIRST_ID does not say which comments above it come first (api-reference/log/blogcomment/log-blogcomment-user-get.md
    names no order), so a walk upwards could jump over some. Both numbers of a comment grow together, and only one of
    them is known: where pages ended is remembered, or every look at old ones would begin with the newest."""
    ends: list[Place] = box.kept(f"comments by {author}", lambda: [Place()], PLACES_S)
    place = min(one for one in ends if one.lowest > up_to or one == ends[0])
    page = page_below(box, author, place.last)
    if not page and place == ends[0]:
        page = page_below(box, author, None)
    while page:
        yield page
        last = min(int(row["id"]) for row in page)
        if last >= place.last:
            raise unexpected_answer(READER)
        place = Place(last, min(place.lowest, *(int(own_id(row)) for row in page)))
        if len(page) >= PAGE and place < ends[-1]:
            ends.append(place)
        page = page_below(box, author, place.last)


def own_id(row: Args) -> str:
    return str(row.get("comment_id") or row["id"])


def comment_trace(item: Item) -> Args:
    fields = item.fields
    author, post = str(fields.get("author_id") or ""), str(fields["post_id"])
    return {"author": author, "post": post, "files": bool(fields.get("files"))}


def family(key: str) -> str:
    """The prefix of the keys of all comments of a post."""
    return f"{key.rpartition(':')[0]}:"


def find_comments(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    """If texts are hidden, the oldest one is the first that was sent."""
    asked = {**begun, **lost_siblings(box, begun)}
    candidates: dict[str, list[str]] = {}
    for author in sorted({str(one["author"]) for one in begun.values()}):
        mine = {key: asked[key] for key in sorted(asked, key=order_key) if str(asked[key]["author"]) == author}
        after = min(int(one.get("after") or 0) for one in mine.values())
        pages = takewhile(partial(any_above, after), comments_by(box, author or box.owner))
        rows = [row for page in pages for row in page if int(own_id(row)) > after]
        rows.sort(key=lambda row: int(own_id(row)))
        for key, one in mine.items():
            candidates[key] = [own_id(row) for row in rows if is_candidate(row, key, one)]
    found = choose_unclaimed(box, STREAM, candidates)
    return {key: target_id for key, target_id in found.items() if key in begun}


def lost_siblings(box: Box, begun: Mapping[str, Json]) -> dict[str, Json]:
    """Others whose answers got lost, and that may be among those that look like these. If one of these is taken for
    one of them, the box refuses it as a duplicate. One with files it would take twice, so for these no other user's is
    left out."""
    alike = {(family(key), str(one["author"])) for key, one in begun.items() if not one.get("files")}
    return {
        one.key: one.trace
        for post in sorted({post for post, _ in alike})
        for some in Journal(box.store).walk(STREAM, post)
        for one in some
        if one.state is State.BEGUN and one.key not in begun and (post, str(one.trace["author"])) in alike
    }


def any_above(number: int, page: Sequence[Args]) -> bool:
    return any(int(own_id(row)) > number for row in page)


def is_candidate(row: Args, key: str, trace: Args) -> bool:
    """The webhook owner sees own texts, and those of all users if the box does not hide them. A comment that was sent
    without files has none."""
    if str(row.get("post_id") or trace["post"]) != trace["post"]:
        return False
    if row.get("text"):
        return header_number(row["text"]) == format_number(key)
    return bool(trace.get("files", True)) or not row.get("attach")


def update_comment(_box: Box, _known: Known, _item: Item) -> None:
    raise Permanent(say("target.feed_comment"), code="ERROR_METHOD_NOT_FOUND")


def read_comments(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    found: dict[str, Args] = {}
    for author in sorted({str(one.trace["author"]) for one in wanted.values()}):
        mine = {one.target_id: key for key, one in wanted.items() if one.trace["author"] == author}
        for row in read_rows(box, author or box.owner, mine):
            key = mine[own_id(row)]
            found[key] = decode_comment(row, author or box.owner, wanted[key].trace["post"])
    return found


def read_rows(box: Box, author: str, ids: Collection[str]) -> Iterator[Args]:
    first, last = min(map(int, ids)), max(map(int, ids))
    missing = set(ids)
    for page in comments_by(box, author, last):
        there = [row for row in page if own_id(row) in missing]
        yield from there
        missing -= {own_id(row) for row in there}
        if not missing or not any_above(first, page):
            return


def decode_comment(row: Args, author: str, post: str) -> Args:
    return {
        "post_id": str(row.get("post_id") or post),
        "author_id": author,
        "date": values.utc(row.get("date")),
        "text": row.get("text"),
        "files": values.ids(row.get("attach") or []),
    }


COMMENTS = Writer(
    stream=STREAM,
    entity="feed",
    needs=("log.blogcomment.add", *files.NEEDS),  # its reader is private: no list of methods contains it
    create=add_comments,
    trace=comment_trace,
    before=lambda box, _: {"after": box.highest(STREAM)},
    find=find_comments,
    update=update_comment,
    unchangeable=True,
    read=read_comments,
    delete=lambda box, known: box.call("log.blogcomment.delete", {"COMMENT_ID": known.target_id}),
    serial=True,  # all have the import date: only their order shows who answered whom
    rules=rest_rules.comment_rules,
)

WRITERS = (COMMENTS,)
