"""What the target does not keep is seen before a start, and nothing is started before it is ticked."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.browser.conftest import Photograph
from tests.browser.front_page import LONG_MS, wait_for
from tests.browser.language import english_left
from tests.browser.page_watch import watched
from tests.browser.server import Desk, desk

from b24migrate.messages import LANGUAGES, words
from b24sim.imports.forgetful import Forgetful

LOSSES = {"users:WORK_PHONE": "No telephones.", "users:PERSONAL_CITY": "<b>No</b> cities: " + "x" * 500}
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
PEOPLE = '[run]\nentities = ["users"]\n'


def forgetful(made: Desk) -> None:
    portal = made.target.portal
    portal.imports = Forgetful(portal.imports, LOSSES)  # type: ignore[assignment]


def test_a_start_shows_the_list_and_wants_a_tick(browser: Browser, tmp_path: Path) -> None:
    with desk(tmp_path, more=PEOPLE) as made, watched(browser, made) as watch:
        forgetful(made)
        watch.go("/")
        watch.page.get_by_role("button", name="Start", exact=True).click()
        dialog = watch.page.get_by_role("dialog")
        expect(dialog).to_contain_text("WORK_PHONE", timeout=LONG_MS)
        dialog.get_by_role("button", name="Start", exact=True).click()
        expect(dialog).to_be_visible()  # not without the tick
        dialog.get_by_label(words("en")("fidelity.tick")).check()
        dialog.get_by_role("button", name="Start", exact=True).click()
        wait_for(watch.page, words("en")("page.verdict.done"))
        assert made.ask("/fidelity")["list"]["accepted"]["by"] == "the dashboard"
        watch.go("/fidelity")
        expect(watch.page.locator("main")).to_contain_text("Accepted by the dashboard")
        assert watch.stumbles() == []


def test_the_page_is_whole_in_every_language_and_width(
    browser: Browser, tmp_path: Path, photograph: Photograph
) -> None:
    with desk(tmp_path, more=PEOPLE) as made:
        forgetful(made)
        for accepted in (False, True):
            for language in LANGUAGES:
                with watched(browser, made, locale=language, viewport=DESK) as watch:
                    watch.go("/fidelity")
                    for kind, size in (("desk", DESK), ("phone", PHONE)):
                        watch.page.set_viewport_size(size)  # type: ignore[arg-type]
                        assert watch.stumbles() == []
                        assert watch.wider_than_the_screen() == 0
                        photograph(watch.page, f"fidelity-{language}-{accepted}-{kind}")
                    assert "[object" not in watch.page.inner_text("main")
                    assert "No telephones." in watch.page.inner_text("main")
                    assert language == "en" or english_left(watch.page) == []
                    if not accepted and language == LANGUAGES[-1]:
                        watch.page.get_by_role("button", name=words(language)("fidelity.tick")).click()
                        expect(watch.page.locator("#result")).to_contain_text(words(language)("web.fidelity_accepted"))
