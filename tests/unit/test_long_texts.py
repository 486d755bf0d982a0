"""A text of a portal costs about as much as it is long. Where each of many beginnings was searched to the end of the
text, one text held up all threads for hours, and Ctrl-C as well: these tests would reach their limit."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from b24migrate.bitrix.faults import to_error
from b24migrate.engine.phases.texts import TextRewriter
from b24migrate.entities import catalog
from b24migrate.entities.chats.rest_import import text_digest
from b24migrate.entities.feed.streams import tags
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.values import unescape_html

LETTERS = 3_000_000
UNITS = (
    "<",
    "[",
    "[TAG]x",
    "#",
    "[USER=",
    "[CHAT=",
    "[DISK=",
    "/crm/deal/",
    "/company/",
    "bxacid:",
    "&#9",
    "&",
    "a@",
    "\\",
)


def error(text: str) -> object:
    return to_error(400, json.dumps({"error": "X", "error_description": text}).encode(), "user.get")


def feed_tags(text: str) -> object:
    return tags(SourceRecord("1", {"DETAIL_TEXT": text}, {}))


def rewritten(text: str) -> object:
    rewriter = TextRewriter(catalog().streams.values(), "https://a.example", "https://b.example")
    return rewriter.rewrite(text, lambda _stream, _ids: {})


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("read", [error, feed_tags, rewritten, text_digest], ids=lambda one: one.__name__)
def test_a_text_costs_as_much_as_it_is_long(read: Callable[[str], object], unit: str) -> None:
    read(unit * (LETTERS // len(unit)))


def test_a_tag_that_is_never_closed_hides_no_other() -> None:
    assert feed_tags("[TAG]lost [TAG]one[/TAG] #two [tag]three[/tag]") == ["one", "two", "three"]


def test_a_digest_knows_a_text_by_its_words() -> None:
    assert text_digest("[B]a[/B] b [c") == text_digest("a b [c")
    assert text_digest("a ] b [c") != text_digest("a ] b")


def test_a_character_with_a_number_of_thousands_of_digits_is_text() -> None:
    text = f"&#{'9' * 5000};"
    assert "&#999" in str(error(text))
    assert unescape_html(text) == text
