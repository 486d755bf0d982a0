"""A page that is watched for errors, warnings, requests to other hosts and violations of its policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response, expect
from tests.browser.server import Desk

A11Y = (Path(__file__).parent / "a11y.js").read_text(encoding="utf-8")
BROKEN_RULES = """
addEventListener("securitypolicyviolation", (event) => {
  const said = `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile ?? ""}:${event.lineNumber}`;
  (window.brokenRules ??= []).push(said);
});
"""
LOADING = re.compile("Loading…|Загрузка…")
PATIENCE_MS = 120_000  # a busy machine needs it
expect.set_options(timeout=PATIENCE_MS)
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@dataclass
class Watched:
    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()  # parts of complaints that this very test provokes

    def listen(self) -> None:
        self.page.add_init_script(BROKEN_RULES)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)
        self.page.on("response", self._response)
        self.page.on("popup", lambda page: self.complaints.append(f"popup: {page.url}"))

    def _console(self, message: ConsoleMessage) -> None:
        self.complaints.append(f"console {message.type}: {message.text} {message.location.get('url', '')}")

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if request.url.startswith("data:"):
            return
        if urlsplit(request.url).netloc != urlsplit(self.url).netloc:
            self.complaints.append(f"request to another host: {request.url}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.complaints.append(f"{response.status}: {response.url}")

    def go(self, path: str) -> None:
        self.page.goto(self.url + path)
        self.settle()

    def settle(self) -> None:
        """Waits until no part of the page is loading."""
        expect(self.page.locator("main")).not_to_contain_text(LOADING)
        if not self.page.locator("#login").count():
            expect(self.page.locator("#where")).not_to_be_empty()

    def broken_rules(self) -> list[str]:
        return list(self.page.evaluate("window.brokenRules ?? []"))

    def wider_than_the_screen(self) -> int:
        return int(self.page.evaluate(WIDER))

    def stumbles(self) -> list[str]:
        return list(self.page.evaluate(A11Y))

    def assert_quiet(self) -> None:
        found = [one for one in self.complaints if not any(part in one for part in self.expected)]
        assert found == []
        assert self.broken_rules() == []


@contextmanager
def watched(browser: Browser, desk: Desk, *, stranger: bool = False, **options: Any) -> Iterator[Watched]:
    """For a signed-in user, or for a stranger. At the end the page must have had no errors."""
    context = browser.new_context(
        **{"viewport": {"width": 1280, "height": 800}, "locale": "en-US", "timezone_id": "Europe/Moscow", **options}
    )
    context.set_default_timeout(PATIENCE_MS)
    try:
        if not stranger:
            login = f"{desk.url}/api/v1/login"
            assert context.request.post(login, data={"token": desk.token}, headers={"X-B24migrate": "1"}).ok
        made = Watched(context.new_page(), desk.url)
        made.listen()
        yield made
        made.assert_quiet()
    finally:
        context.close()
