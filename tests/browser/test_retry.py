"""What failed is shown with what to do, and tried again by a button."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.browser.front_page import LONG_MS, wait_for
from tests.browser.page_watch import watched
from tests.browser.server import SMALL, TALK, desk


def refuses(key: str) -> dict[str, object]:
    return {"method": "import.groups.batch", "item": {"key": key, "code": "VALIDATION"}}


def test_a_record_that_failed_is_shown_with_its_fix_and_retried_by_the_button(browser: Browser, tmp_path: Path) -> None:
    with desk(tmp_path, SMALL, more=TALK) as made, watched(browser, made) as watch:
        group = min(made.source.portal.company.groups.ids)
        made.strike_box(refuses(f"source:groups:{group}"))
        assert made.command("run").returncode == 5
        page = watch.page
        watch.go("/")
        wait_for(page, "Completed with issues")
        front = page.locator("#errors article[data-code=VALIDATION]")
        expect(front).to_contain_text("What to do:")

        watch.go("/errors")
        shown = page.locator("article[data-code=VALIDATION]")
        expect(shown).to_contain_text("Groups")
        expect(shown).to_contain_text("What to do:")
        shown.get_by_role("link", name=str(group), exact=True).click()
        watch.settle()
        expect(page.locator("[data-verdict=failed]")).to_contain_text("Not imported")
        expect(page.locator(".trouble")).to_contain_text("What to do:")

        made.strike_box()  # somebody has repaired the box
        watch.go("/errors")
        shown = page.locator("article[data-code=VALIDATION]")
        shown.get_by_role("button", name="Retry").click()
        expect(page.get_by_role("dialog")).to_contain_text("VALIDATION")
        page.get_by_role("dialog").get_by_role("button", name="Retry").click()
        expect(page.locator("#result")).to_contain_text("Failed records are queued again")
        expect(shown).to_have_count(0, timeout=LONG_MS)
        made.wait_for("done", "findings")
        # The members of the group failed with it, and are sent again when it has arrived.
        expect(page.locator("article[data-code=REFERENCE_MISSING]")).to_have_count(0, timeout=LONG_MS)
        expect(page.locator("#groups")).to_contain_text("No errors", timeout=LONG_MS)
        made.wait_for("done")
        watch.go(f"/records/groups/{group}")
        expect(page.locator(".verdict-card")).to_contain_text("Equal")
        assert made.ask(f"/records/groups/{group}")["status"] == "IMPORT_OK"


def test_dead_letters_are_listed_and_retried_from_the_front_page(browser: Browser, tmp_path: Path) -> None:
    with desk(tmp_path, SMALL, more='[run]\nentities = ["users"]\n') as made, watched(browser, made) as watch:
        made.strike_cloud({"method": "department.get", "kind": "error", "code": "SOMETHING_STRANGE"})
        assert made.command("run").returncode == 4
        page = watch.page
        watch.go("/errors")
        expect(page.get_by_role("heading", name="Failed jobs")).to_be_visible()
        expect(page.locator("#letters")).to_contain_text("SOMETHING_STRANGE")
        made.strike_cloud()  # it is well again
        watch.go("/")
        wait_for(page, "Stopped")
        expect(page.locator("[data-key=letters] .door-count")).not_to_have_text("0")
        page.locator("[data-key=letters]").get_by_role("button", name="Retry failed records").click()
        page.get_by_role("dialog").get_by_role("button", name="Retry").click()
        wait_for(page, "Completed")
        expect(page.locator("[data-key=letters] .door-count")).to_have_text("0")
