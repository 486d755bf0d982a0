"""The dashboard as a function: the same pages and the same API, at the address of the function app. An action that is
started there is put on the queue, as every request is."""

from __future__ import annotations

import json
import math
import time
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

import azure.functions as func

from b24migrate.app_cache import AppCache
from b24migrate.config import dashboard_names, dashboard_token
from b24migrate.functions import http
from b24migrate.functions.http import Reply
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError
from b24migrate.ports import ANALYSIS, RegisterRow
from b24migrate.web.actions import LastAction

if TYPE_CHECKING:
    from azure.functions import AsgiMiddleware
    from starlette.types import ASGIApp, Receive, Scope, Send

LOGOUT = "logout:"  # prefix of the key of a row
LOOKED_S = 5.0
SESSIONS = 1000
OFF = say("web.off")
SWITCH = say("web.off_fix")


class Dashboard:
    """Created at the first request: functions that only process messages do not load its libraries."""

    def __init__(self, keeper: AppCache) -> None:
        self._keeper = keeper
        self._making = Lock()
        self._made: AsgiMiddleware | None = None

    async def answer(self, req: func.HttpRequest, context: func.Context) -> func.HttpResponse:
        try:
            with self._making:
                made = self._made = self._made or self._make()
        except MigrationError as error:
            return _refuse(error.message, error.hint or SWITCH)
        if made is None:
            return _refuse(OFF, SWITCH)
        try:
            answer: func.HttpResponse = await made.handle_async(req, context)
        except UnicodeDecodeError:  # raised by the middleware for an address that is not text
            return _refuse(say("web.no_page"), say("web.no_page_fix"), code="DASHBOARD_NOT_FOUND")
        return answer

    def _make(self) -> AsgiMiddleware | None:
        """None without a token: the dashboard would be public."""
        token = dashboard_token()
        if not token:
            return None
        from b24migrate.web.application import make_application
        from b24migrate.web.auth import Hosts, Sessions, check_token
        from b24migrate.web.context import Context

        context = Context(
            hosts=Hosts(more=dashboard_names(), every=True),
            sessions=Sessions.shared(check_token(token), StoredLogouts(self._keeper)),
            starter=Requests(self._keeper),
            kept=self._keeper,
        )
        return func.AsgiMiddleware(_add_client_address(make_application(context)))  # type: ignore[no-untyped-call]


class StoredLogouts:
    """Ended sessions are in the store, so that every instance knows them. An instance caches an answer for a few
    seconds."""

    remote = True

    def __init__(self, keeper: AppCache) -> None:
        self._keeper = keeper
        self._lock = Lock()
        self._open: OrderedDict[str, float] = OrderedDict()  # sessions that were not ended, and since when

    def add(self, session: str, until_s: float) -> None:
        with self._keeper.app() as app:
            store = app.context.store
            for row in store.rows(ANALYSIS, LOGOUT):
                if row.values["Data"]["until_s"] < time.time():
                    store.erase(ANALYSIS, row.key)
            store.write(ANALYSIS, [RegisterRow(LOGOUT + session, {"Data": {"until_s": until_s}})])
        with self._lock:
            self._open.pop(session, None)

    def has(self, session: str) -> bool:
        with self._lock:
            if time.monotonic() - self._open.get(session, -math.inf) < LOOKED_S:
                return False
        with self._keeper.app() as app:
            ended = app.context.store.read(ANALYSIS, LOGOUT + session) is not None
        with self._lock:
            self._open.pop(session, None)
            if not ended:
                self._open[session] = time.monotonic()
            while len(self._open) > SESSIONS:
                self._open.popitem(last=False)
        return ended


class Requests:
    """Begins things as `start`, `resume` and `retry` do. Nothing here takes as long as an analysis."""

    able: Sequence[str] = ("start", "resume", "retry")

    def __init__(self, keeper: AppCache) -> None:
        self._keeper = keeper

    def run(self, entities: Sequence[str], phases: Sequence[str], test_limit: int | None) -> None:
        wish = {"entities": list(entities), "phases": list(phases), "test_limit": test_limit}
        _require_done(http.start(self._keeper, json.dumps(wish).encode()))

    def resume(self) -> None:
        _require_done(http.resume(self._keeper))

    def retry(self, entities: Sequence[str], code: str) -> None:
        _require_done(http.retry(self._keeper, json.dumps({"entities": list(entities), "code": code}).encode()))

    def analyze(self) -> None:
        hint = say("web.no_analysis_fix")
        _require_done(Reply(409, {"code": "USAGE", "message": say("web.no_analysis"), "hint": hint}))

    def sync(self, *, report_only: bool) -> None:
        self.cutover("sync --report-only" if report_only else "sync")

    def cutover(self, step: str) -> None:
        """Not here: use a terminal, or a dashboard next to the store."""
        hint = say("web.no_cutover_fix", step=step)
        _require_done(Reply(409, {"code": "USAGE", "message": say("web.no_cutover"), "hint": hint}))

    def last(self) -> LastAction | None:
        """A refusal is reported at once, so there is no last action."""
        return None


def _add_client_address(app: ASGIApp) -> ASGIApp:
    """The middleware does not pass the address of the client; without it one guesser would lock out everyone. The last
    address is the one that Azure saw; a client can invent those before it."""

    async def asked(scope: Scope, receive: Receive, send: Send) -> None:
        from b24migrate.web.auth import last_address

        sent = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        await app({**scope, "client": (last_address(sent.get(b"x-forwarded-for", "")), 0)}, receive, send)

    return asked


def _require_done(reply: Reply) -> None:
    from b24migrate.web.responses import Relayed

    if reply.status >= http.USAGE:
        problem = {name: str(reply.body.get(name, "")) for name in ("message", "code", "hint")}
        raise Relayed(reply.status, problem["message"], code=problem["code"], hint=problem["hint"])


def _refuse(message: str, hint: str, code: str = "DASHBOARD_OFF") -> func.HttpResponse:
    body = json.dumps({"code": code, "message": message, "hint": hint}, ensure_ascii=False)
    return func.HttpResponse(body, status_code=404, mimetype="application/json", charset="utf-8")
