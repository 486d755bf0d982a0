"""Too much, too slow, too strange: it is answered in order, and nobody else waits."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest
from tests.web.dashboard import MARKED, NOBODY, TOKEN, Desk, configured, dashboard

from b24migrate.web import guard, server
from b24migrate.web.application import make_application
from b24migrate.web.context import Context, Session
from b24migrate.web.server import AT_ONCE, listen, serve_in_thread

BEARER = b"Authorization: Bearer " + TOKEN.encode() + b"\r\n"


def test_a_body_that_is_too_large_is_refused_before_it_is_read(quiet: Desk) -> None:
    assert quiet.send("POST", "/api/v1/run", {**MARKED, "Content-Length": "70000"}, b"{").status == 413
    assert quiet.send("POST", "/api/v1/run", MARKED, b" " * 70_000).status == 413
    assert quiet.send("GET", "/api/v1/overview", MARKED, b" " * 70_000).status == 413


def test_a_body_in_endless_chunks_is_refused(quiet: Desk) -> None:
    with socket.create_connection((quiet.host, quiet.port), timeout=120) as line:
        line.sendall(
            b"POST /api/v1/run HTTP/1.1\r\nHost: localhost\r\nX-B24migrate: 1\r\n"
            + BEARER
            + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
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
            one.sendall(b"POST /api/v1/run HTTP/1.1\r\nHost: localhost\r\n" + BEARER + b"Content-Length: 10\r\n\r\n")
        assert quiet.look("session")  # while they are silent still
    finally:
        for one in silent:
            one.close()


ASKED, HALF_ASKED = b"GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localh"


@pytest.mark.parametrize(("before", "begun"), [(b"", b""), (b"", HALF_ASKED), (ASKED, HALF_ASKED)])
def test_who_begins_to_ask_and_does_not_go_on_is_let_go(tmp_path: Path, before: bytes, begun: bytes) -> None:
    app, place = make_application(Context(configured(tmp_path, *NOBODY))), listen("127.0.0.1", 0)
    with serve_in_thread(app, place, silent_s=2.0), socket.create_connection(place.getsockname(), timeout=120) as one:
        one.sendall(before)
        assert not before or one.recv(65536).startswith(b"HTTP/1.1 200")
        one.sendall(begun)
        while one.recv(65536):
            pass  # the rest of what was asked before


def test_strangers_with_half_open_connections_keep_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four ways of keeping a connection without a token, each more often than there is room; and nobody is let go for
    being silent, or others might only have to wait for that."""
    monkeypatch.setattr(server.Connection, "is_overdue", lambda *_: False)
    monkeypatch.setattr(guard, "STRANGERS_BODY_S", 10_000.0)
    begun = (
        b"",
        HALF_ASKED,
        b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nX-B24migrate: 1\r\nContent-Length: 10\r\n\r\n",
        b"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n",  # 401, and then nothing
    )
    with dashboard(configured(tmp_path, *NOBODY)) as desk, ExitStack() as stack:
        signed_in = HTTPConnection(desk.host, desk.port, timeout=120)
        stack.callback(signed_in.close)
        known = {"Authorization": f"Bearer {TOKEN}"}
        signed_in.request("GET", "/api/v1/session", headers=known)
        assert signed_in.getresponse().read()
        for what in begun:
            for _ in range(AT_ONCE + 60):
                one = socket.create_connection((desk.host, desk.port))
                stack.callback(one.close)
                with suppress(OSError):
                    one.sendall(what)
            assert desk.get("/api/v1/session").status == 200  # a new connection
            signed_in.request("GET", "/api/v1/session", headers=known)
            assert signed_in.getresponse().read()  # the one that was there


def test_a_stranger_is_let_go_sooner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One at a time: on a busy machine a request may be read when both are over."""
    limits = {(server, "STRANGERS_SILENT_S"): 10_000.0, (guard, "STRANGERS_BODY_S"): 10_000.0}
    asked = b"Host: localhost\r\nX-B24migrate: 1\r\nContent-Type: application/json\r\nContent-Length: 10\r\n"
    with dashboard(configured(tmp_path, *NOBODY)) as desk:
        whole = b"POST /api/v1/login HTTP/1.1\r\n" + asked + b"\r\n"
        for short, what, answer in zip(limits, (HALF_ASKED, whole), (b"", b"408"), strict=True):
            for place, seconds in (limits | {short: 0.3}).items():
                monkeypatch.setattr(*place, seconds)
            with socket.create_connection((desk.host, desk.port), timeout=120) as one:
                one.sendall(what)
                assert answer in one.recv(65536)
        known = b"Authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n"
        with socket.create_connection((desk.host, desk.port), timeout=1.0) as one:
            one.sendall(b"POST /api/v1/pause HTTP/1.1\r\n" + asked + known)
            with pytest.raises(TimeoutError):
                one.recv(65536)  # who has the token has more time


def test_who_waits_long_for_an_answer_gets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, let_go = threading.Event(), threading.Event()

    def slow(*_: object) -> Session:
        asked.set()
        assert not let_go.wait(4.0)
        return Session("1", "", "", "", "", "en", ("en",), 0, cannot_start=None)

    monkeypatch.setattr(Context, "session", slow)
    context = Context(configured(tmp_path, *NOBODY))
    app, place = make_application(context), listen("127.0.0.1", 0)
    with serve_in_thread(app, place, silent_s=2.0), socket.create_connection(place.getsockname(), timeout=120) as one:
        known = f"Authorization: Bearer {context.sessions.token}"
        one.sendall(f"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\n{known}\r\n\r\n".encode())
        assert one.recv(12) == b"HTTP/1.1 200"
