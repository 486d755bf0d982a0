"""One package per family. The catalog finds them and sorts the entities by what they refer to."""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from b24migrate.entities.files import FILE_KINDS, OF_RECORD, SHOW_FILE
from b24migrate.messages import add_labels
from b24migrate.model.records import Table
from b24migrate.model.streams import Entity, FileKind, Mention, Stream

if TYPE_CHECKING:
    from b24migrate.targets.rest.writer import Writer

# With `n` it is a Drive object, without it an attachment.
DISK_FILES = (
    Mention(r"\[DISK FILE ID=n(\d+)", prefix="disk:"),
    Mention(r"\[DISK FILE ID=(\d+)", prefix="attached:"),
)
# Links to pictures in letters. A link may include the record of the file (`shown_file`).
INLINE_PICTURES = (
    Mention(r"bxacid:n?(\d+)", prefix="disk:"),
    Mention(rf"{SHOW_FILE}(\d+)(?!\d)(?!{OF_RECORD})", link=True, prefix="disk:"),
)
FILES = Stream(
    name="files",
    table=Table("Files", "files"),
    read=(),
    fields=(),
    key="source:file:{id}",
    mentions=(Mention(r"\[DISK=(\d+)", prefix="disk:"), *DISK_FILES, *INLINE_PICTURES),
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
        """By name, with `_` or `-`. KeyError if it is unknown."""
        wanted = name.replace("-", "_")
        return next(entity for entity in self.entities if entity.name == wanted)


def catalog() -> Catalog:
    """Of the families next to this file: `ENTITIES` in any of their modules that are not about a box."""
    found = [entity for module in _modules() if not _is_rest(module) for entity in _module_items(module, "ENTITIES")]
    return Catalog(tuple(sort_by_need(found)))


def rest_writers(known: Catalog) -> list[Writer]:
    """How a box without the import module is written: `WRITERS` in the modules `rest` and `rest_…` of the families, in
    the order of the catalog."""
    found = {
        writer.stream: writer
        for module in _modules()
        if _is_rest(module)
        for writer in _module_items(module, "WRITERS")
    }
    return [found[name] for name in known.streams if name in found]


def _modules() -> Sequence[str]:
    """`<family>.<module>`, of every family."""
    return _find_modules(tuple(__path__))


@lru_cache
def _find_modules(folders: tuple[str, ...]) -> Sequence[str]:
    found: list[str] = []
    for family in pkgutil.iter_modules(folders, f"{__name__}."):
        if family.ispkg:
            places = importlib.import_module(family.name).__path__
            found += (module.name for module in pkgutil.iter_modules(places, f"{family.name}."))
    return found


def _is_rest(module: str) -> bool:
    name = module.rpartition(".")[2]
    return name == "rest" or name.startswith("rest_")


def _module_items(module: str, name: str) -> Sequence[Any]:
    return getattr(importlib.import_module(module), name, ())


def sort_by_need(entities: Iterable[Entity]) -> list[Entity]:
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


def labels(language: str) -> dict[str, str]:
    """Names of entities and streams for users, as `entity.<name>` and `stream.<name>`: `labels.toml` of each family."""
    found: dict[str, str] = {}
    for file in sorted(file for place in __path__ for file in Path(place).glob("*/labels.toml")):
        for kind, names in tomllib.loads(file.read_text("utf-8")).get(language, {}).items():
            found.update({f"{kind}.{name}": text for name, text in names.items()})
    return found


add_labels(labels)
