"""A connection to Azurite that loses answers on request: the operation succeeds without an answer. Or it is cut after a
number of changes, as if the process had died."""

from __future__ import annotations

import http.client
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CHANGES = {"POST", "PUT", "PATCH", "DELETE"}
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class Life:
    """How many changes may still be made; None = any number. Lines may share one."""

    def __init__(self) -> None:
        self.left: int | None = None

    def allows(self, method: str) -> bool:
        if self.left is None or method not in CHANGES:
            return True
        self.left -= 1
        return self.left >= 0


class Line:
    """`asked` counts requests by method."""

    def __init__(self, port: int, life: Life) -> None:
        self.port = port
        self.life = life
        self.asked: Counter[str] = Counter()
        self._losing: list[str] = []
        self._lock = threading.Lock()

    def lose(self, *methods: str) -> None:
        """The answers to the next requests with these methods."""
        with self._lock:
            self._losing += methods

    @property
    def lost_all(self) -> bool:
        return not self._losing

    def passes(self, method: str) -> bool:
        with self._lock:
            self.asked[method] += 1
            if method in self._losing:
                self._losing.remove(method)
                return False
        return True


@contextmanager
def lossy(port: int, life: Life) -> Iterator[tuple[Line, int]]:
    """The line, and the port at this end of it."""
    line = Line(port, life)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            self.far = http.client.HTTPConnection("127.0.0.1", line.port, timeout=120)

        def finish(self) -> None:
            self.far.close()
            super().finish()

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if not line.life.allows(self.command):
                self.send_response(403)  # the only answer after which no client retries
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.far.request(self.command, self.path, body, dict(self.headers))
            answer = self.far.getresponse()
            content = answer.read()
            if not line.passes(self.command):
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = forward  # noqa: N815 (the library's names)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield line, server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
