"""How a stream is read: with which method, in which pages, and what a delta pass does instead of reading everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from b24migrate.model.records import Args, Json, Page, Row
from b24migrate.model.source_records import Fetch, Known, SourceRecord

if TYPE_CHECKING:
    from b24migrate.ports import Source


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
    """Pages of a parent's children from the newest down: each requests ids below the lowest one received. An empty page
    is the end."""

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
    newest_first: bool = False  # a delta pass continues only if the first page or the total differs

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
    """How a delta pass finds changes of a listing by ascending ID whose dates do not show all changes: it lists a few
    fields of every record and compares them with the staged ones. Different, unknown and recently changed records are
    read by ID. Staged records that are not listed are requested by ID."""

    narrow: Args  # the parameters that bring only these fields
    fields: tuple[str, ...]  # as the stream's payload names them
    time: str = ""  # of the last change, to the second: a second change within it shows no other value


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
    one that was known, and to those that are older than `days`, since edits and reactions move nothing. If their number
    changed by another amount than the new ones explain, some were deleted: their IDs are listed until as many are
    missing."""

    last: str  # the parent's field with the id of its newest child
    count: str  # and the one with their number: an estimate, whose differences count
    time: str  # the child's field with its time
    days: float = 3.0
    ids: IdPages | None = None  # longer pages than the reading has: a hint at what is missing, which the reading proves
    # whether a new child shows that its parent changed, which a delta pass then reads again by `Gather.fetch`
    shows_change: Callable[[SourceRecord], bool] | None = None

    def is_older(self, payload: bytes, second: float) -> bool:
        """Whether a child is from before that second; one whose time cannot be read is not."""
        try:
            return datetime.fromisoformat(str(msgspec.json.decode(payload)[self.time])).timestamp() < second
        except (msgspec.DecodeError, KeyError, TypeError, ValueError, OverflowError):
            return False


@dataclass(frozen=True, slots=True)
class Again:
    """Whose children a delta pass reads again: those of parents that are new, back or deleted, and of parents of which
    one of these fields has another value than in the last complete pass. The others keep their children, which count as
    seen. The parents belong to the same entity, and may be read in any way."""

    fields: tuple[str, ...]  # of the parent's payload or extras
    deep: Callable[[SourceRecord], bool] = lambda _: False  # the parents that a deep pass asks as well
    tail: Tail | None = None  # which of their children are read; None: all


@dataclass(frozen=True, slots=True)
class Enrichment:
    """Details of the rows of a page that other methods return."""

    ask: Callable[[Source, Sequence[Row]], list[Row]]
    scope: str  # the permission that these methods need
    # in a delta pass: the same, without requesting what is known of these rows and does not change
    again: Callable[[Source, Sequence[Row], Known], list[Row]] | None = None
    at_once: Callable[[Source], int] = lambda _: 0  # rows of a listing that are requested at a time; 0: all of a page


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
    enrich: Enrichment | None = None
    select: str = ""  # the parameter in which custom fields must be named, or they do not come
    # how a delta pass finds what changed: it requests it, or compares all; without both it reads everything
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
    via: int = -1  # the webhook that is used, if it is not the first one of the reading
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
    """Another name by which children refer to their parent. Each name is looked up once in the source, and the answer
    is kept in the store."""

    of: Callable[[Args], str]  # the name in a row; empty if the row has the ID itself
    # by name the webhook that likely sees it -> their ids; with ANY, the answer for every name
    ask: Callable[[Source, Mapping[str, int]], Mapping[str, Named]]
    at_once: int


@dataclass(frozen=True, slots=True)
class Webhooks:
    """Which webhooks read the children of a parent."""

    # the first one, of those with these owners
    first: Callable[[SourceRecord, Sequence[str]], int] = lambda parent, _: int(parent.extras.get("via", 0))
    others: bool = False  # if one webhook is refused, the next one is used
    everybody: bool = False  # each webhook is used: they see different things


@dataclass(frozen=True, slots=True)
class Parents:
    """Hints of a parent about its children before they are read."""

    only: Callable[[SourceRecord], bool] = lambda _: True  # the parents that can have any
    expected: Callable[[SourceRecord], int | None] = lambda _: None  # how many it has; an estimate
    # whether it has any; None: unknown. Of those without any only a sample is requested, and all of them as soon as one
    # of the sample has children.
    has_any: Callable[[SourceRecord], bool | None] = lambda _: None
    # the portal may have moved the children: only a sample is requested
    elsewhere: Callable[[SourceRecord], bool] = lambda _: False
    # parents that have no count: a page that is less than half full ends the walk, except in a sample
    uncounted: Callable[[SourceRecord], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class ChildKeys:
    """Children whose keys do not start with the ID of the parent that lists them."""

    key_of: Callable[[SourceRecord, Args], str]
    # the same child may be in the lists of several parents, so the totals of these lists say nothing of their number,
    # and deleted children are found by their own IDs (`Stream.fetch`)
    shared: bool = False
    lists: Callable[[SourceRecord], int] = lambda _: 1  # with `shared`: in how many of them a child is, for a forecast
    alias: Alias | None = None  # children that name their parent otherwise get the id behind it into their key
    single: bool = False  # the answer is the only child; an error says that there is none
    keeps: Callable[[SourceRecord], Args] = lambda _: {}  # the parent's values that a child keeps in its extras
    bare: bool = False  # only the key counts: the payload is not staged
    conceals: Callable[[SourceRecord, Args, Sequence[str]], str | None] = lambda *_: None  # why a row is not readable


@dataclass(frozen=True, slots=True)
class Twins:
    """Children, read before under another mark, that may be the same as these."""

    mark: str
    same: Callable[[SourceRecord, SourceRecord], bool]


@dataclass(frozen=True, slots=True)
class JoinedList:
    """A list next to the items in the answer, whose members belong to them."""

    name: str
    join: Callable[[Args, Mapping[str, Json]], Args | None]  # the extras of an item, by the members by id


@dataclass(frozen=True, slots=True)
class PerParent:
    """The children of each staged parent. Their id is `<parent>:<id>`."""

    of: str
    method: str
    params: Callable[[SourceRecord], Args]
    paging: Whole | Backward | Slices
    items: tuple[str, ...] = ()
    unwrapped: bool = False  # some portals answer with the list itself, without the keys of `items`
    id: str = "id"
    scope: str = ""  # without it this reading is skipped
    needs: str = ""
    without: str = ""
    webhooks: Webhooks = Webhooks()
    parents: Parents = Parents()
    joined: JoinedList | None = None
    enrich: Enrichment | None = None
    keys: ChildKeys | None = None
    mark: str = ""  # before the child's own id, where a stream has children of two kinds
    twins: Twins | None = None
    # children that a parent counts and the method does not list: those that can be read otherwise, and the others. It
    # is given the parents with the ids that were listed, and a function that says which scopes are granted.
    unlisted: Callable[[Source, Mapping[str, tuple[SourceRecord, set[str]]], Callable[[str], bool]], Page] | None = None
    empty_is_alarm: bool = False  # every parent has children: an empty list is noted, and proves no deletion
    again: Again | None = None  # whose children a delta pass reads again; None: those of all parents
    # whether the portal shows the children of a parent, by the owners of the webhooks. For the others it returns only
    # the number, which a delta pass does not count again
    shown: Callable[[SourceRecord, Sequence[str]], bool] | None = None

    @property
    def shared(self) -> bool:
        return self.keys is not None and self.keys.shared

    @property
    def is_newest_first(self) -> bool:
        return isinstance(self.paging, Slices) and self.paging.newest_first

    @property
    def tail(self) -> Tail | None:
        return self.again.tail if self.again else None


@dataclass(frozen=True, slots=True)
class Gather:
    """The escape hatch: a function that reads on from a cursor."""

    method: str  # for the inventory
    read: Callable[[Source, Args, int], Page]  # source, cursor, limit (0 = none)
    needs: str = ""
    without: str = ""
    # in a delta pass: all records too, without requesting again the details of unchanged ones
    again: Callable[[Source, Args, Known], Page] | None = None
    fetch: Fetch | None = None  # some of them by id, with all details


Reading: TypeAlias = Listing | Each | PerParent | Gather
