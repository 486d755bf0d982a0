"""The fields of a record, from the stream, the custom fields, the payload and both portals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from b24migrate.engine.phases.comparison import ask_source_again
from b24migrate.engine.phases.context import RunContext, decode_record
from b24migrate.engine.phases.custom_values import CustomValues, MappedField
from b24migrate.engine.phases.fields import field_value, with_children
from b24migrate.engine.phases.pull_through import links_of_field
from b24migrate.engine.phases.references import Resolver
from b24migrate.insight.lookup.model import LONGEST_TITLE, FieldNote, Named, Side, SideState, cut
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError
from b24migrate.model.fields import ABSENT, Field, Kind, Unresolved
from b24migrate.model.records import Json, Link, Record, Row
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import TargetRecord

# ---------------------------------------------------------------- both portals
# A portal that does not answer becomes a message, not an exception.


# errors while reading an answer of unknown shape
STRANGE = (msgspec.MsgspecError, KeyError, ValueError, TypeError, AttributeError)
SOURCE, TARGET = "source", "target"


def ask_source(context: RunContext, stream: Stream, record: Record, *, ask: bool) -> tuple[Side, Row | None]:
    """Read-only, by the same question as verify's."""
    if (side := _not_asked(context, SOURCE, ask=ask)) is not None:
        return side, None
    if stream.fetch is None:
        return Side(SideState.CANNOT), None
    try:
        row = ask_source_again(context, stream, [record]).get(record.row_key)
    except MigrationError as error:
        return _failed(error), None
    except STRANGE:
        return _unexpected(SOURCE), None
    return Side(SideState.GONE if row is None else SideState.NOW), row


def ask_target(
    context: RunContext, stream: Stream, record: Record, link: Link | None, *, ask: bool
) -> tuple[Side, TargetRecord | None]:
    """By the key under which we sent it; what the target had before has none."""
    if (side := _not_asked(context, TARGET, ask=ask)) is not None:
        return side, None
    entity = context.owner.get(stream.name)
    if entity is None or stream not in entity.streams or (link is not None and link.origin != "import"):
        return Side(SideState.CANNOT), None
    key = stream.key_of(record.row_key)
    try:
        found = context.target.read(entity.wire, stream.name, [key]).get(key)
    except MigrationError as error:
        return _failed(error), None
    except STRANGE:
        return _unexpected(TARGET), None
    return Side(SideState.GONE if found is None else SideState.NOW), found


def _not_asked(context: RunContext, name: str, *, ask: bool) -> Side | None:
    if not ask:
        return Side(SideState.NOT_ASKED)
    if name in context.options.absent:
        return Side(SideState.ABSENT, say(f"lookup.absent.{name}"), say("lookup.staged"))
    return None


def _failed(error: MigrationError) -> Side:
    return Side(SideState.FAILED, error.message, error.hint)


def _unexpected(name: str) -> Side:
    return Side(SideState.FAILED, say(f"lookup.strange.{name}"))


MOST_NAMED = 20
PAYLOAD, CUSTOM = "payload", "custom"
MAPPED_KINDS = frozenset(
    {Kind.REF, Kind.REFS, Kind.CODED, Kind.FAMILY, Kind.RICH, Kind.TREE, Kind.ROWS, Kind.FILE, Kind.FILES},
)
MAPPED_TYPES = frozenset({"enumeration", "employee", "file", "crm", "crm_status", "string", "url"})
TEXT_TYPES = frozenset({"string", "url"})


@dataclass(slots=True)
class Draft:
    """A field before it is compared. `mapped`: its value may be another one on the target."""

    name: str
    kind: str
    source: Json = ABSENT
    staged: Json = ABSENT
    source_names: tuple[str, ...] = ()
    names: tuple[Named, ...] = ()
    field: str = ""  # as the stream calls it
    mapped: bool = False
    is_text: bool = False  # with links to the portal inside
    may_be_sent: bool = True
    note: FieldNote | None = None


class NotingPayload(dict[str, Any]):
    """A payload that records which of its fields are read."""

    def __init__(self, payload: Mapping[str, Json]) -> None:
        super().__init__(payload)
        self.noticed: dict[str, None] = {}

    def get(self, name: str, default: Json = None) -> Json:
        self.noticed[name] = None
        return super().get(name, default)

    def __getitem__(self, name: str) -> Json:
        self.noticed[name] = None
        return super().__getitem__(name)


@dataclass(slots=True)
class FieldDrafts:
    context: RunContext
    stream: Stream
    current: SourceRecord
    staged: SourceRecord
    asked: bool  # whether `current` was just read from the source
    used: set[str] = field(default_factory=set)  # fields of the payload that others are made of

    def all(self, sent: Mapping[str, Json], there: Mapping[str, Json]) -> list[Draft]:
        """In the order of the stream, then custom fields, other sent fields, and fields that are not sent."""
        drafts = {one.name: one for spec in self.stream.fields for one in self._from_spec(spec)}
        for one in (*self._custom(), *self._rest(sent), *self._unsent(drafts.keys() | sent.keys())):
            drafts.setdefault(one.name, one)
        for name in there:
            drafts.setdefault(name, Draft(name, TARGET, may_be_sent=False))
        return list(drafts.values())

    # ------------------------------------------------------------ the stream's own

    def _from_spec(self, spec: Field) -> Iterator[Draft]:
        payload = NotingPayload(self.current.payload)
        value = self._value(spec, self.current._replace(payload=payload))
        before = self._value(spec, self.staged)
        if spec.kind is Kind.FAMILY:
            yield from self._family(spec, value, before)
            return
        noticed = tuple(name for name in payload.noticed if name in payload)
        self.used.update(noticed)
        yield Draft(
            spec.name,
            spec.kind,
            value,
            before,
            source_names=() if noticed == (spec.name,) else noticed,
            names=self._named_records(spec),
            field=spec.name,
            mapped=spec.kind in MAPPED_KINDS and (spec.when is None or spec.when(self.current)),
            is_text=spec.kind in (Kind.RICH, Kind.TREE),
            note=FieldNote.AS_READ if self.asked and self._is_from_extras(spec, value) else None,
        )

    def _is_from_extras(self, spec: Field, value: Json) -> bool:
        """And they are those of the time when it was read."""
        if spec.take is None or self.current.extras != self.staged.extras:
            return False
        return bool(self._value(spec, self.current._replace(extras={})) != value)

    def _value(self, spec: Field, one: SourceRecord) -> Json:
        try:
            return field_value(self.context, spec, one)
        except STRANGE:
            return ABSENT

    def _family(self, spec: Field, value: Json, before: Json) -> Iterator[Draft]:
        """Each member goes under a name of its own, which may be another one on the target."""
        for name, part in value.items() if isinstance(value, dict) else ():
            self.used.add(name)
            earlier = before.get(name, ABSENT) if isinstance(before, dict) else ABSENT
            for wire in self._wire_names(spec, name, part) or (name,):
                names = () if wire == name else (name,)
                yield Draft(wire, spec.kind, part, earlier, names, field=spec.name, mapped=bool(spec.streams))

    def _wire_names(self, spec: Field, name: str, part: Json) -> tuple[str, ...]:
        try:
            return tuple(spec.code(self.current, (name, part), Resolver(self.context)) or ()) if spec.code else (name,)
        except (Unresolved, *STRANGE):
            return ()

    def _named_records(self, spec: Field) -> tuple[Named, ...]:
        if not spec.streams or (spec.when is not None and not spec.when(self.current)):
            return ()
        try:
            found = list(dict.fromkeys(links_of_field(spec, with_children(self.context, spec, self.current))))
        except (Unresolved, *STRANGE):
            return ()
        return tuple(
            Named(stream, source_id, self.context.memory.links.target_id(stream, source_id) or "")
            for stream, source_id in found[:MOST_NAMED]
        )

    # ------------------------------------------------------------ custom fields, and what else there is

    def _custom(self) -> Iterator[Draft]:
        if not self.stream.custom.prefixes:
            return
        custom = CustomValues(self.context, self.stream)
        for name in self.current.payload:
            mapped = custom.find_mapped(name)
            if mapped is not None:
                self.used.add(name)
                yield self._from_custom(name, mapped)

    def _from_custom(self, name: str, mapped: MappedField) -> Draft:
        wire = name if mapped.lost else mapped.target
        return Draft(
            wire,
            f"{CUSTOM} {mapped.type}".strip(),
            self.current.payload[name],
            self.staged.payload.get(name, ABSENT),
            source_names=() if wire == name else (name,),
            mapped=mapped.type in MAPPED_TYPES,
            is_text=mapped.type in TEXT_TYPES,
            may_be_sent=not mapped.lost,
            note=FieldNote(mapped.lost) if mapped.lost else None,
        )

    def _rest(self, sent: Mapping[str, Json]) -> Iterator[Draft]:
        for name in sent:
            if name in self.current.payload:
                self.used.add(name)
            yield self._plain(name, Kind.AS_IS)

    def _unsent(self, known: set[str]) -> Iterator[Draft]:
        for name in {**self.staged.payload, **self.current.payload}:
            if name not in self.used and name not in known:
                yield self._plain(name, PAYLOAD, may_be_sent=False)

    def _plain(self, name: str, kind: str, *, may_be_sent: bool = True) -> Draft:
        payload, before = self.current.payload, self.staged.payload
        return Draft(name, kind, payload.get(name, ABSENT), before.get(name, ABSENT), may_be_sent=may_be_sent)


def decode_or_empty(record: Record, stream: Stream) -> SourceRecord:
    """Without its values where the row in the store is damaged."""
    try:
        return decode_record(record, stream)
    except msgspec.DecodeError:
        return SourceRecord(record.row_key, {}, {})


def full_title(stream: Stream, one: SourceRecord) -> str:
    """Whole; a message is its own title."""
    return _join_parts(one.payload.get(name) for name in stream.title)


def quick_title(stream: Stream, payload: bytes) -> str:
    """The same, without decoding the rest, for a million of them. Empty if the row is damaged."""
    try:
        return _join_parts(_decoder(stream.title)(payload))
    except msgspec.DecodeError:
        return ""


def _join_parts(parts: Iterable[Json]) -> str:
    return " ".join([str(part) for part in parts if part and isinstance(part, str | int)])


@lru_cache(maxsize=128)
def _decoder(names: tuple[str, ...]) -> Callable[[bytes], tuple[Any, ...]]:
    """A decoder that skips every other field."""
    slots = [f"f{place}" for place in range(len(names))]
    renamed = dict(zip(slots, names, strict=True))
    shape = msgspec.defstruct("Few", [(slot, Any, None) for slot in slots], rename=renamed.get, gc=False)
    decode = msgspec.json.Decoder(shape).decode
    values = attrgetter(*slots, "__class__")  # always a tuple: of one alone it would be the value itself
    return lambda payload: values(decode(payload))[:-1]


def short_title(stream: Stream, one: SourceRecord) -> str:
    return cut(" ".join(full_title(stream, one)[: 4 * LONGEST_TITLE].split()), LONGEST_TITLE)


def list_emails(stream: Stream, one: SourceRecord) -> tuple[str, ...]:
    """None where they are no list."""
    try:
        return tuple(cut(address, LONGEST_TITLE) for address in stream.emails(one) if address)
    except STRANGE:
        return ()
