"""The part of the API that only looks."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC

from fastapi import APIRouter, Depends

from b24migrate.errors import BadConfiguration, Stop
from b24migrate.hosts.status_text import progress_sentence, sentence
from b24migrate.hosts.web import asked, findings, keeping, troubles
from b24migrate.hosts.web.answers import Answer, Problem, Refused, in_language
from b24migrate.hosts.web.asked import LOOK, After, CodePath, FateQuery, IdPath, Limit, Since, Sought, Speaks
from b24migrate.hosts.web.asked import StreamPath as StreamName
from b24migrate.hosts.web.asked import StreamQuery as SomeStream
from b24migrate.hosts.web.context import Context, Session
from b24migrate.hosts.web.deciding import possible
from b24migrate.hosts.web.seeing import Eye
from b24migrate.hosts.web.shapes import (
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
)
from b24migrate.phases.values import utc_text
from b24migrate.pipeline import looking_up, survey
from b24migrate.pipeline.certificate.admission import admitted
from b24migrate.pipeline.looking_up import Hits, RecordView
from b24migrate.pipeline.overview import points
from b24migrate.pipeline.overview.model import Overview

SEARCH_S = 1.0


def reading(context: Context, eye: Eye) -> APIRouter:
    router = APIRouter(responses=LOOK, dependencies=[asked.TOKEN, Depends(asked.spoken)])

    @router.get("/overview", response_model=Front, summary="The front page: verdict, progress, every entity")
    def overview(speaks: Speaks) -> Answer:
        last = context.actions.last()
        seen = eye.look(last)
        front = Front(
            **{one.name: getattr(seen, one.name) for one in fields(Overview)},
            sentence=sentence(speaks, seen, UTC),
            progress_sentence=progress_sentence(speaks, seen),
            can=possible(seen, last, context),
            last_action=last,
        )
        return Answer(in_language(front, speaks.language))

    @router.get("/history", response_model=History, summary="The chart: how the numbers grew, oldest first")
    def history(since: Since = None) -> Answer:
        with context.app() as app:
            return Answer(History(tuple(points(app.work.store, utc_text(since) if since else ""))))

    @router.get("/errors", response_model=Errors, summary="What failed, by cause, with what to do about it")
    def errors(speaks: Speaks) -> Answer:
        with context.app() as app:
            return Answer(in_language(troubles.errors(app.work), speaks.language))

    @router.get(
        "/errors/{code}",
        response_model=ErrorPage,
        responses=asked.refusals(404),
        summary="What an error code means",
    )
    def error(code: CodePath, speaks: Speaks) -> Answer:
        return Answer(in_language(troubles.page(code), speaks.language))

    @router.get("/findings", response_model=Findings, summary="What verify found, a page at a time")
    def found(
        speaks: Speaks, stream: SomeStream = "", fate: FateQuery = "", after: After = "", limit: Limit = 50
    ) -> Answer:
        with context.app() as app:
            return Answer(in_language(findings.page(app.work.store, stream, fate, after, limit), speaks.language))

    @router.get("/fidelity", response_model=FidelityView, summary="What the target does not keep, and who accepted it")
    def fidelity(speaks: Speaks) -> Answer:
        with context.app() as app:
            return Answer(in_language(keeping.view(app), speaks.language))

    @router.get("/search", response_model=Hits, responses=asked.refusals(404), summary="Records by id, e-mail or title")
    def search(q: Sought, stream: SomeStream = "", after: After = "") -> Answer:
        with context.app() as app:
            try:
                return Answer(looking_up.search(app.work, q, stream=stream, after=after, budget_s=SEARCH_S))
            except BadConfiguration:
                raise Refused(404, "DASHBOARD_NOT_FOUND", "place") from None

    @router.get(
        "/records/{stream}/{source_id:path}",
        response_model=RecordView,
        responses=asked.refusals(404),
        summary="One record: source, staged and target side by side",
    )
    def record(stream: StreamName, source_id: IdPath, speaks: Speaks) -> Answer:
        with context.app() as app:
            view = looking_up.record(app.work, stream, source_id)
        if view is None:
            raise Refused(404, "DASHBOARD_NOT_FOUND", "record")
        return Answer(in_language(view, speaks.language))

    @router.get("/analysis", response_model=Analysis, summary="The last analysis, and how well it foretold")
    def analysis(speaks: Speaks) -> Answer:
        last = context.actions.last()
        running = last is not None and last.what == "analyze" and last.exit_code is None
        with context.app() as app:
            made, found = survey.last(app.work.store), survey.compared(app.work.store)
        told = (ComparedView(one.entity, one.phase, one.foretold_s, one.took_s, round(one.error, 4)) for one in found)
        return Answer(in_language(Analysis(made, tuple(told), running), speaks.language))

    @router.get("/certificate", response_model=Certificate, summary="Whether a certificate can be made, and why not")
    def certificate(speaks: Speaks) -> Answer:
        seen = eye.look()
        streams = tuple(
            CertificateStream(one.name, one.source, one.read, one.imported, one.failed, one.excluded, one.impossible)
            for entity in seen.entities
            for one in entity.streams
        )
        run = seen.run.id if seen.run else ""
        found = Certificate((why := _refused(context)) is None, run, streams, why)
        return Answer(in_language(found, speaks.language))

    @router.get("/session", response_model=Session, summary="Where we are: version, store, portals, languages")
    def session(speaks: Speaks) -> Answer:
        return Answer(in_language(context.session(speaks.language), speaks.language))

    return router


def _refused(context: Context) -> Problem | None:
    with context.app() as app:
        try:
            admitted(app.work)
        except Stop as error:
            return Problem(error.code, error.message, error.hint)
    return None
