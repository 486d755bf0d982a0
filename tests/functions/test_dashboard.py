"""The dashboard as a function: the same pages and API, with a token, and what is begun there goes onto the queue."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import azure.functions as func
import pytest
from tests.functions.host import Host

from b24migrate.functions import dashboard
from b24migrate.functions.dashboard import StoredLogouts
from b24migrate.web.auth import Sessions

TOKEN = "a-token-for-the-functions-77"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
MARKED = {"X-B24migrate": "1", "Content-Type": "application/json", "Host": "app.example"}


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(host: Host, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b"") -> Reply:
    """As the host does: the whole address, and the headers as they came. In a thread of its own, since a browser of
    other tests may keep a loop in this one."""
    sent = {"Host": "app.example", **(headers or {})}
    request = func.HttpRequest(method, f"https://app.example{path}", headers=sent, body=body)
    with ThreadPoolExecutor(1) as own:
        answer = host.one.functions["dashboard"]
        reply = own.submit(lambda: asyncio.run(answer(req=request, context=None))).result()
    return Reply(reply.status_code, {name.lower(): value for name, value in reply.headers.items()}, reply.get_body())


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("B24MIGRATE_DASHBOARD_TOKEN", "env:WHERE_THE_TOKEN_IS")
    monkeypatch.setenv("WHERE_THE_TOKEN_IS", TOKEN)


def test_without_a_token_there_is_no_dashboard(host: Host) -> None:
    reply = ask(host, "GET", "/")
    assert reply.status == 404
    assert "B24MIGRATE_DASHBOARD_TOKEN" in reply.json["hint"]


@pytest.mark.parametrize("message", ["short", "env:NO_SUCH_VARIABLE", "keyvault:dashboard-token"])
def test_a_token_that_cannot_be_used_is_told(host: Host, monkeypatch: pytest.MonkeyPatch, message: str) -> None:
    monkeypatch.setenv("B24MIGRATE_DASHBOARD_TOKEN", message)
    reply = ask(host, "GET", "/api/v1/overview")
    assert (reply.status, reply.json["code"]) == (404, "DASHBOARD_OFF")


@pytest.mark.usefixtures("token")
def test_who_has_the_token_sees_it(host: Host) -> None:
    assert ask(host, "GET", "/api/v1/overview").status == 401
    assert ask(host, "GET", "/", {"Accept": "text/html"}).status == 303
    data = ask(host, "GET", "/api/v1/overview", BEARER).json
    assert data["now"]["verdict"] == "no_run"
    assert "start" in data["can"]
    assert "analyze" not in data["can"]
    page = ask(host, "GET", "/", {**BEARER, "Accept": "text/html"})
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert ask(host, "GET", "/static/icon.svg").status == 200
    assert ask(host, "GET", "/%ff%fe", BEARER).status == 404


@pytest.mark.usefixtures("token")
def test_a_cookie_of_one_instance_is_good_for_all(host: Host) -> None:
    body = json.dumps({"token": TOKEN}).encode()
    cookie = ask(host, "POST", "/api/v1/login", MARKED, body).headers["set-cookie"]
    assert "Secure" in cookie
    mine = {"Cookie": cookie.partition(";")[0]}
    assert ask(host, "GET", "/api/v1/session", mine).status == 200
    sessions = Sessions.shared(TOKEN, StoredLogouts(host.one.keeper))  # another instance's
    assert sessions.is_signed_in({"cookie": mine["Cookie"]}, "")


@pytest.mark.usefixtures("token")
def test_a_logout_on_one_instance_ends_the_session_on_all(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps({"token": TOKEN}).encode()
    mine, another = (
        {"Cookie": ask(host, "POST", "/api/v1/login", MARKED, body).headers["set-cookie"].partition(";")[0]}
        for _ in range(2)
    )
    elsewhere = Sessions.shared(TOKEN, StoredLogouts(host.one.keeper))
    assert elsewhere.is_signed_in({"cookie": mine["Cookie"]}, "")
    assert ask(host, "POST", "/api/v1/logout", {**MARKED, **mine}, b"{}").status == 200
    assert ask(host, "GET", "/api/v1/session", mine).status == 401
    monkeypatch.setattr(dashboard, "LOOKED_S", 0.0)  # it does not ask the store at every request
    assert not elsewhere.is_signed_in({"cookie": mine["Cookie"]}, "")
    assert ask(host, "GET", "/api/v1/session", another).status == 200


@pytest.mark.usefixtures("token")
def test_what_is_begun_on_the_page_is_done_by_messages(host: Host) -> None:
    headers = {**MARKED, **BEARER}
    assert ask(host, "POST", "/api/v1/run", {**headers, "Origin": "https://evil.example"}, b"{}").status == 403
    wish = json.dumps({"entities": ["users"], "phases": ["get"]}).encode()
    reply = ask(host, "POST", "/api/v1/run", headers, wish)
    assert reply.status == 202, reply.body
    again = ask(host, "POST", "/api/v1/run", headers, wish)
    assert (again.status, again.json["code"]) == (409, "RUN_UNDER_WAY")
    assert ask(host, "POST", "/api/v1/pause", headers, b"{}").status == 202
    assert ask(host, "GET", "/api/v1/overview", BEARER).json["now"]["verdict"] == "paused"
    assert ask(host, "POST", "/api/v1/resume", headers, b"{}").status == 202
    host.run()
    data = ask(host, "GET", "/api/v1/overview", BEARER).json
    assert data["run"]["entities"] == ["users"]
    people = next(one for one in data["entities"] if one["name"] == "users")["streams"]
    assert sum(one["staged"] for one in people) > 0


@pytest.mark.usefixtures("token")
@pytest.mark.parametrize("me", ["198.51.100.7:4711", "198.51.100.7", "[2001:db8::7]:4711", "2001:db8::7"])
def test_who_guesses_locks_out_only_himself(host: Host, me: str) -> None:
    wrong = {"Authorization": "Bearer not-the-token-at-all"}
    tries = [ask(host, "GET", "/api/v1/session", {**wrong, "X-Forwarded-For": f"10.0.0.{n}, {me}"}) for n in range(8)]
    assert [one.status for one in tries] == [401] * 5 + [429] * 3
    assert ask(host, "GET", "/api/v1/session", {**BEARER, "X-Forwarded-For": me}).status == 429
    assert ask(host, "GET", "/api/v1/session", {**BEARER, "X-Forwarded-For": f"{me}, 203.0.113.9:1"}).status == 200
