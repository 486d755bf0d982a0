"""Looking one record up: what the source says, what is staged, what is sent and what the target has, side by side.

It only looks: nothing is written, neither here nor there. Whoever shows it finds the words, and redacts.
"""

from __future__ import annotations

from b24migrate.pipeline.looking_up.model import (
    FieldNote,
    FieldVerdict,
    Hit,
    Hits,
    RecordVerdict,
    RecordView,
    SideState,
)
from b24migrate.pipeline.looking_up.searching import search
from b24migrate.pipeline.looking_up.viewing import record

__all__ = ["FieldNote", "FieldVerdict", "Hit", "Hits", "RecordVerdict", "RecordView", "SideState", "record", "search"]
