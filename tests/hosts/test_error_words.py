"""The pages of error codes in Russian say what the English ones say."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from b24migrate.error_pages import CHAPTERS, PAGES, Again, Page, link
from b24migrate.error_pages.telling import TRANSLATED, _spoken, said, told
from b24migrate.error_pages.writing import ABOUT, document
from b24migrate.hosts.words import DEFAULT, LANGUAGES
from b24migrate.hosts.words.errors_of import fix_words, fixes_words, message_words, page_words
from b24migrate.pipeline.causes import GIVEN_UP, NOTHING_TO_DO, RUN_AGAIN, Cause, Group
from b24migrate.ports import BROKEN_JOB, POISON_REASON
from b24migrate.records import Status

DOCUMENT = Path(__file__).parents[2] / "docs" / "errors.ru.md"
ADVICE = (NOTHING_TO_DO, GIVEN_UP, RUN_AGAIN)
OF_THE_DOCUMENT = (ABOUT, "Error codes", "Cause:", "What to do:", "Tried again by itself?")
SENTENCES = [
    *Again,
    *ADVICE,
    POISON_REASON,
    BROKEN_JOB[1],
    *OF_THE_DOCUMENT,
    *(text for chapter in CHAPTERS for text in (chapter.title, chapter.about)),
]


def commands(text: str) -> Counter[str]:
    return Counter(re.findall(r"`[^`]+`", text))


def settings(text: str) -> set[str]:
    """What has to be typed as it is: settings, options, variables, addresses, numbers, scopes."""
    return set(
        re.findall(r"\b(?:run|source|store|mapping)\.[a-z_]+|--[a-z-]+|AZURE_\w+|https?:|sqlite:|azure:|\b\d+\b", text)
    )


def is_russian(text: str) -> bool:
    letters = re.sub(r"`[^`]*`|[a-z]+://\S*|[A-Z_]{2,}|\b(?:run|source|store|mapping)\.[a-z_]+", "", text)
    return len(re.findall(r"[а-яё]", letters.lower())) > len(re.findall(r"[a-z]", letters.lower()))


def cause(code: str, fix: str, status: str = Status.IMPORT_ERR) -> Cause:
    return Cause("users", code, 1, status, "1", "message", fix)


def test_there_is_a_translation_for_every_language_but_that_of_the_pages() -> None:
    assert {DEFAULT, *TRANSLATED} == set(LANGUAGES)


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_every_page_says_the_same_in_russian(page: Page) -> None:
    english, russian = told(page, "en"), told(page, "ru")
    for mine, other in zip(english, russian, strict=True):
        assert is_russian(other), other
        assert commands(other) == commands(mine)
        assert settings(other) == settings(mine)
    assert russian.cause.endswith(".")
    assert russian.fix.endswith(".")
    assert not russian.title.endswith(".")


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_stands_beside_the_pages_is_said_in_russian(sentence: str) -> None:
    other = said(str(sentence), "ru")
    assert is_russian(other), other
    assert commands(other) == commands(sentence)


def test_nothing_is_translated_that_nobody_says() -> None:
    spoken = _spoken("ru")
    assert set(spoken.pages) == set(PAGES)
    assert set(spoken.sentences) == set(map(str, SENTENCES))


def test_the_russian_document_is_what_the_pages_say() -> None:
    assert DOCUMENT.read_text("utf-8") == document("ru"), "run `make errors`"
    assert link(PAGES["DUPLICATE_EMAIL"], "ru") == "docs/errors.ru.md#duplicate_email"


def test_a_code_of_a_family_has_the_words_of_its_page() -> None:
    assert page_words("HTTP_599", "ru") == page_words("HTTP_5XX", "ru") != page_words("HTTP_5XX", "en")
    assert page_words("whatever", "ru") == page_words("UNKNOWN", "ru")


def test_a_language_that_is_not_known_is_answered_in_english() -> None:
    assert page_words("TIMEOUT", "xx") == page_words("TIMEOUT", "en")
    assert page_words("TIMEOUT", "../ru") == page_words("TIMEOUT", "en")


@pytest.mark.parametrize("advice", ADVICE)
def test_what_is_advised_instead_of_the_page_stays_so_in_russian(advice: str) -> None:
    assert fix_words(cause("TIMEOUT", advice), "en") == advice
    assert fix_words(cause("TIMEOUT", advice), "ru") == said(advice, "ru") != advice


def test_what_is_advised_by_the_page_is_that_of_the_russian_page() -> None:
    page = PAGES["DUPLICATE_EMAIL"]
    assert fix_words(cause(page.code, page.fix), "ru") == told(page, "ru").fix


def test_a_group_names_each_advice_once() -> None:
    page = PAGES["DUPLICATE_EMAIL"]
    group = Group(page.code, (cause(page.code, page.fix), cause(page.code, RUN_AGAIN), cause(page.code, page.fix)))
    assert fixes_words(group, "ru") == [told(page, "ru").fix, said(RUN_AGAIN, "ru")]


def test_what_a_portal_said_is_shown_as_it_said_it() -> None:
    assert message_words("Access denied.", "ru") == "Access denied."
    assert is_russian(message_words(POISON_REASON, "ru"))
    assert is_russian(message_words(BROKEN_JOB[1], "ru"))
