"""The part of the API that only reads."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC

from fastapi import APIRouter, Depends

from b24migrate.insight import cutover as cutovers
from b24migrate.insight import forecast, lookup
from b24migrate.insight.certificate.write import require_complete
from b24migrate.insight.conflicts import ConflictPage, list_conflicts
from b24migrate.insight.cutover import CutoverView
from b24migrate.insight.last_pass import last_pass
from b24migrate.insight.lookup import Hits, RecordView
from b24migrate.insight.status import points
from b24migrate.insight.status.model import Overview
from b24migrate.model.errors import BadConfiguration, Stop
from b24migrate.model.values import utc_text
from b24migrate.report.status_text import progress_sentence, sentence
from b24migrate.web import request_schemas, views
from b24migrate.web.context import Context, Session
from b24migrate.web.overview_cache import OverviewCache
from b24migrate.web.request_schemas import (
    LOOK,
    After,
    ChainsQuery,
    CodePath,
    FateQuery,
    IdPath,
    Limit,
    Since,
    Sought,
    Speaks,
    Undecided,
)
from b24migrate.web.request_schemas import StreamPath as StreamName
from b24migrate.web.request_schemas import StreamQuery as SomeStream
from b24migrate.web.responses import Answer, CsvAnswer, Problem, Refused, in_language
from b24migrate.web.schemas import (
    Analysis,
    Certificate,
    CertificateStream,
    ComparedView,
    ErrorPage,
    Errors,
    FidelityView,
    Findings,
    Front,
    History,
    PassView,
)
from b24migrate.web.views import possible_actions

SEARCH_S = 1.0


def read_routes(context: Context, overviews: OverviewCache) -> APIRouter:
    router = APIRouter(responses=LOOK, dependencies=[request_schemas.TOKEN, Depends(request_schemas.choose_words)])
    _add_progress(router, context, overviews)
    _add_problems(router, context)
    _add_records(router, context)
    _add_results(router, context, overviews)
    return router


def _add_progress(router: APIRouter, context: Context, overviews: OverviewCache) -> None:
    @router.get("/overview", response_model=Front, summary="The front page: verdict, progress, every entity")
    def overview(speaks: Speaks) -> Answer:
        last = context.actions.last()
        current = overviews.look(last)
        front = Front(
            **{one.name: getattr(current, one.name) for one in fields(Overview)},
            sentence=sentence(speaks, current, UTC),
            progress_sentence=progress_sentence(speaks, current),
            can=possible_actions(current, last, context),
            last_action=last,
        )
        return Answer(in_language(front, speaks.language))

    @router.get("/history", response_model=History, summary="The chart: how the numbers grew, oldest first")
    def history(since: Since = None) -> Answer:
        with context.app() as app:
            return Answer(History(tuple(points(app.context.store, utc_text(since) if since else ""))))

    @router.get(
        "/pass", response_model=PassView, summary="The last run: records read and changed, changes not detected"
    )
    def newest_pass(speaks: Speaks) -> Answer:
        with context.app() as app:
            return Answer(in_language(PassView(last_pass(app.context)), speaks.language))


def _add_problems(router: APIRouter, context: Context) -> None:
    @router.get("/errors", response_model=Errors, summary="Errors by cause, each with its fix")
    def errors(speaks: Speaks, chains: ChainsQuery = False) -> Answer:
        with context.app() as app:
            return Answer(in_language(views.view_errors(app.context, with_chains=chains), speaks.language))

    @router.get(
        "/errors/{code}",
        response_model=ErrorPage,
        responses=request_schemas.refusals(404),
        summary="The meaning of an error code",
    )
    def error(code: CodePath, speaks: Speaks) -> Answer:
        return Answer(in_language(views.error_page(code), speaks.language))

    @router.get("/findings", response_model=Findings, summary="Differences that verify found, a page at a time")
    def found(
        speaks: Speaks, stream: SomeStream = "", fate: FateQuery = "", after: After = "", limit: Limit = 50
    ) -> Answer:
        with context.app() as app:
            return Answer(
                in_language(views.findings_page(app.context.store, stream, fate, after, limit), speaks.language)
            )

    @router.get("/conflicts", response_model=ConflictPage, summary="Changes on both sides, a page at a time")
    def conflicts(
        stream: SomeStream = "", undecided: Undecided = False, after: After = "", limit: Limit = 50
    ) -> Answer:
        with context.app() as app:
            return Answer(list_conflicts(app.context, stream, after, limit, undecided=undecided))

    @router.get(
        "/conflicts/csv",
        response_class=CsvAnswer,
        responses=request_schemas.TABLE,
        summary="The same as a table, to be decided in a spreadsheet",
    )
    def conflict_table(stream: SomeStream = "", undecided: Undecided = False) -> CsvAnswer:
        return CsvAnswer(views.conflict_table(context, stream, undecided=undecided), "conflicts.csv")

    @router.get("/cutover", response_model=CutoverView, summary="The steps of the cutover, the forecast, who writes")
    def cutover(speaks: Speaks) -> Answer:
        with context.app() as app:
            return Answer(in_language(cutovers.view(app.context, app.planned()), speaks.language))

    @router.get("/fidelity", response_model=FidelityView, summary="The fidelity list, and the user who accepted it")
    def fidelity(speaks: Speaks) -> Answer:
        with context.app() as app:
            return Answer(in_language(views.view_fidelity(app), speaks.language))


def _add_records(router: APIRouter, context: Context) -> None:
    @router.get(
        "/search",
        response_model=Hits,
        responses=request_schemas.refusals(404),
        summary="Find records by ID, email or title",
    )
    def search(q: Sought, stream: SomeStream = "", after: After = "") -> Answer:
        with context.app() as app:
            try:
                return Answer(lookup.search(app.context, q, stream=stream, after=after, budget_s=SEARCH_S))
            except BadConfiguration:
                raise Refused(404, "DASHBOARD_NOT_FOUND", "place") from None

    @router.get(
        "/records/{stream}/{source_id:path}",
        response_model=RecordView,
        responses=request_schemas.refusals(404),
        summary="One record: source, staged and target side by side",
    )
    def record(stream: StreamName, source_id: IdPath, speaks: Speaks) -> Answer:
        with context.app() as app:
            view = lookup.record(app.context, stream, source_id)
        if view is None:
            raise Refused(404, "DASHBOARD_NOT_FOUND", "record")
        return Answer(in_language(view, speaks.language))


def _add_results(router: APIRouter, context: Context, overviews: OverviewCache) -> None:
    @router.get("/analysis", response_model=Analysis, summary="The last forecast, and how it compares with the run")
    def analysis(speaks: Speaks) -> Answer:
        last = context.actions.last()
        running = last is not None and last.what == "analyze" and last.exit_code is None
        with context.app() as app:
            made, found = forecast.load_last(app.context.store), forecast.compare_forecast(app.context.store)
        compared = (
            ComparedView(one.entity, one.phase, one.foretold_s, one.took_s, round(one.error, 4)) for one in found
        )
        return Answer(in_language(Analysis(made, tuple(compared), running), speaks.language))

    @router.get("/certificate", response_model=Certificate, summary="Whether a certificate can be made, and why not")
    def certificate(speaks: Speaks) -> Answer:
        current = overviews.look()
        streams = tuple(
            CertificateStream(
                *(one.name, one.source, one.read, one.imported, one.failed, one.excluded, one.impossible, one.deleted)
            )
            for entity in current.entities
            for one in entity.streams
        )
        run = current.run.id if current.run else ""
        found = Certificate((why := _read_refusal(context)) is None, run, streams, why)
        return Answer(in_language(found, speaks.language))

    @router.get("/session", response_model=Session, summary="Version, store, portals, languages")
    def session(speaks: Speaks) -> Answer:
        found = context.session(speaks.language, overviews.look().undecided)
        return Answer(in_language(found, speaks.language))


def _read_refusal(context: Context) -> Problem | None:
    with context.app() as app:
        try:
            require_complete(app.context)
        except Stop as error:
            return Problem(error.code, error.message, error.hint)
    return None
