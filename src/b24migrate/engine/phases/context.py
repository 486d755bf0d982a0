"""What a phase works with: the catalog, the ports and the options of this run."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock, local
from typing import NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from b24migrate.engine.phases.links import Gone, Links
from b24migrate.engine.phases.texts import TextRewriter
from b24migrate.messages import Message, say
from b24migrate.model.errors import MigrationError
from b24migrate.model.events import Event, Noted, Observer, tell
from b24migrate.model.fidelity import Rule
from b24migrate.model.interrupt import Interrupt
from b24migrate.model.records import Job, Json, Record, Row, Span, Table, children_span, order_key
from b24migrate.model.streams import Entity, FileKind, FileRef, Known, PerParent, Policy, Reading, Seen, Stream
from b24migrate.ports import CUSTOM_FIELDS, ENTITIES_STATE, Clock, Files, Queue, RegisterRow, Source, Store, Target

ATTEMPTS = 3
LONGEST_JOB_S = 180.0  # then a job leaves the rest to a following one: some hosts end whatever takes ten minutes
MOST_NOTES = 100
NO_LIMIT = 1 << 62
ASKED_AGAIN_S = 60.0
WALKED_AT_ONCE = 500
MORE_NOTES = say("note.more")
DELAYS_S = (0.0, 2.0, 6.0)  # before the first, second and third attempt


@dataclass(frozen=True, slots=True)
class Options:
    """What the configuration says to the phases."""

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
    allow_activities: frozenset[str] = frozenset()  # in lower case: which may be sent though they may run code
    file_bytes: int = 0  # the largest file to move; 0 = what the target takes
    hosts: Mapping[str, str] = field(default_factory=dict)  # of source and target, as configured
    absent: frozenset[str] = frozenset()  # of source and target those whose webhook cannot be had: not to be asked
    workers: int = 4  # how many calls to a portal are under way at a time
    longest_job_s: float = LONGEST_JOB_S


class Facts(NamedTuple):
    """What the analysis learned about the source."""

    scopes: frozenset[str] | None = None  # None: the portal does not tell
    methods: frozenset[str] = frozenset()  # of those that readings need, the ones the portal has
    lacking: frozenset[str] = frozenset()  # and the ones it says that it has not

    def grants(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes


class Later(NamedTuple):
    """A job that follows, but not yet."""

    job: Job
    at: datetime


Follow = Sequence[Job | Later]


@dataclass(slots=True)
class RunContext:
    """One per process, shared by its threads."""

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
    observers: tuple[Observer, ...] = ()
    facts: Facts = field(default_factory=Facts)
    run: str = ""
    gone: Gone = field(default_factory=Gone)
    came: dict[str, Sequence[FileRef]] = field(default_factory=dict)  # some files of each kind that the source gave
    interrupt: Interrupt = field(default_factory=Interrupt)  # ends calls and pauses of every thread
    keep_bug: Callable[[BaseException, str], str] = lambda bug, _: repr(bug)  # and what it is about; says where it is
    leaving: Callable[[], bool] = lambda: False  # whether whoever works here has been told to come to an end
    links: Links = field(init=False)
    texts: TextRewriter = field(init=False)
    _job: local = field(default_factory=local)
    _rules: tuple[str, Sequence[Rule]] | None = None
    _silent_until: float = -math.inf  # the target did not report its file limit
    _asking: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.links = Links(self.store, {name: one.table for name, one in self.streams.items() if one.by_natural})
        self.texts = TextRewriter(self.streams.values(), self.options.source_url, self.options.target_url)

    def begin_job(self) -> None:
        """The time of the job that this thread does begins to run."""
        self._job.until = self.clock.monotonic() + self.options.longest_job_s

    def time_is_up(self) -> bool:
        """Asked between the items of a job, after the first: what is left is for a job that follows."""
        return self.leaving() or self.clock.monotonic() >= getattr(self._job, "until", math.inf)

    def largest_file(self) -> int:
        """What the target takes, or less where that is configured. A target that cannot be asked now says so when the
        file is sent."""
        own = self.options.file_bytes or NO_LIMIT
        if "target" in self.options.absent or self.clock.monotonic() < self._silent_until:
            return own
        try:
            return min(own, self.target.file_bytes())
        except MigrationError:
            self._silent_until = self.clock.monotonic() + ASKED_AGAIN_S
            return own

    def rules(self, stream: Stream) -> list[Rule]:
        """What the target does not keep of the stream's records; it is asked once for each run."""
        with self._asking:
            if self._rules is None or self._rules[0] != self.run:
                self._rules = self.run, self.target.fidelity()
            return [rule for rule in self._rules[1] if rule.stream == stream.name]

    def tell(self, event: Event) -> None:
        tell(self.observers, event)

    def reading(self, stream: Stream, which: int = 0) -> Reading:
        """The first way of reading that suits this portal; or, from 1 on, one of those that follow it."""
        if which:
            return stream.more[which - 1]
        return next((one for one in stream.read if self.suits(one)), stream.read[-1])

    def suits(self, reading: Reading) -> bool:
        there = not reading.needs or reading.needs in self.facts.methods
        if isinstance(reading, PerParent) and reading.scope and not self.facts.grants(reading.scope):
            return False
        return there and (not reading.without or reading.without in self.facts.lacking)

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

    def retry_at(self, attempts: int) -> datetime:
        """When the next attempt is due after so many; a little later than said, so that not all come back at once."""
        delay = DELAYS_S[min(attempts, len(DELAYS_S) - 1)]
        return self.clock.now() + timedelta(seconds=delay * (1 + random.random() * 0.2))

    def lookup(self, stream: str, source_ids: Sequence[str]) -> dict[str, Seen]:
        found = self.store.get(self.streams[stream].table, source_ids)
        return {one.id: one for one in readable(found.values(), self.streams[stream])}

    def known(self, stream: Stream) -> Known:
        """What is known here of the stream, for whoever asks the source by id."""
        return Known(self.lookup, lambda: self._custom_codes(self.owner[stream.name].name))

    def _custom_codes(self, entity: str) -> list[str]:
        return [row.key for row in self.store.rows(CUSTOM_FIELDS, partition=entity)]

    def note(self, entity: str, message: str, level: str = "warning", *, about: str = "") -> None:
        """Keeps a sentence for people in the entity's state, once; past a hundred only in the log. With `about`, how it
        begins, only the first that begins so."""
        if self._keep_note(entity, message, about or message):
            self.tell(Noted(level, message, entity))

    def _keep_note(self, entity: str, message: str, about: str) -> bool:
        """False when it is known already."""
        while True:
            row = self.store.read(ENTITIES_STATE, entity) or RegisterRow(entity, {})
            notes = list(row.values.get("Notes") or [])
            if any(note == message or (about != message and note.startswith(about)) for note in notes):
                return False if message not in notes else self._keep_key(row, notes, message)
            if len(notes) > MOST_NOTES:
                return True
            kept = message if len(notes) < MOST_NOTES else MORE_NOTES
            if self.store.swap(ENTITIES_STATE, row._replace(values={**row.values, "Notes": [*notes, kept]})):
                return True

    def _keep_key(self, row: RegisterRow, notes: list[str], message: str) -> bool:
        """An earlier version kept the same note without its key. False: it is known already. Another process may come
        first: the next note tries again."""
        at = notes.index(message)
        if isinstance(message, Message) and not isinstance(notes[at], Message):
            notes[at] = message
            self.store.swap(ENTITIES_STATE, row._replace(values={**row.values, "Notes": notes}))
        return False


def seen(record: Record, stream: Stream) -> Seen:
    return Seen(record.row_key, viewed(stream, record.payload), decode_extras(record.extras))


def readable(records: Iterable[Record], stream: Stream) -> list[Seen]:
    """Without those whose row in the store is damaged: whoever sends or compares such a record says so."""
    found: list[Seen] = []
    for record in records:
        with suppress(msgspec.DecodeError):
            found.append(seen(record, stream))
    return found


def seen_row(row: Row, stream: Stream) -> Seen:
    return Seen(row.source_id, viewed(stream, row.payload), row.extras or {})


def viewed(stream: Stream, payload: bytes) -> Mapping[str, Json]:
    decoded: Mapping[str, Json] = msgspec.json.decode(payload)
    return decoded if stream.view is None else stream.view(decoded)


def children_of(context: RunContext, stream: Stream, parent: str) -> list[str]:
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


def decode_extras(extras: bytes | None) -> Mapping[str, Json]:
    return msgspec.json.decode(extras) if extras else {}
