"""Only the token opens the dashboard, and whoever guesses it has to wait."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.web.attacks import CHANGES, bearer, signed_in
from tests.web.dashboard import MARKED, NOBODY, TOKEN, Desk, configured, dashboard

from b24migrate.model.errors import BadConfiguration
from b24migrate.web import auth
from b24migrate.web.auth import (
    SESSION_S,
    GuessLimit,
    Hosts,
    Sessions,
    check_token,
    guess_origin,
    host_name,
)
from b24migrate.web.context import Context
from b24migrate.web.responses import Refused


@pytest.fixture(scope="module")
def reachable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    config = configured(tmp_path_factory.mktemp("outside"), *NOBODY)
    with dashboard(config, hosts=Hosts("0.0.0.0"), stranger=True) as one:  # noqa: S104
        yield one


@pytest.fixture
def outside(reachable: Desk) -> Desk:
    """A dashboard that other machines can reach, before anybody has guessed."""
    reachable.context.sessions.patience = GuessLimit()
    return reachable


# ---------------------------------------------------------------- the token


@pytest.mark.parametrize("path", ["/api/v1/overview", "/api/v1/openapi.json", "/metrics", "/api/v1/nowhere"])
def test_without_the_token_nothing_is_told(outside: Desk, path: str) -> None:
    reply = outside.get(path)
    assert reply.status == 401
    assert reply.headers["www-authenticate"] == "Bearer"
    assert reply.code == "DASHBOARD_TOKEN"


@pytest.mark.parametrize("what", [one for one in CHANGES if one != "login"])
def test_without_the_token_nothing_is_done(outside: Desk, what: str) -> None:
    assert outside.post(what).status == 401


def test_who_wants_a_page_is_sent_to_the_door(outside: Desk) -> None:
    reply = outside.send("GET", "/errors?lang=ru", {"Accept": "text/html"})
    assert reply.status == 303
    assert reply.headers["location"] == "/login?next=%2Ferrors%3Flang%3Dru"
    assert outside.get("/login").status == 200
    assert outside.get("/static/icon.svg").status == 200


def test_the_token_opens_by_header_and_by_cookie(outside: Desk) -> None:
    assert outside.get("/api/v1/session", bearer(TOKEN)).status == 200
    reply = outside.post("login", {"token": TOKEN})
    assert reply.status == 200
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert "Path=/" in cookie
    assert TOKEN not in cookie
    assert outside.get("/api/v1/session", {"Cookie": cookie.partition(";")[0]}).status == 200
    farewell = outside.send("POST", "/api/v1/logout", {**MARKED, "Cookie": cookie.partition(";")[0]}, b"{}")
    assert "Max-Age=0" in farewell.headers["set-cookie"] or "expires" in farewell.headers["set-cookie"].lower()


def test_a_logout_ends_the_session_for_every_copy_of_its_cookie_and_no_other(outside: Desk) -> None:
    mine, another = signed_in(outside), signed_in(outside)
    assert mine != another
    assert outside.send("POST", "/api/v1/logout", {**MARKED, **mine}, b"{}").status == 200
    assert outside.get("/api/v1/session", mine).status == 401
    assert outside.get("/api/v1/session", another).status == 200


def test_a_session_ends_by_itself(outside: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = signed_in(outside)
    later = time.time() + SESSION_S + 1
    monkeypatch.setattr(auth, "time", SimpleNamespace(time=lambda: later, monotonic=time.monotonic))
    assert outside.get("/api/v1/session", mine).status == 401


def test_a_cookie_cannot_be_prolonged(outside: Desk) -> None:
    name, _, value = signed_in(outside)["Cookie"].partition("=")
    session, until, proof = value.split(".")
    for made_up in (
        f"{session}.{int(until) + 1}.{proof}",
        f"{session}x.{until}.{proof}",
        f"{session}.{until}",
        "..",
        "",
    ):
        assert outside.get("/api/v1/session", {"Cookie": f"{name}={made_up}"}).status == 401


def test_on_loopback_the_token_is_needed_as_well(tmp_path: Path) -> None:
    """Other users of the machine reach loopback too."""
    with dashboard(configured(tmp_path, *NOBODY), stranger=True) as desk:
        for path in ("/api/v1/session", "/api/v1/records/users/1", "/metrics"):
            assert desk.get(path).status == 401
        assert desk.post("run").status == 401
        assert desk.send("GET", "/", {"Accept": "text/html"}).headers["location"] == "/login?next=%2F"


def test_a_dashboard_that_is_given_no_token_makes_one() -> None:
    assert len(Context().sessions.token) >= 32
    assert Context().sessions.token != Context().sessions.token


# ---------------------------------------------------------------- what else opens


@pytest.mark.parametrize(
    "headers",
    [
        bearer("wrong"),
        bearer(TOKEN[:-1]),
        bearer(TOKEN + "x"),
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer"},
        {"Cookie": "b24migrate_00000000=1"},
        {"Cookie": '=;;;,="\\'},
    ],
    ids=str,
)
def test_anything_else_does_not_open(outside: Desk, headers: dict[str, str]) -> None:
    assert outside.get("/api/v1/session", headers).status == 401


def test_a_cookie_of_another_dashboard_does_not_open(outside: Desk) -> None:
    sessions = Sessions(TOKEN)
    assert outside.get("/api/v1/session", {"Cookie": f"{sessions.cookie_name}={sessions.new_cookie()}"}).status == 401
    ours = outside.context.sessions.cookie_name
    assert outside.get("/api/v1/session", {"Cookie": f"{ours}={sessions.new_cookie()}"}).status == 401


def test_who_guesses_has_to_wait_by_every_way(outside: Desk) -> None:
    outside.context.sessions.patience = GuessLimit(lambda: 0.0)  # time stands still
    for _ in range(5):
        assert outside.get("/api/v1/session", bearer("guess")).status == 401
    for reply in (outside.get("/api/v1/session", bearer(TOKEN)), outside.post("login", {"token": TOKEN})):
        assert reply.status == 429
        assert int(reply.headers["retry-after"]) >= 1


def test_patience_grows_ends_and_is_bounded() -> None:
    now = 0.0
    patience = GuessLimit(lambda: now)
    waits = []
    for _ in range(14):
        patience.wrong("a")
        try:
            patience.refuse("a")
            waits.append(0)
        except Refused as refused:
            waits.append(int(refused.headers["Retry-After"]))
    assert waits[:4] == [0, 0, 0, 0]
    assert waits[4:] == sorted(waits[4:])
    assert waits[-1] <= 61
    now = 100.0
    patience.refuse("a")
    for n in range(5000):
        patience.wrong(str(n))
    assert len(patience._wrong) == 1000


def test_neighbours_of_one_network_share_their_patience() -> None:
    assert guess_origin("2001:db8::1") == guess_origin("2001:db8::ffff")
    assert guess_origin("2001:db8::1") != guess_origin("2001:db8:1::1")
    assert guess_origin("10.0.0.1") != guess_origin("10.0.0.2")
    assert len(guess_origin("x" * 1000)) <= 64


def test_a_short_token_is_not_taken() -> None:
    with pytest.raises(BadConfiguration, match="shorter"):
        check_token("hunter2")


def test_a_latch_does_not_show_its_token() -> None:
    assert TOKEN not in repr(Sessions(TOKEN))


@pytest.mark.parametrize(
    ("host", "name"), [("a.example:80", "a.example"), ("[::1]:9", "::1"), ("A.", "a"), ("a b", ""), ("a/b", "")]
)
def test_the_name_in_a_host(host: str, name: str) -> None:
    assert host_name(host) == name
