"""The box's custom fields: made once, with their list values, and the kinds of value they take."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from b24sim.imports.field_wish import Wish
from b24sim.imports.kinds import (
    ANY,
    BOOL,
    DATE,
    FILE,
    TEXT,
    TIME,
    USER,
    ItemFault,
    Kind,
    Lookup,
    Many,
    Plain,
    is_number,
    is_text,
)
from b24sim.imports.stream import Stream

NUMBER_OR_TEXT = Plain("a number, or a number in a string", lambda value: is_number(value) or is_text(value))
KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("string", "url", "address", "money", "crm_status"), TEXT),
    **dict.fromkeys(("integer", "double"), NUMBER_OR_TEXT),
    **dict.fromkeys(("enumeration", "crm", "iblock_section", "iblock_element"), ANY),
    "boolean": BOOL,
    "date": DATE,
    "datetime": TIME,
    "file": FILE,
    "employee": USER,
}
Place = tuple[str, str | None]
"""Where a field lives: the stream and, where the stream's records are of several types, the type."""


@dataclass
class CustomField:
    code: str
    type: str
    multiple: bool
    options: dict[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        one = KINDS[self.type]
        if self.type == "enumeration":
            one = Plain("the id of one of its list values", lambda value: is_text(value) and value in self.options)
        return Many(one) if self.multiple else one


class CustomFields:
    def __init__(self, first_option_id: int = 71_001):
        self._fields: defaultdict[Place, dict[str, CustomField]] = defaultdict(dict)
        self._next_option_id = first_option_id

    def of(self, stream: str, type_id: str | None = None) -> Mapping[str, CustomField]:
        return self._fields.get((stream, type_id), {})

    def declare(self, stream: Stream, type_id: str | None, wish: Wish, box: Lookup) -> dict[str, object]:
        """Makes the field or completes its list values; doing it twice changes nothing."""
        try:
            _refuse_impossible(stream, type_id, wish, box)
            target = _target_code(wish.code, type_id)
            if stream.builtin(target) is not None:
                return wish.answer(target, "exists", {})
            is_new, found = self._made(stream.name, type_id, target, wish)
            return wish.answer(target, "created" if is_new else "exists", self._options(found, wish))
        except ItemFault as fault:
            return wish.refusal(fault)

    def _made(self, stream: str, type_id: str | None, target: str, wish: Wish) -> tuple[bool, CustomField]:
        """Whether the field is new, and the field."""
        fields = self._fields[stream, type_id]
        found = fields.get(target)
        if found is None:
            fields[target] = CustomField(target, wish.type, wish.multiple)
            return True, fields[target]
        if found.type != wish.type:
            raise ItemFault("TYPE_MISMATCH", "type", f"{target} exists with the type {found.type}, not {wish.type}")
        return False, found

    def _options(self, found: CustomField, wish: Wish) -> dict[str, str]:
        """Source option id -> the box's. XML_IDs are compared first: two values may be spelled alike."""
        matched: dict[str, str] = {}
        for name in ("xml_id", "value"):
            for option in wish.options:
                same = [
                    target_id
                    for target_id, mine in found.options.items()
                    if target_id not in matched.values() and option.get(name) and mine.get(name) == option[name]
                ]
                if str(option["id"]) not in matched and same:
                    matched[str(option["id"])] = same[0]
        for option in wish.options:
            if str(option["id"]) not in matched:
                matched[str(option["id"])] = self._new_option(found, option)
        return matched

    def _new_option(self, found: CustomField, option: Mapping[str, object]) -> str:
        target_id = str(self._next_option_id)
        self._next_option_id += 1
        found.options[target_id] = {name: value for name, value in option.items() if name != "id"}
        return target_id


def _refuse_impossible(stream: Stream, type_id: str | None, wish: Wish, box: Lookup) -> None:
    if stream.typed_by is not None and (type_id is None or box.get("crm_types", type_id) is None):
        raise ItemFault("TYPE_NOT_FOUND", "type", f"there is no smart process {type_id}")
    if not re.fullmatch(r"UF_[A-Z0-9_]+", wish.code):
        raise ItemFault("VALIDATION", "code", f"{wish.code} is not a custom field's code")
    if wish.type not in KINDS:
        raise ItemFault("TYPE_UNSUPPORTED", "type", f"the box has no fields of the type {wish.type}")


def _target_code(code: str, type_id: str | None) -> str:
    """A smart process has its own number inside the codes of its fields."""
    return code if type_id is None else re.sub(r"^UF_CRM_\d+_(?=.)", f"UF_CRM_{type_id}_", code)
