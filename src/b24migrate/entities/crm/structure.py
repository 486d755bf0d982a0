"""Structure that must exist before CRM data: smart process types, pipelines, stages and every other dictionary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from b24migrate.entities.codes import COMPANY, CONTACT, DEAL, SMART_INVOICE, dictionary, stage, type_id
from b24migrate.entities.readers import fetch_one_by_one
from b24migrate.model.answers import id_of, open_list, row_in
from b24migrate.model.errors import Permanent
from b24migrate.model.fields import Field, Kind, Policy, Resolve, flags, texts, wholes
from b24migrate.model.readings import Gather, Listing, Offset
from b24migrate.model.records import Args, Json, Page, PageEntry, Row, Table, digest
from b24migrate.model.source_records import Known, SourceRecord
from b24migrate.model.streams import Entity, NaturalKey, Stream
from b24migrate.model.values import OddValue, flag, reference
from b24migrate.ports import Command, Source

WITH_PIPELINES = (DEAL, CONTACT, COMPANY, SMART_INVOICE)  # besides the smart processes; not every portal has them all
BY_ID = {"order": {"id": "ASC"}}


# ---------------------------------------------------------------- types


def switches(seen: SourceRecord) -> Args:
    """`isCategoriesEnabled` and its like: a newer portal has more of them."""
    return {name: value for name, value in seen.payload.items() if name.startswith("is") and name.endswith("Enabled")}


def switch(_: SourceRecord, pair: Json, __: Resolve) -> Args:
    name, value = pair
    return {name: flag(value)}


def refetch_types(source: Source, wanted: Sequence[SourceRecord], _: Known) -> dict[str, Row]:
    """By its own id where that is known; others name a type by its number."""
    found: dict[str, Row] = {}
    commands = [
        Command("crm.type.list", {"filter": {"id" if one.payload else "entityTypeId": one.id}}) for one in wanted
    ]
    for one, answer in zip(wanted, source.batch(commands), strict=True):
        for raw in open_list(answer.require(), ("types",), "crm.type.list").items:
            row = row_in(raw, "crm.type.list")
            if str(row.get("id" if one.payload else "entityTypeId")) == one.id:
                found[one.id] = Row(id_of(raw, "id", "crm.type.list"), bytes(raw))
    return found


crm_types = Stream(
    name="crm_types",
    table=Table("CrmTypes", "crm_types"),
    read=(Listing("crm.type.list", Offset(), params=BY_ID, items=("types",), id="id"),),
    fields=(
        *texts("title", "entityTypeId", "code"),
        Field("is…Enabled", Kind.FAMILY, take=switches, code=switch),
    ),
    natural=NaturalKey("entityTypeId", links_use_it=True),
    adopted=lambda _: True,
    fetch=refetch_types,
)


# ---------------------------------------------------------------- pipelines


def gather_pipelines(source: Source, _: Args, limit: int) -> Page:
    """Each type returns its own; a type without pipelines refuses, and nothing is lost."""
    started = datetime.now(UTC)
    numbers = [*WITH_PIPELINES, *sorted(smart_types(source))]
    rows = list(pipelines_of(source, numbers))
    rows = rows[:limit] if limit else rows
    log = PageEntry(0, len(rows), len(rows), digest({"of": numbers}), started, datetime.now(UTC))
    return Page(rows=rows, reported=len(rows), log=[log])


def smart_types(source: Source) -> Iterator[int]:
    start: int | None = 0
    while start is not None:
        answer = source.call("crm.type.list", {**BY_ID, "start": start})
        raws = open_list(answer.result, ("types",), "crm.type.list").items
        for raw in raws:
            yield int(id_of(raw, "entityTypeId", "crm.type.list"))
        start = answer.next if raws and answer.next is not None and answer.next > start else None


def pipelines_of(source: Source, numbers: Sequence[int]) -> Iterator[Row]:
    commands = [Command("crm.category.list", {"entityTypeId": number}) for number in numbers]
    for number, answer in zip(numbers, source.batch(commands), strict=True):
        if isinstance(answer.error, Permanent):
            continue
        for raw in open_list(answer.require(), ("categories",), "crm.category.list").items:
            yield Row(f"{number}:{id_of(raw, 'id', 'crm.category.list')}", bytes(raw))


def refetch_pipelines(source: Source, wanted: Sequence[SourceRecord], _: Known) -> dict[str, Row]:
    ids = {one.id for one in wanted}
    numbers = sorted({int(one.parent) for one in wanted})
    return {row.source_id: row for row in pipelines_of(source, numbers) if row.source_id in ids}


def type_of(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
    return type_id(int(value), resolve)


crm_categories = Stream(
    name="crm_categories",
    table=Table("CrmCategories", "crm_categories"),
    read=(Gather("crm.category.list", gather_pipelines),),
    pipelines=True,
    fields=(
        Field(
            "entityTypeId",
            Kind.CODED,
            take=lambda seen: seen.parent,
            code=type_of,
            names=("crm_types",),
            policy=Policy.REQUIRE,
        ),
        *texts("name"),
        *wholes("sort"),
        *flags("isDefault"),
    ),
    adopted=lambda _: True,
    fetch=refetch_pipelines,
)


# ---------------------------------------------------------------- stages and other dictionaries


def stages_place(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
    return dictionary(str(value), resolve)


def stage_code(seen: SourceRecord, value: Json, resolve: Resolve) -> Json:
    owner = reference(seen.payload.get("ENTITY_ID"))
    if owner is None:
        raise OddValue
    return stage(owner, str(value), resolve)


def shade(seen: SourceRecord) -> Json:
    """Older portals return it among the extras only."""
    extra = seen.payload.get("EXTRA")
    return seen.payload.get("COLOR") or (extra.get("COLOR") if isinstance(extra, dict) else None)


def one_status(source_id: str) -> Args:
    entity_id, _, status_id = source_id.partition(":")
    return {"filter": {"ENTITY_ID": entity_id, "STATUS_ID": status_id}}


crm_stages = Stream(
    name="crm_stages",
    table=Table("CrmStages", "crm_stages"),
    read=(Listing("crm.status.list", Offset(), params={"order": {"ID": "ASC"}}, id="ENTITY_ID:STATUS_ID"),),
    fields=(
        Field("ENTITY_ID", Kind.CODED, code=stages_place, names=("crm_types", "crm_categories"), policy=Policy.REQUIRE),
        Field("STATUS_ID", Kind.CODED, code=stage_code, names=("crm_types", "crm_categories"), policy=Policy.REQUIRE),
        *texts("NAME"),
        *wholes("SORT"),
        *texts("SEMANTICS"),
        Field("COLOR", take=shade),
    ),
    code="STATUS_ID",
    adopted=lambda _: True,
    fetch=fetch_one_by_one("crm.status.list", one_status, id_field="ENTITY_ID:STATUS_ID"),
)

ENTITIES = (
    Entity(
        name="crm_structure",
        wire="crm",
        scopes=("crm",),
        needs_admin=True,
        streams=(crm_types, crm_categories, crm_stages),
    ),
)
