"""log.blogcomment.add and delete: flat, now, and not the same words twice."""

from b24sim.company.feed import Post
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.feed import author_of, kept_files
from b24sim.native.ledger import stamp_of
from b24sim.native.writing import created, iso_now, notify, now_of
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

# The number of a comment in the blog is not its number in the feed.
BLOG_APART = 500_000


def add(context: Context, params: Params) -> Result:
    """The number that comes back is the one that deletes it; listings count by another one."""
    company, text = context.portal.company, str(params.get("TEXT") or "")
    author, post = author_of(context, params), _visible_post(context, params)
    if not text.strip():
        raise RestError("", "Blog comment hasn't been added")
    if not params.get("FILES") and _said_before(context, post, author, text):
        raise RestError("", "Duplicate comment")
    number = context.portal.native.number("comments")
    files = kept_files(context, params.get("FILES"), author) if params.get("FILES") else []
    row: Row = {
        "id": number, "comment_id": number + BLOG_APART, "_post_id": post.id, "_log_id": post.log_id,
        "_author_id": author, "date": iso_now(context), "text": text, "attach": files,
    }  # fmt: skip
    company.feed_rows.comments.put(number, row)
    _moved(context, post, 1)
    created(context, "comments", number, stamp_of(post.id, author, text, len(files)))
    notify(context, [post.author], f"comment of post {post.id}")
    return Result(row["comment_id"])


def delete(context: Context, params: Params) -> Result:
    company, number = context.portal.company, whole(params.get("COMMENT_ID")) - BLOG_APART
    comments = company.feed_rows.comments
    if number not in comments:
        raise RestError("", "No comment found")
    row = comments.row(number)
    if row["_author_id"] != context.caller.user and not context.caller.admin:
        raise RestError("", "No permissions")
    comments.remove(number)
    _moved(context, company.feed.posts[row["_post_id"]], -1)
    context.portal.native.deleted("comments", number)
    return Result(True)


def _visible_post(context: Context, params: Params) -> Post:
    """The caller himself must see the post, unless it is commented in its own author's name."""
    company = context.portal.company
    post = company.feed.posts.get(whole(params.get("POST_ID")))
    if post is None:
        raise RestError("", "No post found")
    sees = post.rights & company.access_codes(context.caller.user)
    if not sees and author_of(context, params) != post.author:
        raise RestError("", "No permissions")
    return post


def _said_before(context: Context, post: Post, author: int, text: str) -> bool:
    comments = context.portal.company.feed_rows.comments
    later = (number for number in reversed(comments.ids) if comments.row(number)["_post_id"] == post.id)
    return any((comments.row(one)["_author_id"], comments.row(one)["text"]) == (author, text) for one in later)


def _moved(context: Context, post: Post, more: int) -> None:
    company = context.portal.company
    post.comments += more
    post.updated = now_of(context)
    company.feed_rows.posts.put(post.id, company.feed_rows.post_row(post.id))
    company.feed.version += 1


METHODS = [
    Method("log.blogcomment.add", ("log",), add, upper=True),
    Method("log.blogcomment.delete", ("log",), delete, upper=True),
]
