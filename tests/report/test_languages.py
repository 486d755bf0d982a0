"""Both languages say everything, and nothing of the other."""

from __future__ import annotations

import re

import pytest
from tests.report.conftest import Troubled

from b24migrate.bitrix.faults import Caller, code_error
from b24migrate.bitrix.permissions import Permissions
from b24migrate.messages import render
from b24migrate.model.errors import MigrationError, Permanent
from b24migrate.targets.module import ImportTarget

# What stays English in a Russian report: names of files, codes, commands, keys of the configuration, what people wrote.
ENGLISH = re.compile(r"\b(?:the|and|of|is|are|was|were|which|that|records?|did|not)\b")


def test_a_russian_page_speaks_russian(troubled: Troubled) -> None:
    page = troubled.russian.page
    assert page.all("html")[0].attributes["lang"] == "ru"
    for name in (
        "moved",
        "aside",
        "drift",
        "timing",
        "forecast",
        "unresolved",
        "fields",
        "people",
        "files",
        "runs",
        "notes",
    ):
        assert not ENGLISH.search(troubled.russian.section(name)), (
            name,
            ENGLISH.findall(troubled.russian.section(name)),
        )
    headings = [one.text for tag in ("h1", "h2", "figcaption", "caption") for one in page.all(tag)]
    assert all(re.search("[а-яё]", one) for one in headings)


def test_an_english_page_speaks_english(troubled: Troubled) -> None:
    page = troubled.english.page
    assert page.all("html")[0].attributes["lang"] == "en"
    headings = [one.text for tag in ("h1", "h2", "figcaption", "caption") for one in page.all(tag)]
    assert not [one for one in headings if re.search("[а-яё]", one)]


def test_no_place_and_no_key_is_left_open(troubled: Troubled) -> None:
    for found in (troubled.english, troubled.russian):
        text = found.page.text
        assert not re.search(r"\breport\.[a-z]+\.[a-z_]+", text)
        assert not re.search(r"\{[a-z_]+\}", text)


def test_charts_are_described(troubled: Troubled) -> None:
    drawn = [one for one in troubled.russian.page.all("svg") if one.attributes.get("role") == "img"]
    assert len(drawn) >= 2
    for one in drawn:
        assert one.all("title")[0].text
        assert one.all("desc")[0].text
        names = str(one.attributes["aria-labelledby"]).split()
        assert names == [one.all("title")[0].attributes["id"], one.all("desc")[0].attributes["id"]]


DENIED = Permanent("Access denied.", code="ACCESS_DENIED")
PERMISSIONS = Permissions(lambda *_: DENIED, lambda _: Caller("the source webhook of user 1 (a1b2c3)"), lambda _: "")


@pytest.mark.parametrize(
    "error",
    [
        PERMISSIONS._everything(DENIED, 0),
        PERMISSIONS._method_lost(DENIED, "crm.item.list", 0),
        PERMISSIONS._refusal(DENIED, "crm.item.productrow.list", 0, sure=True).gate,
        PERMISSIONS._blocked_error(0),
        ImportTarget._unserved("import.users.batch", DENIED),
        code_error("TIMEOUT", "user.get"),
        code_error("insufficient_scope", "user.get"),
    ],
)
def test_an_error_is_said_in_russian_with_what_to_do(error: MigrationError) -> None:
    message = render(error.sentence, "ru")
    assert message != str(error)
    assert not ENGLISH.search(re.sub(r"the source webhook of user 1", "", message)), message


@pytest.mark.parametrize("text", ["", "hello", "made_up: 3 failed", "=cmd", "{0.__class__}", "users: anything"])
def test_what_is_not_ours_stays_as_it_is(text: str) -> None:
    assert render(text, "ru") == text
