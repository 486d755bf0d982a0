"""custom-fields-get and custom-fields-set: what the source has, what the target lacks, and which became which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.engine.phases.inventory import staged_records
from b24migrate.engine.phases.stage import mark_stretches
from b24migrate.messages import say
from b24migrate.model import values
from b24migrate.model.answers import UNCLEAR
from b24migrate.model.errors import Permanent
from b24migrate.model.fields import UNTOLD
from b24migrate.model.records import Args, Job, Json, Span, order_key
from b24migrate.model.streams import CustomFields, Entity
from b24migrate.ports import CUSTOM_FIELDS, FIELD_MAP, FieldOutcome, RegisterRow

T = TypeVar("T")
KEYS_AT_ONCE = 2000
AT_ONCE = 50  # each may be a column of a large table
AS_THEY_ARE = frozenset(
    {
        "string",
        "string_formatted",
        "integer",
        "double",
        "money",
        "url",
        "address",
    }
)
CONVERTED = frozenset({"enumeration", "employee", "boolean", "date", "datetime", "file", "crm", "crm_status"})
WHY_LEFT = {
    "file": say("field.why_file"),
    "crm": say("field.why_crm"),
    "iblock_section": say("field.why_section"),
    "iblock_element": say("field.why_element"),
    "resourcebooking": say("field.why_booking"),
}


def reason_not_to_copy(custom: CustomFields, kind: str) -> str:
    """Why values of this type cannot be carried over; empty when they can."""
    if (kind == "file" and not custom.files) or (kind == "crm" and custom.codes is None):
        return WHY_LEFT[kind]
    return "" if kind in AS_THEY_ARE | CONVERTED else WHY_LEFT.get(kind, say("field.why_unknown", kind=kind))


# ---------------------------------------------------------------- get


def read_fields(context: RunContext, job: Job) -> Follow:
    """Records every custom field of the source, and whether the target has it."""
    entity, custom = _entity(context, job)
    try:
        fields = read_source_fields(context, custom)
    except Permanent as error:
        if error.code in UNCLEAR:  # without their fields records would lose values: it is asked again
            raise
        context.note(entity.name, say("note.fields_unread", why=error.sentence))
        return []
    for field in fields:
        if UNTOLD in field:
            name = field.get("FIELD_NAME")
            known = say("note.field_untold", field=name, method=field[UNTOLD])
            context.note(entity.name, known if name else say("note.field_nameless", method=field[UNTOLD]))
    fields = [field for field in fields if field.get("FIELD_NAME")]
    existing = context.target.existing_fields(custom)
    before = {row.key: row for row in context.store.rows(CUSTOM_FIELDS, partition=entity.name)}
    wished = field_map_rows(context, entity.name)
    rows = [_row(entity.name, field, existing, before, wished) for field in fields]
    context.store.write(CUSTOM_FIELDS, rows)
    for row in rows:
        if why := reason_not_to_copy(custom, str(row.values["Type"])):
            context.note(entity.name, say("note.values_left", field=row.key, why=why))
    return []


def read_source_fields(context: RunContext, custom: CustomFields) -> list[Args]:
    """The source's custom fields, as it has them now. Raises like `Source.call`."""
    return custom.read(context.source, lambda name: staged_records(context, name))


def _row(
    entity: str,
    field: Mapping[str, Json],
    existing: Mapping[str, str] | None,
    before: Mapping[str, RegisterRow],
    wished: Mapping[str, RegisterRow],
) -> RegisterRow:
    code, kind = str(field["FIELD_NAME"]), str(field.get("USER_TYPE_ID") or "")
    known = before[code].values if code in before else {}
    state, error = known.get("State") or "unknown", known.get("Error")
    if existing is not None:
        there = existing.get(target_code(code, wished))
        state, error = "missing" if there is None else "exists" if there == kind else "differs", None
    label = field_labels(field)
    columns = {
        "Payload": msgspec.json.encode(field).decode(),
        "Type": kind,
        "Label": label.get("en") or next(iter(label.values()), code),
        "State": state,
        "TargetField": known.get("TargetField"),
        "Error": error,
    }
    return RegisterRow(code, columns, partition=entity)


# ---------------------------------------------------------------- what the administrator chose


def field_map_rows(context: RunContext, entity: str) -> dict[str, RegisterRow]:
    """The rows of the field map by the source's code: what was linked before, and what the administrator loaded.
    Options is null in a row that was loaded and whose field is not made yet; Transform is the code that was loaded."""
    return {row.key.partition(":")[2]: row for row in context.store.rows(FIELD_MAP, prefix=f"{entity}:")}


def target_code(code: str, wished: Mapping[str, RegisterRow]) -> str:
    """Under which code the target has the field, or is wanted to."""
    return str((wished[code].values.get("TargetField") if code in wished else "") or code)


def wire_code(code: str, wished: Mapping[str, RegisterRow]) -> str:
    """The code under which the field is requested from the target: the administrator's, else the source's. Never the
    target's code, because the contract identifies a field by the source's code."""
    return loaded_code(wished.get(code)) or code


def loaded_code(row: RegisterRow | None) -> str:
    return str(row.values.get("Transform") or "") if row is not None else ""


def is_excluded(code: str, wished: Mapping[str, RegisterRow]) -> bool:
    return code in wished and not wished[code].values.get("Included")


# ---------------------------------------------------------------- set


def create_fields(context: RunContext, job: Job) -> Follow:
    """Creates on the target what is missing, with list values, and keeps which code and option became which."""
    entity, custom = _entity(context, job)
    wished = field_map_rows(context, entity.name)
    rows = [row for row in context.store.rows(CUSTOM_FIELDS, partition=entity.name) if not is_excluded(row.key, wished)]
    chunks: list[tuple[str, Sequence[tuple[str, RegisterRow]]]] = []
    for owner, own in _by_owner(rows).items():
        wanted = _by_wire_code(own, wished)
        for code, (first, *others) in wanted.items():
            why = say("field.code_taken", other=first.key, code=code)
            _keep(context, entity, [(row, _failed_outcome(code, "CODE_TAKEN", why)) for row in others])
        chunks += [(owner, some) for some in _chunks([(code, first) for code, (first, *_) in wanted.items()])]
    done = int(job.args.get("done", 0))
    for place, (owner, some) in enumerate(chunks[done:], done):
        if place > done and context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "done": place})]
        type_id = context.memory.links.target_id(custom.types, owner) if owner else ""
        asked = dict(some)
        outcomes = _declare(context, entity, some, type_id)
        _keep(context, entity, [(asked[outcome.code], outcome) for outcome in outcomes])
    return []


def _by_owner(rows: Iterable[RegisterRow]) -> dict[str, list[RegisterRow]]:
    """By the type that they belong to; all others under the empty text."""
    owned: dict[str, list[RegisterRow]] = {}
    for row in rows:
        owned.setdefault(str(field_payload(row).get("OF") or ""), []).append(row)
    return owned


def _by_wire_code(rows: Sequence[RegisterRow], wished: Mapping[str, RegisterRow]) -> dict[str, list[RegisterRow]]:
    """By the code that they are asked for under; first the one for which it was chosen."""
    wanted: dict[str, list[RegisterRow]] = {}
    for row in sorted(rows, key=lambda one: wire_code(one.key, wished) == one.key):
        wanted.setdefault(wire_code(row.key, wished), []).append(row)
    return wanted


def _declare(
    context: RunContext, entity: Entity, some: Sequence[tuple[str, RegisterRow]], type_id: str | None
) -> list[FieldOutcome]:
    if type_id is None:
        return [_failed_outcome(code, "TYPE_NOT_FOUND", say("field.no_type")) for code, _ in some]
    stream = entity.custom_fields.stream if entity.custom_fields else ""
    fields = [wire_field(field_payload(row), code) for code, row in some]
    return context.target.fields(entity.wire, stream, fields, type_id=type_id)


def _failed_outcome(code: str, error_code: str, why: str) -> FieldOutcome:
    return FieldOutcome(code, "", "failed", {}, error_code, why)


def _keep(context: RunContext, entity: Entity, outcomes: Sequence[tuple[RegisterRow, FieldOutcome]]) -> None:
    fields: dict[str, RegisterRow] = {}
    mapped: dict[str, FieldOutcome] = {}
    refused: list[tuple[str, str]] = []
    created = 0
    for row, outcome in outcomes:
        failed = outcome.status == "failed"
        error = say("field.error", code=outcome.error_code, why=outcome.error) if failed else None
        columns = {"State": outcome.status, "TargetField": None if failed else outcome.target, "Error": error}
        fields[row.key] = row._replace(values={**row.values, **columns}, partition=entity.name)
        if error is not None:
            refused.append((row.key, error))
            continue
        mapped[f"{entity.name}:{row.key}"] = outcome
        created += outcome.status == "created" and row.values.get("State") != "created"
    if fields:
        context.store.write(CUSTOM_FIELDS, list(fields.values()))
    for field, why in refused:
        context.note(entity.name, say("note.field_refused", field=field, why=why))
    if created and entity.custom_fields:
        context.store.add({f"custom_fields_created:{entity.custom_fields.stream}": created})
    if mapped:
        known = context.store.rows_of(FIELD_MAP, mapped)
        if any(has_new_options(known.get(key), outcome) for key, outcome in mapped.items()):
            mark_values(context, entity)
        rows = [
            RegisterRow(key, {**_link(outcome), "Transform": loaded_code(known.get(key))})
            for key, outcome in mapped.items()
        ]
        context.store.write(FIELD_MAP, rows)


def has_new_options(known: RegisterRow | None, outcome: FieldOutcome) -> bool:
    """Whether an option of the source is another one on the target now: a target may find options by their text."""
    before = (known.values.get("Options") if known else None) or {}
    return any(outcome.options.get(one, there) != there for one, there in before.items())


def mark_values(context: RunContext, entity: Entity) -> None:
    """Before the new options are known: the second pass looks at all records that may have values. Nothing else would,
    since the records themselves are as they were."""
    for stream in (one for one in entity.streams if one.custom.prefixes):
        first, last = "", ""
        while keys := context.store.keys(stream.table, Span(last), KEYS_AT_ONCE):
            first, last = first or order_key(keys[0]), order_key(keys[-1])
        if last:
            mark_stretches(context, stream, [(first, last)])


def _link(outcome: FieldOutcome) -> Args:
    return {"TargetField": outcome.target, "Included": 1, "Options": dict(outcome.options)}


def _chunks(some: Sequence[tuple[str, RegisterRow]]) -> Iterator[Sequence[tuple[str, RegisterRow]]]:
    return (some[start : start + AT_ONCE] for start in range(0, len(some), AT_ONCE))


# ---------------------------------------------------------------- one field


def wire_field(field: Mapping[str, Json], code: str) -> Args:
    """A field in the form of `import.<entity>.fields`."""
    settings = field.get("SETTINGS")
    return {
        "code": code,
        "type": str(field.get("USER_TYPE_ID") or "string"),
        "multiple": is_multiple(field),
        "mandatory": bool(_read(values.flag, field.get("MANDATORY"))),
        "sort": _read(values.whole, field.get("SORT")) or 100,
        "label": field_labels(field),
        "settings": settings if isinstance(settings, dict) else {},
        "options": [
            {
                "id": str(option["ID"]),
                "value": str(option.get("VALUE") or ""),
                "xml_id": _read(values.text, option.get("XML_ID")),
                "sort": _read(values.whole, option.get("SORT")) or 0,
                "default": bool(_read(values.flag, option.get("DEF"))),
            }
            for option in _read(values.members, field.get("LIST")) or []
            if isinstance(option, dict) and "ID" in option  # values of another one are noted when they are met
        ],
    }


def _read(convert: Callable[[Json], T], value: Json) -> T | None:
    """What a field can do without: an odd order or mark must not keep all fields of the entity from the box."""
    try:
        return convert(value)
    except values.OddValue:
        return None


def field_labels(field: Mapping[str, Json]) -> dict[str, str]:
    """Labels by language; the code if the source has none."""
    code = str(field["FIELD_NAME"])
    return dict(field.get("LABELS") or {"en": code, "ru": code})


def is_multiple(field: Mapping[str, Json]) -> bool:
    return bool(_read(values.flag, field.get("MULTIPLE")))


def field_payload(row: RegisterRow) -> Args:
    field: Args = msgspec.json.decode(row.values["Payload"])
    return field


def _entity(context: RunContext, job: Job) -> tuple[Entity, CustomFields]:
    entity = next(one for one in context.entities if one.name == job.args["entity"])
    if entity.custom_fields is None:
        raise Permanent(say("field.none", entity=entity.name), code="NO_CUSTOM_FIELDS")
    return entity, entity.custom_fields
