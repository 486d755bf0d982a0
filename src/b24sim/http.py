"""The little of HTTP that the simulator needs, on bare ASGI: speed matters more than comfort here."""

import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON = b"application/json; charset=utf-8"
HTML = b"text/html; charset=UTF-8"
TRANSPORT = "b24sim.transport"
LOGIN_PAGE = b"<!DOCTYPE html><html><head><title>Bitrix24</title></head><body><form>Authorization</form></body></html>"
BAD_GATEWAY = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
FORBIDDEN = b"<html><head><title>403 Forbidden</title></head><body><h1>403 Forbidden</h1></body></html>"
NOT_FOUND = b"<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1></body></html>"


async def read_body(receive: Receive) -> bytes:
    message = await receive()
    if not message.get("more_body"):
        return bytes(message.get("body", b""))
    chunks = [message.get("body", b"")]
    while message.get("more_body"):
        message = await receive()
        chunks.append(message.get("body", b""))
    return b"".join(chunks)


def header(scope: Scope, name: bytes) -> str:
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return ""


async def respond(
    send: Send, status: int, body: bytes, content_type: bytes = JSON, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    length = str(len(body)).encode()
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", content_type), (b"content-length", length), *headers],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def respond_half(scope: Scope, send: Send, body: bytes) -> None:
    """Promise the whole body, send half of it, and hang up."""
    length = str(len(body)).encode()
    start = {
        "type": "http.response.start",
        "status": 200,
        "headers": [(b"content-type", JSON), (b"content-length", length)],
    }
    await send(start)
    await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
    close(scope)


async def respond_in_pieces(
    scope: Scope,
    send: Send,
    start: Message,
    pieces: Iterator[bytes],
    count: Callable[[int], None],
    *,
    whole: bool = True,
) -> None:
    """A body that is never in memory as a whole. It ends when the client disconnects; `count` gets the bytes sent."""
    transport = scope.get("extensions", {}).get(TRANSPORT)
    await send({"type": "http.response.start", **start})
    for piece in pieces:
        if transport is not None and transport.is_closing():
            return
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        count(len(piece))
    if whole:
        await send({"type": "http.response.body", "body": b""})


def close(scope: Scope) -> None:
    transport = scope.get("extensions", {}).get(TRANSPORT)
    if transport is not None:
        transport.close()


async def hang_up(scope: Scope, receive: Receive) -> None:
    """Drop the connection without an answer, as a reset."""
    transport = scope.get("extensions", {}).get(TRANSPORT)
    if transport is None:
        raise ConnectionResetError
    connection = transport.get_extra_info("socket")
    if connection is not None:
        # A zero linger time makes the kernel send RST instead of a polite FIN.
        with contextlib.suppress(OSError, AttributeError, TypeError, ValueError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
    await wait_for_disconnect(receive)


async def wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
