"""Values of custom fields: under the target's codes, with option, user, file, dictionary and CRM ids of the target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.custom_fields import (
    field_map_rows,
    field_payload,
    is_excluded,
    is_multiple,
    reason_not_to_copy,
)
from b24migrate.engine.phases.references import References, Whereabouts, locate
from b24migrate.messages import say
from b24migrate.model import values
from b24migrate.model.fields import EMPTIED, Unresolved
from b24migrate.model.records import Json, Status
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import CUSTOM_FIELDS, RegisterRow

if TYPE_CHECKING:
    from b24migrate.engine.phases.compose import ComposedRecord

FILES = "files"  # the stream that files are linked under
EXCLUDED = "custom_values_excluded"  # how values are counted that the configuration excludes


class MappedField(NamedTuple):
    """A field of the source and what its values become. `lost`: how they are counted when they are not sent."""

    code: str
    target: str = ""
    type: str = ""
    multiple: bool = False
    options: Mapping[str, str] = {}
    only: str = ""
    dictionary: str = ""
    lost: str = ""


class CustomValues:
    """Reads the field map once; a batch of records shares it."""

    def __init__(
        self,
        context: RunContext,
        stream: Stream,
        *,
        late: bool = True,
        references: References | None = None,
    ) -> None:
        self._context = context
        self._references = references or References(context, stream, late=late, final=False)
        self._stream = stream
        self._links, self._texts = context.memory.links, context.memory.texts
        self._people = context.people
        self._entity = context.owner[stream.name] if stream.custom.prefixes else None
        self._custom = self._entity.custom_fields if self._entity else None
        self._map = self._load()
        self._folded = _group_by_folded_code(self._map)
        skipped = stream.rest.skip if stream.rest else frozenset()
        # Filled as names are met: every record of a stream has the same ones.
        self._met: dict[str, MappedField | None] = dict.fromkeys((*(one.name for one in stream.fields), *skipped))
        self._postponed = frozenset() if late else stream.custom.late_types
        self._noted: set[str] = set()
        self._converters: Mapping[str, Callable[[MappedField, Json, ComposedRecord], Json]] = {
            "enumeration": self._option,
            "employee": self._person,
            "file": self._file,
            "crm": self._record,
            "crm_status": self._status,
            "date": self._day,
            "datetime": self._time,
            "boolean": lambda _, value, __: values.flag(value),
            "string": self._text,
            "url": self._text,
        }

    @property
    def has_late(self) -> bool:
        """Whether a second pass has anything to add."""
        return any(mapped.type in self._stream.custom.late_types and not mapped.lost for mapped in self._map.values())

    def described(self) -> Json:
        return {code: list(mapped) for code, mapped in self._map.items()}

    def put(self, one: SourceRecord, fields: dict[str, Json], done: ComposedRecord) -> None:
        """Under the target's codes, with the target's IDs."""
        for mapped, value in self._filled_fields(one):
            if mapped.lost:
                done.lose(mapped.lost)
            elif mapped.type not in self._postponed:
                fields[mapped.target] = self._convert(mapped, value, done)
        for name in one.extras.get(EMPTIED, ()):
            emptied = self.find_mapped(name)
            if emptied is not None and not emptied.lost:
                fields.setdefault(emptied.target, None)

    def put_as_read(self, one: SourceRecord, fields: dict[str, Json]) -> None:
        """Under the target's code where it has one by now, else under the source's, which it will be given."""
        for mapped, value in self._filled_fields(one):
            is_left = self._custom is None or (mapped.type and reason_not_to_copy(self._custom, mapped.type))
            if mapped.lost != EXCLUDED and not is_left:
                fields[mapped.target or mapped.code] = value

    def _filled_fields(self, one: SourceRecord) -> Iterator[tuple[MappedField, Json]]:
        for name, value in one.payload.items() if self._entity is not None else ():
            mapped = self.find_mapped(name)
            if mapped is not None and not is_empty(value, mapped.type):
                yield mapped, value

    # ------------------------------------------------------------ names

    def find_mapped(self, name: str) -> MappedField | None:
        """None if it is not a custom field."""
        if name not in self._met:
            self._met[name] = self._find_field(name) if name.startswith(self._stream.custom.prefixes) else None
        return self._met[name]

    def _find_field(self, name: str) -> MappedField:
        """Finds a field by its code, or by the name that some methods make from it; the code cannot be derived from the
        name."""
        exact = self._map.get(name)
        if exact is not None:
            return exact
        alike = self._folded.get(fold_code(name), [])
        same = [one for one in alike if camel_case(one.code) == name] if len(alike) > 1 else alike
        return same[0] if len(same) == 1 else MappedField(name, lost="custom_values_left")

    # ------------------------------------------------------------ values

    def _convert(self, mapped: MappedField, value: Json, done: ComposedRecord) -> Json:
        """A list for a field that takes several, whatever the source sent."""
        convert = self._converters.get(mapped.type)
        if mapped.type != "file" and any(isinstance(part, (dict, list)) for part in _split_values(mapped, value)):
            raise values.OddValue(mapped.code)
        parts = [part if convert is None else convert(mapped, part, done) for part in _split_values(mapped, value)]
        there = [part for part in parts if part is not None]
        if mapped.multiple or len(there) > 1:
            return there
        return there[0] if there else None

    def _option(self, mapped: MappedField, value: Json, done: ComposedRecord) -> Json:
        source_id = values.reference(value)
        option = mapped.options.get(source_id) if source_id else None
        if source_id and option is None:
            done.lose("references_dropped")
            self._note_once(mapped, say("note.option_gone", id=source_id))
        return option

    def _text(self, _: MappedField, value: Json, done: ComposedRecord) -> Json:
        """People write mentions and links into them as into any other text."""
        if not self._texts.may_hold_ids(value):
            return value
        rewritten = self._texts.rewrite(str(value), self._links.target_ids)
        self._references.note_missing_in_texts(rewritten.missing, done)
        return rewritten.text

    def _person(self, _: MappedField, value: Json, done: ComposedRecord) -> Json:
        source_id = values.reference(value)
        target_id = self._links.target_id(self._people, source_id) if source_id else None
        if source_id and target_id is None:
            done.lose("references_dropped")
            self._references.note_missing(self._people, source_id, done)
        return target_id

    def _file(self, _: MappedField, value: Json, done: ComposedRecord) -> Json:
        source_id = values.reference(value.get("id") if isinstance(value, dict) else value)
        if source_id is None or self._custom is None:
            return None
        target_id = self._links.target_id(FILES, f"{self._custom.files}:{source_id}")
        if target_id is None:
            done.lose("files_dropped")
        return target_id

    def _record(self, mapped: MappedField, value: Json, done: ComposedRecord) -> Json:
        """`D_12`; or `12` where the field allows records of one kind only."""
        code = values.reference(value)
        if code is None or self._custom is None or self._custom.codes is None:
            return None
        is_bare = code.isdecimal()
        if is_bare and not mapped.only:
            done.lose("references_dropped")  # its kind is not known
            return None
        try:
            there = self._custom.codes(f"{mapped.only}_{code}" if is_bare else code, self._resolve)
        except Unresolved as missing:
            done.lose("references_dropped")
            self._references.note_missing(missing.stream, missing.source_id, done)
            if locate(self._context, missing.stream, missing.source_id) is Whereabouts.STAGED:
                self._note_once(mapped, say("note.value_unlinked", what=missing.what))
            return None
        return there.rpartition("_")[2] if is_bare else there

    def _resolve(self, stream: str, source_id: str) -> str:
        target_id = self._links.target_id(stream, source_id)
        if target_id is None:
            raise Unresolved(stream, source_id)
        return target_id

    def _status(self, mapped: MappedField, value: Json, done: ComposedRecord) -> Json:
        """An entry of a dictionary; one that has no link is called the same on the target."""
        if self._custom is None or not self._custom.statuses or not mapped.dictionary:
            return value
        target_id = self._links.target_id(self._custom.statuses, f"{mapped.dictionary}:{value}")
        done.may_come = done.may_come or (target_id is None and self._has_open_entries)
        return target_id or value

    @cached_property
    def _has_open_entries(self) -> bool:
        of = self._context.streams.get(self._custom.statuses.partition(".")[0] if self._custom else "")
        counts = self._context.store.counts(of.table) if of else {}
        return any(counts.get(one) for one in (Status.NEW, Status.ERROR_RETRY, Status.IMPORT_ERR))

    def _day(self, _: MappedField, value: Json, done: ComposedRecord) -> Json:
        return _count_if_lost(values.day(value, self._context.options.timezone), done)

    def _time(self, _: MappedField, value: Json, done: ComposedRecord) -> Json:
        return _count_if_lost(values.stamp(value, self._context.options.timezone)[1], done)

    def _note_once(self, mapped: MappedField, what: str) -> None:
        if mapped.code not in self._noted and self._entity is not None:
            self._noted.add(mapped.code)
            about = say("note.field", field=mapped.code, what="")
            self._context.note(self._entity.name, say("note.field", field=mapped.code, what=what), about=about)

    # ------------------------------------------------------------ the map

    def _load(self) -> dict[str, MappedField]:
        if self._entity is None or self._custom is None:
            return {}
        wished = field_map_rows(self._context, self._entity.name)
        rows = self._context.store.rows(CUSTOM_FIELDS, partition=self._entity.name)
        return {row.key: self._field(row, wished) for row in rows}

    def _field(self, row: RegisterRow, wished: Mapping[str, RegisterRow]) -> MappedField:
        kind = str(row.values.get("Type") or "")
        if is_excluded(row.key, wished):
            return MappedField(row.key, type=kind, lost=EXCLUDED)
        link = wished[row.key].values if row.key in wished else {}
        if self._custom is None or link.get("Options") is None or reason_not_to_copy(self._custom, kind):
            return MappedField(row.key, type=kind, lost="custom_values_left")
        field = field_payload(row)
        only = str(field.get("ONLY") or "")
        target = str(link["TargetField"])
        return MappedField(row.key, target, kind, is_multiple(field), link["Options"], only, _dictionary_code(field))


def _dictionary_code(field: Mapping[str, Json]) -> str:
    """Of whose entries a status is one. PHP sends empty settings as a list."""
    settings = field.get("SETTINGS")
    return str(settings.get("ENTITY_TYPE") or "") if isinstance(settings, dict) else ""


def fold_code(name: str) -> str:
    """The common form of a code and the name made from it: `UF_CRM_3_174`, `ufCrm3_174`."""
    return name.replace("_", "").lower()


def camel_case(code: str) -> str:
    first, *rest = code.lower().split("_")
    return first + "".join(part.capitalize() for part in rest)


def _group_by_folded_code(known: Mapping[str, MappedField]) -> dict[str, list[MappedField]]:
    alike: dict[str, list[MappedField]] = {}
    for code, mapped in known.items():
        alike.setdefault(fold_code(code), []).append(mapped)
    return alike


def is_empty(value: Json, kind: str) -> bool:
    """0 is a value of a number, and false of a boolean. For all other types they mean that there is no value."""
    if value is False:
        return kind != "boolean"
    return value is None or value in ("", [], {})


def _split_values(mapped: MappedField, value: Json) -> list[Json]:
    """PHP sends a list with gaps as a map; but one file is a map, too."""
    if isinstance(value, dict) and not (mapped.type == "file" and "id" in value):
        value = list(value.values())
    return [part for part in value if not is_empty(part, mapped.type)] if isinstance(value, list) else [value]


def _count_if_lost(converted: str | None, done: ComposedRecord) -> str | None:
    if converted is None:
        done.lose("custom_values_left")
    return converted
