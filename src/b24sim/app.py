"""The portal as an ASGI application: REST, downloads, the control room, and an old address that redirects."""

from b24sim.batch import Batch
from b24sim.context import Context, Method
from b24sim.control import control
from b24sim.downloads import HALF, download
from b24sim.envelope import Timing, envelope, xml
from b24sim.errors import RestError
from b24sim.faults import Rule
from b24sim.http import (
    BAD_GATEWAY,
    FORBIDDEN,
    HTML,
    LOGIN_PAGE,
    Receive,
    Scope,
    Send,
    hang_up,
    header,
    read_body,
    respond,
    respond_half,
    wait_for_disconnect,
)
from b24sim.limits import operating_limit, query_limit
from b24sim.methods.crm_items import GET_FILE
from b24sim.native.applications import NAME as TOKEN_NAME
from b24sim.native.applications import TOKEN
from b24sim.native.uploads import UPLOAD, take_upload
from b24sim.phpjson import decode, encode
from b24sim.portal import Portal
from b24sim.request import Address, Sent, parse_address, parse_params
from b24sim.result import Result

MOVED = "/_moved"
CONTROL = "/_sim/"
PAGES = {"502html": (502, BAD_GATEWAY), "403html": (403, FORBIDDEN), "html200": (200, LOGIN_PAGE)}
_BATCH = Method("batch", (), lambda _context, _params: Result(None), upper=True)


class App:
    """One portal over HTTP."""

    def __init__(self, portal: Portal):
        self.portal = portal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path: str = scope["path"]
        if path.startswith(CONTROL):
            await control(self.portal, scope, receive, send)
            return
        self.portal.stats.enter()
        try:
            await self._public(path, scope, receive, send)
        finally:
            self.portal.stats.leave()

    async def _public(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        if path.startswith(MOVED):
            await redirect(self.portal.company.portal_url + path.removeprefix(MOVED), scope, send)
            return
        if path.startswith(TOKEN) and self.portal.application:
            await self._token(scope, receive, send)
            return
        address = parse_address(path)
        if address is None or address.method in {"download", GET_FILE}:
            struck = self.portal.faults.strike("download", user=_owner(address))
            if not await self._before(struck, scope, receive, send, "download"):
                cut = next((rule.bytes or HALF for rule in struck if rule.kind == "truncated"), 0)
                await download(self.portal, address, scope, send, cut)
            return
        await self._rest(address, scope, receive, send)

    async def _rest(self, address: Address, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(receive)
        if self.portal.latency_s:
            await self.portal.clock.sleep(self.portal.latency_s)
        name = address.method
        self.portal.stats.methods[name] += 1
        self.portal.stats.carried[name] += name != "batch"
        struck = self.portal.faults.strike(name, user=_owner(address))
        if await self._before(struck, scope, receive, send, name):
            return
        status, answer = await self._answer(address, body, scope)
        self.portal.stats.bytes_sent += len(answer)
        if await self._after(struck, scope, receive, send, answer):
            return
        await self._send(address, status, answer, send)

    async def _answer(self, address: Address, body: bytes, scope: Scope) -> tuple[int, bytes]:
        portal = self.portal
        try:
            if portal.bucket:
                portal.bucket.take(_client(scope), portal.clock.now())
            if address.version == 3:
                return 404, encode(_v3_refusal(portal))
            if address.method == UPLOAD and portal.is_box:
                return self._uploaded(address, body, scope)
            method = _BATCH if address.method.lower() == "batch" else portal.method(address.method)
            sent = _sent(scope, body)
            params = {} if method.reads_body else parse_params(sent)
            caller = portal.authorize(address, str(params.get("auth") or ""))
            if method is _BATCH:
                batch = Batch(portal, caller)
                result = batch.run(params)
                timing, cost = batch.timing, batch.cost_s
            else:
                answer = portal.call(caller, method, params, sent)
                result, timing, cost = answer.result, answer.timing, answer.cost_s
            if portal.costs.wall:
                await portal.clock.sleep(cost)
            return 200, envelope(result, timing.encoded(portal.company.moments))
        except RestError as refusal:
            portal.stats.errors[str(refusal.code)] += 1
            return refusal.status, encode(refusal.body())

    async def _token(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The authorization server, which only tests look for on a portal's own host."""
        portal, body = self.portal, await read_body(receive)
        struck = portal.faults.strike(TOKEN_NAME)
        if portal.application is None or await self._before(struck, scope, receive, send, TOKEN_NAME):
            return
        params = parse_params(_sent(scope, body))
        try:
            renewed = portal.application.renewed(params, portal.clock.now(), portal.company.portal_url)
            status, answer = 200, encode(renewed)
        except RestError as refusal:
            portal.stats.errors[str(refusal.code)] += 1
            status, answer = refusal.status, encode(refusal.body())
        if not await self._after(struck, scope, receive, send, answer):
            await respond(send, status, answer)

    def _uploaded(self, address: Address, body: bytes, scope: Scope) -> tuple[int, bytes]:
        """A file, at an address that a method has returned."""
        portal, sent = self.portal, _sent(scope, body)
        context, now = Context(portal, portal.authorize(address), sent), portal.clock.now()
        result = take_upload(context, sent)
        return 200, envelope(result, Timing(now, now).encoded(portal.company.moments))

    async def _send(self, address: Address, status: int, answer: bytes, send: Send) -> None:
        headers = (
            () if self.portal.is_box else ((b"x-bitrix-rest-time", b"0.01"), (b"x-bitrix-rest-user-time", b"0.01"))
        )
        if address.form == "xml":
            document = f'<?xml version="1.0" encoding="UTF-8"?>{xml(decode(answer))}'
            await respond(send, status, document.encode(), b"text/xml; charset=utf-8", headers)
            return
        await respond(send, status, answer, headers=headers)

    async def _before(self, struck: list[Rule], scope: Scope, receive: Receive, send: Send, name: str) -> bool:
        """Misfortunes that come instead of the call, or delay it; True when the request is over."""
        for rule in struck:
            self.portal.stats.faults[rule.kind] += 1
            if rule.kind == "slow":
                await self.portal.clock.sleep(rule.seconds)
            elif rule.kind == "insert":
                self.portal.insert(name, rule.rows)
            elif rule.kind == "reset":
                await hang_up(scope, receive)
                return True
            elif rule.kind == "timeout":
                await wait_for_disconnect(receive)
                return True
            elif rule.kind in PAGES:
                await respond(send, *PAGES[rule.kind], HTML)
                return True
            elif refusal := _refusal(rule):
                self.portal.stats.errors[str(refusal.code)] += 1
                await respond(send, refusal.status, encode(refusal.body()))
                return True
        return False

    async def _after(self, struck: list[Rule], scope: Scope, receive: Receive, send: Send, answer: bytes) -> bool:
        """Misfortunes after the effect: the answer is cut, or never leaves."""
        kinds = {rule.kind for rule in struck}
        if "lost" in kinds:
            await hang_up(scope, receive)
            return True
        if "truncated" in kinds:
            await respond_half(scope, send, answer)
            return True
        return False


async def redirect(address: str, scope: Scope, send: Send) -> None:
    """The answer of the old host of a renamed portal."""
    query = scope["query_string"].decode("latin-1")
    location = f"{address}?{query}" if query else address
    await respond(send, 302, b"", HTML, ((b"location", location.encode("latin-1")),))


class OldAddress:
    """A second listener that sends all callers to the new host."""

    def __init__(self, portal: Portal):
        self.portal = portal

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.portal.stats.http_requests += 1
            await redirect(self.portal.company.portal_url + scope["path"], scope, send)


def _owner(address: Address | None) -> int:
    return int(address.user) if address and address.user.isdigit() else 0


def _refusal(rule: Rule) -> RestError | None:
    if rule.kind == "lapsed":  # the documentation's table says 403, the kernel answers 401
        return RestError("ACCESS_DENIED", "REST API is available only on commercial plans", 401)
    if rule.kind == "500":
        return RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
    if rule.kind == "query_limit":
        return query_limit(rule.retry_after)
    if rule.kind == "operating_limit":
        return operating_limit(rule.retry_after)
    return RestError(rule.code, "scripted", rule.status) if rule.kind == "error" else None


def _v3_refusal(portal: Portal) -> dict[str, object]:
    if portal.is_box:
        return RestError("ERROR_METHOD_NOT_FOUND", "Method not found!").body()
    return {"error": {"code": "BITRIX_REST_V3_EXCEPTION_METHODNOTFOUNDEXCEPTION", "message": "Method not found"}}


def _sent(scope: Scope, body: bytes) -> Sent:
    return Sent(body, header(scope, b"content-type"), scope["query_string"].decode("latin-1"))


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""
