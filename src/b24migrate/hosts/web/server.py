"""Lets the dashboard listen, and end: with Ctrl-C, with SIGTERM, or with the block of who started it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import uvicorn
from fastapi import FastAPI

from b24migrate.errors import BadConfiguration, Halted

AT_ONCE = 200  # connections
ENDING_S = 3
START_S = 10.0


class _Server(uvicorn.Server):
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
def served(app: FastAPI, place: socket.socket) -> Iterator[None]:
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
    server = _Server(config)
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
            raise Halted("The dashboard did not start.", code="DASHBOARD_SILENT", hint="Try another port with --port.")
        time.sleep(0.01)
