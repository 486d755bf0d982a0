"""The part of the API that begins, pauses and accepts something, and the login."""

from __future__ import annotations

from fastapi import APIRouter, Request

from b24migrate.engine import plan
from b24migrate.messages import say
from b24migrate.web import views
from b24migrate.web.changes import ACCEPTED, accept, change_router, refuse_action
from b24migrate.web.context import Context
from b24migrate.web.overview_cache import OverviewCache
from b24migrate.web.request_schemas import AcceptWish, LoginWish, Nothing, RetryWish, RunWish, Speaks
from b24migrate.web.responses import Answer, Refused
from b24migrate.web.schemas import Accepted, Welcome

BY = say("work.by_dashboard")


def action_routes(context: Context, overviews: OverviewCache) -> APIRouter:
    router = change_router(context)

    @router.post("/run", status_code=ACCEPTED, response_model=Accepted, summary="Start a run")
    def run(speaks: Speaks, wish: RunWish) -> Answer:
        refuse_action(context, overviews, views.START)
        if wish.accept_fidelity:
            views.accept_seen(context, wish.accept_fidelity, BY)
        context.actions.run(wish.entities, wish.phases, wish.test_limit)
        return accept(overviews, speaks, "started")

    @router.post("/pause", status_code=ACCEPTED, response_model=Accepted, summary="Pause the current run")
    def pause(speaks: Speaks, _: Nothing) -> Answer:
        with context.app() as app:
            paused = plan.pause(app.context.store, app.context.clock, by=BY)
        if paused is None:
            raise Refused(409, plan.NO_RUN, "no_pause")
        return accept(overviews, speaks, "paused")

    @router.post("/resume", status_code=ACCEPTED, response_model=Accepted, summary="Resume the current run")
    def resume(speaks: Speaks, _: Nothing) -> Answer:
        refuse_action(context, overviews, views.RESUME)
        context.actions.resume()
        return accept(overviews, speaks, "resumed")

    @router.post("/retry", status_code=ACCEPTED, response_model=Accepted, summary="Retry failed records")
    def retry(speaks: Speaks, wish: RetryWish) -> Answer:
        refuse_action(context, overviews, views.RETRY)
        context.actions.retry(wish.entities, wish.code)
        return accept(overviews, speaks, "retried")

    @router.post(
        "/fidelity", status_code=ACCEPTED, response_model=Accepted, summary="Accept what the target does not keep"
    )
    def accept_fidelity(speaks: Speaks, wish: AcceptWish) -> Answer:
        views.accept_seen(context, wish.hash, BY)
        return accept(overviews, speaks, "fidelity_accepted")

    @router.post("/analysis", status_code=ACCEPTED, response_model=Accepted, summary="Make an analysis")
    def analyze(speaks: Speaks, _: Nothing) -> Answer:
        refuse_action(context, overviews, views.ANALYZE)
        context.actions.analyze()
        return accept(overviews, speaks, "analyzed")

    return router


def session_routes(context: Context) -> APIRouter:
    router = change_router(context)

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
