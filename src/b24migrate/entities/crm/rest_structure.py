"""Smart processes and their pipelines: what the box has already is linked, the rest is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from b24migrate.entities.crm.rest_contents import pipeline_contents, type_contents
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError, Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command, TargetCheck
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.deletion import keys_with_prefix
from b24migrate.targets.rest.journal import Journal
from b24migrate.targets.rest.values import Column
from b24migrate.targets.rest.writer import CreateResult, Known, Writer, create_one

LIST = "bizproc.workflow.template.list"
ON_CHANGE = 2
FIX = say("check.automation_fix")


def check_automation(box: Box) -> TargetCheck | None:
    """None where none start, or the webhook may not ask. Robots are shown by no method."""
    asked = {"SELECT": ["ID", "AUTO_EXECUTE"], "FILTER": {"MODULE_ID": "crm"}}
    try:
        ours = keys_with_prefix(box, "workflow_templates")
        starts = [row for row in box.pages(LIST, asked) if (values.whole(row.get("AUTO_EXECUTE")) or 0) & ON_CHANGE]
    except MigrationError:
        return None
    others = [row for row in starts if str(row["ID"]) not in ours]
    if not others:
        return None
    message = say("check.automation", count=len(others))
    return TargetCheck(say("doctor.name.automation"), False, message, FIX)


FIRST_SMART_TYPE = 128
# A number that is taken, by the validator of the kernel (crm/lib/Model/Dynamic/TypeTable.php, main fielderror.php), and
# one out of range (documentation of crm.type.add).
TAKEN = ("BX_INVALID_VALUE", "INVALID_ARG_VALUE")

# ---------------------------------------------------------------- types


def switches(fields: Args) -> dict[str, str]:
    names = (name for name in fields if name.startswith("is") and name.endswith("Enabled"))
    return {name: values.yes_or_no(fields[name]) for name in names}


def types(box: Box) -> list[Args]:
    return list(box.pages("crm.type.list", {"order": {"id": "ASC"}}, "types"))


def add_types(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    there = {str(row["title"]): str(row["entityTypeId"]) for row in types(box)}
    for item in items:
        title = str(item.fields.get("title"))
        yield CreateResult(item.key, there[title], linked=True) if title in there else add_type(box, item)


def existing_types(box: Box, items: Sequence[Item]) -> dict[str, str]:
    there = {str(row["title"]): str(row["entityTypeId"]) for row in types(box)}
    return {item.key: there[str(item.fields.get("title"))] for item in items if str(item.fields.get("title")) in there}


def add_type(box: Box, item: Item) -> CreateResult:
    """Under the source's own number, unless the box has given it away."""
    wished = {"title": item.fields.get("title"), "code": item.fields.get("code") or "", **switches(item.fields)}
    numbered = {**wished, "entityTypeId": item.fields.get("entityTypeId")}
    made = create_one(box, item, "crm.type.add", lambda _: {"fields": numbered}, new_type)
    if made.error is None or made.error.code not in TAKEN:
        return made
    return create_one(box, item, "crm.type.add", lambda _: {"fields": wished}, new_type)


def new_type(said: Json) -> str:
    return str(said["type"]["entityTypeId"])


def find_types(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    there = {str(row["title"]): str(row["entityTypeId"]) for row in types(box)}
    titles = {key: str(trace[0]) for key, trace in begun.items()}
    return {key: there[title] for key, title in titles.items() if title in there}


def numbers(box: Box) -> dict[str, str]:
    """The source's smart processes: the number of each in the source and on the box."""
    known = (one for some in Journal(box.store).walk(TYPES.stream) for one in some)
    return {str(one.trace[1]): one.target_id for one in known if one.target_id}


def own_id(box: Box, number: str) -> str:
    for row in types(box):
        if str(row["entityTypeId"]) == number:
            return str(row["id"])
    raise Permanent(say("target.no_smart_process", number=number), code="TYPE_NOT_FOUND")


def update_type(box: Box, known: Known, item: Item) -> None:
    fields = {"title": item.fields.get("title"), **switches(item.fields)}
    box.call("crm.type.update", {"id": own_id(box, known.target_id), "fields": fields})


def read_types(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    rows = {str(row["entityTypeId"]): row for row in types(box)}
    return {key: decode_type(rows[one.target_id]) for key, one in wanted.items() if one.target_id in rows}


def decode_type(row: Args) -> Args:
    flags = {name: values.flag(value) for name, value in row.items() if name.startswith("is")}
    return {**flags, "title": row.get("title"), "entityTypeId": str(row["entityTypeId"]), "code": row.get("code")}


TYPES = Writer(
    stream="crm_types",
    entity="crm",
    needs=("crm.type.list", "crm.type.add", "crm.type.update"),
    create=add_types,
    existing=existing_types,
    trace=lambda item: [item.fields.get("title"), item.fields.get("entityTypeId")],
    find=find_types,
    update=update_type,
    read=read_types,
    delete=lambda box, known: box.call("crm.type.delete", {"id": own_id(box, known.target_id)}),
    inside=type_contents,
    check=check_automation,
)


# ---------------------------------------------------------------- pipelines

OF_PIPELINE = (
    Column("name", "name"),
    Column("sort", "sort", lambda value: value or 500, values.whole),
    Column("isDefault", "isDefault", values.yes_or_no, values.flag),
)


def pipelines(box: Box, number: str) -> list[Args]:
    return list(rows_at(box.question("crm.category.list", {"entityTypeId": number}), "categories"))


def add_pipelines(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    """One of the same name is linked, and so is the first of deals, contacts and companies. That of a smart process
    takes the source's name: a type has one from the beginning."""
    for item in items:
        number = str(item.fields["entityTypeId"])
        there = pipelines(box, number)
        found = same_pipeline(there, item.fields, number)
        if found is not None:
            yield CreateResult(item.key, str(found["id"]), linked=True)
        else:
            asked = {"entityTypeId": number, "fields": values.encode_columns(OF_PIPELINE, item.fields)}
            yield create_one(box, item, "crm.category.add", lambda _, asked=asked: asked, new_pipeline)  # type: ignore[misc]


def existing_pipelines(box: Box, items: Sequence[Item]) -> dict[str, str]:
    kinds = {item.key: str(item.fields["entityTypeId"]) for item in items}
    there = {kind: pipelines(box, kind) for kind in sorted(set(kinds.values()))}
    same = {item.key: same_pipeline(there[kinds[item.key]], item.fields, kinds[item.key]) for item in items}
    return {key: str(found["id"]) for key, found in same.items() if found is not None}


def same_pipeline(there: Sequence[Args], fields: Args, number: str) -> Args | None:
    named = [one for one in there if one.get("name") == fields.get("name")]
    usual = [one for one in there if values.flag(one.get("isDefault")) and int(number) < FIRST_SMART_TYPE]
    return next(iter(named or (usual if fields.get("isDefault") else [])), None)


def new_pipeline(said: Json) -> str:
    return str(said["category"]["id"])


def find_pipelines(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, trace in begun.items():
        same = same_pipeline(pipelines(box, str(trace["type"])), {"name": trace["name"]}, str(trace["type"]))
        found |= {key: str(same["id"])} if same else {}
    return found


def update_pipeline(box: Box, known: Known, item: Item) -> None:
    asked = {"entityTypeId": item.fields["entityTypeId"], "id": known.target_id}
    box.call("crm.category.update", {**asked, "fields": values.encode_columns(OF_PIPELINE, item.fields)})


def read_pipelines(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    numbers = sorted({str(one.trace["type"]) for one in wanted.values()})
    asked = [Command("crm.category.list", {"entityTypeId": number}) for number in numbers]
    rows = {
        (number, str(row["id"])): row
        for number, said in zip(numbers, box.questions(asked), strict=True)
        if said is not None
        for row in rows_at(said, "categories")
    }
    places = {key: (str(one.trace["type"]), one.target_id) for key, one in wanted.items()}
    return {
        key: {**values.decode_columns(OF_PIPELINE, rows[place]), "entityTypeId": place[0]}
        for key, place in places.items()
        if place in rows
    }


def delete_pipeline(box: Box, known: Known) -> None:
    box.call("crm.category.delete", {"entityTypeId": known.trace["type"], "id": known.target_id})


PIPELINES = Writer(
    stream="crm_categories",
    entity="crm",
    needs=("crm.category.list", "crm.category.add", "crm.category.update"),
    create=add_pipelines,
    existing=existing_pipelines,
    trace=lambda item: {"type": str(item.fields["entityTypeId"]), "name": item.fields.get("name")},
    find=find_pipelines,
    update=update_pipeline,
    read=read_pipelines,
    delete=delete_pipeline,
    inside=pipeline_contents,
)

WRITERS = (TYPES, PIPELINES)
