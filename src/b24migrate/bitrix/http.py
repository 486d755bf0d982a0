"""HTTP with bounds: how long an exchange may take, how slow it may be, how large an answer may get, and where a
connection may lead. The library below bounds only the pause between two bytes: a byte a second would last for ever."""

from __future__ import annotations

import io
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock, local
from typing import IO, Any, TypeVar

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError, ProtocolError
from urllib3.response import BaseHTTPResponse
from urllib3.util.connection import allowed_gai_family

from b24migrate.model.interrupt import CALL_S, Interrupt

T = TypeVar("T")
# A request brings at most 50 pages of 50 records: 26 KB for each of 2,500. Deals have 3 KB, messages 1 KB; the largest
# records are workflow templates, read 50 at a time: 1.3 MB for each. A larger answer fails, and is read again page by
# page. A portal builds its answer in the memory of one PHP process, 256 MB by default.
LARGEST_ANSWER = 64 << 20
_LARGE = 8 << 20  # an answer beyond this is received alone, so that workers together stay within a few hundred MB
_CHUNK = 1 << 16
_SLICE_S = 0.5  # between two checks of the clock and of the interrupt
_FOREVER_S = float("inf")


class TooLarge(HTTPError):
    """The body is longer than the caller takes, counted as unpacked."""


class Forbidden(HTTPError):
    """The name resolves to an address that must not be requested. `args[0]`: the address."""


@dataclass(slots=True)
class Bounds:
    """Of one exchange. `total_s`: from the first byte sent to the last received. From the first byte received on, each
    `window_s` has to bring `least_bytes`; before it, the read timeout of the connection counts alone."""

    interrupt: Interrupt = field(default_factory=Interrupt)
    total_s: float = _FOREVER_S
    window_s: float = 60.0
    least_bytes: int = 60_000
    may_connect: Callable[[str], bool] | None = None  # by numeric address; None: anywhere
    address: str = ""  # in numbers, of the connection that was made
    began: float = field(default_factory=time.monotonic)
    window_began: float = 0.0
    window_bytes: int = 0

    def begin(self) -> None:
        """The time before does not count: it was spent waiting for other calls."""
        self.began = time.monotonic()

    def received(self, size: int) -> None:
        if not self.window_began:
            self.window_began = time.monotonic()
        self.window_bytes += size

    def restart_window(self) -> None:
        """Nothing is being read: the rate is measured again from here on."""
        self.window_began, self.window_bytes = time.monotonic(), 0

    def check(self) -> None:
        """Raises TimeoutError, or KeyboardInterrupt."""
        self.interrupt.check(CALL_S)
        now = time.monotonic()
        if now - self.began > self.total_s:
            raise TimeoutError("the exchange takes too long")
        if self.window_began and now - self.window_began >= self.window_s:
            if self.window_bytes < self.least_bytes:
                raise TimeoutError("the answer comes too slowly")
            self.window_began, self.window_bytes = now, 0


_current = local()  # a thread has one exchange at a time


def _bounds() -> Bounds:
    found: Bounds | None = getattr(_current, "bounds", None)
    return found or Bounds()


@contextmanager
def limit_exchange(bounds: Bounds) -> Iterator[Bounds]:
    """Whatever this thread sends and receives in the block keeps to these bounds."""
    before = getattr(_current, "bounds", None)
    _current.bounds = bounds
    try:
        yield bounds
    finally:
        _current.bounds = before


class Wire:
    """The connections to one portal and its file hosts. Proxies and redirects are not followed automatically."""

    def __init__(self, *, tls: ssl.SSLContext | None = None, connections: int = 16) -> None:
        self._pool = urllib3.PoolManager(num_pools=8, maxsize=connections, retries=False, ssl_context=tls)
        self._pool.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}
        self._large = Lock()

    def exchange(
        self,
        method: str,
        url: str,
        bounds: Bounds,
        *,
        headers: Mapping[str, str],
        timeout: urllib3.Timeout,
        body: bytes | Iterator[bytes] | None = None,
        fields: Mapping[str, str] | None = None,
        most: int = LARGEST_ANSWER,
    ) -> tuple[int, bytes, Mapping[str, str]]:
        """Status, body and headers. Raises HTTPError: TooLarge if the body is larger than `most`."""
        with (
            limit_exchange(bounds),
            self.open(method, url, headers=headers, timeout=timeout, body=body, fields=fields) as answer,
        ):
            return answer.status, self._body(answer, bounds, most), answer.headers

    @contextmanager
    def open(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        timeout: urllib3.Timeout,
        body: bytes | Iterator[bytes] | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> Iterator[BaseHTTPResponse]:
        """An answer whose body is not read yet; call it inside `limit_exchange`. Raises HTTPError."""
        try:
            answer = self._pool.request(
                method,
                url,
                headers=headers,
                timeout=timeout,
                body=body,
                fields=fields,
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except (ValueError, UnicodeError):  # an address that the library cannot take apart or write down
            raise HTTPError("the address is not valid") from None
        try:
            yield answer
        finally:
            answer.close()  # the unread rest must not precede the next answer

    def _body(self, answer: BaseHTTPResponse, bounds: Bounds, most: int) -> bytes:
        expected = answer.length_remaining
        if expected is not None and expected <= min(most, _LARGE) and "Content-Encoding" not in answer.headers:
            return answer.read()  # most answers: as long as they say, and not packed
        found = io.BytesIO()
        with ExitStack() as stack:
            for chunk in answer.stream(_CHUNK, decode_content=True):
                size = found.tell() + len(chunk)
                if size > most:
                    raise TooLarge
                if found.tell() <= _LARGE < size:
                    stack.enter_context(self._alone(bounds))
                found.write(chunk)
                bounds.check()  # a body that is unpacked comes without a read
        return found.getvalue()

    @contextmanager
    def _alone(self, bounds: Bounds) -> Iterator[None]:
        while not self._large.acquire(timeout=_SLICE_S):
            bounds.restart_window()
            bounds.check()
        bounds.restart_window()
        try:
            yield
        finally:
            self._large.release()


# ---------------------------------------------------------------- connections


class _Bounded:
    """Behaves like the socket inside and enforces the bounds of the thread that uses it."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self._idle_s = inner.gettimeout()

    def settimeout(self, seconds: float | None) -> None:
        """The longest pause between two bytes."""
        self._idle_s = seconds

    def sendall(self, data: Any) -> None:
        view = memoryview(data).cast("B")
        while view:
            view = view[self._repeat_until_ready(partial(self._inner.send, view)) :]

    def receive(self, buffer: Any) -> int:
        size = self._repeat_until_ready(lambda: self._inner.recv_into(buffer))
        _bounds().received(size)
        return size

    def makefile(self, mode: str = "rb", *_: Any, **__: Any) -> IO[bytes]:
        assert mode == "rb"  # noqa: S101 - all that a client uses
        return _Buffer(_Reader(self, self._inner.makefile("rb", buffering=0)), _CHUNK)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _repeat_until_ready(self, act: Callable[[], T]) -> T:
        bounds = _bounds()
        bounds.check()
        until = time.monotonic() + self._idle_s if self._idle_s is not None else _FOREVER_S
        slice_s = _SLICE_S if self._idle_s is None else max(0.001, min(_SLICE_S, self._idle_s))
        if self._inner.gettimeout() != slice_s:
            self._inner.settimeout(slice_s)
        while True:
            try:
                return act()
            except TimeoutError:
                bounds.check()
                if time.monotonic() >= until:
                    raise


class _Reader(io.RawIOBase):
    """`counted` keeps the socket open as long as this is read: a client closes the connection before the answer."""

    def __init__(self, sock: _Bounded, counted: io.RawIOBase) -> None:
        self._sock = sock
        self._counted = counted

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._sock.receive(buffer)

    def close(self) -> None:
        if not self.closed:
            self._counted.close()
        super().close()


class _Buffer(io.BufferedReader):
    """A portal states the length of each part of its answer, and the library accepts a negative one. It would then read
    to the end without a limit."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            raise ProtocolError("the answer does not say how long it is")
        return super().read(size)


class _Guarded(HTTPConnection):
    """The mixed-in part of both kinds of connections."""

    def connect(self) -> None:
        super().connect()
        _bounds().address = str(self.sock.getpeername()[0])
        self.sock = _Bounded(self.sock)

    def _new_conn(self) -> socket.socket:
        """Checks the addresses that are connected to, not the name: a name may lead elsewhere a moment later."""
        bounds = _bounds()
        bounds.check()
        if bounds.may_connect is None:
            return super()._new_conn()
        name = self._dns_host
        try:
            found = socket.getaddrinfo(name, self.port, allowed_gai_family(), socket.SOCK_STREAM)
        except OSError:
            return super()._new_conn()  # which fails in the library's own words
        addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
        for address in addresses:
            if not bounds.may_connect(address):
                raise Forbidden(address)
        try:
            for address in addresses[:-1]:
                self._dns_host = address
                try:
                    return super()._new_conn()
                except HTTPError:
                    bounds.check()
            self._dns_host = addresses[-1]
            return super()._new_conn()
        finally:
            self._dns_host = name


class _Plain(_Guarded):
    pass


class _Secure(_Guarded, HTTPSConnection):
    pass


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _Secure
