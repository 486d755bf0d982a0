"""The description of a stream. A stream is a value; the phases read it, and no phase contains a stream by name."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from b24migrate.model.fields import Field, Rest, Take
from b24migrate.model.readings import Each, PerParent, Reading
from b24migrate.model.records import Args, Json, SetAside, Table
from b24migrate.model.source_records import Fetch, FileRef, Files, FindExcused, FindRefused, SourceRecord, StagedRecords

if TYPE_CHECKING:
    from b24migrate.model.activities import Part
    from b24migrate.model.fidelity import Rule
    from b24migrate.ports import Answer, Command, Source


@dataclass(frozen=True, slots=True)
class Mention:
    """How texts refer to a record of the stream: a pattern whose one group is the id. `link`: inside a portal URL;
    `prefix`: what the stream's own ids have before the number, or those of the first group; `ids`: of which stream each
    group is, when there are several and they are not a parent and its child."""

    pattern: str
    link: bool = False
    prefix: str = ""
    ids: tuple[str, ...] = ()


class Written(NamedTuple):
    """The author and the time of a change of a record."""

    by: str | Take  # the payload's field with the id of the user
    at: str  # and the one with the time


@dataclass(frozen=True, slots=True)
class ChangeRules:
    """Defines which differences in a record that is read again count as a change, so that it is sent again."""

    whole_payload: bool = False  # anything in the payload; otherwise only what is sent of it
    volatile: frozenset[str] = frozenset()  # fields that do not count: they change without an edit
    lasting: Callable[[Mapping[str, Json]], Mapping[str, Json]] | None = None  # the payload without what else does not
    omits_empty: bool = False  # the portal leaves out fields that are empty: one that is missing now was emptied
    noted_in: frozenset[str] = frozenset()  # in which a portal notes who changed a record, and when: no conflict


@dataclass(frozen=True, slots=True)
class DeletionRules:
    """How deletions in the source are found, and what follows on the target."""

    refused: FindRefused | None = None  # finds records that exist and that the portal only refuses to show
    excused: FindExcused | None = None  # finds children that are missing in their parent's list for a known reason
    # the portal answers the same for a deleted record and for one that the webhook's owner can no longer see: no
    # deletion can be proven
    unprovable: bool = False
    # whether a record that no webhook shows any more is certainly deleted. Otherwise its owners may only have lost the
    # right to see it: it counts as deleted, but stays on the target. It also gets the owners of the webhooks
    certain: Callable[[SourceRecord, Sequence[str]], bool] | None = None
    # its records grant access: they are deleted on the target as soon as they are deleted in the source
    access: bool = False


@dataclass(frozen=True, slots=True)
class NaturalKey:
    """The payload's field that must be unique, case ignored."""

    field: str
    code: str = ""  # the error of the later one of two records that share a value
    links_use_it: bool = False  # others refer to a record by this value, not by its ID


@dataclass(frozen=True, slots=True)
class ForbiddenParts:
    """Parts that would run code on the target: a record with one is sent only if the configuration names the part."""

    find: Callable[[SourceRecord], Sequence[Part]]
    rules: Callable[[frozenset[str]], Sequence[Rule]]  # the rules for such records if these parts are named


@dataclass(frozen=True, slots=True)
class CustomValues:
    """The values of custom fields in a payload."""

    prefixes: tuple[str, ...] = ()  # their names begin with one of them; a declared field is never a custom field
    late_types: frozenset[str] = frozenset()  # types that may refer to records which come later


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
    changes: ChangeRules = ChangeRules()
    written: tuple[Written, ...] = ()  # the user and time of creation and change; empty: the portal does not show them
    view: Callable[[Mapping[str, Json]], Mapping[str, Json]] | None = None  # the payload under the names of `fields`
    at_last: Callable[[SourceRecord, dict[str, Json], bool], None] | None = (
        None  # a last look; whether all was resolved
    )
    forbidden: ForbiddenParts | None = None
    natural: NaturalKey | None = None
    code: str = ""  # the field by which others name it; the target may have another one, so it is read back
    # the field with a list of values that others name, as `<stream>.<field>` and `<id>:<value>`: the target answers
    # with every record what they became
    options: str = ""
    required: tuple[str, ...] = ()
    ordered: bool = False  # children of one parent are sent in order
    files: Files | None = None
    # what texts call an attachment -> the key of the file behind it
    attached: Callable[[SourceRecord], Mapping[str, str]] = lambda record: {
        name: str(one["key"]) for name, one in (record.extras.get("attached") or {}).items()
    }
    exclude: Callable[[SourceRecord], str | None] | None = None  # the rule by which a record is excluded
    unsure: str = ""  # key of the rule that skips records of unknown types: a user must check them
    fetch: Fetch | None = None
    deletions: DeletionRules = DeletionRules()
    mentions: tuple[Mention, ...] = ()
    adopted: Callable[[SourceRecord], bool] = lambda _: (
        False
    )  # the target may have had it already, and keeps its own values
    covered: tuple[str, ...] = ()  # references that verify wants resolved in every record
    pipelines: bool = False  # its records are pipelines, which an analysis lists
    custom: CustomValues = CustomValues()
    # the payload's fields for the title of a record, in every spelling; those that are filled are joined
    title: tuple[str, ...] = ("TITLE", "NAME", "title", "name")
    emails: Callable[[SourceRecord], Iterable[str]] = lambda _: ()  # under which a user may search for it
    untaken: str = ""  # why only the import module takes such records
    unseen: tuple[str, ...] = ()  # changes that a delta pass does not detect, as sentences

    def key_of(self, row_key: str) -> str:
        template = self.key or f"source:{self.name}:{{id}}"
        return template.format(id=row_key, child=row_key.rpartition(":")[2])

    @property
    def by_natural(self) -> bool:
        return self.natural is not None and self.natural.links_use_it

    @property
    def parent(self) -> str:
        return next((reading.of for reading in self.read if isinstance(reading, PerParent | Each)), "")

    @property
    def refs(self) -> tuple[Field, ...]:
        return tuple(one for one in self.fields if one.streams)

    @property
    def late(self) -> bool:
        return bool(self.custom.late_types) or any(one.late for one in self.fields)


@dataclass(frozen=True, slots=True)
class CustomFields:
    """How the custom fields of the source are read, and the wire stream under which they are created.

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
    # the problem, by the answers of the source and of the target; empty: the difference is harmless
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
    """One or more streams that are read, imported and verified together. Mini-tasks are named after it."""

    name: str
    wire: str  # the <entity> of import.<entity>.batch
    scopes: tuple[str, ...]
    streams: tuple[Stream, ...]
    optional_scopes: Mapping[str, str] = field(default_factory=dict)  # scope -> what is lost without it
    custom_fields: CustomFields | None = None
    every_webhook: bool = False  # it is read through all of them, so each needs the scopes
    needs_admin: bool = False  # its lists are complete only for an administrator
    aids: tuple[Stream, ...] = ()  # read before the streams and never sent: what their fields look up
    matches_users: bool = False  # records that the target has already are linked by their natural key
    # existing records that cannot be read, by the source, the staged records of a stream and the chosen readings
    unreadable: (
        Callable[[Source, Callable[[str], Iterable[SourceRecord]], Sequence[Reading]], Iterable[SetAside]] | None
    ) = None
    talk: bool = False  # conversations: some companies do not migrate them
    # for methods that readings need, or that must be missing: the parameters of a cheap call that shows whether the
    # method exists
    probes: Mapping[str, Args] = field(default_factory=dict)
    unreadable_by: str = ""  # the stream that is walked for it; of what belongs to it a stretch is shown at a time
    habits: tuple[Probe, ...] = ()  # differences between portals, with the requests that show them
    alike: tuple[Alike, ...] = ()  # questions that both portals must answer the same
    # a plan that names no entities skips it if a portal lacks what it needs; a target announces its streams
    optional: bool = False
    comes_with: tuple[str, ...] = ()  # entities: when a person names one of them, this one is meant too

    @cached_property
    def refers_to(self) -> frozenset[str]:
        """The streams that its records refer to, without references that a second pass writes."""
        return frozenset(name for stream in self.streams for one in stream.refs if not one.late for name in one.streams)

    def task(self, phase: str) -> str:
        return f"{self.name.replace('_', '-')}-{phase}"


@dataclass(frozen=True, slots=True)
class FileKind:
    """How the link of a kind of file is requested; None if the record itself contains it."""

    name: str
    links: Callable[[Source, Sequence[FileRef]], dict[str, str]] | None = None  # file key -> URL, or FileLink
    otherwise: Callable[[str], str] | None = None  # another spelling of a URL, where that one is not found
    best_effort: bool = False  # another server than the portal keeps it: a migration is complete without it


PHASES = ("custom-fields-get", "custom-fields-set", "get", "set", "verify")


# The second half of set, which begins when every entity of the plan is imported. People see it as part of set.
LATE = "late"


# After the last second pass, once for all: what the target has to do when everything has arrived.
FINAL = "finalize"
