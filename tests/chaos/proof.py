"""The proof: what the box holds against what it should hold, and what the store says about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.chaos.oracle import Fields, Json, Source, expected
from tests.chaos.portals import Portal

STREAMS = ("departments", "users", "groups", "group_members", "chats", "chat_messages", "files")
EMPTY: tuple[Json, ...] = (None, "", [], {}, set())


@dataclass(slots=True)
class Proof:
    """Differences in words; none means proven."""

    records: dict[str, int] = field(default_factory=dict)
    updated: int = 0
    differences: list[str] = field(default_factory=list)

    def complain(self, found: Iterator[str]) -> None:
        self.differences += found


def snapshot(box: Portal) -> dict[str, list[Json]]:
    return {stream: box.dump(stream) for stream in STREAMS}


def prove(source: Source, box: Portal, status: Json) -> Proof:
    held = snapshot(box)
    proof = Proof({stream: len(rows) for stream, rows in held.items()})
    proof.updated = sum(row["updated_count"] for rows in held.values() for row in rows)
    ids = {row["key"]: str(row["id"]) for rows in held.values() for row in rows}
    wanted = expected(source, ids.get, _options(source, held["users"]))
    for stream in STREAMS:
        proof.complain(_stream(stream, wanted[stream], held[stream]))
    proof.complain(_conduct(box))
    proof.complain(_accounts(source, wanted, status))
    return proof


# ---------------------------------------------------------------- on the box


def _stream(stream: str, wanted: Mapping[str, Fields], held: list[Json]) -> Iterator[str]:
    there = {row["key"]: row for row in held}
    yield from (f"{stream}: {key} is missing on the box" for key in wanted.keys() - there.keys())
    yield from (f"{stream}: {key} is on the box and should not be" for key in there.keys() - wanted.keys())
    if len(there) != len(held):
        yield f"{stream}: the box has a key twice"
    targets = [row["id"] for row in held]
    if len(set(targets)) != len(targets):
        yield f"{stream}: two keys stand for one record"
    for key in wanted.keys() & there.keys():
        row = there[key]
        if row["created_count"] != 1:
            yield f"{stream}: {key} was created {row['created_count']} times"
        for name, value in wanted[key].items():
            actual = row["fields"].get(name)
            if not _same(value, actual):
                yield f"{stream}: {key} {name} is {str(actual)[:80]!r}, not {str(value)[:80]!r}"


def _same(value: Json, actual: Json) -> bool:
    if value in EMPTY and actual in EMPTY:
        return True
    if isinstance(value, set):
        return isinstance(actual, list) and set(actual) == value and len(actual) == len(value)
    return bool(value == actual)


def _conduct(box: Portal) -> Iterator[str]:
    """What the box noticed about every call that it ever got."""
    watched = box.look("imports")
    if watched["order_violations"]:
        yield f"{watched['order_violations']} messages came after a later one of their chat"
    if watched["digest_mismatches"]:
        yield f"{watched['digest_mismatches']} items had a digest that is not of their fields"


def _options(source: Source, users: list[Json]) -> dict[str, dict[str, str]]:
    """Which list value became which, seen on users that have one value only; every user is then held against it."""
    found: dict[str, dict[str, str]] = {}
    there = {row["key"]: row["fields"] for row in users}
    for code, about in source.custom.items():
        if about["USER_TYPE_ID"] != "enumeration":
            continue
        for number, row in source.users.items():
            values, became = row.get(code) or [], there.get(f"source:users:{number}", {}).get(code) or []
            for value, option in zip(values, became, strict=False):
                found.setdefault(code, {}).setdefault(str(value), str(option))
        if len(set(found.get(code, {}).values())) != len(found.get(code, {})):
            found[code] = {}  # two values became one: every user will differ
    return found


# ---------------------------------------------------------------- in the store


def _accounts(source: Source, wanted: Mapping[str, Mapping[str, Fields]], status: Json) -> Iterator[str]:
    """Every source id is IMPORT_OK, IMPORT_ERR, excluded or impossible, and the store says the same as the box."""
    bad, tasks = source.unimportable, source.task_chats
    excluded = {"chats": len(tasks)}
    failed = {"users": len(bad)}
    for entity, about in status["entities"].items():
        for stream, said in about["streams"].items():
            linked = len(source.linked) if stream == "users" else 0
            due: dict[str, int | None] = {
                "new": 0,
                "error_retry": 0,
                "import_ok": len(wanted[stream]) + linked,
                "import_err": failed.get(stream, 0),
                "excluded": excluded.get(stream, 0),
                "mismatch": 0,
            }
            due["retrieved"] = sum(due[name] or 0 for name in ("import_ok", "import_err", "excluded"))
            due["reported"] = said["reported"] if said["reported"] is None else due["retrieved"]
            for name, value in due.items():
                if said[name] != value:
                    yield f"{stream}: the store says {name} = {said[name]}, it is {value}"
        if about["verified"] != (entity != "users" or not bad):
            yield f"{entity}: verified is {about['verified']}"
        if any(state not in ("done", "skipped") for state in about["phases"].values()):
            yield f"{entity}: phases ended as {about['phases']}"


def digest(held: dict[str, list[Json]]) -> str:
    return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()
