"""How custom fields are read from each kind of method, and put into one form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from b24migrate.model.answers import open_entry, open_list
from b24migrate.model.errors import Permanent
from b24migrate.model.fields import UNTOLD
from b24migrate.model.records import Args, Json
from b24migrate.model.source_records import StagedRecords
from b24migrate.model.values import reference
from b24migrate.ports import Answer, Command, Source

Read: TypeAlias = Callable[[Source, StagedRecords], list[Args]]
# The vendor's languages: api-reference/crm/data-types.md, "Language Identifiers", and those in the sample of
# crm-deal-userfield-get.md besides. No method lists the languages of a portal.
LANGUAGES = (
    *("ru", "en", "de", "ar", "br", "fr", "hi", "id", "in", "it", "ja"),
    *("kz", "la", "ms", "pl", "sc", "tc", "th", "tr", "ua", "vn"),
)
LABELS = ("EDIT_FORM_LABEL", "LIST_COLUMN_LABEL", "LIST_FILTER_LABEL")
# Every portal has them; the contract names them among a task's own fields.
OF_EVERY_TASK = frozenset({"UF_CRM_TASK", "UF_TASK_WEBDAV_FILES", "UF_MAIL_MESSAGE"})
# The types that a `crm` field can allow, and the prefixes of their codes.
PREFIXES = {
    "LEAD": "L",
    "DEAL": "D",
    "CONTACT": "C",
    "COMPANY": "CO",
    "QUOTE": "Q",
    "INVOICE": "I",
    "ORDER": "O",
    "SMART_INVOICE": "SI",
}
SMART_TYPE = "DYNAMIC_"
ASKED_AGAIN = 2  # times, after an answer that makes no sense
TEXTS = ("FIELD_NAME", "fieldName", "USER_TYPE_ID", "userTypeId")
SCALARS = ("MULTIPLE", "MANDATORY", "SORT", "multiple", "mandatory", "sort")


def list_fields(method: str) -> Read:
    """`user.userfield.list`, `crm.<entity>.userfield.list`: labels come only when a language is named."""
    asked = {"order": {"ID": "ASC"}}

    def read(source: Source, _: StagedRecords) -> list[Args]:
        """The fields, and their labels in all languages: one request where a page holds them all."""
        named = [{**asked, "filter": {"LANG": language}} for language in LANGUAGES]
        first, *others = source.batch([Command(method, params) for params in (asked, *named)])
        if first.error is not None:
            raise first.error
        labels = _labels_by_language(source, method, list(zip(LANGUAGES, named, others, strict=True)))
        fields = _rows(source, method, asked, first=first)
        return [_normal({**field, "LABELS": labels.get(str(field["FIELD_NAME"]), {})}) for field in fields]

    return read


def _labels_by_language(
    source: Source, method: str, answers: Sequence[tuple[str, Args, Answer]]
) -> dict[str, dict[str, str]]:
    """Field code -> language -> label. A field without a label in a language has null there; some methods answer with
    its code instead."""
    labels: dict[str, dict[str, str]] = {}
    for language, asked, answer in answers:
        if isinstance(answer.error, Permanent):
            continue  # it takes the language for a filter: a field without labels is called by its code
        answer.require()
        for row in _rows(source, method, asked, first=answer):
            code = str(row["FIELD_NAME"])
            label = next((row[name] for name in LABELS if isinstance(row.get(name), str) and row[name]), code)
            if label != code:
                labels.setdefault(code, {})[language] = label
    return labels


def task_fields() -> Read:
    """`task.item.userfield.getlist`, whose parameters are positional; labels are returned field by field."""

    def read(source: Source, _: StagedRecords) -> list[Args]:
        found = _rows(source, "task.item.userfield.getlist", {"ORDER": {"ID": "ASC"}, "FILTER": {}})
        rows, fields = _separate_unsound(row for row in found if row["FIELD_NAME"] not in OF_EVERY_TASK)
        commands = [Command("task.item.userfield.get", {"ID": row.get("ID")}) for row in rows]
        for row, command, answer in zip(rows, commands, source.batch(commands), strict=True):
            details = _details(source, command, answer)
            fields.append(_normal({**row, "LABELS": _labels(details), **_unread_details(details)}))
        return fields

    return read


def type_fields(types: str) -> Read:
    """`userfieldconfig.list` for every staged smart process, by whose entityTypeId its fields are known from then on;
    options and labels are returned field by field."""

    def read(source: Source, staged: StagedRecords) -> list[Args]:
        # Those of `CRM_<id>`, which is another number. A type that came without its number has no records to fill them.
        numbers = ((one, reference(one.payload.get("entityTypeId"))) for one in staged(types))
        return [
            {**field, "OF": number}
            for one, number in numbers
            if number is not None
            for field in _read_config(source, f"CRM_{one.id}")
        ]

    return read


def config_fields(owner: str) -> Read:
    """`userfieldconfig.list` of record types whose fields no older method lists."""
    return lambda source, _: _read_config(source, owner)


# ---------------------------------------------------------------- rows


def _rows(
    source: Source,
    method: str,
    params: Args,
    *,
    items: tuple[str, ...] = (),
    name: str = "FIELD_NAME",
    first: Answer | None = None,
) -> Iterator[Mapping[str, Json]]:
    """All of them in one answer or page by page: no method returns the size of a page. Each field once, so that a
    portal which answers its first page again and again comes to an end."""
    met: set[str] = set()
    start: int | None = 0
    while start is not None:
        asked = {**params, "start": start} if start else params
        answer = first or source.call(method, asked)
        first = None
        found = [_decode(raw) for raw in open_list(answer.result, items, method).items]
        sound = [row for row in found if _is_sound(row, name)]
        for _ in range(ASKED_AGAIN):
            if len(sound) == len(found):
                break
            answer = source.call(method, asked)
            found = [_decode(raw) for raw in open_list(answer.result, items, method).items]
            sound = [row for row in found if _is_sound(row, name)]
        rows = [row for row in sound if str(row[name]) not in met]
        yield from rows
        for _ in range(len(found) - len(sound)):
            yield {"FIELD_NAME": "", name: "", UNTOLD: method}
        met.update(str(row[name]) for row in rows)
        start = answer.next if rows else None


def _decode(raw: bytes) -> Json:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None


def _is_sound(row: Json, name: str = "") -> bool:
    """Whether what is needed of a field has a type that can be understood."""
    if not isinstance(row, dict) or (name and not (isinstance(row.get(name), (str, int)) and row[name])):
        return False
    for one in TEXTS:
        if row.get(one) is not None and not isinstance(row[one], str):
            return False
    for one in SCALARS:
        if row.get(one) and isinstance(row[one], (dict, list)):
            return False
    options = row.get("LIST") or row.get("enum") or []
    members = options.values() if isinstance(options, dict) else options
    return isinstance(options, (list, dict)) and all(
        isinstance(one, dict) and isinstance(one.get("ID", one.get("id")), (str, int)) for one in members
    )


def _details(source: Source, command: Command, answer: Answer, name: str = "") -> Mapping[str, Json]:
    """The details of one field; None if the method refuses. An invalid answer is requested again, and then the field is
    read without its details, so that it does not prevent the reading of others."""
    for left in reversed(range(ASKED_AGAIN + 1)):
        if isinstance(answer.error, Permanent):
            return {}
        result = answer.require()
        try:
            field = open_entry(result, name, command.method) if name else _decode(result)
        except Permanent:
            field = None
        if _is_sound(field):
            return dict(field)
        if left:
            answer = source.call(command.method, command.params)
    return {UNTOLD: command.method}


def _separate_unsound(rows: Iterable[Mapping[str, Json]]) -> tuple[list[Mapping[str, Json]], list[Args]]:
    """Those that make sense, and the others."""
    found = list(rows)
    return [row for row in found if UNTOLD not in row], [row for row in found if UNTOLD in row]


def _unread_details(details: Mapping[str, Json]) -> Args:
    return {UNTOLD: details[UNTOLD]} if UNTOLD in details else {}


def _labels(field: Mapping[str, Json]) -> dict[str, str]:
    """In each language the first label that is filled: a field may have one for its column only."""
    translations = [field[name] for name in reversed(LABELS) if isinstance(field.get(name), dict)]
    return {str(language): str(label) for labels in translations for language, label in labels.items() if label}


# ---------------------------------------------------------------- smart processes


def _read_config(source: Source, owner: str) -> list[Args]:
    asked = {"moduleId": "crm", "order": {"id": "ASC"}, "filter": {"entityId": owner}}
    found = _rows(source, "userfieldconfig.list", asked, items=("fields",), name="id")
    # The filter is documented in a tutorial only, so the owner is looked at as well.
    rows, fields = _separate_unsound(row for row in found if row.get("entityId", owner) == owner)
    commands = [Command("userfieldconfig.get", {"moduleId": "crm", "id": row["id"]}) for row in rows]
    for row, command, answer in zip(rows, commands, source.batch(commands), strict=True):
        details = _details(source, command, answer, "field")
        fields.append({**_upper(row, details), **_unread_details(details)})
    return fields


def _upper(row: Mapping[str, Json], details: Mapping[str, Json]) -> Args:
    """The field from the list with its details, under the names of the older methods."""
    whole = {**row, **details}
    field = {_upper_name(name): value for name, value in whole.items()}
    options = [{_upper_name(name): value for name, value in one.items()} for one in _values(field.pop("ENUM", None))]
    return _normal({**field, "LIST": options, "LABELS": _labels(field)})


def _upper_name(name: str) -> str:
    """`userTypeId` is USER_TYPE_ID in the older methods."""
    return re.sub(r"(?=[A-Z])", "_", name).upper()


# ---------------------------------------------------------------- one form


def _normal(field: Mapping[str, Json]) -> Args:
    only = _only_type(field.get("SETTINGS")) if field.get("USER_TYPE_ID") == "crm" else ""
    return {**field, "LIST": list(_values(field.get("LIST"))), **({"ONLY": only} if only else {})}


def _only_type(settings: Json) -> str:
    """The prefix of the codes, if the field allows records of one type only."""
    allowed = [kind for kind, wanted in settings.items() if wanted == "Y"] if isinstance(settings, dict) else []
    prefixes = [prefix for prefix in map(_prefix, allowed) if prefix]
    return prefixes[0] if len(prefixes) == 1 else ""


def _prefix(kind: str) -> str:
    number = kind.removeprefix(SMART_TYPE)
    return f"T{int(number):x}" if kind.startswith(SMART_TYPE) and number.isdecimal() else PREFIXES.get(kind, "")


def _values(listed: Json) -> Iterable[Mapping[str, Json]]:
    """PHP sends a list with gaps as a map, and an empty map as a list."""
    return listed.values() if isinstance(listed, dict) else listed or ()
