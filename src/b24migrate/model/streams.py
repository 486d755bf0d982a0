"""The words a stream is described in. A stream is a value; the phases read it, and no phase knows a stream by name."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias
from urllib.parse import urlsplit

import msgspec

from b24migrate.model.records import Args, Json, Page, Row, SetAside, Table

if TYPE_CHECKING:
    from b24migrate.model.activities import Part
    from b24migrate.model.fidelity import Rule
    from b24migrate.ports import Answer, Command, Source


class SourceRecord(NamedTuple):
    """A record as a stream's functions see it: decoded, with what other methods said about it."""

    id: str
    payload: Mapping[str, Json]
    extras: Mapping[str, Json]

    @property
    def parent(self) -> str:
        return self.id.rpartition(":")[0]

    @property
    def child(self) -> str:
        return self.id.rpartition(":")[2]


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
        """Says of something inside a tree that it stays as it was."""
        ...


# the maps around a place in a tree, from outside in, each with the key that it is under
Around: TypeAlias = Sequence[tuple[str, Mapping[str, Json]]]

# staged records by stream and id: what a stream's function may look up
Lookup: TypeAlias = Callable[[str, Sequence[str]], dict[str, SourceRecord]]


class Known(NamedTuple):
    """What is known here and helps to ask the source by id."""

    lookup: Lookup
    custom: Callable[[], Sequence[str]]  # the codes of the entity's custom fields: some methods want them named
    deep: bool = False  # whether a delta pass looks at what moves no date and no count
    staged: Callable[[], int] = lambda: 0  # how many records of the stream are known


# ---------------------------------------------------------------- how a stream is read


@dataclass(frozen=True, slots=True)
class Keyset:
    """Pages by ascending id: a filter `>id`, `start=-1`, and many of them chained inside one batch."""

    filter: str
    id: str
    ascending: Args
    descending: Args


@dataclass(frozen=True, slots=True)
class Offset:
    """Pages by `start`; the answer says `next` and `total`. Stop when `next` is missing, never by arithmetic."""


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole list in one answer."""


@dataclass(frozen=True, slots=True)
class Backward:
    """Pages of a parent's children from the newest down: each asks for ids below the lowest one seen. An empty page is
    the end."""

    last: str = "LAST_ID"
    limit: str = "LIMIT"
    size: int = 50

    def pages(self, count: int) -> int:
        return count // self.size + 1


@dataclass(frozen=True, slots=True)
class Slices:
    """Pages of a parent's children by offset; the answer gives `total`."""

    offset: str = "OFFSET"
    limit: str = "LIMIT"  # empty: the method has no such parameter
    size: int = 50
    also: str = ""  # another name of the offset, where portals differ

    def pages(self, count: int) -> int:
        return max(1, -(-count // self.size))


@dataclass(frozen=True, slots=True)
class Changes:
    """How a delta pass asks a listing by ascending id for what changed. It needs three questions, since each has holes:
    a filter by time, ids above the highest one known, and counts by range of ids."""

    time: str  # the field that a change moves
    newest: Args  # the parameters of the order in which the latest change comes first
    narrow: Args  # the parameters that bring the id and the time only
    shifted: bool = False  # the portal reads a time in a filter as local time of the webhook's owner


@dataclass(frozen=True, slots=True)
class Sweep:
    """How a delta pass finds changes of a listing by ascending id whose dates tell too little: it lists a few fields of
    every record and compares them with what is staged. What differs, is unknown here or changed lately is read by id;
    what is staged and not listed is asked for by id."""

    narrow: Args  # the parameters that bring only these fields
    fields: tuple[str, ...]  # as the stream's payload names them
    time: str = ""  # of the last change, to the second: a second change within it shows no other value


@dataclass(frozen=True, slots=True)
class Again:
    """Whose children a delta pass reads again: those of parents that are new, back or deleted, and of parents of which
    one of these fields has another value than in the last complete pass. The others keep their children, which count as
    seen. The parents belong to the same entity, and may be read in any way."""

    fields: tuple[str, ...]  # of the parent's payload or extras
    deep: Callable[[SourceRecord], bool] = lambda _: False  # the parents that a deep pass asks as well


@dataclass(frozen=True, slots=True)
class IdPages:
    """A method that lists the children of a parent below an id, the newest first, of which only the ids are read."""

    method: str
    size: int
    params: Callable[[SourceRecord, int], Args]  # for the parent and the id
    items: tuple[str, ...]
    id: str = "id"


@dataclass(frozen=True, slots=True)
class Tail:
    """How a delta pass reads the children of a parent again by a walk down from the newest (`Backward`): to the newest
    one that was known, and to those that are older than `days`, since edits and reactions move nothing. Where their
    number moved otherwise than the new ones tell, some were deleted: their ids are listed until as many are missing."""

    last: str  # the parent's field with the id of its newest child
    count: str  # and the one with their number: an estimate, whose differences count
    time: str  # the child's field with its time
    days: float = 3.0
    ids: IdPages | None = None  # longer pages than the reading has: a hint at what is missing, which the reading proves

    def is_older(self, payload: bytes, second: float) -> bool:
        """Whether a child is from before that second; one whose time cannot be read is not."""
        try:
            return datetime.fromisoformat(str(msgspec.json.decode(payload)[self.time])).timestamp() < second
        except (msgspec.DecodeError, KeyError, TypeError, ValueError, OverflowError):
            return False


Side: TypeAlias = Callable[[Args, Mapping[str, Json]], Args | None]


@dataclass(frozen=True, slots=True)
class Listing:
    """All records of a stream from one listing method. `items` is the path to the list inside the result."""

    method: str
    paging: Keyset | Offset | Whole
    params: Args = field(default_factory=dict)
    items: tuple[str, ...] = ()
    id: str = "ID"
    needs: str = ""  # a method that must exist on the portal for this reading to be chosen (`Entity.probes`)
    without: str = ""  # a method that the portal must lack for it to be chosen
    enrich: Callable[[Source, Sequence[Row]], list[Row]] | None = None
    # in a delta pass: the same, without asking for what is known of these rows and lasts
    enrich_again: Callable[[Source, Sequence[Row], Known], list[Row]] | None = None
    enrich_scope: str = ""
    enrich_some: Callable[[Source], int] = lambda _: 0  # rows that are asked about at a time; 0: all of a page
    select: str = ""  # the parameter in which custom fields must be named, or they do not come
    # how a delta pass finds what changed: it asks for it, or compares all; without both it reads everything
    changes: Changes | None = None
    sweep: Sweep | None = None


@dataclass(frozen=True, slots=True)
class Each:
    """A listing for each staged record of another stream. Ids are `<prefix>:<id>`."""

    of: str
    method: str  # for the inventory
    listing: Callable[[SourceRecord], Listing]
    prefix: Callable[[SourceRecord], str]
    needs: str = ""
    without: str = ""


class Progress(NamedTuple):
    """How far the children of one parent are read."""

    parent: SourceRecord
    after: int = 0  # the ID the walk has reached, or the offset; 0: not started
    got: int = 0
    via: int = -1  # the webhook that is asked, where it is not the one that the reading says
    first: int = 0  # the first ID of a list by offset: behind its end old methods begin again (§A7), whatever its total
    # where a walk down may end before it has met everything: at this ID, if what is there is older than this second
    floor: int = 0
    since: int = 0


ANY = ""


class Named(NamedTuple):
    """The ID for a name, or why it is unknown."""

    id: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name by which children refer to their parent. The source is asked once for each name, and the answer is
    kept in the store."""

    of: Callable[[Args], str]  # the name in a row; empty if the row has the ID itself
    # by name the webhook that likely sees it -> the ids behind them; with ANY, what is so for every name
    ask: Callable[[Source, Mapping[str, int]], Mapping[str, Named]]
    at_once: int


@dataclass(frozen=True, slots=True)
class PerParent:
    """The children of each staged parent. Their id is `<parent>:<id>`."""

    of: str
    method: str
    params: Callable[[SourceRecord], Args]
    paging: Whole | Backward | Slices
    items: tuple[str, ...] = ()
    id: str = "id"
    # which webhook is asked, of those with these owners
    via: Callable[[SourceRecord, Sequence[str]], int] = lambda parent, _: int(parent.extras.get("via", 0))
    others: bool = False  # where one webhook is refused, the next is asked
    everybody: bool = False  # each webhook is asked: they see different things
    only: Callable[[SourceRecord], bool] = lambda _: True  # the parents that have any
    expected: Callable[[SourceRecord], int | None] = lambda _: None  # how many the parent says it has; an estimate
    # whether the parent says that it has any; None: it does not say. Of those that say no only a sample is asked, and
    # all of them as soon as one of the sample has some.
    has_any: Callable[[SourceRecord], bool | None] = lambda _: None
    elsewhere: Callable[[SourceRecord], bool] = lambda _: False  # the portal may have moved them: likewise a sample
    # parents that have no count: a page that is less than half full ends the walk, except in a sample
    uncounted: Callable[[SourceRecord], bool] = lambda _: False
    scope: str = ""  # without it this reading is left out
    side: str = ""  # a list beside the items whose members belong to them, joined by `join`
    join: Side | None = None
    needs: str = ""
    without: str = ""
    again: Again | None = None  # whose children a delta pass reads again; None: those of all parents
    empty_is_alarm: bool = False
    mark: str = ""  # before the child's own id, where a stream has children of two kinds
    row_key: Callable[[SourceRecord, Args], str] | None = (
        None  # where the parent is not what the child's id begins with
    )
    conceals: Callable[[SourceRecord, Args, Sequence[str]], str | None] = lambda *_: (
        None
    )  # why a row is not what it should be
    # with `row_key`: the same child may be in the lists of several parents, so the totals of these lists say nothing of
    # their number, and whether a child is deleted it is asked for by its own id (`Stream.fetch`)
    shared: bool = False
    lists: Callable[[SourceRecord], int] = lambda _: 1  # with `shared`: in how many of them a child is, for a forecast
    keeps: Callable[[SourceRecord], Args] = lambda _: {}  # what a child keeps of its parent, in its extras
    enrich: Callable[[Source, Sequence[Row]], list[Row]] | None = None  # what other methods tell of the children
    enrich_scope: str = ""
    alias: Alias | None = None  # with `row_key`: children that tell another name get the id behind it into their key
    single: bool = False  # with `row_key`: the answer is the only child; an error says that there is none
    unwrapped: bool = False  # some portals answer with the list itself, without the keys of `items`
    bare: bool = False  # that it is there is all one wants to know
    twins: str = ""  # the mark of children, read before, that may be the same
    same: Callable[[SourceRecord, SourceRecord], bool] = lambda *_: False
    tail: Tail | None = None  # of what a delta pass reads of a parent's children; None: all
    # with `tail`: whether a new child tells that its parent changed, which a delta pass then reads again by
    # `Gather.fetch`
    tells: Callable[[SourceRecord], bool] | None = None
    # the newest come first, by offset: a delta pass reads on only where the first page or the total is another
    newest: bool = False
    # whether the portal shows the children of a parent, by the owners of the webhooks; of the others it tells the
    # number, which a delta pass does not count again
    shown: Callable[[SourceRecord, Sequence[str]], bool] | None = None
    # children that a parent counts and the method does not list: those that can be read otherwise, and the others. It
    # is given the parents with the ids that were listed, and tells which scopes are granted.
    unlisted: Callable[[Source, Mapping[str, tuple[SourceRecord, set[str]]], Callable[[str], bool]], Page] | None = None


def person_name(parent: SourceRecord) -> str:
    """Who is meant, for people to read."""
    name = f"{parent.payload.get('NAME') or ''} {parent.payload.get('LAST_NAME') or ''}".strip()
    return name or f"user {parent.id}"


@dataclass(frozen=True, slots=True)
class Gather:
    """The escape hatch: a function that reads on from a cursor by itself."""

    method: str  # for the inventory
    read: Callable[[Source, Args, int], Page]  # source, cursor, limit (0 = none)
    needs: str = ""
    without: str = ""
    # in a delta pass: all records too, but what is known of one that is as it was need not be asked again
    again: Callable[[Source, Args, Known], Page] | None = None
    fetch: Fetch | None = None  # some of them by id, with everything that is asked about them


Reading: TypeAlias = Listing | Each | PerParent | Gather


# ---------------------------------------------------------------- how a record is sent


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
    ROWS = "rows"  # a list of objects: the keys in `inside` hold ids, and none of the objects is left out
    FILE = "file"
    FILES = "files"


class Policy(StrEnum):
    """What to do when a reference cannot be resolved."""

    REQUIRE = "require"
    PLACEHOLDER = "placeholder"  # the configured user; where none is configured, require
    DROP = "drop"
    EXISTING = "existing"  # require where the source has the record, drop where it has it no longer


Take: TypeAlias = Callable[[SourceRecord], Json]
Code: TypeAlias = Callable[[SourceRecord, Json, Resolve], Json]
ABSENT: Json = object()
EMPTIED = "emptied"  # of the extras of a changed record: names of fields that were filled before and are empty now
UNTOLD = "untold"  # of a custom field: the method whose answer about it could not be read


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
    # the record it names comes with it, also where a rule of its stream leaves it out
    brings: bool = False
    undated: bool = False  # the portal takes a deleted record out of it, and no date of this one moves
    waits: bool = False  # a record of the same stream that is sent first, unless they wait for one another in a circle
    code: Code | None = None
    names: tuple[str, ...] = ()  # the streams that a code may name
    some: bool = False  # of a list of codes: one of them must be on the target
    beside: str = ""  # an aid: the ids of the record's children in it are among the extras that `take` sees
    # of a tree: whose id is under a key, by the maps around it
    under: Callable[[SourceRecord, Around, str, str], tuple[str, str] | None] | None = None
    # of a tree: what a text under a key became, where the key says of what kind it is
    entry: Callable[[SourceRecord, Around, str, str, Resolve], str | None] | None = None
    # of a tree: whose id a key is, by the key that its map is under
    key: Callable[[str, str], tuple[str, str] | None] = lambda _name, _key: None
    # of a tree: which part of a list is under which key, where the list says it itself
    filed: Callable[[Sequence[Json]], tuple[int, str] | None] = lambda _: None
    doubts: Callable[[Json], Iterable[tuple[str, str]]] | None = None  # of a tree: places that a person must check

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


class FileRef(NamedTuple):
    """A file that a record refers to. With a `url` it is fetched from there, otherwise its link is asked for by id."""

    kind: str
    id: str
    name: str = ""
    size: int | None = None
    url: str = ""
    place: str = ""  # what a link may need besides the id, such as the dialog it was posted in
    version: str = ""  # where one key may have other bytes later, such as a person's photo: what tells them apart

    @classmethod
    def of_link(cls, kind: str, owner: str, url: str) -> FileRef:
        """A picture of a record: another one has another path, while tokens in a link may differ each time."""
        try:
            path = urlsplit(url).path
        except ValueError:  # no web address: downloading it will say so
            path = url
        return cls(kind, owner, url=url, version=path)

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True)
class Rest:
    """Every other filled field whose name begins with one of the prefixes, as it is."""

    prefixes: tuple[str, ...]
    skip: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Mention:
    """How texts refer to a record of the stream: a pattern whose one group is the id. `link`: inside a portal URL;
    `prefix`: what the stream's own ids have before the number, or those of the first group; `ids`: of which stream each
    group is, when there are several and they are not a parent and its child."""

    pattern: str
    link: bool = False
    prefix: str = ""
    ids: tuple[str, ...] = ()


# ---------------------------------------------------------------- a stream and its entity

# the files a record refers to
Files: TypeAlias = Callable[[SourceRecord], Iterable[FileRef]]
# records by id as the source has them now, for pull-through and verify
Fetch: TypeAlias = Callable[["Source", Sequence[SourceRecord], Known], dict[str, Row]]


class Written(NamedTuple):
    """Who wrote a record, and when."""

    by: str | Take  # the payload's field with the id of the user
    at: str  # and the one with the time


@dataclass(frozen=True, slots=True)
class Stream:
    name: str
    table: Table
    read: tuple[Reading, ...]  # the first that suits the portal
    fields: tuple[Field, ...]
    more: tuple[Reading, ...] = ()  # and, when that is done, each of these that does
    key: str = ""  # idempotency key; {id} is the row key, {child} its last part
    rest: Rest | None = None
    batch: int = 50
    batch_option: str = "batch"
    stamp: str = ""  # the payload's field with the record's time
    # A record is sent again when what is sent of its payload has changed, or with this one when anything in it has.
    payload_counts: bool = False
    volatile: frozenset[str] = frozenset()  # fields that do not count as a change: they move by themselves
    last_change: frozenset[str] = frozenset()  # in which a portal notes who changed a record, and when: no conflict
    written: tuple[Written, ...] = ()  # who created it and who changed it; none: the portal does not show it
    lasting: Callable[[Mapping[str, Json]], Mapping[str, Json]] | None = None  # the payload without what else does not
    omits_empty: bool = False  # the portal leaves out fields that are empty: one that is missing now was emptied
    view: Callable[[Mapping[str, Json]], Mapping[str, Json]] | None = None  # the payload under the names of `fields`
    at_last: Callable[[SourceRecord, dict[str, Json], bool], None] | None = (
        None  # a last look; whether all was resolved
    )
    # parts that would run code on the target: a record with one is sent only where the configuration names it
    forbidden: Callable[[SourceRecord], Sequence[Part]] | None = None
    # what such records go without, when the configuration names these parts
    rules: Callable[[frozenset[str]], Sequence[Rule]] = lambda _: ()
    natural: str = ""  # the payload's field that must be unique, case ignored
    natural_code: str = ""  # the error of the later one of two records that share it
    by_natural: bool = False  # others refer to it by its natural key, not by its id
    code: str = ""  # the field by which others name it; the target may have another one, so it is read back
    # the field with a list of values that others name, as `<stream>.<field>` and `<id>:<value>`: the target answers
    # with every record what they became
    options: str = ""
    required: tuple[str, ...] = ()
    ordered: bool = False  # children of one parent arrive in order
    files: Files | None = None
    # what texts call an attachment -> the key of the file behind it
    attached: Callable[[SourceRecord], Mapping[str, str]] = lambda record: {
        name: str(one["key"]) for name, one in (record.extras.get("attached") or {}).items()
    }
    exclude: Callable[[SourceRecord], str | None] | None = None  # the rule by which a record is left out
    unsure: str = ""  # key of the rule that skips records of unknown kinds: a person must look at them
    fetch: Fetch | None = None
    access: bool = False  # who is in it may see something: what is deleted at the source goes on the target at once
    # the portal answers alike for a record that is deleted and one that the webhook's owner may not see any more: a
    # deletion is never believed
    unprovable: bool = False
    mentions: tuple[Mention, ...] = ()
    adopted: Callable[[SourceRecord], bool] = lambda _: (
        False
    )  # the target may have had it already, and keeps its own values
    covered: tuple[str, ...] = ()  # references that verify wants resolved in every record
    pipelines: bool = False  # its records are pipelines, which an analysis lists
    custom_prefix: tuple[str, ...] = ()  # custom fields in the payload begin with one of them; `fields` are none
    late_custom: frozenset[str] = frozenset()  # types of custom fields that may refer to records which come later
    # the payload's fields by which people know a record, in every spelling: those that are there, joined
    title: tuple[str, ...] = ("TITLE", "NAME", "title", "name")
    emails: Callable[[SourceRecord], Iterable[str]] = lambda _: ()  # under which a user may search for it
    untaken: str = ""  # why only the import module takes such records
    unseen: tuple[str, ...] = ()  # what a delta pass does not see, in sentences

    def key_of(self, row_key: str) -> str:
        template = self.key or f"source:{self.name}:{{id}}"
        return template.format(id=row_key, child=row_key.rpartition(":")[2])

    @property
    def parent(self) -> str:
        return next((reading.of for reading in self.read if isinstance(reading, PerParent | Each)), "")

    @property
    def refs(self) -> tuple[Field, ...]:
        return tuple(one for one in self.fields if one.streams)

    @property
    def late(self) -> bool:
        return bool(self.late_custom) or any(one.late for one in self.fields)


# staged records of a stream, all of them
StagedRecords: TypeAlias = Callable[[str], Iterable[SourceRecord]]


@dataclass(frozen=True, slots=True)
class CustomFields:
    """Where the source tells its custom fields, and under which wire stream they are created.

    `read` gives them in one form, whatever the method: the upper-case names of `user.userfield.list` (FIELD_NAME,
    USER_TYPE_ID, MULTIPLE, MANDATORY, SORT, SETTINGS, LIST), and besides LABELS (language -> text), OF (the record of
    the stream `types` that the field belongs to) and ONLY (what stands before the ids in codes of CRM records, where
    the field allows records of one kind only and its values are their bare ids)."""

    stream: str
    scope: str
    read: Callable[[Source, StagedRecords], list[Args]]
    files: str = ""  # the kind of file that values of the type `file` are; empty: such files cannot be read
    # how a code of a CRM record is rewritten, by a function from stream and id to the target id; None: not migrated
    codes: Callable[[str, Callable[[str, str], str]], str] | None = None
    types: str = ""  # each field belongs to one record of this stream, whose link is the type on the target
    statuses: str = ""  # where `<dictionary>:<code>` became the target's code; empty: entries keep their codes


Habits: TypeAlias = Mapping[str, str | int | None]
Asking: TypeAlias = "Generator[Sequence[Command], Sequence[Answer], Habits]"


class Alike(NamedTuple):
    """A question to both portals. As long as they answer it differently, nothing of the entity is imported. A portal
    that does not answer proves nothing."""

    method: str
    # what is wrong, by the answers of the source and of the target; empty: that they differ is no harm
    differs: Callable[[str, str], str]
    fix: Callable[[str, str], str]  # and what to do


@dataclass(frozen=True, slots=True, eq=False)  # several entities may share one
class Probe:
    """A few cheap reads that show how the portal behaves where sources disagree or are silent (docs/probe.md).

    `ask` yields the commands of a round, gets their answers and returns one of `values` for each key; None where there
    was nothing to judge. Its argument is True when it may look at more than a handful of records."""

    values: Mapping[str, tuple[str, ...] | range]
    ask: Callable[[bool], Asking]


@dataclass(frozen=True)
class Entity:
    """What mini-tasks are named after: one or more streams that are read, imported and verified together."""

    name: str
    wire: str  # the <entity> of import.<entity>.batch
    scopes: tuple[str, ...]
    streams: tuple[Stream, ...]
    optional_scopes: Mapping[str, str] = field(default_factory=dict)  # scope -> what is lost without it
    custom_fields: CustomFields | None = None
    every_webhook: bool = False  # it is read through all of them, so each needs the scopes
    needs_admin: bool = False  # what it lists is complete only for an administrator
    aids: tuple[Stream, ...] = ()  # read before the streams and never sent: what their fields look up
    matches_users: bool = False  # records that the target has already are linked by their natural key
    # what is known to exist but cannot be read: source, staged records of a stream, the chosen readings
    unreadable: (
        Callable[[Source, Callable[[str], Iterable[SourceRecord]], Sequence[Reading]], Iterable[SetAside]] | None
    ) = None
    talk: bool = False  # what people said to one another: some companies leave it behind
    # of the methods that readings need, or need to be missing: the parameters of a cheap call that shows which is so
    probes: Mapping[str, Args] = field(default_factory=dict)
    unreadable_by: str = ""  # the stream that is walked for it; of what belongs to it a stretch is shown at a time
    habits: tuple[Probe, ...] = ()  # what portals differ in, and what is asked to see it
    alike: tuple[Alike, ...] = ()  # what both portals must say
    # a plan that names no entities goes without it where a portal lacks what it needs; a target announces its streams
    optional: bool = False

    @cached_property
    def refers_to(self) -> frozenset[str]:
        """The streams its records refer to. What a second pass writes is not waited for."""
        return frozenset(name for stream in self.streams for one in stream.refs if not one.late for name in one.streams)

    def task(self, phase: str) -> str:
        return f"{self.name.replace('_', '-')}-{phase}"


class FileLink(str):
    """Where a file is fetched from, with the name that the source gives it."""

    name: str

    def __new__(cls, url: str, name: str = "") -> FileLink:
        made = super().__new__(cls, url)
        made.name = name
        return made


@dataclass(frozen=True, slots=True)
class FileKind:
    """How the link of a kind of file is asked for; None where the record itself carries it."""

    name: str
    links: Callable[[Source, Sequence[FileRef]], dict[str, str]] | None = None  # file key -> URL, or FileLink
    otherwise: Callable[[str], str] | None = None  # another spelling of a URL, where that one is not found
    best_effort: bool = False  # another server than the portal keeps it: a migration is complete without it


PHASES = ("custom-fields-get", "custom-fields-set", "get", "set", "verify")
# The second half of set, which begins when every entity of the plan is imported. People see it as part of set.
LATE = "late"
# After the last second pass, once for all: what the target has to do when everything has arrived.
FINAL = "finalize"
