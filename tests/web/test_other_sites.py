"""A page of another site, or a name that leads here, can neither change nor read anything."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from tests.web.attacks import CHANGES, bearer
from tests.web.dashboard import MARKED, NOBODY, TOKEN, Desk, configured, dashboard

from b24migrate.web.auth import (
    Hosts,
)
from b24migrate.web.overview_cache import OverviewCache
from b24migrate.web.routes_actions import action_routes, session_routes
from b24migrate.web.routes_decisions import decision_routes


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
    hosts = Hosts(more=frozenset({"migration.example"}))
    with dashboard(configured(tmp_path, *NOBODY), hosts=hosts, stranger=True) as quiet:
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
    overviews = OverviewCache(quiet.context)
    routers = (
        action_routes(quiet.context, overviews),
        session_routes(quiet.context),
        decision_routes(quiet.context, overviews),
    )
    routes = [one for router in routers for one in router.routes if isinstance(one, APIRoute)]
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
        if what not in ("analysis", "fidelity", "conflicts", "conflicts/csv", "cutover"):  # by GET they are looked at
            assert quiet.get(f"/api/v1/{what}").status == 405
    assert quiet.look("overview")["last_action"] is None
