"""Values of custom fields: under the target's codes, with option, user and file ids of the target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from b24migrate.phases import values
from b24migrate.phases.custom_fields import LEFT_BEHIND
from b24migrate.phases.work import Work
from b24migrate.ports import CUSTOM_FIELDS, FIELD_MAP
from b24migrate.records import Json
from b24migrate.streams import Seen, Stream

Lose = Callable[[str], None]
PERSON = "employee"  # the type of a field whose value is a user


class Mapped(NamedTuple):
    target: str
    type: str
    options: Mapping[str, str]


class CustomValues:
    """Reads the field map once; a batch of records shares it."""

    def __init__(self, work: Work, stream: Stream, *, late: bool = True) -> None:
        self._work = work
        self._stream = stream
        self._map = self._load() if stream.custom_prefix else {}
        self._postponed = "" if late or not stream.late_custom else PERSON

    @property
    def has_late(self) -> bool:
        """Whether a second pass has anything to add."""
        return self._stream.late_custom and any(mapped.type == PERSON for mapped in self._map.values())

    def put(self, one: Seen, fields: dict[str, Json], lose: Lose) -> None:
        if not self._stream.custom_prefix:
            return
        for name, value in one.payload.items():
            if not name.startswith(self._stream.custom_prefix) or value in (None, "", [], False):
                continue
            mapped = self._map.get(name)
            if mapped is None or mapped.type in LEFT_BEHIND:
                lose("custom_values_left")
            elif mapped.type != self._postponed:
                fields[mapped.target] = self._each(mapped, value, lose)

    def _each(self, mapped: Mapped, value: Json, lose: Lose) -> Json:
        if isinstance(value, list):
            converted = (self._one(mapped, part, lose) for part in value)
            return [part for part in converted if part is not None]
        return self._one(mapped, value, lose)

    def _one(self, mapped: Mapped, value: Json, lose: Lose) -> Json:
        converters: dict[str, Callable[[Mapped, Json, Lose], Json]] = {
            "enumeration": self._option,
            PERSON: self._person,
            "date": lambda _, day, __: values.day(day, self._work.options.timezone),
            "datetime": self._time,
            "boolean": lambda _, value, __: values.flag(value),
        }
        convert = converters.get(mapped.type)
        return convert(mapped, value, lose) if convert else value

    def _option(self, mapped: Mapped, value: Json, lose: Lose) -> Json:
        option = mapped.options.get(str(value))
        if option is None:
            lose("references_dropped")
        return option

    def _person(self, _: Mapped, value: Json, lose: Lose) -> Json:
        source_id = values.reference(value)
        target_id = self._work.links.target_id(self._work.people, source_id) if source_id else None
        if source_id and target_id is None:
            lose("references_dropped")
        return target_id

    def _time(self, _: Mapped, value: Json, __: Lose) -> Json:
        return values.stamp(value, self._work.options.timezone)[1]

    def _load(self) -> dict[str, Mapped]:
        entity = self._work.owner[self._stream.name].name
        types = {
            row.key: str(row.values.get("Type") or "") for row in self._work.store.rows(CUSTOM_FIELDS, partition=entity)
        }
        found = {}
        for row in self._work.store.rows(FIELD_MAP, prefix=f"{entity}:"):
            code = row.key.partition(":")[2]
            target = row.values.get("TargetField")
            if row.values.get("Included") and target:
                found[code] = Mapped(str(target), types.get(code, ""), row.values.get("Options") or {})
        return found
