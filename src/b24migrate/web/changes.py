"""Shared by all routes that change something: a route first checks whether the request may be forged, then whether the
action is possible now."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.routing import APIRoute

from b24migrate.engine import plan
from b24migrate.messages import Words
from b24migrate.model.errors import BadConfiguration
from b24migrate.web import request_schemas, views
from b24migrate.web.actions import BUSY
from b24migrate.web.auth import refuse_forged
from b24migrate.web.context import Context
from b24migrate.web.overview_cache import OverviewCache
from b24migrate.web.request_schemas import CHANGE
from b24migrate.web.responses import Answer, Refused
from b24migrate.web.schemas import Accepted

ACCEPTED = 202


def change_router(context: Context) -> APIRouter:
    class Change(APIRoute):
        """Refuses before anything of the request is read."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def unforged(request: Request) -> Response:
                refuse_forged(request.headers, context.hosts)
                return await handle(request)

            return unforged

    every = [request_schemas.TOKEN, Depends(request_schemas.require_mark), Depends(request_schemas.choose_words)]
    return APIRouter(route_class=Change, responses=CHANGE, dependencies=every)


def accept(overviews: OverviewCache, words: Words, key: str) -> Answer:
    overviews.expire()
    return Answer(Accepted(words(f"web.{key}")), ACCEPTED)


def refuse_action(context: Context, overviews: OverviewCache, what: str) -> None:
    """By a fresh look: what was seen a second ago may be over."""
    last = context.actions.last()
    overview = overviews.look(last, fresh=True)
    if what in views.possible_actions(overview, last, context):
        return
    cannot = context.portals.cannot_start
    if cannot is not None:
        raise BadConfiguration(cannot.message, code=cannot.code, hint=cannot.hint)
    if last is not None and last.exit_code is None:
        raise Refused(409, BUSY, "busy")
    at_rest = overview.now.verdict in views.AT_REST
    if what == views.RETRY and at_rest:
        raise Refused(409, "NOTHING_FAILED", "nothing_failed")
    if what == views.RESUME and at_rest:
        raise Refused(409, plan.NO_RUN, "no_resume")
    raise Refused(409, plan.UNDER_WAY, "under_way" if overview.now.verdict in views.AT_WORK else "to_resume")
