"""Records that users created in our CRM: items of a smart process, of a pipeline or stage, and of our clients."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from b24migrate.messages import say
from b24migrate.model.records import Args, Json
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.deletion import stamped_key
from b24migrate.targets.rest.writer import STAMP, Content, Known

CONTACT, DEAL = "3", "2"
STREAMS = {"2": "crm_deals", "3": "crm_contacts", "4": "crm_companies"}
RECORDS = say("keep.records")
_SMART_STAGE = re.compile(r"DYNAMIC_(\d+)_STAGE_")
# whose records name which kinds of ours, and by which field
_HOLDERS = {
    "crm_companies": (
        (CONTACT, "companyId", say("keep.contacts")),
        (DEAL, "companyId", say("keep.deals")),
    ),
    "crm_contacts": ((DEAL, "contactId", say("keep.deals")),),
}


def type_contents(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    yield from (Content(key, RECORDS) for key, one in wanted.items() if _has_others(box, one.target_id, {}))


def pipeline_contents(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    for key, one in wanted.items():
        if _has_others(box, str(one.trace["type"]), {"categoryId": one.target_id}):
            yield Content(key, RECORDS)


def stage_contents(box: Box, wanted: Mapping[str, Known]) -> Iterator[Content]:
    for key, one in wanted.items():
        number = _type_of_dictionary(str(one.trace["ENTITY_ID"]))
        if number and _has_others(box, number, {"stageId": one.trace["STATUS_ID"]}):
            yield Content(key, RECORDS)


def has_records(box: Box, row: Args) -> bool:
    """Whether a stage has any records."""
    number = _type_of_dictionary(str(row["ENTITY_ID"]))
    asked = {"entityTypeId": number, "select": ["id"], "filter": {"stageId": row["STATUS_ID"]}, "start": 0}
    return not number or next(rows_at(box.question("crm.item.list", asked), "items"), None) is not None


def client_records(box: Box, wanted: Mapping[str, Known], *, stream: str) -> Iterator[Content]:
    keys = {one.target_id: key for key, one in wanted.items()}
    for number, field, why in _HOLDERS.get(stream, ()):
        for row in _other_records(box, number, {f"@{field}": list(keys)}, field):
            if str(row.get(field)) in keys:
                yield Content(keys[str(row[field])], why)


def _type_of_dictionary(dictionary: str) -> str:
    """The type whose records are in stages of this dictionary; of other dictionaries none."""
    smart = _SMART_STAGE.match(dictionary)
    return smart[1] if smart else DEAL if dictionary.startswith("DEAL_STAGE") else ""


def _has_others(box: Box, number: str, conditions: Mapping[str, Json]) -> bool:
    return next(_other_records(box, number, conditions), None) is not None


def _other_records(box: Box, number: str, conditions: Mapping[str, Json], *names: str) -> Iterator[Args]:
    """Records that are not ours, the newest first: ours are mostly gone, or older."""
    known = number in STREAMS
    stamps = ("originatorId", "originId") if known else ("xmlId",)
    asked = {"entityTypeId": number, "select": ["id", *stamps, *names], "filter": conditions, "order": {"id": "DESC"}}
    for row in box.pages("crm.item.list", asked, "items"):
        said = row.get("xmlId") if not known else row.get("originId") if row.get("originatorId") == STAMP else ""
        if not stamped_key(box, STREAMS.get(number, "crm_spitems"), said, str(row["id"])):
            yield row
