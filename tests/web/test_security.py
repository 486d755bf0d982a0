"""Headers of every answer, files, bugs and secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.web.dashboard import NOBODY, Desk, Reply, configured, dashboard

from b24migrate.web.auth import (
    CSP,
)
from b24migrate.web.context import SECRETS_REMEMBERED

EVERYWHERE = (
    "/",
    "/errors",
    "/api/v1/overview",
    "/api/v1/openapi.json",
    "/metrics",
    "/nowhere",
    "/api/v1/records/users/1",
)


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

    from b24migrate.web import views

    monkeypatch.setattr(views, "view_errors", broken)
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
    replies: list[Reply] = [desk.get(path, {"Accept": "text/html"}) for path in EVERYWHERE]
    replies += [desk.get(f"/api/v1/{name}") for name in ("findings", "session", "errors", "analysis", "certificate")]
    found = desk.look("findings")["findings"][0]
    assert found["expected"].startswith("see https://cloud.example/rest/1/")
    for reply in replies:
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
