"""What one look asks the store: everything else is worked out from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from b24migrate.phases.attachments import FETCHED
from b24migrate.phases.inventory import seen_counter
from b24migrate.phases.work import Work
from b24migrate.pipeline import plan
from b24migrate.pipeline.conductor import with_late
from b24migrate.pipeline.overview import history
from b24migrate.pipeline.overview.asking import Asking
from b24migrate.pipeline.overview.foretold import Foretelling, Foretold
from b24migrate.pipeline.overview.history import Moment
from b24migrate.pipeline.plan import Run
from b24migrate.pipeline.state import RUNNING, AllStates, EntityState
from b24migrate.pipeline.status import EntityStatus, Seen, entity_status, inventories
from b24migrate.ports import CHECKPOINTS, OUTAGES, QUOTA, RegisterRow
from b24migrate.records import Status
from b24migrate.streams import PHASES, Entity

WAITS = "limit_wait:"


@dataclass(frozen=True, slots=True)
class Facts:
    at: datetime
    run: Run | None
    seen: Seen
    entities: Sequence[Entity]
    statuses: Mapping[str, EntityStatus]
    files: Mapping[Status, int]
    fetched: int  # files
    verified: Mapping[str, int]  # by stream
    reported: Mapping[str, int]  # what the portal says it has, of streams that are being read
    foretold: Foretold | None
    quotas: Sequence[RegisterRow]
    outages: Sequence[RegisterRow]
    held: int
    dead: int
    history: Sequence[Moment]  # of the last minutes
    verify_all: bool
    verify_sample: int

    @property
    def planned(self) -> list[Entity]:
        """All of them, while there is no plan."""
        return [one for one in self.entities if self.run is None or one.name in self.run.plan.entities]

    @property
    def phases(self) -> list[str]:
        return with_late(self.run.plan.phases if self.run else PHASES)

    @property
    def forecast(self) -> Foretold | None:
        """Of what is under way; nobody has foretold how long a try-out takes."""
        return None if self.run is not None and self.run.plan.test_limit else self.foretold

    @property
    def waited_s(self) -> dict[str, float]:
        """For limits, by method, since the work began."""
        found = self.seen.counters.items()
        return {name.removeprefix(WAITS): value for name, value in found if name.startswith(WAITS)}

    @property
    def read(self) -> int:
        """Records, over all passes."""
        tables = {stream.table.name for entity in self.entities for stream in entity.streams}
        passes = [(name.split(":"), value) for name, value in self.seen.counters.items() if name.startswith("seen:")]
        return sum(int(value) for (_, table, *_), value in passes if table in tables)

    def state(self, entity: Entity) -> EntityState:
        return self.seen.states.read(entity.name)


class Gathering:
    """For one viewer, who looks again and again."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._asking = Asking(work)
        self._foretelling = Foretelling(work.store)

    def now(self) -> Facts:
        work, store = self._work, self._work.store
        now, run = work.clock.now(), plan.current(store)
        states = AllStates(store)
        states.look()
        numbers = self._asking.numbers(states, under_way=run is not None and run.state != plan.ENDED)
        streams = [stream for entity in work.entities for stream in entity.streams]
        counted = self._asking.each(store.counts, [stream.table for stream in streams])
        counts = {stream.name: found for stream, found in zip(streams, counted, strict=True)}
        beside = {name: one.beside for name, one in numbers.items()}
        seen = Seen(states, store.counters(), inventories(work), beside, counts)
        files = work.streams["files"]
        file_counts = store.counts(files.table)
        fetched = int(seen.counters.get(seen_counter(files, FETCHED), 0))
        return Facts(
            at=now,
            run=run,
            seen=seen,
            entities=work.entities,
            statuses={entity.name: entity_status(work, entity, seen) for entity in work.entities},
            files=file_counts,
            fetched=max(fetched, file_counts.get(Status.IMPORT_OK, 0)),
            verified={name: one.verified for name, one in numbers.items()},
            reported=self._reported(states),
            foretold=self._foretelling.last(),
            quotas=store.rows(QUOTA),
            outages=store.rows(OUTAGES),
            held=work.queue.held(now=now),
            dead=work.queue.dead_count(parts=True),
            history=history.recent(store, now) if run else [],
            verify_all=work.options.verify_all,
            verify_sample=work.options.verify_sample,
        )

    def _reported(self, states: AllStates) -> dict[str, int]:
        store, found = self._work.store, {}
        for entity in self._work.entities:
            state = states.read(entity.name)
            for stream in entity.streams if state.phase("get").state == RUNNING else ():
                row = store.read(CHECKPOINTS, stream.name)
                if row is not None and row.values["Pass"] == state.pass_no and row.values["Reported"] is not None:
                    found[stream.name] = int(row.values["Reported"])
        return found
