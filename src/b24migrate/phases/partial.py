"""Records that could be read only in part. They are imported without the missing part and counted as incomplete. The
next run reads them again and sends those that are complete now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from b24migrate.phases.work import Work, decode_extras
from b24migrate.ports import PARTIAL, RegisterRow
from b24migrate.records import REFUSED, Row, Staged, digest
from b24migrate.streams import PerParent, Stream

MARK = "partial"  # the payload hash of such a record: that of the whole one differs from it


def incomplete(work: Work, stream: Stream) -> int:
    return int(work.store.total(PARTIAL, f"{stream.name}:", "Open") or 0)


def sorted_out(work: Work, stream: Stream, rows: Sequence[Row]) -> tuple[Sequence[Row], Mapping[str, str]]:
    """The rows to stage, and why some of them are incomplete. A record that was staged with what is refused now stays
    as it was."""
    told = {row.source_id: row.extras for row in rows if row.extras and REFUSED in row.extras}
    why = {key: str(extras[REFUSED]) for key, extras in told.items()}
    if not why:
        return rows, {}
    whole = {
        key: Row(key, one.payload, dict(decode_extras(one.extras)))
        for key, one in work.store.get(stream.table, list(why)).items()
        if decode_extras(one.extras).keys() - told[key].keys() and REFUSED not in decode_extras(one.extras)
    }
    return [whole.get(row.source_id, row) for row in rows], {key: said for key, said in why.items() if key not in whole}


def mark(work: Work, stream: Stream, why: Mapping[str, str]) -> None:
    if why:
        rows = [RegisterRow(f"{stream.name}:{key}", {"Open": 1, "Reason": said}) for key, said in why.items()]
        work.store.write(PARTIAL, rows)


def completed(work: Work, stream: Stream, staged: Sequence[Staged], why: Mapping[str, str]) -> list[str]:
    """Those that an earlier run left incomplete and that are whole now."""
    if isinstance(work.reading(stream), PerParent) or not incomplete(work, stream):
        return []
    rows = work.store.rows(PARTIAL, f"{stream.name}:")
    left = {row.key.partition(":")[2] for row in rows if row.values["Open"]}
    return [one.row_key for one in staged if one.row_key in left and one.row_key not in why]


def hashed(staged: Sequence[Staged], why: Mapping[str, str], whole: Sequence[str]) -> list[Staged]:
    """So that the store takes a record which became whole for a changed one."""
    again = frozenset(whole)
    return [
        one._replace(payload_hash=MARK)
        if one.row_key in why
        else one._replace(payload_hash=one.payload_hash or digest(one.payload.decode(errors="replace")))
        if one.row_key in again
        else one
        for one in staged
    ]


def close(work: Work, stream: Stream, whole: Sequence[str]) -> None:
    if whole:
        work.store.write(PARTIAL, [RegisterRow(f"{stream.name}:{key}", {"Open": 0}) for key in whole])
