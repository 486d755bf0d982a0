"""The fields of a record on the wire, and the treatment of the links in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from b24migrate.model.records import Json
from b24migrate.model.source_records import SourceRecord


class Unresolved(Exception):
    """A record that the target does not have, as far as the links know."""

    def __init__(self, stream: str, source_id: str, what: str = "") -> None:
        self.what = what or f"{stream.partition('.')[0]} {source_id}"  # a code that was read back is a record's
        super().__init__(self.what)
        self.stream = stream
        self.source_id = source_id


class Resolve(Protocol):
    """Which id or code the source's became on the target."""

    def __call__(self, stream: str, source_id: str) -> str:
        """Raises Unresolved."""
        ...

    def field(self, code: str) -> str | None:
        """The target's code of a custom field, whichever entity has it."""
        ...

    def missed(self, what: str) -> None:
        """Notes that something inside a tree is not changed."""
        ...


# the maps around a place in a tree, from outside in, each with the key that it is under
Around: TypeAlias = Sequence[tuple[str, Mapping[str, Json]]]


class Kind(StrEnum):
    TEXT = "text"
    RICH = "rich"  # a text with ids of the source inside
    FLAG = "flag"
    WHOLE = "int"
    NUMBER = "num"
    TIME = "time"
    DAY = "day"
    AS_IS = "as is"
    REF = "ref"
    REFS = "refs"
    CODED = "coded"  # ids inside a code such as `D_12`; of a list each part
    FAMILY = "family"  # several fields of the wire, with ids in their names too
    TREE = "tree"  # anything: its texts are rich, or coded, and the keys in `inside` hold ids
    ROWS = "rows"  # a list of objects: the keys in `inside` hold ids, and no object is omitted
    FILE = "file"
    FILES = "files"


class Policy(StrEnum):
    """The treatment of a reference that cannot be resolved."""

    REQUIRE = "require"
    PLACEHOLDER = "placeholder"  # the configured user; where none is configured, require
    DROP = "drop"
    EXISTING = "existing"  # require where the source has the record, drop where it has it no longer


Take: TypeAlias = Callable[[SourceRecord], Json]


Code: TypeAlias = Callable[[SourceRecord, Json, Resolve], Json]


ABSENT: Json = object()


EMPTIED = "emptied"  # of the extras of a changed record: names of fields that were filled before and are empty now


UNTOLD = "untold"  # the method whose answer about a custom field could not be parsed


@dataclass(frozen=True, slots=True)
class TreeRules:
    """How IDs are found in a tree."""

    # whose ID is under a key, by the maps around it
    under: Callable[[SourceRecord, Around, str, str], tuple[str, str] | None]
    # what a text under a key became, if the key shows its type
    entry: Callable[[SourceRecord, Around, str, str, Resolve], str | None]
    # whose ID a key is, by the key that its map is under
    key: Callable[[str, str], tuple[str, str] | None]
    # which part of a list is under which key, if the list says it itself
    filed: Callable[[Sequence[Json]], tuple[int, str] | None]
    doubts: Callable[[Json], Iterable[tuple[str, str]]] = lambda _: ()  # places that a user must check


@dataclass(frozen=True, slots=True)
class Field:
    """One field on the wire, where its value comes from and what it is."""

    name: str
    kind: Kind = Kind.TEXT
    take: Take | None = None  # default: the payload's field of the same name
    to: str = ""  # the stream it refers to
    when: Callable[[SourceRecord], bool] | None = (
        None  # where it refers to that stream only sometimes; else it is a text
    )
    policy: Policy = Policy.DROP
    late: bool = False  # the referred record may come later: sent in a second pass
    inside: Mapping[str, str] = field(default_factory=dict)  # of a tree, of rows: key -> the stream of its ids
    keep: frozenset[str] = frozenset()  # ids that mean themselves, such as "0" for the system
    beyond: bool = False  # more than the contract names: a target may not know it
    beyond_keys: frozenset[str] = frozenset()  # of rows: the same of their keys
    unless: str = ""  # a target that announces this stream knows what is `beyond`
    # the record it names is sent too, even if a rule of its stream excludes it
    brings: bool = False
    undated: bool = False  # the portal takes a deleted record out of it, and no date of this one moves
    waits: bool = False  # a record of the same stream that is sent first, unless they wait for one another in a circle
    code: Code | None = None
    names: tuple[str, ...] = ()  # the streams that a code may name
    some: bool = False  # of a list of codes: one of them must be on the target
    beside: str = ""  # an aid: the ids of the record's children in it are among the extras that `take` sees
    tree: TreeRules | None = None  # of a tree: how IDs are found beyond the keys in `inside`

    @property
    def streams(self) -> tuple[str, ...]:
        named = (self.to, *self.names) if self.to else self.names
        return (*named, *self.inside.values()) if self.kind is Kind.ROWS else named


def texts(*names: str, beyond: bool = False) -> tuple[Field, ...]:
    return tuple(Field(name, beyond=beyond) for name in names)


def flags(*names: str, beyond: bool = False) -> tuple[Field, ...]:
    return tuple(Field(name, Kind.FLAG, beyond=beyond) for name in names)


def times(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name, Kind.TIME) for name in names)


def days(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name, Kind.DAY) for name in names)


def wholes(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name, Kind.WHOLE) for name in names)


@dataclass(frozen=True, slots=True)
class Rest:
    """Every other filled field whose name starts with one of the prefixes, unchanged."""

    prefixes: tuple[str, ...]
    skip: frozenset[str] = frozenset()
