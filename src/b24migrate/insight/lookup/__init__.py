"""Looking one record up: what the source says, what is staged, what is sent and what the target has, side by side.

It only looks: nothing is written, neither here nor there. The caller words it and redacts secrets.
"""

from __future__ import annotations

from b24migrate.insight.lookup.model import (
    FieldNote,
    FieldVerdict,
    Hit,
    Hits,
    RecordVerdict,
    RecordView,
    SideState,
)
from b24migrate.insight.lookup.record import record
from b24migrate.insight.lookup.search import search

__all__ = ["FieldNote", "FieldVerdict", "Hit", "Hits", "RecordVerdict", "RecordView", "SideState", "record", "search"]
