"""A service whose answers get lost: requests arrive, but the sender gets no answer and repeats them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

Unlucky = Callable[[str, str], bool]


@contextmanager
def answers(service: str, unlucky: Unlucky) -> Iterator[None]:
    """Within the block, the product reaches Azurite's `service` ("TABLE" ...) through a door that does not let the
    answers out for which `unlucky(method, path)` says so."""
    variable = f"AZURITE_{service}_PORT"
    before = os.environ[variable]
    with ThreadingHTTPServer(("127.0.0.1", 0), _door(int(before), unlucky)) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        os.environ[variable] = str(server.server_port)
        try:
            yield
        finally:
            os.environ[variable] = before
            server.shutdown()
            thread.join()


def _door(port: int, unlucky: Unlucky) -> type[BaseHTTPRequestHandler]:
    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def through(self) -> None:
            inner = HTTPConnection("127.0.0.1", port)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            inner.request(self.command, self.path, body, dict(self.headers))
            answer = inner.getresponse()
            content = answer.read()
            inner.close()
            if unlucky(self.command, self.path):
                self.close_connection = True
                return
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                    self.send_header(name, value)
            if answer.status not in (204, 304):
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = through  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    return Door


def every(number: int, *methods: str) -> Unlucky:
    """Every so many requests of these methods."""
    numbers = iter(range(1, 1_000_000))

    def unlucky(method: str, path: str) -> bool:
        return method in methods and next(numbers) % number == 0

    return unlucky
