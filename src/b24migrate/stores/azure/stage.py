"""Staging: a page of records goes in, and a page that went in before changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from b24migrate.model.records import (
    MIGRATION_VERSION,
    Json,
    Staged,
    Staging,
    Status,
    Table,
    deleted_counter,
    has_new_extras,
    order_key,
)
from b24migrate.stores.azure.changes import ChangingRoom, Plan, without_repeats
from b24migrate.stores.azure.rows import WITH_EXTRAS, content_digest, entity_of, extras_of, face_of, value_of
from b24migrate.stores.azure.shards import NOTHING, Added, Face, Tally, natural_mark
from b24migrate.stores.azure.transactions import create, merge, replace

_ROW_KEY = attrgetter("row_key")
_KEPT = ("TargetId", "ImportedAtUtc", "Revision", "MigrationVersion", "Losses")
_KEPT_WITH_STATUS = (
    *("Status", "Attempts", "LastErrorCode", "LastError", "LastErrorMessage", "LastErrorAtUtc", "RetryAfterUtc"),
)


class _Visit(NamedTuple):
    """One page on its way into one table."""

    table: Table
    run: str
    pass_no: int

    @property
    def counter(self) -> str:
        return f"seen:{self.table.name}:{self.pass_no}"


class StagingRoom(ChangingRoom):
    familiar: set[Table]  # where records were met again: there it is better to look first

    def stage(self, table: Table, records: Sequence[Staged], *, run: str, pass_no: int) -> Staging:
        visit = _Visit(table, run, pass_no)
        total = Staging()
        for part in without_repeats(records, _ROW_KEY):  # pages may overlap
            known: Mapping[str, Any] = {}
            if table in self.familiar:
                known = self.finder.find(table, list(map(_ROW_KEY, part)), WITH_EXTRAS)
            for done in self._change(
                table, part, _ROW_KEY, lambda one, old: self._plan(visit, one, old), known, columns=WITH_EXTRAS
            ):
                total = Staging(*(a + b for a, b in zip(total, done.note, strict=True)))
        (self.familiar.add if total.added < len(records) else self.familiar.discard)(table)
        return total

    def _plan(self, visit: _Visit, record: Staged, old: Any) -> Plan[Staged]:
        if old is None:
            return _new(visit, record)
        more = has_new_extras(record.extras, extras_of(old, record.extras, self.blobs))
        return _met_again(visit, record, old, more=more)


def _new(visit: _Visit, record: Staged) -> Plan[Staged]:
    columns = _content(visit, record) | {
        "Status": Status.NEW.value,
        "Pass": visit.pass_no,
        "PulledThrough": record.pulled_through,
        "MigrationVersion": MIGRATION_VERSION,
    }
    made, large = entity_of(visit.table, columns)
    tally = Tally().enter(Face(Status.NEW, record.pulled_through)).count(visit.counter, 1)
    return Plan(record, create(made), tally, added(record.row_key, record.natural), large, Staging(added=1, seen=1))


def _met_again(visit: _Visit, record: Staged, old: Any, *, more: bool) -> Plan[Staged]:
    before = face_of(old)
    pulled = before.pulled and record.pulled_through
    passed = value_of(old, "Pass")
    seen = passed < visit.pass_no
    marks = {"PulledThrough": pulled, "Pass": max(passed, visit.pass_no)}
    tally = Tally().leave(before).count(visit.counter, int(seen))
    status, returned = before.status, bool(value_of(old, "DeletedUtc"))
    if returned:
        status = Status.NEW if status == Status.DELETED else status
        tally.count(deleted_counter(visit.table), -1)
    comparable = bool(old.get("PayloadHash") and record.payload_hash)
    if comparable or status == Status.IMPORT_OK:
        anew = differs = rewritten = more or (comparable and old["PayloadHash"] != record.payload_hash)
    else:
        anew = False
        differs = old["Content"] != content_digest(record.payload, record.extras)
        rewritten = differs or bool(record.payload_hash)
    note = Staging(changed=int(differs), same=int(not differs), seen=int(seen))
    after = Face(Status.NEW, pulled) if anew else before._replace(pulled=pulled, status=status)
    if rewritten:
        kept = _KEPT if anew else (*_KEPT, *_KEPT_WITH_STATUS)
        columns = {name: value_of(old, name) for name in kept} | _content(visit, record) | marks
        columns["Status"] = after.status
        if anew:
            columns["Revision"] = value_of(old, "Revision") + 1
        made, large = entity_of(visit.table, columns)
        moved = record.natural is not None and record.natural != old.get("NaturalKey")
        keys = added(record.row_key, record.natural) if moved else NOTHING
        return Plan(record, replace(made, old.metadata["etag"]), tally.enter(after), keys, large, note)
    if not seen and pulled == before.pulled and not returned:
        return Plan(record, note=note)
    made = {"PartitionKey": old["PartitionKey"], "RowKey": old["RowKey"], **marks}
    if returned:
        made |= {"DeletedUtc": "", "Status": str(status)}
    return Plan(record, merge(made, old.metadata["etag"]), tally.enter(after), note=note)


def _content(visit: _Visit, record: Staged) -> dict[str, Json]:
    return {
        "RowKey": record.row_key,
        "Payload": record.payload,
        "PayloadHash": record.payload_hash,
        "Extras": record.extras,
        "NaturalKey": record.natural,
        "SourceOriginal": record.source_original,
        "SourceUtc": record.source_utc,
        "OriginalOffsetMin": record.original_offset_min,
        "RunId": visit.run,
    }


def added(row_key: str, natural: str | None) -> Added:
    key = order_key(row_key)
    return Added((key,), () if natural is None else (f"{natural_mark(natural)} {key}",))
