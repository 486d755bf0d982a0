"""All of the dashboard, behind its guard."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from b24migrate import __version__
from b24migrate.model.errors import MigrationError
from b24migrate.web.context import Context
from b24migrate.web.guard import Guard
from b24migrate.web.overview_cache import OverviewCache
from b24migrate.web.pages import Pages
from b24migrate.web.responses import Answer, Refused
from b24migrate.web.routes_actions import action_routes, session_routes
from b24migrate.web.routes_decisions import decision_routes
from b24migrate.web.routes_read import read_routes
from b24migrate.web.static import Static

ROOT = "/api/v1"
ABOUT = """The state of a migration from a Bitrix24 Cloud portal to a box, and actions on it.

Every refusal is `{"code", "message", "hint"}`; `GET /api/v1/errors/{code}` explains a code. Times are UTC, durations
seconds. A change is a POST with `Content-Type: application/json` and the header `X-B24migrate: 1`. Every request
needs the token: `Authorization: Bearer TOKEN`, or the cookie that `POST /api/v1/login` sets."""


def make_application(context: Context) -> FastAPI:
    app = FastAPI(
        title="b24migrate dashboard",
        version=__version__,
        description=ABOUT,
        openapi_url=f"{ROOT}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=Answer,
        separate_input_output_schemas=False,
    )
    overviews = OverviewCache(context)
    pages = Pages(context, Static())
    app.include_router(read_routes(context, overviews), prefix=ROOT)
    app.include_router(action_routes(context, overviews), prefix=ROOT)
    app.include_router(session_routes(context), prefix=ROOT)
    app.include_router(decision_routes(context, overviews), prefix=ROOT)
    app.include_router(pages.router())
    app.add_middleware(Guard, hosts=context.hosts, sessions=context.sessions, redact=context.redact, page=pages.refuse)
    app.add_exception_handler(MigrationError, _passed_on)
    app.add_exception_handler(HTTPException, _unserved)
    app.add_exception_handler(RequestValidationError, _invalid)
    _warm(app)
    return app


def _warm(app: FastAPI) -> None:
    """The framework prepares the routes at the first request, which takes half a second. This does it before."""
    for route in app.routes:
        route.matches({"type": "http", "method": "GET", "path": "/", "root_path": "", "headers": []})


# ---------------------------------------------------------------- what the framework refuses, in our words


async def _passed_on(_: Request, error: Exception) -> Response:
    raise error  # the guard answers


async def _unserved(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for these
    if error.status_code == 404:
        raise Refused(404, "DASHBOARD_NOT_FOUND", "page") from None
    if error.status_code == 405:
        raise Refused(405, "DASHBOARD_METHOD", "method", headers={"Allow": _allowed_methods(request)}) from None
    raise Refused(error.status_code, "DASHBOARD_BODY", "unreadable") from None


def _allowed_methods(request: Request) -> str:
    """By every route of this address; the framework names those of one."""
    found: set[str] = set()
    for route in request.app.routes:
        for method in ("GET", "POST"):
            if route.matches({**request.scope, "method": method})[0] is Match.FULL:
                found.add(method)
    return ", ".join(sorted(found))


async def _invalid(_: Request, error: Exception) -> Response:
    """Names the value, and never repeats it: it may be anything."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for these
    first: Any = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:] if not isinstance(part, int)) or "the body"
    message = str(first["msg"]).removeprefix("Value error, ")
    raise Refused(422, "USAGE", "value", where=_plain(where), said=message) from None


def _plain(text: str) -> str:
    return text if text.isascii() and text.isprintable() and len(text) <= 80 else "a name that is not known"
