"""Samples the source, entity by entity. A refusal concerns one entity, not the others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.custom_fields import reason_not_to_copy
from b24migrate.engine.phases.custom_values import fold_code
from b24migrate.engine.stages import may_be_completed
from b24migrate.insight.forecast import files as filing
from b24migrate.insight.forecast.build import Need, StreamNeed
from b24migrate.insight.forecast.meter import Meter
from b24migrate.insight.forecast.model import Estimate, FieldFacts, Impossible, LargeFile
from b24migrate.insight.forecast.sample import Ask, Sampled, ask_patiently
from b24migrate.insight.forecast.sampler import Sampler
from b24migrate.messages import say
from b24migrate.model.errors import GateUnmet, Halted, MigrationError
from b24migrate.model.fields import Field
from b24migrate.model.readings import Each, Gather, PerParent
from b24migrate.model.records import Json
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Entity, Stream

Notice = Callable[[str], None]
LOOKED_AT = 300  # records, for what is filled in in each


class SourceSurvey:
    """The results so far."""

    def __init__(self, context: RunContext, meter: Meter, sampler: Sampler, notice: Notice) -> None:
        self.context = context
        self.meter = meter
        self.sampler = sampler
        self.notice = notice
        self.wanted: list[Entity] = []
        self.fields: list[FieldFacts] = []
        self.files: dict[str, filing.FoundFiles] = {}
        self.file_limit = filing.size_limit(context)
        self.large_files: list[LargeFile] = []
        self.impossible: list[Impossible] = []
        self.unread_people: Estimate | None = None  # users whose private chats no webhook can read
        self.troubles: dict[str, str] = {}  # entity -> why nothing is known of it
        self.warnings: list[str] = []
        self._known_files: set[str] = set()
        self._custom: dict[str, tuple[Sequence[Mapping[str, Json]], Ask]] = {}

    def survey(self, entity: Entity, *, wanted: bool) -> None:
        self.notice(entity.name)
        try:
            self._read_custom_fields(entity)
            for stream in (*entity.aids, *entity.streams):
                self.sampler.sample(stream)
        except Halted:
            raise
        except MigrationError as error:
            self.troubles[entity.name] = error.sentence
            return
        if not wanted:
            return
        self.wanted.append(entity)
        self.fields += self._filled(entity)
        streams = [self.sampler.found[stream.name] for stream in entity.streams]
        large = filing.list_too_large(entity.name, streams, self._known_files, self.file_limit)
        self.large_files += large
        self._known_files |= {one.key for one in large}
        found = filing.find_files(self.context, self.meter, entity.name, streams, self._known_files)
        self._known_files |= {key for one in streams for key in one.files}
        if found:
            self.files[entity.name] = found
        self.impossible += self._impossible(entity)

    def staged(self, name: str) -> Iterator[SourceRecord]:
        """The sampled records in place of the staged ones; in order of their parents, as those are."""
        sampled = self.sampler.found.get(name)
        return iter(sorted(sampled.rows if sampled else (), key=_order))

    # ------------------------------------------------------------ custom fields

    def _read_custom_fields(self, entity: Entity) -> None:
        custom = entity.custom_fields
        if custom is None or not self.context.facts.grants(custom.scope):
            return
        before = self.meter.used
        try:
            fields = ask_patiently(self.context.clock, lambda: custom.read(self.context.source, self.staged))
        except Halted:
            raise
        except MigrationError as error:
            self.warnings.append(say("forecast.fields_unread", entity=entity.name, why=error.sentence))
            return
        used = self.meter.used.since(before)
        self._custom[entity.name] = (fields, Ask(used.requests, used.calls))
        self.sampler.codes[entity.name] = [str(field["FIELD_NAME"]) for field in fields]

    def _filled(self, entity: Entity) -> Iterator[FieldFacts]:
        custom = entity.custom_fields
        if custom is None:
            return
        rows = self.sampler.found[custom.stream].rows if custom.stream in self.sampler.found else []
        for field in self._custom.get(entity.name, ((), None))[0]:
            code, of = str(field["FIELD_NAME"]), str(field.get("OF") or "")
            mine = [row for row in rows if not of or row.parent == of]
            filled = sum(1 for row in mine if not is_empty(read_field(row.payload, code)))
            labels: Mapping[str, str] = field.get("LABELS") or {}
            label = str(labels.get("en") or next(iter(labels.values()), ""))
            yield FieldFacts(entity.name, code, str(field.get("USER_TYPE_ID") or ""), label, filled, len(mine), of)

    # ------------------------------------------------------------ what cannot be had

    def _impossible(self, entity: Entity) -> Iterator[Impossible]:
        for stream in entity.streams:
            sampled = self.sampler.found[stream.name]
            for reason, count in sampled.aside.items():
                yield Impossible(stream.name, reason, _scale_count(count, sampled.asides_of))
        of = self.sampler.found.get(entity.unreadable_by)
        if entity.unreadable is None or of is None or not of.rows:
            return
        readings = [self.context.reading(stream) for stream in entity.streams]
        try:
            found = list(entity.unreadable(self.context.source, self.staged, readings))
        except GateUnmet as error:
            self.warnings.append(error.sentence)
            return
        for (stream_name, reason), count in Counter((one.stream, one.reason) for one in found).items():
            # The portal reports the number of users; those with a webhook are the exception.
            estimate = _scale_count(count, of.kept_count / len(of.kept))
            if entity.talk and entity.unreadable_by == self.context.people:
                self.unread_people = estimate
            yield Impossible(stream_name, reason, estimate)

    # ------------------------------------------------------------ what an entity needs

    def need(self, entity: Entity) -> Need:
        context, found = self.context, self.sampler.found
        after = frozenset(context.owner[name].name for name in entity.refers_to if name in context.owner) - {
            entity.name
        }
        fields, asked = self._custom.get(entity.name, ((), Ask(0.0, {})))
        aids = [self._stream_need(found[stream.name], aid=True) for stream in entity.aids]
        streams = [self._stream_need(found[stream.name], fields) for stream in entity.streams]
        there = asked.requests if entity.custom_fields and not entity.custom_fields.types else 0.0
        return Need(entity, after, [*aids, *streams], self.files.get(entity.name), len(fields), asked, there)

    def _stream_need(
        self, sampled: Sampled, fields: Sequence[Mapping[str, Json]] = (), *, aid: bool = False
    ) -> StreamNeed:
        stream = sampled.stream
        rows = sampled.rows[:: max(1, len(sampled.rows) // LOOKED_AT)]
        return StreamNeed(
            stream,
            sampled.loads,
            sampled.kept_count,
            self.context.batch_size(stream),
            len(stream.fields) + _other_fields(stream, rows),
            sampled.size,
            sampled.longest,
            self._completed(stream, rows, fields),
            self._again_by(stream),
            sampled.uncertain,
            aid,
        )

    def _again_by(self, stream: Stream) -> str:
        """The method by which verify reads records again; mostly the one that they were read with."""
        reading = self.context.reading(stream)
        return reading.method if not isinstance(reading, Gather) else ""

    def _completed(
        self, stream: Stream, rows: Sequence[SourceRecord], fields: Sequence[Mapping[str, Json]]
    ) -> float | None:
        """The share of the records that name something which may come later."""
        custom = self.context.owner[stream.name].custom_fields
        late = [
            str(field["FIELD_NAME"])
            for field in fields
            if custom and field.get("USER_TYPE_ID") in stream.custom.late_types
            if not reason_not_to_copy(custom, str(field.get("USER_TYPE_ID")))
        ]
        postponed = [one for one in stream.fields if one.late]
        all_looked_at = late or any(
            one.late or one.waits or one.tree or stream.name in one.inside.values() for one in stream.fields
        )
        if not all_looked_at or not may_be_completed(stream) or not rows:
            return None
        changed = [
            row
            for row in rows
            if any(not is_empty(_taken_value(one, row)) for one in postponed)
            or any(not is_empty(read_field(row.payload, code)) for code in late)
        ]
        return len(changed) / len(rows)


def _taken_value(field: Field, row: SourceRecord) -> Json:
    taken = field.take(row) if field.take else row.payload.get(field.name)
    if isinstance(taken, dict):
        return [value for value in taken.values() if str(value or "0") != "0"]
    return None if str(taken or "0") == "0" else taken


def _other_fields(stream: Stream, rows: Sequence[SourceRecord]) -> float:
    """How many custom and other fields a record has besides those that the stream names."""
    prefixes = (*(stream.rest.prefixes if stream.rest else ()), *stream.custom.prefixes)
    if not prefixes or not rows:
        return 0.0
    names = (name for row in rows for name, value in row.payload.items() if not is_empty(value))
    return sum(1 for name in names if name.startswith(prefixes)) / len(rows)


def _order(one: SourceRecord) -> tuple[tuple[int, str], ...]:
    return tuple((int(part), "") if part.isdecimal() else (0, part) for part in one.id.split(":"))


def _scale_count(count: int, part: float) -> Estimate:
    error = math.sqrt(max(0.0, 1 - 1 / part) / count) if count and part > 1 else 0.0
    return Estimate.from_error(count * part, error, exact=part <= 1, basis=say("forecast.met", count=count))


def read_field(payload: Mapping[str, Json], code: str) -> Json:
    if code in payload:
        return payload[code]
    wanted = fold_code(code)
    return next((value for name, value in payload.items() if fold_code(name) == wanted), None)


def is_empty(value: Json) -> bool:
    return value is None or value is False or value in ("", [], {})


def add_parents(context: RunContext, entities: Sequence[Entity]) -> list[Entity]:
    """With the streams whose records are parents of these."""
    names = {entity.name for entity in entities}
    for entity in entities:
        for stream in (*entity.aids, *entity.streams):
            parents = {one.of for one in (*stream.read, *stream.more) if isinstance(one, Each | PerParent)}
            names |= {context.owner[name].name for name in parents if name in context.owner}
        if entity.unreadable_by in context.owner:
            names.add(context.owner[entity.unreadable_by].name)
        if entity.custom_fields and entity.custom_fields.types in context.owner:
            names.add(context.owner[entity.custom_fields.types].name)
    return [entity for entity in context.entities if entity.name in names]
