"""A portal on a port: in this process, in a thread, for as long as a `with` lasts."""

import asyncio
import contextlib
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme
import uvicorn

from b24sim.app import App, OldAddress
from b24sim.http import TRANSPORT
from b24sim.native.applications import TOKEN
from b24sim.portal import Portal

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as _Protocol
except ImportError:  # pragma: no cover - platforms without httptools
    from uvicorn.protocols.http.h11_impl import H11Protocol as _Protocol  # type: ignore[assignment]

START_TIMEOUT_S = 60.0
TICK_S = 1.0  # so often the time in its answers is set
GRACE_S = 1.0  # for what it is just answering


class FragileProtocol(_Protocol):
    """Shows the application its transport, so that it can hang up on a client."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {TRANSPORT: self.transport}  # type: ignore[dict-item]


class PromptServer(uvicorn.Server):
    """Ends when it is told to. The one it is made of looks for that ten times a second, and waits once more."""

    async def main_loop(self) -> None:
        self._told = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), TICK_S)

    def end(self) -> None:
        self.should_exit = True
        with contextlib.suppress(AttributeError, RuntimeError):  # not begun yet, or ended already
            self._loop.call_soon_threadsafe(self._told.set)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for one in sockets or ():
            one.close()
        state, deadline = self.server_state, time.monotonic() + GRACE_S
        for connection in list(state.connections):
            connection.shutdown()
        while (state.connections or state.tasks) and time.monotonic() < deadline:
            await asyncio.sleep(0.002)
        for task in state.tasks:
            task.cancel()


@dataclass(frozen=True, slots=True)
class Running:
    """A served portal: where it listens and how to call it."""

    portal: Portal
    url: str
    ca: str | None = None
    moved: str | None = None

    @property
    def control(self) -> str:
        return f"{self.url}/_sim/"

    def webhook(self, user: int = 1) -> str:
        """The address to put a method's name behind."""
        return f"{self.url}/rest/{user}/{self.portal.webhooks[user]}/"

    def old_webhook(self, user: int = 1) -> str:
        """The same webhook at the address the portal had before it was renamed."""
        return f"{self.moved}/rest/{user}/{self.portal.webhooks[user]}/"

    @property
    def token_url(self) -> str:
        """The address at which an application of the portal renews its tokens."""
        return f"{self.url}{TOKEN}/"

    def ready(self) -> dict[str, Any]:
        """The output of the command line when the portal is ready."""
        hooks = [
            {"user": user, "admin": user in self.portal.admins, "url": self.webhook(user)}
            for user in self.portal.webhooks
        ]
        line: dict[str, Any] = {"url": self.url, "webhooks": hooks, "control": self.control}
        if self.portal.application:
            line["application"] = {**self.portal.application.to_json(), "token_url": self.token_url}
        if self.ca:
            line["ca"] = self.ca
        if self.moved:
            line["moved"] = self.moved
        return line


@contextlib.contextmanager
def serve(
    portal: Portal,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    tls: bool = False,
    moved: bool = False,
    warm: bool = False,
    app: Callable[[Portal], App] = App,
) -> Iterator[Running]:
    """Listen until the block ends.

    `tls` makes a throw-away certificate, `moved` a second, redirecting port; `warm` makes rows beforehand; another
    `app` may answer."""
    with contextlib.ExitStack() as stack:
        certificate = _certificate(stack, host) if tls else None
        listener = stack.enter_context(_listen(host, port))
        url = f"{'https' if tls else 'http'}://{host}:{listener.getsockname()[1]}"
        portal.company.settle(url)
        if warm:
            portal.company.warm()
        stack.enter_context(_background(app(portal), listener, certificate))
        old = None
        if moved:
            second = stack.enter_context(_listen(host, 0))
            old = f"{'https' if tls else 'http'}://{host}:{second.getsockname()[1]}"
            stack.enter_context(_background(OldAddress(portal), second, certificate))
        yield Running(portal, url, str(certificate.ca) if certificate else None, old)


@dataclass(frozen=True, slots=True)
class _Certificate:
    ca: Path
    pem: Path


def _certificate(stack: contextlib.ExitStack, host: str) -> _Certificate:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="b24sim-")))
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    issued = authority.issue_cert(host, "localhost")
    issued.private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
    return _Certificate(folder / "ca.pem", folder / "server.pem")


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    return listener


@contextlib.contextmanager
def _background(app: App | OldAddress, listener: socket.socket, certificate: _Certificate | None) -> Iterator[None]:
    config = uvicorn.Config(
        app,
        http=FragileProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=120,
        ssl_certfile=str(certificate.pem) if certificate else None,
        ssl_version=ssl.PROTOCOL_TLS_SERVER,
    )
    server = PromptServer(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="b24sim", daemon=True)
    thread.start()
    deadline = time.monotonic() + START_TIMEOUT_S
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the portal did not start")
        time.sleep(0.001)
    try:
        yield
    finally:
        server.end()
        thread.join(START_TIMEOUT_S)
