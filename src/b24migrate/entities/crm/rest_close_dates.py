"""Close dates. A record that comes into a final stage is closed today, whatever an import says (kernel
crm lib/Field/CloseDate.php; for deals a setting of the box): its own date is written once more, when it is there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec

from b24migrate.model.fidelity import Draft
from b24migrate.model.records import Args, Json, Table
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.journal import read_mark, set_mark

STAGES = Table("CrmStages", "crm_stages")
FIELD = "closedate"
FINAL = ("S", "F")
CLOSED = "closed"  # the mark of records that reach a final stage, and the time
KEPT_S = 600.0
IN_A_CALL = 20  # records, at most
NEAR = timedelta(days=2)  # to today: such a date does not show whether the box set it
_OF_PIPELINE = re.compile(r"C(\d+):")
_OF_SMART_PROCESS = re.compile(r"DT(\d+)_(\d+):")


def dictionary(stage: Json) -> str:
    """The dictionary that a stage belongs to, by its code."""
    code = str(stage)
    if smart := _OF_SMART_PROCESS.match(code):
        return f"DYNAMIC_{smart[1]}_STAGE_{smart[2]}"
    pipeline = _OF_PIPELINE.match(code)
    return f"DEAL_STAGE_{pipeline[1]}" if pipeline else "DEAL_STAGE"


def is_final(box: Box, fields: Args) -> bool:
    """Whether a record with a close date is in a final stage of the box."""
    return bool(fields.get(FIELD)) and _has_final_stage(box, fields)


def _has_final_stage(box: Box, fields: Args) -> bool:
    stage = fields.get("stageId")
    return bool(stage) and str(stage) in _final_stages(box, dictionary(stage))


def _final_stages(box: Box, name: str) -> frozenset[str]:
    def asked() -> frozenset[str]:
        rows = rows_at(box.question("crm.status.list", {"filter": {"ENTITY_ID": name}}))
        return frozenset(str(row["STATUS_ID"]) for row in rows if row.get("SEMANTICS") in FINAL)

    return box.kept(f"final stages of {name}", asked, KEPT_S)


@dataclass
class CloseDates:
    """Facts about a type: whether the box set another date, and the records that have their own."""

    overwritten: bool = False
    right: set[str] = field(default_factory=set)


def overwrites_date(box: Box, number: str, target_id: str, fields: Args) -> bool:
    """Whether the box set another date. One record that has another shows it for all of its type. One that has its own
    does not: a process may have put it right, and all others of its call, and was killed before it wrote that down."""
    day = values.parse_time(fields[FIELD])
    if day is None or abs(box.portal.clock.now() - day) < NEAR:
        return True
    seen = box.kept(f"close dates of {number}", CloseDates, KEPT_S)
    if not seen.overwritten and len(seen.right) <= IN_A_CALL:
        asked = {"entityTypeId": number, "select": ["id", FIELD], "filter": {"@id": [target_id]}, "start": 0}
        row = next(rows_at(box.question("crm.item.list", asked), "items"), {})
        if values.day(row.get(FIELD)) == values.day(fields[FIELD]):
            seen.right.add(target_id)
            return False
        seen.overwritten = True
    return seen.overwritten


def close(box: Box, number: str, target_id: str, fields: Args) -> None:
    """The stage stays as it is, so that the date does, too."""
    box.call("crm.item.update", {"entityTypeId": number, "id": target_id, "fields": {FIELD: fields[FIELD]}})


def note_move(box: Box, stream: str, key: str, fields: Args) -> None:
    """Before a record is moved: the box closes it today, and the process may be killed before the date is put right."""
    if _has_final_stage(box, fields):
        set_mark(box, CLOSED, stream, key, value=values.utc(box.portal.clock.now().isoformat()))


def forget_move(box: Box, stream: str, key: str, fields: Args) -> None:
    """After the date was written. If the source has none, the box keeps its own."""
    if fields.get(FIELD):
        set_mark(box, CLOSED, stream, key, value=None)


def set_by_box(box: Box, stream: str, key: str, fields: Args) -> frozenset[str]:
    """The close date, if it is of the day on which we moved the record. Clocks and zones may be apart."""
    moved = values.parse_time(read_mark(box, CLOSED, stream, key))
    closed = values.parse_time(fields.get(FIELD))
    return frozenset({FIELD}) if moved and closed and abs(closed - moved) < NEAR else frozenset()


def is_closed(box: Box, draft: Draft) -> bool:
    """Whether the source's record with a close date is in a final stage there."""
    stage = draft.get("stageId")
    if not stage or not draft.get(FIELD):
        return False
    key = f"{dictionary(stage)}:{stage}"
    return bool(box.kept(f"meaning of {key}", lambda: _is_final(box, key), KEPT_S))


def _is_final(box: Box, key: str) -> bool:
    found = box.store.get(STAGES, [key]).get(key)
    return found is not None and msgspec.json.decode(found.payload).get("SEMANTICS") in FINAL
