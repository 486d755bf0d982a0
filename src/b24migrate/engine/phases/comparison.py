"""What the target should have, and whether it has it: one comparison for verify and for whoever looks at a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from b24migrate.engine.phases.context import RunContext, decode_extras, readable, seen_row
from b24migrate.model.records import Json, Link, Record, Row, Status
from b24migrate.model.streams import Kind, Seen, Stream

SHOWN = 200  # characters of a value that a finding keeps
EMPTY: tuple[Json, ...] = (None, "", [], {})


class Outcome(StrEnum):
    EQUAL = "equal"
    DIFFERS = "differs"
    BEYOND = "beyond"  # more than the contract names, and the target does not keep it


class Compared(NamedTuple):
    name: str
    expected: Json
    actual: Json
    outcome: Outcome


def sent(context: RunContext, stream: Stream, records: Sequence[Record]) -> list[tuple[Record, Link]]:
    """Those that we sent; a linked person is the target's own."""
    links = context.store.links(stream.name, [one.row_key for one in records])
    return [
        (one, links[one.row_key])
        for one in records
        if one.status is Status.IMPORT_OK and one.row_key in links and links[one.row_key].origin == "import"
    ]


def asked_again(context: RunContext, stream: Stream, records: Sequence[Record]) -> dict[str, Row]:
    """What the source says now, where it can be asked by id; raises what it refuses with. What other methods told
    stays as it was read."""
    if stream.fetch is None or not records:
        return {}
    staged = {one.row_key: one for one in records}
    rows = stream.fetch(context.source, readable(records, stream), context.known(stream))
    return {
        key: row if row.extras else row._replace(extras=decode_extras(staged[key].extras)) for key, row in rows.items()
    }


def said(stream: Stream, record: Record, now: Row | None) -> Seen:
    """By the source now, or else when it was staged."""
    return seen_row(now or Row(record.row_key, record.payload, decode_extras(record.extras)), stream)


def compared(stream: Stream, expected: Mapping[str, Json], actual: Mapping[str, Json]) -> Iterator[Compared]:
    """Every field that should be there. What the contract does not name the target need not keep."""
    unordered = {one.name for one in stream.fields if one.kind is Kind.REFS}
    for name, value in expected.items():
        there = actual.get(name)
        outcome = Outcome.EQUAL
        if not same(value, there, name in unordered):
            outcome = Outcome.BEYOND if there is None and is_beyond(name, stream) else Outcome.DIFFERS
        yield Compared(name, value, there, outcome)


def is_beyond(name: str, stream: Stream) -> bool:
    return any(
        one.beyond and (name == one.name or (one.kind is Kind.FAMILY and name.startswith(one.name)))
        for one in stream.fields
    )


def same(expected: Json, actual: Json, unordered: bool) -> bool:
    """Empty in one spelling is empty in another; a set of references has no order."""
    if expected in EMPTY and actual in EMPTY:
        return True
    if unordered and isinstance(expected, list) and isinstance(actual, list):
        return sorted(map(str, expected)) == sorted(map(str, actual))
    return bool(expected == actual)


def shown(value: Json) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
