"""A record as `show` and the dashboard display it. Values only; the caller words them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import msgspec

from b24migrate.messages import plain
from b24migrate.model.records import Json

LONGEST = 1000  # characters of a value that are shown
LONGEST_TITLE = 200


class RecordVerdict(StrEnum):
    """The one thing to say first."""

    EQUAL = "equal"
    DIFFERS = "differs"
    MISSING = "missing"  # it was imported, and the target has it no longer
    FAILED = "failed"
    WAITING = "waiting"  # to be sent, or to be tried again
    LINKED = "linked"  # the target had it before us, and it is left alone
    EXCLUDED = "excluded"  # by a rule
    IMPOSSIBLE = "impossible"  # the source does not show it
    DELETED = "deleted"  # at the source, after it was read
    IMPORTED = "imported"  # the target was not queried, or did not answer
    AID = "aid"  # only read, to complete other records


class FieldVerdict(StrEnum):
    EQUAL = "equal"
    REWRITTEN = "rewritten"  # it links to a record that has another ID on the target: this is correct
    DIFFERS = "differs"
    FORESEEN = "foreseen"  # it differs as the target had announced
    MISSING = "missing"  # the target does not have the record
    ONLY_SOURCE = "only_source"  # it was to be sent and got lost: what it names is not on the target
    ONLY_TARGET = "only_target"  # nothing of it is sent any more, and the target has it
    NOT_SENT = "not_sent"  # not migrated
    BEYOND = "beyond"  # more than the contract names, and the target does not keep it
    OWN = "own"  # the target had the record before us and keeps its own value
    UNKNOWN = "unknown"  # the target was not queried, or did not answer


class FieldNote(StrEnum):
    AS_READ = "as_read"  # from another method, which is not called again: the staged value is shown as the source's
    LEFT = "custom_values_left"  # the custom field is not on the target
    EXCLUDED = "custom_values_excluded"  # the field map excludes the custom field
    NO_ADDRESSES = "no_addresses"  # links to the portals cannot be compared without their addresses


class SideState(StrEnum):
    """Whether a portal was queried, and its answer."""

    NOW = "now"
    GONE = "gone"  # it does not have the record
    CANNOT = "cannot"  # this kind cannot be read by its ID
    NOT_ASKED = "not_asked"
    ABSENT = "absent"  # its webhook cannot be had here
    FAILED = "failed"  # it did not answer, or refused: `message` has the reason


@dataclass(frozen=True, slots=True)
class Side:
    state: SideState
    message: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as text; `length` in characters is more than the text has where it was cut. `json`: it was no text."""

    text: str
    length: int
    json: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A record that a field names, and what it became; empty where it is not on the target."""

    stream: str
    id: str
    target_id: str


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field. Unknown values are null. `changed`: the value on the source differs from the staged one."""

    name: str  # on the wire; for a field that is not sent, the source's
    kind: str
    verdict: FieldVerdict
    source: Shown | None = None
    staged: Shown | None = None
    sent: Shown | None = None
    target: Shown | None = None
    changed: bool = False
    source_names: tuple[str, ...] = ()  # the source's name, if it is another one
    names: tuple[Named, ...] = ()
    unresolved: tuple[str, ...] = ()  # source ids that are not on the target
    note: FieldNote | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why it was not imported. `cause`, `fix` and `page` are of the code."""

    code: str
    message: str
    at: str
    again_at: str  # when it is retried automatically
    cause: str
    fix: str
    page: str


@dataclass(frozen=True, slots=True)
class TargetLink:
    target_id: str
    digest: str  # of the fields last sent
    origin: str  # import, matched, loaded
    imported_at: str


@dataclass(frozen=True, slots=True)
class Times:
    """The record's own time: as received, in UTC, and the offset it was given in."""

    original: str
    utc: str
    offset_min: int | None


@dataclass(frozen=True, slots=True)
class FoundBefore:
    """The findings of the last verify."""

    fate: str
    field: str
    expected: str
    actual: str
    note: str


@dataclass(frozen=True, slots=True)
class Place:
    """Inside a tree, where an ID of the source is left."""

    place: str
    what: str


@dataclass(frozen=True, slots=True)
class FileView:
    """`state`: waiting (to be fetched), fetched, imported, retrying, failed, unknown (not seen yet)."""

    id: str
    name: str
    size: int | None
    state: str
    target_id: str
    error_code: str
    error: str


@dataclass(frozen=True, slots=True)
class Children:
    """The number of children of this parent; with `more` there are others that were not counted. `reported`: the total
    that the source reports, if it does."""

    stream: str
    read: int
    more: bool = False
    reported: int | None = None


@dataclass(frozen=True, slots=True)
class Aside:
    why: str
    reason: str
    name: str


@dataclass(frozen=True, slots=True)
class RecordView:
    stream: str
    entity: str
    id: str
    title: str
    emails: tuple[str, ...]
    verdict: RecordVerdict
    status: str  # empty where it is not staged
    attempts: int
    revision: int
    run: str
    pulled_through: bool
    changed: bool  # the source differs from the staged value
    trouble: Trouble | None
    problem: str  # why it could not be sent as it is now
    link: TargetLink | None
    times: Times | None
    source: Side
    target: Side
    fields: tuple[FieldRow, ...]
    findings: tuple[FoundBefore, ...]
    places: tuple[Place, ...]
    files: tuple[FileView, ...]
    files_in_all: int
    children: tuple[Children, ...]
    aside: Aside | None

    def to_json(self) -> dict[str, Json]:
        made: dict[str, Json] = msgspec.to_builtins(self, enc_hook=plain)
        return made


@dataclass(frozen=True, slots=True)
class Hit:
    """`by`: id, email (these are exact), child (its own id, without the parent's), target (its id there), title."""

    stream: str
    entity: str
    id: str
    title: str
    email: str
    status: str
    target_id: str
    by: str


@dataclass(frozen=True, slots=True)
class Hits:
    """`next` continues after the last record that was searched; null at the end."""

    hits: tuple[Hit, ...]
    looked_at: int
    next: str | None

    def to_json(self) -> dict[str, Json]:
        made: dict[str, Json] = msgspec.to_builtins(self, enc_hook=plain)
        return made


def show_value(value: Json) -> Shown:
    """A megabyte of name is a name, too: its beginning is shown, and how long it is."""
    is_text = isinstance(value, str)
    text = value if is_text else msgspec.json.encode(value).decode()
    return Shown(text[:LONGEST], len(text), not is_text)


def cut(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
