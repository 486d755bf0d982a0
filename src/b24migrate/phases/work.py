"""What a phase works with: the catalog, the ports and the options of this run."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from b24migrate.events import Event, Noted, Observer, tell
from b24migrate.phases.links import Links
from b24migrate.phases.texts import TextRewriter
from b24migrate.ports import ENTITIES_STATE, Clock, Files, Queue, RegisterRow, Source, Store, Target
from b24migrate.records import Job, Json, Record, Row
from b24migrate.streams import Entity, FileKind, PerParent, Policy, Reading, Seen, Stream

ATTEMPTS = 3
MOST_NOTES = 100
MORE_NOTES = "there is more like this; all of it is in the log"
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
    file_bytes: int = 100 * 1024 * 1024
    workers: int = 4  # how many calls to a portal are under way at a time


class Facts(NamedTuple):
    """What the analysis learned about the source."""

    scopes: frozenset[str] | None = None  # None: the portal does not tell
    methods: frozenset[str] = frozenset()  # of those that readings need, the ones the portal has

    def grants(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes


class Later(NamedTuple):
    """A job that follows, but not yet."""

    job: Job
    at: datetime


Follow = Sequence[Job | Later]


@dataclass(slots=True)
class Work:
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
    links: Links = field(init=False)
    texts: TextRewriter = field(init=False)

    def __post_init__(self) -> None:
        self.links = Links(self.store)
        self.texts = TextRewriter(self.streams.values(), self.options.source_url, self.options.target_url)

    def tell(self, event: Event) -> None:
        tell(self.observers, event)

    def reading(self, stream: Stream) -> Reading:
        """The first way of reading that this portal has."""
        return next(one for one in stream.read if not one.needs or one.needs in self.facts.methods)

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
        return {source_id: seen(record) for source_id, record in found.items()}

    def note(self, entity: str, message: str, level: str = "warning") -> None:
        """Keeps a sentence for people in the entity's state, once; past a hundred only in the log."""
        if self._keep_note(entity, message):
            self.tell(Noted(level, message, entity))

    def _keep_note(self, entity: str, message: str) -> bool:
        """False when it is known already."""
        while True:
            row = self.store.read(ENTITIES_STATE, entity) or RegisterRow(entity, {})
            notes = list(row.values.get("Notes") or [])
            if message in notes:
                return False
            if len(notes) > MOST_NOTES:
                return True
            kept = message if len(notes) < MOST_NOTES else MORE_NOTES
            if self.store.swap(ENTITIES_STATE, row._replace(values={**row.values, "Notes": [*notes, kept]})):
                return True


def children_reading(work: Work, stream: Stream) -> PerParent | None:
    reading = work.reading(stream)
    return reading if isinstance(reading, PerParent) else None


def seen(record: Record) -> Seen:
    return Seen(record.row_key, msgspec.json.decode(record.payload), decode_extras(record.extras))


def seen_row(row: Row) -> Seen:
    return Seen(row.source_id, msgspec.json.decode(row.payload), row.extras or {})


def decode_extras(extras: bytes | None) -> Mapping[str, Json]:
    return msgspec.json.decode(extras) if extras else {}
