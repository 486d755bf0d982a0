"""A simulated portal that changes some of its answers until it is switched back."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any
from urllib.parse import parse_qs

from tests.fuzz.mutations import ODD_LOCATIONS, Mutator

from b24sim.app import App
from b24sim.http import TRANSPORT, Receive, Scope, Send, read_body
from b24sim.portal import Portal

CHUNK = b" " * 65536
ENDLESS_CHUNKS = 16_000


class OddApp(App):
    """`made`: what was done to which method's answers."""

    def __init__(self, portal: Portal, mutator: Mutator) -> None:
        super().__init__(portal)
        self._mutator = mutator
        self.honest = False
        self.made: list[tuple[str, str]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.honest or scope["type"] != "http" or scope["path"].startswith("/_sim/") or not self._mutator.strikes():
            await super().__call__(scope, receive, send)
            return
        body = await read_body(receive)
        answer = _Answer()
        await super().__call__(scope, _once(body), answer.take)
        method = scope["path"].rstrip("/").rpartition("/")[2].removesuffix(".json").lower()
        is_json = b"json" in dict(answer.headers).get(b"content-type", b"")
        kind = self._mutator.wire(file=not is_json)
        if kind:
            self.made.append((kind, method))
            self._mutator.done(kind)
            await self._on_the_wire(kind, answer, scope)
            return
        kind, changed = self._mutator.body(method, answer.body, _commands(scope, body))
        if kind:
            self.made.append((kind, method))
            self._mutator.done(kind)
        await _send(send, answer.status, [(b"content-type", b"application/json")], changed)

    async def _on_the_wire(self, kind: str, answer: _Answer, scope: Scope) -> None:
        transport = scope["extensions"][TRANSPORT]
        if kind == "odd_redirect":
            location = self._mutator.choose(ODD_LOCATIONS).encode()
            transport.write(b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n")
        elif kind == "wrong_length":
            length = self._mutator.choose(["abc", "-5", "9" * 40, "1, 2", ""]).encode()
            transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + length)
            transport.write(b"\r\n\r\n" + answer.body[: len(answer.body) // 2])
        elif kind == "half_sent":
            transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ")
            transport.write(str(len(answer.body) + 1).encode() + b"\r\n\r\n" + answer.body)
        else:
            transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(ENDLESS_CHUNKS):
                if transport.is_closing():
                    break
                transport.write(b"%x\r\n" % len(CHUNK) + CHUNK + b"\r\n")
                while transport.get_write_buffer_size() and not transport.is_closing():
                    await asyncio.sleep(0.001)
        transport.close()
        with contextlib.suppress(Exception):
            await asyncio.sleep(0)


class _Answer:
    """The original answer of the portal."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""

    async def take(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message.get("headers", ()))
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")


def _once(body: bytes) -> Receive:
    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _commands(scope: Scope, body: bytes) -> dict[str, str]:
    """Of a batch."""
    with contextlib.suppress(ValueError):
        data = json.loads(body or b"{}")
        commands = data.get("cmd") if isinstance(data, dict) else None
        return {str(key): str(text) for key, text in commands.items()} if isinstance(commands, dict) else {}
    return {key: values[0] for key, values in parse_qs(scope["query_string"].decode()).items()}


async def _send(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})
