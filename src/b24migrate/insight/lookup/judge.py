"""Judges each field of a record: by verify's own comparison, and by what became of it on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from b24migrate.engine.phases.comparison import EMPTY, Outcome, compare_fields
from b24migrate.insight.lookup.fields import Draft
from b24migrate.insight.lookup.model import FieldNote, FieldRow, FieldVerdict, Shown, SideState, show_value
from b24migrate.model.records import Json
from b24migrate.model.streams import ABSENT, Kind, Stream
from b24migrate.model.values import NOTHING

LOSABLE = frozenset({Kind.REF, Kind.REFS, Kind.CODED, Kind.FILE, Kind.FILES, Kind.TIME, Kind.DAY})


class Evidence(NamedTuple):
    """`asked`: how it stands with the target. `own`: it keeps the values that it had. `unresolved`: by field."""

    stream: Stream
    sent: Mapping[str, Json]
    there: Mapping[str, Json]
    asked: SideState
    own: bool
    unresolved: Mapping[str, tuple[str, ...]]
    addresses_known: bool
    announced: Callable[[str], bool] = lambda _: False  # whether the target had said that this field differs


def judge_fields(drafts: list[Draft], evidence: Evidence) -> tuple[FieldRow, ...]:
    outcomes: dict[str, Outcome] = {}
    if evidence.asked is SideState.NOW:
        compared = compare_fields(evidence.stream, evidence.sent, evidence.there)
        outcomes = {one.name: one.outcome for one in compared}
    rows = (_row(one, evidence, outcomes.get(one.name)) for one in drafts)
    return tuple(row for row in rows if row.source or row.staged or row.sent or row.target)


def _row(one: Draft, evidence: Evidence, outcome: Outcome | None) -> FieldRow:
    verdict = _verdict(one, evidence, outcome)
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


def _verdict(one: Draft, evidence: Evidence, outcome: Outcome | None) -> FieldVerdict:
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
    """Nothing of it goes: it is empty, it was lost, or nobody wanted it."""
    if evidence.there.get(one.name) not in EMPTY:
        return FieldVerdict.ONLY_TARGET
    if one.may_be_sent and one.source is not ABSENT and one.source not in EMPTY:
        return FieldVerdict.ONLY_SOURCE
    return FieldVerdict.NOT_SENT


def _is_lost(one: Draft, sent: Json) -> bool:
    """The source says something, and nothing is sent of it. A nought names nobody."""
    if sent not in EMPTY or one.kind not in LOSABLE or one.source is ABSENT:
        return False
    return one.source not in EMPTY and one.source is not False and str(one.source) not in NOTHING


def plain(value: Json) -> Json:
    """Numbers and texts alike, and nothing in any spelling: portals write both."""
    if value is ABSENT or value in EMPTY:
        return None
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return str(value)


def _show(value: Json) -> Shown | None:
    return None if value is ABSENT else show_value(value)
