"""Middleware: checks every request before it is read, and every answer before it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from b24migrate.model.errors import MigrationError
from b24migrate.web import auth
from b24migrate.web.auth import CONNECTION, Hosts, Sessions
from b24migrate.web.request_schemas import chosen_language
from b24migrate.web.responses import Answer, Problem, Refused, bug, refusal
from b24migrate.web.static import ROOT as STATIC

LARGEST_BODY = 64 * 1024
LONGEST_ADDRESS = 32 * 1024
BODY_S, STRANGERS_BODY_S = 10.0, 3.0  # a slower body is refused
TEXTS = ("application/json", "text/", "image/svg")
IN_PARTS = "text/csv"  # its parts are whole lines: no secret is in two of them

Redact = Callable[[str], str]
Shown = Callable[[Scope, Answer, Problem], Response | None]


class Guard:
    """`page` renders a refusal as a page, for requests of pages."""

    def __init__(self, app: ASGIApp, *, hosts: Hosts, sessions: Sessions, redact: Redact, page: Shown) -> None:
        self._app = app
        self._hosts = hosts
        self._sessions = sessions
        self._redact = redact
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        answered = _CleanSend(send, self._redact, head=scope["method"] == "HEAD", path=scope["path"])
        try:
            scope = self._received(scope)
            patience_s = BODY_S if await self._admitted(scope) else STRANGERS_BODY_S
            body = await _body(scope, receive, patience_s)
            inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
            await self._app(inner, _replay(body), answered)
        except MigrationError as error:
            await self._send_refusal(scope, answered, *refusal(error, self._language(scope)))
        except Exception as found:  # noqa: BLE001 - the one place where a bug becomes an answer
            problem = bug(found, self._redact)
            await self._send_refusal(scope, answered, Answer(problem, 500), problem)

    def _received(self, scope: Scope) -> Scope:
        """The request with the address and the scheme of the client, also behind a proxy. Raises Refused."""
        headers = Headers(scope=scope)
        self._hosts.refuse(",".join(headers.getlist("host")))  # two readers could take different ones of two
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            raise Refused(414, "DASHBOARD_ADDRESS", "address")
        client = scope.get("client") or ("", 0)
        address, scheme = self._hosts.client_of(headers, str(client[0]), scope["scheme"])
        if scope["path"].startswith("/api/") or scope["path"] == "/metrics":
            auth.refuse_cross_site(headers, self._hosts)
        return {**scope, "client": (address, client[1]), "scheme": scheme}

    async def _admitted(self, scope: Scope) -> bool:
        """Whether the token was shown; raises Refused where it has to be. Its connection is kept before others then."""
        path = scope["path"]
        if path in auth.OPEN or path.startswith(STATIC):
            return False
        asked = dict(Headers(scope=scope)), scope["client"][0]
        sessions = self._sessions
        remote = sessions.logouts.remote
        if not (await asyncio.to_thread(sessions.is_signed_in, *asked) if remote else sessions.is_signed_in(*asked)):
            raise Refused(401, "DASHBOARD_TOKEN", "token", headers={"WWW-Authenticate": "Bearer"})
        if CONNECTION in scope:
            scope[CONNECTION].known = True
        return True

    async def _send_refusal(self, scope: Scope, send: _CleanSend, answer: Answer, problem: Problem) -> None:
        if send.begun:
            return  # too late to say it
        shown = self._page(scope, answer, problem) or answer
        await shown(scope, _replay(b""), send)

    def _language(self, scope: Scope) -> str:
        wanted = parse_qs(scope["query_string"][:LONGEST_ADDRESS].decode("latin-1")).get("lang", [""])[0]
        return chosen_language(Request(scope), wanted)


async def _body(scope: Scope, receive: Receive, patience_s: float) -> bytes:
    """The whole of it, or Refused: nothing behind this reads from the network."""
    declared = Headers(scope=scope).get("content-length", "0")
    if declared.isdecimal() and int(declared[:18]) > LARGEST_BODY:
        raise _too_large()
    found = bytearray()
    try:
        async with asyncio.timeout(patience_s):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Refused(400, "DASHBOARD_BODY", "unreadable")
                found += message.get("body", b"")
                if len(found) > LARGEST_BODY:
                    raise _too_large()
                if not message.get("more_body"):
                    return bytes(found)
    except TimeoutError:
        raise Refused(408, "DASHBOARD_BODY", "slow") from None


def _too_large() -> Refused:
    return Refused(413, "DASHBOARD_BODY", "large", kb=LARGEST_BODY // 1024, headers={"Connection": "close"})


def _replay(body: bytes) -> Receive:
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    return receive


class _CleanSend:
    """Sends an answer with the common headers and without secrets; without a body for HEAD."""

    def __init__(self, send: Send, redact: Redact, *, head: bool, path: str) -> None:
        self._send = send
        self._redact = redact
        self._head = head
        self._static = path.startswith(STATIC)
        self._start: MutableMapping[str, Any] | None = None
        self._body = bytearray()
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        self._body += message.get("body", b"")
        if self._start is None:
            return
        if Headers(raw=self._start["headers"]).get("content-type", "").startswith(IN_PARTS):
            await self._send_part(self._start, more=message.get("more_body", False))
            return
        if message.get("more_body"):
            return
        self.begun = True
        body = self._cleaned(Headers(raw=self._start["headers"]))
        headers = self._common_headers(self._start)
        if self._start["status"] not in (204, 304):
            headers["content-length"] = str(len(body))
        await self._send({**self._start, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": b"" if self._head else body})

    async def _send_part(self, start: MutableMapping[str, Any], *, more: bool) -> None:
        if not self.begun:
            self.begun = True
            await self._send({**start, "headers": self._common_headers(start).raw})
        part = self._cleaned(Headers(raw=start["headers"]))
        self._body.clear()
        await self._send({"type": "http.response.body", "body": b"" if self._head else part, "more_body": more})

    @staticmethod
    def _common_headers(start: MutableMapping[str, Any]) -> MutableHeaders:
        headers = MutableHeaders(raw=start["headers"])
        for name, value in auth.HEADERS.items():
            headers.setdefault(name, value)
        return headers

    def _cleaned(self, headers: Mapping[str, str]) -> bytes:
        """Our texts are UTF-8. Files next to the program are sent unchanged."""
        body = bytes(self._body)
        if self._static or not headers.get("content-type", "").startswith(TEXTS):
            return body
        text = body.decode("utf-8")
        clean = self._redact(text)
        return body if clean is text or clean == text else clean.encode("utf-8")
