"""The long lists of a report, row by row: in order of stream and id, a few hundred in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from b24migrate.engine.phases.context import RunContext, decode_record
from b24migrate.engine.phases.custom_fields import field_map_rows, is_excluded, reason_not_to_copy
from b24migrate.engine.phases.inventory import count_deleted
from b24migrate.insight.certificate.facts import Fact, sort_facts
from b24migrate.insight.lookup.fields import full_title
from b24migrate.insight.report.model import FileFacts
from b24migrate.model.records import Fate, Json, Record, Span, Status, Table, order_key
from b24migrate.model.streams import Stream
from b24migrate.ports import (
    CUSTOM_FIELDS,
    DELETIONS,
    FINDINGS,
    FORESEEN,
    ID_MAP,
    INVENTORY,
    SET_ASIDE,
    SPARED,
    UNRESOLVED,
    Register,
    RegisterRow,
)

AT_ONCE = 200
FILES = "files"
TOO_LARGE = "TOO_LARGE"
STATES = {Status.IMPORT_OK: "imported", Status.IMPORT_ERR: "failed"}
UNREADABLE = (msgspec.DecodeError, TypeError, AttributeError, KeyError)  # whatever it is, it failed for a reason


class Failed(NamedTuple):
    stream: str
    source_id: str
    title: str
    code: str
    message: str
    attempts: int


class Aside(NamedTuple):
    why: str  # excluded or impossible
    stream: str
    source_id: str
    name: str
    reason: str


class DeletedRow(NamedTuple):
    """`target_id`: empty where it is not on the target; `reason`: why it could not be removed there."""

    stream: str
    source_id: str
    title: str
    deleted_utc: str
    target_id: str
    reason: str


class FindingRow(NamedTuple):
    stream: str
    source_id: str
    fate: str
    field: str
    expected: str
    actual: str
    note: str


class Unresolved(NamedTuple):
    """`kind`: place (inside a tree, keeps the source's id) or dangling (a reference that verify wanted resolved)."""

    kind: str
    stream: str
    source_id: str
    place: str
    what: str


class Activity(NamedTuple):
    """`state`: of its record (failed when it was refused, imported, pending); `code`: what it runs, or its
    properties."""

    stream: str
    source_id: str
    title: str
    state: str
    place: str
    activity: str
    code: str


class LinkRow(NamedTuple):
    stream: str
    source_id: str
    target_id: str
    origin: str


class FailedFile(NamedTuple):
    entity: str
    stream: str
    key: str
    name: str
    size: int | None
    code: str
    message: str


class CustomField(NamedTuple):
    """`fate`: created, mapped (the target had it), excluded, left (its values are not migrated), failed, or open."""

    entity: str
    code: str
    type: str
    label: str
    fate: str
    target: str
    note: str


class PassRow(NamedTuple):
    """One full pass over a stream."""

    stream: str
    at: str
    reported: int | None
    retrieved: int
    drift: int | None  # None where the source gives no total, or only the first few were read
    pages: int
    method: str
    latest: bool
    limited: bool


# ---------------------------------------------------------------- records


def failed(context: RunContext) -> Iterator[Failed]:
    for entity in context.entities:
        for stream in entity.streams:
            for one in failed_records(context, stream.table):
                code, message = one.last_error_code or "", one.last_error or ""
                yield Failed(stream.name, one.row_key, title(one, stream), code, message, one.attempts)


def failed_records(context: RunContext, table: Table) -> Iterator[Record]:
    """A few are read one by one; for many the table is walked."""
    counts = context.store.counts(table)
    if not counts[Status.IMPORT_ERR]:
        return
    few = counts[Status.IMPORT_ERR] + counts[Status.ERROR_RETRY] <= AT_ONCE
    records = iter(context.store.failed(table, AT_ONCE)) if few else walk_table(context, table)
    yield from (one for one in records if one.status is Status.IMPORT_ERR)


def walk_table(context: RunContext, table: Table) -> Iterator[Record]:
    span = Span()
    while records := context.store.records(table, span, AT_ONCE):
        yield from records
        span = Span(order_key(records[-1].row_key))


def title(record: Record, stream: Stream) -> str:
    try:
        return full_title(stream, decode_record(record, stream))
    except UNREADABLE:
        return ""


def activities(context: RunContext) -> Iterator[Activity]:
    """Parts of records that would run code on the target, whether they were sent or not."""
    for entity in context.entities:
        for stream in entity.streams:
            for one in walk_table(context, stream.table) if stream.forbidden else ():
                yield from _activities(stream, one)


def _activities(stream: Stream, record: Record) -> Iterator[Activity]:
    state = STATES.get(record.status, "pending")
    try:
        parts = stream.forbidden.find(decode_record(record, stream)) if stream.forbidden else ()
    except UNREADABLE:
        return
    for part in parts:
        yield Activity(stream.name, record.row_key, title(record, stream), state, *part)


# ---------------------------------------------------------------- registers


def set_aside(context: RunContext, folder: Path) -> Iterator[Aside]:
    def columns(row: RegisterRow) -> Sequence[str]:
        why, stream, source_id = row.key.split(":", 2)
        return stream, source_id, why, _text(row, "Name"), _text(row, "Reason")

    for stream, source_id, why, name, reason in _sorted(context, SET_ASIDE, folder, columns):
        yield Aside(why, stream, source_id, name, reason)


def deleted(context: RunContext) -> Iterator[DeletedRow]:
    """Records that are deleted at the source."""
    for stream in (one for entity in context.entities for one in entity.streams):
        span = Span()
        while records := context.store.deleted(stream.table, span, AT_ONCE) if count_deleted(context, stream) else []:
            links = context.store.links(stream.name, [one.row_key for one in records])
            why = context.store.rows_of(DELETIONS, [f"kept:{stream.name}:{one.row_key}" for one in records])
            for one in records:
                link, kept = links.get(one.row_key), why.get(f"kept:{stream.name}:{one.row_key}")
                target_id, reason = link.target_id if link else "", _text(kept, "Reason") if kept and link else ""
                yield DeletedRow(stream.name, one.row_key, title(one, stream), one.deleted_utc or "", target_id, reason)
            span = Span(order_key(records[-1].row_key))


def findings(context: RunContext, folder: Path, register: Register = FINDINGS) -> Iterator[FindingRow]:
    names = ("Stream", "SourceId", "Fate", "Field", "Expected", "Actual", "Note")
    for values in _sorted(context, register, folder, lambda row: [_text(row, name) for name in names]):
        yield FindingRow(*values)


def foreseen(context: RunContext, folder: Path) -> Iterator[FindingRow]:
    """Expected differences that verify found, then those that it did not find."""
    yield from findings(context, folder, FORESEEN)
    yield from findings(context, folder, SPARED)


def unresolved(context: RunContext, folder: Path) -> Iterator[Unresolved]:
    names = ("Stream", "SourceId", "Place", "What")
    for values in _sorted(context, UNRESOLVED, folder, lambda row: [_text(row, name) for name in names]):
        yield Unresolved("place", *values)

    def dangling(row: RegisterRow) -> Sequence[str] | None:
        is_one = row.values["Fate"] == Fate.DANGLING
        return [_text(row, name) for name in ("Stream", "SourceId", "Field", "Expected")] if is_one else None

    for values in _sorted(context, FINDINGS, folder, dangling):
        yield Unresolved("dangling", *values)


def links(context: RunContext, folder: Path) -> Iterator[LinkRow]:
    def columns(row: RegisterRow) -> Sequence[str]:
        stream, _, source_id = row.key.partition(":")
        return stream, source_id, _text(row, "TargetId"), _text(row, "Origin")

    for values in _sorted(context, ID_MAP, folder, columns):
        yield LinkRow(*values)


def inventories(context: RunContext) -> Iterator[PassRow]:
    rows = {place: [] for place in (*_places(context), "")}  # type: dict[str, list[RegisterRow]]
    for row in context.store.rows(INVENTORY):
        rows.setdefault(str(row.values["Stream"]), []).append(row)
    for stream, own in rows.items():
        for row in sorted(own, key=lambda one: str(one.values["SnapshotUtc"])):
            yield _pass_row(stream, row.values)


def _pass_row(stream: str, values: Mapping[str, Json]) -> PassRow:
    reported = None if values.get("ReportedTotal") is None else int(values["ReportedTotal"])
    retrieved, limited = int(values["RetrievedTotal"]), bool(values.get("Limited"))
    drift = None if reported is None or limited else reported - retrieved
    pages, method = int(values.get("PageCount") or 0), str(values.get("SourceMethod") or "")
    latest = bool(values.get("IsLatest"))
    return PassRow(stream, str(values["SnapshotUtc"]), reported, retrieved, drift, pages, method, latest, limited)


def custom_fields(context: RunContext) -> Iterator[CustomField]:
    for entity in context.entities:
        custom = entity.custom_fields
        if custom is None:
            continue
        wished = field_map_rows(context, entity.name)
        for row in context.store.rows(CUSTOM_FIELDS, partition=entity.name):
            kind, error = _text(row, "Type"), _text(row, "Error")
            fate, note = FATES.get(_text(row, "State"), "open"), error
            if is_excluded(row.key, wished):
                fate, note = "excluded", ""
            elif why := reason_not_to_copy(custom, kind):
                fate, note = "left", why
            elif error:
                fate = "failed"
            yield CustomField(entity.name, row.key, kind, _text(row, "Label"), fate, _text(row, "TargetField"), note)


FATES = {"created": "created", "exists": "mapped", "failed": "failed", "differs": "failed"}


# ---------------------------------------------------------------- files


def decode_payload(record: Record) -> dict[str, Json]:
    """Nothing where the row in the store is damaged."""
    try:
        return msgspec.json.decode(record.payload, type=dict[str, Any])
    except msgspec.DecodeError:
        return {}


def failed_files(context: RunContext, facts: FileFacts) -> Iterator[FailedFile]:
    """Walks through all of them and counts; gives those that failed."""
    for one in walk_table(context, context.streams[FILES].table):
        payload = decode_payload(one)
        size = payload.get("size")
        size = int(size) if isinstance(size, int | str) and str(size).isdecimal() else None
        _count(facts, one, str(payload.get("entity") or ""), size)
        if one.status is Status.IMPORT_ERR:
            entity, stream, name = (str(payload.get(key) or "") for key in ("entity", "stream", "name"))
            code, message = one.last_error_code or "", one.last_error or ""
            yield FailedFile(entity, stream, one.row_key, name, size, code, message)


def _count(facts: FileFacts, record: Record, entity: str, size: int | None) -> None:
    own = facts.by_entity.setdefault(entity, [0, 0, 0, 0])
    facts.known += 1
    own[0] += 1
    if record.status is Status.IMPORT_OK:
        facts.imported += 1
        facts.bytes_imported += size or 0
        own[1] += 1
        own[3] += size or 0
    elif record.status is Status.IMPORT_ERR:
        facts.failed += 1
        facts.too_large += record.last_error_code == TOO_LARGE
        facts.bytes_failed += size or 0
        own[2] += 1
    else:
        facts.waiting += 1


# ---------------------------------------------------------------- in order


def _sorted(
    context: RunContext, register: Register, folder: Path, columns: Callable[[RegisterRow], Sequence[str] | None]
) -> Iterator[list[str]]:
    """The columns of each row, starting with stream and ID, sorted by all of them."""
    places = _places(context)

    def facts() -> Iterator[Fact]:
        for row in context.store.all_rows(register):
            values = columns(row)
            if values is not None:
                after = "\x00".join(values[2:])
                yield (places.get(values[0], len(places)), f"{order_key(values[1])}\x00{after}"), "", "", list(values)

    for _, _, _, values in sort_facts(facts(), folder):
        yield values


def _places(context: RunContext) -> dict[str, int]:
    named = [stream.name for entity in context.entities for stream in entity.streams]
    return {name: place for place, name in enumerate(dict.fromkeys((*named, *context.streams)))}


def _text(row: RegisterRow, name: str) -> str:
    value = row.values.get(name)
    return "" if value is None else value if isinstance(value, str) else str(value)
