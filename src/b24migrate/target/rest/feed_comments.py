"""Comments of posts. A box shows their texts to their authors only, so a lost one is known by its author and post."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from b24migrate.errors import Permanent
from b24migrate.records import Args, Item, Json
from b24migrate.target.rest import rules_feed, spelling
from b24migrate.target.rest.box import Box, inside
from b24migrate.target.rest.heading import headed
from b24migrate.target.rest.making import one_by_one, unclaimed
from b24migrate.target.rest.words import Known, Made, Writer

PAGE = 100


def comment_params(box: Box, item: Item) -> dict[str, Json]:
    """The line before the text also keeps the box from taking a repeated +1 for a mistake."""
    fields = item.fields
    sent = {"POST_ID": fields["post_id"], "TEXT": headed(item.key, fields.get("date"), fields.get("text"))}
    if fields.get("author_id"):
        sent["USER_ID"] = fields["author_id"]
    if fields.get("files"):
        sent["FILES"] = [list(box.file(str(one))) for one in fields["files"]]
    return sent


def add_comments(box: Box, items: Sequence[Item]) -> Iterator[Made]:
    return one_by_one("log.blogcomment.add", lambda item: comment_params(box, item))(box, items)


def comments_by(box: Box, author: str) -> Iterator[Args]:
    """All of one person's, the oldest first."""
    first = 0
    while True:
        asked = {"USER_ID": int(author), "FIRST_ID": first, "LIMIT": PAGE}
        page = list(inside(box.question("log.blogcomment.user.get", asked), "comments"))
        yield from page
        if not page:
            return
        first = max(int(row["id"]) for row in page)


def own_id(row: Args) -> str:
    return str(row.get("comment_id") or row["id"])


def trace(item: Item) -> Args:
    return {"author": str(item.fields.get("author_id") or ""), "post": str(item.fields["post_id"])}


def find_comments(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    candidates: dict[str, list[str]] = {}
    for author in sorted({str(one["author"]) for one in begun.values()}):
        rows = list(comments_by(box, author or box.owner))
        for key, one in begun.items():
            if str(one["author"]) == author:
                candidates[key] = [own_id(row) for row in rows if str(row.get("post_id") or one["post"]) == one["post"]]
    return unclaimed(box, "feed_comments", candidates)


def update_comment(_box: Box, _known: Known, _item: Item) -> None:
    raise Permanent("a box changes no comments of the feed by REST", code="ERROR_METHOD_NOT_FOUND")


def read_comments(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    found: dict[str, Args] = {}
    for author in sorted({str(one.trace["author"]) for one in wanted.values()}):
        rows = {own_id(row): row for row in comments_by(box, author or box.owner)}
        for key, one in wanted.items():
            if one.trace["author"] == author and one.target_id in rows:
                found[key] = told_comment(rows[one.target_id], author or box.owner, one.trace["post"])
    return found


def told_comment(row: Args, author: str, post: str) -> Args:
    return {
        "post_id": str(row.get("post_id") or post),
        "author_id": author,
        "date": spelling.utc(row.get("date")),
        "text": row.get("text"),
        "files": spelling.ids(row.get("attach") or []),
    }


COMMENTS = Writer(
    stream="feed_comments",
    entity="feed",
    needs=("log.blogcomment.add",),  # its reader is private: no list of methods tells of it
    create=add_comments,
    trace=trace,
    find=find_comments,
    update=update_comment,
    read=read_comments,
    delete=lambda box, known: box.call("log.blogcomment.delete", {"COMMENT_ID": known.target_id}),
    rules=lambda _: rules_feed.COMMENTS,
)
