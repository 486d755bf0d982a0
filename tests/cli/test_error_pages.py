"""Every error code has a page, and the document is what the pages say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.cli.codes_in_source import codes

from b24migrate.bitrix.faults import FAULTS, Fault, Recovery
from b24migrate.messages.pages import PAGES, UNKNOWN, Again, Page, anchor, document, link, page_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "errors.md"
WHAT_WE_DO = {
    Recovery.RETRY: Again.TRIES,
    Recovery.WAIT: Again.WAITS,
    Recovery.SKIP: Again.ASIDE,
    Recovery.GATE: Again.STOPS,
    Recovery.HALT: Again.STOPS,
}
# import-contract: what a box may say about an item or a field
OF_THE_BOX = [
    "VALIDATION",
    "DUPLICATE_EMAIL",
    "OWNER_NOT_FOUND",
    "USER_NOT_FOUND",
    "CHAT_NOT_FOUND",
    "PARENT_NOT_FOUND",
    "FILE_NOT_FOUND",
    "TYPE_NOT_FOUND",
    "STAGE_NOT_FOUND",
    "TOO_LARGE",
    "LOCKED",
    "INTERNAL",
    "TYPE_MISMATCH",
    "TYPE_UNSUPPORTED",
]


def test_the_document_is_what_the_pages_say() -> None:
    assert DOCUMENT.read_text("utf-8") == document(), "run `make errors`"


def test_every_code_in_the_program_has_a_page() -> None:
    missing = {code: place for code, place in codes().items() if page_of(code) is UNKNOWN and code != UNKNOWN.code}
    assert not missing


@pytest.mark.parametrize(
    "code",
    [
        *("STORE_URL", "STORE_FULL", "STORE_LOCKED", "POISON", "RUN_UNDER_WAY", "NOT_A_JOB", "REFERENCE_MISSING"),
        *("DOWNLOAD_FAILED", "CODE_TAKEN", "TOO_LARGE", "HTML_ANSWER", "UNREACHABLE", "DUPLICATE_EMAIL", "VALIDATION"),
        *("INTERNAL", "HTTP_599", "mapping.done", "infra.storage.ready", "users.import.completed", "auth.cloud.users"),
        *("insufficient_scope", "QUERY_LIMIT_EXCEEDED", "CONFIGURATION", "USAGE", "COPY_BUSY"),
    ],
)
def test_codes_are_found_however_they_are_given(code: str) -> None:
    assert code in codes()


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_page_says_of_a_portals_code_what_is_done_about_it(fault: Fault) -> None:
    assert page_of(fault.code).again is WHAT_WE_DO[fault.recovery]


@pytest.mark.parametrize("code", OF_THE_BOX)
def test_what_a_box_may_say_has_a_page_of_its_own(code: str) -> None:
    assert page_of(code).code == code


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_a_page_is_written_in_sentences(page: Page) -> None:
    assert page.cause.endswith(".")
    assert page.fix.endswith(".")
    assert f"\n### {page.code}\n" in document()


def test_links_lead_to_one_page_each() -> None:
    assert not [name for name, count in Counter(map(anchor, PAGES)).items() if count > 1]
    assert link(PAGES["DUPLICATE_EMAIL"]) == "docs/errors.md#duplicate_email"
    assert link(page_of("chats.import.completed")) == "docs/errors.md#entityimportcompleted"


@pytest.mark.parametrize(
    ("code", "page"),
    [
        ("HTTP_503", "HTTP_5XX"),
        ("HTTP_418", "HTTP_XXX"),
        ("HTTP_404", "HTTP_404"),
        ("auth.target.import.crm_deals", "auth.target.import.ENTITY"),
        ("crm_deals.import.completed", "ENTITY.import.completed"),
        ("WHATEVER", "UNKNOWN"),
        ("", "UNKNOWN"),
    ],
)
def test_a_code_without_a_page_of_its_own_belongs_to_a_family(code: str, page: str) -> None:
    assert page_of(code).code == page
