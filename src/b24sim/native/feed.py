"""log.blogpost.*: in anybody's name for an administrator, to anybody, and always now."""

import re
from typing import Any

from b24sim.company.drive import USER
from b24sim.company.feed import ADDED, ALL, PUBLISHED, Post
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.groups import stirred
from b24sim.native.ledger import stamp_of
from b24sim.native.writing import created, file_sent, flag, listed, moment, now_of
from b24sim.paging import whole
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

NOT_ADDED = "SONET_CONTROLLER_LIVEFEED_BLOGPOST_ADD_ERROR"
UPLOADED = "Загруженные файлы"
_CODE = re.compile(r"(UA|U\d+|SG\d+|DR?\d+)")


def add(context: Context, params: Params) -> Result:
    """Recipients are checked for the author, who cannot write to groups without membership."""
    text = str(params.get("POST_MESSAGE") or "")
    if not text.strip():
        raise RestError(NOT_ADDED, "Blog post hasn't been added")
    author = author_of(context, params)
    dest = _recipients(context, params, author) or (ALL,)
    company, now = context.portal.company, now_of(context)
    number = context.portal.native.number("posts")
    entry = 1 + max((post.log_id for post in company.feed.posts.values()), default=700_000)
    post = Post(number, entry, ADDED, author, dest, now, now, 0, PUBLISHED, {"DETAIL_TEXT": text})
    company.feed.posts[number] = post
    post.extra |= _sent(context, post, params)
    _show(context, post)
    created(context, "posts", number, stamp_of(author, text))
    for code in dest:
        if code != f"U{context.caller.user}":
            context.portal.native.tell("notification", code, f"post {number}")
        if code.startswith("SG"):
            stirred(context, int(code[2:]))
    return Result(number)


def update(context: Context, params: Params) -> Result:
    """A text without a title makes a new title out of itself."""
    post = _editable_post(context, params)
    if params.get("POST_MESSAGE"):
        post.extra |= {"DETAIL_TEXT": str(params["POST_MESSAGE"]), "TITLE": str(params.get("POST_TITLE") or "")}
    if "DEST" in params:
        post.dest = _recipients(context, params, post.author) or post.dest
    post.extra |= _sent(context, post, params)
    _show(context, post)
    context.portal.native.updated("posts", post.id)
    return Result(post.id)


def share(context: Context, params: Params) -> Result:
    post = _editable_post(context, params)
    post.dest = tuple(dict.fromkeys((*post.dest, *_recipients(context, params, post.author))))
    _show(context, post)
    context.portal.native.updated("posts", post.id)
    return Result(True)


def delete(context: Context, params: Params) -> Result:
    """Its comments go with it."""
    post, company = _editable_post(context, params), context.portal.company
    comments = company.feed_rows.comments
    for number in [number for number in comments if comments.row(number)["_post_id"] == post.id]:
        context.portal.native.deleted("comments", number)
        comments.remove(number)
    company.feed_rows.posts.remove(post.id)
    del company.feed.posts[post.id]
    company.feed.version += 1
    context.portal.native.deleted("posts", post.id)
    return Result(True)


def author_of(context: Context, params: Params) -> int:
    """The author: an administrator may name another user, others write in their own name."""
    named = whole(params.get("USER_ID")) if context.caller.admin else 0
    if named and named not in context.portal.company.users:
        raise RestError("", "No user found")
    return named or context.caller.user


def kept_files(context: Context, sent: Any, author: int) -> list[int]:
    """Files go to the author's own Drive, where uploads of the feed lie."""
    drive, now = context.portal.company.drive, now_of(context)
    root = drive.folders[drive.storage_of(USER, author).root]
    found = (one for one in drive.folders.values() if one.parent == root.id and one.name == UPLOADED)
    folder = next(found, None) or drive.add_folder(root, UPLOADED, author, now)
    pairs = [pair for pair in map(file_sent, listed(sent)) if pair]
    return [drive.add_file(folder.id, name, data, by=author, at=now).file.id for name, data in pairs]


def _recipients(context: Context, params: Params, author: int) -> tuple[str, ...]:
    company = context.portal.company
    asked = listed(params.get("DEST", params.get("SPERM")))
    codes = [str(code) for code in asked if _CODE.fullmatch(str(code))]
    if asked and not codes:
        raise RestError(NOT_ADDED, "No destination specified")
    for code in codes:
        group = company.groups_by_id.get(int(code[2:])) if code.startswith("SG") else None
        if code.startswith("SG") and (group is None or author not in group.roles):
            raise RestError(NOT_ADDED, "No destination specified")
    return tuple(dict.fromkeys(codes))


def _sent(context: Context, post: Post, params: Params) -> Row:
    row: Row = {}
    if params.get("POST_TITLE"):
        row["TITLE"] = str(params["POST_TITLE"])
    if "IMPORTANT" in params:
        row["UF_BLOG_POST_IMPRTNT"] = "1" if flag(params["IMPORTANT"]) == "Y" else None
    ends = moment(context, params.get("IMPORTANT_DATE_END"))
    if ends is not None:
        row["UF_IMPRTANT_DATE_END"] = context.portal.company.moments.iso(ends)
    tags = [tag.strip() for tag in str(params.get("TAGS") or "").split(",") if tag.strip()]
    if tags:
        numbers = (str(9 + sum(tag.encode()) % 9_000) for tag in tags)
        row |= {"CATEGORY_ID": ",".join(numbers), "HAS_TAGS": "Y"}
    files = _attached(context, post, params)
    return row | ({"FILES": files, "UF_BLOG_POST_FILE": files} if files != _known(post) else {})


def _attached(context: Context, post: Post, params: Params) -> list[int]:
    """What hangs on it already stays, unless it is marked `del`; FILES comes before UF_BLOG_POST_FILE."""
    company, now, sent = context.portal.company, now_of(context), params.get("FILES")
    marked = {whole(key) for key, value in sent.items() if value == "del"} if isinstance(sent, dict) else set()
    if sent:
        objects = kept_files(context, sent, post.author)
    else:
        names = [str(name) for name in listed(params.get("UF_BLOG_POST_FILE"))]
        numbers = [whole(name[1:]) for name in names if name.startswith("n")]
        objects = [number for number in numbers if company.drive_file(number)]
    new = [
        company.attachments.attach("blog", "blog_post", post.id, by=post.author, at=now, file=one).id for one in objects
    ]
    return [number for number in _known(post) if number not in marked] + new


def _known(post: Post) -> list[int]:
    return list(post.extra.get("FILES", []))


def _editable_post(context: Context, params: Params) -> Post:
    """One's own posts, and all for an administrator."""
    post = context.portal.company.feed.posts.get(whole(params.get("POST_ID")))
    if post is None:
        raise RestError("", "No post found")
    if post.author != context.caller.user and not context.caller.admin:
        raise RestError("", "No permissions")
    return post


def _show(context: Context, post: Post) -> None:
    company = context.portal.company
    company.feed_rows.posts.put(post.id, company.feed_rows.post_row(post.id))
    company.feed.version += 1


METHODS = [
    Method("log.blogpost.add", ("log",), add, upper=True),
    Method("log.blogpost.update", ("log",), update, upper=True),
    Method("log.blogpost.share", ("log",), share, upper=True),
    Method("log.blogpost.delete", ("log",), delete, upper=True),
]
