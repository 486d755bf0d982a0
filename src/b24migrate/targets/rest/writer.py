"""The description of how a stream is written by the methods of the box. A writer is a value; the engine contains no
stream by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from b24migrate.messages import say
from b24migrate.model.errors import MigrationError, Permanent
from b24migrate.model.fidelity import Rule
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import TargetCheck
from b24migrate.targets.rest.box import Box, unexpected_answer
from b24migrate.targets.rest.fields import FieldMethods
from b24migrate.targets.rest.journal import Journal

STAMP = "b24migrate"  # the mark of our records, in any field that allows it
# reasons that the rules of several streams give
TODAY = say("reason.rest_today")
QUOTED = say("reason.rest_quoted")
CUT = say("reason.rest_cut")
OLD = say("reason.rest_old_message")
UNEDITED = "unedited"  # the mark of messages that the box no longer changes
LONGEST = 20_000  # characters of a message (kernel im_messenger.php, MESSAGE_LIMIT)
LINE = 120  # characters of the line before it, at most
PICTURE = say("reason.rest_picture")
_ID = re.compile(r"[1-9]\d*(:[1-9]\d*)?")


class CreateResult(NamedTuple):
    """The result of one item. `linked`: the box had it already, and an undo must not delete it."""

    key: str
    target_id: str = ""
    error: MigrationError | None = None
    linked: bool = False


class Known(NamedTuple):
    """A record that the box has: its id there, and what else helps to find it."""

    target_id: str
    trace: Json = None


class Content(NamedTuple):
    """A record of ours that must stay because of its contents, and why. `by`: the key of the content if it is ours and
    of the same stream; empty if it belongs to a user. `part`: it has no contents, it is part of a record of another
    stream and goes only with that."""

    key: str
    why: str
    by: str = ""
    part: bool = False


# one answer for each item, each as soon as it is there: what was answered before a failure is remembered
Create: TypeAlias = Callable[[Box, Sequence[Item]], Iterator[CreateResult]]
# of keys whose answer got lost, and what was kept of each: the ids of those that did arrive
Find: TypeAlias = Callable[[Box, Mapping[str, Json]], dict[str, str]]
Update: TypeAlias = Callable[[Box, Known, Item], None]
# what is kept with the trace until the answer is there: how far back the lost one must be looked for, and no further
Before: TypeAlias = Callable[[Box, Item], Args]
Read: TypeAlias = Callable[[Box, Mapping[str, Known]], dict[str, Args]]
Delete: TypeAlias = Callable[[Box, Known], None]
# the contents of records to be deleted: all that are not ours, and ours of the same stream; ours of another stream are
# deleted before, or the caller knows that they stay
Inside: TypeAlias = Callable[[Box, Mapping[str, Known]], Iterable[Content]]
# the rules of a stream, which may depend on what this box is and has
Rules: TypeAlias = Callable[[Box], Sequence[Rule]]


@dataclass(frozen=True, slots=True)
class Writer:
    stream: str
    entity: str  # as the wire calls it
    create: Create
    find: Find
    update: Update
    read: Read
    needs: tuple[str, ...]  # the methods without which nothing of it can be written
    trace: Callable[[Item], Json] = lambda _: None  # the values to keep, to find the record after a lost answer
    before: Before | None = None
    # the new items that the box has already, found before an intent is written: afterwards a similar record could be
    # ours or not, and records that are not ours must not be deleted
    existing: Callable[[Box, Sequence[Item]], dict[str, str]] | None = None
    # what the values of a record's lists are on the box; those that are missing are added. It may be repeated
    options: Callable[[Box, Known, Item], dict[str, str]] | None = None
    finish: Update | None = None  # completes a record after its ID is known; may be repeated
    # when everything has arrived: what later records have moved is put right
    at_last: Callable[[Box, Mapping[str, Known]], None] | None = None
    # the fields of a record as they are on the box, without what our own later records did to it until `at_last`
    without_ours: Callable[[Box, Known, Args], Args] = lambda _, __, fields: fields
    # the fields of a changed record that the box itself has set while it was updated, and that an update cut off midway
    # did not put right; by key and fields
    own: Callable[[Box, str, Args], frozenset[str]] = lambda _, __, ___: frozenset()
    delete: Delete | None = None
    inside: Inside | None = None
    stays: str = ""  # why it cannot be deleted
    restless: frozenset[str] = frozenset()  # fields that change without an edit
    serial: bool = False  # one after the other, the oldest first
    unchangeable: bool = False  # `update` refuses every change
    halfway: bool = False  # a create that is refused may leave the record incomplete: one that is found is updated
    check: Callable[[Box], TargetCheck | None] | None = None  # a further remark on whether this box accepts it
    optional: bool = False  # where the box cannot take it, the others of the entity go without it
    rules: Rules = field(default=lambda _: ())
    custom_fields: FieldMethods | None = None  # how its custom fields are created
    # the ids of those whose e-mail addresses the box knows already
    by_email: Callable[[Box, Sequence[str]], dict[str, str]] | None = None


def stamp_key(key: str) -> str:
    return f"{STAMP}:{key}"


def create_one_by_one(method: str, params: Callable[[Item], Args]) -> Create:
    """One call per record, since texts do not go through `batch`. A refused record does not stop the others."""

    def create(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
        for item in items:
            yield create_one(box, item, method, params, str)

    return create


def create_one(
    box: Box, item: Item, method: str, params: Callable[[Item], Args], made: Callable[[Json], str]
) -> CreateResult:
    """A success without an ID (older boxes return `true`) is looked up like a lost answer."""
    try:
        target_id = made(box.call(method, params(item)))
    except Permanent as error:
        return CreateResult(item.key, error=error)
    if not _ID.fullmatch(target_id):
        raise unexpected_answer(method)
    return CreateResult(item.key, target_id)


def choose_unclaimed(box: Box, stream: str, candidates: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Among records that look like the lost ones, one for each key that no other key has. Only siblings, whose keys
    start alike, could have it."""
    journal, found = Journal(box.store), dict[str, str]()
    taken: dict[str, set[str]] = {}
    for key, ids in candidates.items():
        family = key.rpartition(":")[0]
        if ids and family not in taken:
            known = (one for some in journal.walk(stream, beginning=f"{family}:") for one in some)
            taken[family] = {one.target_id for one in known if one.key not in candidates}
        free = next((one for one in ids if one not in taken[family]), None)
        if free is not None:
            found[key] = free
            taken[family].add(free)
    return found
