"""A migration, begun on the page and watched there to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect
from tests.browser.front_page import LONG_MS, click, press, verdict, wait_for
from tests.browser.page_watch import watched
from tests.browser.server import SMALL, TALK, Desk, desk

SLOW = (*SMALL, "--messages", "240", "--chats", "8", "--latency", "0.2")
SLOW_BOX = ("--latency", "0.1")
WATCH = """() => {
  const figure = (name) => document.querySelector(`[data-figure=${name}] .figure-value`)?.textContent ?? "";
  const cell = (row, column) => document.querySelector(`[data-entity-row=${row}] [data-column=${column}]`)?.innerText ?? "";
  window.told = [];
  new MutationObserver(() => {
    const now = [figure("share"), cell("chats", "read"), cell("chats", "imported")].map((text) => Number(text.replace(/\\D/g, "")));
    if (String(now) !== String(window.told.at(-1))) window.told.push(now);
  }).observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });
}"""


def streams_of(made: Desk, entity: str) -> list[Any]:
    return next(list(one["streams"]) for one in made.ask("/overview")["entities"] if one["name"] == entity)


def test_a_migration_is_started_paused_resumed_and_watched_to_its_end(browser: Browser, tmp_path: Path) -> None:
    with desk(tmp_path, SLOW, SLOW_BOX, more=TALK) as made, watched(browser, made) as watch:
        page = watch.page
        watch.go("/")
        expect(verdict(page)).to_have_text("Not started")
        page.evaluate(WATCH)
        click(page, "Start", "Start")
        wait_for(page, "Running")
        expect(page.locator("#result")).to_contain_text("Run: running")

        click(page, "Pause", "Pause")
        wait_for(page, "Paused")
        assert made.ask("/overview")["run"]["state"] == "paused"
        expect(page.get_by_role("button", name="Pause", exact=True)).to_have_count(0)
        click(page, "Resume", "Resume")
        wait_for(page, "Running")

        wait_for(page, "Completed")
        expect(page.locator("[data-figure=share] .figure-value")).to_have_text("100%")
        expect(page.locator("[data-figure=left] .figure-value")).to_have_text("finished")
        answer = page.evaluate("window.told")  # the same document still: nothing was loaded again
        assert len({tuple(one) for one in answer}) >= 4, answer
        for place in range(3):  # nothing that was told is taken back
            numbers = [one[place] for one in answer]
            assert numbers == sorted(numbers), answer
        assert answer[-1][2] == sum(one["imported"] for one in streams_of(made, "chats")) > 0
        assert page.locator("#chart svg .line").count() == 2
        page.get_by_text("The chart as a table").click()
        assert page.locator("#chart-rows tbody tr").count() >= 1


def test_everything_can_be_done_by_keyboard_alone(browser: Browser, tmp_path: Path) -> None:
    with desk(tmp_path, SLOW, SLOW_BOX, more=TALK) as made, watched(browser, made) as watch:
        page = watch.page
        watch.go("/")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"

        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        for _ in range(12):  # the focus cannot leave the question
            page.keyboard.press("Tab")
            outside = "document.activeElement !== document.body && !document.activeElement.closest('dialog')"
            assert not page.evaluate(outside)
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert page.evaluate("document.activeElement.textContent") == "Start"
        assert made.ask("/overview")["run"] is None  # nothing was begun

        press(page, "Start")
        wait_for(page, "Running")
        press(page, "Pause")
        wait_for(page, "Paused")
        press(page, "Resume")
        wait_for(page, "Running", "Completed")
        page.keyboard.press("Shift+Tab")
        made.wait_for("done")
        wait_for(page, "Completed")


def test_an_analysis_is_begun_on_its_page_and_appears_there(browser: Browser, tmp_path: Path) -> None:
    with desk(tmp_path) as made, watched(browser, made) as watch:
        page = watch.page
        watch.go("/analysis")
        expect(page.locator("#analysis")).to_contain_text("No forecast yet")
        click(page, "Make a forecast", "Start")
        expect(page.locator("#analysis")).to_contain_text("Migration time", timeout=LONG_MS)
        expect(page.locator("[data-entity=chats] .bar-picture")).to_have_count(1)
        expect(page.locator("#analysis")).to_contain_text("im.recent.list")
