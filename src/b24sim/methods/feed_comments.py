"""log.blogcomment.user.get: comments by their author; there is no way to ask for those of a post."""

from bisect import bisect_left, bisect_right
from random import Random
from typing import Any

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.paging import whole
from b24sim.phpjson import Parts, encode_all, php_array
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row, shown

LARGEST_PAGE = 100


def user_get(context: Context, params: Params) -> Result:
    """Neither total nor next. An administrator may ask about others, but what they wrote is not told."""
    caller = context.caller
    user = whole(params.get("USER_ID")) or caller.user
    if user != caller.user and not caller.admin:
        raise RestError("ACCESS_DENIED", "Access denied!", 403)
    rows = context.portal.company.feed_rows
    page = _page(rows.comments_of_author(user), params)
    comments = [rows.comments.row(number) for number in page]
    files = {str(file): _file_shape(context, file, row) for row in comments for file in row["attach"]}
    parts = {"comments": encode_all(_shape(context, row) for row in comments), "files": php_array(files)}
    lower = context.portal.feed_habits.lower_keys
    return Result(Parts(parts if lower else {name.upper(): part for name, part in parts.items()}))


def _page(ids: list[int], params: Params) -> list[int]:
    """FIRST_ID wins: the newest above it, in no order. LAST_ID goes down, newest first, as no cursor does
    (api-reference/log/blogcomment/log-blogcomment-user-get.md says neither which come first nor in what order)."""
    limit = min(max(whole(params.get("LIMIT", LARGEST_PAGE)) or LARGEST_PAGE, 1), LARGEST_PAGE)
    if params.get("FIRST_ID") is not None:
        above = ids[bisect_right(ids, whole(params["FIRST_ID"])) :][-limit:]
        return Random(len(ids)).sample(above, len(above))
    last = whole(params.get("LAST_ID"))
    return (ids[: bisect_left(ids, last)] if last else ids)[::-1][:limit]


def _shape(context: Context, row: Row) -> Row:
    names_post = context.portal.feed_habits.comments_name_post
    post = {"post_id": row["_post_id"]} if names_post else {"log_id": row["_log_id"]}
    own = row["_author_id"] == context.caller.user
    plain = shown(row)
    return {name: plain[name] for name in ("id", "comment_id")} | post | {
        "date": row["date"], "text": row["text"] if own else "", "attach": row["attach"],
    }  # fmt: skip


def _file_shape(context: Context, number: int, row: Row) -> dict[str, Any]:
    """Links for a browser session: none of them opens without one."""
    company = context.portal.company
    file = company.drive_file(number)
    if file is None:
        return {"id": number, "name": "", "size": 0}
    show = f"{company.portal_url}/disk/showFile/{number}/?&ncc=1&filename={file.id}.{file.extension}"
    return {
        "id": number, "date": row["date"], "type": "image" if file.is_image else "file", "name": file.name,
        "size": file.size, "image": {"width": 72, "height": 61} if file.is_image else False,
        "authorId": row["_author_id"], "authorName": company.name_of(row["_author_id"]),
        "urlPreview": f"{show}&preview=Y" if file.is_image else "", "urlShow": show,
        "urlDownload": f"{company.portal_url}/disk/downloadFile/{number}/?&ncc=1&filename={file.id}.{file.extension}",
    }  # fmt: skip


METHODS = [Method("log.blogcomment.user.get", ("log",), user_get, upper=True, private=True)]
