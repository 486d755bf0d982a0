"""Staging: a page of records goes in, and a page that went in before changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from b24migrate.model.records import (
    MIGRATION_VERSION,
    Json,
    Renew,
    Staged,
    Staging,
    Status,
    Table,
    deleted_counter,
    has_new_extras,
    order_key,
    renew_by_hash,
)
from b24migrate.stores.azure.changes import ChangeMethods, Plan, without_repeats
from b24migrate.stores.azure.rows import (
    WHOLE,
    WITH_EXTRAS,
    content_digest,
    entity_of,
    extras_of,
    face_of,
    payload_of,
    value_of,
)
from b24migrate.stores.azure.shards import NOTHING, Added, Face, Tally, natural_mark
from b24migrate.stores.azure.transactions import create, merge, replace

_ROW_KEY = attrgetter("row_key")
_KEPT = ("TargetId", "ImportedAtUtc", "Revision", "MigrationVersion", "Losses")
_KEPT_WITH_STATUS = (
    *("Status", "Attempts", "LastErrorCode", "LastError", "LastErrorMessage", "LastErrorAtUtc", "RetryAfterUtc"),
)


_FAILED = (Status.IMPORT_ERR, Status.ERROR_RETRY)


class _Visit(NamedTuple):
    """One page on its way into one table."""

    table: Table
    run: str
    pass_no: int
    renew: Renew
    refresh: bool

    @property
    def counter(self) -> str:
        return f"seen:{self.table.name}:{self.pass_no}"


class StageMethods(ChangeMethods):
    familiar: set[Table]  # where records were met again: there it is better to look first

    def stage(
        self,
        table: Table,
        records: Sequence[Staged],
        *,
        run: str,
        pass_no: int,
        renew: Renew = renew_by_hash,
        refresh: bool = False,
    ) -> Staging:
        visit = _Visit(table, run, pass_no, renew, refresh)
        total = Staging()
        for part in without_repeats(records, _ROW_KEY):  # pages may overlap
            known: Mapping[str, Any] = self._look(table, part) if table in self.familiar else {}
            for done in self._change(
                table, part, _ROW_KEY, lambda one, old: self._plan(visit, one, old), known, columns=WHOLE
            ):
                total = Staging(*(a + b for a, b in zip(total, done.note, strict=True)))
        (self.familiar.add if total.added < len(records) else self.familiar.discard)(table)
        return total

    def _look(self, table: Table, part: Sequence[Staged]) -> Mapping[str, Any]:
        """The known records. Payloads are read only of the few that may have changed."""
        known = self.finder.find(table, list(map(_ROW_KEY, part)), WITH_EXTRAS)
        doubtful = [one.row_key for one in part if one.row_key in known and self._may_differ(one, known[one.row_key])]
        return {**known, **self.finder.find(table, doubtful, WHOLE)} if doubtful else known

    def _may_differ(self, record: Staged, old: Any) -> bool:
        if not record.payload_hash:
            return False
        return old.get("PayloadHash") != record.payload_hash or self._tells_more(record, old)

    def _tells_more(self, record: Staged, old: Any) -> bool:
        return has_new_extras(record.extras, extras_of(old, record.extras, self.blobs))

    def _plan(self, visit: _Visit, record: Staged, old: Any) -> Plan[Staged]:
        if old is None:
            return _new(visit, record)
        if not record.payload_hash:
            return _met_unhashed(visit, record, old, more=self._tells_more(record, old))
        extras = extras_of(old, record.extras, self.blobs)
        if not self._may_differ(record, old):
            return _met_again(visit, record, old, None, extras)
        staged = Staged(record.row_key, payload_of(old, self.blobs), old.get("PayloadHash"), extras=extras)
        return _met_again(visit, record, old, visit.renew(staged, record), extras)


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


class _Change(NamedTuple):
    """The columns to write of a known record: all of them, or only its hash."""

    content: Staged | None = None
    anew: bool = False
    payload_hash: str | None = None


def _met_again(visit: _Visit, record: Staged, old: Any, other: Staged | None, extras: bytes | None) -> Plan[Staged]:
    if other is not None:
        return _changed(visit, record, old, _Change(other, anew=True))
    renewed = visit.refresh or face_of(old).status in _FAILED
    if renewed and old["Content"] != content_digest(record.payload, extras):
        return _changed(visit, record, old, _Change(record._replace(extras=extras)))  # the new data may be right
    rehashed = record.payload_hash if old.get("PayloadHash") != record.payload_hash else None
    return _changed(visit, record, old, _Change(payload_hash=rehashed))


def _met_unhashed(visit: _Visit, record: Staged, old: Any, *, more: bool) -> Plan[Staged]:
    if face_of(old).status == Status.IMPORT_OK:
        return _changed(visit, record, old, _Change(record, anew=True) if more else _Change())
    differs = old["Content"] != content_digest(record.payload, record.extras)
    return _changed(visit, record, old, _Change(record if differs else None))


def _changed(visit: _Visit, record: Staged, old: Any, change: _Change) -> Plan[Staged]:
    before = face_of(old)
    pulled = before.pulled and record.pulled_through
    passed = value_of(old, "Pass")
    first_time = passed < visit.pass_no
    marks = {"PulledThrough": pulled, "Pass": max(passed, visit.pass_no)}
    tally = Tally().leave(before).count(visit.counter, int(first_time))
    status, returned = before.status, bool(value_of(old, "DeletedUtc"))
    if returned:
        status = Status.NEW if status == Status.DELETED else status
        tally.count(deleted_counter(visit.table), -1)
    content, anew, payload_hash = change
    note = Staging(changed=int(content is not None), same=int(content is None), seen=int(first_time))
    after = Face(Status.NEW, pulled) if anew else before._replace(pulled=pulled, status=status)
    if content is not None:
        kept = _KEPT if anew else (*_KEPT, *_KEPT_WITH_STATUS)
        columns = {name: value_of(old, name) for name in kept} | _content(visit, content) | marks
        columns["PayloadHash"] = content.payload_hash or value_of(old, "PayloadHash")
        columns["Status"] = after.status
        if anew:
            columns["Revision"] = value_of(old, "Revision") + 1
        made, large = entity_of(visit.table, columns)
        moved = content.natural is not None and content.natural != old.get("NaturalKey")
        keys = added(content.row_key, content.natural) if moved else NOTHING
        return Plan(record, replace(made, old.metadata["etag"]), tally.enter(after), keys, large, note)
    if not first_time and pulled == before.pulled and payload_hash is None and not returned:
        return Plan(record, note=note)
    made = {"PartitionKey": old["PartitionKey"], "RowKey": old["RowKey"], **marks}
    if returned:
        made |= {"DeletedUtc": "", "Status": str(status)}
    if payload_hash is not None:
        made["PayloadHash"] = payload_hash
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
