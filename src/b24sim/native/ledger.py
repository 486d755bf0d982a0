"""Records of the writes of a client by a box's own methods, how often, and with which notifications."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

# Ids start far from any source's and far from one another, so that an unmapped reference finds nothing.
# Those that become part of a code (pipelines, types) stay short.
FIRST = {
    "users": 30_000_001,
    "departments": 310_001,
    "groups": 320_001,
    "chats": 330_001,
    "messages": 34_000_001,
    "posts": 350_001,
    "comments": 36_000_001,
    "tasks": 37_000_001,
    "checklists": 38_000_001,
    "task_comments": 39_000_001,
    "items": 40_000_001,
    "product_rows": 41_000_001,
    "multifields": 42_000_001,
    "types": 301,
    "categories": 801,
    "statuses": 43_001,
    "fields": 44_001,
    "options": 45_001,
    "crm_files": 460_000_001,
    "templates": 47_001,
    "measures": 480_001,
    "vats": 481_001,
    "price_types": 482_001,
    "sections": 483_001,
    "properties": 484_001,
    "enums": 485_001,
    "products": 48_600_001,
    "prices": 487_001,
    "product_files": 488_000_001,
    "property_values": 489_000_001,
    "requisite_presets": 48_001,
    "requisites": 49_000_001,
    "bank_details": 51_000_001,
    "addresses": 52_000_001,
    "requisite_links": 53_000_001,
}


@dataclass(slots=True)
class Entry:
    """A record that was written. `stamp` is what its writer could look it up by."""

    kind: str
    number: str
    stamp: str
    by: int
    at: float
    updates: int = 0
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Noise:
    """Something that people are bothered with: an invitation, a notification, a system message."""

    kind: str
    to: str
    about: str


@dataclass(slots=True)
class Ledger:
    """Every write, in order. Nothing is forgotten when a record is deleted."""

    entries: dict[tuple[str, str], Entry] = field(default_factory=dict)
    outbox: list[Noise] = field(default_factory=list)
    _made: Counter[tuple[str, str]] = field(default_factory=Counter)
    _next: dict[str, int] = field(default_factory=dict)

    def number(self, kind: str) -> int:
        """An id that was never used."""
        self._next[kind] = self._next.get(kind, FIRST[kind] - 1) + 1
        return self._next[kind]

    def created(self, kind: str, number: object, stamp: str, by: int, at: float) -> None:
        self.entries[kind, str(number)] = Entry(kind, str(number), stamp, by, at)
        self._made[kind, stamp] += 1

    def updated(self, kind: str, number: object) -> None:
        entry = self.entries.get((kind, str(number)))
        if entry:
            entry.updates += 1

    def deleted(self, kind: str, number: object) -> None:
        entry = self.entries.get((kind, str(number)))
        if entry:
            entry.deleted = True

    def tell(self, kind: str, to: object, about: str) -> None:
        self.outbox.append(Noise(kind, str(to), about))

    def made(self, entry: Entry) -> int:
        """How many records were ever made under the same stamp; 1 is what a careful client leaves behind."""
        return self._made[entry.kind, entry.stamp]

    def alive(self, kind: str) -> set[int]:
        return {int(entry.number) for entry in self.entries.values() if entry.kind == kind and not entry.deleted}

    def noise(self) -> dict[str, int]:
        return dict(Counter(noise.kind for noise in self.outbox))


def stamp_of(*parts: Any) -> str:
    """The stamp as one word; records without a field for one are told apart by what was sent."""
    return ":".join(str(part) for part in parts)
