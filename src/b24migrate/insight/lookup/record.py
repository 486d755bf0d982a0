"""One record: what happened to it, and its fields on every side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from b24migrate.engine.phases.comparison import EMPTY, ExpectedDifferences, Outcome, compare_fields, latest_version
from b24migrate.engine.phases.compose import ComposedRecord, Composer
from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.lookup import related
from b24migrate.insight.lookup.fields import (
    STRANGE,
    Draft,
    FieldDrafts,
    ask_source,
    ask_target,
    decode_or_empty,
    list_emails,
    short_title,
)
from b24migrate.insight.lookup.model import (
    Aside,
    FieldNote,
    FieldRow,
    FieldVerdict,
    RecordVerdict,
    RecordView,
    Shown,
    Side,
    SideState,
    TargetLink,
    Times,
    Trouble,
    cut,
    show_value,
)
from b24migrate.messages import say, unpack
from b24migrate.model.errors import MigrationError
from b24migrate.model.fields import ABSENT, Kind
from b24migrate.model.records import Json, Link, Record, Row, Span, Status, order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.model.values import NOTHING
from b24migrate.ports import TargetRecord

LONGEST_ID = 300
_LAST = "\U0010ffff"
_AFTER_SURROGATES = "\ue000"
LOSABLE = frozenset({Kind.REF, Kind.REFS, Kind.CODED, Kind.FILE, Kind.FILES, Kind.TIME, Kind.DAY})


def record(context: RunContext, stream: str, source_id: str, *, ask: bool = True) -> RecordView | None:
    """None if nothing is known of it. With `ask` both portals are queried, each once and only for this record."""
    known = context.streams.get(stream)
    if known is None or not is_possible_id(source_id):
        return None
    looking = context.without_notes()
    row = _row(looking, known, source_id)
    aside = related.aside(looking, stream, source_id)
    if row is not None:
        return _staged(looking, known, row, aside, ask=ask)
    return None if aside is None else _aside_view(looking, known, source_id, aside)


def is_possible_id(text: str) -> bool:
    """Whether it can be an ID: only then the store is read. A lone surrogate is not a valid text."""
    return 0 < len(text) <= LONGEST_ID and "\0" not in text and text == text.encode("utf-8", "ignore").decode()


def _row(context: RunContext, stream: Stream, source_id: str) -> Mapping[str, Json] | None:
    """The whole row, times and all."""
    key = order_key(source_id)
    rows = context.store.export(stream.table, Span(_key_before(key), key), 1)
    return next((row for row in rows if row["RowKey"] == source_id), None)


def _key_before(key: str) -> str:
    """Behind everything that comes before the key."""
    last = "\ud7ff" if key[-1] == _AFTER_SURROGATES else chr(ord(key[-1]) - 1)
    return key[:-1] + last + _LAST


def _record(row: Mapping[str, Json]) -> Record:
    return Record(
        row["RowKey"],
        Status(row["Status"]),
        row["Payload"],
        extras=row["Extras"],
        attempts=int(row["Attempts"] or 0),
        target_id=row["TargetId"],
        natural=row["NaturalKey"],
        revision=int(row["Revision"] or 0),
    )


class Sides(NamedTuple):
    source: Side
    now: Row | None
    target: Side
    found: TargetRecord | None


def _staged(
    context: RunContext, stream: Stream, row: Mapping[str, Json], aside: Aside | None, *, ask: bool
) -> RecordView:
    one = _record(row)
    link = context.store.links(stream.name, [one.row_key]).get(one.row_key)
    sides = _ask_portals(context, stream, one, link, ask=ask)
    then = decode_or_empty(one, stream)
    now = then if sides.now is None else latest_version(stream, one, sides.now)
    fields, problem = _fields(context, stream, one, (then, now), sides)
    files, files_in_all = related.files(context, stream, now)
    return RecordView(
        stream=stream.name,
        entity=owner_name(context, stream),
        id=one.row_key,
        title=short_title(stream, now),
        emails=list_emails(stream, now),
        verdict=RecordVerdict.AID if _is_aid(context, stream) else _verdict(one, link, sides.target, fields),
        status=one.status.value,
        attempts=one.attempts,
        revision=one.revision,
        run=str(row["RunId"] or ""),
        pulled_through=bool(row["PulledThrough"]),
        changed=any(field.changed for field in fields if field.verdict is not FieldVerdict.NOT_SENT),
        trouble=_trouble(row),
        problem=problem,
        link=_link(link, row),
        times=_times(row),
        source=sides.source,
        target=sides.target,
        fields=fields,
        findings=related.findings(context, stream.name, one.row_key),
        places=related.places(context, stream.name, one.row_key),
        files=files,
        files_in_all=files_in_all,
        children=related.children(context, stream, one.row_key),
        aside=aside,
    )


def _ask_portals(context: RunContext, stream: Stream, one: Record, link: Link | None, *, ask: bool) -> Sides:
    """Both at once, because a portal that does not answer takes its full timeout."""
    with ThreadPoolExecutor(1) as beside_us:
        target = beside_us.submit(ask_target, context, stream, one, link, ask=ask)
        return Sides(*ask_source(context, stream, one, ask=ask), *target.result())


def _fields(
    context: RunContext, stream: Stream, one: Record, versions: tuple[SourceRecord, SourceRecord], sides: Sides
) -> tuple[tuple[FieldRow, ...], str]:
    """And why it could not be sent as it is, if so."""
    then, now = versions
    composer = Composer(context, stream, late=True)
    try:
        composed = composer.compose(one, None if sides.now is None else now)
        problem = composed.problem[1] if composed.problem else ""
    except STRANGE as error:
        composed, problem = ComposedRecord(one), say("lookup.unreadable", error=error)
    there = sides.found.fields if sides.found else {}
    unresolved: dict[str, tuple[str, ...]] = {}
    for name, source_id in composed.unresolved:
        unresolved[name] = (*unresolved.get(name, ()), source_id)
    evidence = Evidence(
        stream,
        composed.fields,
        there,
        sides.target.state,
        stream.adopted(now),
        unresolved,
        not context.options.absent,
        _is_expected(context, stream, now, sides.target),
        context.target.streams() if sides.target.state is SideState.NOW else (),
    )
    drafts = FieldDrafts(context, stream, now, then, sides.now is not None).all(composed.fields, there)
    return judge_fields(drafts, evidence), cut(problem)


def _is_expected(context: RunContext, stream: Stream, one: SourceRecord, target: Side) -> Callable[[str], bool]:
    if target.state is not SideState.NOW:
        return lambda _: False
    try:
        return ExpectedDifferences(context, stream).expected_fields(one)
    except (MigrationError, *STRANGE):
        return lambda _: False


def _verdict(one: Record, link: Link | None, target: Side, fields: tuple[FieldRow, ...]) -> RecordVerdict:
    if one.deleted_utc:
        return RecordVerdict.DELETED
    if one.status is not Status.IMPORT_OK:
        return RecordVerdict.FAILED if one.status is Status.IMPORT_ERR else RecordVerdict.WAITING
    if link is not None and link.origin != "import":
        return RecordVerdict.LINKED
    if target.state is SideState.GONE:
        return RecordVerdict.MISSING
    if target.state is not SideState.NOW:
        return RecordVerdict.IMPORTED
    differs = any(field.verdict is FieldVerdict.DIFFERS for field in fields)
    return RecordVerdict.DIFFERS if differs else RecordVerdict.EQUAL


def _is_aid(context: RunContext, stream: Stream) -> bool:
    return stream.name in context.owner and stream not in context.owner[stream.name].streams


def _trouble(row: Mapping[str, Json]) -> Trouble | None:
    """Imported records have none any more."""
    if not row["LastErrorCode"] and not row["LastError"]:
        return None
    code, at, again_at = (str(row[name] or "") for name in ("LastErrorCode", "LastErrorAtUtc", "RetryAfterUtc"))
    return related.trouble(code, unpack(row["LastError"] or "", row["LastErrorMessage"]), at, again_at)


def _link(link: Link | None, row: Mapping[str, Json]) -> TargetLink | None:
    if link is None:
        return None
    return TargetLink(link.target_id, link.digest, link.origin, str(row["ImportedAtUtc"] or ""))


def _times(row: Mapping[str, Json]) -> Times | None:
    if not row["SourceOriginal"] and not row["SourceUtc"]:
        return None
    offset = row["OriginalOffsetMin"]
    return Times(str(row["SourceOriginal"] or ""), str(row["SourceUtc"] or ""), None if offset is None else int(offset))


def owner_name(context: RunContext, stream: Stream) -> str:
    owner = context.owner.get(stream.name)
    return owner.name if owner else ""


def _aside_view(context: RunContext, stream: Stream, source_id: str, aside: Aside) -> RecordView:
    unasked = Side(SideState.NOT_ASKED)
    return RecordView(
        stream=stream.name,
        entity=owner_name(context, stream),
        id=source_id,
        title=aside.name,
        emails=(),
        verdict=RecordVerdict(aside.why),
        status="",
        attempts=0,
        revision=0,
        run="",
        pulled_through=False,
        changed=False,
        trouble=None,
        problem="",
        link=None,
        times=None,
        source=unasked,
        target=unasked,
        fields=(),
        findings=related.findings(context, stream.name, source_id),
        places=(),
        files=(),
        files_in_all=0,
        children=(),
        aside=aside,
    )


# ---------------------------------------------------------------- the verdict on each field, compared as by verify


class Evidence(NamedTuple):
    """`asked`: the result of the query to the target. `own`: it keeps its earlier values. `unresolved`: by field."""

    stream: Stream
    sent: Mapping[str, Json]
    there: Mapping[str, Json]
    asked: SideState
    own: bool
    unresolved: Mapping[str, tuple[str, ...]]
    addresses_known: bool
    announced: Callable[[str], bool] = lambda _: False  # whether the target announced that this field differs
    streams: Collection[str] = ()  # that the target announced


def judge_fields(drafts: list[Draft], evidence: Evidence) -> tuple[FieldRow, ...]:
    outcomes: dict[str, Outcome] = {}
    if evidence.asked is SideState.NOW:
        compared = compare_fields(evidence.stream, evidence.sent, evidence.there, evidence.streams)
        outcomes = {one.name: one.outcome for one in compared}
    rows = (_field_row(one, evidence, outcomes.get(one.name)) for one in drafts)
    return tuple(row for row in rows if row.source or row.staged or row.sent or row.target)


def _field_row(one: Draft, evidence: Evidence, outcome: Outcome | None) -> FieldRow:
    verdict = _field_verdict(one, evidence, outcome)
    blind = verdict is FieldVerdict.DIFFERS and one.is_text and not evidence.addresses_known
    return FieldRow(
        one.name,
        str(one.kind),
        FieldVerdict.UNKNOWN if blind else verdict,
        source=_show(one.source),
        staged=_show(one.staged),
        sent=_show(evidence.sent.get(one.name, ABSENT)),
        target=_show(evidence.there.get(one.name, ABSENT)),
        changed=plain(one.source) != plain(one.staged),
        source_names=one.source_names,
        names=one.names,
        unresolved=evidence.unresolved.get(one.field, ()) if one.field else (),
        note=FieldNote.NO_ADDRESSES if blind else one.note,
    )


def _field_verdict(one: Draft, evidence: Evidence, outcome: Outcome | None) -> FieldVerdict:
    if one.name not in evidence.sent:
        return _unsent(one, evidence)
    sent = evidence.sent[one.name]
    if outcome in (Outcome.DIFFERS, Outcome.BEYOND) and not evidence.own and evidence.announced(one.name):
        return FieldVerdict.FORESEEN
    if outcome is Outcome.DIFFERS:
        return FieldVerdict.OWN if evidence.own else FieldVerdict.DIFFERS
    if _is_lost(one, sent):
        return FieldVerdict.ONLY_SOURCE
    if outcome is Outcome.BEYOND:
        return FieldVerdict.BEYOND
    if outcome is None:
        return FieldVerdict.MISSING if evidence.asked is SideState.GONE else FieldVerdict.UNKNOWN
    rewritten = one.mapped and sent not in EMPTY and one.source is not ABSENT and plain(one.source) != plain(sent)
    return FieldVerdict.REWRITTEN if rewritten else FieldVerdict.EQUAL


def _unsent(one: Draft, evidence: Evidence) -> FieldVerdict:
    """Nothing is sent: the field is empty, lost, or excluded."""
    if evidence.there.get(one.name) not in EMPTY:
        return FieldVerdict.ONLY_TARGET
    if one.may_be_sent and one.source is not ABSENT and one.source not in EMPTY:
        return FieldVerdict.ONLY_SOURCE
    return FieldVerdict.NOT_SENT


def _is_lost(one: Draft, sent: Json) -> bool:
    """The source has a value that is not sent. 0 is not a reference."""
    if sent not in EMPTY or one.kind not in LOSABLE or one.source is ABSENT:
        return False
    return one.source not in EMPTY and one.source is not False and str(one.source) not in NOTHING


def plain(value: Json) -> Json:
    """The value in a form to compare: numbers as texts, every empty value as None. Portals write all forms."""
    if value is ABSENT or value in EMPTY:
        return None
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return str(value)


def _show(value: Json) -> Shown | None:
    return None if value is ABSENT else show_value(value)
