"""The custom fields as tables for people: what the target lacks; and which field becomes which, to edit and load."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.custom_fields import (
    field_labels,
    field_map_rows,
    field_payload,
    is_excluded,
    is_multiple,
    loaded_code,
    read_source_fields,
    reason_not_to_copy,
)
from b24migrate.engine.phases.custom_fields import target_code as wanted_code
from b24migrate.messages import join, say
from b24migrate.model.errors import BadConfiguration, GateUnmet, Permanent
from b24migrate.model.records import Args, Json
from b24migrate.model.streams import CustomFields, Entity
from b24migrate.ports import CUSTOM_FIELDS, FIELD_MAP, RegisterRow

COLUMNS = ("entity", "source_field", "type", "label", "target_field", "included")
NEEDED = ("entity", "source_field", "target_field", "included")
CODE = re.compile(r"UF_[A-Z0-9_]{1,47}")  # fifty characters are all that a box takes
YES = frozenset({"yes", "y", "true", "1", "да", ""})
NO = frozenset({"no", "n", "false", "0", "нет"})
NOT_YET = "unknown until custom-fields-set"
MOST_MISTAKES = 20


# ---------------------------------------------------------------- what the target lacks


class Compared(NamedTuple):
    """A field of the source, and how it stands on the target."""

    entity: str
    field: str
    label: str
    type: str
    multiple: bool
    on_target: str  # exists, missing, type differs, unsupported, excluded, or that it is not known yet
    mapped_to: str
    note: str = ""


def compare(context: RunContext, entity: Entity) -> list[Compared]:
    """Asks both portals; writes nothing. Raises Permanent with the reason when the source's fields cannot be read."""
    custom = entity.custom_fields
    if custom is None:
        return []
    try:
        fields = read_source_fields(context, custom)
    except GateUnmet as closed:
        if closed.code != "insufficient_scope":
            raise
        raise Permanent(say("field.no_scope", scope=custom.scope), code=closed.code) from None
    if custom.types and not sum(context.store.counts(context.streams[custom.types].table).values()):
        first = context.owner[custom.types].name.replace("_", "-")
        raise Permanent(say("field.types_unread", stream=custom.types), hint=say("field.get_first", entity=first))
    before = {row.key: row.values for row in context.store.rows(CUSTOM_FIELDS, partition=entity.name)}
    known = Known(context.target.existing_fields(custom), field_map_rows(context, entity.name), before)
    return [_compare_field(entity.name, custom, field, known) for field in fields]


class Known(NamedTuple):
    """The fields of the target, the administrator's choices, and the results of the last time."""

    existing: Mapping[str, str] | None
    wished: Mapping[str, RegisterRow]
    before: Mapping[str, Mapping[str, Json]]


def _compare_field(entity: str, custom: CustomFields, field: Args, known: Known) -> Compared:
    code, kind = str(field["FIELD_NAME"]), str(field.get("USER_TYPE_ID") or "")
    wished = known.wished
    standing, note = _last_answer(known.before.get(code, {}))
    if is_excluded(code, wished):
        standing, note = "excluded", ""
    elif why := reason_not_to_copy(custom, kind):
        standing, note = "unsupported", say("field.values_left", why=why)
    elif known.existing is not None and standing != "unsupported":
        standing, note = _find_on_target(wanted_code(code, wished), kind, known.existing)
    mapped = str(wished[code].values.get("TargetField") or "") if code in wished else ""
    return Compared(entity, code, _one_label(field_labels(field)), kind, is_multiple(field), standing, mapped, note)


def _find_on_target(code: str, kind: str, existing: Mapping[str, str]) -> tuple[str, str]:
    if code not in existing:
        return "missing", ""
    return (
        ("exists", "")
        if existing[code] == kind
        else ("type differs", say("field.type_differs", code=code, kind=existing[code]))
    )


def _last_answer(row: Mapping[str, Json]) -> tuple[str, str]:
    """The target's answer to the last creation of the field: no other method shows its fields."""
    error = row.get("Error") or ""
    if row.get("State") in ("created", "exists"):
        return "exists", ""
    failed = {"TYPE_MISMATCH": "type differs", "TYPE_UNSUPPORTED": "unsupported"}
    return failed.get(error.partition(" ")[0], "missing" if error else NOT_YET), error


def _one_label(label: Mapping[str, str]) -> str:
    return label.get("en") or next(iter(label.values()), "")


# ---------------------------------------------------------------- which becomes which


class FieldLine(NamedTuple):
    entity: str
    source_field: str
    type: str
    label: str
    target_field: str
    included: str


def field_lines(context: RunContext) -> list[FieldLine]:
    """Every custom field that was read. Raises GateUnmet when none were."""
    found = [
        FieldLine(
            entity.name,
            row.key,
            str(row.values.get("Type") or ""),
            " ".join(str(row.values.get("Label") or "").split()),
            str(wished[row.key].values.get("TargetField") or "") if row.key in wished else "",
            "no" if is_excluded(row.key, wished) else "yes",
        )
        for entity in context.entities
        if entity.custom_fields is not None
        for wished in [field_map_rows(context, entity.name)]
        for row in context.store.rows(CUSTOM_FIELDS, partition=entity.name)
    ]
    if not found:
        fix = say("field.read_first")
        raise GateUnmet("custom-fields.read", say("field.none_read"), hint=fix)
    return found


class Wish(NamedTuple):
    """The change in one line of the file."""

    line: int
    entity: str
    code: str
    target: str
    included: bool


def load(context: RunContext, rows: Iterable[Sequence[str]]) -> int:
    """Saves the choices of the file, and returns how many fields it changes. Checks everything before it writes."""
    known = {(line.entity, line.source_field): line for line in field_lines(context)}
    mistakes: list[str] = []
    wishes = list(_parse_wishes(rows, known, mistakes))
    mistakes += _find_duplicates(context, wishes, known)
    if mistakes:
        more = [say("field.more", count=len(mistakes) - MOST_MISTAKES)] if len(mistakes) > MOST_MISTAKES else []
        raise BadConfiguration(join([*mistakes[:MOST_MISTAKES], *more], "\n"), hint=say("field.not_loaded"))
    changed = [row for wish in wishes if (row := _changed_row(context, wish)) is not None]
    context.store.write(FIELD_MAP, changed)
    return len(changed)


def _parse_wishes(
    rows: Iterable[Sequence[str]], known: Mapping[tuple[str, str], FieldLine], mistakes: list[str]
) -> Iterator[Wish]:
    head = next(iter(rows := iter(rows)), [])
    columns = [name.strip().lower() for name in head]
    if missing := [name for name in NEEDED if name not in columns]:
        raise BadConfiguration(
            say("field.lacks_column", names=missing), hint=say("field.columns", names=",".join(COLUMNS))
        )
    at = [columns.index(name) for name in NEEDED]
    met: dict[tuple[str, str], int] = {}
    for number, row in enumerate(rows, 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) <= max(at):
            mistakes.append(say("field.few_columns", number=number, names=",".join(COLUMNS)))
            continue
        entity, code, target, word = (row[place].strip() for place in at)
        wish = Wish(number, entity.replace("-", "_"), code, target, word.lower() in YES)
        if mistake := _describe_mistake(wish, word, known, met):
            mistakes.append(say("field.line", number=number, mistake=mistake))
        else:
            met[wish.entity, wish.code] = number
            yield wish


def _describe_mistake(
    wish: Wish, word: str, known: Mapping[tuple[str, str], FieldLine], met: Mapping[tuple[str, str], int]
) -> str:
    """The rest of a sentence, with what to do; empty when the line is right."""
    name = (wish.entity, wish.code)
    entities = {entity for entity, _ in known}
    if wish.entity not in entities:
        return say("field.unknown_entity", entity=wish.entity, names=sorted(entities))
    if name not in known:
        near = get_close_matches(wish.code, [code for entity, code in known if entity == wish.entity], n=1)
        guess = say("field.did_you_mean", near=near[0]) if near else say("field.fresh_file")
        return say("field.unknown_code", entity=wish.entity, code=wish.code, guess=guess)
    if name in met:
        return say("field.twice", code=wish.code, line=met[name])
    if wish.target and not CODE.fullmatch(wish.target):
        return say("field.bad_code", target=wish.target)
    if word.lower() not in YES | NO:
        return say("field.bad_included", word=word)
    return ""


def _find_duplicates(
    context: RunContext, wishes: Sequence[Wish], known: Mapping[tuple[str, str], FieldLine]
) -> Iterator[str]:
    """Two fields of one entity, or of one type of it, cannot become one. Those that the file leaves out count too."""
    owners = {
        (entity.name, row.key): str(field_payload(row).get("OF") or "")
        for entity in context.entities
        for row in context.store.rows(CUSTOM_FIELDS, partition=entity.name)
        if entity.custom_fields is not None
    }
    asked = {(wish.entity, wish.code): (wish.target or wish.code, wish.included, wish.line) for wish in wishes}
    kept = {name: (line.target_field or line.source_field, line.included == "yes", 0) for name, line in known.items()}
    takers: dict[tuple[str, str, str], str] = {}
    for (entity, code), (target, included, number) in sorted((kept | asked).items(), key=lambda one: one[1][2]):
        place = (entity, owners.get((entity, code), ""), target)
        if included and place in takers:
            yield say("field.both", number=number, code=code, other=takers[place], target=target)
        elif included:
            takers[place] = code


def _changed_row(context: RunContext, wish: Wish) -> RegisterRow | None:
    """The row to write, if the file changes anything. A field with another target must be created first. A target's own
    answer is not a choice: an exported file that is loaded unchanged changes nothing."""
    key = f"{wish.entity}:{wish.code}"
    before = context.store.read(FIELD_MAP, key)
    was = before.values if before else {"TargetField": "", "Transform": "", "Included": 1, "Options": None}
    is_same = wish.target in (str(was.get("TargetField") or ""), loaded_code(before))
    if is_same and bool(was.get("Included")) == wish.included:
        return None
    choice = {} if is_same else {"TargetField": wish.target, "Transform": wish.target, "Options": None}
    return RegisterRow(key, {**was, **choice, "Included": int(wish.included)})
