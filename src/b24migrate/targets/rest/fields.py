"""Custom fields: what is missing is created, options that are missing are added, and each is known by its new code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Json
from b24migrate.ports import FieldOutcome
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.values import yes_or_no

_DECODERS: dict[str, Callable[[Json], Json]] = {
    "enumeration": values.optional_id,
    "employee": values.optional_id,
    "crm": values.text,
    "crm_status": values.text,
    "boolean": values.flag,
    "date": values.day,
    "datetime": values.utc,
}


class FieldMethods(NamedTuple):
    """The methods of one kind of custom fields, with upper-case names. `types`: those it can create; empty: all."""

    listing: Callable[[Box, str], list[Args]]
    add: Callable[[Box, str, Args], Json]
    update: Callable[[Box, str, str, Args], Json] | None
    code: Callable[[Box, str, str], str]  # of a requested field: its future name on the box
    types: frozenset[str] = frozenset()
    forget: Callable[[Box], None] = lambda _: None  # the cached facts about the earlier fields


def declare(box: Box, methods: FieldMethods, wishes: Sequence[Args], type_id: str) -> list[FieldOutcome]:
    there = {str(row["FIELD_NAME"]): row for row in methods.listing(box, type_id)}
    return [_declare(box, methods, wish, type_id, there) for wish in wishes]


def _declare(box: Box, methods: FieldMethods, wish: Args, type_id: str, there: dict[str, Args]) -> FieldOutcome:
    code, kind = str(wish["code"]), str(wish["type"])
    target = methods.code(box, type_id, code)
    found = there.get(target)
    if found is not None and str(found.get("USER_TYPE_ID")) != kind:
        return _failed_outcome(
            code, "TYPE_MISMATCH", say("field.other_type", target=target, value=found.get("USER_TYPE_ID"), kind=kind)
        )
    if found is None and methods.types and kind not in methods.types:
        return _failed_outcome(code, "TYPE_UNSUPPORTED", say("field.cannot_create", kind=kind))
    try:
        if found is None:
            methods.add(box, type_id, describe_field(target, wish))
        elif lacking := _missing_options(wish, found):
            _add_options(box, methods, type_id, found, lacking)
    except Permanent as error:
        return _failed_outcome(code, error.code, error.message)
    status = "created" if found is None else "exists"
    now = {str(row["FIELD_NAME"]): row for row in methods.listing(box, type_id)} if wish["options"] else {}
    return FieldOutcome(code, target, status, _options(wish, now.get(target, {})))


def describe_field(target: str, wish: Args) -> Args:
    """As the older methods take it."""
    label = wish["label"]
    return {
        "FIELD_NAME": target,
        "USER_TYPE_ID": wish["type"],
        "XML_ID": target,
        "MULTIPLE": yes_or_no(wish["multiple"]),
        "MANDATORY": "N",  # the source's records may lack it: it would refuse them
        "SORT": wish["sort"],
        "EDIT_FORM_LABEL": label,
        "LIST_COLUMN_LABEL": label,
        "LIST_FILTER_LABEL": label,
        "SETTINGS": wish["settings"],
        **({"LIST": [_option(one) for one in wish["options"]]} if wish["options"] else {}),
    }


def _option(one: Args) -> Args:
    known = {"XML_ID": one["xml_id"]} if one.get("xml_id") else {}
    return {"VALUE": one["value"], "SORT": one["sort"], "DEF": yes_or_no(one["default"]), **known}


def _missing_options(wish: Args, found: Args) -> list[Args]:
    return [one for one in wish["options"] if _find_option(one, found) is None]


def _add_options(box: Box, methods: FieldMethods, type_id: str, found: Args, lacking: Sequence[Args]) -> None:
    if methods.update is None:
        raise Permanent(say("field.cannot_extend"), code="TYPE_UNSUPPORTED")
    listed = [*rows_at(found.get("LIST")), *map(_option, lacking)]
    methods.update(box, type_id, str(found["ID"]), {"LIST": listed})


def _options(wish: Args, found: Args) -> dict[str, str]:
    pairs = ((one, _find_option(one, found)) for one in wish["options"])
    return {str(one["id"]): str(there["ID"]) for one, there in pairs if there is not None}


def _find_option(option: Args, found: Args) -> Args | None:
    """By its own code, or else by what it is called."""
    listed = list(rows_at(found.get("LIST")))
    named = [one for one in listed if option.get("xml_id") and one.get("XML_ID") == option["xml_id"]]
    return next(iter(named or [one for one in listed if one.get("VALUE") == option["value"]]), None)


def _failed_outcome(code: str, error_code: str, why: str) -> FieldOutcome:
    return FieldOutcome(code, "", "failed", {}, error_code, why)


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
        name: _convert_each(_DECODERS[kinds[name]], value) if kinds.get(name) in _DECODERS else value
        for name, value in row.items()
    }


def _convert_each(decode: Callable[[Json], Json], value: Json) -> Json:
    if isinstance(value, list):
        return [one for one in map(decode, value) if one is not None]
    return decode(value)


def older_methods(prefix: str, forget: Callable[[Box], None] = lambda _: None) -> FieldMethods:
    """`user.userfield.*`, `crm.<entity>.userfield.*`."""
    return FieldMethods(
        listing=lambda box, _: list(box.pages(f"{prefix}.list", {"order": {"ID": "ASC"}})),
        add=lambda box, _, described: box.call(f"{prefix}.add", {"fields": described}),
        update=lambda box, _, number, changed: box.call(f"{prefix}.update", {"id": number, "fields": changed}),
        code=lambda _box, _type, code: code,
        forget=forget,
    )


def positional_methods(prefix: str, types: frozenset[str]) -> FieldMethods:
    """`task.item.userfield.*`, whose parameters are taken by position."""
    return FieldMethods(
        listing=lambda box, _: list(rows_at(box.question(f"{prefix}.getlist", {"ORDER": {"ID": "ASC"}, "FILTER": {}}))),
        add=lambda box, _, described: box.call(f"{prefix}.add", {"PARAMS": described}),
        update=None,
        code=lambda _box, _type, code: code,
        types=types,
    )
