"""Lookup of one record: in the source, staged, as sent and on the target, side by side.

It only reads, here and on both portals. The caller renders the texts and redacts secrets.
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
