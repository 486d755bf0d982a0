"""The context of a phase: the catalog, the ports and the options of this run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from b24migrate.engine.phases.memory import Memory
from b24migrate.engine.phases.notes import NoNotes, Notes
from b24migrate.model.events import Event, Noted, Observer, tell
from b24migrate.model.fidelity import Rule
from b24migrate.model.fields import Policy
from b24migrate.model.interrupt import Interrupt
from b24migrate.model.readings import PerParent, Reading
from b24migrate.model.records import Job, Json, Record, Row, Span, Table, children_span, order_key
from b24migrate.model.source_records import Known, SourceRecord
from b24migrate.model.streams import Entity, FileKind, Stream
from b24migrate.ports import CUSTOM_FIELDS, Clock, Files, Queue, Register, RegisterRow, Source, Store, Target

ATTEMPTS = 3
LONGEST_JOB_S = 180.0  # then a job leaves the rest to a following one: some hosts end whatever takes ten minutes
NO_LIMIT = 1 << 62
WALKED_AT_ONCE = 500
DELAYS_S = (0.0, 2.0, 6.0)  # before the first, second and third attempt


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of the phases."""

    timezone: ZoneInfo
    test_limit: int = 0
    verify_sample: int = 10
    verify_all: bool = False
    placeholder_user: str = ""
    link_existing_users: bool = True
    policies: Mapping[str, Policy] = field(default_factory=dict)
    batch: Mapping[str, int] = field(default_factory=dict)  # stream -> records in a call
    source_url: str = ""  # where links in texts point to now
    target_url: str = ""  # and where they should
    deletions: str = "keep"  # for records deleted in the source: keep or delete on the target
    deletions_limit: float = 5.0  # percent of a stream; if more are gone, its get stops
    full_pass_days: float = 14.0  # a delta pass reads a stream whole when that was last done longer ago
    delta: bool = False  # the get of this run reads only what may have changed
    deep: bool = False  # and looks at what moves no date and no count, where that is cheap enough
    planned: frozenset[str] = frozenset()  # the entities of this run
    conflicts: str = ""  # for records that changed on both sides: source, target, ask; empty: the default
    allow_activities: frozenset[str] = frozenset()  # in lower case: which may be sent though they may run code
    file_bytes: int = 0  # the largest file to move; 0 = what the target takes
    hosts: Mapping[str, str] = field(default_factory=dict)  # of source and target, as configured
    absent: frozenset[str] = frozenset()  # portals without an available webhook: they are not called
    workers: int = 4  # how many calls to a portal are under way at a time
    longest_job_s: float = LONGEST_JOB_S


class Facts(NamedTuple):
    """Facts that the check of both portals found about the source."""

    scopes: frozenset[str] | None = None  # None: the portal does not tell
    methods: frozenset[str] = frozenset()  # of those that readings need, the ones the portal has
    lacking: frozenset[str] = frozenset()  # and the ones it says that it has not
    ahead_s: float = 0.0  # the portal's clock minus ours
    zone_s: int | None = None  # the zone of the webhook's owner minus the server's; None: unknown
    admin: bool = False  # the owner of the first webhook certainly is an administrator

    def grants(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes


class Later(NamedTuple):
    """A job that follows, but not yet."""

    job: Job
    at: datetime


Follow = Sequence[Job | Later]


@dataclass(frozen=True, slots=True)
class RunContext:
    """The parts of a run. The threads of a process share it. It is never changed: a process keeps new facts in its
    memory, and another run has another context."""

    entities: Sequence[Entity]
    streams: Mapping[str, Stream]  # with the pseudo-stream `files`
    owner: Mapping[str, Entity]
    file_kinds: Mapping[str, FileKind]
    store: Store
    queue: Queue
    files: Files
    source: Source
    target: Target
    clock: Clock
    options: Options
    memory: Memory
    notes: Notes
    observers: tuple[Observer, ...] = ()
    facts: Facts = field(default_factory=Facts)
    run: str = ""
    interrupt: Interrupt = field(default_factory=Interrupt)  # ends calls and pauses of every thread
    keep_bug: Callable[[BaseException, str], str] = lambda bug, _: repr(bug)  # and what it is about; says where it is
    leaving: Callable[[], bool] = lambda: False  # whether this process has to leave the run

    # ------------------------------------------------------------ other contexts

    def with_options(self, **changes: Any) -> RunContext:
        return replace(self, options=replace(self.options, **changes))

    def with_facts(self, facts: Facts) -> RunContext:
        return replace(self, facts=facts)

    def for_run(self, run: str, facts: Facts, **options: Any) -> RunContext:
        return replace(self.with_options(**options), run=run, facts=facts)

    def without_notes(self) -> RunContext:
        """For reading only."""
        return replace(self, notes=NoNotes(self.store))

    # ------------------------------------------------------------ the job of this thread

    def start_job(self) -> None:
        """The time of the job that this thread does begins to run."""
        self.memory.start_job(self.run, self.clock.monotonic() + self.options.longest_job_s)

    def time_is_up(self) -> bool:
        """Asked between the items of a job, after the first: what is left is for a job that follows."""
        return self.leaving() or self.clock.monotonic() >= self.memory.job_until()

    # ------------------------------------------------------------ what the portals allow

    def largest_file(self) -> int:
        """In bytes: what the target accepts, or less where that is configured. A target that does not answer now
        refuses a larger file when it is sent."""
        own = self.options.file_bytes or NO_LIMIT
        limit = None if "target" in self.options.absent else self.memory.target_file_limit(self.target, self.clock)
        return own if limit is None else min(own, limit)

    def rules(self, stream: Stream) -> list[Rule]:
        """The rules of the stream: data that the target does not keep."""
        rules = self.memory.fidelity_rules(self.run, self.target)
        return [rule for rule in rules if rule.stream == stream.name]

    def reading(self, stream: Stream, which: int = 0) -> Reading:
        """The first way of reading that suits this portal; or, from 1 on, one of those that follow it."""
        if which:
            return stream.more[which - 1]
        return next((one for one in stream.read if self.suits(one)), stream.read[-1])

    def suits(self, reading: Reading) -> bool:
        there = not reading.needs or reading.needs in self.facts.methods
        if isinstance(reading, PerParent) and reading.of not in self.streams:
            return False
        if isinstance(reading, PerParent) and reading.scope and not self.facts.grants(reading.scope):
            return False
        return there and (not reading.without or reading.without in self.facts.lacking)

    # ------------------------------------------------------------ streams

    @property
    def people(self) -> str:
        """The stream whose records are persons: what a placeholder can stand for."""
        return next(
            (one.name for entity in self.entities if entity.matches_users for one in entity.streams if one.natural), ""
        )

    def batch_size(self, stream: Stream) -> int:
        return self.options.batch.get(stream.name, stream.batch)

    def policy(self, stream: Stream, field_name: str, default: Policy) -> Policy:
        return self.options.policies.get(f"{stream.name}.{field_name}", default)

    def lookup(self, stream: str, source_ids: Sequence[str]) -> dict[str, SourceRecord]:
        found = self.store.get(self.streams[stream].table, source_ids)
        return {one.id: one for one in decode_readable(found.values(), self.streams[stream])}

    def known(self, stream: Stream) -> Known:
        """Known facts about the stream, for requests by ID."""
        return Known(
            self.lookup,
            lambda: self._custom_codes(self.owner[stream.name].name),
            self.options.deep,
            lambda: sum(self.store.counts(stream.table).values()),
        )

    def _custom_codes(self, entity: str) -> list[str]:
        return [row.key for row in self.store.rows(CUSTOM_FIELDS, partition=entity)]

    # ------------------------------------------------------------ what people and observers hear

    def tell(self, event: Event) -> None:
        tell(self.observers, event)

    def note(self, entity: str, message: str, level: str = "warning", *, about: str = "") -> None:
        """Keeps a note in the entity's state, once. With `about` only the first note with this prefix."""
        if self.notes.add(entity, message, about):
            self.tell(Noted(level, message, entity))

    def retry_at(self, attempts: int) -> datetime:
        """The time of the next attempt after so many. It is spread a little, so that not all records are due at
        once."""
        delay = DELAYS_S[min(attempts, len(DELAYS_S) - 1)]
        return self.clock.now() + timedelta(seconds=delay * (1 + random.random() * 0.2))


def decode_record(record: Record, stream: Stream) -> SourceRecord:
    return SourceRecord(record.row_key, decode_payload(stream, record.payload), decode_extras(record.extras))


def decode_readable(records: Iterable[Record], stream: Stream) -> list[SourceRecord]:
    """Without records whose row in the store is damaged: sending or comparing such a record reports it."""
    found: list[SourceRecord] = []
    for record in records:
        with suppress(msgspec.DecodeError):
            found.append(decode_record(record, stream))
    return found


def decode_row(row: Row, stream: Stream) -> SourceRecord:
    return SourceRecord(row.source_id, decode_payload(stream, row.payload), row.extras or {})


def decode_payload(stream: Stream, payload: bytes) -> Mapping[str, Json]:
    """Raises msgspec.DecodeError for a damaged row, and for one that is no object."""
    try:
        decoded = msgspec.json.decode(payload, type=dict[str, Json])
    except (RecursionError, UnicodeDecodeError):  # nested too deeply, or with a name that is not UTF-8
        raise msgspec.DecodeError from None
    return decoded if stream.view is None else stream.view(decoded)


def child_ids(context: RunContext, stream: Stream, parent: str) -> list[str]:
    """The ids of a record's children in another stream, without the parent's part."""
    return [record.row_key.partition(":")[2] for record in walk(context, stream.table, children_span(parent))]


def walk(context: RunContext, table: Table, span: Span = Span()) -> Iterator[Record]:  # noqa: B008 (a value that never changes)
    """Every record of a span in order, a few hundred in memory at a time."""
    while True:
        records = context.store.records(table, span, WALKED_AT_ONCE)
        yield from records
        if len(records) < WALKED_AT_ONCE:
            return
        span = span._replace(lo=order_key(records[-1].row_key))


def walk_deleted(context: RunContext, table: Table, span: Span) -> Iterator[Record]:
    """The same of those that are marked as deleted."""
    while records := context.store.deleted(table, span, WALKED_AT_ONCE):
        yield from records
        span = span._replace(lo=order_key(records[-1].row_key))


def walk_rows(context: RunContext, register: Register, prefix: str) -> Iterator[RegisterRow]:
    """Every row of a register, a few hundred at a time: what a rule leaves out may be as much as what is staged."""
    after = ""
    while rows := context.store.some_rows(register, prefix, after, WALKED_AT_ONCE):
        yield from rows
        after = rows[-1].key


def decode_extras(extras: bytes | None) -> Mapping[str, Json]:
    return msgspec.json.decode(extras) if extras else {}
