"""The words a stream of the contract is described in."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from b24sim.imports.kinds import Fields, Inspection, Kind, Lookup

Rule = Callable[[Fields, Inspection], None]
"""A check that looks at several fields at once; raises ItemFault."""

Linking = Callable[[Fields, Lookup], str | None]
"""The id of the record that the box already has for these fields, if it has one."""


def _nothing_to_link(_fields: Fields, _box: Lookup) -> str | None:
    return None


@dataclass(frozen=True)
class Stream:
    """One row of the contract's table. The engine needs nothing else about a stream."""

    name: str
    entity: str
    fields: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    patterns: tuple[tuple[str, Kind], ...] = ()
    rules: tuple[Rule, ...] = ()
    linked_to: Linking = _nothing_to_link
    kept_when_linked: frozenset[str] = frozenset()
    indexes: tuple[tuple[str, ...], ...] = ()
    never_written: frozenset[str] = frozenset()
    """Fields that are information: the box keeps its own."""
    in_key: Callable[[str], Fields] = lambda _key: {}
    """What the key tells of a record."""
    options: str = ""
    """The stream of the values of its lists: every answer tells what the client's became."""
    typed_by: str | None = None
    """The field that tells a record's type, where each type has custom fields of its own."""

    def builtin(self, name: str) -> Kind | None:
        """The kind of a field that every box has, or None."""
        if name in self.fields:
            return self.fields[name]
        return next((kind for pattern, kind in self.patterns if re.fullmatch(pattern, name)), None)
