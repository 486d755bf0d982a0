"""What one look asks the store: everything else is worked out from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from b24migrate.phases.work import Work
from b24migrate.pipeline import plan, survey
from b24migrate.pipeline.overview import history
from b24migrate.pipeline.overview.history import Moment
from b24migrate.pipeline.plan import Run
from b24migrate.pipeline.state import EntityState
from b24migrate.pipeline.status import EntityStatus, Seen, entity_status
from b24migrate.pipeline.survey import Survey
from b24migrate.ports import OUTAGES, QUOTA, VERIFIED, RegisterRow
from b24migrate.records import Status
from b24migrate.streams import Entity

WAITS = "limit_wait:"


@dataclass(frozen=True, slots=True)
class Facts:
    at: datetime
    run: Run | None
    seen: Seen
    entities: Sequence[Entity]
    statuses: Mapping[str, EntityStatus]
    files: Mapping[Status, int]
    verified: Mapping[str, int]  # by stream
    survey: Survey | None
    quotas: Sequence[RegisterRow]
    outages: Sequence[RegisterRow]
    held: int
    dead: int
    history: Sequence[Moment]  # of the last minutes
    fetched: int | None = None  # files
    verify_all: bool = False
    verify_sample: int = 0

    @property
    def planned(self) -> list[Entity]:
        """All of them, while there is no plan."""
        return [one for one in self.entities if self.run is None or one.name in self.run.plan.entities]

    @property
    def waited_s(self) -> dict[str, float]:
        """For limits, by method, since the work began."""
        found = self.seen.counters.items()
        return {name.removeprefix(WAITS): value for name, value in found if name.startswith(WAITS)}

    @property
    def tables(self) -> set[str]:
        """Of streams that are moved."""
        return {stream.table.name for entity in self.entities for stream in entity.streams}

    def state(self, entity: Entity) -> EntityState:
        return self.seen.states.read(entity.name)


def gather(work: Work) -> Facts:
    store, queue = work.store, work.queue
    seen = Seen.now(work)
    now = work.clock.now()
    run = plan.current(store)
    return Facts(
        at=now,
        run=run,
        seen=seen,
        entities=work.entities,
        statuses={entity.name: entity_status(work, entity, seen) for entity in work.entities},
        files=store.counts(work.streams["files"].table),
        verified={
            stream.name: int(store.total(VERIFIED, f"{stream.name}:", "Equal") or 0)
            for entity in work.entities
            for stream in entity.streams
        },
        survey=survey.last(store),
        quotas=store.rows(QUOTA),
        outages=store.rows(OUTAGES),
        held=sum(one.held and (one.visible_at is None or one.visible_at > now) for one in queue.jobs()),
        dead=sum("record" not in letter.job.args for letter in queue.dead()),
        history=history.recent(store, now) if run else [],
        verify_all=work.options.verify_all,
        verify_sample=work.options.verify_sample,
    )
