"""A small company with records of every stream, and its staged and imported records, to be compared.

Nothing here depends on a stream, except the form of a change in the control API."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tests.engine.world import SMALL, Migration, World, world

from b24migrate.entities import catalog
from b24migrate.insight import status
from b24migrate.insight.status.model import StreamStatus
from b24migrate.model.fields import Policy
from b24migrate.model.streams import Stream
from b24sim.company.changes import CHANGES
from b24sim.company.company import Company

Json = Any
CATALOG = catalog()
STREAMS = tuple(CATALOG.streams)
PLAN = replace(
    SMALL,
    messages=80,
    tasks=8,
    companies=9,
    contacts=12,
    deals=13,
    leads=6,
    quotes=6,
    invoices=6,
    smart_types=2,
    smart_items=8,
    requisites=11,
    recurring=4,
    posts=8,
    comments_per_post=3,
    templates=6,
    products=7,
    calls=4,
    crm_activities=40,
    crm_comments=9,
    log_entries=4,
    crm_notes=True,
)
# The company names some people and groups that it has no longer; here they shall not keep anything from arriving.
SETTINGS: dict[str, dict[str, Json]] = {
    "mapping": {"placeholder_user": "1", "policy": {"tasks.groupId": "drop"}},
    "run": {"verify_sample": 100_000, "user_coverage": 0.5},
    "entities": {
        entity.name: {one.batch_option: 6 if one.batch_option == "batch" else 20 for one in entity.streams}
        for entity in CATALOG.entities
    },
}
NAMES = (
    "NAME",
    "name",
    "title",
    "TITLE",
    "text",
    "ROLE",
    "measureTitle",
    "FULL_NAME",
    "currency",
    "CITY",
    "REQUISITE_ID",
    "SUBJECT",
    "PHONE_NUMBER",
    "COMMENT",
    "IS_LIMIT",
)  # what is changed in a record: the first it has
SENDING = (".batch", ".put")
COLUMNS = (
    "RowKey",
    "Status",
    "Payload",
    "PayloadHash",
    "Revision",
    "Attempts",
    "TargetId",
    "LastErrorCode",
    "LastError",
)


@contextmanager
def everything(folder: Path, **more: Json) -> Iterator[World]:
    with world(folder, PLAN, webhooks=(1, 2), **more) as made:
        made.settings = {name: dict(table) for name, table in SETTINGS.items()}
        yield made


@contextmanager
def tasks_of(folder: Path, **more: Json) -> Iterator[World]:
    """The CRM stays where it is, and tasks go without it."""
    with everything(folder, **more) as made:
        made.settings["mapping"]["policy"] = {"tasks.groupId": "drop", "tasks.ufCrmTask": "drop"}
        yield made


@dataclass(frozen=True)
class Snapshot:
    """By stream: the staged rows by row key, and what the box has by key."""

    staged: Mapping[str, Mapping[str, Mapping[str, Json]]]
    box: Mapping[str, Mapping[str, Mapping[str, Json]]]
    status: Mapping[str, StreamStatus]
    verified: Mapping[str, bool]
    findings: Sequence[tuple[Json, ...]]
    letters: Sequence[tuple[Json, ...]]

    def column(self, stream: str, name: str) -> dict[str, Json]:
        return {key: row[name] for key, row in self.staged[stream].items()}

    def effects(self, stream: str) -> dict[str, tuple[int, int]]:
        """How often each key was created and updated."""
        return {key: (row["created_count"], row["updated_count"]) for key, row in self.box[stream].items()}

    def found(self, stream: str) -> list[tuple[Json, ...]]:
        return [one for one in self.findings if one[0] == stream]


def look(made: Migration) -> Snapshot:
    with made.app() as app:
        entities = status.snapshot(app.context).entities
    return Snapshot(
        {name: staged(made, stream) for name, stream in CATALOG.streams.items()},
        {name: made.imported(name) for name in STREAMS},
        {name: one for entity in entities.values() for name, one in entity.streams.items()},
        {name: entity.verified for name, entity in entities.items()},
        made.sql("SELECT Stream, Fate, SourceId, Field, Expected FROM Findings ORDER BY RowKey"),
        made.letters(),
    )


def staged(made: Migration, stream: Stream) -> dict[str, dict[str, Json]]:
    return {row["RowKey"]: row for row in made.table(stream.table.name, *COLUMNS)}


# ---------------------------------------------------------------- changing one record of every stream


class Touch(NamedTuple):
    row_key: str
    field: str
    value: str


def touch_all(made: Migration, before: Snapshot) -> dict[str, Touch | str]:
    """One record of each stream; a child is that of the touched parent, so that a change of it is no other change."""
    touched: dict[str, Touch | str] = {}
    for name, stream in CATALOG.streams.items():
        parent = touched.get(stream.parent)
        touched[name] = touch(made, stream, before, parent.row_key if isinstance(parent, Touch) else "")
    return touched


def touch(made: Migration, stream: Stream, before: Snapshot, parent: str) -> Touch | str:
    if (stream.name, "update") not in CHANGES and stream.name not in BY_HAND:
        return f"the control room changes no {stream.name}"
    field = next((name for name in NAMES if any(one.name == name for one in stream.fields)), "")
    if not field:
        return f"{stream.name} have no text that could be changed"
    chosen = choose(stream, before, parent, field)
    if chosen is None:
        return f"no record of {stream.name} can be changed"
    value = {"ROLE": "E", "REQUISITE_ID": "0", "IS_LIMIT": "T"}.get(field, "Переименовано")
    if stream.name in BY_HAND:
        BY_HAND[stream.name](made.cloud.portal.company, chosen, field, value)
    else:
        spelled = field.upper() if stream.name == "tasks" else field
        made.change(stream.name, **place_of(stream, before, chosen), fields={spelled: value})
    return Touch(chosen, field, value)


def choose(stream: Stream, before: Snapshot, parent: str, field: str) -> str | None:
    rows = before.staged[stream.name]
    able = [key for key in rows if changeable(stream, before, key, field)]
    mine = [key for key in able if key.startswith(f"{parent}:")] if parent else []
    children = [one for one in CATALOG.streams.values() if one.parent == stream.name]
    return max(mine or able, key=lambda key: sum(has_child(one, before, key) for one in children), default=None)


def has_child(child: Stream, before: Snapshot, parent: str) -> bool:
    return any(
        key.startswith(f"{parent}:") and SUITABLE.get(child.name, always)(key, {}) for key in before.staged[child.name]
    )


def changeable(stream: Stream, before: Snapshot, key: str, field: str) -> bool:
    """Its own on the box, and with a text that is one."""
    payload = json.loads(before.staged[stream.name][key]["Payload"])
    there = before.box[stream.name].get(stream.key_of(key))
    text = payload.get(field)
    suits = SUITABLE.get(stream.name, always)(key, payload)
    return there is not None and not there["linked"] and isinstance(text, str) and bool(text) and suits


def always(_key: str, _payload: Mapping[str, Json]) -> bool:
    return True


# Owners keep their role, the name of a private chat is a person's, and a comment of the forum may have a copy.
SUITABLE: Mapping[str, Callable[[str, Mapping[str, Json]], bool]] = {
    "group_members": lambda _, payload: payload.get("ROLE", "K") == "K",
    "chats": lambda _, payload: payload.get("type") not in ("private", "user"),
    "task_comments": lambda key, _: ":m" in key,
    "crm_requisite_links": lambda _, payload: payload.get("REQUISITE_ID", "0") != "0",
}


def place_of(stream: Stream, before: Snapshot, row_key: str) -> dict[str, Json]:
    """The form in which the control API identifies a record."""
    parent, _, child = row_key.rpartition(":")
    places: dict[str, dict[str, Json]] = {
        "group_members": {"group": parent, "user": child},
        "chat_messages": {"chat": parent, "id": child},
        "task_checklists": {"task": parent, "id": child},
        "task_comments": {"task": parent, "id": child[1:], "where": "chat"},
        **{one: {"id": row_key} for one in ("crm_spitems", "crm_addresses", "crm_requisite_links")},
    }
    if stream.name == "feed_comments":
        return {"id": json.loads(before.staged[stream.name][row_key]["Payload"])["id"]}
    return places.get(stream.name, {"id": child})


def retitle_type(company: Company, row_key: str, field: str, value: str) -> None:
    company.crm.types.put(int(row_key), company.crm.types.row(int(row_key)) | {field: value})


def rename_pipeline(company: Company, row_key: str, field: str, value: str) -> None:
    for place, one in enumerate(company.crm.categories):
        if f"{one.entity_type_id}:{one.id}" == row_key:
            company.crm.categories[place] = replace(one, **{field: value})  # type: ignore[arg-type]


def rename_stage(company: Company, row_key: str, field: str, value: str) -> None:
    for row in company.crm.statuses:
        if f"{row['ENTITY_ID']}:{row['STATUS_ID']}" == row_key:
            row[field] = value


# Streams that the control API cannot change.
BY_HAND: Mapping[str, Callable[[Company, str, str, str], None]] = {
    "crm_types": retitle_type,
    "crm_categories": rename_pipeline,
    "crm_stages": rename_stage,
}


# ---------------------------------------------------------------- one record of every stream that shall fail


def victims(before: Snapshot) -> dict[str, str]:
    """By stream the row key of a record that needs none of the other victims, nor a record that fails with one of them
    where there is such a record, so that it fails by itself."""
    chosen: dict[str, str] = {}
    fails: dict[str, set[str]] = {}
    for name, stream in CATALOG.streams.items():
        gone = {one for other in required(stream) for one in fails.get(other, ())}
        first = {str(before.staged[other][chosen[other]]["TargetId"]) for other in required(stream) if other in chosen}
        rows = {key: before.box[name].get(stream.key_of(key)) for key in before.staged[name]}
        needs = {key: set(strings(row["fields"])) for key, row in rows.items() if row}
        own = [key for key, named in needs.items() if not rows[key]["linked"] and not first & named]  # type: ignore[index]
        chosen[name] = ([key for key in own if not gone & needs[key]] or own[: (len(own) + 1) // 2])[-1]
        lost = [key for key, named in needs.items() if key == chosen[name] or gone & named]
        fails[name] = {str(before.staged[name][key]["TargetId"]) for key in lost}
    return chosen


def required(stream: Stream) -> set[str]:
    needed = [one for one in stream.fields if one.some or one.policy in (Policy.REQUIRE, Policy.EXISTING)]
    return {name for one in needed for name in one.streams}


def strings(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for one in value:
            yield from strings(one)
    elif value is not None:
        yield str(value).rpartition("_")[2]
