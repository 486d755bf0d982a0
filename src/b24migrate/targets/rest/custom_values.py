"""Values of custom fields, by their types: as a box takes them, and as it tells them."""

from __future__ import annotations

from collections.abc import Callable

from b24migrate.model.records import Args, Json
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box

_TOLD: dict[str, Callable[[Json], Json]] = {
    "enumeration": values.optional_id,
    "employee": values.optional_id,
    "crm": values.text,
    "crm_status": values.text,
    "boolean": values.flag,
    "date": values.day,
    "datetime": values.utc,
}


def wrapped_file(name: str, content: str) -> Json:
    """A file as older methods take it: a bare pair is two values of no sense to them, and passed over in silence."""
    return {"fileData": [name, content]}


def bare_file(name: str, content: str) -> Json:
    """A file as `crm.item.*` takes it (bitrix24-rest-2 §E.3)."""
    return [name, content]


def encode_custom(box: Box, stream: str, fields: Args, file: Callable[[str, str], Json]) -> dict[str, Json]:
    """Only files need another form, which differs by method; a flag is a letter to every one."""
    kinds = box.custom_types(stream)

    def sent(kind: str, value: Json) -> Json:
        if isinstance(value, list):
            return [sent(kind, one) for one in value]
        if kind == "file" and value:
            return file(*box.file(str(value)))
        return values.yes_or_no(value) if isinstance(value, bool) else value

    return {name: sent(kinds.get(name, ""), value) for name, value in fields.items()}


def decode_custom(box: Box, stream: str, row: Args) -> dict[str, Json]:
    kinds = box.custom_types(stream)
    return {
        name: _convert_each(_TOLD[kinds[name]], value) if kinds.get(name) in _TOLD else value
        for name, value in row.items()
    }


def _convert_each(told: Callable[[Json], Json], value: Json) -> Json:
    if isinstance(value, list):
        return [one for one in map(told, value) if one is not None]
    return told(value)
