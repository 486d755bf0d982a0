"""The report in Debian's Chromium: nothing is refused, nothing is asked, nothing runs, and it prints."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from tests.report.conftest import Troubled
from tests.report.report_reader import Report

pytestmark = pytest.mark.slow


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1000, "height": 1300})
    yield opened
    opened.close()


def shown(page: Page, found: Report) -> list[str]:
    """Opens it; returns everything that was asked of anybody, and everything the browser complained of."""
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url))
    own = (found.folder / "report.html").as_uri()
    page.goto(own)
    heard.remove(own)
    return heard


@pytest.mark.parametrize("language", ["english", "russian"])
def test_it_stands_on_its_own(page: Page, troubled: Troubled, language: str) -> None:
    found: Report = getattr(troubled, language)
    assert shown(page, found) == []
    verdict = page.locator(".verdict")
    assert verdict.inner_text() == found.written.verdict
    assert verdict.evaluate("one => getComputedStyle(one).borderLeftWidth") == "6px"  # the policy lets its own style in
    assert verdict.bounding_box()["y"] < 200  # type: ignore[index]


@pytest.mark.parametrize("width", [360, 700, 1000])
def test_it_is_never_wider_than_the_screen(page: Page, troubled: Troubled, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for found in (troubled.english, troubled.russian):
        shown(page, found)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_first_page_of_the_print_is_the_one_to_be_signed(page: Page, troubled: Troubled) -> None:
    page.set_viewport_size({"width": 680, "height": 1000})
    page.emulate_media(media="print")
    for found in (troubled.english, troubled.russian):
        shown(page, found)
        box = page.locator("#verdict").bounding_box()
        assert box is not None
        assert box["height"] < 263 / 25.4 * 96  # what is left of A4 between its margins
        assert page.evaluate("document.documentElement.scrollWidth") <= 680
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    page.emulate_media(media="screen")
