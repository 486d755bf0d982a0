"""Lets the dashboard listen, and end: with Ctrl-C, with SIGTERM, or with the block of who started it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import uvicorn
from fastapi import FastAPI

from b24migrate.errors import BadConfiguration, Halted

AT_ONCE = 200  # connections
ENDING_S = 3
START_S = 10.0
SILENT_S = 10.0  # a connection that asks for nothing takes the place of one that does


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, silent_s: float) -> None:
        super().__init__(config)
        self._silent_s = silent_s
        self._silent_since: WeakKeyDictionary[Any, float] = WeakKeyDictionary()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second. The library waits for ever for who has begun to ask, and does not go on."""
        now_s = time.monotonic()
        for one in list(self.server_state.connections):
            if not _is_silent(one):
                self._silent_since.pop(one, None)
            elif now_s - self._silent_since.setdefault(one, now_s) > self._silent_s:
                one.transport.close()
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The command line takes them."""
        yield


def listening(host: str, port: int) -> socket.socket:
    """Raises BadConfiguration when nobody can listen there."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except OSError as error:
        message = f"{host} is no address of this machine: {error.strerror}."
        raise BadConfiguration(message, code="USAGE", hint="Leave --host out, or name one that it has.") from None
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)
    except OSError as error:
        made.close()
        hint = "Is another dashboard open? Choose another port with --port; 0 takes any that is free."
        message = f"Port {port} on {host} cannot be opened: {error.strerror}."
        raise BadConfiguration(message, code="USAGE", hint=hint) from None
    return made


def address(place: socket.socket) -> str:
    host, port = place.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def served(app: FastAPI, place: socket.socket, *, silent_s: float = SILENT_S) -> Iterator[None]:
    """As long as the block lasts."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # an address may contain what somebody searched for
        server_header=False,
        lifespan="off",
        ws="none",
        limit_concurrency=AT_ONCE,
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


def _is_silent(connection: Any) -> bool:
    """It has not asked yet, or not again; between two questions the library itself looks at the clock."""
    answered = connection.cycle is None or connection.cycle.response_complete
    return answered and connection.timeout_keep_alive_task is None


def _wait(server: uvicorn.Server, thread: threading.Thread) -> None:
    until_s = time.monotonic() + START_S
    while not server.started:
        if not thread.is_alive() or time.monotonic() > until_s:
            raise Halted("The dashboard did not start.", code="DASHBOARD_SILENT", hint="Try another port with --port.")
        time.sleep(0.01)
