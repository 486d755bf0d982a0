"""The pages of error codes in Russian say what the English ones say."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from b24migrate.insight.causes import GIVEN_UP, NOTHING_TO_DO, RUN_AGAIN, Cause, Group
from b24migrate.messages import render, templates
from b24migrate.messages.pages import CHAPTERS, PAGES, Again, Page, document, link, page_of
from b24migrate.model.records import Status
from b24migrate.ports import BROKEN_JOB, POISON_REASON

DOCUMENT = Path(__file__).parents[2] / "docs" / "errors.ru.md"
ADVICE = (NOTHING_TO_DO, GIVEN_UP, RUN_AGAIN)
OTHERS = [key for key in templates("en", "errors") if not key.startswith("errors.page.")]


def commands(text: str) -> Counter[str]:
    return Counter(re.findall(r"`[^`]+`", text))


def settings(text: str) -> set[str]:
    """What has to be typed as it is: settings, options, variables, addresses, numbers, scopes."""
    return set(
        re.findall(
            r"\b(?:run|source|store|mapping)\.[a-z_]+|--[a-z-]+|AZURE_\w+|https?:|sqlite:|azure:|\b\d{2,}\b", text
        )
    )


def is_russian(text: str) -> bool:
    letters = re.sub(r"`[^`]*`|[a-z]+://\S*|[A-Z_]{2,}|\b(?:run|source|store|mapping)\.[a-z_]+", "", text)
    return len(re.findall(r"[а-яё]", letters.lower())) > len(re.findall(r"[a-z]", letters.lower()))


def cause(code: str, fix: str, status: str = Status.IMPORT_ERR) -> Cause:
    return Cause("users", code, 1, status, "1", "message", fix)


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_every_page_says_the_same_in_russian(page: Page) -> None:
    for mine in (page.title, page.cause, page.fix, page.retried):
        other = render(mine, "ru")
        assert is_russian(other), other
        assert commands(other) == commands(mine)
        assert settings(other) == settings(mine)
    assert render(page.cause, "ru").endswith(".")
    assert render(page.fix, "ru").endswith(".")
    assert not render(page.title, "ru").endswith(".")


@pytest.mark.parametrize("key", OTHERS)
def test_what_goes_with_the_pages_is_said_in_russian(key: str) -> None:
    mine, other = templates("en", "errors")[key], templates("ru", "errors")[key]
    assert is_russian(other), other
    assert commands(other) == commands(mine)


def test_every_chapter_has_pages_and_every_page_a_chapter() -> None:
    assert {page.chapter for page in PAGES.values()} == set(CHAPTERS)
    assert {page.again for page in PAGES.values()} == set(Again)


def test_the_russian_document_is_what_the_pages_say() -> None:
    assert DOCUMENT.read_text("utf-8") == document("ru"), "run `make errors`"
    assert link(PAGES["DUPLICATE_EMAIL"], "ru") == "docs/errors.ru.md#duplicate_email"


def test_a_code_of_a_family_has_the_words_of_its_page() -> None:
    assert page_of("HTTP_599") == page_of("HTTP_5XX")
    assert page_of("whatever") == page_of("UNKNOWN")


def test_a_language_that_is_not_known_is_answered_in_english() -> None:
    assert render(page_of("TIMEOUT").fix, "../ru") == page_of("TIMEOUT").fix


@pytest.mark.parametrize("advice", [*ADVICE, POISON_REASON, BROKEN_JOB[1]])
def test_what_is_advised_instead_of_the_page_is_said_in_russian(advice: str) -> None:
    assert is_russian(render(advice, "ru"))


def test_a_group_names_each_advice_once() -> None:
    page = PAGES["DUPLICATE_EMAIL"]
    group = Group(page.code, (cause(page.code, page.fix), cause(page.code, RUN_AGAIN), cause(page.code, page.fix)))
    assert group.fixes == [page.fix, RUN_AGAIN]
