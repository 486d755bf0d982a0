"""Registers: small tables of named columns, and counters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from b24migrate.messages import pack, say, unpack
from b24migrate.model.records import Json


class Register(NamedTuple):
    """A small table of rows by key, with named columns besides `PartitionKey` and `RowKey`."""

    name: str
    partition: str
    columns: tuple[str, ...]
    messages: bool = False  # whether there may be messages among its values: a store keeps them in one column more

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that a store has for it."""
        return (*self.columns, MESSAGES) if self.messages else self.columns

    def packed(self, values: Mapping[str, Json]) -> Mapping[str, Json]:
        """As a store writes them: with the keys and values of messages, whose columns have the English text."""
        return {**values, MESSAGES: pack(values)} if self.messages else values

    def unpacked(self, values: dict[str, Json]) -> Mapping[str, Json]:
        packed = values.pop(MESSAGES, None)
        return unpack(values, packed) if packed else values


MESSAGES = "Messages"  # keys and values of the messages in a row
ID_MAP = Register("IdMap", "map", ("TargetId", "Digest", "ImportedAtUtc", "Origin", "Sent"))
FIELD_MAP = Register("FieldMap", "field", ("TargetField", "Transform", "Included", "Options"))
CUSTOM_FIELDS = Register("CustomFields", "", ("Payload", "Type", "Label", "State", "TargetField", "Error"), True)
INVENTORY = Register(
    "SourceInventory",
    "inv",
    ("Stream", "SnapshotUtc", "ReportedTotal", "RetrievedTotal", "PageCount", "SourceMethod", "IsLatest", "Limited"),
)
PAGE_LOG = Register(
    "PageLog",
    "page",
    ("PageSize", "Retrieved", "ApiParamsHash", "StartedAtUtc", "FinishedAtUtc", "DurationMs"),
)
ENTITIES_STATE = Register("EntitiesState", "state", ("Phases", "Gates", "Counts", "Notes", "VERIFIED_FLAG"), True)
SET_ASIDE = Register("SetAside", "aside", ("Why", "Reason", "Name"), True)
INCOMPLETE = Register("Incomplete", "late", ("First", "Last"))
PARTIAL = Register("Partial", "partial", ("Open", "Reason"), True)  # records that could be read only in part
FINDINGS = Register("Findings", "finding", ("Stream", "Fate", "SourceId", "Field", "Expected", "Actual", "Note"), True)
FORESEEN = Register(
    "Foreseen", "finding", FINDINGS.columns, True
)  # differences that the target announced: nothing is wrong
SPARED = Register("Spared", "finding", FINDINGS.columns, True)  # expected differences that were not found
FIDELITY = Register(
    "Fidelity", "fidelity", ("Hash", "Data", "By", "AtUtc"), True
)  # announced rules, counts, acceptance
COMPARED = Register("Compared", "compared", ("Stream", "Ids"))  # equal, as verify saw: [source id, wire digest], …
VERIFIED = Register("Verified", "verified", ("Equal",))  # how many of a row of COMPARED: what is added up in one look
UNRESOLVED = Register("Unresolved", "place", ("Stream", "SourceId", "Place", "What"), True)
CHECKPOINTS = Register("Checkpoints", "checkpoint", ("Pass", "Reported", "Retrieved"))
ANALYSIS = Register("Analysis", "analysis", ("Data",), True)
RUNS = Register("Runs", "run", ("RunId", "StartedAtUtc", "FinishedAtUtc", "Plan", "State", "ExitCode", "Message"), True)
# records that an undo left on the target
KEPT = Register("Kept", "kept", ("Stream", "SourceId", "TargetId", "Reason"), True)
# of records that the source no longer has, by stream and id: not found (`gone:`, `doubtful:`, `refused:`, `excused:`);
# still on the target and why (`kept:`); named there by others that stay (`needed:`); perhaps there without a link,
# because an answer got lost (`unsure:`); deleted on the target by this run (`removed:`); and records that failed, with
# the one that they cannot go without (`awaited:`)
DELETIONS = Register("Deletions", "deletion", ("Reason",), True)
# records that changed on both sides, by stream and id. `Fields`: [name, last sent, target, source, decision, time], …;
# `Decision`: source, target, none (no conflict any more), empty as long as `Open`; it holds for one `Revision`.
# `Waiting`: decided for the source, to be sent
CONFLICTS = Register(
    "Conflicts",
    "conflict",
    ("Stream", "SourceId", "Fields", "Decision", "By", "AtUtc", "Revision", "Open", "Waiting"),
)
COPIES = Register("Copies", "copy", ("Origin", "Identity", "State", "StartedAtUtc", "FinishedAtUtc"))
QUOTA = Register("Quota", "portal", ("AtS", "Level", "PauseS", "PausedAtS", "PausedUntilS", "Rests"))
HISTORY = Register("History", "at", ("Run", "Read", "Imported", "Verified", "Failed", "WaitedS", "More"))
OUTAGES = Register("Outages", "portal", ("SinceUtc", "NextUtc", "StopsUtc", "Reason"), True)
# what a box without the import module was told and has, since it knows no idempotency keys itself
NATIVE = Register("Native", "native", ("Stream", "TargetId", "Digest", "State", "Print", "Trace"))
# the newest tokens of an application, which replace one another while it works: sealed, and who is renewing them
TOKENS = Register("Tokens", "tokens", ("Origin", "Sealed", "Holder", "HeldUntilUtc"))
# by stream and name: the ID of the parent, if the source gives children only another name of it
ALIASES = Register("Aliases", "alias", ("Id",))
# in which order the records of a serial stream go: `Order` names the last, its slices have [row key, second], …
TURNS = Register("Turns", "turn", ("Order", "Turns"))
# by stream: how its latest pass reads it (`now:`), and where the next delta pass begins (`mark:`)
PASSES = Register("Passes", "pass", ("Pass", "Delta", "MarkUtc", "FullUtc", "Since", "Highest", "Basis", "Why"), True)
# what a delta pass found, by stream and id: records that a sweep showed to differ (`differs:`) or did not show
# (`absent:`); by stream, pass and id the fields that moved of records whose children are read again then (`moved:`),
# and deleted records that others may name (`gone:`); by stream and parent how far the ids of its children were compared
# and which are missing (`lost:`), and the state that it has when these are marked (`settled:`)
CHANGES = Register("Changes", "change", ("Fields",))
# by run and record type: what a delta pass found, and who wrote it. `Writers`: [user, how many, last time], …
DELTAS = Register("Deltas", "delta", ("AtUtc", "Changed", "Deleted", "Staged", "Writers"))
CUTOVER = Register("Cutover", "cutover", ("Data",), True)  # how far the cutover is
# by stream and parent, what it told of its children when they were last read: the newest, the number, and the pass that
# last read all; of a list by offset the total and the pass
STATES = Register("States", "state", ("State",))
REGISTERS = (
    ID_MAP,
    FIELD_MAP,
    CUSTOM_FIELDS,
    INVENTORY,
    PAGE_LOG,
    ENTITIES_STATE,
    SET_ASIDE,
    INCOMPLETE,
    PARTIAL,
    FINDINGS,
    FORESEEN,
    SPARED,
    FIDELITY,
    COMPARED,
    VERIFIED,
    UNRESOLVED,
    CHECKPOINTS,
    ANALYSIS,
    RUNS,
    QUOTA,
    COPIES,
    HISTORY,
    OUTAGES,
    NATIVE,
    KEPT,
    DELETIONS,
    CONFLICTS,
    TURNS,
    TOKENS,
    ALIASES,
    PASSES,
    CHANGES,
    DELTAS,
    CUTOVER,
    STATES,
)
BROKEN_JOB = ("BROKEN_ROW", say("work.broken_job"))
Billing = Literal["inner", "batch"]


class RegisterRow(NamedTuple):
    """One row of a register. `version` grows with every write; 0 = not there yet."""

    key: str
    values: Mapping[str, Json]
    version: int = 0
    partition: str = ""


class Registers(Protocol):
    """Registers and counters."""

    def read(self, register: Register, key: str, *, partition: str | None = None) -> RegisterRow | None: ...

    def rows(self, register: Register, prefix: str = "", *, partition: str | None = None) -> list[RegisterRow]:
        """The rows whose key starts with `prefix`, in order of key. Without `partition`: of the register's own; a
        register that has none (CustomFields) is read as a whole. The same goes for `erase`."""
        ...

    def rows_of(self, register: Register, keys: Collection[str]) -> dict[str, RegisterRow]:
        """Those that exist, by key. For a register with a partition."""
        ...

    def all_rows(self, register: Register) -> Iterator[RegisterRow]:
        """Every row of every partition, in any order, a stretch at a time: a register may be as long as a table."""
        ...

    def some_rows(self, register: Register, prefix: str, after: str, limit: int) -> list[RegisterRow]:
        """The next `limit` rows after the key `after` ("": from the beginning) of those that begin with `prefix`, in an
        order of the store's own that never changes. For a register with a partition: to be leafed through."""
        ...

    def count(self, register: Register, prefix: str) -> int:
        """The number of rows whose key starts with `prefix`, without reading them."""
        ...

    def total(self, register: Register, prefix: str, column: str) -> float | None:
        """The sum of a column over the rows whose key starts with `prefix`; None if there are none."""
        ...

    def write(self, register: Register, rows: Sequence[RegisterRow]) -> None:
        """Upserts whole rows whatever their version. Columns that are not given become null."""
        ...

    def swap(self, register: Register, row: RegisterRow) -> bool:
        """Writes only if the stored version is still `row.version` (0: only if there is none). False if it is not."""
        ...

    def erase(self, register: Register, prefix: str, *, partition: str | None = None) -> None: ...

    def discard(self, register: Register, keys: Collection[str]) -> None:
        """Erases the rows with exactly these keys. For a register with a partition."""
        ...

    def add(self, counters: Mapping[str, float]) -> None:
        """Adds to named counters; a counter that is not there is 0."""
        ...

    def counters(self, prefix: str = "") -> dict[str, float]: ...
