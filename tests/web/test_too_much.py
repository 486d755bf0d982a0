"""Too much, too slow, too strange: it is answered in order, and nobody else waits."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path

import pytest
from tests.web.desk import MARKED, NOBODY, Desk, configured

from b24migrate.hosts.web.application import application
from b24migrate.hosts.web.context import Context, Session
from b24migrate.hosts.web.server import listening, served


def test_a_body_that_is_too_large_is_refused_before_it_is_read(quiet: Desk) -> None:
    assert quiet.send("POST", "/api/v1/run", {**MARKED, "Content-Length": "70000"}, b"{").status == 413
    assert quiet.send("POST", "/api/v1/run", MARKED, b" " * 70_000).status == 413
    assert quiet.send("GET", "/api/v1/overview", MARKED, b" " * 70_000).status == 413


def test_a_body_in_endless_chunks_is_refused(quiet: Desk) -> None:
    with socket.create_connection((quiet.host, quiet.port), timeout=10) as line:
        line.sendall(
            b"POST /api/v1/run HTTP/1.1\r\nHost: localhost\r\nX-B24migrate: 1\r\n"
            b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
        answer = b""
        for _ in range(100):
            try:
                line.sendall(chunk)
            except OSError:
                break
        while part := _received(line):
            answer += part
    assert b"413" in answer.partition(b"\r\n")[0]


def _received(line: socket.socket) -> bytes:
    try:
        return line.recv(65536)
    except OSError:
        return b""


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"null1",
        b"\xff\xfe",
        b'{"a":1}',
        b'"x"',
        b"[" * 30_000,
        b'{"entities":"users"}',
        b'{"entities":["nobody"]}',
        b'{"test_limit":-1}',
        b'{"test_limit":1e999}',
        b'{"entities":["\\ud800"]}',
        b"1" * 10_000,
    ],
)
def test_a_body_that_cannot_be_used_is_told_so(quiet: Desk, body: bytes) -> None:
    reply = quiet.send("POST", "/api/v1/run", MARKED, body)
    assert reply.status in (400, 422)
    assert set(reply.json) == {"code", "message", "hint"}
    assert quiet.look("overview")["last_action"] is None


STRANGE = [
    "\x00",
    "a\x00b",
    "\ufeff",
    "\u202e",
    "😀",
    "ё" * 150,
    "%",
    "%%",
    "'",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "../..",
    "\\",
    "*",
    "(?",
    "\n",
    " ",
]


@pytest.mark.parametrize("text", STRANGE, ids=ascii)
def test_strange_texts_are_only_texts(moved: Desk, text: str) -> None:
    assert moved.get("/api/v1/search", None, q=text).status in (200, 422)
    assert moved.get("/api/v1/findings", None, after=text).status == 200
    assert moved.get("/api/v1/search", None, q="a", after=text).status in (200, 404)
    from urllib.parse import quote

    for path in (f"/api/v1/records/users/{quote(text, safe='')}", f"/api/v1/errors/{quote(text, safe='')}"):
        assert moved.send("GET", path).status in (404, 422)


@pytest.mark.parametrize(
    "query", ["q=%ff%fe", "q=%ed%a0%80", "q=%00", "q=%", "q=a&q=b", "q=", "", "stream=nobody&q=a", "q=a&lang=xx"]
)
def test_strange_queries_are_answered_in_order(moved: Desk, query: str) -> None:
    reply = moved.send("GET", f"/api/v1/search?{query}")
    assert reply.status in (200, 400, 422)
    json.loads(reply.body)


def test_an_address_without_end_is_refused(quiet: Desk) -> None:
    reply = quiet.send("GET", "/api/v1/search?q=" + "a" * 40_000)
    assert reply.status == 414
    assert quiet.send("GET", "/" + "a" * 40_000).status == 414
    assert quiet.send("GET", "/api/v1/search?q=" + "a" * 300).status == 422


def test_who_sends_nothing_does_not_keep_others_waiting(quiet: Desk) -> None:
    silent = [socket.create_connection((quiet.host, quiet.port)) for _ in range(30)]
    try:
        for one in silent:
            one.sendall(b"POST /api/v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n")
        began = time.monotonic()
        assert quiet.look("session")
        assert time.monotonic() - began < 5
    finally:
        for one in silent:
            one.close()


ASKED, HALF_ASKED = b"GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localh"


@pytest.mark.parametrize(("before", "begun"), [(b"", b""), (b"", HALF_ASKED), (ASKED, HALF_ASKED)])
def test_who_begins_to_ask_and_does_not_go_on_is_let_go(tmp_path: Path, before: bytes, begun: bytes) -> None:
    app, place = application(Context(configured(tmp_path, *NOBODY))), listening("127.0.0.1", 0)
    with served(app, place, silent_s=0.3), socket.create_connection(place.getsockname(), timeout=10) as one:
        one.sendall(before)
        assert not before or one.recv(65536).startswith(b"HTTP/1.1 200")
        one.sendall(begun)
        while one.recv(65536):
            pass  # the rest of what was asked before


def test_who_waits_long_for_an_answer_gets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, let_go = threading.Event(), threading.Event()

    def slow(*_: object) -> Session:
        asked.set()
        assert not let_go.wait(1.0)
        return Session("1", "", "", "", "", "en", ("en",), token=False, cannot_start=None)

    monkeypatch.setattr(Context, "session", slow)
    app, place = application(Context(configured(tmp_path, *NOBODY))), listening("127.0.0.1", 0)
    with served(app, place, silent_s=0.3), socket.create_connection(place.getsockname(), timeout=10) as one:
        one.sendall(b"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert one.recv(12) == b"HTTP/1.1 200"
