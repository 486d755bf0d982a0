"""Further facts about a record: findings of verify, unresolved IDs, its files, its children."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.files import FileJob
from b24migrate.insight.lookup.fields import STRANGE
from b24migrate.insight.lookup.model import Aside, Children, FileView, FoundBefore, Place, Trouble, cut
from b24migrate.messages.pages import link, page_of
from b24migrate.model.readings import PerParent
from b24migrate.model.records import Record, Status, children_span
from b24migrate.model.source_records import FileRef, SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import CHECKPOINTS, FINDINGS, FORESEEN, SET_ASIDE, SPARED, UNRESOLVED, Register, RegisterRow

MOST = 100  # of each
COUNTED = 50  # children, one by one
WHYS = ("excluded", "impossible")
STATES = {
    Status.IMPORT_OK: "imported",
    Status.IMPORT_ERR: "failed",
    Status.ERROR_RETRY: "retrying",
}


def trouble(code: str, message: str, at: str, again_at: str) -> Trouble:
    page = page_of(code)
    return Trouble(code, cut(message), at, again_at, page.cause, page.fix, link(page))


def findings(context: RunContext, stream: str, source_id: str) -> tuple[FoundBefore, ...]:
    registers = (FINDINGS, FORESEEN, SPARED)
    rows = (row.values for register in registers for row in _own(context, register, stream, source_id))
    return tuple(
        FoundBefore(*(cut(row.get(name) or "") for name in ("Fate", "Field", "Expected", "Actual", "Note")))
        for row in rows
    )


def places(context: RunContext, stream: str, source_id: str) -> tuple[Place, ...]:
    rows = (row.values for row in _own(context, UNRESOLVED, stream, source_id))
    return tuple(Place(cut(str(row["Place"])), cut(row["What"] or "")) for row in rows)


def _own(context: RunContext, register: Register, stream: str, source_id: str) -> list[RegisterRow]:
    """The IDs of children start with their parent's ID, so the prefix alone is not enough."""
    rows = context.store.rows(register, f"{stream}:{source_id}:")
    return [row for row in rows if row.values.get("SourceId") == source_id][:MOST]


def aside(context: RunContext, stream: str, source_id: str) -> Aside | None:
    for why in WHYS:
        row = context.store.read(SET_ASIDE, f"{why}:{stream}:{source_id}")
        if row is not None:
            return Aside(why, cut(row.values.get("Reason") or ""), cut(str(row.values.get("Name") or "")))
    return None


def children(context: RunContext, stream: Stream, source_id: str) -> tuple[Children, ...]:
    """As their last reading counted them where it did, else as many as can be had at once: no walk."""
    others = (one for entity in context.entities for one in entity.streams)
    found = (_children(context, stream, other, source_id) for other in others)
    return tuple(one for one in found if one and (one.read or one.reported))


def _children(context: RunContext, stream: Stream, other: Stream, source_id: str) -> Children | None:
    readings = [one for one in (*other.read, *other.more) if isinstance(one, PerParent) and one.of == stream.name]
    if not readings:
        return None
    row = context.store.read(CHECKPOINTS, f"{other.name}:{source_id}")
    if row is not None:
        return Children(other.name, int(row.values["Retrieved"] or 0), reported=int(row.values["Reported"] or 0))
    if any(one.keys for one in readings):  # their IDs have another prefix
        return None
    count = len(context.store.records(other.table, children_span(source_id), COUNTED + 1))
    return Children(other.name, min(count, COUNTED), more=count > COUNTED)


def files(context: RunContext, stream: Stream, one: SourceRecord) -> tuple[tuple[FileView, ...], int]:
    """The first of them, and how many there are."""
    try:
        refs = list({ref.key: ref for ref in stream.files(one)}.values()) if stream.files else []
    except STRANGE:
        refs = []
    return tuple(_file_views(context, refs[:MOST])), len(refs)


def _file_views(context: RunContext, refs: Sequence[FileRef]) -> list[FileView]:
    table = context.streams["files"].table
    known = context.store.get(table, [ref.key for ref in refs]) if refs else {}
    return [_file_view(ref, known.get(ref.key)) for ref in refs]


def _file_view(ref: FileRef, record: Record | None) -> FileView:
    if record is None:
        return FileView(ref.key, cut(ref.name), _number(ref.size), "unknown", "", "", "")
    held = FileJob.of(record)
    state = STATES.get(record.status, "fetched" if held.fetched else "waiting")
    about = (record.target_id or "", record.last_error_code or "", cut(record.last_error or ""))
    return FileView(ref.key, cut(held.ref.name or ref.name), _number(held.ref.size), state, *about)


def _number(size: object) -> int | None:
    return int(str(size)) if str(size).isdecimal() else None
