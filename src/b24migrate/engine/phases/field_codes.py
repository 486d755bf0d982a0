"""Codes of custom fields by themselves, as trees and texts name them."""

from __future__ import annotations

from collections.abc import Mapping

from b24migrate.engine.phases.context import RunContext
from b24migrate.model.records import Json
from b24migrate.ports import FIELD_MAP

CUSTOM = "UF_"


def target_field(context: RunContext, code: str) -> str | None:
    """The target's code of a field, whichever entity has it: the first that is mapped and included."""
    mapped = _mapped(context, code)
    return None if mapped is None else str(mapped["TargetField"])


def options_of(context: RunContext, code: str) -> Mapping[str, str]:
    """What the options of a list became; nothing for what is no list, or no custom field at all."""
    mapped = _mapped(context, code) if code.startswith(CUSTOM) else None
    return {} if mapped is None else mapped.get("Options") or {}


def _mapped(context: RunContext, code: str) -> Mapping[str, Json] | None:
    keys = [f"{entity.name}:{code}" for entity in context.entities if entity.custom_fields]
    found = context.store.rows_of(FIELD_MAP, keys)
    mapped = (found[key].values for key in keys if key in found)
    return next((one for one in mapped if one.get("Included") and one.get("TargetField")), None)
