"""The cutover by hand, on one page: rehearsed, frozen, finished, live, and who writes too late."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import Photograph
from tests.browser.page_watch import watched
from tests.browser.server import SMALL, desk

ENTITIES = '[run]\nentities = ["users"]\n'


def go(page: Page, button: str, *, tick: bool = False) -> None:
    page.locator("#next").get_by_role("button", name=button, exact=True).click()
    dialog = page.get_by_role("dialog")
    if tick:
        dialog.get_by_role("button", name=button, exact=True).click()
        expect(dialog).to_be_visible()  # what has to be confirmed is not confirmed yet
        dialog.get_by_role("checkbox").check()
    dialog.get_by_role("button", name=button, exact=True).click()


def is_done(page: Page, step: str) -> None:
    expect(page.locator(f"[data-step={step}]")).to_have_attribute("data-state", "done")


def test_an_admin_is_led_through_the_cutover(browser: Browser, tmp_path: Path, photograph: Photograph) -> None:
    with desk(tmp_path, SMALL, more=ENTITIES) as made, watched(browser, made) as watch:
        page = watch.page
        watch.go("/cutover")
        expect(page.locator("#next")).to_contain_text("Next: full pass")
        assert made.command("run").returncode == 0
        person = max(made.source.portal.company.users.ids)
        made.change("users", id=person, fields={"WORK_POSITION": "Changed before the rehearsal"})
        go(page, "Rehearse")
        is_done(page, "rehearsal")
        expect(page.locator("#forecast")).to_contain_text("Users")
        photograph(page, "cutover-rehearsed")
        made.change("users", id=person, fields={"WORK_POSITION": "Changed before the freeze"})
        go(page, "Start the freeze", tick=True)
        is_done(page, "freeze")
        page.locator("[data-step=freeze]").get_by_role("button", name="Undo").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        go(page, "Finish")
        is_done(page, "finish")
        expect(page.locator("#proof")).to_contain_text("found no changes")
        assert (tmp_path / "certificate.jsonl").is_file()
        photograph(page, "cutover-finished")
        go(page, "Go live", tick=True)
        is_done(page, "live")
        expect(page.locator("[data-act=undo]")).to_have_count(0)
        made.change("users", id=person, fields={"WORK_POSITION": "Too late"})
        page.locator("#next").get_by_role("button", name="Look for late changes").click()
        expect(page.locator("#late")).to_contain_text("unknown user")  # nothing tells who changed a user
        expect(page.locator("#deltas")).to_contain_text("Users 1")
        photograph(page, "cutover-live")
        assert made.ask("/pass")["last"]["report_only"]
        watch.go("/")
        expect(page.locator("#pass")).to_contain_text("Nothing was imported.")
