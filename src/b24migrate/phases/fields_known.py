"""Codes of custom fields by themselves, as trees and texts name them."""

from __future__ import annotations

from collections.abc import Mapping

from b24migrate.phases.work import Work
from b24migrate.ports import FIELD_MAP
from b24migrate.records import Json

CUSTOM = "UF_"


def target_field(work: Work, code: str) -> str | None:
    """The target's code of a field, whichever entity has it: the first that is mapped and included."""
    mapped = _mapped(work, code)
    return None if mapped is None else str(mapped["TargetField"])


def options_of(work: Work, code: str) -> Mapping[str, str]:
    """What the options of a list became; nothing for what is no list, or no custom field at all."""
    mapped = _mapped(work, code) if code.startswith(CUSTOM) else None
    return {} if mapped is None else mapped.get("Options") or {}


def _mapped(work: Work, code: str) -> Mapping[str, Json] | None:
    for entity in work.entities:
        row = work.store.read(FIELD_MAP, f"{entity.name}:{code}") if entity.custom_fields else None
        if row is not None and row.values.get("Included") and row.values.get("TargetField"):
            return row.values
    return None
