"""Compares records with those on the target and finds the differences that it announced, for verify and lookups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple
from zlib import crc32

import msgspec

from b24migrate.engine.phases.compose import Drafter
from b24migrate.engine.phases.context import RunContext, decode_extras, decode_payload, decode_readable, decode_row
from b24migrate.model.fidelity import Keeping, Rule
from b24migrate.model.fields import Kind
from b24migrate.model.records import Fate, Finding, Json, Link, Record, Row, Status
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import FINDINGS, FORESEEN, SPARED, Register, RegisterRow, TargetRecord

SHOWN = 200  # characters of a value that a finding keeps
EMPTY: tuple[Json, ...] = (None, "", [], {})
EXPECTED: Mapping[Fate, Register] = {Fate.FORESEEN: FORESEEN, Fate.SPARED: SPARED}  # nothing is wrong


class Outcome(StrEnum):
    EQUAL = "equal"
    DIFFERS = "differs"
    BEYOND = "beyond"  # more than the contract names, and the target does not keep it


class ComparedField(NamedTuple):
    name: str
    expected: Json
    actual: Json
    outcome: Outcome


def sent_records(context: RunContext, stream: Stream, records: Sequence[Record]) -> list[tuple[Record, Link]]:
    """Those that we sent; a linked person is the target's own."""
    links = context.store.links(stream.name, [one.row_key for one in records])
    return [
        (one, links[one.row_key])
        for one in records
        if one.status is Status.IMPORT_OK and one.row_key in links and links[one.row_key].origin == "import"
    ]


def is_compared(record: Record) -> bool:
    """A record that is deleted at the source has nothing to be compared with."""
    return record.status is Status.IMPORT_OK and not record.deleted_utc


def ask_source_again(context: RunContext, stream: Stream, records: Sequence[Record]) -> dict[str, Row]:
    """The current record of the source, if it can be read by ID; raises the source's refusal. Data of other methods
    stays as it was read."""
    if stream.fetch is None or not records:
        return {}
    staged = {one.row_key: one for one in records}
    rows = stream.fetch(context.source, decode_readable(records, stream), context.known(stream))
    return {
        key: row if row.extras else row._replace(extras=decode_extras(staged[key].extras)) for key, row in rows.items()
    }


def latest_version(stream: Stream, record: Record, now: Row | None) -> SourceRecord:
    """The source's current record, else the staged one. Volatile fields are not sent again, so the target has their
    staged values."""
    if now is None:
        return decode_row(Row(record.row_key, record.payload, decode_extras(record.extras)), stream)
    latest = decode_row(now, stream)
    try:
        before = decode_payload(stream, record.payload) if stream.changes.volatile else {}
    except msgspec.DecodeError:  # a damaged row
        before = {}
    return latest._replace(
        payload={**latest.payload, **{name: before[name] for name in stream.changes.volatile if name in before}}
    )


def compare_fields(
    stream: Stream, expected: Mapping[str, Json], actual: Mapping[str, Json], announced: Collection[str]
) -> Iterator[ComparedField]:
    """Every field that the target should have. It need not keep fields outside the contract, nor fields of a later
    version if it does not announce the streams of that version."""
    unordered = {one.name for one in stream.fields if one.kind in (Kind.REFS, Kind.CODED)}
    rows = {one.name: one.beyond_keys for one in stream.fields if one.beyond_keys and one.unless not in announced}
    for name, value in expected.items():
        there = actual.get(name)
        if name in rows:
            value = without_beyond(value, there, rows[name])  # noqa: PLW2901
        outcome = Outcome.EQUAL
        if not is_same(value, there, name in unordered):
            outcome = Outcome.BEYOND if there is None and is_beyond(name, stream, announced) else Outcome.DIFFERS
        yield ComparedField(name, value, there, outcome)


def without_beyond(expected: Json, actual: Json, keys: frozenset[str]) -> Json:
    """Rows without the keys that the target does not know."""
    if not isinstance(expected, list) or not isinstance(actual, list):
        return expected
    unknown = keys.difference(*(row for row in actual if isinstance(row, dict)))
    return [{key: value for key, value in row.items() if key not in unknown} for row in expected]


def is_beyond(name: str, stream: Stream, announced: Collection[str]) -> bool:
    return any(
        one.beyond
        and one.unless not in announced
        and (name == one.name or (one.kind is Kind.FAMILY and name.startswith(one.name)))
        for one in stream.fields
    )


def is_same(expected: Json, actual: Json, unordered: bool) -> bool:
    """Empty in one spelling is empty in another; a set of references has no order."""
    if expected in EMPTY and actual in EMPTY:
        return True
    if unordered and isinstance(expected, list) and isinstance(actual, list):
        return sorted(map(_spelled, expected)) == sorted(map(_spelled, actual))
    return bool(expected == actual)


def _spelled(value: Json) -> str:
    return msgspec.json.encode(value, order="sorted").decode() if isinstance(value, dict) else str(value)


def shorten(value: Json) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


# ---------------------------------------------------------------- what the target announced


def findings_register(fate: Fate) -> Register:
    """The register for findings of this fate."""
    return EXPECTED.get(fate, FINDINGS)


class ExpectedDifferences:
    """Of the records of one stream. A rule that depends on earlier records applies to all records, not to a single one.
    A rule without a field is about the whole record: it explains a missing record, but no field's difference."""

    def __init__(self, context: RunContext, stream: Stream) -> None:
        self._stream = stream
        self._target = context.target
        self._rules = context.rules(stream)
        self._drafter = Drafter(context, stream) if self._rules else None
        self._tells_spared = context.options.verify_all  # else only a few are looked at, and it would be chance

    def findings(self, one: SourceRecord, expected: Mapping[str, Json], found: TargetRecord | None) -> list[Finding]:
        """All findings about a record. Records that the target had already keep their own values."""
        if found is None:
            return [self.missing_finding(one)]
        compared = compare_fields(
            self._stream, {} if self._stream.adopted(one) else expected, found.fields, self._target.streams()
        )
        touching = self._applying_rules(one)
        return [finding for field in compared for finding in self._judge(one.id, field, touching)]

    def expected_fields(self, one: SourceRecord, *, running: bool = True) -> Callable[[str], bool]:
        """Whether a rule expects a difference in this field; with or without the rules that apply to all records."""
        touching = [rule for rule in self._applying_rules(one) if running or not rule.running]
        return lambda name: any(rule.concerns(name) for rule in touching)

    def missing_finding(self, one: SourceRecord) -> Finding:
        lost = [rule for rule in self._applying_rules(one) if not rule.field and rule.keeping is Keeping.LOST]
        if lost:
            return Finding(self._stream.name, Fate.FORESEEN, one.id, note=lost[0].reason)
        return Finding(self._stream.name, Fate.MISSING, one.id)

    def count_finding(self, counted: Finding) -> Finding:
        """Missing records are expected if the target does not keep some whole records. They are then looked up
        individually."""
        lost = [rule for rule in self._rules if not rule.field and rule.keeping is Keeping.LOST]
        fewer = counted.fate is Fate.MISSING and lost
        return counted._replace(fate=Fate.FORESEEN, note=lost[0].reason) if fewer else counted

    def _applying_rules(self, one: SourceRecord) -> Sequence[Rule]:
        if self._drafter is None:
            return ()
        draft = self._drafter.draft(one)
        return [rule for rule in self._rules if rule.running or rule.judge()(draft)]

    def _judge(self, source_id: str, one: ComparedField, touching: Sequence[Rule]) -> Iterator[Finding]:
        own = [rule for rule in touching if rule.concerns(one.name)]
        values = (one.name, shorten(one.expected), shorten(one.actual))
        if one.outcome is Outcome.EQUAL:
            certain = [rule for rule in own if not rule.running]
            if certain and self._tells_spared and one.expected not in EMPTY:
                yield Finding(self._stream.name, Fate.SPARED, source_id, *values, certain[0].reason)
        elif own:
            yield Finding(self._stream.name, Fate.FORESEEN, source_id, *values, own[0].reason)
        elif one.outcome is Outcome.DIFFERS:
            yield Finding(self._stream.name, Fate.DIFFERS, source_id, *values)


# ---------------------------------------------------------------- findings


def write_findings(context: RunContext, findings: Iterable[Finding]) -> None:
    """Expected differences have a register of their own: each record may have one, and they are not errors."""
    kept: dict[Register, list[RegisterRow]] = {}
    for one in findings:
        kept.setdefault(findings_register(one.fate), []).append(finding_row(one))
    for register, rows in kept.items():
        context.store.write(register, rows)


def finding_row(one: Finding) -> RegisterRow:
    return RegisterRow(
        f"{one.stream}:{one.source_id}:{one.fate}:{one.field}:{crc32(one.expected.encode())}",
        {
            "Stream": one.stream,
            "Fate": one.fate.value,
            "SourceId": one.source_id,
            "Field": one.field,
            "Expected": one.expected,
            "Actual": one.actual,
            "Note": one.note,
        },
    )
