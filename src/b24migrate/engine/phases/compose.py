"""Composes the fields to send from a staged record: references are resolved, values have the form of the contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from b24migrate.engine.phases.bug import UNEXPECTED, unexpected
from b24migrate.engine.phases.context import RunContext, decode_record
from b24migrate.engine.phases.custom_values import CustomValues
from b24migrate.engine.phases.fields import Convert, FieldInterpreter
from b24migrate.engine.phases.references import References
from b24migrate.engine.phases.trees import Trees
from b24migrate.messages import say
from b24migrate.model import values
from b24migrate.model.activities import activity_names as activities
from b24migrate.model.activities import is_allowed
from b24migrate.model.fidelity import KEY, Draft
from b24migrate.model.fields import Field, Kind, Policy
from b24migrate.model.records import Item, Json, Record
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import UNRESOLVED, RegisterRow

ATTACHED = "attached:"  # names of attachments in texts
NOT_ALLOWED = "ACTIVITY_NOT_ALLOWED"
NAMED = 5  # so many of several are named in a sentence


ODD_VALUE = "ODD_VALUE"
BROKEN_ROW = ("BROKEN_ROW", say("record.broken_row"))
FAULTS = frozenset({ODD_VALUE, BROKEN_ROW[0], UNEXPECTED})  # a record with one of these has no fields


@dataclass(slots=True)
class ComposedRecord:
    """A record ready to be sent, or why it is not: `problem` is final, `waits_for` may come true."""

    record: Record
    fields: dict[str, Json] = field(default_factory=dict)
    losses: dict[str, int] = field(default_factory=dict)
    problem: tuple[str, str] | None = None  # error code, sentence
    awaits: tuple[str, str] | None = None  # stream, source id: without it the problem is gone
    again: bool = False  # the problem is a bug: it may be gone at the next attempt, or with the next version
    waits_for: str = ""
    unresolved: list[tuple[str, str]] = field(default_factory=list)  # field, source id
    missed: list[tuple[str, str]] = field(default_factory=list)  # stream, source id: the source does not have it
    places: list[tuple[str, str]] = field(default_factory=list)  # in a tree: where, and what stays as it was
    may_come: bool = False  # it is sent without a link, which a later run may add: the linked record failed, say
    unread: bool = False  # so is this, to a record of a stream that was never read
    brings: list[tuple[str, str]] = field(default_factory=list)  # stream, source id: the source may have it by now
    regardless: list[tuple[str, str]] = field(default_factory=list)  # of these, without regard to rules
    lacks: list[str] = field(default_factory=list)  # files that are not on the target
    _item: Item | None = None

    def lose(self, what: str, count: int = 1) -> None:
        if count:
            self.losses[what] = self.losses.get(what, 0) + count

    def item(self, stream: Stream) -> Item:
        if self._item is None:
            self._item = Item.make(stream.key_of(self.record.row_key), self.fields)
        return self._item


def reason_not_to_send(
    context: RunContext, stream: Stream, record: Record, one: SourceRecord
) -> tuple[str, str] | None:
    """Why it will not be sent at all: error code and sentence."""
    return (
        _check_required(stream, one)
        or _check_duplicate(context, stream, record)
        or _check_activities(context, stream, one)
    )


def _check_required(stream: Stream, one: SourceRecord) -> tuple[str, str] | None:
    absent = [name for name in stream.required if not str(one.payload.get(name) or "").strip()]
    if not absent:
        return None
    return "VALIDATION", say("record.empty", fields=absent)


def _check_duplicate(context: RunContext, stream: Stream, record: Record) -> tuple[str, str] | None:
    if not (record.natural and stream.natural):
        return None
    holder = context.store.holder(stream.table, record.natural)
    if holder is None or holder == record.row_key:
        return None
    return stream.natural.code, say("record.taken", field=stream.natural.field, id=holder)


def _check_activities(context: RunContext, stream: Stream, one: SourceRecord) -> tuple[str, str] | None:
    parts = stream.forbidden.find(one) if stream.forbidden else ()
    refused = activities(part for part in parts if not is_allowed(part.name, context.options.allow_activities))
    if not refused:
        return None
    names, more = refused[:NAMED], len(refused) - NAMED
    if more > 0:
        return NOT_ALLOWED, say("record.activities_more", names=names, count=more)
    return NOT_ALLOWED, say("record.activities", names=names)


class Composer:
    """Composes the records of one stream. `late` adds the references that a second pass writes; `postpones` is whether
    any record may have one. `final`: records are sent without links that are still open."""

    def __init__(self, context: RunContext, stream: Stream, *, late: bool = False, final: bool = False) -> None:
        self._context = context
        self._stream = stream
        references = self._references = References(context, stream, late=late, final=final)
        convert: dict[Kind, Convert[ComposedRecord]] = {
            Kind.RICH: self._rewrite_text,
            Kind.TREE: Trees(context, self._rewrite_text, references.note_missing).rewrite,
            Kind.REF: references.resolve_one,
            Kind.REFS: references.resolve_several,
            Kind.CODED: references.resolve_code,
            Kind.FAMILY: references.resolve_family,
            Kind.ROWS: references.resolve_rows,
            Kind.FILE: self._file_id,
            Kind.FILES: self._file_ids,
        }
        self._interpreter = FieldInterpreter(context, stream, convert, late=late)
        self._custom = CustomValues(context, stream, late=late, references=references)
        self.postpones = self._custom.has_late or any(
            one.late or one.waits or one.tree or stream.name in one.inside.values() for one in stream.fields
        )

    @property
    def custom_map(self) -> Json:
        """What becomes of custom fields."""
        return self._custom.described()

    def compose(self, record: Record, one: SourceRecord | None = None) -> ComposedRecord:
        """`one`: what the source has of it now, where that is known."""
        return self._guard(record, lambda: self._compose(record, one or decode_record(record, self._stream)))

    def compose_item(self, record: Record) -> ComposedRecord:
        """With its item: some values cannot be written as JSON."""

        def made() -> ComposedRecord:
            done = self._compose(record, decode_record(record, self._stream))
            if done.problem is None:
                done.item(self._stream)
            return done

        return self._guard(record, made)

    def _guard(self, record: Record, compose: Callable[[], ComposedRecord]) -> ComposedRecord:
        """Whatever goes wrong in it is this record's problem, and no other's."""
        try:
            return compose()
        except msgspec.DecodeError:
            return ComposedRecord(record, problem=BROKEN_ROW)
        except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
            about = f"{self._stream.name} {record.row_key}"
            error = unexpected(self._context, bug, self._context.owner[self._stream.name].name, about)
            return ComposedRecord(record, problem=(error.code, error.message), again=True)

    def _compose(self, record: Record, one: SourceRecord) -> ComposedRecord:
        done = ComposedRecord(record)
        done.problem = reason_not_to_send(self._context, self._stream, record, one)
        if done.problem:
            return done
        try:
            self._interpreter.interpret(one, done.fields, done)
            self._custom.put(one, done.fields, done)
        except values.OddValue as odd:
            return ComposedRecord(record, problem=(ODD_VALUE, say("record.odd_value", field=str(odd))))
        if self._stream.at_last is not None:
            self._stream.at_last(one, done.fields, not done.places)
        return done

    def _rewrite_text(self, _spec: Field, one: SourceRecord, value: Json, done: ComposedRecord) -> str | None:
        text = values.text(value)
        memory = self._context.memory
        if not text or not memory.texts.may_hold_ids(text):
            return text
        own = self._stream.attached(one)  # texts name an attachment, links are stored for its file

        def target_ids(stream: str, source_ids: set[str]) -> dict[str, str]:
            if stream != "files" or not own:
                return memory.links.target_ids(stream, source_ids)
            names = {one: own.get(one.removeprefix(ATTACHED), one) for one in source_ids if one.startswith(ATTACHED)}
            names |= {one: one for one in source_ids if not one.startswith(ATTACHED)}
            found = memory.links.target_ids(stream, set(names.values()))
            return {one: found[name] for one, name in names.items() if name in found}

        rewritten = memory.texts.rewrite(text, target_ids)
        self._references.note_missing_in_texts(rewritten.missing, done)
        return rewritten.text

    # ------------------------------------------------------------ files

    def _file_id(self, spec: Field, one: SourceRecord, value: Json, done: ComposedRecord) -> str | None:
        return next(iter(self._file_ids(spec, one, value, done)), None)

    def _file_ids(self, spec: Field, _one: SourceRecord, value: Json, done: ComposedRecord) -> list[str]:
        keys = list(dict.fromkeys(value))
        found = self._context.memory.links.target_ids("files", keys) if keys else {}
        missing = [key for key in keys if key not in found]
        done.lacks += missing
        if missing and self._context.policy(self._stream, spec.name, Policy.DROP) is Policy.REQUIRE:
            done.problem = done.problem or ("FILE_MISSING", say("record.no_file", field=spec.name, file=missing[0]))
        done.lose("files_dropped", len(missing))
        return [found[key] for key in keys if key in found]


def remember_places(context: RunContext, stream: Stream, composed: ComposedRecord) -> None:
    """The places of a record that was sent, instead of those of an earlier time."""
    if not any(one.kind is Kind.TREE and one.code for one in stream.fields):
        return
    row_key = composed.record.row_key
    context.store.erase(UNRESOLVED, f"{stream.name}:{row_key}:")
    rows = [
        RegisterRow(
            f"{stream.name}:{row_key}:{number}",
            {"Stream": stream.name, "SourceId": row_key, "Place": place, "What": what},
        )
        for number, (place, what) in enumerate(dict.fromkeys(composed.places), 1)
    ]
    if rows:
        context.store.write(UNRESOLVED, rows)


# ---------------------------------------------------------------- before anything else is on the target


class Drafter:
    """Drafts the records of one stream under the names of the wire: what a target's rules are judged by. References
    keep the source's IDs, texts are not rewritten, files are their keys."""

    def __init__(self, context: RunContext, stream: Stream) -> None:
        self._stream = stream
        self._interpreter = FieldInterpreter(context, stream, AS_READ)
        self._custom = CustomValues(context, stream)

    def draft(self, one: SourceRecord) -> Draft:
        if not self._stream.fields:
            return one.payload  # files have no fields, only what is known of them
        fields: dict[str, Json] = {KEY: self._stream.key_of(one.id)}
        self._interpreter.interpret(one, fields, None)
        self._custom.put_as_read(one, fields)
        if self._stream.at_last is not None:
            self._stream.at_last(one, fields, True)
        return fields


def _reference(spec: Field, _one: SourceRecord, value: Json, _: None) -> Json:
    return str(value) if str(value) in spec.keep else values.reference(value)


AS_READ: Mapping[Kind, Convert[None]] = {
    Kind.RICH: lambda _spec, _one, value, _: values.text(value),
    Kind.REF: _reference,
    Kind.REFS: lambda _spec, _one, value, _: values.references(value),
    Kind.FAMILY: lambda _spec, _one, value, _: value if isinstance(value, dict) else {},
    Kind.FILE: lambda _spec, _one, value, _: next(iter(value), None),
    Kind.FILES: lambda _spec, _one, value, _: list(dict.fromkeys(value)),
}
