"""Actions on the front page, by mouse or by keyboard only."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

LONG_MS = 90_000
TABS = 80
WHERE = """() => {
  const element = document.activeElement;
  return element && element !== document.body ? (element.ariaLabel || element.textContent || element.id || "").trim() : "";
}"""


def verdict(page: Page) -> Locator:
    return page.locator("#verdict")


def wait_for(page: Page, *words: str) -> None:
    expect(verdict(page)).to_have_text(re.compile(f"^({'|'.join(map(re.escape, words))})$"), timeout=LONG_MS)


def click(page: Page, button: str, confirm: str) -> None:
    page.get_by_role("button", name=button, exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name=confirm, exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def tab_to(page: Page, name: str) -> None:
    """Only the Tab key."""
    for _ in range(TABS):
        if page.evaluate(WHERE) == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"The Tab key never came to {name!r}.")


def press(page: Page, button: str) -> None:
    """Waits for the button, activates it and confirms, by keyboard only."""
    expect(page.get_by_role("button", name=button, exact=True)).to_be_visible(timeout=LONG_MS)
    tab_to(page, button)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Enter")  # the confirming button has the focus
    expect(page.get_by_role("dialog")).to_have_count(0)
