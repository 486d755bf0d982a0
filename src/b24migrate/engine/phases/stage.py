"""Stages what was read: records, the files they refer to, what is set aside, and the log of pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import repeat
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from b24migrate.engine.phases import moved, partial
from b24migrate.engine.phases.bug import unexpected
from b24migrate.engine.phases.context import RunContext, decode_extras
from b24migrate.engine.phases.payload import Payload, decode_payloads, payload_hash, renew
from b24migrate.messages import plain, say
from b24migrate.model import values
from b24migrate.model.events import Extracted
from b24migrate.model.records import (
    Json,
    Page,
    PageEntry,
    Record,
    Row,
    SetAside,
    Staged,
    Status,
    digest,
    order_key,
)
from b24migrate.model.source_records import FileRef, SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import INCOMPLETE, PAGE_LOG, SET_ASIDE, RegisterRow

LOOKED_AT_ONCE = 250


def keep_page(context: RunContext, stream: Stream, page: Page, pass_no: int) -> None:
    """Stages the rows and the files they refer to, then logs the pages."""
    started = context.clock.monotonic()
    entity = context.owner[stream.name]
    staged = stage(context, stream, page.rows, page.aside, pass_no=pass_no)
    context.store.write(PAGE_LOG, [page_log_row(stream, entry) for entry in page.log])
    for alarm in page.alarms:
        context.note(entity.name, alarm)
    for one in page.aside:
        if one.why == "impossible" and not one.name:  # those with a name are reported together when the get ends
            context.note(
                entity.name, say("note.unreadable", stream=one.stream or stream.name, id=one.source_id, why=one.reason)
            )
    spent = sum((entry.finished_at - entry.started_at).total_seconds() for entry in page.log)
    latency_ms = (spent + context.clock.monotonic() - started) * 1000
    context.tell(Extracted(entity.name, stream.name, staged, latency_ms))


def stage(
    context: RunContext,
    stream: Stream,
    rows: Sequence[Row],
    aside: Sequence[SetAside] = (),
    *,
    pass_no: int,
    pulled: bool = False,
    needed: frozenset[str] = frozenset(),
) -> int:
    """Returns how many rows were staged; the others were excluded by a rule. `needed`: no rule excludes these."""
    aside, before = split_staged_before(context, stream, aside)
    rows, why, outdated = partial.sort_incomplete(context, stream, [*before, *rows])
    staged: list[Staged] = []
    excluded: list[SetAside] = []
    for start in range(0, len(rows), LOOKED_AT_ONCE):  # decoded, a row is many times as large
        chosen, left_out, odd = examine_rows(context, stream, rows[start : start + LOOKED_AT_ONCE], pulled, needed)
        staged += chosen
        excluded += left_out
        why = {**why, **odd}
    if staged:
        mark_holders(context, stream, staged)
        incomplete = {**why, **outdated}
        whole = partial.find_completed(context, stream, staged, incomplete)
        partial.mark_incomplete(context, stream, incomplete)
        if why:
            staged = partial.hash_incomplete(staged, why)
        moved.note_moved(context, stream, staged, pass_no)
        include(context, stream, [one.row_key for one in staged])
        context.store.stage(
            stream.table,
            staged,
            run=context.run,
            pass_no=pass_no,
            renew=renew(stream),
            refresh=bool(moved.watched_fields(context, stream)),
        )
        partial.clear_completed(context, stream, whole)
    write_set_aside(context, [*aside, *excluded])
    return len(staged)


def split_staged_before(
    context: RunContext, stream: Stream, aside: Sequence[SetAside]
) -> tuple[list[SetAside], list[Row]]:
    """Records that were staged before there was a rule stay what they are: each id is in one class. They come as they
    are, so that this pass has met them too."""
    named = [one._replace(stream=one.stream or stream.name) for one in aside]
    excluded = {one.source_id for one in named if one.why == "excluded" and one.stream == stream.name}
    before = context.store.get(stream.table, sorted(excluded)) if excluded else {}
    rows = [Row(key, one.payload, dict(decode_extras(one.extras))) for key, one in before.items()]
    known = {(stream.name, "excluded", key) for key in before}
    return [one for one in named if (one.stream, one.why, one.source_id) not in known], rows


def examine_rows(
    context: RunContext, stream: Stream, rows: Sequence[Row], pulled: bool, needed: frozenset[str]
) -> tuple[list[Staged], list[SetAside], dict[str, str]]:
    """All at once; where that fails one by one. A row that fails is staged as it came and counted as read in part, with
    the reason: sending it will fail as well, and the next run reads it again."""
    try:
        return *examine_batch(context, stream, rows, pulled, needed), {}
    except values.OddValue as error:
        why: str = say("record.odd_value", field=str(error)) if str(error) else say("record.unreadable")
    except msgspec.DecodeError:
        why = say("record.unreadable")
    except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
        about = f"{stream.name} {', '.join(row.source_id for row in rows[:3])}"
        why = unexpected(context, bug, context.owner[stream.name].name, about).message
    if len(rows) == 1:
        extras = msgspec.json.encode(rows[0].extras, enc_hook=plain) if rows[0].extras else None
        row = Staged(rows[0].source_id, rows[0].payload, extras=extras, pulled_through=pulled)
        context.note(
            context.owner[stream.name].name, say("note.unreadable", stream=stream.name, id=row.row_key, why=why)
        )
        return [row], [], {row.row_key: why}
    staged: list[Staged] = []
    excluded: list[SetAside] = []
    odd: dict[str, str] = {}
    for one in rows:
        chosen, left_out, failed = examine_rows(context, stream, [one], pulled, needed)
        staged += chosen
        excluded += left_out
        odd |= failed
    return staged, excluded, odd


def examine_batch(
    context: RunContext, stream: Stream, rows: Sequence[Row], pulled: bool, needed: frozenset[str] = frozenset()
) -> tuple[list[Staged], list[SetAside]]:
    """The records to stage and those that a rule excludes; the files of the former are noted."""
    payloads = decode_payloads(stream, [payload for _, payload, _ in rows])
    shown = [
        SourceRecord(row.source_id, payload, row.extras or {}) for row, payload in zip(rows, payloads, strict=True)
    ]
    asked = (one for one in shown if stream.exclude and one.id not in needed)
    why = {one.id: reason for one in asked if stream.exclude and (reason := stream.exclude(one))}
    for staged_before in context.store.known(stream.table, list(why)) if why else ():
        del why[staged_before]  # before there was such a rule: each id is in one class
    find_files(context, stream, [one for one in shown if one.id not in why])
    staged = make_staged(stream, rows, payloads, context.options.timezone, pulled)
    excluded = [SetAside(stream.name, source_id, "excluded", reason) for source_id, reason in why.items()]
    return [one for one in staged if one.row_key not in why] if why else staged, excluded


def make_staged(
    stream: Stream, rows: Sequence[Row], decoded: Sequence[Payload], timezone: ZoneInfo, pulled: bool
) -> list[Staged]:
    """By column, because a million records go through it."""
    ids, payloads, extras = zip(*rows, strict=True)
    hash_one = payload_hash(stream)
    hashes = map(hash_one, ids, decoded) if hash_one else repeat(None)
    stamps = [one.get(stream.stamp) for one in decoded] if stream.stamp else [None] * len(ids)
    times = zip(*parse_stamps(stamps, timezone), strict=True)
    beside = (
        [msgspec.json.encode(one, enc_hook=plain) if one else None for one in extras] if any(extras) else repeat(None)
    )
    naturals = (one.get(stream.natural.field) for one in decoded) if stream.natural else repeat(None, len(ids))
    names = [str(one).strip().lower() if one else None for one in naturals]
    columns = zip(ids, payloads, hashes, *times, beside, repeat(pulled), names)
    return list(map(Staged._make, columns))


def parse_stamps(received: Sequence[Json], timezone: ZoneInfo) -> list[values.Stamp]:
    """Equal ones are read once: a portal's days and imports repeat."""
    known = {one: values.stamp(one, timezone) for one in {one for one in received if isinstance(one, str)}}
    return [known[one] if isinstance(one, str) else values.NO_TIME for one in received]


def mark_for_second_pass(context: RunContext, stream: Stream, ends: Iterable[str]) -> None:
    """The records with these order keys: the second pass of this run looks at them, and one of a later run."""
    mark_stretches(context, stream, ((end, end) for end in ends))


def mark_stretches(context: RunContext, stream: Stream, ends: Iterable[tuple[str, str]]) -> None:
    marked = [{"First": first, "Last": last} for first, last in ends]
    rows = [RegisterRow(f"{marks_of_run(context, stream)}{one['First']}-{one['Last']}", one) for one in marked]
    if rows:
        context.store.write(INCOMPLETE, rows)


def marks_of_run(context: RunContext, stream: Stream) -> str:
    """What their keys begin with."""
    return f"{stream.name}:@{context.run}:"


def mark_holders(context: RunContext, aid: Stream, staged: Sequence[Staged]) -> None:
    """Before they are staged: the imported records that they tell something new of are looked at by the second pass.
    Nothing else would, since the records themselves are as they were."""
    holders = [one for one in context.owner[aid.name].streams if any(spec.beside == aid.name for spec in one.fields)]
    keys = [one.row_key for one in staged] if holders else []
    new = set(keys) - context.store.known(aid.table, keys) if keys else set()
    parents = sorted({key.partition(":")[0] for key in new})
    for holder in holders if parents else ():
        there = context.store.get(holder.table, parents).values()
        ends = [order_key(one.row_key) for one in there if one.status is Status.IMPORT_OK]
        mark_for_second_pass(context, holder, ends)


# ---------------------------------------------------------------- files


def find_files(context: RunContext, stream: Stream, looked: Sequence[SourceRecord]) -> None:
    """Files are recorded once, with the first record that names them; again where their bytes are others now."""
    if stream.files is None:
        return
    entity = context.owner[stream.name].name
    by = {"entity": entity, "stream": stream.name}
    found = {ref.key: ref for one in looked for ref in stream.files(one)}
    if not found:
        return
    table = context.streams["files"].table
    known = context.store.known(table, list(found))
    failed = _find_failed_files(context, known)
    hashes = {key: digest(ref.version) for key, ref in found.items() if ref.version and key not in failed}
    staged = [
        Staged(key, msgspec.json.encode({**found[key]._asdict(), **by}), hashes.get(key))
        for key in sorted((found.keys() - known) | failed | hashes.keys())
    ]
    if staged:
        context.store.stage(table, staged, run=context.run, pass_no=0, renew=_renew_file)


def _renew_file(old: Staged, new: Staged) -> Staged | None:
    """Its row has no hash when it was fetched, or staged by an earlier version."""
    try:
        row = msgspec.json.decode(old.payload, type=dict[str, Any])
        before = digest(FileRef.of_link(row["kind"], row["id"], row["url"]).version)
    except (msgspec.DecodeError, KeyError):  # damaged
        return new
    return None if before == new.payload_hash else new


def _find_failed_files(context: RunContext, known: Collection[str]) -> set[str]:
    """The noted files that could not be fetched: the source's current link may be right."""
    table = context.streams["files"].table
    counts = context.store.counts(table) if known else {}
    if not (counts.get(Status.IMPORT_ERR) or counts.get(Status.ERROR_RETRY)):
        return set()
    failed = [
        one
        for one in context.store.get(table, sorted(known)).values()
        if one.status in (Status.IMPORT_ERR, Status.ERROR_RETRY)
    ]
    return {one.row_key for one in failed if not _is_fetched(one)}


def _is_fetched(record: Record) -> bool:
    """Whether its bytes are here."""
    try:
        return bool(msgspec.json.decode(record.payload, type=dict[str, Any]).get("sha256"))
    except msgspec.DecodeError:
        return False


# ---------------------------------------------------------------- registers


def include(context: RunContext, stream: Stream, row_keys: Sequence[str]) -> None:
    """A rule excluded them before, and does not any more: each id is in one class. Before they are staged: after a kill
    in between they are read again, while one in both classes would be counted twice until the next full pass."""
    prefix = f"excluded:{stream.name}:"
    if context.store.some_rows(SET_ASIDE, prefix, "", 1):
        found = context.store.rows_of(SET_ASIDE, [prefix + key for key in row_keys])
        if found:
            context.store.discard(SET_ASIDE, list(found))


def write_set_aside(context: RunContext, aside: Iterable[SetAside]) -> None:
    rows = [
        RegisterRow(f"{one.why}:{one.stream}:{one.source_id}", {"Why": one.why, "Reason": one.reason, "Name": one.name})
        for one in aside
    ]
    if rows:
        context.store.write(SET_ASIDE, rows)


def checkpoint_row(key: str, pass_no: Json, reported: int, retrieved: int) -> RegisterRow:
    return RegisterRow(key, {"Pass": int(pass_no), "Reported": reported, "Retrieved": retrieved})


_utc_text = lru_cache(maxsize=64)(values.utc_text)  # fifty pages come with one request


def page_log_row(stream: Stream, entry: PageEntry) -> RegisterRow:
    duration = entry.finished_at - entry.started_at
    return RegisterRow(
        f"{stream.name}:{entry.number}",
        {
            "PageSize": entry.page_size,
            "Retrieved": entry.retrieved,
            "ApiParamsHash": entry.params_hash,
            "StartedAtUtc": _utc_text(entry.started_at),
            "FinishedAtUtc": _utc_text(entry.finished_at),
            "DurationMs": round(duration.total_seconds() * 1000, 3),
        },
    )


def number_pages(page: Page, base: int) -> Page:
    log = [entry._replace(number=base + k) for k, entry in enumerate(page.log)]
    return replace(page, log=log)
