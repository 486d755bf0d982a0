"""Stages and other dictionaries of the CRM: what the box has already is linked, the rest is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from b24migrate.ports import Command
from b24migrate.records import Args, Item, Json
from b24migrate.target.rest import spelling
from b24migrate.target.rest.box import Box, inside
from b24migrate.target.rest.crm_within import in_stages
from b24migrate.target.rest.making import attempt
from b24migrate.target.rest.spelling import Column
from b24migrate.target.rest.words import Known, Made, Writer

OF_STAGE = (
    Column("ENTITY_ID", "ENTITY_ID"),
    Column("STATUS_ID", "STATUS_ID"),
    Column("NAME", "NAME"),
    Column("SORT", "SORT", back=spelling.whole),
    Column("SEMANTICS", "SEMANTICS", lambda value: value or ""),
    Column("COLOR", "COLOR", lambda value: value or ""),
)
WON, LOST = "S", "F"


def stages(box: Box, dictionaries: Sequence[str]) -> list[Args]:
    asked = [Command("crm.status.list", {"filter": {"ENTITY_ID": one}}) for one in dictionaries]
    return [row for said in box.questions(asked) for row in inside(said)]


def add_stages(box: Box, items: Sequence[Item]) -> Iterator[Made]:
    there = stages(box, sorted({str(item.fields["ENTITY_ID"]) for item in items}))
    for item in items:
        found = same_stage(there, item.fields)
        if found is not None:
            yield Made(item.key, str(found["ID"]), linked=True)
        else:
            yield attempt(box, item, "crm.status.add", lambda one: {"fields": before_won(there, one.fields)}, str)


def same_stage(there: Sequence[Args], fields: Args) -> Args | None:
    mine = [one for one in there if one.get("ENTITY_ID") == fields["ENTITY_ID"]]
    coded = [one for one in mine if one.get("STATUS_ID") == fields["STATUS_ID"]]
    return next(iter(coded or [one for one in mine if one.get("NAME") == fields.get("NAME")]), None)


def before_won(there: Sequence[Args], fields: Args) -> Args:
    """A box refuses a stage on the way that would come after the successful end."""
    sent = spelling.written(OF_STAGE, fields)
    won = [
        spelling.whole(one.get("SORT")) or 0
        for one in there
        if one.get("ENTITY_ID") == fields["ENTITY_ID"] and one.get("SEMANTICS") == WON
    ]
    if won and sent.get("SEMANTICS") not in (WON, LOST):
        sent["SORT"] = min(spelling.whole(sent.get("SORT")) or 0, min(won) - 1)
    return sent


def find_stages(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    there = stages(box, sorted({str(trace["ENTITY_ID"]) for trace in begun.values()}))
    pairs = ((key, same_stage(there, trace)) for key, trace in begun.items())
    return {key: str(found["ID"]) for key, found in pairs if found is not None}


def update_stage(box: Box, known: Known, item: Item) -> None:
    sent = spelling.written(OF_STAGE, item.fields)
    box.call(
        "crm.status.update",
        {"id": known.target_id, "fields": {name: sent[name] for name in ("NAME", "SORT", "COLOR") if name in sent}},
    )


def read_stages(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    there = stages(box, sorted({str(one.trace["ENTITY_ID"]) for one in wanted.values()}))
    rows = {str(row["ID"]): row for row in there}
    return {key: spelling.told(OF_STAGE, rows[one.target_id]) for key, one in wanted.items() if one.target_id in rows}


STAGES = Writer(
    stream="crm_stages",
    entity="crm",
    needs=("crm.status.list", "crm.status.add", "crm.status.update"),
    create=add_stages,
    existing=lambda box, items: find_stages(box, {item.key: item.fields for item in items}),
    trace=lambda item: {name: item.fields.get(name) for name in ("ENTITY_ID", "STATUS_ID", "NAME")},
    find=find_stages,
    update=update_stage,
    read=read_stages,
    delete=lambda box, known: box.call("crm.status.delete", {"id": known.target_id}),
    inside=in_stages,
)
