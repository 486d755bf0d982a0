"""Posts and comments appear, change and go while the feed is read."""

from typing import Any

from b24sim.company.company import Company
from b24sim.company.feed import ADDED, ALL, PUBLISHED, Post
from b24sim.errors import RestError, known_number
from b24sim.table import Row

# Data of a post outside its row.
OUTSIDE = ("AUTHOR_ID", "DEST", "PUBLISH_STATUS", "NUM_COMMENTS")


def add_post(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """`fields` are those of log.blogpost.get, and DEST; `files` says how many new files hang on it."""
    feed = company.feed
    number = int(wish.get("id") or company.feed_rows.posts.next_id())
    entry = 1 + max((post.log_id for post in feed.posts.values()), default=700)
    post = Post(number, entry, ADDED, 1, (ALL,), now, now, 0, PUBLISHED, {"DETAIL_TEXT": f"Новый пост {number}"})
    feed.posts[number] = post
    _set(company, post, now, wish)
    return [number]


def update_post(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """An edit moves no date that anybody is shown."""
    _set(company, _post(company, wish.get("id")), now, wish)
    return [int(wish["id"])]


def delete_post(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """Its comments go with it."""
    post, comments = _post(company, wish.get("id")), company.feed_rows.comments
    for number in company.feed_rows.comments_of_post(post.id):
        comments.remove(number)
    company.feed_rows.posts.remove(post.id)
    company.feed.deleted[post.id] = company.feed.posts.pop(post.id)
    company.feed.version += 1
    return [post.id]


def add_comment(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    """`post` says where; a comment brings its post to the top of the feed."""
    comments = company.feed_rows.comments
    post = _post(company, wish.get("post", next(iter(company.feed.posts), None)))
    number = int(wish.get("id") or max(comments.next_id(), 4_000))
    fields = dict(wish.get("fields", {}))
    author = int(fields.pop("author_id", 1))
    files = [
        company.attachments.attach("blog", "blog_comment", post.id, by=author, at=now).object_id
        for _ in range(int(wish.get("files", 0)))
    ]
    row: Row = {
        "id": number, "comment_id": 90 + number, "_post_id": post.id, "_log_id": post.log_id, "_author_id": author,
        "date": company.moments.iso(now), "text": f"Новый комментарий {number}", "attach": files,
    }  # fmt: skip
    comments.put(number, row | fields)
    post.comments += 1
    post.updated = now
    _show(company, post)
    return [number]


def update_comment(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """An edit leaves no mark at all."""
    comments, number = company.feed_rows.comments, known_number(company.feed_rows.comments, wish)
    comments.put(number, comments.row(number) | wish.get("fields", {}))
    return [number]


def delete_comment(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    comments, number = company.feed_rows.comments, known_number(company.feed_rows.comments, wish)
    post = _post(company, comments.row(number)["_post_id"])
    comments.remove(number)
    post.comments -= 1
    _show(company, post)
    return [number]


def _set(company: Company, post: Post, now: float, wish: dict[str, Any]) -> None:
    fields = dict(wish.get("fields", {}))
    outside = {name: fields.pop(name) for name in OUTSIDE if name in fields}
    post.author = int(outside.get("AUTHOR_ID", post.author))
    if "DEST" in outside:
        post.first_dest = post.first_dest or post.dest
        post.dest = tuple(str(code) for code in outside["DEST"])
    post.status = str(outside.get("PUBLISH_STATUS", post.status))
    new = [
        company.attachments.attach("blog", "blog_post", post.id, by=post.author, at=now).id
        for _ in range(int(wish.get("files", 0)))
    ]
    if new:
        fields["FILES"] = [*company.feed_rows.post_row(post.id).get("FILES", []), *new]
    post.extra |= fields
    _show(company, post)


def _show(company: Company, post: Post) -> None:
    company.feed_rows.posts.put(post.id, company.feed_rows.post_row(post.id))
    company.feed.version += 1


def _post(company: Company, number: Any) -> Post:
    post = company.feed.posts.get(int(number or 0))
    if post is None:
        raise RestError("ERROR_NOT_FOUND", f"no post {number}", 404)
    return post


FEED_CHANGES = {
    ("feed_posts", "add"): add_post,
    ("feed_posts", "update"): update_post,
    ("feed_posts", "delete"): delete_post,
    ("feed_comments", "add"): add_comment,
    ("feed_comments", "update"): update_comment,
    ("feed_comments", "delete"): delete_comment,
}
