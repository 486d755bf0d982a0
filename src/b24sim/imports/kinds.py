"""The types of fields: each checks one JSON value and collects the records that it refers to."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

Fields = Mapping[str, object]
Address = tuple[str, str]
"""A record of the box: its stream and its id there."""


class ItemFault(Exception):
    """One item of a batch is refused; its neighbours are not affected."""

    def __init__(self, code: str, field_name: str | None, message: str, *, retry: bool = False):
        super().__init__(message)
        self.code, self.field, self.message, self.retry = code, field_name, message, retry

    def body(self) -> dict[str, object]:
        return {"code": self.code, "field": self.field, "message": self.message, "retry": self.retry}


class Lookup(Protocol):
    """The queries of a check to the box."""

    @property
    def root_department(self) -> str: ...

    def get(self, stream: str, target_id: str) -> Fields | None: ...

    def find(self, stream: str, names: tuple[str, ...], values: tuple[object, ...]) -> str | None: ...

    def ids(self, stream: str) -> Iterable[str]: ...


@dataclass
class Inspection:
    """The check of one item under way: where to look things up, which field is at hand, what was referred to.

    `itself` is the id of the record when it exists already."""

    box: Lookup
    itself: str | None = None
    field: str = ""
    refers: set[Address] = dataclasses.field(default_factory=set)

    def refuse(self, message: str) -> ItemFault:
        return ItemFault("VALIDATION", self.field, f"{self.field}: {message}")

    def refer(self, stream: str, target_id: str, missing: str) -> Fields:
        found = self.box.get(stream, target_id)
        if found is None:
            raise ItemFault(missing, self.field, f"{self.field}: {stream} has no record {target_id}")
        self.refers.add((stream, target_id))
        return found


class Kind(Protocol):
    def check(self, value: object, seen: Inspection) -> None: ...


@dataclass(frozen=True)
class Plain:
    """A value that is checked without the box."""

    wanted: str
    accepts: Callable[[object], bool]

    def check(self, value: object, seen: Inspection) -> None:
        if not self.accepts(value):
            raise seen.refuse(f"must be {self.wanted}")


@dataclass(frozen=True)
class Ref:
    """The id of a record of `stream`; `also` are ids that need no record behind them."""

    stream: str
    missing: str = "PARENT_NOT_FOUND"
    also: frozenset[str] = frozenset()

    def check(self, value: object, seen: Inspection) -> None:
        if not isinstance(value, str):
            raise seen.refuse("an id must be a string")
        if value not in self.also:
            seen.refer(self.stream, value, self.missing)


@dataclass(frozen=True)
class Many:
    """A list, each element of one kind."""

    of: Kind

    def check(self, value: object, seen: Inspection) -> None:
        if not isinstance(value, list):
            raise seen.refuse("must be a list")
        for element in value:
            self.of.check(element, seen)


@dataclass(frozen=True)
class Shape:
    """An object whose named members have kinds of their own; further members are carried as they are."""

    members: Mapping[str, Kind]
    required: tuple[str, ...] = ()

    def check(self, value: object, seen: Inspection) -> None:
        if not isinstance(value, dict):
            raise seen.refuse("must be an object")
        for name in self.required:
            if value.get(name) is None:
                raise seen.refuse(f"{name} is missing")
        for name, kind in self.members.items():
            if value.get(name) is not None:
                kind.check(value[name], seen)


@dataclass(frozen=True)
class Tally:
    """An object from words to whole numbers."""

    def check(self, value: object, seen: Inspection) -> None:
        if not isinstance(value, dict) or not all(is_int(count) for count in value.values()):
            raise seen.refuse("must be an object of whole numbers")


@dataclass(frozen=True)
class Prefixed:
    """A letter code and the id of what it stands for, such as `SG12`; `words` stand for themselves."""

    prefixes: Mapping[str, Ref]
    words: frozenset[str] = frozenset()

    def check(self, value: object, seen: Inspection) -> None:
        if isinstance(value, str) and value in self.words:
            return
        match = re.fullmatch(r"([A-Z]+_?)([0-9]+)", value) if isinstance(value, str) else None
        ref = self.prefixes.get(match[1]) if match else None
        if match is None or ref is None:
            raise seen.refuse(f"{value!r} is not a code known here")
        ref.check(match[2], seen)


def is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_text(value: object) -> bool:
    return isinstance(value, str)


def is_date(value: object) -> bool:
    return _parses(value, r"\d{4}-\d\d-\d\d", date.fromisoformat)


def is_utc_time(value: object) -> bool:
    return _parses(value, r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", datetime.fromisoformat)


def _parses(value: object, pattern: str, parse: Callable[[str], object]) -> bool:
    if not isinstance(value, str) or not re.fullmatch(pattern, value, re.ASCII):
        return False
    try:
        parse(value)
    except ValueError:
        return False
    return True


def one_of(*words: str) -> Plain:
    return Plain("one of " + ", ".join(words), lambda value: value in words)


TEXT = Plain("text", is_text)
BOOL = Plain("true or false", lambda value: isinstance(value, bool))
INT = Plain("a whole number", is_int)
NUM = Plain("a number", is_number)
DATE = Plain("a date such as 2024-03-01", is_date)
TIME = Plain("a time in UTC such as 2024-03-01T09:00:00Z", is_utc_time)
OBJECT = Plain("an object", lambda value: isinstance(value, dict))
TREE = Plain("a list or an object", lambda value: isinstance(value, (list, dict)))
ANY = Plain("anything", lambda _: True)
FILE = Ref("files", "FILE_NOT_FOUND")
USER = Ref("users", "USER_NOT_FOUND")
USER_OR_SYSTEM = Ref("users", "USER_NOT_FOUND", frozenset({"0"}))
OWNER = Ref("users", "OWNER_NOT_FOUND")
