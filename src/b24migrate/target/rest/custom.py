"""Values of custom fields, by their types: as a box takes them, and as it tells them."""

from __future__ import annotations

from collections.abc import Callable

from b24migrate.records import Args, Json
from b24migrate.target.rest import spelling
from b24migrate.target.rest.box import Box

_TOLD: dict[str, Callable[[Json], Json]] = {
    "enumeration": spelling.one_id,
    "employee": spelling.one_id,
    "crm": spelling.text,
    "crm_status": spelling.text,
    "boolean": spelling.flag,
    "date": spelling.day,
    "datetime": spelling.utc,
}


def as_sent(box: Box, stream: str, fields: Args) -> dict[str, Json]:
    """Only files need another form; a flag is a letter to every method."""
    kinds = box.custom_types(stream)
    return {name: _sent(box, kinds.get(name, ""), value) for name, value in fields.items()}


def as_told(box: Box, stream: str, row: Args) -> dict[str, Json]:
    kinds = box.custom_types(stream)
    return {
        name: _each(_TOLD[kinds[name]], value) if kinds.get(name) in _TOLD else value for name, value in row.items()
    }


def _sent(box: Box, kind: str, value: Json) -> Json:
    if isinstance(value, list):
        return [_sent(box, kind, one) for one in value]
    if kind == "file" and value:
        return list(box.file(str(value)))
    return spelling.letter(value) if isinstance(value, bool) else value


def _each(told: Callable[[Json], Json], value: Json) -> Json:
    if isinstance(value, list):
        return [one for one in map(told, value) if one is not None]
    return told(value)
