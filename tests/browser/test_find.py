"""One box finds a record, and its page says how it stands, field by field."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, expect
from tests.browser.page_watch import watched
from tests.browser.server import Desk

USER = "3"


def person(made: Desk) -> dict[str, str]:
    row = made.source.portal.company.users.row(int(USER))
    return {"id": USER, "title": str(row["LAST_NAME"]), "email": str(row["EMAIL"])}


def test_a_record_is_found_and_opened_by_its_id_title_and_email(browser: Browser, finished: Desk) -> None:
    known = person(finished)
    with watched(browser, finished) as watch:
        page = watch.page
        for text in known.values():
            watch.go("/search")
            assert page.evaluate("document.activeElement.id") == "q"
            page.keyboard.type(text)
            page.keyboard.press("Enter")
            expect(page.locator("#looked")).to_have_text(re.compile(r"^Found: \d+\. Records searched: [\d,]+\.$"))
            expect(page.locator(f'#hits a[href="/records/users/{USER}"]')).to_contain_text(known["title"])
        page.locator(f'#hits a[href="/records/users/{USER}"]').click()
        expect(page).to_have_url(re.compile(rf"/records/users/{USER}$"))
        expect(page.get_by_role("heading", level=1)).to_contain_text(known["title"])

        watch.go("/search?q=nobody-is-called-so")
        expect(page.locator("#looked")).to_contain_text("Nothing found")
        expect(page.locator("#stop")).to_be_hidden()


def test_a_records_page_shows_three_sides_and_a_verdict_for_each_field(browser: Browser, finished: Desk) -> None:
    with watched(browser, finished) as watch:
        page = watch.page
        watch.go(f"/records/users/{USER}")
        expect(page.locator(".verdict-card")).to_contain_text("Equal")
        row = page.locator("[data-field=EMAIL]")
        expect(row).to_contain_text("equal")
        assert row.locator("td").all_inner_texts()[1:] == [person(finished)["email"]] * 3
        departments = page.locator("[data-field=UF_DEPARTMENT]")
        expect(departments).to_contain_text("ID mapped")
        departments.get_by_role("link").first.click()
        watch.settle()
        expect(page.locator(".crumbs")).to_contain_text("Departments")


def test_a_record_that_cannot_be_asked_for_again_is_compared_with_the_saved_copy(
    browser: Browser, finished: Desk
) -> None:
    groups = finished.source.portal.company.groups
    owner = groups.row(groups.ids[0])["OWNER_ID"]
    with watched(browser, finished) as watch:
        watch.go(f"/records/group_members/{groups.ids[0]}:{owner}")
        expect(watch.page.locator(".verdict-card")).to_contain_text("the saved copy is shown")


def test_differences_come_first_and_can_be_shown_alone(browser: Browser, finished: Desk) -> None:
    before = finished.source.portal.company.users.row(4)["PERSONAL_CITY"]
    finished.change("users", id=4, fields={"PERSONAL_CITY": "Changed after"})
    try:
        with watched(browser, finished) as watch:
            page = watch.page
            watch.go("/records/users/4")
            expect(page.locator(".verdict-card")).to_contain_text("Differs")
            first = page.locator(".fields tbody tr").first
            expect(first).to_contain_text("PERSONAL_CITY")
            expect(first).to_contain_text("Changed after")
            expect(first).to_contain_text("differs")
            page.get_by_label("Only differences (1)").check()
            assert page.locator(".fields tbody tr:visible").count() == 1
    finally:
        finished.change("users", id=4, fields={"PERSONAL_CITY": before})
