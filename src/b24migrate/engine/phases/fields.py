"""Interprets the fields of a stream: which values of a record become which fields, in which order.

What happens to references, texts and files differs: it is a function for each kind (`Convert`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from b24migrate.engine.phases.context import RunContext, child_ids
from b24migrate.model import values
from b24migrate.model.fields import ABSENT, EMPTIED, Field, Kind
from b24migrate.model.records import Json
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream

Notes = TypeVar("Notes")  # the losses and unresolved IDs of a conversion
Convert: TypeAlias = Callable[[Field, SourceRecord, Json, Notes], Json]


class FieldInterpreter(Generic[Notes]):
    """Of the records of one stream. `late`: with the fields that only the second pass sends."""

    def __init__(
        self, context: RunContext, stream: Stream, convert: Mapping[Kind, Convert[Notes]], *, late: bool = True
    ) -> None:
        self._context = context
        self._stream = stream
        plain = plain_kinds(context.options.timezone)
        self._named = frozenset(one.name for one in stream.fields)
        wanted = [one for one in stream.fields if late or not one.late]
        self._specs = [(one, plain.get(one.kind), convert.get(one.kind)) for one in wanted]

    def interpret(self, one: SourceRecord, fields: dict[str, Json], notes: Notes) -> None:
        """Raises OddValue with the name of the field."""
        name = ""
        try:
            for spec, plain, convert in self._specs:
                name = spec.name
                value = field_value(self._context, spec, one)
                if value is ABSENT:
                    continue
                if spec.kind is Kind.FAMILY and convert is not None:
                    fields |= convert(spec, one, value, notes)
                    continue
                if spec.when is not None and not spec.when(one):
                    value = values.text(value)
                elif plain is not None:
                    value = plain(value)
                elif convert is not None:
                    value = convert(spec, one, value, notes)
                if value is not ABSENT:
                    fields[name] = value
        except values.OddValue as odd:
            raise values.OddValue(str(odd) or name) from None
        fields.update(remaining_fields(self._stream, self._named, one.payload))
        for emptied in one.extras.get(EMPTIED, ()):
            if emptied in self._named or is_remaining(self._stream, emptied):
                fields.setdefault(emptied, None)


def field_value(context: RunContext, spec: Field, one: SourceRecord) -> Json:
    """The source's value; ABSENT if it has none."""
    if spec.take is None:
        return one.payload.get(spec.name, ABSENT)
    return spec.take(with_children(context, spec, one) if spec.beside else one)


def with_children(context: RunContext, spec: Field, one: SourceRecord) -> SourceRecord:
    """The record as a field's functions see it: some need the IDs of its children in another stream."""
    if not spec.beside:
        return one
    children = child_ids(context, context.streams[spec.beside], one.id)
    return one._replace(extras={**one.extras, spec.beside: children})


def plain_kinds(timezone: ZoneInfo) -> dict[Kind, Callable[[Json], Json]]:
    """Conversions of values that hold no other record's ID."""
    return {
        Kind.TEXT: values.text,
        Kind.FLAG: values.flag,
        Kind.WHOLE: values.whole,
        Kind.NUMBER: values.number,
        Kind.TIME: lambda value: values.stamp(values.scalar(value), timezone)[1],
        Kind.DAY: lambda value: values.day(values.scalar(value), timezone),
        Kind.AS_IS: lambda value: value,
    }


def remaining_fields(stream: Stream, named: frozenset[str], payload: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """The filled fields that the stream sends unchanged; `named` have a description of their own."""
    for name, value in payload.items() if stream.rest is not None else ():
        if name not in named and is_remaining(stream, name) and value not in (None, "", [], {}, False):
            yield name, value


def is_remaining(stream: Stream, name: str) -> bool:
    rest, custom = stream.rest, stream.custom.prefixes
    if rest is None or name in rest.skip or not name.startswith(rest.prefixes):
        return False
    return not (custom and name.startswith(custom))
