"""A conflict is decided by a button, and by a table that was downloaded, filled in and loaded."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.browser.conftest import GROUP
from tests.browser.page_watch import watched
from tests.browser.server import Desk


def test_a_conflict_is_decided_by_button_and_by_table(browser: Browser, finished: Desk, tmp_path: Path) -> None:
    with watched(browser, finished) as watch:
        page = watch.page
        watch.go("/")
        expect(page.locator("#undecided")).to_contain_text("1")
        page.locator("[data-key=undecided] a").click()
        shown = page.locator(f"[data-record='groups {GROUP}']")
        for value in ("NAME", "Renamed in the cloud", "Renamed on the box"):
            expect(shown).to_contain_text(value)
        shown.get_by_role("button", name="Keep target version").click()
        expect(shown).to_contain_text("target version stays")
        expect(page.locator("#undecided")).to_be_hidden()

        page.locator("#show").select_option("all")
        expect(shown).to_be_visible()
        expect(page.locator("#download")).not_to_have_attribute("href", re.compile("undecided=true"))
        with page.expect_download() as kept:
            page.get_by_role("link", name="Download CSV").click()
        table = kept.value.path().read_text("utf-8-sig")
        assert f"groups,{GROUP},NAME," in table
        file = tmp_path / "decided.csv"
        changed = re.sub(rf"(groups,{GROUP},NAME,.*),target,", r"\1,source,", table)
        file.write_text(changed.replace(",", ";"), "utf-8")  # as a spreadsheet saves it
        page.locator("#file").set_input_files(file)
        expect(page.locator("#result")).to_contain_text("Decided: 1.")
        file.write_bytes("stream;source_id;decision\ngroups;Ж;source\n".encode("cp1251"))
        page.locator("#file").set_input_files(file)
        expect(page.locator("#result")).to_contain_text("not in UTF-8")
