"""What people empty and delete on the box before the source changes the same records."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.changes import NEW_NAME
from tests.engine.world import World

from b24migrate.engine.phases.comparison import EMPTY
from b24migrate.ports import CONFLICTS

Json = Any
COMPANIES = "crm_companies"
BEYOND = "utmSource"  # more than the contract names: a box need not know it


def first_with(made: World, field: str) -> tuple[str, dict[str, Json]]:
    """Source id of a company that has something in the field, and what the box has."""
    rows = made.imported(COMPANIES).items()
    return next((key.rpartition(":")[2], row) for key, row in rows if row["fields"].get(field) not in EMPTY)


def in_conflict(made: World, source_id: str) -> list[tuple[str, str]]:
    """The fields, with what the box has."""
    with made.app() as app:
        row = app.context.store.read(CONFLICTS, f"{COMPANIES}:{source_id}")
    return [(name, target) for name, _, target, *_ in row.values["Fields"]] if row else []


@pytest.mark.parametrize("empty", [None, "", []])
def test_what_users_emptied_is_a_conflict_also_beyond_the_contract(whole: World, empty: Json) -> None:
    source_id, row = first_with(whole, BEYOND)
    whole.box.portal.imports.edit(COMPANIES, row["id"], {BEYOND: empty})
    whole.change(COMPANIES, id=source_id, fields={"title": NEW_NAME})
    whole.run(COMPANIES, phases=("get", "set"))
    assert in_conflict(whole, source_id) == [(BEYOND, "")]
    assert whole.imported(COMPANIES)[row["key"]]["fields"][BEYOND] == row["fields"][BEYOND]


def test_what_the_box_does_not_know_is_no_conflict(whole: World) -> None:
    """It tells nothing of the field, of no record."""
    source_id, row = first_with(whole, BEYOND)
    imports = whole.box.portal.imports
    there = imports._store.row(COMPANIES, row["id"])
    there.fields.pop(BEYOND)
    whole.change(COMPANIES, id=source_id, fields={"title": NEW_NAME})
    whole.run(COMPANIES, phases=("get", "set"))
    assert in_conflict(whole, source_id) == []
