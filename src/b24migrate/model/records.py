"""The nouns that flow: what is staged, read back, settled, linked, found, and the jobs that do it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

import msgspec

from b24migrate.messages import plain

MIGRATION_VERSION = 1

Json = Any  # a decoded JSON value
Args = Mapping[str, Json]

REFUSED = "refused"  # of a row's extras: what the portal did not return of this one record
# Of the extras: how the record was read. This may differ each time and does not count as a change.
_VOLATILE = frozenset({"via", "dialog", "seen_by", REFUSED})


class Status(StrEnum):
    NEW = "NEW"
    IMPORT_OK = "IMPORT_OK"
    IMPORT_ERR = "IMPORT_ERR"
    ERROR_RETRY = "ERROR_RETRY"
    DELETED = "DELETED"  # deleted at the source and not on the target: nothing is left to do


class Table(NamedTuple):
    """The table in which a stream's records are staged."""

    name: str
    partition: str


def deleted_counter(table: Table) -> str:
    """How many of its records are marked as deleted at the source."""
    return f"deleted:{table.name}"


class Span(NamedTuple):
    """A stretch of a table in order of id: after `lo`, up to and including `hi`. An empty end is open."""

    lo: str = ""
    hi: str = ""


class Staged(NamedTuple):
    """One record as a get writes it. A tuple, because a million of them go straight into `executemany`."""

    row_key: str
    payload: bytes
    payload_hash: str | None = None
    source_original: str | None = None
    source_utc: str | None = None
    original_offset_min: int | None = None
    extras: bytes | None = None  # data of other methods about the same record, by name
    pulled_through: bool = False
    natural: str | None = None  # the value that must be unique on the target besides the ID, such as an email address


class Record(NamedTuple):
    """One staged row read back."""

    row_key: str
    status: Status
    payload: bytes
    payload_hash: str | None = None
    extras: bytes | None = None
    attempts: int = 0
    last_error_code: str | None = None
    last_error: str | None = None
    retry_after_utc: str | None = None
    target_id: str | None = None
    pulled_through: bool = False
    natural: str | None = None
    revision: int = 0
    losses: Mapping[str, int] = {}  # its losses when it was last sent
    deleted_utc: str | None = None  # when it was found to be deleted at the source
    pass_no: int = 0  # the last pass that has met it


# A row as a whole, with every column that a store keeps of a record: `Payload` and `Extras` are bytes, `PulledThrough`
# is a truth value, attempts, offset, revision, pass and version are numbers, all others are text.
COLUMNS = (
    *("RowKey", "Status", "Payload", "PayloadHash", "Extras", "NaturalKey"),
    *("Attempts", "LastErrorCode", "LastError", "LastErrorAtUtc", "RetryAfterUtc"),
    *("TargetId", "ImportedAtUtc", "SourceOriginal", "SourceUtc", "OriginalOffsetMin"),
    *("PulledThrough", "Revision", "Pass", "RunId", "MigrationVersion", "Losses", "LastErrorMessage"),
    "DeletedUtc",
)
LONGEST_ERROR = 10_000  # characters of `LastError` and `LastErrorCode` that go from one store to another


class Staging(NamedTuple):
    """The result of staging a page. `seen` counts records that are new in this pass."""

    added: int = 0
    changed: int = 0
    same: int = 0
    seen: int = 0


class Link(NamedTuple):
    """A source id and the target id it became. `digest` is of the fields last sent; empty when nothing was sent."""

    source_id: str
    target_id: str
    digest: str = ""
    origin: str = "import"  # or "matched" (the target had it), "loaded" (from the administrator's user map)
    sent: str = ""  # the fields last sent, in short (`pack_sent`); empty where an earlier version sent them


NOWHERE = "none"  # the target id of a record that the target does not keep, as its fidelity list says


class Settled(NamedTuple):
    """The result of one record in a set."""

    row_key: str
    status: Status
    attempts: int = 0
    error_code: str | None = None
    error: str | None = None
    retry_after_utc: str | None = None
    link: Link | None = None
    losses: Mapping[str, int] = {}  # losses of an imported record: dropped, placeholder, unresolved text


class Fate(StrEnum):
    MATCH = "match"
    DIFFERS = "differs"
    MISSING = "missing"
    EXTRA = "extra"
    DANGLING = "dangling"
    FORESEEN = "foreseen"  # an expected difference
    SPARED = "spared"  # an expected difference that was not found


class Finding(NamedTuple):
    """One thing verify saw."""

    stream: str
    fate: Fate
    source_id: str
    field: str = ""
    expected: str = ""
    actual: str = ""
    note: str = ""


class SetAside(NamedTuple):
    """A source id that is accounted for without being staged: excluded by a rule, or impossible to read."""

    stream: str
    source_id: str
    why: str  # "excluded" or "impossible"
    reason: str
    name: str = ""


class PageEntry(NamedTuple):
    """One read of the source, for the page log."""

    number: int
    page_size: int
    retrieved: int
    params_hash: str
    started_at: datetime
    finished_at: datetime


class Row(NamedTuple):
    """One record as the source sent it, before it is staged."""

    source_id: str
    payload: bytes
    extras: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """The result of one read, with the cursors to continue at. Several cursors are independent."""

    rows: list[Row] = field(default_factory=list)
    next: list[Args] = field(default_factory=list)
    reported: int | None = None
    log: list[PageEntry] = field(default_factory=list)
    aside: list[SetAside] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    parents: dict[str, tuple[int | None, int]] = field(default_factory=dict)  # finished: id -> (reported, retrieved)
    # parents whose end was taken from a page that was not full, and whether such pages have proven not to be the end
    trusted: list[str] = field(default_factory=list)
    gap: bool = False
    last: list[Args] = field(default_factory=list)  # cursors of parents that are read on after all others
    apart: list[Args] = field(default_factory=list)  # parents that keep failing: each continues separately
    totals: dict[str, int] = field(default_factory=dict)  # of lists by offset, by parent


class Item(NamedTuple):
    """One record on its way to the target. `wire` is what is sent: the fields as canonical JSON, as digested."""

    key: str
    digest: str
    fields: Mapping[str, Json]
    wire: bytes

    @classmethod
    def make(cls, key: str, fields: Mapping[str, Json]) -> Item:
        wire = canonical(fields)
        return cls(key, hashlib.sha256(wire).hexdigest(), fields, wire)


class Outcome(NamedTuple):
    """The target's answer for one item."""

    key: str
    status: str  # created, unchanged, updated, failed
    target_id: str | None = None
    error_code: str = ""
    error: str = ""
    retry: bool = False
    ignored: tuple[str, ...] = ()
    options: Mapping[str, str] = {}  # of a record with a list of values: what each of the source's became


DAMAGED = "damaged"
LONGEST_DAMAGED = 500
_ARGS = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class Job:
    """One unit of work on the queue. Doing it twice is harmless; its id makes putting it twice harmless too."""

    scope: str  # the mini-task it belongs to: "groups-get"
    kind: str  # the verb that performs it: "read", "send", ...
    args: Args = field(default_factory=dict)
    attempts: int = 0
    failures: int = 0  # in a row, counted or not

    @property
    def id(self) -> str:
        return f"{self.scope}:{self.kind}:{digest(self.args)[:24]}"

    @property
    def is_damaged(self) -> bool:
        """Its arguments could not be read from the store, so it cannot be done."""
        return self.args.keys() == {DAMAGED}

    def tried(self, attempts: int, failures: int) -> Job:
        return replace(self, attempts=attempts, failures=failures)

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.args.items())
        return f"{self.scope}/{self.kind}({inside})"


def decode_job(scope: str, kind: str, args: str, attempts: Json, failures: Json) -> Job:
    """As a store kept it. Arguments that cannot be read are kept as text, under one name."""
    try:
        decoded, counts = _ARGS.decode(args), (int(attempts), int(failures))
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError, ValueError):
        decoded, counts = {DAMAGED: str(args)[:LONGEST_DAMAGED]}, (0, 0)
    return Job(scope, kind, decoded, *counts)


class DeadLetter(NamedTuple):
    job: Job
    code: str
    reason: str
    died_at: str


def canonical(value: Json) -> bytes:
    """Canonical JSON: keys sorted, no spaces, UTF-8."""
    return msgspec.json.encode(value, order="sorted", enc_hook=plain)


def encode_losses(losses: Mapping[str, int]) -> str | None:
    """As a store keeps them with a record. Nearly all records lost nothing."""
    return canonical(losses).decode() if losses else None


def decode_losses(text: str | None) -> Mapping[str, int]:
    """Nothing where the row in the store is damaged: it must not keep others from being read."""
    try:
        return msgspec.json.decode(text, type=dict[str, int]) if text else {}
    except msgspec.DecodeError:
        return {}


def compare_losses(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """By how much more, or less, is lost."""
    return {name: now.get(name, 0) - before.get(name, 0) for name in {*before, *now}} if before or now else {}


def digest(value: Json) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def has_new_extras(extras: bytes | None, before: bytes | None) -> bool:
    """Whether the extras of a record say something that the earlier ones do not. A name that is missing now is no
    change: the portal only did not tell it. Another webhook has other rights: only names that were missing count, and
    lists of ids: who is in a chat does not depend on who asks, and who left it must not stay in."""
    if extras is None or extras == before:
        return False
    try:
        then = msgspec.json.decode(before or b"{}", type=dict[str, Any])
    except msgspec.DecodeError:  # damaged: anything now is more
        return True
    now = msgspec.json.decode(extras)
    other = "via" in then and now.get("via") != then["via"]

    def counts(name: str, value: Json) -> bool:
        if name not in then:
            return True
        sure = not other or (_is_plain(value) and _is_plain(then[name]))
        return sure and bool(in_order(value) != in_order(then[name]))

    return any(counts(name, value) for name, value in now.items() if name not in _VOLATILE)


def in_order(value: Json) -> Json:
    """Portals list plain values, such as ids, in any order."""
    return sorted(map(str, value)) if _is_plain(value) else value


def _is_plain(value: Json) -> bool:
    return isinstance(value, list) and not any(isinstance(one, (dict, list)) for one in value)


# The row to write for a staged record that is read again, or None if it has not changed.
Renew: TypeAlias = Callable[[Staged, Staged], Staged | None]


def renew_by_hash(old: Staged, new: Staged) -> Staged | None:
    """Compares hashes that were made by the same rules. Without a hash it compares the payloads."""
    same = old.payload_hash == new.payload_hash if old.payload_hash else old.payload == new.payload
    return None if same and not has_new_extras(new.extras, old.extras) else new


def order_key(row_key: str) -> str:
    """A text that sorts as the id counts: `9` before `10`, `2:30` before `11:4`. No two row keys share one."""
    if row_key.isdecimal() and row_key[0] != "0" and len(row_key) <= 25 and row_key.isascii():
        return _LENGTHS[len(row_key)] + row_key
    return ":".join(map(_part, row_key.split(":")))


def order_keys(row_keys: Sequence[str]) -> list[str]:
    """Of many at once: nearly always all of them are plain numbers, and then one look at all is enough."""
    together = "".join(row_keys)
    plain = together.isascii() and together.isdecimal() and min(row_keys) >= "1" and len(max(row_keys, key=len)) <= 25
    return [_LENGTHS[len(key)] + key for key in row_keys] if plain else list(map(order_key, row_keys))


_LENGTHS = [chr(64 + length) for length in range(26)]


def _part(part: str) -> str:
    if part.isdecimal() and part.isascii() and len(part) <= 25 and (part[0] != "0" or part == "0"):
        return _LENGTHS[len(part)] + part
    return "~" + part


def children_span(parent_id: str) -> Span:
    """Every `<parent>:<child>` row of one parent (`;` is the character after `:`)."""
    prefix = order_key(parent_id)
    return Span(prefix + ":", prefix + ";")


def children_between(after: str, to: str) -> Span:
    """Of the parents after one and up to another, both given as they sort. An empty end is open."""
    return Span(after and after + ";", to and to + ";")


def marked_span(parent_id: str, mark: str) -> Span:
    """Of these the ones whose own id begins with a mark, a letter before a number."""
    prefix = f"{order_key(parent_id)}:~{mark}"
    return Span(prefix, f"{prefix}:")


def end_between_families(first: str, key: str) -> str:
    """The end of a span of order keys from `first` that has reached `key`, without dividing a family: before everything
    below the topmost parent of `key`, so that a large family starts a span, since the last span can be divided further;
    if the span starts with that family, behind all of it (`;` is the character after `:`)."""
    top, colon, _ = key.partition(":")
    if not colon:
        return key
    return top + (";" if first.partition(":")[0] == top else ":")
