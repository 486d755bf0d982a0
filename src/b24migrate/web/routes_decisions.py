"""The part of the API by which people decide: which version of a conflict stays, and the steps of the cutover."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter

from b24migrate.engine.cutover import find_obstacle, not_confirmed, undo_step
from b24migrate.engine.phases.cutover_state import FREEZE, LIVE, read_cutover
from b24migrate.entities.names import stream_name
from b24migrate.insight.conflicts import Wanted, read_decisions
from b24migrate.messages import Words
from b24migrate.report import csv_tables
from b24migrate.web import views
from b24migrate.web.changes import ACCEPTED, accept, change_router, refuse_action
from b24migrate.web.context import Context
from b24migrate.web.overview_cache import OverviewCache
from b24migrate.web.request_schemas import (
    STREAMS,
    CutoverWish,
    DecidedTable,
    DecisionWish,
    Speaks,
    SyncWish,
    UndoWish,
)
from b24migrate.web.responses import Answer
from b24migrate.web.schemas import Accepted, ConflictsDecided


def decision_routes(context: Context, overviews: OverviewCache) -> APIRouter:
    router = change_router(context)

    def decided(wanted: dict[Wanted, list[str]], speaks: Words, outdated: Sequence[tuple[str, str]] = ()) -> Answer:
        found = views.decide_conflicts(context, wanted, outdated, speaks)
        overviews.expire()
        return Answer(found)

    @router.post("/conflicts", response_model=ConflictsDecided, summary="Decide which version of these records stays")
    def decide(speaks: Speaks, wish: DecisionWish) -> Answer:
        wanted: dict[Wanted, list[str]] = {}
        for one in wish.records:
            wanted.setdefault(Wanted(wish.decision, one.stream), []).append(one.source_id)
        return decided(wanted, speaks)

    @router.post("/conflicts/csv", response_model=ConflictsDecided, summary="Decide by the column decision of a table")
    def decide_by_table(speaks: Speaks, wish: DecidedTable) -> Answer:
        table = csv_tables.parse_lines(wish.csv.removeprefix("\ufeff"))
        with context.app() as app:
            found = read_decisions(app.context, table, speaks("web.table"), lambda name: stream_name(name, STREAMS))
        return decided(found.wanted, speaks, found.outdated)

    @router.post("/sync", status_code=ACCEPTED, response_model=Accepted, summary="Start a delta run")
    def sync(speaks: Speaks, wish: SyncWish) -> Answer:
        refuse_action(context, overviews, views.CUTOVER)
        context.actions.sync(report_only=wish.report_only)
        return accept(overviews, speaks, "synced")

    @router.post("/cutover", status_code=ACCEPTED, response_model=Accepted, summary="Start a step of the cutover")
    def cut_over(speaks: Speaks, wish: CutoverWish) -> Answer:
        refuse_action(context, overviews, views.CUTOVER)
        with context.app() as app:
            obstacle = find_obstacle(app.context, app.planned(), read_cutover(app.context.store), wish.step)
        if obstacle is None and wish.step in (FREEZE, LIVE) and not wish.confirmed:
            obstacle = not_confirmed()
        if obstacle is not None:
            raise obstacle
        context.actions.cutover(wish.step)
        return accept(overviews, speaks, "step_started")

    @router.post("/cutover/undo", status_code=ACCEPTED, response_model=Accepted, summary="Undo a step of the cutover")
    def undo(speaks: Speaks, wish: UndoWish) -> Answer:
        with context.app() as app:
            undo_step(app.context, wish.step)
        return accept(overviews, speaks, "step_undone")

    return router
