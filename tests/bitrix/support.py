"""A clock without real waits, and a portal built for a test."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from b24migrate.bitrix.breaker import Breaker
from b24migrate.bitrix.client import Portal, Timeouts
from b24migrate.bitrix.limits import Governor
from b24migrate.bitrix.secrets import Redactor
from b24migrate.bitrix.webhook import parse_webhook
from b24migrate.model.events import Event

SECRET = "abcd1234efgh5678"


class FakeClock:
    """Sleeping moves it; nothing else does."""

    def __init__(self, at: float = 1_790_000_000.0) -> None:
        self._at = at
        self._lock = threading.Lock()
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._at, UTC)

    def monotonic(self) -> float:
        return self._at - 1_789_000_000.0

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)
            self._at += seconds


@dataclass
class Kit:
    """Everything around one portal, within reach."""

    urls: Sequence[str]
    clock: FakeClock = field(default_factory=FakeClock)
    events: list[Event] = field(default_factory=list)
    per_second: float = 0.0
    bucket: float = 50.0
    operating_s: float = 0.0
    outage_s: float = 1800.0
    name: str = "source"
    read_s: float = 5.0
    redirect_hosts: Sequence[str] = ()

    def __post_init__(self) -> None:
        webhooks = [parse_webhook(url) for url in self.urls]
        observers = (self.events.append,)
        self.governor = Governor(
            self.clock,
            per_second=self.per_second,
            bucket=self.bucket,
            operating_s=self.operating_s,
            portal=self.name,
            observers=observers,
            chance=random.Random(1),
        )
        self.breaker = Breaker(self.clock, portal=self.name, outage_s=self.outage_s, observers=observers)
        self.redactor = Redactor(webhooks)
        self.portal = Portal(
            webhooks,
            governor=self.governor,
            breaker=self.breaker,
            clock=self.clock,
            redactor=self.redactor,
            name=self.name,
            probe_method="server.time" if self.name == "source" else "import.info",
            timeouts=Timeouts(connect_s=2.0, read_s=self.read_s, probe_s=2.0),
            redirect_hosts=self.redirect_hosts,
        )


@dataclass(frozen=True)
class Response:
    """One scripted answer; a body longer than its announced length is cut by the client, a shorter one breaks off."""

    body: bytes = b'{"result":true,"time":{}}'
    status: int = 200
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    announce: int | None = None
    hang_up: bool = False


@dataclass
class Heard:
    method: str
    path: str
    body: bytes
    headers: dict[str, str]


class Scripted:
    """A web server with scripted answers, one after another; the last one repeats."""

    def __init__(self, *answers: Response) -> None:
        self.answers = list(answers) or [Response()]
        self.heard: list[Heard] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer.answer(self)

            do_GET = do_POST  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers.get("Content-Length") or 0)
        body = request.rfile.read(length)
        self.heard.append(Heard(request.command, request.path, body, dict(request.headers)))
        reply = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if reply.hang_up:
            request.close_connection = True
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        request.send_response(reply.status)
        request.send_header("Content-Type", reply.kind)
        request.send_header("Content-Length", str(len(reply.body) if reply.announce is None else reply.announce))
        for name, value in reply.headers:
            request.send_header(name, value)
        request.end_headers()
        with contextlib.suppress(ConnectionError):  # the client may have seen enough
            request.wfile.write(reply.body)
        if reply.announce is not None:
            request.wfile.flush()
            request.close_connection = True
            request.connection.shutdown(socket.SHUT_RDWR)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def webhook(self) -> str:
        return f"{self.origin}/rest/1/{SECRET}/"

    def __enter__(self) -> Scripted:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
