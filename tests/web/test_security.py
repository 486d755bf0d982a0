"""Every attack is a request that is refused, and changes nothing."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi.routing import APIRoute
from tests.web.desk import MARKED, NOBODY, TOKEN, Desk, Reply, configured, dashboard

from b24migrate.model.errors import BadConfiguration
from b24migrate.web import auth
from b24migrate.web.auth import (
    CSP,
    SESSION_S,
    WRONG_AT_ONCE,
    Doors,
    Latch,
    Patience,
    host_name,
    network,
    origin_of,
    usable,
)
from b24migrate.web.context import SECRETS_REMEMBERED, Context
from b24migrate.web.overview_cache import Eye
from b24migrate.web.responses import Refused
from b24migrate.web.routes_actions import acting

CHANGES = ("run", "pause", "resume", "retry", "analysis", "fidelity", "login", "logout")
EVERYWHERE = (
    "/",
    "/errors",
    "/api/v1/overview",
    "/api/v1/openapi.json",
    "/metrics",
    "/nowhere",
    "/api/v1/records/users/1",
)


@pytest.fixture(scope="module")
def reachable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    config = configured(tmp_path_factory.mktemp("outside"), *NOBODY)
    with dashboard(config, doors=Doors("0.0.0.0"), stranger=True) as one:  # noqa: S104
        yield one


@pytest.fixture
def outside(reachable: Desk) -> Desk:
    """A dashboard that other machines can reach, before anybody has guessed."""
    reachable.context.latch.patience = Patience()
    return reachable


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


# ---------------------------------------------------------------- other sites


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8724",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.7",
        "",
        "a@127.0.0.1",
        "127.0.0.1/",
        "[::1",
        "0",
        "2130706433",
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/v1/overview", "/static/icon.svg"])
def test_a_name_that_was_made_to_lead_here_is_refused(quiet: Desk, host: str, path: str) -> None:
    reply = quiet.send("GET", path, {"Host": host})
    assert reply.status in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "LOCALHOST:8724", "[::1]:80", "localhost."])
def test_loopback_by_any_of_its_names_is_served(quiet: Desk, host: str) -> None:
    assert quiet.send("GET", "/api/v1/session", {"Host": host}).status == 200


@pytest.mark.parametrize("second", ["evil.example", "localhost"])
def test_two_hosts_are_none(quiet: Desk, second: str) -> None:
    with socket.create_connection((quiet.host, quiet.port), timeout=120) as one:
        hosts = f"Host: localhost\r\nHost: {second}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        one.sendall(f"GET /api/v1/session HTTP/1.1\r\n{hosts}".encode())
        assert one.recv(100).split()[1] in (b"400", b"421")


def test_a_host_that_was_let_in_by_name_is_served_and_needs_the_token(tmp_path: Path) -> None:
    doors = Doors(more=frozenset({"migration.example"}))
    with dashboard(configured(tmp_path, *NOBODY), doors=doors, stranger=True) as quiet:
        name = {"Host": "migration.example"}
        assert quiet.send("GET", "/api/v1/session", name).status == 401
        assert quiet.send("GET", "/api/v1/session", {**name, **bearer(TOKEN)}).status == 200
        through_proxy = {**MARKED, **bearer(TOKEN), "Origin": "https://migration.example"}
        assert quiet.send("POST", "/api/v1/logout", through_proxy, b"{}").status == 200


FORGERIES = [
    ({"X-B24migrate": ""}, 403),
    ({"X-B24migrate": "0"}, 403),
    ({"Content-Type": "text/plain"}, 415),
    ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
    ({"Content-Type": ""}, 415),
    ({"Content-Type": "application/jsonp"}, 415),
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://127.0.0.1:1"}, 403),
    ({"Origin": "http://127.0.0.1"}, 403),
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Sec-Fetch-Site": "same-site"}, 403),
]


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize(("headers", "status"), FORGERIES, ids=str)
def test_a_change_that_another_site_could_have_sent_is_refused(
    quiet: Desk, what: str, headers: dict[str, str], status: int
) -> None:
    reply = quiet.send("POST", f"/api/v1/{what}", {**MARKED, **headers}, b"{}")
    assert reply.status == status
    assert reply.code in ("DASHBOARD_FORGED", "DASHBOARD_BODY")
    assert quiet.look("overview")["last_action"] is None


@pytest.mark.parametrize("missing", ["X-B24migrate", "Content-Type"])
def test_a_change_without_a_header_is_refused(quiet: Desk, missing: str) -> None:
    headers = {name: value for name, value in MARKED.items() if name != missing}
    assert quiet.send("POST", "/api/v1/run", headers, b"{}").status in (403, 415)


def test_every_route_that_changes_something_looks_for_forgeries(quiet: Desk) -> None:
    routes = [one for one in acting(quiet.context, Eye(quiet.context)).routes if isinstance(one, APIRoute)]
    assert sorted(one.path for one in routes) == sorted(f"/{name}" for name in CHANGES)
    for path, methods in quiet.look("openapi.json")["paths"].items():
        changing = set(methods) - {"get"}
        assert changing <= {"post"}
        assert not changing or path.removeprefix("/api/v1/") in CHANGES


FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize("path", ["/api/v1/records/users/1", "/api/v1/overview", "/api/v1/openapi.json", "/metrics"])
def test_a_page_of_another_site_cannot_even_look(quiet: Desk, path: str, headers: dict[str, str]) -> None:
    reply = quiet.get(path, headers)
    assert (reply.status, reply.code) == (403, "DASHBOARD_FORGED")


def test_a_link_on_another_site_leads_here(quiet: Desk) -> None:
    for path in ("/", "/login", "/errors"):
        assert quiet.get(path, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}).status == 200


def test_our_own_page_may_ask(quiet: Desk) -> None:
    assert quiet.get("/api/v1/session", {"Sec-Fetch-Site": "same-origin"}).status == 200
    assert quiet.get("/api/v1/session", {"Sec-Fetch-Site": "none"}).status == 200
    ours = {"Origin": quiet.url, "Sec-Fetch-Site": "same-origin"}
    assert quiet.post("pause", headers=ours).status == 409  # understood: there is only nothing to pause


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY", "NONSENSE"])
@pytest.mark.parametrize("path", ["/", "/api/v1/run", "/api/v1/overview", "/static/icon.svg"])
def test_no_other_method_does_anything(quiet: Desk, method: str, path: str) -> None:
    reply = quiet.send(method, path, MARKED, b"{}")
    assert reply.status in (400, 405)
    if reply.status == 405:
        assert set(reply.headers["allow"].split(", ")) <= {"GET", "HEAD", "POST"}
    assert not [name for name in reply.headers if name.startswith("access-control")]


def test_a_change_by_get_is_none(quiet: Desk) -> None:
    for what in CHANGES:
        if what not in ("analysis", "fidelity"):  # by GET they are looked at
            assert quiet.get(f"/api/v1/{what}").status == 405
    assert quiet.look("overview")["last_action"] is None


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


def signed_in(desk: Desk) -> dict[str, str]:
    reply = desk.post("login", {"token": TOKEN})
    return {"Cookie": reply.headers["set-cookie"].partition(";")[0]}


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
    assert len(Context().latch.token) >= 32
    assert Context().latch.token != Context().latch.token


# ---------------------------------------------------------------- a proxy

FORWARDED = [
    {"X-Forwarded-For": "203.0.113.9"},
    {"X-Forwarded-Proto": "https"},
    {"X-Forwarded-Host": "evil.example"},
    {"Forwarded": "for=203.0.113.9"},
]


@pytest.mark.parametrize("headers", FORWARDED, ids=str)
def test_forwarded_headers_without_a_proxy_are_refused(quiet: Desk, headers: dict[str, str]) -> None:
    reply = quiet.get("/api/v1/session", headers)
    assert (reply.status, reply.code) == (400, "DASHBOARD_FORWARDED")
    assert quiet.get("/login", headers).status == 400


def proxied(tmp_path: Path, *addresses: str) -> AbstractContextManager[Desk]:
    doors = Doors(more=frozenset({"migration.example"}), proxies=tuple(map(network, addresses)))
    return dashboard(configured(tmp_path, *NOBODY), doors=doors, stranger=True)


def test_behind_https_the_cookie_is_only_for_https(tmp_path: Path) -> None:
    with proxied(tmp_path) as desk:
        reply = desk.post("login", {"token": TOKEN}, {"X-Forwarded-Proto": "https"})
        assert "Secure" in reply.headers["set-cookie"]
        assert "Secure" not in desk.post("login", {"token": TOKEN}).headers["set-cookie"]


def test_only_the_proxy_that_was_named_may_forward(tmp_path: Path) -> None:
    with proxied(tmp_path, "10.0.0.0/24") as desk:
        assert desk.get("/login", {"X-Forwarded-For": "203.0.113.9"}).status == 400
        assert desk.get("/login").status == 200
    with proxied(tmp_path, "10.0.0.0/24", "127.0.0.1") as desk:
        assert desk.get("/login", {"X-Forwarded-For": "203.0.113.9"}).status == 200
    with pytest.raises(BadConfiguration, match="not an address"):
        network("migration.example")


def test_who_guesses_through_a_proxy_cannot_make_up_his_address(tmp_path: Path) -> None:
    """The last address is what the proxy has seen."""
    with proxied(tmp_path) as desk:
        desk.context.latch.patience = Patience(lambda: 0.0)
        for n in range(5):
            seen = {**bearer("guess"), "X-Forwarded-For": f"198.51.100.{n}, 203.0.113.9"}
            assert desk.get("/api/v1/session", seen).status == 401
        seen = {**bearer(TOKEN), "X-Forwarded-For": "198.51.100.77, 203.0.113.9"}
        assert desk.get("/api/v1/session", seen).status == 429
        assert desk.get("/api/v1/session", {**bearer(TOKEN), "X-Forwarded-For": "203.0.113.10"}).status == 200


def test_who_guesses_from_everywhere_is_slowed_down_as_well(tmp_path: Path) -> None:
    with proxied(tmp_path) as desk:
        now = 0.0
        desk.context.latch.patience = Patience(lambda: now)
        mine = signed_in(desk)
        replies = [
            desk.get("/api/v1/session", {**bearer("guess"), "X-Forwarded-For": f"198.51.100.{n}"}).status
            for n in range(WRONG_AT_ONCE + 5)
        ]
        assert replies == [401] * WRONG_AT_ONCE + [429] * 5
        assert desk.get("/api/v1/session", mine).status == 200  # who is signed in does not wait
        now = 2.0
        assert desk.get("/api/v1/session", bearer(TOKEN)).status == 200


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
    latch = Latch(TOKEN)
    assert outside.get("/api/v1/session", {"Cookie": f"{latch.cookie_name}={latch.new_cookie()}"}).status == 401
    ours = outside.context.latch.cookie_name
    assert outside.get("/api/v1/session", {"Cookie": f"{ours}={latch.new_cookie()}"}).status == 401


def test_who_guesses_has_to_wait_by_every_way(outside: Desk) -> None:
    outside.context.latch.patience = Patience(lambda: 0.0)  # time stands still
    for _ in range(5):
        assert outside.get("/api/v1/session", bearer("guess")).status == 401
    for reply in (outside.get("/api/v1/session", bearer(TOKEN)), outside.post("login", {"token": TOKEN})):
        assert reply.status == 429
        assert int(reply.headers["retry-after"]) >= 1


def test_patience_grows_ends_and_is_bounded() -> None:
    now = 0.0
    patience = Patience(lambda: now)
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
    assert origin_of("2001:db8::1") == origin_of("2001:db8::ffff")
    assert origin_of("2001:db8::1") != origin_of("2001:db8:1::1")
    assert origin_of("10.0.0.1") != origin_of("10.0.0.2")
    assert len(origin_of("x" * 1000)) <= 64


def test_a_short_token_is_not_taken() -> None:
    with pytest.raises(BadConfiguration, match="shorter"):
        usable("hunter2")


def test_a_latch_does_not_show_its_token() -> None:
    assert TOKEN not in repr(Latch(TOKEN))


@pytest.mark.parametrize(
    ("host", "name"), [("a.example:80", "a.example"), ("[::1]:9", "::1"), ("A.", "a"), ("a b", ""), ("a/b", "")]
)
def test_the_name_in_a_host(host: str, name: str) -> None:
    assert host_name(host) == name


# ---------------------------------------------------------------- what every answer carries


@pytest.mark.parametrize("path", EVERYWHERE)
def test_every_answer_carries_the_policy(quiet: Desk, path: str) -> None:
    for headers in ({}, {"Accept": "text/html"}, {"Host": "evil.example"}):
        reply = quiet.get(path, headers)
        assert reply.headers["content-security-policy"] == CSP
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cross-origin-opener-policy"] == "same-origin"
        assert reply.headers["cache-control"] == "no-store"
        assert "server" not in reply.headers


def test_a_head_has_the_headers_and_no_body(quiet: Desk) -> None:
    for path in ("/", "/api/v1/overview", "/static/icon.svg", "/nowhere"):
        head, whole = quiet.send("HEAD", path), quiet.send("GET", path)
        assert head.status == whole.status
        assert head.body == b""
        assert head.headers["content-type"] == whole.headers["content-type"]


def test_no_page_has_a_script_or_a_style_inside(quiet: Desk) -> None:
    for path in ("/", "/errors", "/findings", "/search", "/analysis", "/api", "/login", "/records/users/1", "/nowhere"):
        page = quiet.get(path, {"Accept": "text/html"}).text
        assert "style=" not in page
        assert "<style" not in page
        assert "onclick" not in page
        for part in page.split("<script")[1:]:
            assert " src=" in part.partition(">")[0]
        assert "http://" not in page.replace("http://www.w3.org", "")
        assert "https://" not in page


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    "path",
    [
        "/static/../pages.py",
        "/static/..%2fpages.py",
        "/static/%2e%2e/pages.py",
        "/static/%2e%2e%2f%2e%2e%2fcli/session.py",
        "/static//etc/passwd",
        "/static/....//pages.py",
        "/static/..\\pages.py",
        "/static/icon.svg%00.js",
        "/static/",
        "/static",
        "/static/.",
        "/static/../../../../../../../../etc/passwd",
        "/templates/front.html",
        "/static/../templates/front.html",
    ],
)
def test_no_address_leads_out_of_the_folder(quiet: Desk, path: str) -> None:
    assert quiet.send("GET", path).status == 404


def test_files_are_kept_by_the_browser_as_long_as_they_are_the_same(quiet: Desk) -> None:
    first = quiet.get("/static/icon.svg")
    assert first.headers["content-type"].startswith("image/svg+xml")
    again = quiet.send("GET", "/static/icon.svg", {"If-None-Match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert first.headers["cache-control"] == "no-cache"


# ---------------------------------------------------------------- bugs and secrets


def test_a_bug_is_a_reference_without_a_traceback(
    quiet: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(f"secret inside: {NOBODY[0]}")

    from b24migrate.web import error_view

    monkeypatch.setattr(error_view, "errors", broken)
    quiet.look("session")  # the secrets are known once the application is open
    reply = quiet.get("/api/v1/errors")
    assert reply.status == 500
    assert reply.code == "BUG"
    assert "Traceback" not in reply.text
    assert "secret inside" not in reply.text
    reference = reply.json["message"].split()[-1].rstrip(".")
    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert reference in logged
    assert "Traceback" in logged
    assert "s3cretofthesource" not in logged


def test_no_answer_shows_a_secret_even_if_the_store_does(desk: Desk) -> None:
    from b24migrate.ports import FINDINGS, RegisterRow

    with desk.context.app() as app:
        values = {
            "Stream": "users",
            "Fate": "differs",
            "SourceId": "1",
            "Expected": f"see {NOBODY[0]}",
            "Actual": NOBODY[1],
        }
        app.context.store.write(FINDINGS, [RegisterRow("users:1:differs:X:0", values)])
    said: list[Reply] = [desk.get(path, {"Accept": "text/html"}) for path in EVERYWHERE]
    said += [desk.get(f"/api/v1/{name}") for name in ("findings", "session", "errors", "analysis", "certificate")]
    found = desk.look("findings")["findings"][0]
    assert found["expected"].startswith("see https://cloud.example/rest/1/")
    for reply in said:
        assert b"s3cretofthe" not in reply.body


def test_a_secret_that_was_replaced_is_not_forgotten_however_often_the_store_is_opened(tmp_path: Path) -> None:
    config = configured(tmp_path, *NOBODY)
    with dashboard(config) as desk:
        desk.look("session")
        configured(tmp_path, NOBODY[0].replace("s3cret", "an0ther"), NOBODY[1])
        for _ in range(SECRETS_REMEMBERED + 1):
            desk.look("session")
            desk.context.keeper.close()
        assert "s3cret" not in desk.context.redact(NOBODY[0])
        assert "an0ther" not in desk.context.redact(NOBODY[0].replace("s3cret", "an0ther"))
