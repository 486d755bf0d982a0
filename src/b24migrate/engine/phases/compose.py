"""From a staged record to what is sent: every reference resolved, every value as the contract wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from zoneinfo import ZoneInfo

import msgspec

from b24migrate.engine.phases.bug import UNEXPECTED, unexpected
from b24migrate.engine.phases.context import RunContext, children_of, seen
from b24migrate.engine.phases.custom_values import CustomValues
from b24migrate.engine.phases.references import References
from b24migrate.engine.phases.trees import Trees
from b24migrate.messages import say
from b24migrate.model import values
from b24migrate.model.activities import is_allowed
from b24migrate.model.activities import names as activities
from b24migrate.model.records import Item, Json, Record
from b24migrate.model.streams import ABSENT, Field, Kind, Policy, Seen, Stream

ATTACHED = "attached:"  # what texts call an attachment
NOT_ALLOWED = "ACTIVITY_NOT_ALLOWED"
NAMED = 5  # so many of several are named in a sentence


ODD_VALUE = "ODD_VALUE"
BROKEN_ROW = ("BROKEN_ROW", say("record.broken_row"))
FAULTS = frozenset({ODD_VALUE, BROKEN_ROW[0], UNEXPECTED})  # a record with one of these has no fields
Plain: TypeAlias = Callable[[Json], Json]


@dataclass(slots=True)
class Composed:
    """A record ready to be sent, or why it is not: `problem` is final, `waits_for` may come true."""

    record: Record
    fields: dict[str, Json] = field(default_factory=dict)
    losses: dict[str, int] = field(default_factory=dict)
    problem: tuple[str, str] | None = None  # error code, sentence
    again: bool = False  # the problem is a bug: it may be gone at the next attempt, or with the next version
    waits_for: str = ""
    unresolved: list[tuple[str, str]] = field(default_factory=list)  # field, source id
    places: list[tuple[str, str]] = field(default_factory=list)  # in a tree: where, and what stays as it was
    may_come: bool = False  # it goes without a record that the source has: once mended, it is named
    brings: list[tuple[str, str]] = field(default_factory=list)  # stream, source id: the source may have it by now
    lacks: list[str] = field(default_factory=list)  # files that are not on the target
    _item: Item | None = None

    def lose(self, what: str, count: int = 1) -> None:
        if count:
            self.losses[what] = self.losses.get(what, 0) + count

    def item(self, stream: Stream) -> Item:
        if self._item is None:
            self._item = Item.of(stream.key_of(self.record.row_key), self.fields)
        return self._item


Linked: TypeAlias = Callable[[Field, Seen, Json, Composed], Json]


def value_of(spec: Field, one: Seen) -> Json:
    """What the source says, as it says it; ABSENT where it says nothing."""
    return one.payload.get(spec.name, ABSENT) if spec.take is None else spec.take(one)


def shown_to(context: RunContext, spec: Field, one: Seen) -> Seen:
    if not spec.beside:
        return one
    beside = children_of(context, context.streams[spec.beside], one.id)
    return one._replace(extras={**one.extras, spec.beside: beside})


def plain_kinds(timezone: ZoneInfo) -> dict[Kind, Plain]:
    """How values become what is sent that have no other record's id in them."""
    return {
        Kind.TEXT: values.text,
        Kind.FLAG: values.flag,
        Kind.WHOLE: values.whole,
        Kind.NUMBER: values.number,
        Kind.TIME: lambda value: values.stamp(values.scalar(value), timezone)[1],
        Kind.DAY: lambda value: values.day(values.scalar(value), timezone),
        Kind.AS_IS: lambda value: value,
    }


def unsendable(context: RunContext, stream: Stream, record: Record, one: Seen) -> tuple[str, str] | None:
    """Why it will not be sent at all: error code and sentence."""
    return _missing(stream, one) or _duplicate(context, stream, record) or _forbidden(context, stream, one)


def _missing(stream: Stream, one: Seen) -> tuple[str, str] | None:
    absent = [name for name in stream.required if not str(one.payload.get(name) or "").strip()]
    if not absent:
        return None
    return "VALIDATION", say("record.empty", fields=absent)


def _duplicate(context: RunContext, stream: Stream, record: Record) -> tuple[str, str] | None:
    if not record.natural:
        return None
    holder = context.store.holder(stream.table, record.natural)
    if holder is None or holder == record.row_key:
        return None
    return stream.natural_code, say("record.taken", field=stream.natural, id=holder)


def _forbidden(context: RunContext, stream: Stream, one: Seen) -> tuple[str, str] | None:
    parts = stream.forbidden(one) if stream.forbidden else ()
    refused = activities(part for part in parts if not is_allowed(part.name, context.options.allow_activities))
    if not refused:
        return None
    names, more = refused[:NAMED], len(refused) - NAMED
    if more > 0:
        return NOT_ALLOWED, say("record.activities_more", names=names, count=more)
    return NOT_ALLOWED, say("record.activities", names=names)


def rest_of(stream: Stream, named: frozenset[str], payload: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """The filled fields that go as they are, whatever they are; `named` are described by themselves."""
    rest = stream.rest
    if rest is None:
        return
    custom = stream.custom_prefix
    for name, value in payload.items():
        if name in named or name in rest.skip or not name.startswith(rest.prefixes):
            continue
        if value in (None, "", [], {}, False) or (custom and name.startswith(custom)):
            continue
        yield name, value


class Composer:
    """Composes the records of one stream. `late` adds the references that a second pass writes; `postpones` tells
    whether any record may have such. `final`: what waits for another record goes without it."""

    def __init__(self, context: RunContext, stream: Stream, *, late: bool = False, final: bool = False) -> None:
        self._context = context
        self._stream = stream
        references = References(context, stream, late=late, final=final)
        self._custom = CustomValues(context, stream, late=late)
        plain = plain_kinds(context.options.timezone)
        linked: dict[Kind, Linked] = {
            Kind.RICH: self._rich,
            Kind.TREE: Trees(context, self._rich).rewritten,
            Kind.REF: references.one,
            Kind.REFS: references.several,
            Kind.CODED: references.coded,
            Kind.FAMILY: references.family,
            Kind.FILE: self._file,
            Kind.FILES: self._files,
        }
        self._named = frozenset(one.name for one in stream.fields)
        wanted = [one for one in stream.fields if late or not one.late]
        self._specs = [(one, plain.get(one.kind), linked.get(one.kind)) for one in wanted]
        own = stream.name
        self.postpones = self._custom.has_late or any(
            one.late or one.waits or one.under or own in one.inside.values() for one in stream.fields
        )

    def compose(self, record: Record) -> Composed:
        return self.guarded(record, lambda: self._composed(record, seen(record, self._stream)))

    def compose_seen(self, record: Record, one: Seen) -> Composed:
        return self.guarded(record, lambda: self._composed(record, one))

    def item_of(self, record: Record) -> Composed:
        """With its item: some values cannot be written as JSON."""

        def made() -> Composed:
            done = self._composed(record, seen(record, self._stream))
            if done.problem is None:
                done.item(self._stream)
            return done

        return self.guarded(record, made)

    def guarded(self, record: Record, compose: Callable[[], Composed]) -> Composed:
        """Whatever goes wrong in it is this record's problem, and no other's."""
        try:
            return compose()
        except msgspec.DecodeError:
            return Composed(record, problem=BROKEN_ROW)
        except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
            about = f"{self._stream.name} {record.row_key}"
            error = unexpected(self._context, bug, self._context.owner[self._stream.name].name, about)
            return Composed(record, problem=(error.code, error.message), again=True)

    def _composed(self, record: Record, one: Seen) -> Composed:
        done = Composed(record)
        done.problem = unsendable(self._context, self._stream, record, one)
        if done.problem:
            return done
        name = ""
        try:
            for spec, plain, linked in self._specs:
                name = spec.name
                value = value_of(spec, self.shown_to(spec, one))
                if value is ABSENT:
                    continue
                if spec.kind is Kind.FAMILY and linked is not None:
                    done.fields |= linked(spec, one, value, done)
                    continue
                if spec.when is not None and not spec.when(one):
                    value = values.text(value)
                elif plain is not None:
                    value = plain(value)
                elif linked is not None:
                    value = linked(spec, one, value, done)
                done.fields[spec.name] = value
            done.fields.update(rest_of(self._stream, self._named, one.payload))
            self._custom.put(one, done.fields, done.lose)
        except values.OddValue as odd:
            sentence = say("record.odd_value", field=str(odd) or name)
            return Composed(record, problem=(ODD_VALUE, sentence))
        if self._stream.at_last is not None:
            self._stream.at_last(one, done.fields, not done.places)
        return done

    def shown_to(self, spec: Field, one: Seen) -> Seen:
        """The record as a field's functions see it."""
        return shown_to(self._context, spec, one)

    def _rich(self, _spec: Field, one: Seen, value: Json, done: Composed) -> str | None:
        text = values.text(value)
        if not text or not self._context.memory.texts.concerns(text):
            return text
        own = self._stream.attached(one)  # a text names an attachment, the links know the file behind it

        def target_ids(stream: str, source_ids: set[str]) -> dict[str, str]:
            if stream != "files" or not own:
                return self._context.memory.links.target_ids(stream, source_ids)
            names = {one: own.get(one.removeprefix(ATTACHED), one) for one in source_ids if one.startswith(ATTACHED)}
            names |= {one: one for one in source_ids if not one.startswith(ATTACHED)}
            found = self._context.memory.links.target_ids(stream, set(names.values()))
            return {one: found[name] for one, name in names.items() if name in found}

        rewritten = self._context.memory.texts.rewrite(text, target_ids)
        done.lose("texts_unresolved", rewritten.unresolved)
        return rewritten.text

    # ------------------------------------------------------------ files

    def _file(self, spec: Field, one: Seen, value: Json, done: Composed) -> str | None:
        return next(iter(self._files(spec, one, value, done)), None)

    def _files(self, spec: Field, _one: Seen, value: Json, done: Composed) -> list[str]:
        keys = list(dict.fromkeys(value))
        found = self._context.memory.links.target_ids("files", keys) if keys else {}
        missing = [key for key in keys if key not in found]
        done.lacks += missing
        if missing and self._context.policy(self._stream, spec.name, Policy.DROP) is Policy.REQUIRE:
            done.problem = done.problem or ("FILE_MISSING", say("record.no_file", field=spec.name, file=missing[0]))
        done.lose("files_dropped", len(missing))
        return [found[key] for key in keys if key in found]
