"""Records that could be read only in part. They are imported without the missing part and counted as incomplete. The
next run reads them again and sends those that are complete now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from b24migrate.engine.phases.context import RunContext, decode_extras
from b24migrate.engine.phases.payload import PARTIAL_HASH, decode_payloads, is_other, payload_hash
from b24migrate.model.errors import MigrationError
from b24migrate.model.records import REFUSED, Json, Record, Row, Staged
from b24migrate.model.streams import Stream
from b24migrate.ports import PARTIAL, RegisterRow


def count_incomplete(context: RunContext, stream: Stream) -> int:
    return int(context.store.total(PARTIAL, f"{stream.name}:", "Open") or 0)


class SortedRows(NamedTuple):
    """The rows as they are to be staged; why some of them are not whole; and why some stay as an earlier run staged
    them, whole, although the source has a newer version."""

    rows: Sequence[Row]
    why: Mapping[str, str] = {}
    outdated: Mapping[str, str] = {}


def mark_refused(row: Row, error: MigrationError) -> Row:
    return row._replace(extras={**(row.extras or {}), REFUSED: error.sentence})


def sort_incomplete(context: RunContext, stream: Stream, rows: Sequence[Row]) -> SortedRows:
    untold = {row.source_id: row for row in rows if row.extras and REFUSED in row.extras}
    if not untold:
        return SortedRows(rows)
    whole = {
        key: one
        for key, one in context.store.get(stream.table, list(untold)).items()
        if has_more(decode_extras(one.extras), untold[key])
    }
    instead = {key: Row(key, one.payload, dict(decode_extras(one.extras))) for key, one in whole.items()}
    why = {key: (row.extras or {})[REFUSED] for key, row in untold.items()}
    return SortedRows(
        [instead.get(row.source_id, row) for row in rows],
        {key: reason for key, reason in why.items() if key not in whole},
        {key: why[key] for key, one in whole.items() if is_changed(stream, untold[key], one)},
    )


def has_more(extras: Mapping[str, Json], row: Row) -> bool:
    """Whether a record was staged with what is refused now."""
    return REFUSED not in extras and bool(extras.keys() - (row.extras or {}).keys())


def is_changed(stream: Stream, row: Row, staged: Record) -> bool:
    hash_one = payload_hash(stream)
    if hash_one is None:
        return False
    now = hash_one(row.source_id, decode_payloads(stream, [row.payload])[0])
    return is_other(stream, hash_one, staged, Staged(row.source_id, row.payload, now))


def mark_incomplete(context: RunContext, stream: Stream, why: Mapping[str, str]) -> None:
    if why:
        rows = [RegisterRow(f"{stream.name}:{key}", {"Open": 1, "Reason": reason}) for key, reason in why.items()]
        context.store.write(PARTIAL, rows)


def find_completed(context: RunContext, stream: Stream, staged: Sequence[Staged], why: Mapping[str, str]) -> list[str]:
    """Those that an earlier run left incomplete and that are whole now. Of the register, which may be as long as the
    table, only these are looked up."""
    prefix = f"{stream.name}:"
    if not context.store.some_rows(PARTIAL, prefix, "", 1):
        return []
    found = context.store.rows_of(PARTIAL, [prefix + one.row_key for one in staged if one.row_key not in why])
    left = {key.removeprefix(prefix) for key, row in found.items() if row.values["Open"]}
    return [one.row_key for one in staged if one.row_key in left]


def hash_incomplete(staged: Sequence[Staged], why: Mapping[str, str]) -> list[Staged]:
    """So that the store takes a record which becomes whole for a changed one."""
    return [one._replace(payload_hash=PARTIAL_HASH) if one.row_key in why else one for one in staged]


def clear_completed(context: RunContext, stream: Stream, whole: Sequence[str]) -> None:
    if whole:
        context.store.write(PARTIAL, [RegisterRow(f"{stream.name}:{key}", {"Open": 0}) for key in whole])
