"""Codes of custom fields by themselves, as trees and texts name them."""

from __future__ import annotations

from b24migrate.phases.work import Work
from b24migrate.ports import FIELD_MAP


def target_field(work: Work, code: str) -> str | None:
    """The target's code of a field, whichever entity has it: the first that is mapped and included."""
    for entity in work.entities:
        row = work.store.read(FIELD_MAP, f"{entity.name}:{code}") if entity.custom_fields else None
        if row is not None and row.values.get("Included") and row.values.get("TargetField"):
            return str(row.values["TargetField"])
    return None
