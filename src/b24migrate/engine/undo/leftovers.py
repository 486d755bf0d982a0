"""What an undo leaves on the target: nothing that the import contract could delete, and nothing that is not ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.undo.model import Tally
from b24migrate.engine.undo.scope import Scope
from b24migrate.model.records import Status
from b24migrate.model.streams import Stream


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
    """Imported records of entities that stay, and whose stream refers to one that is taken back: by stream."""
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
