"""The report on the dashboard: nothing is refused, it fits every screen, and it prints as the file does."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect
from tests.browser.conftest import Photograph
from tests.browser.page_watch import watched
from tests.browser.server import Desk
from tests.browser.test_pages import DESK, LOOKS

from b24migrate.messages import LANGUAGES, words


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_menu_opens_the_report_and_the_report_leads_back(
    language: str, browser: Browser, finished: Desk, photograph: Photograph
) -> None:
    speech = words(language)
    with watched(browser, finished, locale=language, viewport=DESK) as watch:
        watch.go("/")
        watch.page.get_by_role("link", name=speech("page.nav.report"), exact=True).click()
        verdict = watch.page.locator("p.verdict")
        expect(verdict).to_have_text(speech("report.verdict.findings"))
        assert verdict.evaluate("one => getComputedStyle(one).borderLeftWidth") == "6px"  # its style is loaded
        for kind, size, theme in LOOKS[language]:
            watch.page.set_viewport_size(size)  # type: ignore[arg-type]
            watch.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            assert watch.stumbles() == [], f"{kind}, {theme}"
            assert watch.wider_than_the_screen() == 0, kind
            photograph(watch.page, f"report-{language}-{kind}")
        watch.page.get_by_role("link", name=speech("report.home"), exact=True).click()
        watch.settle()
        expect(watch.page.get_by_role("heading", level=1)).to_have_text(speech("page.verdict.findings"))


def test_it_prints_without_the_way_back(browser: Browser, finished: Desk) -> None:
    with watched(browser, finished) as watch:
        watch.page.goto(f"{finished.url}/report")
        expect(watch.page.locator("#contents")).to_be_visible()
        watch.page.set_viewport_size({"width": 680, "height": 1000})
        watch.page.emulate_media(media="print")
        assert not watch.page.locator(".way").is_visible()
        box = watch.page.locator("#verdict").bounding_box()
        assert box is not None
        assert box["height"] < 263 / 25.4 * 96  # what is left of A4 between its margins
        assert watch.wider_than_the_screen() == 0
        assert watch.page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_a_table_of_the_report_is_downloaded(browser: Browser, finished: Desk) -> None:
    with watched(browser, finished) as watch:
        watch.page.goto(f"{finished.url}/report")
        with watch.page.expect_download() as download:
            watch.page.locator('#table-tables a[href$="streams.csv"]').click()
        assert download.value.suggested_filename == "streams.csv"
        assert download.value.path().read_text("utf-8-sig").startswith("entity,stream,source,")
