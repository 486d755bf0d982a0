"""The part of the API that changes something. Every route here looks first whether the request may be forged."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.routing import APIRoute

from b24migrate.engine import plan
from b24migrate.entities.names import stream_name
from b24migrate.insight.conflicts import Wanted, read_decisions
from b24migrate.messages import Words, say
from b24migrate.model.errors import BadConfiguration
from b24migrate.report import csv_tables
from b24migrate.web import request_schemas, views
from b24migrate.web.actions import BUSY
from b24migrate.web.auth import refuse_forged
from b24migrate.web.context import Context
from b24migrate.web.overview_cache import OverviewCache
from b24migrate.web.request_schemas import (
    CHANGE,
    STREAMS,
    AcceptWish,
    DecidedTable,
    DecisionWish,
    LoginWish,
    Nothing,
    RetryWish,
    RunWish,
    Speaks,
)
from b24migrate.web.responses import Answer, Refused
from b24migrate.web.schemas import Accepted, ConflictsDecided, Welcome

ACCEPTED = 202
BY = say("work.by_dashboard")


def action_routes(context: Context, overviews: OverviewCache) -> APIRouter:
    class Change(APIRoute):
        """Refuses before anything of the request is read."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def unforged(request: Request) -> Response:
                refuse_forged(request.headers, context.hosts)
                return await handle(request)

            return unforged

    every = [request_schemas.TOKEN, Depends(request_schemas.require_mark), Depends(request_schemas.choose_words)]
    router = APIRouter(route_class=Change, responses=CHANGE, dependencies=every)

    def accepted(words: Words, key: str) -> Answer:
        overviews.expire()
        return Answer(Accepted(words(f"web.{key}")), ACCEPTED)

    def decided(wanted: dict[Wanted, list[str]], speaks: Words) -> Answer:
        found = views.decide_conflicts(context, wanted, speaks)
        overviews.expire()
        return Answer(found)

    @router.post("/run", status_code=ACCEPTED, response_model=Accepted, summary="Start a run")
    def run(speaks: Speaks, wish: RunWish) -> Answer:
        _refuse(context, overviews, views.START)
        if wish.accept_fidelity:
            views.accept_seen(context, wish.accept_fidelity, BY)
        context.actions.run(wish.entities, wish.phases, wish.test_limit)
        return accepted(speaks, "started")

    @router.post("/pause", status_code=ACCEPTED, response_model=Accepted, summary="Pause the current run")
    def pause(speaks: Speaks, _: Nothing) -> Answer:
        with context.app() as app:
            paused = plan.pause(app.context.store, app.context.clock, by=BY)
        if paused is None:
            raise Refused(409, plan.NO_RUN, "no_pause")
        return accepted(speaks, "paused")

    @router.post("/resume", status_code=ACCEPTED, response_model=Accepted, summary="Resume the current run")
    def resume(speaks: Speaks, _: Nothing) -> Answer:
        _refuse(context, overviews, views.RESUME)
        context.actions.resume()
        return accepted(speaks, "resumed")

    @router.post("/retry", status_code=ACCEPTED, response_model=Accepted, summary="Retry failed records")
    def retry(speaks: Speaks, wish: RetryWish) -> Answer:
        _refuse(context, overviews, views.RETRY)
        context.actions.retry(wish.entities, wish.code)
        return accepted(speaks, "retried")

    @router.post(
        "/fidelity", status_code=ACCEPTED, response_model=Accepted, summary="Accept what the target does not keep"
    )
    def accept(speaks: Speaks, wish: AcceptWish) -> Answer:
        views.accept_seen(context, wish.hash, BY)
        return accepted(speaks, "fidelity_accepted")

    @router.post("/conflicts", response_model=ConflictsDecided, summary="Decide which version of these records stays")
    def decide(speaks: Speaks, wish: DecisionWish) -> Answer:
        wanted: dict[Wanted, list[str]] = {}
        for one in wish.records:
            wanted.setdefault(Wanted(wish.decision, one.stream), []).append(one.source_id)
        return decided(wanted, speaks)

    @router.post("/conflicts/csv", response_model=ConflictsDecided, summary="Decide by the column decision of a table")
    def decide_by_table(speaks: Speaks, wish: DecidedTable) -> Answer:
        table = csv_tables.parse_lines(wish.csv.removeprefix("\ufeff"))
        return decided(read_decisions(table, speaks("web.table"), lambda name: stream_name(name, STREAMS)), speaks)

    @router.post("/analysis", status_code=ACCEPTED, response_model=Accepted, summary="Make an analysis")
    def analyze(speaks: Speaks, _: Nothing) -> Answer:
        _refuse(context, overviews, views.ANALYZE)
        context.actions.analyze()
        return accepted(speaks, "analyzed")

    @router.post(
        "/login",
        response_model=Welcome,
        summary="Sign in with the token; sets the session cookie",
        openapi_extra={"security": []},
    )
    def login(request: Request, speaks: Speaks, wish: LoginWish) -> Answer:
        answer = Answer(Welcome(speaks("web.welcome")))
        sessions = context.sessions
        if not sessions.is_token(wish.token, request.client.host if request.client else ""):
            raise Refused(401, "DASHBOARD_TOKEN", "wrong_token")
        secure = request.url.scheme == "https"
        answer.set_cookie(sessions.cookie_name, sessions.new_cookie(), httponly=True, samesite="strict", secure=secure)
        return answer

    @router.post("/logout", response_model=Welcome, summary="End the session: its cookie no longer opens")
    def logout(request: Request, speaks: Speaks, _: Nothing) -> Answer:
        context.sessions.end(request.headers)
        answer = Answer(Welcome(speaks("web.farewell")))
        answer.delete_cookie(context.sessions.cookie_name, httponly=True, samesite="strict")
        return answer

    return router


def _refuse(context: Context, overviews: OverviewCache, what: str) -> None:
    """By a fresh look: what was seen a second ago may be over."""
    last = context.actions.last()
    seen = overviews.look(last, fresh=True)
    if what in views.possible_actions(seen, last, context):
        return
    cannot = context.portals.cannot_start
    if cannot is not None:
        raise BadConfiguration(cannot.message, code=cannot.code, hint=cannot.hint)
    if last is not None and last.exit_code is None:
        raise Refused(409, BUSY, "busy")
    at_rest = seen.now.verdict in views.AT_REST
    if what == views.RETRY and at_rest:
        raise Refused(409, "NOTHING_FAILED", "nothing_failed")
    if what == views.RESUME and at_rest:
        raise Refused(409, plan.NO_RUN, "no_resume")
    raise Refused(409, plan.UNDER_WAY, "under_way" if seen.now.verdict in views.AT_WORK else "to_resume")
