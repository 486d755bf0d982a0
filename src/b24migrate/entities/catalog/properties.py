"""The values of a product's properties, with the target's IDs of the properties and of list values."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from b24migrate.entities.catalog.reader import is_nothing, travels, types_of, values_at
from b24migrate.model.fields import ABSENT, EMPTIED, Resolve, Unresolved
from b24migrate.model.records import Json
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.values import day, reference, stamp

OPTIONS = "crm_product_props.options"
PREFIX = "property"
PEOPLE = frozenset({"employee", "UserID"})
TIMES = frozenset({"DateTime", "Date"})


def take_values(seen: SourceRecord) -> Json:
    """One entry for each value: property, place, value; a property that was emptied has one without a value."""
    if "types" not in seen.extras:
        return ABSENT
    filled = [number for number, kind in types_of(seen).items() if travels(*kind)]
    found: list[Json] = [
        [number, place, one.get("value")]
        for number in filled
        for place, one in enumerate(values_at(seen.payload.get(f"property{number}")))
    ]
    emptied = [name.removeprefix(PREFIX) for name in seen.extras.get(EMPTIED, ()) if name.startswith(PREFIX)]
    return found + [[number, 0, None] for number in emptied if number not in filled]


def value_code(seen: SourceRecord, entry: Json, resolve: Resolve) -> Json:
    number, place, value = entry
    owner = f"{seen.parent}:{number}"
    if is_nothing(value):
        try:
            return [resolve("crm_product_props", owner), place, None]
        except Unresolved:  # a property that the target does not have need not be emptied
            return None
    kind, user_type, _ = types_of(seen)[number]
    target = resolve("crm_product_props", owner)
    if kind == "L":
        return [target, place, resolve(OPTIONS, f"{owner}:{reference(value)}")]
    if user_type in PEOPLE:
        return [target, place, resolve("users", str(reference(value)))]
    if user_type in TIMES:
        return [target, place, in_utc(value, whole=user_type == "DateTime")]
    return [target, place, str(value) if isinstance(value, int | float) else value]


def in_utc(value: Json, *, whole: bool) -> Json:
    """In the form of the contract; a value without an offset, or that is not a time, stays unchanged."""
    if not whole:
        return day(value, ZoneInfo("UTC")) or value
    return stamp(value, ZoneInfo("UTC"))[1] or value


def gather_values(_: SourceRecord, fields: dict[str, Json], __: bool) -> None:
    """By property, its values in their order; nothing in the list empties it."""
    if not isinstance(fields.get("properties"), list):
        return
    found: dict[str, list[Json]] = {}
    for number, _, value in fields["properties"]:
        kept = found.setdefault(str(number), [])
        if value is not None:
            kept.append(value)
    fields["properties"] = found
