"""One record on every side, as the tests ask for it and read it."""

from __future__ import annotations

import json
from typing import Any

from tests.engine.world import World

from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.lookup import RecordView, record
from b24migrate.insight.lookup.model import FieldRow
from b24migrate.model.records import Staged


def looked_up(made: World, stream: str, source_id: object, **more: Any) -> RecordView:
    with made.app() as app:
        found = record(app.context, stream, str(source_id), **more)
    assert found is not None
    return found


def all_of(made: World, table: str, stream: str) -> list[RecordView]:
    with made.app() as app:
        found = [record(app.context, stream, key) for key in made.records(table)]
    return [one for one in found if one is not None]


def field(view: RecordView, name: str) -> FieldRow:
    return next(one for one in view.fields if one.name == name)


def texts(row: FieldRow) -> tuple[str | None, ...]:
    return tuple(one.text if one else None for one in (row.source, row.staged, row.sent, row.target))


def first(made: World, table: str, status: str = "IMPORT_OK") -> str:
    return next(key for key, row in made.records(table).items() if row["Status"] == status)


def target_id(made: World, stream: str, source_id: str) -> str:
    ((found,),) = made.sql("SELECT TargetId FROM IdMap WHERE RowKey = ?", f"{stream}:{source_id}")
    return str(found)


def stage(context: RunContext, stream: str, key: str, payload: object, **more: Any) -> None:
    staged = Staged(key, json.dumps(payload).encode(), **more)
    context.store.stage(context.streams[stream].table, [staged], run="made", pass_no=1)
