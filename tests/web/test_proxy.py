"""What a proxy forwards is believed only if the proxy was named."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.web.attacks import bearer, signed_in
from tests.web.dashboard import NOBODY, TOKEN, Desk, configured, dashboard

from b24migrate.model.errors import BadConfiguration
from b24migrate.web.auth import (
    WRONG_AT_ONCE,
    GuessLimit,
    Hosts,
    parse_network,
)

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
    hosts = Hosts(more=frozenset({"migration.example"}), proxies=tuple(map(parse_network, addresses)))
    return dashboard(configured(tmp_path, *NOBODY), hosts=hosts, stranger=True)


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
        parse_network("migration.example")


def test_who_guesses_through_a_proxy_cannot_make_up_his_address(tmp_path: Path) -> None:
    """The last address is what the proxy has seen."""
    with proxied(tmp_path) as desk:
        desk.context.sessions.patience = GuessLimit(lambda: 0.0)
        for n in range(5):
            forged = {**bearer("guess"), "X-Forwarded-For": f"198.51.100.{n}, 203.0.113.9"}
            assert desk.get("/api/v1/session", forged).status == 401
        forged = {**bearer(TOKEN), "X-Forwarded-For": "198.51.100.77, 203.0.113.9"}
        assert desk.get("/api/v1/session", forged).status == 429
        assert desk.get("/api/v1/session", {**bearer(TOKEN), "X-Forwarded-For": "203.0.113.10"}).status == 200


def test_who_guesses_from_everywhere_is_slowed_down_as_well(tmp_path: Path) -> None:
    with proxied(tmp_path) as desk:
        now = 0.0
        desk.context.sessions.patience = GuessLimit(lambda: now)
        mine = signed_in(desk)
        replies = [
            desk.get("/api/v1/session", {**bearer("guess"), "X-Forwarded-For": f"198.51.100.{n}"}).status
            for n in range(WRONG_AT_ONCE + 5)
        ]
        assert replies == [401] * WRONG_AT_ONCE + [429] * 5
        assert desk.get("/api/v1/session", mine).status == 200  # who is signed in does not wait
        now = 2.0
        assert desk.get("/api/v1/session", bearer(TOKEN)).status == 200
