"""A record under the names of the wire before anything else has arrived: what a target's rules are judged by."""

from __future__ import annotations

from collections.abc import Iterator

from b24migrate.engine.phases.compose import plain_kinds, rest_of, shown_to, value_of
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.custom_fields import left_behind
from b24migrate.engine.phases.custom_values import EXCLUDED, CustomValues, is_empty
from b24migrate.model import values
from b24migrate.model.fidelity import KEY, Draft
from b24migrate.model.records import Json
from b24migrate.model.streams import ABSENT, Field, Kind, Seen, Stream


class Drafter:
    """Of the records of one stream. References keep the source's ids, texts are not rewritten, files are their keys."""

    def __init__(self, context: RunContext, stream: Stream) -> None:
        self._context = context
        self._stream = stream
        self._plain = plain_kinds(context.options.timezone)
        self._named = frozenset(one.name for one in stream.fields)
        self._custom = CustomValues(context, stream)

    def draft(self, one: Seen) -> Draft:
        if not self._stream.fields:
            return one.payload  # files have no fields, only what is known of them
        fields: dict[str, Json] = {KEY: self._stream.key_of(one.id)}
        for spec in self._stream.fields:
            value = value_of(spec, shown_to(self._context, spec, one))
            if value is ABSENT:
                continue
            if spec.kind is Kind.FAMILY:
                fields |= value if isinstance(value, dict) else {}
            else:
                fields[spec.name] = self._value(spec, one, value)
        fields.update(rest_of(self._stream, self._named, one.payload))
        fields.update(self._custom_values(one))
        if self._stream.at_last is not None:
            self._stream.at_last(one, fields, True)
        return fields

    def _value(self, spec: Field, one: Seen, value: Json) -> Json:
        if spec.when is not None and not spec.when(one):
            return values.text(value)
        if spec.kind in self._plain:
            return self._plain[spec.kind](value)
        if spec.kind is Kind.RICH:
            return values.text(value)
        if spec.kind is Kind.REF:
            return str(value) if str(value) in spec.keep else values.reference(value)
        if spec.kind is Kind.REFS:
            return values.references(value)
        if spec.kind in (Kind.FILE, Kind.FILES):
            keys = list(dict.fromkeys(value))
            return keys if spec.kind is Kind.FILES else next(iter(keys), None)
        return value

    def _custom_values(self, one: Seen) -> Iterator[tuple[str, Json]]:
        """Under the target's code where it has one by now, else under the source's, which it will be given."""
        custom = self._context.owner[self._stream.name].custom_fields if self._stream.custom_prefix else None
        for name, value in one.payload.items() if custom is not None else ():
            mapped = self._custom.mapped(name)
            if custom is None or mapped is None or is_empty(value, mapped.type) or mapped.lost == EXCLUDED:
                continue
            if not mapped.type or not left_behind(custom, mapped.type):
                yield mapped.target or mapped.code, value
