"""The room people visit: one file per family. The catalog finds the files and sorts the entities by need."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from b24migrate.entities.files import FILE_KINDS
from b24migrate.records import Table
from b24migrate.streams import Entity, FileKind, Mention, Stream

# With `n` it is a Drive object, without it an attachment.
DISK_FILES = (
    Mention(r"\[DISK FILE ID=n(\d+)", prefix="disk:"),
    Mention(r"\[DISK FILE ID=(\d+)", prefix="attached:"),
)
FILES = Stream(
    name="files",
    table=Table("Files", "files"),
    read=(),
    fields=(),
    key="source:file:{id}",
    mentions=(Mention(r"\[DISK=(\d+)", prefix="disk:"), *DISK_FILES),
)


@dataclass(frozen=True)
class Catalog:
    """Every entity, those that others refer to first."""

    entities: tuple[Entity, ...]
    file_kinds: Mapping[str, FileKind] = field(default_factory=lambda: {kind.name: kind for kind in FILE_KINDS})

    @cached_property
    def streams(self) -> dict[str, Stream]:
        return {stream.name: stream for entity in self.entities for stream in entity.streams}

    @cached_property
    def owner(self) -> dict[str, Entity]:
        return {stream.name: entity for entity in self.entities for stream in (*entity.streams, *entity.aids)}

    @cached_property
    def aids(self) -> dict[str, Stream]:
        """Streams that are read and never sent."""
        return {stream.name: stream for entity in self.entities for stream in entity.aids}

    @property
    def tables(self) -> tuple[Table, ...]:
        return (*(stream.table for stream in (*self.streams.values(), *self.aids.values())), FILES.table)

    def entity(self, name: str) -> Entity:
        """By name, with `_` or `-`. KeyError when there is none."""
        wanted = name.replace("-", "_")
        return next(entity for entity in self.entities if entity.name == wanted)


def catalog() -> Catalog:
    """Finds the families beside this file."""
    found: list[Entity] = []
    for module in pkgutil.iter_modules(__path__):
        found.extend(getattr(importlib.import_module(f"{__name__}.{module.name}"), "ENTITIES", ()))
    return Catalog(tuple(by_need(found)))


def by_need(entities: Iterable[Entity]) -> list[Entity]:
    """Topological; among equals by name, so that the order is always the same."""
    named = {entity.name: entity for entity in entities}
    owner = {stream.name: entity.name for entity in named.values() for stream in entity.streams}
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for name, entity in named.items():
        needs = {owner[to] for to in entity.refers_to if to in owner} - {name}
        sorter.add(name, *needs)
    try:
        sorter.prepare()
    except CycleError as error:
        raise ValueError(f"entities refer to one another in a circle: {' → '.join(error.args[1])}") from None
    ordered: list[Entity] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        ordered += [named[name] for name in ready]
        sorter.done(*ready)
    return ordered
