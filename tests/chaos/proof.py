"""The proof: the content of the box compared with the expected one and with the store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from tests.chaos.oracle import Fields, Ids, Json, Source, expected, failures, timeline
from tests.chaos.oracle.files import lost
from tests.chaos.oracle.ids import Custom
from tests.chaos.oracle.source import CATALOG, REQUISITES, SALES, TIMELINE
from tests.chaos.portals import Portal

STREAMS = (
    *("departments", "users", "groups", "group_members", "chats", "chat_messages"),
    *("crm_types", "crm_categories", "crm_stages", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems"),
    *("tasks", "task_checklists", "task_comments", "feed_posts", "feed_comments", "workflow_templates", "files"),
)
# Of the contract's later versions: what a box announces of them.
LATER = (*SALES, *REQUISITES, "crm_recurring", *TIMELINE, *CATALOG)
KEEPS_ITS_OWN = frozenset(
    {"departments", "crm_types", "crm_categories", "crm_stages", "crm_requisite_presets", *CATALOG[:4]}
)  # linked where the box has it
# More than the contract names: a box that does not keep one of these has no such field. One that has it keeps it right.
BEYOND = frozenset(
    {
        *("sourceDescription", "originatorId", "originId", "xmlId", "FULL_NAME", "RECORD_DURATION", "descriptionType"),
        "isRecurring",  # a template is hidden by its schedule
    }
)
OF_THE_BOX = {"crm_product_props": ("kind",)}  # what it works out itself, from the key
OF_THE_FILE = ("name",)  # of pictures of people, groups and chats the source shows no name
EMPTY: tuple[Json, ...] = (None, "", [], {}, set())


class Difference(NamedTuple):
    """One record on the box that is not as it should be; no key: the whole stream."""

    stream: str
    key: str
    what: str
    field: str = ""

    def __str__(self) -> str:
        return f"{self.stream}: {self.key} {self.what}" if self.key else f"{self.stream}: {self.what}"


class Compared(NamedTuple):
    """The fields of every record that must be on the box, by stream and key, and what differs from them."""

    wanted: Mapping[str, Mapping[str, Fields]]
    differences: list[Difference]


@dataclass(slots=True)
class Proof:
    """Differences in words; none means proven."""

    records: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    updated: int = 0
    differences: list[str] = field(default_factory=list)

    def complain(self, found: Iterable[str]) -> None:
        self.differences += found


def snapshot(box: Portal) -> dict[str, list[Json]]:
    return {stream: box.dump(stream) for stream in (*STREAMS, *LATER)}


def prove(source: Source, box: Portal, status: Json) -> Proof:
    held = snapshot(box)
    proof = Proof({stream: len(rows) for stream, rows in held.items()})
    proof.updated = sum(row["updated_count"] for rows in held.values() for row in rows)
    bad = failures(source)
    proof.failed = {stream: len(found - source.linked.keys()) for stream, found in bad.items() if found}
    wanted = expected(source, ids_on_box(source, box, held))
    for stream in held:
        proof.complain(map(str, compare(stream, wanted[stream], held[stream])))
    proof.complain(conduct(box))
    proof.complain(accounts(source, wanted, proof.failed, status))
    return proof


def compare_box(source: Source, box: Portal, _migration: Json = None) -> Compared:
    """Without regard to the store."""
    held = snapshot(box)
    wanted = expected(source, ids_on_box(source, box, held))
    found = [one for stream in held for one in compare(stream, wanted[stream], held[stream])]
    return Compared(wanted, [*found, *(Difference("", "", one) for one in conduct(box))])


# ---------------------------------------------------------------- on the box


MISSING, EXTRA = "is missing on the box", "is on the box and should not be"


def compare(stream: str, wanted: Mapping[str, Fields], held: list[Json]) -> Iterator[Difference]:
    there = {row["key"]: row for row in held}
    yield from (Difference(stream, key, MISSING) for key in sorted(wanted.keys() - there.keys()))
    yield from (Difference(stream, key, EXTRA) for key in sorted(there.keys() - wanted.keys()))
    if len(there) != len(held):
        yield Difference(stream, "", "the box has a key twice")
    targets = [row["id"] for row in held]
    if len(set(targets)) != len(targets):
        yield Difference(stream, "", "two keys stand for one record")
    for key in sorted(wanted.keys() & there.keys()):
        row = there[key]
        if row["created_count"] != 1:
            yield Difference(stream, key, f"was created {row['created_count']} times")
        if row["linked"] and stream in KEEPS_ITS_OWN:
            found = _likeness(wanted[key], row["fields"])
        else:
            found = _fields(
                wanted[key], row["fields"], OF_THE_FILE if stream == "files" else OF_THE_BOX.get(stream, ())
            )
        yield from (Difference(stream, key, what, name) for name, what in found)


def _fields(wanted: Fields, there: Fields, others: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Each field that the source has, and no other, but for `others`."""
    for name, value in wanted.items():
        if name in BEYOND and name not in there:
            continue
        place, should, actual = _first_difference(value, there.get(name))
        if place is not None:
            yield name, f"{name}{place} is {str(actual)[:120]!r}, not {str(should)[:120]!r}"
    for name in there.keys() - wanted.keys() - {*others}:
        if there[name] not in EMPTY:
            yield name, f"{name} is {str(there[name])[:120]!r}, and the source has no such field"


def _likeness(wanted: Fields, there: Fields) -> Iterator[tuple[str, str]]:
    """Records that the box had already are linked correctly: they have the same type, and the same code or name."""
    for name in ("ENTITY_ID", "entityTypeId", "UF_HEAD", "CURRENCY", "code", "rate", "base"):
        if name in wanted and wanted[name] != there.get(name):
            yield name, f"{name} is {there.get(name)!r}, not {wanted[name]!r}"
    codes = ("STATUS_ID", "XML_ID", "CURRENCY", "code", "rate")  # one stays what it is when its name is changed
    alike = [name for name in (*codes, "NAME", "name", "title") if name in wanted]
    alike += ["base"] if wanted.get("base") else []
    if alike and not any(wanted[name] == there.get(name) for name in alike):
        yield "", f"was linked to something else: {there}"


def _first_difference(value: Json, actual: Json) -> tuple[str | None, Json, Json]:
    """Where, what should be there, what is; None where all is as it should be."""
    if isinstance(value, dict) and isinstance(actual, dict):  # emptied values may be there as empty ones
        parts = ((f"/{name}", value.get(name), actual.get(name)) for name in {**value, **actual})
    elif isinstance(value, list) and isinstance(actual, list) and len(value) == len(actual):
        parts = ((f"/{at}", *both) for at, both in enumerate(zip(value, actual, strict=True)))
    else:
        return (None, value, actual) if _same(value, actual) else ("", value, actual)
    for name, one, other in parts:
        place, should, there = _first_difference(one, other)
        if place is not None:
            return name + place, should, there
    return None, value, actual


def _same(value: Json, actual: Json) -> bool:
    if value in EMPTY and actual in EMPTY:
        return True
    if isinstance(value, set):
        return isinstance(actual, list) and set(actual) == value and len(actual) == len(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return isinstance(actual, int | float) and not isinstance(actual, bool) and value == actual
    return type(value) is type(actual) and bool(value == actual)


def conduct(box: Portal) -> Iterator[str]:
    """The box's counts of all calls."""
    watched = box.look("imports")
    if watched["order_violations"]:
        yield f"{watched['order_violations']} messages came after a later one of their chat"
    if watched["digest_mismatches"]:
        yield f"{watched['digest_mismatches']} items had a digest that is not of their fields"


def customs_on_box(source: Source, box: Portal, held: Mapping[str, list[Json]]) -> dict[str, list[Custom]]:
    """The box is asked for the fields once more, which changes nothing where they are there: list values by name."""
    types = {row["key"]: row["id"] for row in held["crm_types"]}
    found: dict[str, list[Custom]] = {}
    for owner, fields in source.custom.items():
        stream, _, number = owner.partition(":")
        if stream not in held:
            found[owner] = []
            continue
        wishes = [
            {
                **{name: one[name] for name in ("code", "type", "multiple")},
                "options": [{"id": option, "value": value} for option, value in one["options"].items()],
            }
            for one in fields
        ]
        body = {
            "stream": stream,
            "type": types.get(f"source:crm_types:{source.type_ids.get(number)}"),
            "fields": wishes,
        }
        answers = box.call(f"import.{stream.partition('_')[0]}.fields", body)["fields"]
        there = {one["code"]: one for one in answers}
        found[owner] = [
            Custom(one | {"target": there[one["code"]]["target"], "there": there[one["code"]]["options"]})
            for one in fields
            if there[one["code"]]["status"] == "exists"
        ]
    return found


def options_on_box(box: Portal, held: Mapping[str, list[Json]]) -> dict[str, dict[str, str]]:
    """The same for the values of properties: a property that is sent once more changes nothing."""
    found: dict[str, dict[str, str]] = {}
    for row in held["crm_product_props"]:
        fields = {name: value for name, value in row["fields"].items() if name not in OF_THE_BOX["crm_product_props"]}
        item = {"key": row["key"], "digest": row["digest"], "fields": fields}
        (answer,) = box.call("import.crm.batch", {"stream": "crm_product_props", "items": [item]})["items"]
        assert answer["status"] == "unchanged", answer
        found[row["key"]] = answer["options"]
    return found


def ids_on_box(source: Source, box: Portal, held: Mapping[str, list[Json]]) -> Ids:
    address = box.webhook.partition("/rest/")[0]
    return Ids(source, held, address, customs_on_box(source, box, held), options_on_box(box, held))


# ---------------------------------------------------------------- in the store


def accounts(
    source: Source,
    wanted: Mapping[str, Mapping[str, Fields]],
    failed: Mapping[str, int],
    status: Json,
    lacking: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[str]:
    """Every source ID is IMPORT_OK, IMPORT_ERR, excluded or impossible, and store and box agree. Verify has found
    exactly `lacking`."""
    excluded = {
        "chats": len(source.excluded_chats),
        "task_comments": len(source.copied),
        "crm_deals": source.templates,
        "crm_activities": len(source.excluded_activities),
        "crm_product_props": source.properties,
    }
    unhad = {"tasks": bool(lost(source))}
    for entity, about in status["entities"].items():
        if unknown := about["streams"].keys() - wanted.keys():
            yield f"{entity}: nobody works out {', '.join(sorted(unknown))}"
            continue
        if set(about["phases"].values()) == {"pending"} and not any(wanted[name] for name in about["streams"]):
            continue  # the plan leaves it out: the target does not take its records
        for stream, counts in about["streams"].items():
            linked = len(source.linked) if stream == "users" else 0
            due: dict[str, int | None] = {
                "new": 0,
                "error_retry": 0,
                "import_ok": len(wanted[stream]) + linked,
                "import_err": failed.get(stream, 0),
                "excluded": excluded.get(stream, 0),
                "mismatch": lacking.get(stream, 0),
            }
            if stream in LATER:
                due["impossible"] = len(timeline.excerpts(source)) if stream == "crm_activities" else 0
            due["retrieved"] = sum(due[name] or 0 for name in ("import_ok", "import_err", "excluded"))
            due["reported"] = counts["reported"] if counts["reported"] is None else due["retrieved"]
            for name, value in due.items():
                if counts[name] != value:
                    yield f"{stream}: the store says {name} = {counts[name]}, it is {value}"
        clean = not unhad.get(entity) and not any(failed.get(stream) for stream in about["streams"])
        if about["verified"] != clean:
            yield f"{entity}: verified is {about['verified']}"
        if any(state not in ("done", "skipped") for state in about["phases"].values()):
            yield f"{entity}: phases ended as {about['phases']}"


def digest(held: Json) -> str:
    return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()
