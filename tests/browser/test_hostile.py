"""Data that wants to be more than data stays data, on every page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.browser import hostile
from tests.browser.conftest import Photograph
from tests.browser.page_watch import Watched, watched
from tests.browser.server import SMALL, Desk, desk

ENTITIES = '[run]\nuser_coverage = 0.1\nconflicts = "ask"\nentities = ["users", "groups", "crm_structure", "crm_companies", "chats"]\n'
STRANGERS = """() => [
  ...document.querySelectorAll("main script, main img, main iframe, main object, main embed, main link, main style, main base"),
  ...[...document.querySelectorAll("*")].filter((one) => [...one.attributes].some(({ name }) => name.startsWith("on") || name === "style")),
  ...[...document.querySelectorAll("[href], [src], [action]")].filter((one) =>
    ["href", "src", "action"].some((name) => /^\\s*(javascript|data|vbscript):/i.test(one.getAttribute(name) ?? ""))),
].map((one) => one.outerHTML.slice(0, 200))"""


@contextmanager
def poisoned(folder: Path) -> Iterator[tuple[Desk, dict[str, str]]]:
    with desk(folder, (*SMALL, "--bad-users", "1"), more=ENTITIES) as made:
        ids = hostile.poison(made)
        refused = {"key": f"source:groups:{ids['groups']}", "code": "VALIDATION"}
        made.strike_box({"method": "import.groups.batch", "item": refused})
        assert made.command("analyze").returncode == 0
        assert made.command("run").returncode == 5
        made.change("departments", id=int(ids["departments"]), fields={"NAME": hostile.BREAKOUT})
        made.edit_box("departments", ids["departments"], NAME=hostile.EVERYTHING[::-1])
        assert made.command("sync", "--entity", "users").returncode == 5
        yield made, ids


def test_hostile_data_is_shown_on_every_page_and_does_nothing(
    browser: Browser, tmp_path: Path, photograph: Photograph
) -> None:
    with poisoned(tmp_path) as (made, ids), watched(browser, made) as watch:
        ways = [
            "/",
            "/errors",
            "/findings",
            "/conflicts",
            "/analysis",
            "/search?q=hacked",
            f"/search?q={hostile.LONG[:100]}",
        ]
        ways += [f"/records/{stream}/{number}" for stream, number in ids.items()]
        for way in ways:
            watch.go(way)
            _is_harmless(watch, way)
        _is_written_out(watch, ids["groups"])
        photograph(watch.page, "hostile-record")
        _is_folded(watch, ids["users"])
        _is_harmless_report(watch)
        watch.go("/findings")
        assert hostile.BREAKOUT in watch.page.locator("#findings").inner_text()  # the finding that was provoked
        watch.go("/conflicts")
        assert hostile.BREAKOUT in watch.page.locator("#conflicts").inner_text()


def _is_harmless(watch: Watched, way: str) -> None:
    for opener in watch.page.locator(".opener").all():
        opener.click()
    assert watch.page.evaluate("window.hacked") is None, way
    assert watch.page.evaluate(STRANGERS) == [], way
    assert "\u202e" not in watch.page.evaluate("document.documentElement.textContent"), way
    assert watch.page.locator("header nav a").count() == 9, way  # the page is all there
    assert watch.page.get_by_role("heading", level=1).count() == 1, way
    assert watch.wider_than_the_screen() == 0, way


def _is_harmless_report(watch: Watched) -> None:
    watch.page.goto(f"{watch.url}/report")
    expect(watch.page.locator("#contents")).to_be_visible()
    assert watch.page.evaluate("window.hacked") is None
    assert watch.page.evaluate(STRANGERS) == []
    assert "\u202e" not in watch.page.evaluate("document.documentElement.textContent")
    assert "hacked" in watch.page.locator("main").inner_text()  # the names are shown as texts
    assert watch.wider_than_the_screen() == 0


def _is_written_out(watch: Watched, group: str) -> None:
    """Invisible characters, and those that change the text direction."""
    watch.go(f"/records/groups/{group}")
    name = str(watch.page.locator("[data-field=NAME]").text_content())
    for part in (hostile.SCRIPT, hostile.BRACES, r"\u202egnp.exe\u202c", r"nul\u0000bell\u0007escape\u001b[31m"):
        assert part in name


def _is_folded(watch: Watched, user: str) -> None:
    """A text of a megabyte is folded and shows its length."""
    watch.go(f"/records/users/{user}")
    field = watch.page.locator("[data-field=NAME]")
    assert "1\u202f000\u202f000 characters" in field.inner_text()
    assert len(watch.page.evaluate("document.body.textContent")) < 60_000
    field.locator("summary").first.click()
    assert "The first" in field.inner_text()
