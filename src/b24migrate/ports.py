"""The doors to the world. Each port promises only what SQLite and Azure Tables, Queues and Blobs can both keep.

The order of writes is the only transaction that all of them share: stage, then enqueue what follows, then finish.
A job that is repeated after a crash at any point between these writes changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import BinaryIO, Literal, NamedTuple, Protocol

from b24migrate.fidelity import Rule
from b24migrate.messages import pack, say, unpack
from b24migrate.records import (
    Args,
    DeadLetter,
    Item,
    Job,
    Json,
    Link,
    Outcome,
    Page,
    Record,
    Settled,
    Span,
    Staged,
    Staging,
    Status,
    Table,
)
from b24migrate.streams import CustomFields, Gather, Habits, Listing, PerParent, Progress


class Clock(Protocol):
    def now(self) -> datetime:
        """Aware, UTC."""
        ...

    def monotonic(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


MESSAGES = "Messages"  # keys and values of the messages in a row


class Register(NamedTuple):
    """A small table of rows by key, with named columns beside `PartitionKey` and `RowKey`."""

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


ID_MAP = Register("IdMap", "map", ("TargetId", "Digest", "ImportedAtUtc", "Origin"))
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
SPARED = Register("Spared", "finding", FINDINGS.columns, True)  # what it announced, and what is equal all the same
FIDELITY = Register(
    "Fidelity", "fidelity", ("Hash", "Data", "By", "AtUtc"), True
)  # what it announced, counts, acceptance
COMPARED = Register("Compared", "compared", ("Stream", "Ids"))  # equal, as verify saw: [source id, wire digest], …
VERIFIED = Register("Verified", "verified", ("Equal",))  # how many of a row of COMPARED: what is added up in one look
UNRESOLVED = Register("Unresolved", "place", ("Stream", "SourceId", "Place", "What"), True)
CHECKPOINTS = Register("Checkpoints", "checkpoint", ("Pass", "Reported", "Retrieved"))
ANALYSIS = Register("Analysis", "analysis", ("Data",), True)
RUNS = Register("Runs", "run", ("RunId", "StartedAtUtc", "FinishedAtUtc", "Plan", "State", "ExitCode", "Message"), True)
KEPT = Register("Kept", "kept", ("Stream", "SourceId", "TargetId", "Reason"), True)  # what an undo left on the target
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
    TURNS,
    TOKENS,
    ALIASES,
)


class RegisterRow(NamedTuple):
    """One row of a register. `version` grows with every write; 0 = not there yet."""

    key: str
    values: Mapping[str, Json]
    version: int = 0
    partition: str = ""


class Store(Protocol):
    """The staging tables, the id map, the registers and the counters.

    Every failure is one of ours: Halted when the disk is full or the store unreachable, BadConfiguration when it is of
    another version. All methods may be called from any thread, and from several processes on one store.
    """

    def stage(self, table: Table, records: Sequence[Staged], *, run: str, pass_no: int) -> Staging:
        """Upserts by id. A new record is NEW. A known one keeps its status, except that a changed `payload_hash`
        (both present and different), or extras that tell more (`tells_more`; with both hashes, or once it is
        imported), makes it NEW with Revision + 1, attempts 0 and no error. Without hashes the content of a record that
        is not IMPORT_OK is replaced, its status stays; an imported one is left as it is.
        `pulled_through` is kept as first staged, except that a record met again in an ordinary read is no longer
        pulled through. `seen`, and with it the counter `seen:<table>:<pass_no>`, counts each record once per pass_no,
        however often it is staged; passes grow, and one met in a later pass is not counted for an earlier one."""
        ...

    def records(self, table: Table, span: Span, limit: int) -> list[Record]:
        """The first `limit` records of the span in order, whatever their status."""
        ...

    def pending(
        self, table: Table, span: Span, limit: int, *, now: datetime, hold: Collection[str] = (), pulled: bool = False
    ) -> list[Record]:
        """The first `limit` records of the span, in order, that are NEW, or ERROR_RETRY and due at `now`; none whose
        parent (the row key up to its last `:`) is in `hold`. With `pulled` only the pulled-through ones."""
        ...

    def waiting(self, table: Table, span: Span, *, now: datetime) -> list[tuple[str, datetime]]:
        """The records of the span in ERROR_RETRY that are not due yet, with their due time."""
        ...

    def moments(self, table: Table, span: Span, limit: int, *, pulled: bool = False) -> list[tuple[str, str]]:
        """The first `limit` records of the span, in order, that are NEW or ERROR_RETRY, due or not: row key and
        SourceUtc, "" where there is none. No payload is read. With `pulled` only the pulled-through ones."""
        ...

    def get(self, table: Table, row_keys: Sequence[str]) -> dict[str, Record]:
        """Those that exist."""
        ...

    def known(self, table: Table, row_keys: Sequence[str]) -> set[str]:
        """Which of these are staged (no payload is read)."""
        ...

    def sample(self, table: Table, count: int, *, seed: int, status: Status) -> list[Record]:
        """A random choice of at most `count` records with this status, the same for the same seed and content."""
        ...

    def failed(self, table: Table, limit: int, *, code: str = "") -> list[Record]:
        """IMPORT_ERR and ERROR_RETRY records, in order, optionally of one error code."""
        ...

    def error_counts(self, table: Table) -> dict[tuple[str, str], int]:
        """(status, error code) -> how many, for records that carry an error and are not IMPORT_OK."""
        ...

    def one_failed(self, table: Table, status: Status, code: str) -> Record | None:
        """An example: any record with this status and error code. Cheap, however many there are."""
        ...

    def cuts(self, table: Table, span: Span, every: int, *, whole_parents: bool, pending: bool) -> list[Span]:
        """Divides the span into consecutive spans of about `every` records (with `pending`: of records that are NEW or
        ERROR_RETRY) that cover all of them; with `whole_parents` no parent's children are divided."""
        ...

    def settle(self, stream: str, table: Table, outcomes: Sequence[Settled], *, now: datetime) -> None:
        """Writes links, then statuses and errors (LastErrorAtUtc, TargetId of the link, ImportedAtUtc: when it was
        first imported, which stays when it is sent again), and adds the counters: `retries:<stream>` by the growth of
        attempts past the first, `<loss>:<stream>` by `losses`. Those are kept with a record that is IMPORT_OK, in place
        of what it had lost when it was sent before, so that a counter is what the target goes without now. Atomic where
        the backend can; in this order where it cannot."""
        ...

    def renew(self, table: Table, *, code: str = "", row_keys: Sequence[str] | None = None) -> int:
        """IMPORT_ERR (and ERROR_RETRY) records become NEW with attempts 0: what `retry` does. Returns how many."""
        ...

    def take_back(self, stream: str, table: Table, row_keys: Sequence[str]) -> int:
        """These records, whatever their status, become NEW as if they had never been sent: attempts 0, no error, no
        TargetId, no ImportedAtUtc, and nothing lost, which the counters of the stream follow. Returns how many changed
        by it."""
        ...

    def lose(self, stream: str, table: Table, losses: Mapping[str, Mapping[str, int]]) -> None:
        """What these records went without is now this, in place of what `settle` was told; the counters follow."""
        ...

    def unlink(self, stream: str, source_ids: Collection[str]) -> None:
        """Forgets the links of these; where there is none, nothing happens."""
        ...

    def counts(self, table: Table) -> dict[Status, int]:
        """How many records have each status. Cheap: it may be asked several times a second."""
        ...

    def pulled_pending(self, table: Table) -> int:
        """How many pulled-through records are NEW or ERROR_RETRY. Cheap."""
        ...

    def links(self, stream: str, source_ids: Collection[str]) -> dict[str, Link]:
        """Those that exist."""
        ...

    def link(self, stream: str, links: Sequence[Link], *, now: datetime) -> None:
        """Writes links that no import made (loaded or matched)."""
        ...

    def all_links(self, stream: str) -> Iterator[Link]: ...

    def holder(self, table: Table, natural: str) -> str | None:
        """The row key with the lowest id that holds this natural key."""
        ...

    def read(self, register: Register, key: str, *, partition: str | None = None) -> RegisterRow | None: ...

    def rows(self, register: Register, prefix: str = "", *, partition: str | None = None) -> list[RegisterRow]:
        """In order of key, those that begin with `prefix`. Without `partition`: of the register's own; a register that
        has none (CustomFields) is read as a whole. The same goes for `erase`."""
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
        """How many rows begin with `prefix`; none of them is read."""
        ...

    def total(self, register: Register, prefix: str, column: str) -> float | None:
        """The sum of a column over the rows that begin with `prefix`; None when there are none."""
        ...

    def write(self, register: Register, rows: Sequence[RegisterRow]) -> None:
        """Upserts whole rows whatever their version. Columns that are not given become null."""
        ...

    def swap(self, register: Register, row: RegisterRow) -> bool:
        """Writes only if the stored version is still `row.version` (0: only if there is none). False if it is not."""
        ...

    def erase(self, register: Register, prefix: str, *, partition: str | None = None) -> None: ...

    def add(self, counters: Mapping[str, float]) -> None:
        """Adds to named counters; a counter that is not there is 0."""
        ...

    def counters(self, prefix: str = "") -> dict[str, float]: ...

    def export(self, table: Table, span: Span, limit: int) -> list[Mapping[str, Json]]:
        """The first `limit` rows of the span in order, whole: every one of `records.COLUMNS`, null where there is
        nothing. What `restore` wants."""
        ...

    def restore(self, table: Table, rows: Sequence[Mapping[str, Json]]) -> None:
        """Upserts whole rows as they are, whatever was there. `counts` and `pulled_pending` stay right, the counters
        stay as they are. It may be repeated. Nobody else works on the table meanwhile."""
        ...

    def set_counters(self, counters: Mapping[str, float]) -> None:
        """Makes the counters exactly these, `seen:` and the like included; all others become 0 or go. It may be
        repeated. Nobody else works on the store meanwhile."""
        ...

    def describe(self) -> Mapping[str, Json]:
        """For people and for doctor: kind, place, size in bytes, free bytes where known."""
        ...

    def close(self) -> None: ...


DELIVERIES = 3  # so often is a job given out whose workers vanish
POISON = "POISON"
POISON_REASON = say("work.poison")


BROKEN_JOB = ("BROKEN_ROW", say("work.broken_job"))


class Lease(NamedTuple):
    job: Job
    token: str


class Waiting(NamedTuple):
    """A job that is not finished. `visible_at` None: it can be taken now. `held`: somebody took it, and unless he
    renews his lease or gives the job back, it can be taken at `visible_at`, which may be past."""

    job: Job
    visible_at: datetime | None = None
    held: bool = False


class Queue(Protocol):
    """Jobs wait here until they are finished. A job whose worker died comes back when its lease ends. One that was
    given out three times, and each time came back only so, is given to nobody any more: it goes to the dead letters
    with the code POISON. A job that is parked or released starts anew. One whose row is damaged goes to the dead
    letters as soon as its turn comes (BROKEN_ROW)."""

    @property
    def glance_s(self) -> float:
        """How long to wait, in seconds, before asking again whether there is something to do: what a look costs."""
        ...

    def put(self, jobs: Sequence[Job], *, visible_at: datetime | None = None) -> None:
        """Adds the jobs that are not there yet (by id)."""
        ...

    def claim(self, owner: str, *, now: datetime, lease_s: float) -> Lease | None:
        """Takes the oldest visible job for `lease_s`, or None."""
        ...

    def take(self, job_id: str, owner: str, *, now: datetime, lease_s: float) -> Lease | None:
        """Takes this one: for whoever received its message, which he deletes himself. None when there is no such job,
        or it cannot be taken now."""
        ...

    def renew(self, lease: Lease, *, now: datetime, lease_s: float) -> bool:
        """False when the lease was lost to somebody else: stop working on it."""
        ...

    def finish(self, lease: Lease, follow: Sequence[Job]) -> None:
        """Adds what follows, then removes the job. Never visible in between as an idle scope."""
        ...

    def park(self, lease: Lease, *, until: datetime, job: Job | None = None) -> None:
        """Gives the job back, to be taken again at `until`, with the counts of `job` when given."""
        ...

    def bury(self, lease: Lease, *, code: str, reason: str, now: datetime) -> None:
        """Moves the job to the dead letters."""
        ...

    def letter(self, job: Job, *, code: str, reason: str, now: datetime) -> None:
        """Leaves a dead letter for a record whose attempts are used up; `job` would send that record again."""
        ...

    def open(self, scope: str) -> int:
        """How many jobs of the mini-task are not finished: waiting, parked or being worked on."""
        ...

    def jobs(self) -> list[Waiting]:
        """All that are not finished, of every scope, the oldest first."""
        ...

    def held(self, *, now: datetime) -> int:
        """How many jobs somebody works on at this moment. Cheap."""
        ...

    def next_visible(self) -> datetime | None:
        """When the next job can be taken, a leased one when its lease ends; None if there is none."""
        ...

    def drop(self, scope: str) -> None:
        """Removes the waiting jobs and the dead letters of a mini-task."""
        ...

    def dead(self, scope: str = "") -> list[DeadLetter]: ...

    def dead_count(self, *, parts: bool = False) -> int:
        """How many there are; with `parts` only of those that `dead_parts` gives."""
        ...

    def dead_parts(self, scope: str = "") -> list[DeadLetter]:
        """Of the dead letters those that tell of a part of the work. Every failed record may leave one, so these are
        found without a look at the others."""
        ...

    def revive(self, scope: str = "") -> int:
        """Puts dead letters back to work with attempts 0. Returns how many."""
        ...

    def release(self, owner_prefix: str, alive: Callable[[str], bool]) -> int:
        """Ends the leases of owners that begin with the prefix and are not alive. Returns how many."""
        ...

    def tend(self, *, now: datetime) -> int:
        """Finds again what was lost between a job and the message that tells of it, and puts away messages that tell of
        nothing. A little at a time: somebody calls it every half a minute or so. Returns how many things it mended."""
        ...


class Part(Protocol):
    """A file that is being downloaded. If it was started with a version, full blocks survive the process: the next one
    continues after them."""

    @property
    def length(self) -> int:
        """How many bytes are here."""
        ...

    @property
    def sure(self) -> int:
        """How many of them survive the block as it is now."""
        ...

    def holds(self, version: str) -> bool:
        """Whether the bytes that are here are of this version."""
        ...

    def begin(self, version: str) -> None:
        """Starts at the first byte and discards what is here. Without a version nothing survives the block."""
        ...

    def write(self, data: bytes) -> int: ...

    def publish(self) -> None:
        """All of it is here: at the end of the block it appears under its key."""
        ...


class Files(Protocol):
    """The bytes of attachments, under names chosen here, never by a portal."""

    def writer(self, key: str) -> AbstractContextManager[BinaryIO]:
        """Writes a new file for the key. It appears under the key only when the block ends without an error."""
        ...

    def part(self, key: str, size: int | None = None) -> AbstractContextManager[Part]:
        """Takes up what is here of the key's file, or nothing. Two who do so at once do not mix their bytes. `size`:
        what is known of its length; of a short file nothing outlives the block."""
        ...

    def open(self, key: str) -> BinaryIO:
        """Raises Permanent when there is none."""
        ...

    def size(self, key: str) -> int | None: ...

    def delete(self, key: str) -> None: ...


class Command(NamedTuple):
    """One call inside a batch."""

    method: str
    params: Args


class Answer(NamedTuple):
    """What one command gave: the raw JSON of its result, or the error it failed with."""

    result: bytes | None
    error: Exception | None = None
    total: int | None = None
    next: int | None = None


class Bill(NamedTuple):
    """What a portal said that calls of one method in one request had cost. Where `batch` pays for its commands they say
    no sums, and the last bill of a request is of `batch`, with no calls."""

    via: int
    method: str
    calls: int
    first: float | None  # the method's sum of execution time after the first of them, and after the last
    last: float | None
    duration_s: float  # of one call, on the average
    request_s: float  # of the whole request, by our own clock; 0 when another bill of the same request says it


Billing = Literal["inner", "batch"]


class Source(Protocol):
    """A portal that is only read. `via` picks one of the configured webhooks."""

    habits: Habits  # what its probes have shown so far (docs/probe.md); empty where nothing is known

    def page(self, reading: Listing | Gather, cursor: Args, *, limit: int = 0, gently: bool = False) -> Page:
        """Reads on from the cursor ({} = from the beginning), at most `limit` records in all when it is not 0.
        Raises Transient, Limited or Permanent; Stop when nothing further can be read at all."""
        ...

    def children(
        self, reading: PerParent, progress: Sequence[Progress], *, one_page: bool = False, gently: bool = False
    ) -> Page:
        """Reads on for these parents in one request: as many pages of as many of them as fit. `next` has
        {"id", "after", "got"} for each parent that is not finished, `parents` those that are."""
        ...

    def count(self, reading: Listing) -> int | None:
        """What the portal says how many there are, now; None where it gives no total."""
        ...

    def call(self, method: str, params: Args, *, via: int = 0) -> Answer:
        """One call. Raises like `page`."""
        ...

    def batch(self, commands: Sequence[Command], *, via: int = 0) -> list[Answer]:
        """One answer for each command, in order, in as few requests as the portal allows. A failed command is an
        answer with an error; only a failure of the whole request raises."""
        ...

    def download(self, url: str, out: BinaryIO, *, limit: int) -> tuple[int, str]:
        """Streams a file; returns its length and SHA-256. Raises Permanent for a web page in place of a file or one
        over `limit`, Transient for what may succeed later."""
        ...

    def resume(
        self, url: str, part: Part, *, limit: int, enough: Callable[[], bool] = lambda: False
    ) -> tuple[int, str] | None:
        """Like `download`, but continues after what is here if the server gives the rest of the very same
        file; then nobody has seen all of its bytes, and the SHA-256 is empty. None when it was `enough` before the
        end, which is asked only of what can be gone on with."""
        ...

    @property
    def owners(self) -> Sequence[str]:
        """The user id behind each webhook."""
        ...

    @property
    def billing(self) -> Billing | None:
        """What the portal charges the commands of a batch to; None until an answer shows it."""
        ...

    def alive(self) -> bool:
        """A cheap question: does the portal answer at all?"""
        ...


class TargetLimits(NamedTuple):
    items: int
    body_bytes: int
    file_bytes: int
    chunk_bytes: int


class TargetCheck(NamedTuple):
    """What a target says of an entity besides whether it takes it: one line, and what to do."""

    name: str
    ok: bool
    message: str
    fix: str = ""
    fatal: bool = False


class TargetInfo(NamedTuple):
    contract: int
    server: str
    timezone: str
    entities: tuple[str, ...]
    limits: TargetLimits
    lacks: Mapping[str, str] = {}  # of an entity that it does not take: why, in a sentence
    checks: Mapping[str, TargetCheck] = {}  # of an entity that it takes: what there is to say of it


class FieldOutcome(NamedTuple):
    code: str
    target: str
    status: str  # created, exists, failed
    options: Mapping[str, str]
    error_code: str = ""
    error: str = ""


class TargetRecord(NamedTuple):
    key: str
    target_id: str
    digest: str
    fields: Mapping[str, Json]


class Tried(NamedTuple):
    """One thing that a target has tried on itself. `detail`: what it saw, in an English sentence."""

    name: str
    ok: bool
    detail: str


class Deleted(NamedTuple):
    """`status`: deleted, absent or kept; then `reason` says why. `needed`: it is kept because others depend on it, so
    that it may go when they are gone. `for_good`: no record of its kind can be deleted, whoever changed it or not."""

    key: str
    status: str
    reason: str = ""
    needed: bool = False
    for_good: bool = False


class Target(Protocol):
    """The box. Every write may be repeated: the same key and digest change nothing."""

    @property
    def serial(self) -> frozenset[str]:
        """The streams whose records must arrive one after the other, the oldest first (by the time that the stream's
        `stamp` names, then by id), and of those that have a parent in their id each parent's by themselves."""
        ...

    @property
    def unchangeable(self) -> frozenset[str]:
        """The streams of whose records nothing can be changed: they must not come before what their texts may name."""
        ...

    @property
    def sees_dependants(self) -> bool:
        """Whether `delete` keeps by itself what others depend on."""
        ...

    def info(self) -> TargetInfo: ...

    def send(self, wire_entity: str, stream: str, items: Sequence[Item], *, run: str) -> list[Outcome]:
        """One call, within the target's limits (the caller asks `fits` first). One outcome per item."""
        ...

    def fits(self, items: Sequence[Item]) -> int:
        """How many of the first items go into one call by `limits`; 0 when the first alone is too large."""
        ...

    def fields(self, wire_entity: str, stream: str, fields: Sequence[Args], *, type_id: str = "") -> list[FieldOutcome]:
        """Creates what is missing, completes the options of what is there; `type_id`: of this type of the target."""
        ...

    def existing_fields(self, custom: CustomFields) -> Mapping[str, str] | None:
        """The custom fields the target has, code -> type; None when it cannot tell."""
        ...

    def match_users(self, emails: Sequence[str]) -> dict[str, str]:
        """Lower-case e-mail -> target id, for the users the target has."""
        ...

    def read(self, wire_entity: str, stream: str, keys: Sequence[str]) -> dict[str, TargetRecord]: ...

    def listing(self, wire_entity: str, stream: str, after: str) -> tuple[list[TargetRecord], str | None, int | None]:
        """A page in an order that never changes, the cursor of the next (None at the end), and the count of all; None
        where only whoever leafs through all pages can tell. A page before the last may be empty."""
        ...

    def file_bytes(self) -> int:
        """The largest file that it takes; asked once."""
        ...

    def put_file(
        self,
        key: str,
        name: str,
        size: int,
        sha256: str,
        content: BinaryIO,
        *,
        enough: Callable[[], bool] = lambda: False,
    ) -> str | None:
        """Uploads what the target does not have yet, from where it stopped, and returns the file's target id. Between
        two parts `enough` may say that the rest is for another time; then None."""
        ...

    def alive(self) -> bool: ...

    def delete(self, wire_entity: str, stream: str, keys: Sequence[str], *, dry_run: bool) -> list[Deleted]:
        """Undoes imports; one answer per key. What somebody changed since, or what others depend on, is kept."""
        ...

    def finalize(self, after: str, *, run: str) -> str | None:
        """What is left to do when everything has arrived (counters, recents, dates of activity): a stretch of it from
        behind the cursor, "" at first. Returns the next cursor, None at the end. It may be repeated."""
        ...

    def fidelity(self) -> Sequence[Rule]:
        """What this target does not keep as it is. Nothing is written."""
        ...

    def selftest(self) -> Sequence[Tried] | None:
        """Tries with records of its own what it keeps, and takes them away; what it finds `fidelity` tells from then
        on. None where it has no such thing. It may be repeated."""
        ...
