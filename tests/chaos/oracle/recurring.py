"""Schedules of recurring deals, which come with their templates and switched off."""

from __future__ import annotations

from tests.chaos.oracle.ids import Ids, day
from tests.chaos.oracle.source import DEAL, Fields, Source


def streams(source: Source, ids: Ids) -> dict[str, dict[str, Fields]]:
    return {"crm_recurring": {number: _schedule(row, ids) for number, row in source["crm_recurring"].items()}}


def _schedule(row: Fields, ids: Ids) -> Fields:
    return {
        "DEAL_ID": ids.item(DEAL, row["DEAL_ID"]),
        "BASED_ID": ids.item(DEAL, row["BASED_ID"]),
        "CATEGORY_ID": ids.category(DEAL, row["CATEGORY_ID"]) if row["CATEGORY_ID"] else None,
        "ACTIVE": False,
        "IS_LIMIT": row["IS_LIMIT"],
        "PARAMS": row["PARAMS"],
        **{name: day(row[name]) for name in ("START_DATE", "LIMIT_DATE", "NEXT_EXECUTION", "LAST_EXECUTION")},
        **{name: int(row[name]) if row[name] else None for name in ("LIMIT_REPEAT", "COUNTER_REPEAT")},
    }
