"""A proxy in front of a portal that can slow down answers to a byte a second."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


class Tampering:
    """`slow` decides by path and body whether an answer is slow."""

    def __init__(self, url: str) -> None:
        self.slow: Callable[[str, bytes], bool] = lambda *_: False
        self.instead = b""  # what is answered in the portal's place, with HTTP 429
        self.trickles = threading.Event()  # it has begun
        self.over = threading.Event()
        outer, inner = self, urlsplit(url).netloc

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                forwarded = http.client.HTTPConnection(inner, timeout=60)
                with contextlib.closing(forwarded):
                    forwarded.request(self.command, self.path, body, dict(self.headers))
                    answer = forwarded.getresponse()
                    found = answer.read().replace(inner.encode(), outer.netloc.encode())
                if outer.instead:
                    self.send_response_only(429)
                    self.send_header("Content-Length", str(len(outer.instead)))
                    self.end_headers()
                    self.wfile.write(outer.instead)
                    outer.trickles.set()
                    return
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(found)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    if outer.slow(self.path, body):
                        self.trickle(found)
                    else:
                        self.wfile.write(found)

            do_GET = do_POST  # noqa: N815

            def trickle(self, found: bytes) -> None:
                outer.trickles.set()
                for place in range(len(found)):
                    self.wfile.write(found[place : place + 1])
                    self.wfile.flush()
                    if outer.over.wait(1.0):
                        self.close_connection = True
                        return

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def netloc(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    def webhook(self, webhook: str) -> str:
        return webhook.replace(urlsplit(webhook).netloc, self.netloc)

    @contextlib.contextmanager
    def serving(self) -> Iterator[Tampering]:
        self._thread.start()
        try:
            yield self
        finally:
            self.over.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
