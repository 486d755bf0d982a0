"""Which id or code on the box stands for the source's: by the keys that the box itself has noted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, time
from types import MappingProxyType

from tests.chaos.oracle.source import CRM, Fields, Json, Source

STREAM_OF = {number: stream for stream, number in CRM.items()}
LETTERS = {"D": "crm_deals", "C": "crm_contacts", "CO": "crm_companies", "L": "crm_leads", "Q": "crm_quotes"}
LETTERS["SI"] = "crm_invoices"
FIRST_SMART_TYPE = 128


class Custom(Fields):
    """A custom field on the box: its code there (`target`) and which list value is which there (`there`)."""


class Ids:
    """`held`: stream -> what the box has. `customs`: as `Source.custom`, completed by what the box says of them."""

    def __init__(
        self,
        source: Source,
        held: Mapping[str, Sequence[Json]],
        box_url: str,
        customs: Mapping[str, list[Custom]],
        options: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        """`options`: of each property of products, the source's id of a value -> the box's."""
        self.source = source
        self.box_url = box_url
        self.customs = customs
        self._options = options
        self._ids = {row["key"]: str(row["id"]) for rows in held.values() for row in rows}
        self._stages = {row["key"]: row["fields"]["STATUS_ID"] for row in held["crm_stages"]}

    def key(self, key: str) -> str | None:
        return self._ids.get(key)

    def record(self, stream: str, number: Json) -> str | None:
        return self._ids.get(f"source:{stream}:{number}")

    def records(self, stream: str, numbers: Iterable[Json]) -> list[str]:
        found = (self.record(stream, number) for number in numbers)
        return list(dict.fromkeys(one for one in found if one))

    # ------------------------------------------------------------ people

    def user(self, number: Json) -> str | None:
        return self.source.linked.get(str(number)) or self.record("users", number)

    def users(self, numbers: Iterable[Json]) -> list[str]:
        return list(dict.fromkeys(one for one in map(self.user, numbers) if one))

    def author(self, number: Json) -> str:
        """A deleted user becomes the placeholder."""
        return self.user(number) or self.source.placeholder

    # ------------------------------------------------------------ CRM

    def type(self, number: Json) -> str | None:
        if int(number) < FIRST_SMART_TYPE:
            return str(number)
        own = self.source.type_ids.get(str(number))
        return self.record("crm_types", own) if own else None

    def category(self, kind: Json, number: Json) -> str | None:
        return self.record("crm_categories", f"{kind}:{number}")

    def stage(self, dictionary: str, code: str) -> str | None:
        """The box's code, also for a stage that it had under another one."""
        return self._stages.get(f"source:crm_stages:{dictionary}:{code}")

    def item(self, kind: int, number: Json) -> str | None:
        """A record of any type."""
        if kind in STREAM_OF:
            return self.record(STREAM_OF[kind], number)
        return self.record("crm_spitems", f"{kind}:{number}")

    def crm_code(self, code: str) -> str | None:
        """`D_12`, or `T9c_3`: an item of the smart process 0x9c. None for what is not on the box."""
        letters, _, number = code.partition("_")
        if letters in LETTERS:
            found = self.record(LETTERS[letters], number)
            return found and f"{letters}_{found}"
        if not re.fullmatch(r"T[0-9a-f]+", letters):
            return None
        kind = int(letters[1:], 16)
        found, there = self.item(kind, number), self.type(kind)
        return f"T{int(there):x}_{found}" if found and there else None

    def option(self, number: str, value: Json) -> str | None:
        """A value of a property of products, by the property's id."""
        return self._options.get(f"source:crm_product_props:{number}", {}).get(str(value))

    # ------------------------------------------------------------ files

    def file(self, key: str) -> str | None:
        return self._ids.get(f"source:file:{key}")

    def files(self, keys: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(one for one in map(self.file, keys) if one))

    # ------------------------------------------------------------ custom values

    def custom(self, stream: str, row: Mapping[str, Json]) -> Fields:
        """Every custom field that has a value, under the box's code; None where the value has to stay behind."""
        made: Fields = {}
        for field in self.customs[stream]:
            value = row.get(field["code"])
            if value is None or value is False or value in ("", []):
                continue  # a number may be 0
            values = [self._value(field, one) for one in (value if isinstance(value, list) else [value])]
            there = [one for one in values if one is not None]
            made[field["target"]] = there if field["multiple"] else next(iter(there), None)
        return made

    def _value(self, field: Custom, value: Json) -> Json:
        from tests.chaos.oracle.texts import rewritten  # which needs the ids itself

        convert: dict[str, Callable[[Json], Json]] = {
            "string": lambda one: rewritten(self, one),
            "url": lambda one: rewritten(self, one),
            "enumeration": lambda one: field["there"].get(str(one)),
            "employee": self.user,
            "date": day,
            "datetime": utc,
            "boolean": lambda one: one in ("1", "Y"),
            "crm": lambda one: self._named(field, str(one)),
            "file": lambda one: self.file(f"crm:{one['id']}"),
            "iblock_element": lambda _: None,
        }
        return convert.get(field["type"], lambda one: one)(value)

    def _named(self, field: Custom, code: str) -> str | None:
        if not code.isdecimal():
            return self.crm_code(code)
        found = self.crm_code(f"{field['only']}_{code}")
        return found and found.partition("_")[2]


def utc(stamp: str | None) -> str | None:
    return datetime.fromisoformat(stamp).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if stamp else None


def day(stamp: str | None) -> str | None:
    """A day comes as midnight, or as a time whose clock part equals its offset."""
    if not stamp:
        return None
    when = datetime.fromisoformat(stamp)
    return (when if when.time() == time() else when.astimezone(UTC)).date().isoformat()


def yes(value: Json) -> bool | None:
    return None if value is None else value in ("Y", True, "1")
