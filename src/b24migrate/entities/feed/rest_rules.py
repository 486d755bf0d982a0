"""Rules: feed data that a box does not keep without the import module."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from b24migrate.messages import say
from b24migrate.model.fidelity import Draft, Keeping, Rule
from b24migrate.model.records import Table
from b24migrate.targets.rest.box import INSIDE_BYTES, Box

FILES = Table("Files", "files")

LINE = say("reason.rest_feed_line")
READER = say("reason.rest_post_reader")
UNTOLD = say("reason.rest_tags")
TOO_LARGE = say("reason.rest_large_files")
NOISE = say("reason.rest_post_noise")
COPIED = say("reason.rest_files")
EVERYBODY = "UA"
TRANSFORMED = Keeping.TRANSFORMED


def post_rules(_: Box) -> Sequence[Rule]:
    return [
        Rule("feed_posts", "DETAIL_TEXT", TRANSFORMED, LINE, lambda _: True),
        Rule("feed_posts", "DATE_PUBLISH", TRANSFORMED, LINE),
        Rule("feed_posts", "TITLE", TRANSFORMED, say("reason.rest_post_title"), has_hidden_title),
        Rule("feed_posts", "DEST", Keeping.APPROXIMATED, READER, lambda draft: draft.get("DEST") != [EVERYBODY]),
        Rule("feed_posts", "TAGS", TRANSFORMED, UNTOLD),
        Rule("feed_posts", "", TRANSFORMED, NOISE, lambda _: True),
        Rule(
            "feed_posts",
            "ENABLE_COMMENTS",
            Keeping.LOST,
            say("reason.rest_comments"),
            lambda draft: draft.get("ENABLE_COMMENTS") is False,
        ),
    ]


def has_hidden_title(draft: Draft) -> bool:
    return bool(draft.get("MICRO")) and bool(draft.get("TITLE"))


def comment_rules(box: Box) -> Sequence[Rule]:
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
