"""References of one record to others: which target id each became, and what is done when it became none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from b24migrate.engine.phases.context import RunContext, decode_record
from b24migrate.engine.phases.missed import numbers_in
from b24migrate.messages import say
from b24migrate.model import values
from b24migrate.model.fields import ABSENT, EMPTIED, Field, Policy, Unresolved
from b24migrate.model.records import Json, Record, Span, Status, children_span, order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import FIELD_MAP, INVENTORY

if TYPE_CHECKING:
    from b24migrate.engine.phases.compose import ComposedRecord

CUSTOM = "UF_"
MISSING = "REFERENCE_MISSING"
LONGEST_LINE = 1000  # ancestors looked at before a line of parents counts as a circle


class Whereabouts(Enum):
    STAGED = "staged"
    GONE = "gone"  # the source has it no longer
    NEWER = "newer"  # it may have come to the source after its stream was read
    UNKNOWN = "unknown"  # its stream was never read


def locate(context: RunContext, stream_name: str, source_id: str) -> Whereabouts:
    """Streams are read by ascending id and to the end. So what is missing below the highest id was deleted, and only
    what lies above it may have been created since."""
    stream = context.streams.get(stream_name)
    if stream is None:
        return Whereabouts.GONE  # nothing of its kind is migrated
    row_key = context.store.holder(stream.table, source_id) if stream.by_natural else source_id
    staged = context.store.get(stream.table, (row_key,)).get(row_key) if row_key else None
    if staged is not None:
        return Whereabouts.GONE if staged.status is Status.DELETED else Whereabouts.STAGED
    if stream.by_natural:
        return Whereabouts.GONE
    if not context.store.count(INVENTORY, f"{stream.name}:"):
        return Whereabouts.UNKNOWN
    if stream.fetch is None or _has_later(context, stream, source_id):
        return Whereabouts.GONE
    return Whereabouts.GONE if context.memory.gone.knows(stream_name, source_id) else Whereabouts.NEWER


def _has_later(context: RunContext, stream: Stream, source_id: str) -> bool:
    parent, _, child = source_id.rpartition(":")
    hi = children_span(parent).hi if child and parent else ""
    return bool(context.store.records(stream.table, Span(order_key(source_id), hi), 1))


class Resolver:
    """The stream words' `Resolve`: ids, and codes that were read back, by the links."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def __call__(self, stream: str, source_id: str) -> str:
        target_id = self._context.memory.links.target_id(stream, source_id)
        if target_id is None:
            raise Unresolved(stream, source_id)
        return target_id

    def field(self, code: str) -> str | None:
        return mapped_code(self._context, code)

    def missed(self, what: str) -> None:
        """Only a tree has places; a code is rewritten as a whole or not at all."""


class References:
    """Of the records of one stream. `late`: the second pass; `final`: nothing is waited for any more."""

    def __init__(self, context: RunContext, stream: Stream, *, late: bool, final: bool) -> None:
        self._context = context
        self._stream = stream
        self._late = late
        self._final = final
        self._resolver = Resolver(context)
        self._located: dict[tuple[str, str], Whereabouts] = {}
        self._left_out: dict[str, bool] = {}

    def resolve_one(self, spec: Field, one: SourceRecord, value: Json, done: ComposedRecord) -> Json:
        if spec.late and self._is_left_out(spec.to):
            return ABSENT  # otherwise every record with one would be sent twice, the second time without it
        if str(value) in spec.keep:
            return str(value)
        source_id = values.reference(value)
        if source_id is None:
            return None
        if spec.waits and (self._late or self._final) and self._breaks_a_circle(spec, one, done):
            return None
        return self._resolve(spec, source_id, done)

    def resolve_several(self, spec: Field, _one: SourceRecord, value: Json, done: ComposedRecord) -> list[str]:
        resolved = (self._resolve(spec, source_id, done) for source_id in values.references(value))
        # Two source users may have become one: a list names each once.
        return list(dict.fromkeys(target_id for target_id in resolved if target_id is not None))

    def resolve_code(self, spec: Field, one: SourceRecord, value: Json, done: ComposedRecord) -> Json:
        """A list goes part by part, so that one lost part does not take the others with it."""
        if isinstance(value, list):
            coded = (self._rewrite_code(spec, one, part, done) for part in value)
            parts = [part for part in coded if part is not None]
            if spec.some and value and not parts:
                self._explain_first(spec, one, value, done)
            return [part for at, part in enumerate(parts) if part not in parts[:at]]
        return self._rewrite_code(spec, one, value, done)

    def resolve_family(self, spec: Field, one: SourceRecord, value: Json, done: ComposedRecord) -> Mapping[str, Json]:
        """Resolves each field separately; a field that cannot be named is omitted, or emptied if it may be filled."""
        fields: dict[str, Json] = {}
        for name, part in value.items() if isinstance(value, dict) else ():
            found = self._rewrite_code(spec, one, (name, part), done)
            if found is None and done.record.revision:
                emptied = one._replace(extras={**one.extras, EMPTIED: [name]})
                found = self._rewrite_code(spec, emptied, (name, None), done)
            fields |= found or {}
        return fields

    def resolve_rows(self, spec: Field, _one: SourceRecord, value: Json, done: ComposedRecord) -> list[Json]:
        """Each object as it is, with the ids of the target. A key whose stream no entity has is empty."""
        return [{**row, **{key: self._resolve_key(spec, key, row, done) for key in spec.inside}} for row in value]

    def _resolve_key(self, spec: Field, key: str, row: Mapping[str, Json], done: ComposedRecord) -> str | None:
        stream, source_id = spec.inside[key], values.reference(row.get(key))
        if source_id is None or stream not in self._context.streams:
            return None
        target_id = self._context.memory.links.target_id(stream, source_id)
        return target_id if target_id is not None else self._replace_missing(spec, stream, source_id, done)

    def _rewrite_code(self, spec: Field, one: SourceRecord, value: Json, done: ComposedRecord) -> Json:
        if spec.code is None:
            return value
        try:
            return spec.code(one, value, self._resolver)
        except Unresolved as missing:
            self._replace_missing(spec, missing.stream, missing.source_id, done)
            return None

    # ------------------------------------------------------------ what is not on the target

    def _resolve(self, spec: Field, source_id: str, done: ComposedRecord) -> str | None:
        target_id = self._context.memory.links.target_id(spec.to, source_id)
        return target_id if target_id is not None else self._replace_missing(spec, spec.to, source_id, done)

    def _replace_missing(self, spec: Field, stream: str, source_id: str, done: ComposedRecord) -> str | None:
        """The placeholder, or nothing; whether the record may go without is noted in `done`."""
        named, stream = stream, stream.partition(".")[0]  # a code that was read back is a record's all the same
        policy = self._policy(spec, stream, source_id, done)
        if spec.brings and self._may_be_brought(stream, source_id):
            done.brings.append((stream, source_id))
            done.regardless.append((stream, source_id))
        if spec.policy is not Policy.EXISTING or policy is not Policy.DROP:  # a deleted record leaves no orphan
            done.unresolved.append((spec.name, source_id))
        if policy is Policy.DROP:
            if spec.waits and not self._final and self._may_come(stream, source_id):
                done.waits_for = done.waits_for or f"{spec.name} {source_id}"
            done.lose("references_dropped")
            self.note_missing(named, source_id, done)
            return None
        placeholder = self._context.options.placeholder_user
        if policy is Policy.PLACEHOLDER and placeholder and stream == self._context.people:
            done.lose("placeholders")
            self.note_missing(stream, source_id, done)
            return placeholder
        if stream == self._stream.name and self._may_come(stream, source_id):
            if not (spec.waits and self._final):  # else they wait for one another, and the second pass names both
                done.waits_for = done.waits_for or f"{spec.name} {source_id}"
        elif not done.brings and done.problem is None:
            done.problem, done.awaits = (MISSING, self._explain_missing(spec, stream, source_id)), (stream, source_id)
        return None

    def _explain_first(self, spec: Field, one: SourceRecord, value: Sequence[Json], done: ComposedRecord) -> None:
        """Why the first of several codes, none of which is on the target, is not."""
        try:
            if spec.code is not None and done.problem is None:
                spec.code(one, value[0], self._resolver)
        except Unresolved as missing:
            stream = missing.stream.partition(".")[0]
            done.awaits = stream, missing.source_id
            done.problem = MISSING, self._explain_missing(spec, *done.awaits)

    def _may_be_brought(self, stream: str, source_id: str) -> bool:
        """Of a stream that was read those that a rule left out, as long as the source has them; and those that are on
        their way."""
        record = self._find_staged(stream, source_id)
        if record is not None:
            return record.status in (Status.NEW, Status.ERROR_RETRY)
        known = bool(self._context.store.count(INVENTORY, f"{stream}:"))
        return known and not self._context.memory.gone.knows(f"{stream}!", source_id)

    def note_missing(self, stream: str, source_id: str, done: ComposedRecord) -> None:
        """What is still missing in the second pass is noted by its name: its arrival is noticed. In the first pass most
        is on its way."""
        known = self._context.streams.get(stream.partition(".")[0])
        if known is None:
            return
        number = source_id.rpartition(":")[2].encode()
        if stream != known.name or number not in numbers_in(done.record):  # by it the record would be found
            done.may_come = True
            return
        named = stream, source_id
        if named not in self._located:
            self._located[named] = locate(self._context, *named)
        where = self._located[named]
        if where is Whereabouts.UNKNOWN:
            done.unread = True
        elif self._late or where is Whereabouts.GONE:
            done.missed.append(named)
        else:
            done.may_come = True

    def note_missing_in_texts(self, missing: Sequence[tuple[str, str]], done: ComposedRecord) -> None:
        """The first pass does not look for them: most come with streams that are sent after this one."""
        done.lose("texts_unresolved", len(missing))
        for stream, source_id in missing if self._late else ():
            if stream == "files":
                done.may_come = True
            else:
                self.note_missing(stream, source_id, done)

    def _is_left_out(self, stream: str) -> bool:
        """Whether a plan went without it, so that it was never read."""
        if stream not in self._left_out:
            owner = self._context.owner.get(stream)
            may_be = self._context.streams.get(stream) is None or (owner is not None and owner.optional)
            self._left_out[stream] = may_be and not self._context.store.count(INVENTORY, f"{stream}:")
        return self._left_out[stream]

    def _policy(self, spec: Field, stream: str, source_id: str, done: ComposedRecord) -> Policy:
        policy = self._context.policy(self._stream, spec.name, spec.policy)
        if policy is not Policy.EXISTING:
            return policy
        where = locate(self._context, stream, source_id)
        if where is Whereabouts.NEWER:
            done.brings.append((stream, source_id))
        if where is Whereabouts.UNKNOWN and self._is_left_out(stream):
            return Policy.DROP  # a plan may go without it
        return Policy.DROP if where is Whereabouts.GONE else Policy.REQUIRE

    def _explain_missing(self, spec: Field, stream: str, source_id: str) -> str:
        record = self._find_staged(stream, source_id)
        if stream not in self._context.streams:
            why = say("record.link_unmigrated")
        elif locate(self._context, stream, source_id) is Whereabouts.UNKNOWN:
            own = f"{self._stream.name}.{spec.name}"
            why = say("record.link_unread", stream=stream, own=own)
        elif record is None or record.status is Status.DELETED:
            why = say("record.link_unfound")
        elif record.status is Status.IMPORT_ERR:
            why = say("record.link_failed", code=record.last_error_code)
        else:
            why = say("record.link_waiting")
        return say("record.link", field=spec.name, stream=stream, id=source_id, why=why)

    def _find_staged(self, stream: str, source_id: str) -> Record | None:
        known = self._context.streams.get(stream)
        if known is None:
            return None
        row_key = self._context.store.holder(known.table, source_id) if known.by_natural else source_id
        return self._context.store.get(known.table, (row_key,)).get(row_key) if row_key else None

    def _may_come(self, stream: str, source_id: str) -> bool:
        record = self._find_staged(stream, source_id) if stream == self._stream.name else None
        # One that is there by now came while this record was composed: the next round finds it.
        return record is not None and record.status not in (Status.IMPORT_ERR, Status.DELETED)

    # ------------------------------------------------------------ circles

    def _breaks_a_circle(self, spec: Field, one: SourceRecord, done: ComposedRecord) -> bool:
        """Of records that are one another's parents the one with the lowest id goes without."""
        line = list(self._ancestors(spec, one))
        if one.id not in line or one.id != min(line, key=values.by_number):
            return False
        done.unresolved.append((spec.name, line[0]))
        done.lose("references_dropped")
        done.may_come = True
        circle = " → ".join([one.id, *line[: line.index(one.id) + 1]])
        note = say("note.circle", stream=self._stream.name, names=circle, field=spec.name, id=one.id)
        self._context.note(self._context.owner[self._stream.name].name, note)
        return True

    def _ancestors(self, spec: Field, one: SourceRecord) -> Iterator[str]:
        met: set[str] = set()
        at: SourceRecord | None = one
        while at is not None and len(met) < LONGEST_LINE:
            value = spec.take(at) if spec.take else at.payload.get(spec.name)
            parent = values.reference(value)
            if parent is None or parent in met:
                return
            met.add(parent)
            yield parent
            record = self._find_staged(self._stream.name, parent)
            at = None if record is None else decode_record(record, self._stream)


# ---------------------------------------------------------------- codes of custom fields, as trees and texts name them


def mapped_code(context: RunContext, code: str) -> str | None:
    """The target's code of a field, whichever entity has it: the first that is mapped and included."""
    mapped = _mapped_field(context, code)
    return None if mapped is None else str(mapped["TargetField"])


def mapped_options(context: RunContext, code: str) -> Mapping[str, str]:
    """The target's options of a list; empty if it is not a list or not a custom field."""
    mapped = _mapped_field(context, code) if code.startswith(CUSTOM) else None
    return {} if mapped is None else mapped.get("Options") or {}


def _mapped_field(context: RunContext, code: str) -> Mapping[str, Json] | None:
    keys = [f"{entity.name}:{code}" for entity in context.entities if entity.custom_fields]
    found = context.store.rows_of(FIELD_MAP, keys)
    mapped = (found[key].values for key in keys if key in found)
    return next((one for one in mapped if one.get("Included") and one.get("TargetField")), None)
