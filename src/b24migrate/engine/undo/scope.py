"""The scope of an undo: entities, and all their imports or those of one run. Also the records that it leaves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from b24migrate.engine import plan
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import Run
from b24migrate.engine.undo.model import Tally
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.model.records import Json, Status
from b24migrate.model.streams import Entity, Stream

_ALWAYS = datetime.max.replace(tzinfo=UTC)
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Window:
    """When a run imported. One run is current at a time, so what was first imported then was imported by it."""

    run: str
    after: datetime | None  # the run before came to its end then, and what it did belongs to it
    begin: datetime
    end: datetime

    def holds(self, imported_at: str | None) -> bool:
        if not imported_at:
            return False
        at = datetime.fromisoformat(imported_at)
        return self.begin <= at <= self.end and (self.after is None or at > self.after)


@dataclass(frozen=True, slots=True)
class Scope:
    entities: tuple[Entity, ...]  # in the order of import
    window: Window | None = None

    @property
    def streams(self) -> list[Stream]:
        """Records that refer to others come before the records they refer to."""
        return [stream for entity in reversed(self.entities) for stream in reversed(entity.streams)]

    def holds(self, row: Mapping[str, Json]) -> bool:
        return self.window is None or self.window.holds(row["ImportedAtUtc"])


def find_scope(context: RunContext, names: Collection[str], run: str = "") -> Scope:
    """Raises BadConfiguration if the run does not exist."""
    entities = tuple(entity for entity in context.entities if not names or entity.name in names)
    return Scope(entities, _window(plan.all_runs(context.store), run) if run else None)


def _window(some: Sequence[Run], wanted: str) -> Window:
    known = sorted(some, key=_order)
    found = next((place for place, one in enumerate(known) if one.id == wanted), None)
    if found is None:
        raise _unknown_run(known, wanted)
    run = known[found]
    before = known[found - 1] if found else None
    following = known[found + 1] if found + 1 < len(known) else None
    after = _parse_time(before.finished) if before and before.state == plan.ENDED and before.finished else None
    return Window(run.id, after, _parse_time(run.started), _end(run, following))


def _order(run: Run) -> tuple[str, bool, datetime]:
    """Runs that started in the same second are sorted by their end."""
    ended = run.state == plan.ENDED and bool(run.finished)
    return run.started, not ended, _parse_time(run.finished) if ended else _ALWAYS


def _end(run: Run, following: Run | None) -> datetime:
    """A run that did not finish was current until another replaced it."""
    if run.state == plan.ENDED and run.finished:
        return _parse_time(run.finished)
    return _parse_time(following.started) if following else _ALWAYS


def _parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _unknown_run(known: Sequence[Run], wanted: str) -> BadConfiguration:
    names = [one.id for one in known][-_MOST_NAMED:]
    earlier = len(known) - len(names)
    hint = say("undo.runs_earlier", names=names, count=earlier) if earlier else say("undo.runs", names=names)
    hint = hint if names else say("undo.no_runs")
    return BadConfiguration(say("undo.no_run", wanted=wanted), hint=hint, code="USAGE")


class Leftovers(NamedTuple):
    files: int  # uploaded, of all entities
    custom_fields: int  # made, of these entities
    linked: Mapping[str, int]  # stream -> records that the target had before, or that a person linked
    adopted: Mapping[str, int]  # stream -> records that the target may have had before


def count_leftovers(context: RunContext, scope: Scope, tallies: Iterable[Tally]) -> Leftovers:
    files = context.store.counts(context.streams["files"].table)[Status.IMPORT_OK]
    made = context.store.counters("custom_fields_created:")
    names = {name for entity in scope.entities for name in (entity.name, *(one.name for one in entity.streams))}
    fields = sum(int(count) for name, count in made.items() if name.partition(":")[2] in names)
    counted = list(tallies)
    linked = {one.stream: one.not_ours for one in counted if one.not_ours}
    return Leftovers(files, fields, linked, {one.stream: one.adopted for one in counted if one.adopted})


def count_dependants(context: RunContext, scope: Scope) -> dict[str, int]:
    """Imported records of entities that stay, and whose stream refers to one that is undone: by stream."""
    named = {stream.name for stream in scope.streams}
    staying = [one for entity in context.entities if entity not in scope.entities for one in entity.streams]
    counted = {
        one.name: context.store.counts(one.table)[Status.IMPORT_OK]
        for one in staying
        if _referenced_streams(one) & named
    }
    return {name: count for name, count in counted.items() if count}


def _referenced_streams(stream: Stream) -> set[str]:
    return {stream.parent, *(name for one in stream.refs for name in one.streams)}
