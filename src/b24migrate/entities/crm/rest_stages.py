"""Stages and other dictionaries of the CRM: what the box has already is linked, the rest is made.

A pipeline is born with the box's usual stages (kernel crm lib/category/dealcategory.php). In a pipeline of ours those
that the source has take its name, place and colour, and the others go when everything has arrived.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from b24migrate.entities.crm.rest_contents import has_records, stage_contents
from b24migrate.entities.crm.rest_structure import PIPELINES, TYPES
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.journal import Journal, State
from b24migrate.targets.rest.values import Column
from b24migrate.targets.rest.writer import CreateResult, Known, Writer, create_one

OF_STAGE = (
    Column("ENTITY_ID", "ENTITY_ID"),
    Column("STATUS_ID", "STATUS_ID"),
    Column("NAME", "NAME"),
    Column("SORT", "SORT", back=values.whole),
    Column("SEMANTICS", "SEMANTICS", lambda value: value or ""),
    Column("COLOR", "COLOR", lambda value: value or ""),
)
CHANGEABLE = ("NAME", "SORT", "COLOR")
WON, LOST = "S", "F"
STEP = 10
DEALS = "2"
# The stages of a new pipeline: of deals, of smart processes, and final ones. It always has one successful final stage.
USUAL = frozenset(
    {
        *("NEW", "PREPARATION", "PREPAYMENT_INVOICE", "EXECUTING", "FINAL_INVOICE", "CLIENT"),
        *("LOSE", "APOLOGY", "FAIL"),
    }
)
SUCCESSFUL = frozenset({"WON", "SUCCESS"})


def stages(box: Box, dictionaries: Sequence[str]) -> list[Args]:
    asked = [Command("crm.status.list", {"filter": {"ENTITY_ID": one}}) for one in dictionaries]
    return [row for said in box.questions(asked) for row in rows_at(said)]


def our_dictionaries(box: Box) -> set[str]:
    """Those of the pipelines that we made, or of whose smart process."""
    journal = Journal(box.store)
    types = {one.target_id for some in journal.walk(TYPES.stream) for one in some if _is_made(one.state)}
    known = (one for some in journal.walk(PIPELINES.stream) for one in some if isinstance(one.trace, Mapping))
    kinds = ((str(one.trace["type"]), one) for one in known if one.target_id)
    return {
        f"DEAL_STAGE_{one.target_id}" if kind == DEALS else f"DYNAMIC_{kind}_STAGE_{one.target_id}"
        for kind, one in kinds
        if _is_made(one.state) or kind in types
    }


def _is_made(state: State) -> bool:
    return state in (State.MADE, State.DONE)


def add_stages(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    there = stages(box, sorted({str(item.fields["ENTITY_ID"]) for item in items}))
    ours = our_dictionaries(box)
    for item in items:
        own = item.fields["ENTITY_ID"] in ours
        found = same_stage(there, item.fields, by_name=not own) or only_success(there, item.fields)
        if found is None:
            make_room(box, there, item.fields)
            sent = behind_success(there, item.fields)
            yield create_one(box, item, "crm.status.add", lambda _, sent=sent: {"fields": sent}, str)  # type: ignore[misc]
        elif own:
            yield take_over(box, item, found)
        else:
            yield CreateResult(item.key, str(found["ID"]), linked=True)


def same_stage(there: Sequence[Args], fields: Args, *, by_name: bool) -> Args | None:
    mine = [one for one in there if one.get("ENTITY_ID") == fields["ENTITY_ID"]]
    coded = [one for one in mine if one.get("STATUS_ID") == fields["STATUS_ID"]]
    named = [one for one in mine if by_name and one.get("NAME") == fields.get("NAME")]
    return next(iter(coded or named), None)


def only_success(there: Sequence[Args], fields: Args) -> Args | None:
    """Of successful ends a pipeline has one, and a box refuses another (kernel crm lib/statustable.php)."""
    return next(iter(successes(there, fields)), None) if fields.get("SEMANTICS") == WON else None


def successes(there: Sequence[Args], fields: Args) -> list[Args]:
    return [one for one in there if one.get("ENTITY_ID") == fields["ENTITY_ID"] and one.get("SEMANTICS") == WON]


def take_over(box: Box, item: Item, found: Args) -> CreateResult:
    try:
        update_stage(box, Known(str(found["ID"])), item)
    except Permanent as error:
        return CreateResult(item.key, error=error)
    return CreateResult(item.key, str(found["ID"]))


def make_room(box: Box, there: list[Args], fields: Args) -> None:
    """A box refuses a stage on the way that would come behind the successful end. An update is not checked, so the ends
    move behind the new one, in their order."""
    if fields.get("SEMANTICS") in (WON, LOST):
        return
    sort = _sort(fields)
    if not any(_sort(one) <= sort for one in successes(there, fields)):
        return
    ends = [one for one in there if one.get("ENTITY_ID") == fields["ENTITY_ID"] and one.get("SEMANTICS") in (WON, LOST)]
    for place, one in enumerate(sorted(ends, key=lambda one: (one["SEMANTICS"] != WON, _sort(one))), 1):
        moved = {**one, "SORT": sort + STEP * place}
        box.call("crm.status.update", {"id": one["ID"], "fields": {"SORT": moved["SORT"]}})
        there[there.index(one)] = moved


def behind_success(there: Sequence[Args], fields: Args) -> Args:
    """A failed end must come behind the successful one; its own place is given back at the end."""
    sent = values.encode_columns(OF_STAGE, fields)
    if sent.get("SEMANTICS") == LOST:
        sent["SORT"] = max([_sort(sent), *(_sort(one) + 1 for one in successes(there, fields))])
    return sent


def _sort(fields: Args) -> int:
    return values.whole(fields.get("SORT")) or 0


def existing_stages(box: Box, items: Sequence[Item]) -> dict[str, str]:
    ours = our_dictionaries(box)
    return find_stages(box, {item.key: item.fields for item in items if item.fields["ENTITY_ID"] not in ours})


def find_stages(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    there = stages(box, sorted({str(trace["ENTITY_ID"]) for trace in begun.values()}))
    ours = our_dictionaries(box) if begun else set()
    pairs = ((key, same_stage(there, trace, by_name=trace["ENTITY_ID"] not in ours)) for key, trace in begun.items())
    return {key: str(found["ID"]) for key, found in pairs if found is not None}


def update_stage(box: Box, known: Known, item: Item) -> None:
    sent = values.encode_columns(OF_STAGE, item.fields)
    fields = {name: sent[name] for name in CHANGEABLE if name in sent}
    box.call("crm.status.update", {"id": known.target_id, "fields": fields})


def read_stages(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    there = stages(box, sorted({str(one.trace["ENTITY_ID"]) for one in wanted.values()}))
    rows = {str(row["ID"]): row for row in there}
    return {
        key: values.decode_columns(OF_STAGE, rows[one.target_id])
        for key, one in wanted.items()
        if one.target_id in rows
    }


def put_in_order(box: Box, some: Mapping[str, Known]) -> None:
    """Of our pipelines: every stage in its own place, and none that the source does not have. A stage in which there
    are records stays, and so does one that people made."""
    ours = our_dictionaries(box)
    dictionaries = sorted({str(one.trace["ENTITY_ID"]) for one in some.values()} & ours)
    there = {str(row["ID"]): row for row in stages(box, dictionaries)}
    for one in some.values():
        wanted, row = values.whole(one.trace.get("SORT")), there.get(one.target_id)
        if row is not None and wanted is not None and _sort(row) != wanted:
            box.call("crm.status.update", {"id": one.target_id, "fields": {"SORT": wanted}})
    known = {one.target_id for few in Journal(box.store).walk(STAGES.stream) for one in few}
    for number, row in there.items():
        code = str(row["STATUS_ID"]).rpartition(":")[2]
        if number not in known and code in USUAL and not has_records(box, row):
            with suppress(Permanent):  # it is of no harm
                box.call("crm.status.delete", {"id": number, "params": {"FORCED": "Y"}})


def delete_stage(box: Box, known: Known) -> None:
    """One that a pipeline of ours was born with goes with it."""
    usual = str(known.trace["STATUS_ID"]).rpartition(":")[2] in USUAL | SUCCESSFUL
    if not usual or known.trace["ENTITY_ID"] not in our_dictionaries(box):
        box.call("crm.status.delete", {"id": known.target_id})


STAGES = Writer(
    stream="crm_stages",
    entity="crm",
    needs=("crm.status.list", "crm.status.add", "crm.status.update"),
    create=add_stages,
    existing=existing_stages,
    trace=lambda item: {name: item.fields.get(name) for name in ("ENTITY_ID", "STATUS_ID", "NAME", "SORT")},
    find=find_stages,
    update=update_stage,
    halfway=True,  # one that a pipeline was born with has not got the source's name yet
    read=read_stages,
    at_last=put_in_order,
    delete=delete_stage,
    inside=stage_contents,
)

WRITERS = (STAGES,)
