"""custom-fields-get and custom-fields-set: what the source has, what the target lacks, and which became which."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from b24migrate.errors import Permanent
from b24migrate.phases import values
from b24migrate.phases.work import Follow, Work
from b24migrate.ports import CUSTOM_FIELDS, FIELD_MAP, RegisterRow
from b24migrate.records import Args, Job, Json
from b24migrate.streams import CustomFields, Entity

LABELS_KEPT = "LABELS"
# Types whose values cannot be carried over, and why.
LEFT_BEHIND = {
    "file": "the portal's reader of such files does not work",
    "crm": "they name CRM records, which are not migrated with this entity",
    "iblock_section": "they name sections of lists, which are not migrated",
    "iblock_element": "they name elements of lists, which are not migrated",
}
LABELS = ("EDIT_FORM_LABEL", "LIST_COLUMN_LABEL", "LIST_FILTER_LABEL")


def read_fields(work: Work, job: Job) -> Follow:
    """Records every custom field of the source, and whether the target has it."""
    entity, custom = _entity(work, job)
    try:
        answer = work.source.call(custom.method, custom.params)
    except Permanent as error:
        work.note(entity.name, f"custom fields could not be read: {error}")
        return []
    found = msgspec.json.decode(answer.result or b"[]")
    labels = _labels(work, custom)
    existing = work.target.existing_fields(custom)
    fields = [{**field, LABELS_KEPT: labels.get(str(field["FIELD_NAME"]), {})} for field in found]
    work.store.write(CUSTOM_FIELDS, [_row(entity.name, field, existing) for field in fields])
    for field in fields:
        if field.get("USER_TYPE_ID") in LEFT_BEHIND:
            why = LEFT_BEHIND[field["USER_TYPE_ID"]]
            work.note(entity.name, f"values of the custom field {field['FIELD_NAME']} stay behind: {why}")
    return []


def _labels(work: Work, custom: CustomFields) -> dict[str, dict[str, str]]:
    """Field -> language -> label. A portal that takes the language for a filter answers nothing, which is no harm."""
    labels: dict[str, dict[str, str]] = {}
    for language in custom.languages:
        try:
            answer = work.source.call(custom.method, {**custom.params, "filter": {"LANG": language}})
        except Permanent:
            continue
        for field in msgspec.json.decode(answer.result or b"[]"):
            label = next((field[name] for name in LABELS if isinstance(field.get(name), str) and field[name]), "")
            if label:
                labels.setdefault(str(field["FIELD_NAME"]), {})[language] = label
    return labels


def _row(entity: str, field: Mapping[str, Json], existing: set[str] | None) -> RegisterRow:
    code = str(field["FIELD_NAME"])
    state = "unknown" if existing is None else "exists" if code in existing else "missing"
    values_ = {
        "Payload": msgspec.json.encode(field).decode(),
        "Type": str(field.get("USER_TYPE_ID") or ""),
        "Label": label_of(field).get("en") or next(iter(label_of(field).values()), code),
        "State": state,
    }
    return RegisterRow(code, values_, partition=entity)


def create_fields(work: Work, job: Job) -> Follow:
    """Creates on the target what is missing, with list values, and keeps which code and option became which."""
    entity, custom = _entity(work, job)
    rows = {row.key: row for row in work.store.rows(CUSTOM_FIELDS, partition=entity.name)}
    excluded = {
        row.key.partition(":")[2]
        for row in work.store.rows(FIELD_MAP, prefix=f"{entity.name}:")
        if row.values.get("Included") == 0
    }
    wanted = [wire(msgspec.json.decode(row.values["Payload"])) for key, row in rows.items() if key not in excluded]
    if not wanted:
        return []
    for outcome in work.target.fields(entity.wire, custom.stream, wanted):
        row = rows[outcome.code]
        failed = outcome.status == "failed"
        seen = {"State": outcome.status, "TargetField": outcome.target, "Error": outcome.error or None}
        work.store.write(CUSTOM_FIELDS, [row._replace(values={**row.values, **seen}, partition=entity.name)])
        if failed:
            work.note(
                entity.name, f"custom field {outcome.code} cannot be created: {outcome.error_code} {outcome.error}"
            )
            continue
        if outcome.status == "created" and row.values.get("State") != "created":
            work.store.add({f"custom_fields_created:{custom.stream}": 1})
        mapped = {"TargetField": outcome.target, "Transform": "", "Included": 1, "Options": dict(outcome.options)}
        work.store.write(FIELD_MAP, [RegisterRow(f"{entity.name}:{outcome.code}", mapped)])
    return []


def wire(field: Mapping[str, Json]) -> Args:
    """A field as `import.<entity>.fields` wants it."""
    settings = field.get("SETTINGS")
    return {
        "code": str(field["FIELD_NAME"]),
        "type": str(field.get("USER_TYPE_ID") or "string"),
        "multiple": bool(values.flag(field.get("MULTIPLE"))),
        "mandatory": bool(values.flag(field.get("MANDATORY"))),
        "sort": values.whole(field.get("SORT")) or 100,
        "label": label_of(field),
        "settings": settings if isinstance(settings, dict) else {},
        "options": [
            {
                "id": str(option["ID"]),
                "value": str(option.get("VALUE") or ""),
                "xml_id": values.text(option.get("XML_ID")),
                "sort": values.whole(option.get("SORT")) or 0,
                "default": bool(values.flag(option.get("DEF"))),
            }
            for option in field.get("LIST") or []
        ],
    }


def label_of(field: Mapping[str, Json]) -> dict[str, str]:
    """Labels come by language, as a text, as a map, or not at all."""
    if field.get(LABELS_KEPT):
        return dict(field[LABELS_KEPT])
    for name in LABELS:
        label = field.get(name)
        if isinstance(label, dict) and label:
            return {str(language): str(text) for language, text in label.items()}
        if isinstance(label, str) and label:
            return {"en": label, "ru": label}
    return {"en": str(field["FIELD_NAME"]), "ru": str(field["FIELD_NAME"])}


def _entity(work: Work, job: Job) -> tuple[Entity, CustomFields]:
    entity = next(one for one in work.entities if one.name == job.args["entity"])
    if entity.custom_fields is None:
        raise Permanent(f"{entity.name} has no custom fields", code="NO_CUSTOM_FIELDS")
    return entity, entity.custom_fields
