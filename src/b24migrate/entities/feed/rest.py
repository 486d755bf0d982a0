"""Posts of the feed, written by `log.blogpost.*` in their authors' names, with a line for the date."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from b24migrate.entities.feed import rest_rules
from b24migrate.entities.tasks.rest import find_files
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError, Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command
from b24migrate.targets.rest import files, values
from b24migrate.targets.rest.box import Box, items_at, rows_at
from b24migrate.targets.rest.deletion import child_keys
from b24migrate.targets.rest.values import add_header, format_number, header_number
from b24migrate.targets.rest.writer import Content, CreateResult, Known, Writer, create_one

EVERYBODY = "UA"
NOT_ADDED, NO_REASON = "SONET_CONTROLLER_LIVEFEED_BLOGPOST_ADD_ERROR", "hasn't been added"
LOOKED_AT = 1_000  # posts, for one whose answer got lost, where the box does not look for times
TIME_S = 60.0
APART = timedelta(minutes=5)  # the clock of a box's database may be another's


def post_params(box: Box, item: Item) -> dict[str, Json]:
    """A title that the portal made of the text is not sent: the box makes one as well."""
    fields = item.fields
    sent: dict[str, Json] = {
        "POST_MESSAGE": add_header(item.key, fields.get("DATE_PUBLISH"), fields.get("DETAIL_TEXT")),
        "DEST": recipients(box, fields),
        "IMPORTANT": values.yes_or_no(fields.get("IMPORTANT")),
        "TAGS": ",".join(map(str, fields.get("TAGS") or ())),
    }
    if fields.get("AUTHOR_ID"):
        sent["USER_ID"] = fields["AUTHOR_ID"]
    if fields.get("TITLE") and not fields.get("MICRO"):
        sent["POST_TITLE"] = fields["TITLE"]
    if fields.get("IMPORTANT_DATE_END"):
        sent["IMPORTANT_DATE_END"] = fields["IMPORTANT_DATE_END"]
    if fields.get("FILES"):
        sent["UF_BLOG_POST_FILE"] = [f"n{one}" for one in fields["FILES"]]
    return sent


def recipients(box: Box, fields: Args) -> list[str]:
    """A post that is not for the owner of the webhook could not be read again, nor found when its answer is lost."""
    wanted = [str(one) for one in fields.get("DEST") or ()]
    own = f"U{box.owner}"
    return wanted if EVERYBODY in wanted or own in wanted else [*wanted, own]


def add_posts(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    for item in items:
        made = create_one(box, item, "log.blogpost.add", lambda one: post_params(box, one), str)
        if may_be_groups(made.error) and strange_groups(box, item.fields):
            made = create_one(box, item, "log.blogpost.add", lambda one: drop_left_groups(box, one), str)
        yield made


def may_be_groups(error: MigrationError | None) -> bool:
    """Whether a post may have been refused for its recipients. Kernel 25.100 asks for the rights of the webhook's
    owner, and an administrator passes (socialnetwork lib/componenthelper.php); other kernels let authors write only to
    their own groups. The same code has other causes, of which one has a text of its own."""
    return error is not None and error.code == NOT_ADDED and NO_REASON not in error.message


def drop_left_groups(box: Box, item: Item) -> dict[str, Json]:
    """Without the groups that the author is not in any more."""
    params = post_params(box, item)
    strange = strange_groups(box, item.fields)
    return {**params, "DEST": [one for one in params["DEST"] if one not in strange]}


def strange_groups(box: Box, fields: Args) -> set[str]:
    groups = [str(one) for one in fields.get("DEST") or () if str(one).startswith("SG")]
    asked = [Command("socialnetwork.api.workgroup.get", {"params": {"groupId": one[2:]}}) for one in groups]
    said = zip(groups, box.questions(asked), strict=True)
    author = str(fields.get("AUTHOR_ID") or box.owner)
    return {one for one, about in said if about is None or author not in values.ids(items_at(about, "MEMBERS"))}


def box_time(box: Box) -> str:
    return box.kept("time of the box", lambda: str(box.question("server.time", {})), TIME_S)


def find_posts(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    """Among those that were published since. A user may have written the same line: the first one is ours."""
    wanted = {format_number(key): key for key in begun}
    found: dict[str, str] = {}
    begun_at = [at for at in (values.parse_time(trace["since"]) for trace in begun.values()) if at]
    for row in published_since(box, min(begun_at) - APART):
        key = wanted.get(header_number(row.get("DETAIL_TEXT")))
        if key:
            found[key] = min(found.get(key, str(row["ID"])), str(row["ID"]), key=int)
    return found


def published_since(box: Box, since: datetime) -> Iterator[Args]:
    """An older box ignores the requested times and returns all posts, the last active first."""
    rows = box.pages("log.blogpost.get", {"LOG_DATE_FROM": since.isoformat()})
    for place, row in enumerate(rows):
        at = values.parse_time(row.get("DATE_PUBLISH"))
        if at is None or at >= since:
            yield row
        elif place >= LOOKED_AT:
            return


def update_post(box: Box, known: Known, item: Item) -> None:
    """Without recipients a call would show the post to everybody (api-reference/log/log-blogpost-update.md)."""
    params = {
        name: value for name, value in post_params(box, item).items() if name not in ("USER_ID", "UF_BLOG_POST_FILE")
    }
    for changed in changed_files(box, known, item):
        call_update(box, item, {"POST_ID": known.target_id, **params, **changed})


def call_update(box: Box, item: Item, asked: Args) -> None:
    try:
        box.call("log.blogpost.update", asked)
    except Permanent as error:
        strange = strange_groups(box, item.fields) if may_be_groups(error) else set()
        if not strange:
            raise
        box.call("log.blogpost.update", {**asked, "DEST": [one for one in asked["DEST"] if one not in strange]})


def changed_files(box: Box, known: Known, item: Item) -> list[Args]:
    """What calls say of the files, of which a post keeps those that it has: first which go, as the same call adds none
    then, and in the end which come."""
    if "FILES" not in item.fields:
        return [{}]
    page = box.question("log.blogpost.get", {"POST_ID": int(known.target_id)})
    attached = values.ids(next(rows_at(page), {}).get("FILES") or [])
    objects, wanted = find_files(box, attached), values.ids(item.fields["FILES"] or [])
    gone = [one for one in attached if one in objects and objects[one] not in wanted]
    there = {objects.get(one, one) for one in attached}
    new = [f"n{one}" for one in wanted if one not in there]
    calls: list[Args] = [{"FILES": dict.fromkeys(gone, "del")}] if gone else []
    return [*calls, {"UF_BLOG_POST_FILE": new} if new else {}]


def find_commented(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    """No method lists the comments of a post, but a post has their number."""
    said = box.questions([Command("log.blogpost.get", {"POST_ID": int(one.target_id)}) for one in wanted.values()])
    for key, page in zip(wanted, said, strict=True):
        count = values.whole(next(rows_at(page), {}).get("NUM_COMMENTS")) or 0
        if count > len(child_keys(box, "feed_comments", key) if count else ()):
            yield Content(key, say("keep.comments"))


def read_posts(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    said = box.questions([Command("log.blogpost.get", {"POST_ID": int(one.target_id)}) for one in wanted.values()])
    rows = {key: next(rows_at(page), None) for key, page in zip(wanted, said, strict=True)}
    files = find_files(box, [one for row in rows.values() if row for one in values.ids(row.get("FILES") or [])])
    return {
        key: decode_post(row, files) for key, row in rows.items() if row and str(row["ID"]) == wanted[key].target_id
    }


def decode_post(row: Args, files: Mapping[str, str]) -> Args:
    """The API exposes neither recipients nor tag names."""
    return {
        "TITLE": row.get("TITLE"),
        "DETAIL_TEXT": row.get("DETAIL_TEXT"),
        "AUTHOR_ID": values.optional_id(row.get("AUTHOR_ID")),
        "DATE_PUBLISH": values.utc(row.get("DATE_PUBLISH")),
        "DEST": [EVERYBODY] if row.get("HAS_SOCNET_ALL") == "Y" else None,
        "IMPORTANT": values.flag(post_value(row, "UF_BLOG_POST_IMPRTNT")),
        "IMPORTANT_DATE_END": values.utc(post_value(row, "UF_IMPRTANT_DATE_END")),
        "FILES": [files.get(one, one) for one in values.ids(row.get("FILES") or [])],
        "MICRO": values.flag(row.get("MICRO")),
        "ENABLE_COMMENTS": values.flag(row.get("ENABLE_COMMENTS")),
    }


def post_value(row: Args, name: str) -> Json:
    field = row.get(name)
    return field.get("VALUE") if isinstance(field, Mapping) else field


POSTS = Writer(
    stream="feed_posts",
    entity="feed",
    needs=("log.blogpost.get", "log.blogpost.add", "log.blogpost.update", *files.NEEDS),
    create=add_posts,
    before=lambda box, _: {"since": box_time(box)},
    find=find_posts,
    update=update_post,
    read=read_posts,
    delete=lambda box, known: box.call("log.blogpost.delete", {"POST_ID": known.target_id}),
    inside=find_commented,
    restless=frozenset({"ENABLE_COMMENTS"}),
    serial=True,  # all have the import date: only their order shows which was first
    rules=rest_rules.post_rules,
)

WRITERS = (POSTS,)
