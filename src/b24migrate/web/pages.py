"""The pages: templates with texts and facts. All values are escaped; the scripts request live data."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.types import Scope

from b24migrate import __version__
from b24migrate.insight.status import figures
from b24migrate.messages import LANGUAGES, words
from b24migrate.monitor import metrics
from b24migrate.report import Site
from b24migrate.report.write import NAMES, PAGE
from b24migrate.web.context import Context
from b24migrate.web.report_cache import ReportCache, read_table
from b24migrate.web.request_schemas import LANGUAGE_COOKIE, STREAMS, chosen_language
from b24migrate.web.responses import Answer, CsvAnswer, Problem, Refused
from b24migrate.web.static import ROOT, Static

PAGES = ("errors", "findings", "conflicts", "cutover", "fidelity", "search", "analysis", "api")
PLAIN = {"/": "front", **{f"/{name}": name for name in PAGES}}
REPORT = "/report"
AGAIN_S = 2  # a browser asks again for a report that is being made
YEAR_S = 365 * 86400
UNAUTHORIZED = 401


class Pages:
    def __init__(self, context: Context, static: Static) -> None:
        self._context = context
        self._static = static
        self._reports = ReportCache(context, Site(static=static.prefix, tables=f"{REPORT}/", home="/"))
        self._templates = Environment(
            loader=PackageLoader(__package__),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, request: Request, name: str, answered: int = 200, **facts: Any) -> Response:
        """`name` is the template's, `facts` are its own. These every page has: words, language, languages, page,
        version, static (where its files are), signed_in, bare."""
        language = chosen_language(request, request.query_params.get("lang"))
        every: dict[str, Any] = {
            "words": words(language),
            "language": language,
            "languages": LANGUAGES,
            "page": name.removesuffix(".html"),
            "version": __version__,
            "static": self._static.prefix,
            "signed_in": True,
            "bare": False,
        }
        text = self._templates.get_template(name).render({**every, **facts})
        return self._answer(request, text.encode("utf-8", "replace"), answered)

    def _answer(self, request: Request, page: bytes, status: int) -> Response:
        """Keeps the language that the address chooses."""
        wanted = request.query_params.get("lang")
        language = chosen_language(request, wanted)
        answer = HTMLResponse(page, status)
        answer.headers["content-language"] = language
        answer.headers["vary"] = "Accept-Language, Cookie"
        if wanted in LANGUAGES:
            answer.set_cookie(LANGUAGE_COOKIE, language, max_age=YEAR_S, httponly=True, samesite="strict")
        return answer

    def refuse(self, scope: Scope, answer: Answer, problem: Problem) -> Response | None:
        """A page for requests of pages, None for requests of the API."""
        path = scope["path"]
        request = Request(scope)
        if path.startswith(("/api/", ROOT)) or path == "/metrics" or "html" not in request.headers.get("accept", ""):
            return None
        if answer.status_code == UNAUTHORIZED:
            query = scope["query_string"].decode("latin-1")
            wanted = quote(path, safe="/") + (f"?{query}" if query else "")
            return RedirectResponse(f"/login?next={quote(wanted, safe='')}", 303)
        values = {"code": problem.code, "message": problem.message, "hint": problem.hint, "status": answer.status_code}
        made = self.render(request, "problem.html", answer.status_code, **values)
        made.headers.update({name: value for name, value in answer.headers.items() if name in ("allow", "retry-after")})
        return made

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)

        def plain(name: str) -> Any:
            return lambda request: self.render(request, f"{name}.html")

        for path, name in PLAIN.items():
            router.add_route(path, plain(name), methods=["GET"], name=name)

        @router.get("/login")
        def login(request: Request) -> Response:
            return self.render(request, "login.html", signed_in=False)

        @router.get(REPORT)
        def report(request: Request) -> Response:
            language = chosen_language(request, request.query_params.get("lang"))
            folder = self._reports.look(language)
            if folder is None:
                waiting = self.render(request, "report.html", 202)
                waiting.headers["refresh"] = str(AGAIN_S)
                return waiting
            return self._answer(request, (folder / PAGE).read_bytes(), 200)

        @router.get(REPORT + "/{name}")
        def report_table(request: Request, name: str) -> Response:
            if name not in NAMES or name == PAGE:
                raise Refused(404, "DASHBOARD_NOT_FOUND", "page")
            folder = self._reports.last(chosen_language(request, None))
            return RedirectResponse(REPORT, 303) if folder is None else CsvAnswer(read_table(folder / name), name)

        @router.get("/records/{stream}/{source_id:path}")
        def record(request: Request, stream: str, source_id: str) -> Response:
            known = stream if stream in STREAMS else ""
            return self.render(request, "record.html", stream=known, source_id=source_id)

        @router.get("/metrics")
        def prometheus() -> Response:
            with self._context.app() as app:
                found = figures(app.context)
            return PlainTextResponse(metrics.text(lambda: found), media_type="text/plain; version=0.0.4; charset=utf-8")

        @router.get(ROOT + "{name:path}")
        def file(request: Request, name: str) -> Response:
            return self._static.answer(request, name)

        return router
