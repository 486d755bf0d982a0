"""A server below HTTP: it sends given bytes at given times."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator

from tests.bitrix.support import SECRET

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Pieces = Callable[[bytes], Iterable[bytes | float]]  # of a request: bytes to send, or seconds to wait


class RawServer:
    def __init__(self, answer: Pieces) -> None:
        self._answer = answer
        self._over = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(0.05)
        self._threads = [threading.Thread(target=self._accept)]
        self.requests: list[bytes] = []

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    @property
    def webhook(self) -> str:
        return f"{self.origin}/rest/1/{SECRET}/"

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._listening.accept()
            except TimeoutError:
                continue
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(120)
            request = b""
            while b"\r\n\r\n" not in request:
                request += connection.recv(1 << 16)
            head, _, body = request.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            while length and len(body) < int(length[1]):
                body += connection.recv(1 << 16)
            self.requests.append(head)
            for piece in self._answer(request):
                if isinstance(piece, bytes):
                    connection.sendall(piece)
                else:
                    self._over.wait(piece)
                if self._over.is_set():
                    return

    def __enter__(self) -> RawServer:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        self._listening.close()


def slowly(data: bytes, pause_s: float, size: int = 1) -> Iterator[bytes | float]:
    for start in range(0, len(data), size):
        yield data[start : start + size]
        yield pause_s
