"""Posts and comments as a portal shows them, with hidden keys for data that no method returns."""

import re
from collections.abc import Callable
from typing import Any

from b24sim.company.chance import chance
from b24sim.company.feed import ALL, Feed, Post
from b24sim.company.feed_files import FeedFiles
from b24sim.company.feed_texts import PLUS_ONE, TAGS, Hand, comment_text, content
from b24sim.company.plan import DAY
from b24sim.moments import Moments
from b24sim.table import Row, Table

FIRST_COMMENT, COMMENT_STEP = 4_000, 3
TITLE_LENGTH = 100
_CODES = re.compile(r"\[/?[A-Za-z][^\]]*\]")
# Name, kind, several, and what the portal says when there is no value.
FIELDS: tuple[tuple[str, str, str, Any], ...] = (
    ("UF_BLOG_POST_DOC", "file", "Y", False),
    ("UF_BLOG_POST_FILE", "disk_file", "Y", False),
    ("UF_BLOG_POST_URL_PRV", "url_preview", "N", None),
    ("UF_BLOG_POST_VOTE", "vote", "N", None),
    ("UF_BLOG_POST_IMPRTNT", "integer", "N", None),
    ("UF_IMPRTANT_DATE_END", "datetime", "N", ""),
    ("UF_GRATITUDE", "integer", "N", None),
    ("UF_MAIL_MESSAGE", "mail_message", "N", None),
)


class FeedRows:
    """Tables of posts and comments."""

    def __init__(self, feed: Feed, files: FeedFiles, moments: Moments, portal_url: Callable[[], str]):
        self.feed, self.files, self.moments, self.portal_url = feed, files, moments, portal_url
        self.posts = Table(feed.posts, self.post_row)
        numbers = range(feed.first_comments[-1])
        self.comments = Table((self._comment_id(number) for number in numbers), self._comment_row)
        self._by_author: tuple[int, dict[int, list[int]]] = (-1, {})

    def forget_encodings(self) -> None:
        self.posts.forget_encodings()
        self.comments.forget_encodings()

    def comments_of_author(self, user: int) -> list[int]:
        """IDs of the user's comments, ascending."""
        version, index = self._by_author
        if version != self.comments.version:
            index = {}
            for number in self.comments:
                index.setdefault(self.comments.row(number)["_author_id"], []).append(number)
            self._by_author = (self.comments.version, index)
        return index.get(user, [])

    def comments_of_post(self, post: int) -> list[int]:
        """Ids of its comments, ascending, without making those of others."""
        return [number for number in self.comments if self._post_of(number) == post]

    def _post_of(self, comment: int) -> int:
        own = self.comments.changed(comment)
        if own:
            return int(own["_post_id"])
        return self.feed.id_at(self.feed.post_of_comment(self.comment_number(comment))[0])

    def post_row(self, number: int) -> Row:
        """A row of `log.blogpost.get`; `extra` of a post stands above what it was grown with."""
        post = self.feed.posts[number]
        files = [int(file) for file in post.extra.get("FILES", self.files.of_post(post.place))]
        body = content(Hand(self.feed, post, files, self.portal_url()))
        text = str(post.extra.get("DETAIL_TEXT", body.text))
        title = str(post.extra.get("TITLE", body.title))
        values = self._values(post, files) | {k: v for k, v in post.extra.items() if k.startswith("UF_")}
        props = bool(files) or any(values.values()) or post.place % 2 == 1
        row: Row = {
            "ID": str(post.id), "BLOG_ID": str(280 + post.author), "PUBLISH_STATUS": post.status,
            "TITLE": title or _title_from(text), "AUTHOR_ID": str(post.author),
            "ENABLE_COMMENTS": "Y" if post.takes_comments else "N", "NUM_COMMENTS": str(post.comments), "CODE": None,
            "MICRO": "N" if title else "Y", "DETAIL_TEXT": text, "DATE_PUBLISH": self.moments.iso(post.published),
            "CATEGORY_ID": ",".join(str(tag_id(tag)) for tag in body.tags),
            "HAS_SOCNET_ALL": "Y" if ALL in post.dest else "N", "HAS_TAGS": "Y" if body.tags else "N",
            "HAS_IMAGES": "N", "HAS_PROPS": "Y" if props else "N", "HAS_COMMENT_IMAGES": None,
        }  # fmt: skip
        row |= {name: value for name, value in post.extra.items() if name in row}
        if not post.extra.get("TITLE", title):
            row["TITLE"] = _title_from(text)
        if props:
            row |= {name: _field(post, place, values.get(name)) for place, (name, *_) in enumerate(FIELDS)}
        if files:
            row["FILES"] = files
        return row | {
            "_DEST": list(post.dest), "_TAGS": list(body.tags), "_LOG_ID": post.log_id,
            "_UPDATED": self.moments.iso(post.updated), "_IMPORTANT": bool(values["UF_BLOG_POST_IMPRTNT"]),
        }  # fmt: skip

    def _values(self, post: Post, files: list[int]) -> Row:
        case = post.case
        until = self.moments.iso(post.published + 30 * DAY) if case == "important until" else ""
        return {
            "UF_BLOG_POST_FILE": files or False,
            "UF_BLOG_POST_DOC": [str(90_000 + post.id)] if post.place % 53 == 22 else False,
            "UF_BLOG_POST_VOTE": str(300 + post.place) if case == "poll" else None,
            "UF_BLOG_POST_IMPRTNT": "1" if case in {"important", "important until"} else None,
            "UF_IMPRTANT_DATE_END": until,
            "UF_GRATITUDE": str(600 + post.place) if case == "gratitude" else None,
        }

    def comment_number(self, comment: int) -> int:
        return (comment - FIRST_COMMENT) // COMMENT_STEP

    def _comment_id(self, number: int) -> int:
        return FIRST_COMMENT + COMMENT_STEP * number + chance(self.feed.plan.seed, "comment id", number) % COMMENT_STEP

    def _comment_row(self, comment: int) -> Row:
        """`id` is its number in the feed and moves cursors; `comment_id` its number in the blog."""
        number = self.comment_number(comment)
        place, turn = self.feed.post_of_comment(number)
        post = self.feed.posts[self.feed.id_at(place)]
        luck = chance(self.feed.plan.seed, "comment", number)
        files = self.files.of_comment(number)
        author, text = self._author_and_text(post, turn, luck, len(files))
        return {
            "id": comment, "comment_id": 90 + 2 * number + luck % 2, "_post_id": post.id, "_log_id": post.log_id,
            "_author_id": author, "date": self.moments.iso(self.feed.comment_at(place, turn)), "text": text,
            "attach": files,
        }  # fmt: skip

    def _author_and_text(self, post: Post, turn: int, luck: int, files: int) -> tuple[int, str]:
        crowd = self.feed.crowd(post)
        if turn in {1, 2} and not files:
            # The same user writes the same text twice, which a portal refuses from REST.
            return crowd[post.place % len(crowd)], PLUS_ONE
        author = self.feed.strangers[luck % 3] if luck % 97 == 5 else crowd[(luck >> 9) % len(crowd)]
        return author, comment_text(Hand(self.feed, post, [], self.portal_url()), luck, files)


def _field(post: Post, place: int, value: Any) -> Row:
    """A field comes with all that is known of it; only VALUE is about the post."""
    name, kind, several, nothing = FIELDS[place]
    row: Row = {
        "ID": str(40 + place), "ENTITY_ID": "BLOG_POST", "FIELD_NAME": name, "USER_TYPE_ID": kind, "XML_ID": name,
        "SORT": "100", "MULTIPLE": several, "MANDATORY": "N", "SHOW_FILTER": "N", "SHOW_IN_LIST": "N",
        "EDIT_IN_LIST": "Y", "IS_SEARCHABLE": "Y", "SETTINGS": [], "EDIT_FORM_LABEL": name,
        "LIST_COLUMN_LABEL": None, "LIST_FILTER_LABEL": None, "ERROR_MESSAGE": None, "HELP_MESSAGE": None,
        "USER_TYPE": {
            "USER_TYPE_ID": kind, "CLASS_NAME": kind, "EDIT_CALLBACK": [kind, "renderEdit"],
            "VIEW_CALLBACK": [kind, "renderView"], "USE_FIELD_COMPONENT": True, "DESCRIPTION": kind,
            "BASE_TYPE": "string",
        },
        "VALUE": value or nothing, "ENTITY_VALUE_ID": post.id, "VALUE_EXISTS": True, "VALUE_RAW": None,
        "CUSTOM_DATA": [],
    }  # fmt: skip
    if kind == "disk_file":
        row["VALUE_RAW"] = _serialized(value or [])
    return row


def tag_id(name: str) -> int:
    """Only these numbers are returned, never the names."""
    return 9 + 2 * TAGS.index(name)


def _title_from(text: str) -> str:
    bare = _CODES.sub("", text).replace("\n", " ").strip()
    return bare if len(bare) <= TITLE_LENGTH else bare[:TITLE_LENGTH] + "..."


def _serialized(numbers: list[int]) -> str:
    inside = "".join(f"i:{place};i:{number};" for place, number in enumerate(numbers))
    return f"a:{len(numbers)}:{{{inside}}}"
