"""A page that changes all the time lets go of nothing that somebody holds, and says when it has lost sight."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.browser.front_page import LONG_MS, verdict
from tests.browser.page_watch import watched
from tests.browser.server import Desk, desk, served


def look_again(page: Page, times: int = 2) -> None:
    for _ in range(times):
        with page.expect_response("**/api/v1/overview*"):
            pass


def test_looking_again_closes_nothing_moves_nothing_and_takes_no_focus(browser: Browser, finished: Desk) -> None:
    with watched(browser, finished) as watch:
        page = watch.page
        watch.go("/")
        page.get_by_text("The chart as a table").click()
        opener = page.locator("[data-entity=chats]")
        opener.click()
        expect(page.locator("#streams-chats")).to_be_visible()
        opener.focus()
        page.mouse.wheel(0, 300)
        where = "[scrollY, document.activeElement.dataset.entity]"
        look_again(page, 1)
        before = page.evaluate(where)
        look_again(page)
        assert page.evaluate(where) == before
        assert before[1] == "chats"
        expect(page.locator("#streams-chats")).to_be_visible()
        assert page.locator("#chart-table").get_attribute("open") is not None
        page.keyboard.press("Enter")
        expect(page.locator("#streams-chats")).to_have_count(0)


def test_a_server_that_is_away_is_said_and_old_numbers_look_old(browser: Browser, tmp_path: Path) -> None:
    with desk(tmp_path) as made, watched(browser, made) as watch:
        watch.expected = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "401")
        page = watch.page
        watch.go("/")
        expect(verdict(page)).to_have_text("Not started")
        port = made.url.rpartition(":")[2]
        assert made.served is not None
        made.served.terminate()
        made.served.wait(60)
        expect(page.locator("#connection")).to_contain_text("No connection since", timeout=LONG_MS)
        expect(verdict(page)).to_have_text("No connection")
        expect(page.locator("#sentence")).to_contain_text("old")
        assert page.evaluate("document.documentElement.hasAttribute('data-stale')")
        assert watch.stumbles() == []
        with served(made, "--port", port):  # with another token: the session has ended
            expect(page.get_by_role("button", name="Sign in")).to_be_enabled(timeout=LONG_MS)
            page.get_by_label("Token").fill(made.token)
            page.keyboard.press("Enter")
            expect(verdict(page)).to_have_text("Not started", timeout=LONG_MS)
            expect(page.locator("#connection")).to_be_hidden()
            assert not page.evaluate("document.documentElement.hasAttribute('data-stale')")


def test_enter_before_the_script_of_the_login_has_come_sends_nothing(browser: Browser, tmp_path: Path) -> None:
    with desk(tmp_path) as made, watched(browser, made, stranger=True) as watch:
        page = watch.page
        kept: list[Route] = []
        # Chromium reports an autofocus that comes after the field was filled.
        watch.expected = ("401", "Autofocus processing was blocked")
        page.route("**/login.js", lambda route: kept.append(route))  # noqa: PLW0108
        page.goto(f"{made.url}/login?next=%2Ferrors", wait_until="commit")
        page.get_by_label("Token").fill(made.token)
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Sign in")).to_be_disabled()
        kept[0].continue_()
        page.get_by_role("button", name="Sign in").click()
        expect(page).to_have_url(f"{made.url}/errors")


def test_a_token_opens_the_door(browser: Browser, tmp_path: Path) -> None:
    token = "a-token-that-is-long-enough"
    (tmp_path / "token").write_text(token)
    with desk(tmp_path, serving=("--token", f"file:{tmp_path / 'token'}")) as made:
        with watched(browser, made, stranger=True) as watch:
            watch.expected = ("401",)
            page = watch.page
            page.goto(f"{made.url}/errors")
            expect(page).to_have_url(f"{made.url}/login?next=%2Ferrors")
            expect(page.get_by_role("button", name="Sign in")).to_be_enabled()
            page.get_by_label("Token").fill("wrong, wrong, wrong, wrong")
            page.keyboard.press("Enter")
            expect(page.get_by_role("alert")).not_to_be_empty()
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Sign in").click()
            expect(page).to_have_url(f"{made.url}/errors")
            (cookie,) = (one for one in page.context.cookies() if one["name"] != "b24migrate_language")
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_label("Token")).to_be_visible()
            page.context.add_cookies([cookie])  # type: ignore[list-item] # a copy that somebody kept
            page.goto(f"{made.url}/errors")
            expect(page.get_by_label("Token")).to_be_visible()
        with watched(browser, made, stranger=True) as watch:
            watch.page.goto(f"{made.url}/login#{token}")
            expect(verdict(watch.page)).to_have_text("Not started")
            assert token not in watch.page.url


def test_the_link_that_serve_prints_opens_the_dashboard(browser: Browser, tmp_path: Path) -> None:
    with desk(tmp_path) as made, watched(browser, made, stranger=True) as watch:
        watch.page.goto(f"{made.url}/login#{made.token}")
        expect(verdict(watch.page)).to_have_text("Not started")
        assert made.token not in watch.page.url


@pytest.mark.parametrize(
    "way",
    [
        "/.//evil.example/",
        "/..//evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "/\t/evil.example/",
        "/%2e//evil.example/",
        "https://evil.example/",
        "javascript:alert(1)",
        "evil.example",
        "/errors/../../search",
        "",
    ],
)
def test_after_the_login_nobody_is_sent_elsewhere(browser: Browser, finished: Desk, way: str) -> None:
    with watched(browser, finished, stranger=True) as watch:
        watch.page.goto(f"{finished.url}/login?next={quote(way, safe='')}#{finished.token}")
        expect(watch.page).to_have_url(f"{finished.url}/")
        watch.settle()


def test_after_the_login_one_is_where_one_wanted_to_be(browser: Browser, finished: Desk) -> None:
    with watched(browser, finished, stranger=True) as watch:
        wanted = "/search?q=%D0%BE%D0%B2%D0%B0"
        watch.page.goto(f"{finished.url}/login?next={quote(wanted, safe='')}#{finished.token}")
        expect(watch.page).to_have_url(finished.url + wanted)
        watch.settle()
