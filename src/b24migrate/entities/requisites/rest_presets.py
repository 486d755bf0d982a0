"""Templates of company details: those that the box has are linked, the rest is made with its fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from b24migrate.entities.requisites.streams import PRESET_FIELDS, PRESETS, REQUISITE, REQUISITES
from b24migrate.messages import say
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.deletion import stamped_key
from b24migrate.targets.rest.values import Column
from b24migrate.targets.rest.writer import Content, Known, Writer, create_one_by_one

RECORDS = say("keep.records")
OF_PRESET = (
    Column("NAME", "NAME"),
    Column("COUNTRY_ID", "COUNTRY_ID", back=values.whole),
    Column("ACTIVE", "ACTIVE", values.yes_or_no, values.flag),
    Column("SORT", "SORT", back=values.whole),
    Column("XML_ID", "XML_ID"),
)
OF_FIELD = (
    Column("FIELD_NAME", "FIELD_NAME"),
    Column("FIELD_TITLE", "FIELD_TITLE", lambda value: value or ""),
    Column("SORT", "SORT", back=values.whole),
    Column("IN_SHORT_LIST", "IN_SHORT_LIST", values.yes_or_no, values.flag),
)


def presets(box: Box) -> list[Args]:
    return list(box.pages(PRESETS, {"order": {"ID": "ASC"}}))


def same_preset(there: Sequence[Args], fields: Args) -> str | None:
    """By its external code, or by country and name."""
    code, named = fields.get("XML_ID"), (str(fields.get("COUNTRY_ID")), fields.get("NAME"))
    coded = [row for row in there if code and row.get("XML_ID") == code]
    found = coded or [row for row in there if (str(row.get("COUNTRY_ID")), row.get("NAME")) == named]
    return str(found[0]["ID"]) if found else None


def existing_presets(box: Box, items: Sequence[Item]) -> dict[str, str]:
    there = presets(box)
    same = {item.key: same_preset(there, item.fields) for item in items}
    return {key: found for key, found in same.items() if found is not None}


def find_presets(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    """Those that were there before are linked, so one that is the same is ours."""
    there = presets(box)
    same = {key: same_preset(there, trace) for key, trace in begun.items()}
    return {key: found for key, found in same.items() if found is not None}


def preset_params(item: Item) -> Args:
    return {"fields": {"ENTITY_TYPE_ID": REQUISITE, **values.encode_columns(OF_PRESET, item.fields)}}


def write_fields(box: Box, known: Known, item: Item) -> None:
    """Only what differs is written, so it may be repeated."""
    if "fields" not in item.fields:
        return
    preset = {"ID": known.target_id}
    there = {str(row["FIELD_NAME"]): row for row in rows_at(box.question(PRESET_FIELDS, {"preset": preset}))}
    wanted = {str(one["FIELD_NAME"]): one for one in item.fields["fields"] or ()}
    for name, one in wanted.items():
        fields: dict[str, Any] = values.encode_columns(OF_FIELD, one)
        if name not in there:
            box.call("crm.requisite.preset.field.add", {"preset": preset, "fields": fields})
        elif values.decode_columns(OF_FIELD, there[name]) != one:
            box.call("crm.requisite.preset.field.update", {"preset": preset, "id": there[name]["ID"], "fields": fields})
    for name in there.keys() - wanted.keys():
        box.call("crm.requisite.preset.field.delete", {"preset": preset, "id": there[name]["ID"]})


def update_preset(box: Box, known: Known, item: Item) -> None:
    fields = values.encode_columns(OF_PRESET, item.fields)
    box.call("crm.requisite.preset.update", {"id": known.target_id, "fields": fields})
    write_fields(box, known, item)


def read_presets(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    rows = {str(row["ID"]): row for row in presets(box)}
    there = {key: one.target_id for key, one in wanted.items() if one.target_id in rows}
    said = box.questions([Command(PRESET_FIELDS, {"preset": {"ID": one}}) for one in there.values()])
    return {
        key: {
            **values.decode_columns(OF_PRESET, rows[one]),
            "fields": [values.decode_columns(OF_FIELD, row) for row in rows_at(told or [])],
        }
        for (key, one), told in zip(there.items(), said, strict=True)
    }


def preset_contents(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    """Company details that users made by a template."""
    keys = {one.target_id: key for key, one in wanted.items()}
    asked = {"filter": {"@PRESET_ID": list(keys)}, "select": ["ID", "PRESET_ID", "ORIGINATOR_ID"]}
    for row in box.pages(REQUISITES, {**asked, "order": {"ID": "DESC"}}):
        ours = stamped_key(box, "crm_requisites", row.get("ORIGINATOR_ID"), str(row["ID"]))
        if str(row.get("PRESET_ID")) in keys and not ours:
            yield Content(keys[str(row["PRESET_ID"])], RECORDS)


WRITERS = (
    Writer(
        stream="crm_requisite_presets",
        entity="crm",
        needs=(PRESETS, PRESET_FIELDS, "crm.requisite.preset.add", "crm.requisite.preset.field.add"),
        create=create_one_by_one("crm.requisite.preset.add", preset_params),
        existing=existing_presets,
        trace=lambda item: {name: item.fields.get(name) for name in ("XML_ID", "COUNTRY_ID", "NAME")},
        find=find_presets,
        finish=write_fields,
        update=update_preset,
        read=read_presets,
        delete=lambda box, known: box.call("crm.requisite.preset.delete", {"id": known.target_id}),
        inside=preset_contents,
    ),
)
