"""A company whose people name things to break what shows them: every answer stays valid JSON, every page harmless."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest
from tests.cli.command import SOURCE_SECRET
from tests.web.dashboard import Desk, configured, dashboard, hurried, portals, quietly

from b24migrate.ports import FINDINGS, RegisterRow
from b24sim.company.changes import change
from b24sim.serve import Running

SCRIPT = "<script>alert('b24')</script>"
NAMES = [
    SCRIPT,
    "\"'><img src=x onerror=alert(1)>",
    "</script></title></textarea><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}${7*7}#{7*7}",
    "\u202egnp.exe\u2066\u200f",
    "\x00\x01\x1b[31m\x7f\x85\u2028\u2029\ufeff",
    "😀" * 100,
    "Ж" * 100_000,
    "%s%n%00../../etc/passwd",
    "javascript:alert(1)",
    "NaN",
    "",
]
PAGES = ("/", "/errors", "/findings", "/search", "/analysis", "/api", "/login")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("hostile")
    with portals() as (source, target):
        plant_names(source)
        config = configured(folder, source.webhook(), target.webhook(), ("users", "groups"), "user_coverage = 0")
        with hurried():  # the page asks the portals too, each time it shows a record
            assert quietly(config, "run", "--json") in (0, 5)
            found_by_verify(config)
            with dashboard(config) as desk:
                yield desk


def plant_names(source: Running) -> None:
    company, now = source.portal.company, source.portal.clock.now()
    for number, name in enumerate(NAMES):
        person = {
            "NAME": name,
            "LAST_NAME": name[:200],
            "EMAIL": f"odd{number}@company.example",
            "WORK_POSITION": name[:300],
        }
        change(company, now, {"stream": "users", "op": "add", "fields": person})
        group = {"NAME": name, "DESCRIPTION": f"{name} {source.webhook()}", "OWNER_ID": "2"}
        change(company, now, {"stream": "groups", "op": "add", "fields": group})


def found_by_verify(config: Path) -> None:
    """What a portal says may stand in a finding, too, in its key as well as in its values."""
    with dashboard(config) as desk, desk.context.app() as app:
        rows = []
        for number, name in enumerate(NAMES):
            text = name.encode("utf-8", "replace").decode()[:1000]
            values = {
                "Stream": "users",
                "Fate": "differs",
                "SourceId": text[:50],
                "Field": text,
                "Expected": text,
                "Actual": text,
            }
            rows.append(RegisterRow(f"users:{text[:50]}:differs:{number}", {**values, "Note": text}))
        app.context.store.write(FINDINGS, rows)


def addresses_to_read(desk: Desk) -> list[str]:
    names = ["overview", "history", "errors", "findings?limit=500", "analysis", "certificate", "session"]
    names += [f"search?q={quote(one[:100], safe='', errors='replace')}" for one in NAMES if one]
    return names + [f"records/{stream}/{one}" for stream in ("users", "groups") for one in staged(desk, stream)]


def staged(desk: Desk, stream: str) -> list[str]:
    connection = sqlite3.connect(desk.folder / "b24migrate.db")
    try:
        return [row[0] for row in connection.execute(f"SELECT RowKey FROM {stream.title()}")]  # noqa: S608
    finally:
        connection.close()


@pytest.mark.parametrize("language", ["en", "ru"])
def test_every_answer_is_valid_json_without_a_secret(hostile: Desk, language: str) -> None:
    paths = addresses_to_read(hostile)
    assert len(paths) > 40
    for path in paths:
        reply = hostile.send("GET", f"/api/v1/{path}", {"Accept-Language": language})
        assert reply.status in (200, 422), (path, reply.text[:300])
        msgspec.json.decode(reply.body)  # stricter than the one of Python: no half of a character
        json.loads(reply.body, parse_constant=pytest.fail)
        assert reply.headers["content-type"] == "application/json"
        assert len(reply.body) < 200_000, path
        assert SOURCE_SECRET.encode() not in reply.body


def test_the_names_are_there_as_they_are(hostile: Desk) -> None:
    """Escaping is the page's task: the API tells what is."""
    hits = hostile.look("search", q=SCRIPT)["hits"]
    assert any(SCRIPT in one["title"] for one in hits)
    record = hostile.look(f"records/{hits[0]['stream']}/{hits[0]['id']}")
    assert SCRIPT in json.dumps(record, ensure_ascii=False)


def test_findings_with_strange_ids_are_leafed_through(hostile: Desk) -> None:
    found, after = [], ""
    while True:
        answer = hostile.look("findings", stream="users", limit=3, after=after)
        found += answer["findings"]
        if answer["next"] is None:
            break
        after = answer["next"]
    fields = [one["field"] for one in found if one["note"] or not one["field"]]
    assert len(fields) >= len(NAMES)


def test_no_page_shows_what_a_stranger_wrote_as_markup(hostile: Desk) -> None:
    ways = [*PAGES, f"/records/users/{quote(SCRIPT, safe='')}", f"/records/{quote(SCRIPT, safe='')}/1"]
    ways += [f"/search?q={quote(SCRIPT)}", f"/findings?stream={quote(SCRIPT)}", f"/{quote(SCRIPT, safe='')}"]
    ways += [f"/login?next={quote('javascript:alert(1)')}", f"/?lang={quote(SCRIPT)}"]
    for path in ways:
        page = hostile.send("GET", path, {"Accept": "text/html"})
        assert page.headers["content-type"].startswith("text/html")
        assert "<script>" not in page.text
        assert "alert('b24')" not in page.text
        assert "onerror" not in page.text
        assert "javascript:" not in page.text
