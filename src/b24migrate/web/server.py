"""Serves the dashboard until Ctrl-C, SIGTERM, or the end of the `with` block."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn
from fastapi import FastAPI

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, Halted
from b24migrate.web.auth import CONNECTION

if sys.platform == "win32":
    from uvicorn.protocols.http.h11_impl import H11Protocol as Protocol
else:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol

AT_ONCE = 200  # connections
ENDING_S = 3
START_S = 10.0
SILENT_S = 10.0  # a connection without a request takes the place of one with a request
STRANGERS_SILENT_S = 3.0


class Connection(Protocol):
    """`known` after a request with the token. When there are too many connections, one without the token is closed, so
    that clients with the token can always connect. On loopback all come from one address."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.known = False
        self.since_s = time.monotonic()
        self.silent_since_s: float | None = None
        inner: Any = self.app

        async def told(scope: Any, receive: Any, send: Any) -> None:
            await inner({**scope, CONNECTION: self}, receive, send)

        self.app = told

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        everyone: set[Any] = self.connections
        here = [one for one in everyone if not one.transport.is_closing()]
        if len(here) > AT_ONCE:
            _choose_to_close(self, here).transport.abort()

    @property
    def is_silent(self) -> bool:
        """It has sent no request yet, or no further one; between two requests the library itself checks the time."""
        answered = self.cycle is None or self.cycle.response_complete
        return answered and self.timeout_keep_alive_task is None

    def is_overdue(self, now_s: float, patience_s: float) -> bool:
        if not self.is_silent:
            self.silent_since_s = None
        elif self.silent_since_s is None:
            self.silent_since_s = now_s
        return self.silent_since_s is not None and now_s - self.silent_since_s > patience_s


def _choose_to_close(fresh: Connection, connections: Sequence[Connection]) -> Connection:
    """The oldest stranger's of the address that has most of them; else the oldest that waits for nothing; else the one
    that has just come."""
    strangers = [one for one in connections if not one.known and one is not fresh]
    if strangers:
        by_address = Counter(_address(one) for one in strangers)
        most = max(by_address.values())
        return min((one for one in strangers if by_address[_address(one)] == most), key=_age)
    idle = [one for one in connections if one is not fresh and (one.cycle is None or one.cycle.response_complete)]
    return min(idle, key=_age, default=fresh)


def _address(one: Connection) -> str:
    return one.client[0] if one.client else ""


def _age(one: Connection) -> float:
    return one.since_s


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, silent_s: float) -> None:
        super().__init__(config)
        self._silent_s = silent_s

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second. The library waits forever for a client that starts a request and does not complete it."""
        now_s = time.monotonic()
        for one in list(self.server_state.connections):
            patience_s = self._silent_s if one.known else min(self._silent_s, STRANGERS_SILENT_S)  # type: ignore[union-attr]
            if one.is_overdue(now_s, patience_s):  # type: ignore[union-attr]
                one.transport.close()
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The command line takes them."""
        yield


def listen(host: str, port: int) -> socket.socket:
    """Raises BadConfiguration if the address cannot be bound."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:  # a name that cannot be written down is no address either
        why = error.strerror if isinstance(error, OSError) else say("web.no_name")
        message = say("web.no_host", host=host, why=why)
        raise BadConfiguration(message, code="USAGE", hint=say("web.no_host_fix")) from None
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)
    except OSError as error:
        made.close()
        hint = say("web.port_fix")
        message = say("web.port", port=port, host=host, why=error.strerror)
        raise BadConfiguration(message, code="USAGE", hint=hint) from None
    return made


def address(place: socket.socket) -> str:
    host, port = place.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def serve_in_thread(app: FastAPI, place: socket.socket, *, silent_s: float = SILENT_S) -> Iterator[None]:
    """As long as the block lasts."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # a URL may contain search terms
        server_header=False,
        lifespan="off",
        ws="none",
        http=Connection,
        proxy_headers=False,  # the guard knows which proxy to believe
        timeout_graceful_shutdown=ENDING_S,
        timeout_keep_alive=30,
    )
    anyio.run(anyio.sleep, 0)  # imports what runs our handlers: otherwise the first visitor waits for it
    server = _Server(config, silent_s)
    thread = threading.Thread(target=server.run, args=([place],), name="b24migrate-web", daemon=True)
    thread.start()
    try:
        _wait(server, thread)
        yield
    finally:
        server.should_exit = True
        thread.join(ENDING_S * 2)
        place.close()


def _wait(server: uvicorn.Server, thread: threading.Thread) -> None:
    until_s = time.monotonic() + START_S
    while not server.started:
        if not thread.is_alive() or time.monotonic() > until_s:
            raise Halted(say("web.not_started"), code="DASHBOARD_SILENT", hint=say("web.other_port"))
        time.sleep(0.01)
