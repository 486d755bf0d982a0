"""set: before an update is written, the target's record is compared with the fields last sent and with the source. A
change by users on the target is a conflict if the update would overwrite it.

Every conflict is listed in the register `Conflicts` before anything is written. A decision holds for one revision of
the record: when the source changes again, it is compared again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from b24migrate.engine.phases.comparison import EMPTY, ExpectedDifferences, is_beyond, is_same, shorten
from b24migrate.engine.phases.compose import ComposedRecord
from b24migrate.engine.phases.context import RunContext, decode_record
from b24migrate.engine.phases.cutover_state import is_live
from b24migrate.messages import say
from b24migrate.model import values
from b24migrate.model.errors import MigrationError, Permanent, Transient
from b24migrate.model.fields import Kind
from b24migrate.model.records import (
    NOWHERE,
    Fate,
    Finding,
    Item,
    Json,
    Link,
    Record,
    Settled,
    Status,
    canonical,
    digest,
)
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import CONFLICTS, RegisterRow, TargetRecord

SOURCE, TARGET, NONE, OPEN = "source", "target", "none", ""
DECISIONS = (SOURCE, TARGET)
BY_RULE, BY_PERSON = "rule", "person"
LONGEST = 40  # characters of a value that is kept as it was sent; of a longer one only a digest is
MARK = "#"  # prefix of a digest
NEVER = Stream.__dataclass_fields__["adopted"].default


def conflict_policy(context: RunContext) -> str:
    """The decision of a conflict that no user has decided. Only this function defines the default: the source wins
    until the company works on the target."""
    return context.options.conflicts or (TARGET if is_live(context.store) else SOURCE)


def count_conflicts(context: RunContext, stream: Stream) -> int:
    return context.store.count(CONFLICTS, f"{stream.name}:")


def count_open(context: RunContext, stream: Stream) -> int:
    """Those that wait for a decision."""
    return int(context.store.total(CONFLICTS, f"{stream.name}:", "Open") or 0)


def count_waiting(context: RunContext, stream: Stream) -> int:
    """Those that were decided for the source and are not sent yet."""
    waiting = int(context.store.total(CONFLICTS, f"{stream.name}:", "Waiting") or 0)
    return min(waiting, context.store.counts(stream.table).get(Status.NEW, 0)) if waiting else 0


# ---------------------------------------------------------------- what was sent


class SentFields:
    """The fields last sent, as they are kept: short values, and digests of long ones."""

    def __init__(self, stream: Stream) -> None:
        self._unordered = frozenset(one.name for one in stream.fields if one.kind is Kind.REFS)

    def is_unordered(self, name: str) -> bool:
        return name in self._unordered

    def pack(self, fields: Mapping[str, Json]) -> str:
        return canonical({name: self.mark(name, value) for name, value in fields.items()}).decode()

    def mark(self, name: str, value: Json) -> Json:
        if value in EMPTY:
            return None
        if name in self._unordered and isinstance(value, list):
            value = sorted(map(str, value))
        wire = canonical(plain_numbers(value))
        length = len(value) if isinstance(value, str) else len(wire)
        if length <= LONGEST and not (isinstance(value, str) and value.startswith(MARK)):
            return value
        return MARK + hashlib.sha256(wire).hexdigest()[:16]


def unpack_sent(sent: str) -> Mapping[str, Json]:
    """Nothing where the row in the store is damaged."""
    try:
        return msgspec.json.decode(sent, type=dict[str, Json]) if sent else {}
    except msgspec.DecodeError:
        return {}


def plain_numbers(value: Json) -> Json:
    """100.0 and 100 are the same."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [plain_numbers(one) for one in value]
    return {name: plain_numbers(one) for name, one in value.items()} if isinstance(value, dict) else value


# ---------------------------------------------------------------- comparing


class ConflictField(NamedTuple):
    name: str
    sent: str  # empty where it is not known
    target: str
    source: str


class Judged(NamedTuple):
    """Of the updates that were compared."""

    going: list[ComposedRecord]
    left: list[ComposedRecord]  # they stay on the target as they are
    failed: dict[str, MigrationError]  # row key -> why it could not be compared


class Conflicts:
    """Compares the updates of one stream, a batch at a time."""

    def __init__(self, context: RunContext, stream: Stream) -> None:
        self._context = context
        self._stream = stream
        self._wire = context.owner[stream.name].wire
        self._sent = SentFields(stream)
        self._expected: ExpectedDifferences | None = None

    def judge(self, updates: Sequence[ComposedRecord], links: Mapping[str, Link]) -> Judged:
        """Compares updates with the target. Only fields that were sent before and that the update changes can
        conflict."""
        stream, found = self._stream, Judged([], [], {})
        ours = {
            key for key, link in links.items() if link.origin == "import" and link.target_id != NOWHERE and link.digest
        }
        keys = [self._key(one.record) for one in updates if one.record.row_key in ours]
        rows = self._context.store.rows_of(CONFLICTS, keys) if keys else {}
        asked: list[ComposedRecord] = []
        for one in updates:
            known = rows.get(self._key(one.record))
            waits = known is not None and bool(known.values.get("Waiting"))
            changed = one.record.row_key in ours and one.item(stream).digest != links[one.record.row_key].digest
            (asked if changed or waits else found.going).append(one)
        there, refused = self._read([one.item(stream).key for one in asked])
        written: list[RegisterRow] = []
        same: list[Item] = []
        for one in asked:
            row_key, key = one.record.row_key, one.item(stream).key
            if key in refused:
                found.failed[row_key] = refused[key]
                continue
            fields = list(self._compare(one, links[row_key], there[key])) if key in there else []
            known = rows.get(self._key(one.record))
            decision = self._decide(one.record, fields, known) if fields else SOURCE
            if fields:
                written.append(self._row(one.record, fields, decision, known))
            elif known is not None and (known.values.get("Open") or known.values.get("Waiting")):
                written.append(close_row(known, self._now()))
            if fields and decision == SOURCE and there[key].digest == one.item(stream).digest:
                same.append(Item.make(key, {name: there[key].fields.get(name) for name in one.fields}))
            (found.going if decision == SOURCE else found.left).append(one)
        if written:
            self._context.store.write(CONFLICTS, written)
            self._note()
        if same:  # the target has this digest and would take the update for a repetition, so another one is sent first
            self._context.target.send(self._wire, stream.name, same, run=self._context.run)
        return found

    def left_link(self, one: ComposedRecord, link: Link) -> Link:
        """For a record that stays unchanged: this revision of the source is not compared again."""
        return link._replace(digest=one.item(self._stream).digest)

    def settled(self, one: ComposedRecord, link: Link) -> Settled:
        record = one.record
        attempts = record.attempts + 1
        left = self.left_link(one, link)
        return Settled(record.row_key, Status.IMPORT_OK, attempts, link=left, losses=record.losses)

    def pack(self, one: ComposedRecord) -> str:
        return self._sent.pack(one.fields)

    def baselines(self, some: Iterable[ComposedRecord]) -> dict[str, str]:
        """Of records that the target may have had before: what it has of them now, by row key. It keeps values of its
        own, and no user has changed them since."""
        if self._stream.adopted is NEVER:
            return {}
        own = {
            one.item(self._stream).key: one.record.row_key
            for one in some
            if self._stream.adopted(decode_record(one.record, self._stream))
        }
        there, _ = self._read(list(own))
        return {own[key]: self._sent.pack(found.fields) for key, found in there.items()}

    def _read(self, keys: Sequence[str]) -> tuple[dict[str, TargetRecord], dict[str, MigrationError]]:
        """One that cannot be read does not stop the others."""
        if not keys:
            return {}, {}
        try:
            return self._context.target.read(self._wire, self._stream.name, keys), {}
        except (Permanent, Transient) as error:
            if isinstance(error, Transient) and not error.own:
                raise
            if len(keys) == 1:
                return {}, {keys[0]: error}
        parts = [self._read([key]) for key in keys]
        return {k: v for one, _ in parts for k, v in one.items()}, {k: v for _, one in parts for k, v in one.items()}

    def _compare(self, one: ComposedRecord, link: Link, found: TargetRecord) -> Iterator[ConflictField]:
        if found.changed is False:
            return
        sent = unpack_sent(link.sent)
        if not sent and self._is_as_sent(one, link, found):
            return
        is_expected: Callable[[str], bool] | None = None
        for name, source in one.fields.items():
            target = found.fields.get(name)
            if is_same(source, target, self._sent.is_unordered(name)):
                continue
            if name in self._stream.changes.noted_in or name in found.own:
                continue
            if name not in found.fields and is_beyond(name, self._stream, self._context.target.streams()):
                continue  # what the target knows it tells, also when it is empty
            if sent and (name not in sent or sent[name] == self._sent.mark(name, target)):
                continue  # a value of the target's own, or what was sent
            is_expected = is_expected or self._expected_fields(one.record, found)
            if not is_expected(name):
                yield ConflictField(name, self._shown(sent, name, source), shown(target), shown(source))

    @staticmethod
    def _is_as_sent(one: ComposedRecord, link: Link, found: TargetRecord) -> bool:
        """An earlier version kept only the digest of all that was sent."""
        there = {name: found.fields.get(name) for name in one.fields}
        filled = {name: value for name, value in there.items() if name in found.fields}
        return link.digest in (digest(there), digest(filled))

    def _expected_fields(self, record: Record, found: TargetRecord) -> Callable[[str], bool]:
        """If the target reports that a user changed the record, rules that apply to all records do not explain a
        difference: one field too many is listed rather than one too few."""
        self._expected = self._expected or ExpectedDifferences(self._context, self._stream)
        one: SourceRecord = decode_record(record, self._stream)
        return self._expected.expected_fields(one, running=not found.changed)

    def _shown(self, sent: Mapping[str, Json], name: str, source: Json) -> str:
        if name not in sent:
            return ""
        mark = sent[name]
        if mark == self._sent.mark(name, source):
            return shown(source)
        return "…" if isinstance(mark, str) and mark.startswith(MARK) else shown(mark)

    # ------------------------------------------------------------ deciding

    def _decide(self, record: Record, fields: Sequence[ConflictField], known: RegisterRow | None) -> str:
        """A decision holds until the source changes again; for the source, also until the target does."""
        if known is not None and known.values.get("Revision") == record.revision and not known.values.get("Open"):
            if known.values["Decision"] == TARGET:
                return TARGET
            targets = {str(name): str(target) for name, _, target, *_ in known.values["Fields"] or ()}
            if known.values["Decision"] == SOURCE and all(targets.get(one.name) == one.target for one in fields):
                return SOURCE
        policy = conflict_policy(self._context)
        return policy if policy in DECISIONS else OPEN

    def _row(
        self, record: Record, fields: Sequence[ConflictField], decision: str, known: RegisterRow | None
    ) -> RegisterRow:
        """With the fields of earlier conflicts of the record."""
        now = self._now()
        decided = [[*one, decision, now] for one in fields]
        names = {one.name for one in fields}
        earlier = [list(one) for one in (known.values["Fields"] or () if known else ()) if one[0] not in names]
        by = BY_RULE
        if known is not None and known.values.get("Revision") == record.revision and known.values["By"] == BY_PERSON:
            by = BY_PERSON if known.values["Decision"] == decision else BY_RULE
        row = {
            "Stream": self._stream.name,
            "SourceId": record.row_key,
            "Fields": [*decided, *earlier],
            "Decision": decision,
            "By": by if decision else "",
            "AtUtc": now,
            "Revision": record.revision,
            "Open": int(decision == OPEN),
            "Waiting": 0,
        }
        return RegisterRow(self._key(record), row)

    def _key(self, record: Record) -> str:
        return f"{self._stream.name}:{record.row_key}"

    def _now(self) -> str:
        return values.utc_text(self._context.clock.now())

    def _note(self) -> None:
        entity = self._context.owner[self._stream.name].name
        self._context.note(entity, say("note.conflicts", stream=self._stream.name), "info")


def shown(value: Json) -> str:
    return "" if value in EMPTY else shorten(value)


def close_row(row: RegisterRow, now: str) -> RegisterRow:
    """No conflict any more: the target or the source has changed again."""
    return RegisterRow(row.key, {**row.values, "Decision": NONE, "By": BY_RULE, "AtUtc": now, "Open": 0, "Waiting": 0})


# ---------------------------------------------------------------- verify


def explain(context: RunContext, stream: Stream, record: Record, findings: list[Finding]) -> list[Finding]:
    """A record that stays on the target as it is differs, as a user or the configuration decided."""
    if not any(one.fate is Fate.DIFFERS for one in findings):
        return findings
    row = context.store.read(CONFLICTS, f"{stream.name}:{record.row_key}")
    if row is None or row.values.get("Revision") != record.revision or not is_left(row):
        return findings
    is_open = bool(row.values.get("Open"))
    fate, note = Fate.DIFFERS if is_open else Fate.FORESEEN, say("verify.conflict" if is_open else "verify.left")
    return [
        one._replace(fate=fate, note=note) if one.fate is Fate.DIFFERS and not one.note else one for one in findings
    ]


def is_left(row: RegisterRow) -> bool:
    return bool(row.values.get("Open")) or row.values["Decision"] == TARGET


# ---------------------------------------------------------------- decisions


def decide(context: RunContext, decision: str, stream: Stream, row_keys: Sequence[str]) -> tuple[int, list[str]]:
    """How many were decided, and the ids of which nothing can be decided: not in conflict, or written already. For the
    source the record is sent by the next run: first the decision, then the record, so that after a kill in between it
    can be decided again."""
    known = context.store.rows_of(CONFLICTS, [f"{stream.name}:{key}" for key in row_keys])
    found = {str(row.values["SourceId"]): row for row in known.values() if is_left(row) or row.values.get("Waiting")}
    records = context.store.get(stream.table, list(found))
    now = values.utc_text(context.clock.now())
    chosen = [found[key] for key in found if key in records]
    rows: list[RegisterRow] = []
    for row in chosen:
        decided = [
            [*one[:4], decision, now] if one[5] == row.values["AtUtc"] else list(one) for one in row.values["Fields"]
        ]
        more = {"Fields": decided, "Decision": decision, "By": BY_PERSON, "AtUtc": now, "Open": 0}
        more["Waiting"] = int(decision == SOURCE)
        rows.append(RegisterRow(row.key, {**row.values, **more}))
    if rows:
        context.store.write(CONFLICTS, rows)
    again = [str(row.values["SourceId"]) for row in rows if row.values["Waiting"]]
    sendable = [key for key in again if records[key].status is Status.IMPORT_OK and not records[key].deleted_utc]
    settled = [Settled(key, Status.NEW) for key in sendable]
    context.store.settle(stream.name, stream.table, settled, now=context.clock.now())
    return len(rows), [key for key in row_keys if key not in {str(row.values["SourceId"]) for row in rows}]
