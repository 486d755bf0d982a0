"""What a box does not keep of the feed when its own methods take it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from b24migrate.fidelity import Draft, Keeping, Rule
from b24migrate.records import Table
from b24migrate.target.rest.box import INSIDE_BYTES, Box

FILES = Table("Files", "files")

LINE = "A line before the text says when it was written, and under which number; the box takes the time of the move."
READER = (
    "The owner of the webhook is among the recipients, so that what arrived can be read again; a group in which the"
    " author has no part any more is not. The box names no recipients."
)
UNTOLD = "They are set; but the box tells tags by number only, so that they cannot be compared."
TOO_LARGE = "A file over 100 MB cannot be attached to a comment. It is uploaded to the Drive of the webhook owner only."
NOISE = "The box notifies the recipients, and everybody whom the text mentions."
COPIED = "The files arrive as copies with numbers of their own."
EVERYBODY = "UA"
TRANSFORMED = Keeping.TRANSFORMED


def of_posts(_: Box) -> Sequence[Rule]:
    return [
        Rule("feed_posts", "DETAIL_TEXT", TRANSFORMED, LINE, lambda _: True),
        Rule("feed_posts", "DATE_PUBLISH", TRANSFORMED, LINE),
        Rule("feed_posts", "TITLE", TRANSFORMED, "The box makes a title of the text where the source did.", untitled),
        Rule("feed_posts", "DEST", Keeping.APPROXIMATED, READER, lambda draft: draft.get("DEST") != [EVERYBODY]),
        Rule("feed_posts", "TAGS", TRANSFORMED, UNTOLD),
        Rule("feed_posts", "", TRANSFORMED, NOISE, lambda _: True),
        Rule(
            "feed_posts",
            "ENABLE_COMMENTS",
            Keeping.LOST,
            "Every post may be commented on.",
            lambda draft: draft.get("ENABLE_COMMENTS") is False,
        ),
    ]


def untitled(draft: Draft) -> bool:
    return bool(draft.get("MICRO")) and bool(draft.get("TITLE"))


def of_comments(box: Box) -> Sequence[Rule]:
    return [
        Rule("feed_comments", "text", TRANSFORMED, LINE, lambda _: True),
        Rule("feed_comments", "date", TRANSFORMED, LINE),
        Rule("feed_comments", "files", Keeping.LOST, TOO_LARGE, lambda draft: has_large_file(box, draft)),
        Rule("feed_comments", "files", TRANSFORMED, COPIED),
    ]


def has_large_file(box: Box, draft: Draft) -> bool:
    """By what is staged of the files that the comment names."""
    keys = [str(one) for one in draft.get("files") or ()]
    found = box.store.get(FILES, keys) if keys else {}
    return any(int(msgspec.json.decode(one.payload).get("size") or 0) > INSIDE_BYTES for one in found.values())
