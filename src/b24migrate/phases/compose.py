"""From a staged record to what is sent: every reference resolved, every value as the contract wants it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from b24migrate.phases import values
from b24migrate.phases.custom_values import CustomValues
from b24migrate.phases.work import Work, seen
from b24migrate.records import Item, Json, Record, Status
from b24migrate.streams import ABSENT, Field, Kind, Policy, Seen, Stream


@dataclass(slots=True)
class Composed:
    """A record ready to be sent, or why it is not: `problem` is final, `waits_for` may come true."""

    record: Record
    fields: dict[str, Json] = field(default_factory=dict)
    losses: dict[str, int] = field(default_factory=dict)
    problem: tuple[str, str] | None = None  # error code, sentence
    waits_for: str = ""
    unresolved: list[tuple[str, str]] = field(default_factory=list)  # field, source id
    _item: Item | None = None

    def lose(self, what: str, count: int = 1) -> None:
        if count:
            self.losses[what] = self.losses.get(what, 0) + count

    def item(self, stream: Stream) -> Item:
        if self._item is None:
            self._item = Item.of(stream.key_of(self.record.row_key), self.fields)
        return self._item


class Composer:
    """Composes the records of one stream. `late` adds the references that a second pass writes; `postpones` tells
    whether any record may have such."""

    def __init__(self, work: Work, stream: Stream, *, late: bool = False) -> None:
        self._work = work
        self._stream = stream
        self._custom = CustomValues(work, stream, late=late)
        plain: dict[Kind, Callable[[Json], Json]] = {
            Kind.TEXT: values.text,
            Kind.FLAG: values.flag,
            Kind.WHOLE: values.whole,
            Kind.NUMBER: values.number,
            Kind.TIME: self._time,
            Kind.DAY: lambda value: values.day(value, work.options.timezone),
            Kind.AS_IS: lambda value: value,
        }
        linked: dict[Kind, Callable[[Field, Seen, Json, Composed], Json]] = {
            Kind.RICH: self._rich,
            Kind.TREE: self._tree,
            Kind.REF: self._ref,
            Kind.REFS: self._refs,
            Kind.FILE: self._file,
            Kind.FILES: self._files,
        }
        self._named = frozenset(one.name for one in stream.fields)
        wanted = [one for one in stream.fields if late or not one.late]
        self._specs = [(one, plain.get(one.kind), linked.get(one.kind)) for one in wanted]
        own = stream.name
        self.postpones = self._custom.has_late or any(one.late or own in one.inside.values() for one in stream.fields)

    def compose(self, record: Record) -> Composed:
        return self.compose_seen(record, seen(record))

    def compose_seen(self, record: Record, one: Seen) -> Composed:
        done = Composed(record)
        done.problem = self._missing(one) or self._duplicate(record)
        if done.problem:
            return done
        for spec, plain, linked in self._specs:
            value = one.payload.get(spec.name, ABSENT) if spec.take is None else spec.take(one)
            if value is ABSENT:
                continue
            if spec.when is not None and not spec.when(one):
                value = values.text(value)
            elif plain is not None:
                value = plain(value)
            elif linked is not None:
                value = linked(spec, one, value, done)
            done.fields[spec.name] = value
        self._rest(one.payload, done)
        self._custom.put(one, done.fields, done.lose)
        return done

    def _time(self, value: Json) -> str | None:
        return values.stamp(value, self._work.options.timezone)[1]

    def _rich(self, _spec: Field, _one: Seen, value: Json, done: Composed) -> str | None:
        text = values.text(value)
        if not text:
            return text
        rewritten = self._work.texts.rewrite(text, self._work.links.target_ids)
        done.lose("texts_unresolved", rewritten.unresolved)
        return rewritten.text

    def _tree(self, spec: Field, one: Seen, value: Json, done: Composed) -> Json:
        if isinstance(value, str):
            return self._rich(spec, one, value, done)
        if isinstance(value, list):
            return [self._tree(spec, one, part, done) for part in value]
        if isinstance(value, dict):
            return {name: self._branch(spec, one, name, part, done) for name, part in value.items()}
        return value

    def _branch(self, spec: Field, one: Seen, name: str, value: Json, done: Composed) -> Json:
        stream = spec.inside.get(name)
        if stream is None or not isinstance(value, list | dict):  # PHP sends a list with gaps as a map
            return self._tree(spec, one, value, done)
        ids = dict.fromkeys(values.references(value))
        found = self._work.links.target_ids(stream, ids)
        done.lose("references_dropped", len(ids) - len(found))
        there = dict.fromkeys(found[source_id] for source_id in ids if source_id in found)
        return [int(target_id) if target_id.isdecimal() else target_id for target_id in there]

    # ------------------------------------------------------------ references

    def _ref(self, spec: Field, _one: Seen, value: Json, done: Composed) -> str | None:
        if str(value) in spec.keep:
            return str(value)
        source_id = values.reference(value)
        return None if source_id is None else self._resolve(spec, source_id, done)

    def _refs(self, spec: Field, _one: Seen, value: Json, done: Composed) -> list[str]:
        resolved = (self._resolve(spec, source_id, done) for source_id in values.references(value))
        # Two source users may have become one: a list names each once.
        return list(dict.fromkeys(target_id for target_id in resolved if target_id is not None))

    def _resolve(self, spec: Field, source_id: str, done: Composed) -> str | None:
        target_id = self._work.links.target_id(spec.to, source_id)
        if target_id is not None:
            return target_id
        done.unresolved.append((spec.name, source_id))
        policy = self._work.policy(self._stream, spec.name, spec.policy)
        if policy is Policy.DROP:
            done.lose("references_dropped")
            return None
        placeholder = self._work.options.placeholder_user
        if policy is Policy.PLACEHOLDER and placeholder and spec.to == self._work.people:
            done.lose("placeholders")
            return placeholder
        if spec.to == self._stream.name and self._may_come(source_id):
            done.waits_for = done.waits_for or f"{spec.name} {source_id}"
        else:
            done.problem = done.problem or (
                "REFERENCE_MISSING",
                f"{spec.name} refers to {spec.to} {source_id}, which is not on the target",
            )
        return None

    def _may_come(self, source_id: str) -> bool:
        record = self._work.store.get(self._stream.table, (source_id,)).get(source_id)
        return record is not None and record.status in (Status.NEW, Status.ERROR_RETRY)

    # ------------------------------------------------------------ files

    def _file(self, spec: Field, one: Seen, value: Json, done: Composed) -> str | None:
        return next(iter(self._files(spec, one, value, done)), None)

    def _files(self, _spec: Field, _one: Seen, value: Json, done: Composed) -> list[str]:
        keys = list(value)
        found = self._work.links.target_ids("files", keys) if keys else {}
        done.lose("files_dropped", len(keys) - len(found))
        return [found[key] for key in keys if key in found]

    # ------------------------------------------------------------ what is left, and what must not be

    def _rest(self, payload: Mapping[str, Json], done: Composed) -> None:
        rest = self._stream.rest
        if rest is None:
            return
        custom = self._stream.custom_prefix
        for name, value in payload.items():
            if name in self._named or name in rest.skip or not name.startswith(rest.prefixes):
                continue
            if value in (None, "", [], {}, False) or (custom and name.startswith(custom)):
                continue
            done.fields[name] = value

    def _missing(self, one: Seen) -> tuple[str, str] | None:
        absent = [name for name in self._stream.required if not str(one.payload.get(name) or "").strip()]
        if not absent:
            return None
        return "VALIDATION", f"{' and '.join(absent)} is empty on the source"

    def _duplicate(self, record: Record) -> tuple[str, str] | None:
        if not record.natural:
            return None
        holder = self._work.store.holder(self._stream.table, record.natural)
        if holder is None or holder == record.row_key:
            return None
        return self._stream.natural_code, f"{self._stream.natural} is the same as that of {holder}"
