"""Looking for records, and at one, where some are damaged or have odd values: the others are found all the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine.test_odd_values import write
from tests.engine.world import World

from b24migrate.insight import conflicts, lookup
from b24migrate.ports import CONFLICTS, RegisterRow

Json = Any
ODD_PAYLOADS = (
    "{",
    "[]",
    '"text"',
    "\x00",
    '{"SUBJECT": {"odd": [1]}, "COMMUNICATIONS": 5, "FILES": "x", "SETTINGS": 7}',
)


@pytest.mark.parametrize("odd", ODD_PAYLOADS)
def test_a_damaged_record_hides_no_other(whole: World, odd: str) -> None:
    (victim, *_), *_ = whole.sql("SELECT RowKey FROM CrmActivities ORDER BY Ord LIMIT 1")
    write(whole, "CrmActivities", str(victim), odd)
    with whole.app() as app:
        hits = lookup.search(app.context, str(victim), stream="crm_activities", budget_s=60).hits
        assert [one.id for one in hits][:1] == [victim]
        everything = lookup.search(app.context, "ann@client.example", stream="crm_activities", budget_s=60).hits
        assert everything
        assert victim not in [one.id for one in everything]
        lookup.search(app.context, "", stream="crm_activities", budget_s=60)
        view = lookup.record(app.context, "crm_activities", str(victim))
    assert view is not None
    json.dumps(view.to_json())


@pytest.mark.parametrize("odd", ODD_PAYLOADS)
def test_a_conflict_of_a_damaged_record_is_listed(whole: World, odd: str) -> None:
    (victim, *_), *_ = whole.sql("SELECT RowKey FROM CrmActivities ORDER BY Ord LIMIT 1")
    write(whole, "CrmActivities", str(victim), odd)
    fields = [["SUBJECT", "a", "b", "c", "", "2026-11-18T00:00:00Z"]]
    values: dict[str, Any] = {
        "Stream": "crm_activities",
        "SourceId": str(victim),
        "Fields": fields,
        "Decision": "",
        "By": "",
    }
    values |= {"AtUtc": "2026-11-18T00:00:00Z", "Revision": 0, "Open": 1, "Waiting": 0}
    with whole.app() as app:
        app.context.store.write(CONFLICTS, [RegisterRow(f"crm_activities:{victim}", values)])
        page = conflicts.list_conflicts(app.context, "", "", 10, undecided=False)
        assert [(one.stream, one.source_id) for one in page.conflicts] == [("crm_activities", victim)]
