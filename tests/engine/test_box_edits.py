"""What people empty and delete on the box before the source changes the same records."""

from __future__ import annotations

from dataclasses import replace
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
    store = whole.box.portal.imports._store
    there = store.row(COMPANIES, row["id"])
    fields = {name: value for name, value in there.fields.items() if name != BEYOND}
    store.put_row(COMPANIES, row["id"], replace(there, fields=fields))
    whole.change(COMPANIES, id=source_id, fields={"title": NEW_NAME})
    whole.run(COMPANIES, phases=("get", "set"))
    assert in_conflict(whole, source_id) == []


# ---------------------------------------------------------------- deleted on the box


def test_a_change_of_a_record_that_users_deleted_on_the_box_is_listed(whole: World) -> None:
    """It is neither lost in silence nor made a second time, and no other record suffers."""
    (key, row), (other, _) = list(whole.imported(COMPANIES).items())[:2]
    source_id, second = (one.rpartition(":")[2] for one in (key, other))
    whole.box.portal.imports.remove(COMPANIES, row["id"])
    for one in (source_id, second):
        whole.change(COMPANIES, id=one, fields={"title": NEW_NAME})
    for _ in range(2):
        assert whole.run(COMPANIES).exit_code == 5
        (failed,) = [one for one in whole.records("CrmCompanies").values() if one["Status"] != "IMPORT_OK"]
        assert (failed["RowKey"], failed["LastErrorCode"]) == (source_id, "VALIDATION")
        assert whole.sql("SELECT LastError FROM CrmCompanies WHERE RowKey = ?", source_id) == [
            (f"somebody has deleted {COMPANIES} {row['id']} on the box",)
        ]
        assert whole.imported(COMPANIES)[other]["fields"]["title"] == NEW_NAME
        assert in_conflict(whole, source_id) == []
        assert [one["created_count"] for one in whole.imported(COMPANIES).values()].count(2) == 0


def test_a_record_that_users_deleted_on_the_box_is_missing_for_verify(whole: World) -> None:
    key, row = next(iter(whole.imported(COMPANIES).items()))
    whole.box.portal.imports.remove(COMPANIES, row["id"])
    whole.run(COMPANIES, phases=("verify",))
    found = whole.sql("SELECT SourceId, Fate FROM Findings WHERE Stream = ?", COMPANIES)
    assert (key.rpartition(":")[2], "missing") in found


@pytest.mark.parametrize("deletions", ["keep", "delete"])
def test_one_that_is_gone_on_both_sides_is_deleted(whole: World, deletions: str) -> None:
    key, row = next(iter(whole.imported(COMPANIES).items()))
    whole.box.portal.imports.remove(COMPANIES, row["id"])
    whole.change(COMPANIES, "delete", id=key.rpartition(":")[2])
    whole.run(COMPANIES, run={"deletions": deletions, "deletions_limit": 100})
    assert whole.stream(COMPANIES).deleted == 1
    assert (key in whole.imported(COMPANIES)) == (deletions == "keep")
