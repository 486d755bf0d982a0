"""Who changed how much since the freeze, as a delta run notes it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from tests.engine.world import World

from b24migrate.engine.phases.found import UNKNOWN, describe_aid, last_writer, note_found
from b24migrate.entities import catalog
from b24migrate.model.records import Staged
from b24migrate.model.source_records import SourceRecord
from b24migrate.ports import DELTAS, RegisterRow

Json = Any
EARLY, LATE = "2026-03-01T10:00:00+00:00", "2026-03-02T10:00:00+00:00"


@pytest.mark.parametrize(
    ("payload", "user", "at"),
    [
        ({"createdBy": 3, "createdTime": EARLY, "updatedBy": 7, "updatedTime": LATE}, "7", LATE),
        ({"createdBy": 3, "createdTime": LATE, "updatedBy": 7, "updatedTime": EARLY}, "3", LATE),
        ({"createdBy": 3, "createdTime": EARLY, "updatedBy": 7, "updatedTime": EARLY}, "7", EARLY),
        ({"createdBy": 3, "createdTime": EARLY}, "3", EARLY),
        ({"updatedTime": EARLY}, UNKNOWN, EARLY),
        ({"createdBy": 3}, UNKNOWN, None),
    ],
)
def test_the_latest_time_tells_who_wrote_last(talk: World, payload: Json, user: str, at: str | None) -> None:
    with talk.app() as app:
        found = last_writer(app.context, catalog().streams["crm_deals"], SourceRecord("1", payload, {}))
    assert found == (user, datetime.fromisoformat(at) if at else None)


def test_of_what_is_never_sent_counts_what_came_since_the_run_before(talk: World) -> None:
    """By its own name: other streams, and this run itself, say nothing about it."""
    with talk.app() as app:
        context = app.context.for_run("3", app.context.facts)
        aid = next(one for entity in app.catalog.entities for one in entity.aids)
        context.store.stage(aid.table, [Staged(str(n), b"{}") for n in range(5)], run="3", pass_no=1)
        assert describe_aid(context, aid, EARLY).values["Changed"] == 0  # there was none before
        rows = [("1", aid.name, EARLY, 1), ("2", aid.name, LATE, 3), ("2", "users", LATE, 4), ("3", aid.name, LATE, 5)]
        context.store.write(
            DELTAS, [RegisterRow(f"{run}:{name}", {"AtUtc": at, "Staged": count}) for run, name, at, count in rows]
        )
        found = describe_aid(context, aid, LATE)
        assert (found.key, found.values["Changed"], found.values["Staged"]) == (f"3:{aid.name}", 2, 5)


@pytest.mark.parametrize("delta", [False, True])
def test_only_a_delta_run_notes_what_it_found(talk: World, delta: bool) -> None:
    with talk.app() as app:
        context = app.context.for_run("7", app.context.facts).with_options(delta=delta)
        note_found(context, app.catalog.owner["users"])
        noted = {row.key for row in context.store.rows(DELTAS, "7:")}
    assert ("7:users" in noted, bool(noted)) == (delta, delta)
