"""The feed: posts with their recipients, and comments as far as their authors' webhooks show them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from b24migrate.entities.attachments import known_files, refs_of, resolve_rows
from b24migrate.entities.codes import recipient
from b24migrate.entities.feed.entries import (
    ENTRIES_AT_ONCE,
    METHOD,
    habits,
    page_at,
    posts_in,
    posts_of_entries,
    require_answers,
)
from b24migrate.entities.unseen import UNSEEN_VERSIONS
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.fields import Field, Kind, Policy, flags, texts, times
from b24migrate.model.readings import Alias, Backward, ChildKeys, Gather, JoinedList, PerParent, Slices, Webhooks
from b24migrate.model.records import Args, Json, Page, PageEntry, Row, SetAside, Table, digest
from b24migrate.model.source_records import FileRef, Known, SourceRecord
from b24migrate.model.streams import ChangeRules, DeletionRules, Entity, Mention, Stream, Written
from b24migrate.model.values import file_name, members
from b24migrate.ports import Command, Source

PAGE = 50
PAGES_AT_ONCE = 50
CATCH_UP = 20  # pages at the top that are looked at again, at most
OWN_FEED = say("skip.own_feed")
REACTIONS = say("skip.reactions")
UNPUBLISHED = say("skip.unpublished")
HIDDEN = say("skip.hidden")
NAMELESS = say("skip.nameless")


# ---------------------------------------------------------------- reading posts


def gather(source: Source, cursor: Args, limit: int) -> Page:
    """Page by page, the last bumped first; a comment bumps its post to the top while one reads. So when the end is
    reached, the top is read again until all that stood there in the beginning have been met."""
    if limit:
        return lowest(source, limit)
    if not cursor:
        starts: list[Args] = [{"via": via, "start": 0} for via in range(len(source.owners))]
        return Page(next=starts, alarms=[OWN_FEED, REACTIONS])
    return read_newest(source, cursor) if "top" in cursor else read_further(source, cursor)


def gather_again(source: Source, cursor: Args, known: Known) -> Page:
    """The same, but the files behind attachments that are known are not asked for, and since it is known how many
    posts there are, all pages of a request are asked for at once, and the top with the last of them."""
    if not cursor:
        return gather(source, cursor, 0)
    return read_newest(source, cursor, known) if "top" in cursor else read_further(source, cursor, known)


def read_further(source: Source, cursor: Args, known: Known | None = None) -> Page:
    started = datetime.now(UTC)
    via, start = int(cursor["via"]), int(cursor["start"])
    left = (known.staged() if known else PAGE) if not start else int(cursor["total"]) - start
    pages = max(1, min(PAGES_AT_ONCE, -(-left // PAGE)))
    asked = [page_at(start + PAGE * k) for k in range(pages)]
    newest = [page_at(0)] if known and pages < PAGES_AT_ONCE else []
    answers = require_answers(source.batch([*asked, *newest], via=via))
    top = answers[pages:]
    # Behind the last page comes the first one again (kernel 25.100).
    answers = answers[: next((k for k, one in enumerate(answers[:pages], 1) if one.next is None), pages)]
    found = [posts_in(answer) for answer in answers]
    total = max(int(answers[-1].total or 0), start + len(found[-1]))
    reached = start + PAGE * len(found)
    # a whole request without a post is the end, even if the portal's total is larger
    nothing = start > 0 and not any(found)
    ended = answers[-1].next is None or reached >= total or nothing
    hidden = int(cursor.get("hidden", 0))
    if not nothing:
        hidden += sum(PAGE - len(page) for page in (found if not ended else found[:-1]))
    if ended and not nothing and total > reached - PAGE:
        # of the last page; more than a page is a wrong total
        hidden += max(0, min(PAGE, total - reached + PAGE) - len(found[-1]))
    rows = [row for page in found for row in page]
    first = cursor.get("first") or [row.source_id for row in found[0]]
    onward = {"via": via, "start": reached, "total": total, "first": first, "hidden": hidden}
    number = via * 1_000_000 + start // PAGE
    bumped = {row.source_id: row for answer in top for row in posts_in(answer)} if ended else {}
    rows = [*(row for row in rows if row.source_id not in bumped), *bumped.values()]
    page = posts_page(source, rows, via, started, number, known=known)
    if not ended:
        page.next.append(onward)
    elif not bumped.keys() >= set(first):
        page.next.append({**onward, "top": True})
    alone = len(source.owners) == 1
    aside = [SetAside("feed_posts", f"unpublished:{k + 1}", "impossible", UNPUBLISHED, "") for k in range(hidden)]
    return Page(
        page.rows,
        page.next,
        reported=total - hidden if alone and ended else None,
        log=page.log,
        aside=[one._replace(name=say("skip.unpublished_posts")) for one in aside] if alone and ended else [],
    )


def read_newest(source: Source, cursor: Args, known: Known | None = None) -> Page:
    started = datetime.now(UTC)
    via = int(cursor["via"])
    missing = set(cursor["first"])
    rows: list[Row] = []
    for k in range(CATCH_UP):
        (answer,) = require_answers(source.batch([page_at(PAGE * k)], via=via))
        found = posts_in(answer)
        rows += found
        missing -= {row.source_id for row in found}
        if not missing or answer.next is None:
            break
    return posts_page(source, rows, via, started, via * 1_000_000 + 900_000, known=known)


def lowest(source: Source, limit: int) -> Page:
    """The first posts by ID that any webhook sees. The method has no order by ID, so all posts are read."""
    found: dict[str, Row] = {}
    log: list[PageEntry] = []
    waiting: list[Args] = [{"via": via, "start": 0} for via in range(len(source.owners))]
    while waiting:
        page = gather(source, waiting.pop(0), 0)
        found = {row.source_id: row for row in page.rows} | found
        log += page.log
        waiting += page.next
    rows = [found[source_id] for source_id in sorted(found, key=int)[:limit]]
    return Page(rows=rows, log=log, alarms=[OWN_FEED, REACTIONS])


def posts_page(
    source: Source, rows: Sequence[Row], via: int, started: datetime, number: int, *, known: Known | None = None
) -> Page:
    """With the files behind the attachments, and whose webhook saw the posts."""
    seen_by = {"via": via, "seen_by": source.owners[via]}
    files = known_files(known, "feed_posts", rows) if known else {}
    resolved = resolve_rows(source, [row._replace(extras=seen_by) for row in rows], attachments, via, files)
    log = PageEntry(number, len(rows), len(rows), digest({"via": via, "n": number}), started, datetime.now(UTC))
    return Page(rows=resolved, log=[log])


def refetch(source: Source, wanted: Sequence[SourceRecord], _: Known) -> dict[str, Row]:
    """Each through the webhook that saw it; one that no webhook has seen yet through all of them."""
    found: dict[str, Row] = {}
    for via in range(len(source.owners)):
        mine = [one for one in wanted if one.id not in found and int(one.extras.get("via", via)) == via]
        commands = [Command(METHOD, {"POST_ID": int(one.id)}) for one in mine]
        rows: list[Row] = []
        for one, answer in zip(mine, source.batch(commands, via=via), strict=True):
            if answer.error is not None and not isinstance(answer.error, Permanent):
                raise answer.error
            rows += [row for row in posts_in(answer) if row.source_id == one.id]
        found |= {row.source_id: row for row in posts_page(source, rows, via, datetime.now(UTC), 0).rows}
    return found


# ---------------------------------------------------------------- what is said about a post


def post_value(payload: Mapping[str, Json], name: str) -> Json:
    """A field of a post is a description, with its value inside."""
    field = payload.get(name)
    return field.get("VALUE") if isinstance(field, dict) else field


def attachments(payload: Mapping[str, Json]) -> list[str]:
    listed = payload.get("FILES") or post_value(payload, "UF_BLOG_POST_FILE") or ()
    members = listed.values() if isinstance(listed, dict) else listed if isinstance(listed, list) else ()
    return [str(one) for one in members if str(one).isdecimal()]


def file_keys(record: SourceRecord) -> list[str]:
    known = record.extras.get("attached") or {}
    return [str(known[one]["key"]) if one in known else f"attached:{one}" for one in attachments(record.payload)]


def is_own(record: SourceRecord, owners: Sequence[str]) -> bool:
    """Users always see their own posts. Of others the portal returns only what the caller may see, so a post that is
    gone looks like one whose recipients changed, or whose group the caller has left
    (api-reference/log/log-blogpost-get.md)."""
    return str(record.payload.get("AUTHOR_ID")) in owners


def important(record: SourceRecord) -> bool:
    return str(post_value(record.payload, "UF_BLOG_POST_IMPRTNT") or "0") not in ("0", "", "N")


def important_until(record: SourceRecord) -> Json:
    return post_value(record.payload, "UF_IMPRTANT_DATE_END")


# `#1` is a number, not a tag. A tag ends at the next one at the latest: otherwise each of many that are never closed is
# searched to the end of the text.
TAG = re.compile(r"\[TAG\]((?:(?!\[TAG\]).)+?)\[/TAG\]|(?<![\w/&#=?.])#(?!\d+(?![\w-]))(\w[\w-]*)", re.IGNORECASE)


def tags(record: SourceRecord) -> list[str]:
    """The portal returns tags by number only; their names are in the text."""
    if record.payload.get("HAS_TAGS") == "N":
        return []
    found = TAG.findall(str(record.payload.get("DETAIL_TEXT") or ""))
    return list(dict.fromkeys(one or other for one, other in found))


def recipients(record: SourceRecord) -> list[str]:
    """As far as they can be read. A post whose recipients are not known stays between its author and its reader: shown
    to all users, it might reveal what was private."""
    codes = record.extras.get(feed_recipients.name) or []
    own = f"U{record.payload.get('AUTHOR_ID')}"
    if record.payload.get("HAS_SOCNET_ALL") == "Y":
        return ["UA", *(code for code in codes if not code.startswith("U"))]
    others = [code for code in codes if code != own]
    return others or list(dict.fromkeys([own, f"U{record.extras.get('seen_by', record.payload.get('AUTHOR_ID'))}"]))


# ---------------------------------------------------------------- who a post was addressed to


def posts_by_recipient(of: str, prefix: str) -> PerParent:
    """The API does not expose recipients, but it lists the posts that a group, a department or a user may see."""
    return PerParent(
        of=of,
        method=METHOD,
        params=lambda parent: {"LOG_RIGHTS": [f"{prefix}{parent.id}"]},
        paging=Slices(offset="start", limit="", newest_first=True),
        id="ID",
        webhooks=Webhooks(everybody=True),
        keys=ChildKeys(lambda parent, row: f"{row['ID']}:{prefix}{parent.id}", bare=True),
    )


feed_recipients = Stream(
    name="feed_recipients",
    table=Table("FeedRecipients", "feed_recipients"),
    read=(posts_by_recipient("groups", "SG"),),
    more=(posts_by_recipient("departments", "DR"), posts_by_recipient("users", "U")),
    fields=(),
)

feed_posts = Stream(
    name="feed_posts",
    table=Table("FeedPosts", "feed_posts"),
    read=(Gather(METHOD, gather, again=gather_again),),
    batch=20,
    fields=(
        *texts("TITLE"),
        Field("DETAIL_TEXT", Kind.RICH),
        Field("AUTHOR_ID", Kind.REF, to="users", policy=Policy.PLACEHOLDER),
        *times("DATE_PUBLISH"),
        Field(
            "DEST",
            Kind.CODED,
            take=recipients,
            beside=feed_recipients.name,
            code=recipient,
            names=("users", "groups", "departments"),
        ),
        Field("IMPORTANT", Kind.FLAG, take=important),
        Field("TAGS", Kind.AS_IS, take=tags),
        Field("FILES", Kind.FILES, take=file_keys),
        *flags("MICRO", "ENABLE_COMMENTS", beyond=True),
        Field("IMPORTANT_DATE_END", Kind.TIME, take=important_until, beyond=True),
    ),
    stamp="DATE_PUBLISH",
    written=(Written("AUTHOR_ID", "DATE_PUBLISH"),),
    changes=ChangeRules(
        whole_payload=True, volatile=frozenset({"NUM_COMMENTS", "VIEWS", "HAS_COMMENT_IMAGES", "CATEGORY_ID"})
    ),
    files=refs_of,
    fetch=refetch,
    deletions=DeletionRules(certain=is_own),
    mentions=(
        Mention(r"/company/personal/user/(\d+)/blog/(\d+)(?!\d)", link=True, ids=("users", "feed_posts")),
        Mention(r"/workgroups/group/(\d+)/blog/(\d+)(?!\d)", link=True, ids=("groups", "feed_posts")),
    ),
    title=("TITLE", "DETAIL_TEXT"),
    unseen=(say("delta.unseen.feed_recipients"), UNSEEN_VERSIONS),
)


# ---------------------------------------------------------------- comments


def owner_of(author: SourceRecord, owners: Sequence[str]) -> int:
    """The author's own webhook, if there is one: the portal shows the text only to the author."""
    return owners.index(author.id) if author.id in owners else 0


def comment_key(_: SourceRecord, row: Args) -> str:
    post = row.get("post_id") or f"log{row.get('log_id')}"
    return f"{post}:{row.get('comment_id') or row['id']}"


def is_owner(author: SourceRecord, owners: Sequence[str]) -> bool:
    return author.id in owners


def reason_unreadable(author: SourceRecord, row: Args, owners: Sequence[str]) -> str | None:
    if not is_owner(author, owners):
        return HIDDEN
    return None if row.get("post_id") or row.get("log_id") else NAMELESS


def entry_of(row: Args) -> str:
    return "" if row.get("post_id") else str(row["log_id"])


def join_files(row: Args, files: Mapping[str, Json]) -> Args | None:
    mine = [files[str(one)] for one in members(row.get("attach")) if str(one) in files]
    kept = [{"id": one["id"], "name": one.get("name", ""), "size": one.get("size")} for one in mine]
    return {"files": kept} if kept else None


def files_of_comment(record: SourceRecord) -> Iterator[FileRef]:
    known = {str(one["id"]): one for one in record.extras.get("files", ())}
    for one in map(str, members(record.payload.get("attach"))):
        about = known.get(one, {})
        yield FileRef("disk", one, name=file_name(about.get("name")), size=about.get("size"))


def keys_of(refs: Iterable[FileRef]) -> list[str]:
    return [ref.key for ref in refs]


feed_comments = Stream(
    name="feed_comments",
    table=Table("FeedComments", "feed_comments"),
    read=(
        PerParent(
            of="users",
            method="log.blogcomment.user.get",
            params=lambda author: {"USER_ID": int(author.id)},
            paging=Backward(size=100),  # the documentation names no order of pages above an id
            items=("comments",),
            webhooks=Webhooks(owner_of),
            joined=JoinedList("files", join_files),
            keys=ChildKeys(
                comment_key,
                alias=Alias(of=entry_of, ask=posts_of_entries, at_once=ENTRIES_AT_ONCE),
                conceals=reason_unreadable,
            ),
            shown=is_owner,
        ),
    ),
    batch=50,
    batch_option="batch_comments",
    fields=(
        Field(
            "post_id",
            Kind.REF,
            take=lambda record: record.payload.get("post_id") or record.parent,
            to="feed_posts",
            policy=Policy.REQUIRE,
        ),
        Field(
            "author_id", Kind.REF, take=lambda record: record.extras.get("of"), to="users", policy=Policy.PLACEHOLDER
        ),
        *times("date"),
        Field("text", Kind.RICH),
        Field("files", Kind.FILES, take=lambda record: keys_of(files_of_comment(record))),
    ),
    stamp="date",
    written=(Written(lambda record: record.extras.get("of"), "date"),),
    files=files_of_comment,
    title=("text",),
    unseen=(say("delta.unseen.feed_comments"), UNSEEN_VERSIONS),
)

ENTITIES = (
    Entity(
        name="feed",
        wire="feed",
        scopes=("log",),
        every_webhook=True,
        aids=(feed_recipients,),
        streams=(feed_posts, feed_comments),
        optional_scopes={"disk": say("loss.feed_files")},
        habits=(habits,),
    ),
)
