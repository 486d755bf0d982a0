"""Every page in both languages, both themes, on a desk and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser
from tests.browser.conftest import Photograph
from tests.browser.language import english_left
from tests.browser.page_watch import Watched, watched
from tests.browser.server import Desk

from b24migrate.entities import catalog
from b24migrate.messages import LANGUAGES, words

PAGES = {
    "front": "/",
    "errors": "/errors",
    "findings": "/findings",
    "conflicts": "/conflicts",
    "cutover": "/cutover",
    "search": "/search?q=ова",
    "record": "/records/users/3",
    "different-record": "/records/groups/2",
    "failed-record": "/records/users/12",
    "analysis": "/analysis",
    "api": "/api",
    "login": "/login",
    "nothing": "/no/such/page",
}
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
# Each two of a language, a theme and a width meet on every page.
LOOKS = {
    "en": (("desk", DESK, "light"), ("phone", PHONE, "dark")),
    "ru": (("desk", DESK, "dark"), ("phone", PHONE, "light")),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_is_whole_in_every_language_theme_and_width(
    language: str, browser: Browser, finished: Desk, photograph: Photograph
) -> None:
    with watched(browser, finished, locale=language, viewport=DESK) as watch:
        watch.expected = ("/no/such/page",)
        for name, path in PAGES.items():
            watch.page.set_viewport_size(DESK)  # type: ignore[arg-type]
            watch.go(path)
            for opener in watch.page.locator(".opener").all():
                opener.click()
            for kind, size, theme in LOOKS[language]:
                watch.page.set_viewport_size(size)  # type: ignore[arg-type]
                watch.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
                assert watch.stumbles() == [], f"{name}, {kind}, {theme}"
                assert watch.wider_than_the_screen() == 0, f"{name}, {kind}"
                photograph(watch.page, f"{name}-{language}-{theme}-{kind}")
            _speaks(watch, language)
            assert watch.broken_rules() == [], name


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_menu_takes_one_line_on_a_desk(
    language: str, browser: Browser, finished: Desk, photograph: Photograph
) -> None:
    """Also with the number of conflicts that wait for a decision, and with the longest name of a theme."""
    with watched(browser, finished, locale=language, viewport=DESK) as watch:
        for name in ("front", "findings", "fidelity"):
            watch.go(PAGES.get(name, f"/{name}"))
            for theme in ("system", "light", "dark"):
                assert watch.page.evaluate(LINES, theme) == 1, f"{name}, {theme}"
        photograph(watch.page, f"menu-{language}")


LINES = """(theme) => {
  const count = document.querySelector("#undecided");
  count.hidden = false;
  count.textContent = "128";
  const button = document.querySelector("#theme");
  button.textContent = button.dataset[theme];
  const menu = document.querySelector(".top nav");
  const apart = document.querySelector(".switches").getBoundingClientRect().top >= menu.getBoundingClientRect().bottom;
  return new Set([...menu.querySelectorAll("li")].map((one) => one.offsetTop)).size + apart;
}"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_longest_names_of_entities_fit_on_a_desk(language: str, browser: Browser, finished: Desk) -> None:
    names = [words(language).named("entity", one.name) for one in catalog().entities]
    with watched(browser, finished, locale=language, viewport=DESK) as watch:
        watch.go("/")
        for width in (1280, 1152, 1024):
            watch.page.set_viewport_size({"width": width, "height": 900})
            assert watch.page.evaluate(NAMED, sorted(names, key=len, reverse=True)) == 0, width


NAMED = """(names) => {
  [...document.querySelectorAll(".entities .opener span")].forEach((one, at) => { one.textContent = names[at]; });
  return document.documentElement.scrollWidth - document.documentElement.clientWidth;
}"""


def _speaks(watch: Watched, language: str) -> None:
    assert watch.page.evaluate("document.documentElement.lang") == language
    shown = watch.page.evaluate("document.body.innerText") + watch.page.title()
    keys = [key for key in words("en").topic("page") if "." in key and key in shown.split()]
    assert keys == []
    assert "undefined" not in shown
    assert "[object" not in shown
    assert "NaN" not in shown
    if language != "en":
        assert english_left(watch.page) == []


def test_the_two_languages_of_a_page_say_different_things(browser: Browser, finished: Desk) -> None:
    with watched(browser, finished) as watch:
        watch.go("/")
        assert watch.page.get_by_role("heading", level=1).inner_text() == words("en")("page.verdict.findings")
        watch.page.get_by_role("link", name="RU").click()
        watch.settle()
        assert watch.page.get_by_role("heading", level=1).inner_text() == words("ru")("page.verdict.findings")
        watch.go("/errors")  # the choice is remembered, whatever the browser prefers
        assert watch.page.get_by_role("heading", level=1).inner_text() == words("ru")("page.errors.head")


def test_the_theme_follows_the_system_until_another_is_chosen(browser: Browser, finished: Desk) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    with watched(browser, finished, color_scheme="light") as watch:
        watch.go("/errors")
        light = watch.page.evaluate(background)
        watch.page.emulate_media(color_scheme="dark")
        dark = watch.page.evaluate(background)
        assert dark != light
        watch.page.get_by_role("button", name="Theme: auto").click()
        assert watch.page.evaluate(background) == light
        watch.go("/findings")
        assert watch.page.evaluate(background) == light
        watch.page.get_by_role("button", name="Theme: light").click()
        assert watch.page.evaluate(background) == dark


def test_on_paper_stands_what_is_known_without_what_is_clicked(
    browser: Browser, finished: Desk, photograph: Photograph
) -> None:
    with watched(browser, finished) as watch:
        watch.go("/")
        watch.page.emulate_media(media="print", color_scheme="dark")
        assert watch.page.locator("#verdict").is_visible()
        assert not watch.page.locator("header nav").is_visible()
        assert not watch.page.locator("#actions button").first.is_visible()
        assert (
            watch.page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
            == "rgb(255, 255, 255)"
        )
        photograph(watch.page, "front-en-paper")
